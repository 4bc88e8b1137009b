/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs dump and explain. */
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/options.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/tangram/names.h"
#include "controller/cli/cli.h"
#include "controller/cli/dump.h"
#include "controller/cli/load.h"
#include "controller/cli/report.h"
#include "controller/cli/simulation.h"

#define EVENTS_MAX ((size_t)16 << 20)
#define EVENTS_SHOWN 10

struct cluster_options {
    const char *kubeconfig, *namespace_, *output;
    struct tg_option_words words;
};

#define AT(member) .offset = offsetof(struct cluster_options, member)

static const char *const outputs[] = {"text", "json", NULL};

/* dump takes the first of them. */
static const struct tg_option options[] = {
    {.name = "kubeconfig",
     .kind = TG_OPTION_STRING,
     AT(kubeconfig),
     .argument = "FILE",
     .help = "How to reach the cluster; KUBECONFIG or ~/.kube/config without it."},
    {.name = "namespace",
     .kind = TG_OPTION_STRING,
     AT(namespace_),
     .argument = "NAME",
     .help = "Where the object is; without it that of the kubeconfig, or default."},
    {.name = "n",
     .kind = TG_OPTION_STRING,
     AT(namespace_),
     .argument = "NAME",
     .help = "The same, shorter."},
    {.name = "o",
     .kind = TG_OPTION_ENUM,
     AT(output),
     .fallback = "text",
     .values = outputs,
     .argument = "FORMAT",
     .help = "How it is said."},
};

/* --- dump ------------------------------------------------------------------------------------ */

static const struct tg_option_set dump_set = {
    .program = "kubectl-tangram dump",
    .summary = "Prints what a decision reads of the cluster, for simulate, explain and bug "
               "reports: no secrets, no environments, arguments or images of pods, no annotations "
               "but Tangram's.",
    .options = options,
    .n = 1,
};

static int run_dump(int argc, char **argv)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_CLI_MEMORY);
    TG_AUTOBUF struct tg_buf dump = TG_BUF_INIT(TG_DUMP_MAX);
    struct cluster_options chosen = {0};
    enum tg_options_result result = TG_OPTIONS_RUN;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_link link;
    int r;

    if (tg_options_parse(&dump_set, argc, argv, &chosen, &result, &err) < 0)
        return tg_cli_fail(TG_EXIT_INPUT, &err);
    if (result == TG_OPTIONS_EXIT)
        return TG_EXIT_OK;
    r = tg_link_open(chosen.kubeconfig, arena, &link, &err);
    if (r == 0) {
        r = tg_dump_take(&link, NULL, &dump, &err);
        tg_link_close(&link);
    }
    if (r < 0)
        return tg_cli_fail(TG_EXIT_CLUSTER, &err);
    fputs(tg_buf_str(&dump), stdout);
    return TG_EXIT_OK;
}

/* --- explain --------------------------------------------------------------------------------- */

static const struct tg_option_set explain_set = {
    .program = "kubectl-tangram explain",
    .summary = "Why does it wait? TARGET is a gang, pod/NAME or claim/NAME. Without FILEs the "
               "cluster is asked, what it says is shown, and the decision is made again from its "
               "objects; with FILEs (a dump, or manifests) only that.",
    .options = options,
    .n = TG_ARRAY_SIZE(options),
    .arguments = "TARGET [FILE]...",
    .arguments_offset = offsetof(struct cluster_options, words),
};

/* What is asked about. */
struct target {
    const char *kind; /* "gang", "pod", "claim" */
    const char *namespace_, *name;
};

static int parse_target(const char *text, const char *namespace_, struct tg_arena *arena,
                        struct target *ret, struct tg_error *err)
{
    static const struct {
        const char *prefix, *kind;
    } kinds[] = {{"gang/", "gang"},
                 {"gangs/", "gang"},
                 {"pod/", "pod"},
                 {"pods/", "pod"},
                 {"po/", "pod"},
                 {"claim/", "claim"},
                 {"resourceclaim/", "claim"},
                 {"resourceclaims/", "claim"}};

    *ret = (struct target){.kind = "gang", .namespace_ = namespace_, .name = text};
    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++)
        if (tg_has_prefix(text, kinds[i].prefix)) {
            ret->kind = kinds[i].kind;
            ret->name = tg_arena_strdup(arena, text + strlen(kinds[i].prefix));
        }
    if (tg_or(ret->name, "")[0] != '\0' && strchr(ret->name, '/') == NULL)
        return 0;
    return tg_error_set(err, TG_INVALID_ARGUMENT, "\"%.100s\" is no gang, pod/NAME or claim/NAME",
                        text);
}

static bool is_about(const struct tg_unit *unit, const struct target *t)
{
    if (!tg_streq(unit->namespace_, t->namespace_))
        return false;
    if (tg_streq(t->kind, "gang"))
        return unit->kind == TG_UNIT_GANG && tg_streq(unit->name, t->name);
    for (size_t i = 0; i < unit->n_members; i++) {
        const struct tg_unit_member *member = &unit->members[i];

        if (tg_streq(t->kind, "pod") && tg_streq(member->pod->metadata->name, t->name))
            return true;
        for (size_t k = 0; tg_streq(t->kind, "claim") && k < member->n_claims; k++)
            if (tg_streq(member->claims[k]->metadata->name, t->name))
                return true;
    }
    return false;
}

static void show_status(const struct tg_gang *gang)
{
    const struct tg_gang_status *status = gang == NULL ? NULL : gang->status;

    if (status == NULL || status->phase == NULL)
        return;
    printf("status: %s%s%s\n", status->phase, status->explanation == NULL ? "" : ": ",
           tg_or(status->explanation, ""));
    for (size_t i = 0; i < status->conditions.n; i++) {
        const struct tg_condition *c = &status->conditions.items[i];

        printf("  %s=%s %s\n", tg_or(c->type, ""), tg_or(c->status, ""), tg_or(c->reason, ""));
    }
}

static void show_outcome(const struct tg_outcome *o, struct tg_arena *arena)
{
    const struct tg_plan *plan = o->plan;

    printf("%s: ", tg_or(tg_outcome_name(o, arena), "?"));
    if (plan != NULL) {
        puts("there is room now:");
        for (size_t i = 0; i < plan->members.n; i++)
            printf("  %s on %s\n", plan->members.items[i].pod, plan->members.items[i].node);
    } else if (o->standing)
        printf("has its place%s%s\n", o->phase == NULL ? "" : ", ", tg_or(o->phase, ""));
    else
        printf("waits: %s\n", tg_or(o->reason, ""));
    if (o->page != NULL)
        fputs(o->page, stdout);
    else if (o->text != NULL)
        printf("  %s\n", o->text);
}

/* What is decided about the target now. NULL: there is no such thing, or what was read is wrong;
 * it has been said. */
static const struct tg_outcome *decide(struct tg_load *load, const struct target *target)
{
    struct tg_simulation simulation;
    struct tg_error err = TG_ERROR_INIT;

    if (!tg_load_finish(load))
        return NULL;
    if (tg_simulate(&load->world, load->now, &simulation, &err) < 0) {
        (void)tg_cli_fail(TG_EXIT_INPUT, &err);
        return NULL;
    }
    for (size_t i = 0; i < simulation.n; i++) {
        if (is_about(simulation.items[i].unit, target))
            return &simulation.items[i];
    }
    tg_error_set(&err, TG_NOT_FOUND,
                 "nothing that Tangram decides about waits or runs as %s %s in namespace %s",
                 target->kind, target->name, target->namespace_);
    (void)tg_cli_fail(TG_EXIT_INPUT, &err);
    return NULL;
}

/* --- events ---------------------------------------------------------------------------------- */

struct event_list {
    TG_LIST_OF(struct tg_event) items;
};

/* The last ones, as the cluster has them, the newest last. What cannot be read is said. */
static void read_events(struct tg_link *link, const struct target *target, struct tg_arena *arena,
                        struct event_list *ret)
{
    static const struct tg_field fields[] = {
        TG_FIELD_OBJ_LIST(struct event_list, items, "items", &tg_event_type),
    };
    static const struct tg_type type = TG_TYPE(struct event_list, fields);
    TG_AUTOBUF struct tg_buf body = TG_BUF_INIT(EVENTS_MAX);
    TG_AUTOBUF struct tg_buf query = TG_BUF_INIT(1024);
    struct tg_kube_call call = {
        .target = {.kind = &tg_kind_event, .namespace_ = target->namespace_}};
    struct tg_error err = TG_ERROR_INIT;

    *ret = (struct event_list){.items = {.n = 0}};
    tg_buf_printf(&query, "limit=500&fieldSelector=involvedObject.name%%3D%s", target->name);
    call.target.query = tg_buf_str(&query);
    if (tg_link_call(link, &call, &body, &err) < 0 ||
        tg_json_decode(&type, tg_buf_str(&body), body.len, ret, arena, &err) < 0) {
        fprintf(stderr, "kubectl-tangram: events: %s\n", err.message);
        *ret = (struct event_list){.items = {.n = 0}};
    }
    if (ret->items.n > EVENTS_SHOWN) {
        ret->items.items += ret->items.n - EVENTS_SHOWN;
        ret->items.n = EVENTS_SHOWN;
    }
}

static void show_events(const struct event_list *list)
{
    for (size_t i = list->items.n; i > 0; i--) {
        const struct tg_event *e = &list->items.items[i - 1];

        printf("event: %s %s %s: %s\n", tg_or(e->last_timestamp, ""), tg_or(e->type, ""),
               tg_or(e->reason, ""), tg_or(e->message, ""));
    }
}

/* --- both ------------------------------------------------------------------------------------ */

/* link: to the cluster that was read, NULL: it was files. */
static int explain(const struct cluster_options *chosen, struct tg_load *load,
                   const struct target *target, struct tg_link *link)
{
    const struct tg_outcome *outcome = decide(load, target);
    struct event_list events = {.items = {.n = 0}};
    struct tg_error err = TG_ERROR_INIT;

    if (outcome == NULL)
        return TG_EXIT_INPUT;
    if (link != NULL)
        read_events(link, target, load->arena, &events);
    if (tg_streq(chosen->output, "json")) {
        if (tg_report_explanation(outcome, events.items.items, events.items.n, stdout, &err) < 0)
            return tg_cli_fail(TG_EXIT_INPUT, &err);
    } else {
        show_status(outcome->unit->gang);
        show_outcome(outcome, load->arena);
        show_events(&events);
    }
    return outcome->plan != NULL || outcome->standing ? TG_EXIT_OK : TG_EXIT_NO;
}

static int explain_live(const struct cluster_options *chosen, struct tg_load *load)
{
    struct tg_error err = TG_ERROR_INIT;
    struct target target;
    struct tg_link link;
    int code;

    if (tg_link_open(chosen->kubeconfig, load->arena, &link, &err) < 0)
        return tg_cli_fail(TG_EXIT_CLUSTER, &err);
    if (parse_target(chosen->words.items[0], tg_or(chosen->namespace_, link.namespace_),
                     load->arena, &target, &err) < 0)
        code = tg_cli_fail(TG_EXIT_INPUT, &err);
    else if (tg_load_cluster(load, &link, NULL, &err) < 0)
        code = tg_cli_fail(TG_EXIT_CLUSTER, &err);
    else
        code = explain(chosen, load, &target, &link);
    tg_link_close(&link);
    return code;
}

static int explain_files(const struct cluster_options *chosen, struct tg_load *load)
{
    struct tg_error err = TG_ERROR_INIT;
    struct target target;

    if (parse_target(chosen->words.items[0], tg_or(chosen->namespace_, "default"), load->arena,
                     &target, &err) < 0)
        return tg_cli_fail(TG_EXIT_INPUT, &err);
    for (size_t i = 1; i < chosen->words.n; i++)
        tg_load_file(load, chosen->words.items[i]);
    return explain(chosen, load, &target, NULL);
}

static int run_explain(int argc, char **argv)
{
    struct cluster_options chosen = {0};
    enum tg_options_result result = TG_OPTIONS_RUN;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_load load;
    int code;

    if (tg_options_parse(&explain_set, argc, argv, &chosen, &result, &err) < 0)
        return tg_cli_fail(TG_EXIT_INPUT, &err);
    if (result == TG_OPTIONS_EXIT)
        return TG_EXIT_OK;
    if (chosen.words.n == 0) {
        tg_error_set(&err, TG_INVALID_ARGUMENT, "explain what? See %s --help", explain_set.program);
        return tg_cli_fail(TG_EXIT_INPUT, &err);
    }
    tg_load_init(&load);
    code = chosen.words.n == 1 ? explain_live(&chosen, &load) : explain_files(&chosen, &load);
    tg_load_done(&load);
    return code;
}

const struct tg_verb tg_verb_dump = {
    "dump", "what a decision reads of the cluster, without secrets", run_dump};
const struct tg_verb tg_verb_explain = {"explain", "why does it wait?", run_explain};
