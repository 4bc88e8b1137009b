/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/ungate.h"

#include <stdio.h>

#include "api/kubernetes/objects/coordination.h"
#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/patch.h"
#include "api/tangram/kinds.h"
#include "api/tangram/names.h"

#define PATCH_MAX 4096
#define ANSWER_MAX ((size_t)8 << 20)
#define LEASE_PREFIX "tangram-controller-"

/* --- is there a controller? ------------------------------------------------------------------ */

/* Until when the lease holds, ns since the epoch. One that was never renewed holds no longer. */
static int64_t lapses(const struct tg_lease_spec *spec)
{
    int64_t renewed, time;

    if (tg_time_parse(tg_or(spec->renew_time, ""), &renewed, NULL) < 0)
        return INT64_MIN;
    if (__builtin_mul_overflow(spec->lease_duration_seconds.value, TG_SECOND, &time) ||
        __builtin_add_overflow(renewed, time, &time))
        return spec->lease_duration_seconds.value > 0 ? INT64_MAX : INT64_MIN;
    return time;
}

int tg_leader(struct tg_link *link, const struct tg_led *led, int64_t now, struct tg_arena *arena,
              const char **ret_holder, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf body = TG_BUF_INIT(ANSWER_MAX);
    TG_AUTOBUF struct tg_buf name = TG_BUF_INIT(300);
    struct tg_kube_call call = {.target = {.kind = &tg_kind_lease, .namespace_ = led->system}};
    const struct tg_lease_spec *spec;
    void *object = NULL;
    int rc;

    *ret_holder = NULL;
    tg_buf_printf(&name, LEASE_PREFIX "%s", led->instance);
    call.target.name = tg_buf_str(&name);
    rc = tg_link_call(link, &call, &body, err);
    if (rc == 0)
        rc = tg_json_decode_new(&tg_lease_type, tg_buf_str(&body), body.len, arena, &object, err);
    if (rc < 0)
        return rc == -TG_NOT_FOUND ? 0 : rc;
    spec = ((const struct tg_lease *)object)->spec;
    if (spec != NULL && tg_or(spec->holder_identity, "")[0] != '\0' && now <= lapses(spec))
        *ret_holder = spec->holder_identity;
    return 0;
}

/* --- pods ------------------------------------------------------------------------------------ */

int tg_take_off(struct tg_link *link, const struct tg_kind *kind, const struct tg_object_meta *meta,
                const struct tg_taken_off *what, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf patch = TG_BUF_INIT(PATCH_MAX);
    TG_AUTOBUF struct tg_buf uid = TG_BUF_INIT(PATCH_MAX);
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(PATCH_MAX);
    struct tg_json_patch p;
    struct tg_kube_call call = {
        .method = TG_REST_PATCH,
        .target = {.kind = kind, .namespace_ = meta->namespace_, .name = meta->name},
        .content_type = TG_KUBE_JSON_PATCH};
    char index[24];

    snprintf(index, sizeof(index), "%zu", what->index);
    tg_json_patch_init(&p, &patch);
    tg_json_quote(&uid, meta->uid);
    tg_json_quote(&text, what->text);
    tg_json_patch_test(&p, tg_buf_str(&uid), "metadata", "uid", NULL);
    tg_json_patch_test(&p, tg_buf_str(&text), what->folder, what->list, index, what->leaf, NULL);
    tg_json_patch_remove(&p, what->folder, what->list, index, NULL);
    if (tg_json_patch_finish(&p, err) < 0)
        return -(int)TG_RESOURCE_EXHAUSTED;
    call.body = tg_buf_str(&patch);
    call.body_len = patch.len;
    return tg_link_call(link, &call, NULL, err);
}

int tg_ungate(struct tg_link *link, const struct tg_pod *pod, struct tg_error *err)
{
    struct tg_taken_off gate = {"spec", "schedulingGates", "name", TG_GATE, 0};

    while (!tg_streq(pod->spec->scheduling_gates.items[gate.index].name, TG_GATE))
        gate.index++;
    return tg_take_off(link, &tg_kind_pod, pod->metadata, &gate, err);
}
