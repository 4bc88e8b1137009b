/* SPDX-License-Identifier: Apache-2.0 */
/* The verb uninstall: what is left to do when Tangram has been removed (the chart's job runs it).
 */
#include <stdio.h>

#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/options.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"
#include "api/tangram/gang.h"
#include "api/tangram/kinds.h"
#include "api/tangram/names.h"
#include "controller/cli/cli.h"
#include "controller/cli/ungate.h"

#define OBJECT_MEMORY ((size_t)64 << 20)
#define BODY_MAX 4096
#define LOOK_AGAIN (TG_SECOND / 4)
/* Pods may come with the gate until the servers have noticed what was deleted. */
#define ROUNDS 5
#define MESSAGE                                                                                    \
    "Tangram was uninstalled: its gate was taken off this pod, and nobody allocates devices of "   \
    "its classes any more. Delete the pod, or install Tangram again."

struct uninstall_options {
    const char *kubeconfig;
    struct tg_led led;
    int64_t patience;
    bool keep_gangs;
};

#define AT(member) .offset = offsetof(struct uninstall_options, member)

static const struct tg_option options[] = {
    {.name = "keep-gangs",
     .kind = TG_OPTION_BOOL,
     AT(keep_gangs),
     .help = "Leave the finalizers of Gangs: their CRD stays."},
    {.name = "patience",
     .kind = TG_OPTION_DURATION,
     AT(patience),
     .fallback = "2m",
     .argument = "TIME",
     .help = "How long to wait until no controller leads."},
    {.name = "kubeconfig",
     .kind = TG_OPTION_STRING,
     AT(kubeconfig),
     .argument = "FILE",
     .help = "How to reach the cluster; KUBECONFIG or ~/.kube/config without it, or the pod's "
             "service account."},
    TG_OPTIONS_LED(struct uninstall_options, led),
};

static const struct tg_option_set set = {
    .program = "kubectl-tangram uninstall",
    .summary = "Waits until no controller leads, takes the gate " TG_GATE " off every pod of the "
               "cluster, tells each in an event, and takes the finalizer off Gangs. Running pods "
               "are left alone. The job that ends `helm uninstall` runs it.",
    .options = options,
    .n = TG_ARRAY_SIZE(options),
};

struct uninstalling {
    struct tg_link *link;
    size_t released, let_go, failed; /* of a round */
};

/* What became of an object. One that is gone is no failure. */
static void count(struct uninstalling *u, int rc, const struct tg_error *err, size_t *done)
{
    if (rc == 0)
        (*done)++;
    else if (rc != -TG_NOT_FOUND) {
        fprintf(stderr, "kubectl-tangram: %s\n", err->message);
        u->failed++;
    }
}

/* --- pods ------------------------------------------------------------------------------------ */

/* An event that cannot be written is told, and nothing more: the pod goes on all the same. */
static void tell(struct uninstalling *u, const struct tg_object_meta *pod)
{
    TG_AUTOBUF struct tg_buf body = TG_BUF_INIT(BODY_MAX);
    int64_t now = tg_now_wall(tg_clock_system());
    struct tg_error err = TG_ERROR_INIT;
    char at[32], name[253];
    struct tg_object_meta meta = {.name = name, .namespace_ = pod->namespace_};
    struct tg_object_reference about = {.api_version = "v1",
                                        .kind = "Pod",
                                        .namespace_ = pod->namespace_,
                                        .name = pod->name,
                                        .uid = pod->uid};
    struct tg_event event = {.metadata = &meta,
                             .involved_object = &about,
                             .reason = "Released",
                             .message = MESSAGE,
                             .type = "Warning",
                             .reporting_component = "kubectl-tangram",
                             .first_timestamp = at,
                             .last_timestamp = at,
                             .count = {.set = true, .value = 1}};
    struct tg_kube_call call = {.method = TG_REST_POST,
                                .target = {.kind = &tg_kind_event, .namespace_ = pod->namespace_}};

    tg_time_format_seconds(now / TG_SECOND, at);
    snprintf(name, sizeof(name), "%.200s.%016llx", pod->name, (unsigned long long)now);
    int rc = tg_json_encode(&tg_event_type, &event, &body, &err);
    call.body = tg_buf_str(&body);
    call.body_len = body.len;
    if (rc == 0)
        rc = tg_link_call(u->link, &call, NULL, &err);
    if (rc < 0)
        fprintf(stderr, "kubectl-tangram: no event: %s\n", err.message);
}

static int on_pod(void *data, const char *json, size_t n, struct tg_error *err)
{
    struct uninstalling *u = data;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(OBJECT_MEMORY);
    struct tg_error why = TG_ERROR_INIT;
    void *object = NULL;
    int rc = tg_json_decode_new(&tg_pod_type, json, n, arena, &object, &why);
    const struct tg_pod *pod = object;

    (void)err; /* the others go on */
    if (rc == 0 && (pod->metadata == NULL || pod->spec == NULL || !tg_pod_has_gate(pod, TG_GATE)))
        return 0;
    if (rc == 0)
        rc = tg_ungate(u->link, pod, &why);
    count(u, rc, &why, &u->released);
    if (rc == 0) {
        printf("pod %s/%s released\n", pod->metadata->namespace_, pod->metadata->name);
        tell(u, pod->metadata);
    }
    return 0;
}

/* --- gangs ----------------------------------------------------------------------------------- */

/* Only the metadata counts, which decodes whatever else the Gang says. */
struct bare {
    struct tg_object_meta *metadata;
};
static const struct tg_field bare_fields[] = {
    TG_FIELD_OBJ(struct bare, metadata, "metadata", &tg_object_meta_type),
};
static const struct tg_type bare_type = TG_TYPE(struct bare, bare_fields);

static int on_gang(void *data, const char *json, size_t n, struct tg_error *err)
{
    struct uninstalling *u = data;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(OBJECT_MEMORY);
    struct tg_error why = TG_ERROR_INIT;
    void *object = NULL;
    int rc = tg_json_decode_new(&bare_type, json, n, arena, &object, &why);
    const struct tg_object_meta *meta = rc < 0 ? NULL : ((const struct bare *)object)->metadata;
    struct tg_taken_off ours = {"metadata", "finalizers", NULL, TG_FINALIZER_PLAN, 0};

    (void)err; /* the others go on */
    while (meta != NULL && ours.index < meta->finalizers.n &&
           !tg_streq(meta->finalizers.items[ours.index], ours.text))
        ours.index++;
    if (rc == 0 && (meta == NULL || ours.index == meta->finalizers.n))
        return 0;
    if (rc == 0)
        rc = tg_take_off(u->link, &tg_kind_gang, meta, &ours, &why);
    count(u, rc, &why, &u->let_go);
    if (rc == 0)
        printf("gang %s/%s let go\n", meta->namespace_, meta->name);
    return 0;
}

/* --- both ------------------------------------------------------------------------------------ */

/* Waits until nobody leads. While that cannot be learned, somebody may. Errors: those of tg_leader;
 * TG_FAILED_PRECONDITION: somebody leads still. */
static int await_end(const struct uninstall_options *chosen, struct tg_link *link,
                     struct tg_arena *arena, struct tg_error *err)
{
    const struct tg_clock *clock = tg_clock_system();
    int64_t end = tg_now_wall(clock) + chosen->patience;
    const char *holder;
    int rc;

    while ((rc = tg_leader(link, &chosen->led, tg_now_wall(clock), arena, &holder, err)) < 0 ||
           holder != NULL) {
        if (tg_now_wall(clock) >= end)
            break;
        tg_link_pause(link, LOOK_AGAIN);
    }
    if (rc < 0)
        tg_error_wrap(err, "whether a controller leads is not known");
    else if (holder != NULL)
        rc = tg_error_set(err, TG_FAILED_PRECONDITION,
                          "a controller leads (%.200s): remove Tangram first, this is for what it "
                          "leaves behind",
                          holder);
    return rc;
}

static int one_round(const struct uninstall_options *chosen, struct uninstalling *u,
                     struct tg_error *err)
{
    int rc;

    u->released = u->let_go = u->failed = 0;
    rc = tg_link_list(u->link, &tg_kind_pod, NULL, on_pod, u, err);
    if (rc < 0 || chosen->keep_gangs)
        return rc;
    rc = tg_link_list(u->link, &tg_kind_gang, NULL, on_gang, u, err);
    return rc == -TG_NOT_FOUND ? 0 : rc; /* the CRD has gone */
}

static int clear(const struct uninstall_options *chosen, struct tg_link *link,
                 struct tg_arena *arena)
{
    struct uninstalling u = {.link = link};
    struct tg_error err = TG_ERROR_INIT;

    if (await_end(chosen, link, arena, &err) < 0)
        return tg_cli_fail(err.code == TG_FAILED_PRECONDITION ? TG_EXIT_NO : TG_EXIT_CLUSTER, &err);
    for (int round = 0; round == 0 || (u.released + u.let_go + u.failed > 0 && round < ROUNDS);
         round++) {
        if (round > 0)
            tg_link_pause(link, LOOK_AGAIN);
        if (one_round(chosen, &u, &err) < 0)
            return tg_cli_fail(TG_EXIT_CLUSTER, &err);
    }
    return u.failed > 0 ? TG_EXIT_CLUSTER : TG_EXIT_OK;
}

static int run_uninstall(int argc, char **argv)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(OBJECT_MEMORY);
    struct uninstall_options chosen = {0};
    enum tg_options_result result = TG_OPTIONS_RUN;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_link link;
    int code;

    if (tg_options_parse(&set, argc, argv, &chosen, &result, &err) < 0)
        return tg_cli_fail(TG_EXIT_INPUT, &err);
    if (result == TG_OPTIONS_EXIT)
        return TG_EXIT_OK;
    if (tg_link_open(chosen.kubeconfig, arena, &link, &err) < 0)
        return tg_cli_fail(TG_EXIT_CLUSTER, &err);
    code = clear(&chosen, &link, arena);
    tg_link_close(&link);
    return code;
}

const struct tg_verb tg_verb_uninstall = {
    "uninstall", "let pods and gangs go that a removed Tangram has left behind", run_uninstall};
