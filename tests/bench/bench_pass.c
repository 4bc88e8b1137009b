/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pass of the controller costs on a cluster that is at rest: every card in a claim of a pod
 * on its node, other pods beside them, and one thing that changes. A whole controller with its
 * stores; the objects enter them as answers do. One line of JSON: resident memory with everything
 * told (loaded_mb; fleet_mb and with_claims_mb on the way), taking over, the first pass (first_ms,
 * and the most memory until it ended, first_peak_mb), and passes that follow the change of one pod
 * each (pass_ms, peak_mb). Times are of the processor.
 *
 *   bench_pass [NODES [PODS [CLAIMS]]]       10,000, 300,000 and 100,000
 */
#include <malloc.h>
#include <time.h>

#include "tests/unit/controller_io/fixture.h"

enum { CARDS = 8, PASSES = 20, FIRST_VERSION = 10000, TEXT_MAX = 64 << 10 };
#define DRIVER "gpu.tangram.dev"

struct scene {
    struct tg_controller *controller;
    size_t nodes, pods, claims;
    size_t version;
    double fleet_mb, claims_mb; /* resident when so much was told */
};

/* The text has ' for ". */
static void tell(struct scene *scene, enum tg_view_kind kind, struct tg_buf *text)
{
    struct tg_error err = TG_ERROR_INIT;

    for (size_t i = 0; i < text->len; i++)
        if (text->data[i] == '\'')
            text->data[i] = '"';
    if (tg_informer_apply(scene->controller->informers[kind], tg_buf_str(text), text->len, &err) <
        0) {
        fprintf(stderr, "bench_pass: %s: %s\n", err.message, tg_buf_str(text));
        exit(1);
    }
    tg_buf_clear(text);
}

static size_t next_version(struct scene *scene)
{
    return FIRST_VERSION + scene->version++;
}

static void tell_class(struct scene *scene, struct tg_buf *text, const char *name,
                       const char *labels, const char *guard)
{
    tg_buf_printf(text,
                  "{'metadata':{'name':'%s','uid':'%s','resourceVersion':'%zu','labels':{%s}},"
                  "'spec':{'selectors':[%s{'cel':{'expression':'device.driver == \\'%s\\''}}]}}",
                  name, name, next_version(scene), labels, guard, name);
    tell(scene, TG_VIEW_CLASS, text);
}

static void tell_node(struct scene *scene, struct tg_buf *text, size_t node)
{
    tg_buf_printf(text,
                  "{'metadata':{'name':'node-%zu','uid':'n%zu','resourceVersion':'%zu','labels':"
                  "{'kubernetes.io/hostname':'node-%zu','rack':'r%zu'}},'status':{'allocatable':{"
                  "'cpu':'192','memory':'2Ti','pods':'110'},'conditions':[{'type':'Ready','status':"
                  "'True'}]}}",
                  node, node, next_version(scene), node, node / 32);
    tell(scene, TG_VIEW_NODE, text);
    tg_buf_printf(text,
                  "{'metadata':{'name':'node-%zu','uid':'s%zu','resourceVersion':'%zu'},'spec':{"
                  "'driver':'" DRIVER "','nodeName':'node-%zu','pool':{'name':'node-%zu',"
                  "'generation':1,'resourceSliceCount':1},'devices':[",
                  node, node, next_version(scene), node, node);
    for (size_t i = 0; i < CARDS; i++)
        tg_buf_printf(text,
                      "%s{'name':'gpu-%zu','attributes':{'type':{'string':'gpu'},'index':{'int':"
                      "%zu},'model':{'string':'H100'}},'capacity':{'memory':{'value':'80Gi'}}}",
                      i == 0 ? "" : ",", i, i);
    tg_buf_append_str(text, "]}}");
    tell(scene, TG_VIEW_SLICE, text);
}

/* Of the first pods each has a claim. */
static void tell_pod(struct scene *scene, struct tg_buf *text, size_t i)
{
    tg_buf_printf(
        text,
        "{'metadata':{'name':'service-%zu-7d9c5b-%05zu','generateName':'service-%zu-7d9c5b-',"
        "'namespace':'team-%zu','uid':'00000000-0000-4000-8000-%012zu','resourceVersion':'%zu',"
        "'creationTimestamp':'2026-11-30T07:%02zu:%02zuZ','labels':{'app':'service-%zu'},"
        "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'service-%zu-7d9c5b'"
        ",'uid':'11111111-0000-4000-8000-%012zu','controller':true}]},'spec':{'nodeName':'node-%zu'"
        ",'schedulerName':'default-scheduler','priority':0,",
        i / 30, i, i / 30, i / 30 % 50, i, next_version(scene), i / 60 % 60, i % 60, i / 30, i / 30,
        i / 30, i % scene->nodes);
    if (i < scene->claims)
        tg_buf_append_str(text,
                          "'resourceClaims':[{'name':'gpu','resourceClaimTemplateName':'gpus'}],");
    tg_buf_append_str(text, "'containers':[{'name':'main','resources':{'requests':{'cpu':'500m',"
                            "'memory':'1Gi'}}}]},'status':{'phase':'Running','podIP':'10.1.1.1'");
    if (i < scene->claims)
        tg_buf_printf(text,
                      ",'resourceClaimStatuses':[{'name':'gpu','resourceClaimName':"
                      "'service-%zu-7d9c5b-%05zu-gpu-x'}]",
                      i / 30, i);
    tg_buf_append_str(text, "}}");
    tell(scene, TG_VIEW_POD, text);
}

/* The first ones have a card each; those that find none are of another class and driver. */
static void tell_claim(struct scene *scene, struct tg_buf *text, size_t i)
{
    size_t cards = scene->nodes * CARDS;
    const char *driver = i < cards ? DRIVER : "other.example.com";

    tg_buf_printf(
        text,
        "{'metadata':{'name':'service-%zu-7d9c5b-%05zu-gpu-x','generateName':"
        "'service-%zu-7d9c5b-%05zu-gpu-','namespace':'team-%zu','uid':"
        "'22222222-0000-4000-8000-%012zu','resourceVersion':'%zu','creationTimestamp':"
        "'2026-11-30T07:%02zu:%02zuZ','annotations':{'resource.kubernetes.io/pod-claim-name':'gpu'"
        "%s},'finalizers':['resource.kubernetes.io/delete-protection'],'ownerReferences':[{"
        "'apiVersion':'v1','kind':'Pod','name':'service-%zu-7d9c5b-%05zu','uid':"
        "'00000000-0000-4000-8000-%012zu','controller':true}]},",
        i / 30, i, i / 30, i, i / 30 % 50, i, next_version(scene), i / 60 % 60, i % 60,
        i < cards ? ",'tangram.dev/epoch':'3'" : "", i / 30, i, i);
    tg_buf_printf(
        text,
        "'spec':{'devices':{'requests':[{'name':'gpus','exactly':{'deviceClassName':'%s',"
        "'allocationMode':'ExactCount','count':1}}]}},'status':{'allocation':{'devices':{'results':"
        "[{'request':'gpus','driver':'%s','pool':'node-%zu','device':'gpu-%zu'}],'config':[",
        driver, driver, i % scene->nodes, i / scene->nodes);
    if (i < cards)
        tg_buf_printf(text,
                      "{'source':'FromClass','opaque':{'driver':'tangram.dev',"
                      "'parameters':{'apiVersion':'tangram.dev/v1alpha1','epoch':3,"
                      "'gangUID':'00000000-0000-4000-8000-%012zu','kind':'Plan'}}}",
                      i);
    tg_buf_printf(text,
                  "]},'nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name',"
                  "'operator':'In','values':['node-%zu']}]}]}},'reservedFor':[{'resource':'pods',"
                  "'name':'service-%zu-7d9c5b-%05zu','uid':'00000000-0000-4000-8000-%012zu'}]}}",
                  i % scene->nodes, i / 30, i, i);
    tell(scene, TG_VIEW_CLAIM, text);
}

/* MB: what "VmRSS:" is now, or "VmHWM:" since forget_peak. */
static double memory(const char *what)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kb = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, what, strlen(what)) == 0)
            kb = strtod(line + strlen(what), NULL);
    if (file != NULL)
        fclose(file);
    return kb * 1024 / 1e6;
}

static double resident(void)
{
    malloc_trim(0);
    return memory("VmRSS:");
}

static void tell_all(struct scene *scene)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(TEXT_MAX);

    tell_class(scene, &text, DRIVER, "'tangram.dev/controller':'default'",
               "{'cel':{'expression':'\\'granted\\' in device.attributes[\\'tangram.dev\\']'}},");
    tell_class(scene, &text, "other.example.com", "", "");
    for (size_t i = 0; i < scene->nodes; i++)
        tell_node(scene, &text, i);
    scene->fleet_mb = resident();
    for (size_t i = 0; i < scene->claims; i++)
        tell_claim(scene, &text, i);
    scene->claims_mb = resident();
    for (size_t i = 0; i < scene->pods; i++)
        tell_pod(scene, &text, i);
}

static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");

    if (file == NULL)
        return;
    fputs("5", file);
    fclose(file);
}

static void take_over(struct tg_controller *controller)
{
    /* What it lists once more is there already. */
    controller->refresh.done = tg_elector_epoch(controller->elector);
    if (!tg_controller_taken_over(controller)) {
        fprintf(stderr, "bench_pass: the controller does not take over\n");
        exit(1);
    }
}

static void pass(struct tg_controller *controller)
{
    uint64_t passes = controller->passes;

    tg_controller_pass(controller);
    if (controller->passes == passes) {
        fprintf(stderr, "bench_pass: the controller made no pass\n");
        exit(1);
    }
}

static double timed_ms(struct tg_controller *controller,
                       void (*what)(struct tg_controller *controller))
{
    struct timespec then, now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &then);
    what(controller);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)(now.tv_sec - then.tv_sec) * 1e3 + (double)(now.tv_nsec - then.tv_nsec) / 1e6;
}

static void measure(struct scene *scene)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(TEXT_MAX);
    double loaded = resident(), taking_over, takeover_peak, first, first_peak, total = 0, most = 0;

    forget_peak();
    taking_over = timed_ms(scene->controller, take_over);
    takeover_peak = memory("VmHWM:");
    forget_peak();
    first = timed_ms(scene->controller, pass);
    first_peak = memory("VmHWM:");
    forget_peak();
    for (size_t i = 0; i < PASSES; i++) {
        double took;

        tell_pod(scene, &text, i * 37 % scene->pods);
        took = timed_ms(scene->controller, pass);
        total += took;
        most = took > most ? took : most;
    }
    printf("{\"bench\":\"pass\",\"nodes\":%zu,\"pods\":%zu,\"claims\":%zu,\"fleet_mb\":%.0f,"
           "\"with_claims_mb\":%.0f,\"loaded_mb\":%.0f,"
           "\"takeover_ms\":%.1f,\"takeover_peak_mb\":%.0f,"
           "\"first_ms\":%.1f,\"first_peak_mb\":%.0f,\"pass_ms\":%.2f,\"most_ms\":%.2f,"
           "\"peak_mb\":%.0f,\"budget_mb\":150,\"writes\":%zu}\n",
           scene->nodes, scene->pods, scene->claims, scene->fleet_mb, scene->claims_mb, loaded,
           taking_over, takeover_peak, first, first_peak, total / PASSES, most, memory("VmHWM:"),
           scene->controller->operations);
}

int main(int argc, char **argv)
{
    struct fixture *f = NULL;
    struct scene scene = {.nodes = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000,
                          .pods = argc > 2 ? strtoul(argv[2], NULL, 10) : 300000,
                          .claims = argc > 3 ? strtoul(argv[3], NULL, 10) : 100000};

    if (scene.nodes == 0 || scene.pods < scene.claims) {
        fprintf(stderr, "usage: %s [NODES [PODS [CLAIMS]]], not more claims than pods\n", argv[0]);
        return 2;
    }
    fixture_setup((void **)&f);
    fixture_start(f, "delays: {lease: 3600s, request: 60s}\n");
    scene.controller = f->controller;
    tell_all(&scene);
    measure(&scene);
    fixture_teardown((void **)&f);
    return 0;
}
