/* SPDX-License-Identifier: Apache-2.0 */
/* The verb release: takes the gate off pods that wait for a controller that is gone. */
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/options.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/cli/cli.h"
#include "controller/cli/load.h"
#include "controller/cli/ungate.h"
#include "controller/gather/grant.h"
#include "controller/gather/unit.h"

struct release_options {
    const char *kubeconfig, *namespace_;
    struct tg_led led;
    bool all, force;
    struct tg_option_words names;
};

#define AT(member) .offset = offsetof(struct release_options, member)

static const struct tg_option options[] = {
    {.name = "namespace",
     .kind = TG_OPTION_STRING,
     AT(namespace_),
     .argument = "NAME",
     .help = "Where the gangs are; without it that of the kubeconfig."},
    {.name = "n",
     .kind = TG_OPTION_STRING,
     AT(namespace_),
     .argument = "NAME",
     .help = "The same, shorter."},
    {.name = "all",
     .kind = TG_OPTION_BOOL,
     AT(all),
     .help = "All pods of the namespace that have the gate."},
    {.name = "force",
     .kind = TG_OPTION_BOOL,
     AT(force),
     .help = "Also while a controller leads, which would then decide about pods that run."},
    {.name = "kubeconfig",
     .kind = TG_OPTION_STRING,
     AT(kubeconfig),
     .argument = "FILE",
     .help = "How to reach the cluster; KUBECONFIG or ~/.kube/config without it."},
    TG_OPTIONS_LED(struct release_options, led),
};

static const struct tg_option_set set = {
    .program = "kubectl-tangram release",
    .summary = "Takes the gate " TG_GATE " off the waiting pods of gangs (or of pod/NAME), without "
               "a controller: the default scheduler then sees them. Needs the verb release on "
               "gangs.tangram.dev (ClusterRole tangram-release) and patch on pods.",
    .options = options,
    .n = TG_ARRAY_SIZE(options),
    .arguments = "[GANG | pod/NAME]...",
    .arguments_offset = offsetof(struct release_options, names),
};

/* Claims that nobody but the controller allocates: the scheduler will find no device for them. */
static size_t unallocated(const struct tg_unit_member *member)
{
    size_t n = 0;

    for (size_t i = 0; i < member->n_claims; i++)
        n += !tg_claim_allocated(member->claims[i]);
    return n;
}

struct releasing {
    const struct release_options *chosen;
    struct tg_link *link;
    size_t released, failed, stuck;
};

static void release_member(struct releasing *r, const struct tg_unit_member *member)
{
    const struct tg_object_meta *meta = member->pod->metadata;
    struct tg_error err = TG_ERROR_INIT;

    if (!tg_pod_has_gate(member->pod, TG_GATE))
        return;
    if (tg_ungate(r->link, member->pod, &err) < 0) {
        fprintf(stderr, "kubectl-tangram: %s\n", err.message);
        r->failed++;
        return;
    }
    printf("pod/%s released\n", meta->name);
    r->released++;
    r->stuck += unallocated(member) > 0;
}

static bool is_wanted(const struct releasing *r, const struct tg_unit *unit,
                      const struct tg_unit_member *member)
{
    for (size_t i = 0; i < r->chosen->names.n; i++) {
        const char *name = r->chosen->names.items[i];

        if (tg_has_prefix(name, "pod/") && tg_streq(name + 4, member->pod->metadata->name))
            return true;
        if (tg_has_prefix(name, "gang/"))
            name += 5;
        if (unit->kind == TG_UNIT_GANG && tg_streq(name, unit->name))
            return true;
    }
    return r->chosen->all;
}

static int release_all(struct releasing *r, struct tg_load *load, struct tg_error *err)
{
    struct tg_units units;
    int rc = tg_gather(&load->world.view, r->chosen->led.instance, load->arena, &units, err);

    for (size_t i = 0; rc == 0 && i < units.n; i++)
        for (size_t k = 0; k < units.items[i].n_members; k++)
            if (is_wanted(r, &units.items[i], &units.items[i].members[k]))
                release_member(r, &units.items[i].members[k]);
    return rc;
}

/* Whether the pods may be released: nobody leads, or it does not matter. */
static bool may_release(const struct release_options *chosen, struct tg_link *link,
                        struct tg_load *load, struct tg_error *err)
{
    const char *holder = NULL;

    if (chosen->force)
        return true;
    if (tg_leader(link, &chosen->led, load->now, load->arena, &holder, err) < 0) {
        tg_error_wrap(err, "whether a controller leads is not known (--force releases the pods "
                           "all the same)");
        return false;
    }
    if (holder != NULL)
        tg_error_set(err, TG_FAILED_PRECONDITION,
                     "a controller leads (%.200s) and will release the pods itself when they have "
                     "their devices; kubectl tangram explain says what they wait for, and --force "
                     "releases them all the same",
                     holder);
    return holder == NULL;
}

static int release_in(const struct release_options *chosen, struct tg_link *link,
                      struct tg_load *load)
{
    struct releasing r = {.chosen = chosen, .link = link};
    const char *namespace_ = tg_or(chosen->namespace_, link->namespace_);
    struct tg_error err = TG_ERROR_INIT;

    if (!may_release(chosen, link, load, &err))
        return tg_cli_fail(err.code == TG_FAILED_PRECONDITION ? TG_EXIT_NO : TG_EXIT_CLUSTER, &err);
    if (tg_load_cluster(load, link, namespace_, &err) < 0)
        return tg_cli_fail(TG_EXIT_CLUSTER, &err);
    if (!tg_load_finish(load))
        return TG_EXIT_CLUSTER;
    if (release_all(&r, load, &err) < 0)
        return tg_cli_fail(TG_EXIT_INPUT, &err);
    if (r.stuck > 0)
        printf("%zu of them have claims without devices, and only Tangram allocates from guarded "
               "classes: they wait in the scheduler until a controller is there again, or their "
               "class is no longer guarded\n",
               r.stuck);
    if (r.released + r.failed == 0)
        printf("nothing in namespace %s waits behind the gate by that name\n", namespace_);
    return r.failed > 0 ? TG_EXIT_CLUSTER : r.released == 0 ? TG_EXIT_NO : TG_EXIT_OK;
}

static int run_release(int argc, char **argv)
{
    struct release_options chosen = {0};
    enum tg_options_result result = TG_OPTIONS_RUN;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_link link;
    struct tg_load load;
    int code;

    if (tg_options_parse(&set, argc, argv, &chosen, &result, &err) < 0)
        return tg_cli_fail(TG_EXIT_INPUT, &err);
    if (result == TG_OPTIONS_EXIT)
        return TG_EXIT_OK;
    if ((chosen.names.n == 0) == !chosen.all) {
        tg_error_set(&err, TG_INVALID_ARGUMENT,
                     "name gangs (or pod/NAME), or give --all; see %s "
                     "--help",
                     set.program);
        return tg_cli_fail(TG_EXIT_INPUT, &err);
    }
    tg_load_init(&load);
    if (tg_link_open(chosen.kubeconfig, load.arena, &link, &err) < 0)
        code = tg_cli_fail(TG_EXIT_CLUSTER, &err);
    else {
        code = release_in(&chosen, &link, &load);
        tg_link_close(&link);
    }
    tg_load_done(&load);
    return code;
}

const struct tg_verb tg_verb_release = {
    "release", "let waiting pods go when the controller is gone", run_release};
