/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status of a claim per the plan. Everything comes from the plan and from what cannot change
 * (spec of claim and pods), so that a replay writes the same bytes: an allocation is immutable once
 * set.
 */
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"
#include "api/tangram/names.h"
#include "api/tangram/plan_marker.h"
#include "controller/commit/parts.h"
#include "controller/gather/awake.h"

#define STATUS_MAX (1024 * 1024)

static void write_strings(struct tg_json_writer *w, const char *key, const char *const *items,
                          size_t n)
{
    if (n == 0)
        return;
    tg_jw_key(w, key);
    tg_jw_begin_array(w);
    for (size_t i = 0; i < n; i++)
        tg_jw_string(w, items[i]);
    tg_jw_end_array(w);
}

/* Tolerations are copied: eviction reads them from the allocation only. */
static void write_tolerations(struct tg_json_writer *w, const struct tg_exact_request *request)
{
    if (request == NULL || request->tolerations.n == 0)
        return;
    tg_jw_key(w, "tolerations");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < request->tolerations.n; i++) {
        TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(64 * 1024);

        tg_json_encode(&tg_toleration_type, &request->tolerations.items[i], &buf, NULL);
        tg_jw_raw(w, tg_buf_str(&buf));
    }
    tg_jw_end_array(w);
}

/* What a claim takes of a device that others may have too. */
static void write_share(struct tg_json_writer *w, const struct tg_plan *plan,
                        const struct tg_plan_claim *planned, const struct tg_plan_result *result,
                        size_t index)
{
    char id[TG_PLAN_SHARE_ID];

    if (result->consumed == NULL)
        return;
    tg_plan_share_id(plan, planned, index, id);
    tg_jw_kv_string(w, "shareID", id);
    if (!tg_streq(result->consumed, "{}"))
        tg_jw_kv_raw(w, "consumedCapacity", result->consumed);
}

/* One result for each device; index: of the first among all of the claim. */
static void write_results(struct tg_json_writer *w, const struct tg_plan *plan,
                          const struct tg_plan_member *member, const struct tg_plan_claim *planned,
                          const struct tg_plan_result *result, size_t index,
                          const struct tg_exact_request *request)
{
    for (size_t i = 0; i < result->devices.n; i++) {
        tg_jw_begin_object(w);
        tg_jw_kv_string(w, "request", result->request);
        tg_jw_kv_string(w, "driver", tg_plan_result_driver(plan, result));
        tg_jw_kv_string(w, "pool", tg_plan_result_pool(member, result));
        tg_jw_kv_string(w, "device", result->devices.items[i]);
        if (result->admin_access.value)
            tg_jw_kv_bool(w, "adminAccess", true);
        write_tolerations(w, request);
        write_strings(w, "bindingConditions", result->binding_conditions.items,
                      result->binding_conditions.n);
        write_strings(w, "bindingFailureConditions", result->binding_failure_conditions.items,
                      result->binding_failure_conditions.n);
        write_share(w, plan, planned, result, index + i);
        tg_jw_end_object(w);
    }
}

static bool is_of_class(const struct tg_device_claim *devices, const char *request,
                        const char *class_name)
{
    const struct tg_exact_request *exact = tg_device_claim_request(devices, request);

    return exact != NULL && tg_streq(exact->device_class_name, class_name);
}

/* One entry of class configuration: names the requests (the chosen alternatives) of the class. */
static void write_class_entry(struct tg_json_writer *w, const struct tg_plan_claim *planned,
                              const struct tg_device_claim *devices, const char *class_name,
                              const char *opaque)
{
    const char *last = NULL;

    tg_jw_begin_object(w);
    tg_jw_kv_raw(w, "opaque", opaque);
    tg_jw_key(w, "requests");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < planned->results.n; i++) {
        const char *request = planned->results.items[i].request;

        /* Several results of one request stand side by side. */
        if (!tg_streq(request, last) && is_of_class(devices, request, class_name))
            tg_jw_string(w, request);
        last = request;
    }
    tg_jw_end_array(w);
    tg_jw_kv_string(w, "source", "FromClass");
    tg_jw_end_object(w);
}

static bool uses_class(const struct tg_plan_claim *planned, const struct tg_device_claim *devices,
                       const char *class_name)
{
    for (size_t i = 0; i < planned->results.n; i++)
        if (is_of_class(devices, planned->results.items[i].request, class_name))
            return true;
    return false;
}

static int write_class_configs(struct tg_json_writer *w, const struct tg_deciding *d,
                               const struct tg_plan *plan, const struct tg_plan_claim *planned,
                               const struct tg_device_claim *devices)
{
    for (size_t i = 0; i < plan->classes.n; i++) {
        const struct tg_plan_class *klass = &plan->classes.items[i];
        struct tg_json *list = NULL;

        if (!uses_class(planned, devices, klass->name))
            continue;
        if (tg_json_parse(klass->config, strlen(klass->config), d->arena, &list, NULL) < 0)
            return -1;
        for (size_t j = 0; j < list->n; j++) {
            TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(64 * 1024);
            const struct tg_json *opaque = tg_json_get(list->items[j], "opaque");

            if (opaque == NULL || tg_json_write(opaque, &buf) < 0)
                return -1;
            write_class_entry(w, planned, devices, klass->name, tg_buf_str(&buf));
        }
    }
    return 0;
}

static void write_opaque(struct tg_json_writer *w, const struct tg_opaque_config *opaque)
{
    tg_jw_key(w, "opaque");
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "driver", opaque->driver);
    tg_jw_kv_raw(w, "parameters", opaque->parameters);
    tg_jw_end_object(w);
}

/* Is the named request one that has results, itself or by the chosen alternative? */
static bool is_chosen(const struct tg_plan_claim *planned, const char *name)
{
    for (size_t i = 0; i < planned->results.n; i++) {
        const char *request = planned->results.items[i].request;
        const char *slash = request == NULL ? NULL : strchr(request, '/');

        if (tg_streq(request, name) ||
            (slash != NULL && name != NULL && strlen(name) == (size_t)(slash - request) &&
             strncmp(name, request, strlen(name)) == 0))
            return true;
    }
    return false;
}

static bool concerns(const struct tg_plan_claim *planned, const struct tg_device_config *config)
{
    for (size_t i = 0; i < config->requests.n; i++)
        if (is_chosen(planned, config->requests.items[i]))
            return true;
    return config->requests.n == 0;
}

/* Entries of driver tangram.dev speak to us, not to a node driver: left out. So are those for
 * alternatives that were not chosen. */
static void write_claim_configs(struct tg_json_writer *w, const struct tg_plan_claim *planned,
                                const struct tg_device_claim *devices)
{
    for (size_t i = 0; i < devices->config.n; i++) {
        const struct tg_device_config *config = &devices->config.items[i];

        if (config->opaque == NULL || tg_streq(config->opaque->driver, TG_MARKER_DRIVER) ||
            !concerns(planned, config))
            continue;
        tg_jw_begin_object(w);
        write_opaque(w, config->opaque);
        if (config->requests.n > 0) {
            tg_jw_key(w, "requests");
            tg_jw_begin_array(w);
            for (size_t j = 0; j < config->requests.n; j++)
                tg_jw_string(w, config->requests.items[j]);
            tg_jw_end_array(w);
        }
        tg_jw_kv_string(w, "source", "FromClaim");
        tg_jw_end_object(w);
    }
}

static int write_marker(struct tg_json_writer *w, const struct tg_deciding *d,
                        const struct tg_plan *plan)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(4096);
    struct tg_plan_marker marker = {.gang_uid = tg_unit_marker_uid(d->in->unit),
                                    .epoch = plan->epoch.value,
                                    .instance = d->in->instance};

    if (tg_plan_marker_encode_config(&marker, &buf, NULL) < 0)
        return -1;
    tg_jw_raw(w, tg_buf_str(&buf));
    return 0;
}

static int write_devices(struct tg_json_writer *w, const struct tg_deciding *d,
                         const struct tg_plan *plan, const struct tg_plan_member *member,
                         const struct tg_plan_claim *planned, const struct tg_device_claim *devices)
{
    tg_jw_key(w, "devices");
    tg_jw_begin_object(w);
    tg_jw_key(w, "results");
    tg_jw_begin_array(w);
    for (size_t i = 0, index = 0; i < planned->results.n; i++) {
        const struct tg_plan_result *result = &planned->results.items[i];

        write_results(w, plan, member, planned, result, index,
                      tg_device_claim_request(devices, result->request));
        index += result->devices.n;
    }
    tg_jw_end_array(w);
    tg_jw_key(w, "config");
    tg_jw_begin_array(w);
    if (write_class_configs(w, d, plan, planned, devices) < 0)
        return -1;
    write_claim_configs(w, planned, devices);
    if (write_marker(w, d, plan) < 0)
        return -1;
    tg_jw_end_array(w);
    tg_jw_end_object(w);
    return 0;
}

/* Exactly this shape: node drivers with associated-node rights are recognised by it. */
static void write_node(struct tg_json_writer *w, const char *node)
{
    tg_jw_key(w, "nodeSelector");
    tg_jw_begin_object(w);
    tg_jw_key(w, "nodeSelectorTerms");
    tg_jw_begin_array(w);
    tg_jw_begin_object(w);
    tg_jw_key(w, "matchFields");
    tg_jw_begin_array(w);
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "key", "metadata.name");
    tg_jw_kv_string(w, "operator", "In");
    tg_jw_key(w, "values");
    tg_jw_begin_array(w);
    tg_jw_string(w, node);
    tg_jw_end_array(w);
    tg_jw_end_object(w);
    tg_jw_end_array(w);
    tg_jw_end_object(w);
    tg_jw_end_array(w);
    tg_jw_end_object(w);
}

static bool pod_uses(const struct tg_pod *pod, const char *claim)
{
    for (size_t i = 0; i < pod->spec->resource_claims.n; i++)
        if (tg_streq(tg_pod_claim_object(pod, &pod->spec->resource_claims.items[i]), claim))
            return true;
    return false;
}

/* Every member of the plan that uses the claim, so that the claim controller keeps the allocation
 * until the last is gone and the scheduler need not write. */
static void write_reserved(struct tg_json_writer *w, const struct tg_deciding *d,
                           const struct tg_plan *plan, const char *claim)
{
    tg_jw_key(w, "reservedFor");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < plan->members.n; i++) {
        struct tg_plan_pod state =
            tg_plan_pod_state(d->in->view, d->in->unit->namespace_, &plan->members.items[i]);

        if (state.pod == NULL || !pod_uses(state.pod, claim))
            continue;
        tg_jw_begin_object(w);
        tg_jw_kv_string(w, "name", state.pod->metadata->name);
        tg_jw_kv_string(w, "resource", "pods");
        tg_jw_kv_string(w, "uid", state.pod->metadata->uid);
        tg_jw_end_object(w);
    }
    tg_jw_end_array(w);
}

char *tg_allocation_status(const struct tg_deciding *d, const struct tg_plan *plan,
                           const struct tg_plan_member *member, const struct tg_plan_claim *planned,
                           const struct tg_resource_claim *claim)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(STATUS_MAX);
    struct tg_json_writer w;

    if (claim->spec == NULL || claim->spec->devices == NULL)
        return NULL;
    tg_json_writer_init(&w, &buf);
    tg_jw_begin_object(&w);
    tg_jw_key(&w, "allocation");
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "allocationTimestamp", plan->allocation_timestamp);
    if (write_devices(&w, d, plan, member, planned, claim->spec->devices) < 0)
        return NULL;
    write_node(&w, member->node);
    tg_jw_end_object(&w);
    write_reserved(&w, d, plan, planned->name);
    tg_jw_end_object(&w);
    if (tg_jw_finish(&w, NULL) < 0)
        return NULL;
    return tg_arena_strndup(d->arena, tg_buf_str(&buf), buf.len);
}

int tg_write_allocate(struct tg_deciding *d, const struct tg_plan *plan,
                      const struct tg_plan_member *member, const struct tg_plan_claim *planned,
                      const struct tg_resource_claim *claim)
{
    const struct tg_object_meta *meta = claim->metadata;
    /* Of who writes, not of who decided: what a predecessor sends must not fit any more. */
    const char *epoch = tg_deciding_epoch(d), *metadata;

    if (epoch == NULL)
        return tg_decide_out_of_memory(d);
    if (tg_claim_metadata(d, claim, epoch, true, &metadata) < 0)
        return -TG_RESOURCE_EXHAUSTED;
    return tg_decide_write(
        d, &(struct tg_write){.kind = TG_WRITE_CLAIM_ALLOCATE,
                              .namespace_ = meta->namespace_,
                              .name = meta->name,
                              .uid = meta->uid,
                              .resource_version = meta->resource_version,
                              .body = tg_allocation_status(d, plan, member, planned, claim),
                              .epoch = epoch,
                              .metadata = metadata,
                              .metadata_done =
                                  tg_meta_has_finalizer(meta, TG_FINALIZER_CLAIM) &&
                                  tg_streq(tg_meta_annotation(meta, TG_ANNOTATION_EPOCH), epoch)});
}

int tg_write_clear(struct tg_deciding *d, const struct tg_resource_claim *claim)
{
    const struct tg_object_meta *meta = claim->metadata;

    /* Allocation, reservation and device status in one write: the API demands it. */
    return tg_decide_write(
        d, &(struct tg_write){
               .kind = TG_WRITE_CLAIM_CLEAR,
               .namespace_ = meta->namespace_,
               .name = meta->name,
               .uid = meta->uid,
               .resource_version = meta->resource_version,
               .body = tg_arena_printf(
                   d->arena,
                   "{\"metadata\":{\"resourceVersion\":\"%s\",\"uid\":\"%s\"},"
                   "\"status\":{\"allocation\":null,\"reservedFor\":null,\"devices\":null}}",
                   meta->resource_version, meta->uid)});
}

int tg_write_open_claim(struct tg_deciding *d, const struct tg_plan *plan,
                        const struct tg_plan_member *member, const struct tg_plan_claim *planned)
{
    const struct tg_resource_claim *claim =
        tg_view_claim(d->in->view, d->in->unit->namespace_, planned->name);

    if (claim == NULL || !tg_streq(claim->metadata->uid, planned->uid) || tg_claim_allocated(claim))
        return 0;
    return tg_write_allocate(d, plan, member, planned, claim);
}

int tg_write_open_claims(struct tg_deciding *d, const struct tg_plan *plan)
{
    for (size_t i = 0; i < plan->members.n; i++) {
        const struct tg_plan_member *member = &plan->members.items[i];

        for (size_t j = 0; j < member->claims.n; j++) {
            int r = tg_write_open_claim(d, plan, member, &member->claims.items[j]);

            if (r < 0)
                return r;
        }
    }
    return 0;
}

int tg_write_clear_planned(struct tg_deciding *d, const struct tg_plan *plan)
{
    for (size_t i = 0; i < plan->members.n; i++) {
        const struct tg_plan_member *member = &plan->members.items[i];

        for (size_t j = 0; j < member->claims.n; j++) {
            const struct tg_resource_claim *claim;
            enum tg_claim_state state =
                tg_plan_claim_state(d, member, &member->claims.items[j], &claim);
            int r;

            if (state != TG_CLAIM_WRITTEN || !tg_claim_before_gate(d->in->view, claim))
                continue;
            r = tg_write_clear(d, claim);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return tg_strcmp(((const struct tg_write *)a)->name, ((const struct tg_write *)b)->name);
}

int tg_write_clear_marked(struct tg_deciding *d)
{
    const char *uid = tg_unit_marker_uid(d->in->unit);
    size_t before = d->out->n_writes;
    struct tg_view_list claims;

    if (tg_awake_marked(d->in->view, uid, d->arena, &claims) < 0)
        return tg_decide_out_of_memory(d);
    for (size_t i = 0; i < claims.n && uid != NULL; i++) {
        const struct tg_resource_claim *claim = claims.items[i];
        struct tg_plan_marker marker;
        int r;

        if (!tg_streq(claim->metadata->namespace_, d->in->unit->namespace_) ||
            !tg_claim_marker(claim, d->arena, &marker) || !tg_streq(marker.gang_uid, uid) ||
            !tg_claim_before_gate(d->in->view, claim))
            continue;
        r = tg_write_clear(d, claim);
        if (r < 0)
            return r;
    }
    if (d->out->n_writes > before)
        qsort(d->out->writes + before, d->out->n_writes - before, sizeof(*d->out->writes),
              compare_names);
    return 0;
}
