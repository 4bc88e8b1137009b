/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an object costs in the store of an informer: pages as an API server writes them go through
 * the list reader and the decoder of the client, and the heap is measured before and after. One
 * line of JSON a kind: bytes of heap and of resident memory an object, beside the budget (design
 * 7), the bytes of the same objects kept as structs, and what the steps cost. Nothing is read from
 * the store while it is measured.
 *
 *   bench_store [PODS [CLAIMS]]       300,000 and 100,000
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/kubernetes/client/internal.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/json/decode.h"

enum { PAGE = 500, REPLICAS = 30, NODES = 10000, MAX_OBJECT = 4 << 20 };
/* As the controller has it for pods; the structs of this sample are left out of the figure. */
enum { SAMPLE = 2000 };

static void append_uid(struct tg_buf *out, size_t i, unsigned salt)
{
    uint64_t a = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) + salt * UINT64_C(0xbf58476d1ce4e5b9);
    uint64_t b = (a ^ a >> 31) * UINT64_C(0x94d049bb133111eb);

    tg_buf_printf(out, "%08x-%04x-4%03x-a%03x-%012llx", (unsigned)a, (unsigned)(a >> 32) & 0xffff,
                  (unsigned)(a >> 48) & 0xfff, (unsigned)b & 0xfff,
                  (unsigned long long)(b >> 16) & 0xffffffffffff);
}

/* Five characters as the API server appends them to a generateName. */
static void append_suffix(struct tg_buf *out, size_t i)
{
    static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";

    for (int k = 0; k < 5; k++, i = i * 31 + 7)
        tg_buf_append_char(out, alphabet[(i >> 3) % 27]);
}

static void append_pod_name(struct tg_buf *out, size_t i)
{
    tg_buf_printf(out, "service-%zu-7d9c5b%04zx-", i / REPLICAS % 997, i / REPLICAS);
    append_suffix(out, i);
}

static void append_managed_fields(struct tg_buf *out)
{
    tg_buf_append_str(
        out,
        "\"managedFields\":[{\"manager\":\"kube-controller-manager\",\"operation\":\"Update\","
        "\"apiVersion\":\"v1\",\"time\":\"2026-11-30T07:37:10Z\",\"fieldsType\":\"FieldsV1\","
        "\"fieldsV1\":{\"f:metadata\":{\"f:generateName\":{},\"f:labels\":{\".\":{},\"f:app\":{},"
        "\"f:pod-template-hash\":{}},\"f:ownerReferences\":{}},\"f:spec\":{\"f:containers\":{"
        "\"k:{\\\"name\\\":\\\"main\\\"}\":{\".\":{},\"f:image\":{},\"f:resources\":{}}}}}}]");
}

static void append_conditions(struct tg_buf *out, size_t i)
{
    static const char *const types[] = {"PodReadyToStartContainers", "Initialized", "Ready",
                                        "ContainersReady", "PodScheduled"};

    tg_buf_append_str(out, "\"conditions\":[");
    for (size_t k = 0; k < TG_ARRAY_SIZE(types); k++)
        tg_buf_printf(
            out,
            "%s{\"type\":\"%s\",\"status\":\"True\",\"observedGeneration\":1,"
            "\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-11-30T07:%02zu:%02zuZ\"}",
            k == 0 ? "" : ",", types[k], i / 60 % 60, (i + k) % 60);
    tg_buf_append_char(out, ']');
}

static void append_pod(struct tg_buf *out, size_t i, bool claims)
{
    tg_buf_append_str(out, "{\"metadata\":{\"name\":\"");
    append_pod_name(out, i);
    tg_buf_printf(out,
                  "\",\"generateName\":\"service-%zu-7d9c5b%04zx-\",\"namespace\":\"team-%zu\","
                  "\"uid\":\"",
                  i / REPLICAS % 997, i / REPLICAS, i / REPLICAS % 50);
    append_uid(out, i, 1);
    tg_buf_printf(out,
                  "\",\"resourceVersion\":\"%zu\",\"generation\":1,"
                  "\"creationTimestamp\":\"2026-11-30T07:%02zu:%02zuZ\",\"labels\":{\"app\":"
                  "\"service-%zu\",\"pod-template-hash\":\"7d9c5b%04zx\"},",
                  1000000 + i, i / 60 % 60, i % 60, i / REPLICAS % 997, i / REPLICAS);
    tg_buf_printf(out,
                  "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\","
                  "\"name\":\"service-%zu-7d9c5b%04zx\",\"uid\":\"",
                  i / REPLICAS % 997, i / REPLICAS);
    append_uid(out, i / REPLICAS, 2);
    tg_buf_append_str(out, "\",\"controller\":true,\"blockOwnerDeletion\":true}],");
    append_managed_fields(out);
    tg_buf_printf(out,
                  "},\"spec\":{\"nodeName\":\"node-%zu\",\"schedulerName\":\"default-scheduler\","
                  "\"priority\":0,\"serviceAccountName\":\"default\",\"volumes\":[{\"name\":"
                  "\"kube-api-access\",\"projected\":{\"sources\":[]}}],",
                  i * 7919 % NODES);
    if (claims)
        tg_buf_append_str(out,
                          "\"resourceClaims\":[{\"name\":\"gpu\",\"resourceClaimTemplateName\":"
                          "\"gpus\"}],");
    tg_buf_append_str(
        out,
        "\"containers\":[{\"name\":\"main\",\"image\":\"registry.example.com/service:1.2.3\","
        "\"env\":[{\"name\":\"A\",\"value\":\"b\"}],\"resources\":{\"requests\":{\"cpu\":\"500m\","
        "\"memory\":\"1Gi\"},\"limits\":{\"memory\":\"1Gi\"}},\"ports\":[{\"containerPort\":8080,"
        "\"protocol\":\"TCP\"}],\"terminationMessagePath\":\"/dev/termination-log\"}],"
        "\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\","
        "\"effect\":\"NoExecute\",\"tolerationSeconds\":300},{\"key\":"
        "\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
        "\"tolerationSeconds\":300}]},\"status\":{\"phase\":\"Running\",");
    if (claims) {
        tg_buf_append_str(out,
                          "\"resourceClaimStatuses\":[{\"name\":\"gpu\",\"resourceClaimName\":\"");
        append_pod_name(out, i);
        tg_buf_append_str(out, "-gpu-");
        append_suffix(out, i + 77);
        tg_buf_append_str(out, "\"}],");
    }
    append_conditions(out, i);
    tg_buf_printf(out, ",\"hostIP\":\"10.0.0.1\",\"podIP\":\"10.1.%zu.%zu\"}}", i / 256 % 256,
                  i % 256);
}

static void append_plain_pod(struct tg_buf *out, size_t i)
{
    append_pod(out, i, false);
}

static void append_pod_with_claim(struct tg_buf *out, size_t i)
{
    append_pod(out, i, true);
}

static void append_claim(struct tg_buf *out, size_t i)
{
    tg_buf_append_str(out, "{\"metadata\":{\"name\":\"");
    append_pod_name(out, i);
    tg_buf_append_str(out, "-gpu-");
    append_suffix(out, i + 77);
    tg_buf_append_str(out, "\",\"generateName\":\"");
    append_pod_name(out, i);
    tg_buf_printf(out, "-gpu-\",\"namespace\":\"team-%zu\",\"uid\":\"", i / REPLICAS % 50);
    append_uid(out, i, 3);
    tg_buf_printf(out,
                  "\",\"resourceVersion\":\"%zu\",\"creationTimestamp\":"
                  "\"2026-11-30T07:%02zu:%02zuZ\",\"annotations\":{"
                  "\"resource.kubernetes.io/pod-claim-name\":\"gpu\",\"tangram.dev/epoch\":\"3\"},"
                  "\"finalizers\":[\"resource.kubernetes.io/delete-protection\"],"
                  "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"",
                  2000000 + i, i / 60 % 60, i % 60);
    append_pod_name(out, i);
    tg_buf_append_str(out, "\",\"uid\":\"");
    append_uid(out, i, 1);
    tg_buf_append_str(out, "\",\"controller\":true,\"blockOwnerDeletion\":true}],");
    append_managed_fields(out);
    tg_buf_printf(
        out,
        "},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"gpus\",\"exactly\":{"
        "\"deviceClassName\":\"gpu.tangram.dev\",\"allocationMode\":\"ExactCount\","
        "\"count\":1}}],\"config\":[{\"opaque\":{\"driver\":\"tangram.dev\","
        "\"parameters\":{\"apiVersion\":\"tangram.dev/v1alpha1\",\"kind\":\"GangMember\","
        "\"gang\":\"service-%zu\",\"size\":%d}}}]}},\"status\":{\"allocation\":{"
        "\"allocationTimestamp\":\"2026-11-30T07:%02zu:%02zuZ\",\"devices\":{\"results\":["
        "{\"request\":\"gpus\",\"driver\":\"gpu.tangram.dev\",\"pool\":\"node-%zu\","
        "\"device\":\"gpu-%012llx\"}],\"config\":[{\"source\":\"FromClaim\",\"opaque\":{"
        "\"driver\":\"tangram.dev\",\"parameters\":{\"kind\":\"Plan\",\"gang\":\"",
        i / REPLICAS % 997, REPLICAS, i / 60 % 60, i % 60, i * 7919 % NODES,
        (unsigned long long)i * UINT64_C(0x9e3779b97f4a));
    append_uid(out, i / REPLICAS, 4);
    tg_buf_printf(out,
                  "\",\"epoch\":3}}}]},\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchFields\":[{"
                  "\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"node-%zu\"]}]}]}},"
                  "\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"",
                  i * 7919 % NODES);
    append_pod_name(out, i);
    tg_buf_append_str(out, "\",\"uid\":\"");
    append_uid(out, i, 1);
    tg_buf_append_str(out, "\"}]}}");
}

struct loading {
    struct tg_store *store;
    struct tg_index *list;
};

static int on_item(void *data, const char *json, size_t n, struct tg_error *err)
{
    struct loading *loading = data;
    struct tg_stored *stored = NULL;
    int rc = tg_store_decode(loading->store, json, n, &stored, err);

    if (rc != 0)
        return rc;
    tg_index_set(loading->list, stored);
    tg_index_cool(loading->list);
    return 0;
}

static void ignore_change(void *data, const struct tg_stored *before, const struct tg_stored *after)
{
    (void)data;
    (void)before;
    (void)after;
}

static int feed_page(struct loading *loading, void (*append)(struct tg_buf *out, size_t i),
                     size_t first, size_t end, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf page = TG_BUF_INIT((size_t)64 << 20);
    struct tg_json_list_stream *stream = tg_json_list_stream_new(on_item, loading, MAX_OBJECT);
    struct tg_json_list_meta meta;
    int rc;

    tg_buf_append_str(&page,
                      "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[");
    for (size_t i = first; i < end; i++) {
        if (i > first)
            tg_buf_append_char(&page, ',');
        append(&page, i);
    }
    tg_buf_append_str(&page, "]}");
    rc = tg_json_list_stream_feed(stream, page.data, page.len, err);
    if (rc == 0)
        rc = tg_json_list_stream_end(stream, &meta, err);
    tg_json_list_stream_free(stream);
    return rc;
}

static int load(struct tg_store *store, void (*append)(struct tg_buf *out, size_t i), size_t n,
                struct tg_error *err)
{
    struct loading loading = {.store = store, .list = tg_store_new_list(store)};
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i += PAGE)
        rc = feed_page(&loading, append, i, i + PAGE < n ? i + PAGE : n, err);
    if (rc == 0)
        tg_store_replace(store, loading.list, 3000000, 0);
    tg_index_free(loading.list);
    return rc;
}

static double resident(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double heap(void)
{
    struct mallinfo2 info = mallinfo2();

    return (double)info.uordblks + (double)info.hblkhd;
}

static double microseconds_since(int64_t then, size_t n)
{
    return (double)(tg_now_monotonic(tg_clock_system()) - then) / 1000.0 / (double)n;
}

static int measure(const char *name, const struct tg_kind *kind,
                   void (*append)(struct tg_buf *out, size_t i), size_t n, double budget)
{
    struct tg_error err = TG_ERROR_INIT;
    struct tg_store store;
    double structs;
    double packed;
    double rss;
    double take;
    double give;
    int64_t then;

    tg_store_init(&store, kind, MAX_OBJECT);
    store.on_change = ignore_change;
    structs = heap();
    if (load(&store, append, SAMPLE, &err) != 0) {
        fprintf(stderr, "bench_store: %s: %s\n", name, err.message);
        return 1;
    }
    structs = (heap() - structs) / SAMPLE;
    tg_store_done(&store);

    tg_store_init(&store, kind, MAX_OBJECT);
    tg_store_keep_hot(&store, 1);
    store.on_change = ignore_change;
    malloc_trim(0);
    packed = heap();
    rss = resident();
    then = tg_now_monotonic(tg_clock_system());
    if (load(&store, append, n, &err) != 0) {
        fprintf(stderr, "bench_store: %s: %s\n", name, err.message);
        return 1;
    }
    take = microseconds_since(then, n);
    malloc_trim(0);
    packed = (heap() - packed) / (double)n;
    rss = resident() - rss;
    then = tg_now_monotonic(tg_clock_system());
    for (size_t i = 0; i < tg_index_end(store.objects); i++) {
        (void)tg_index_at(store.objects, i);
        if (i % PAGE == 0)
            tg_index_cool(store.objects);
    }
    give = microseconds_since(then, n);
    printf(
        "{\"kind\":\"%s\",\"objects\":%zu,\"bytes_per_object\":%.1f,\"budget\":%.0f,"
        "\"ratio\":%.2f,\"rss_per_object\":%.1f,\"rss_mb\":%.1f,\"struct_bytes_per_object\":%.0f,"
        "\"texts_in_pool\":%zu,\"load_us\":%.2f,\"read_us\":%.2f}\n",
        name, tg_index_count(store.objects), packed, budget, packed / budget, rss / (double)n,
        rss / 1e6, structs, tg_pool_count(store.pool), take, give);
    tg_store_done(&store);
    return tg_now_monotonic(tg_clock_system()) < then;
}

int main(int argc, char **argv)
{
    size_t pods = argc > 1 ? strtoul(argv[1], NULL, 10) : 300000;
    size_t claims = argc > 2 ? strtoul(argv[2], NULL, 10) : 100000;

    if (pods == 0 || claims == 0) {
        fprintf(stderr, "usage: %s [PODS [CLAIMS]]\n", argv[0]);
        return 2;
    }
    return measure("pod", &tg_kind_pod, append_plain_pod, pods, 100) ||
           measure("pod with a claim", &tg_kind_pod, append_pod_with_claim, claims, 400) ||
           measure("claim, allocated", &tg_kind_resource_claim, append_claim, claims, 400);
}
