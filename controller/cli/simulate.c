/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs simulate and fit: where would this workload go on that fleet? */
#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/options.h"
#include "api/runtime/base/str.h"
#include "controller/cli/cli.h"
#include "controller/cli/report.h"

struct simulate_options {
    const char *output, *config;
    struct tg_option_words files;
};

static const char *const outputs[] = {"text", "json", NULL};

#define AT(member) .offset = offsetof(struct simulate_options, member)

static const struct tg_option options[] = {
    {.name = "o",
     .kind = TG_OPTION_ENUM,
     AT(output),
     .fallback = "text",
     .values = outputs,
     .argument = "FORM",
     .help = "What comes out."},
    {.name = "config",
     .kind = TG_OPTION_STRING,
     AT(config),
     .argument = "FILE",
     .help = "The controller's TangramConfiguration: topology levels, placement. Without it the "
             "defaults, and for a short fleet the levels that its nodes name."},
};

static const struct tg_option_set simulate_set = {
    .program = "kubectl-tangram simulate",
    .summary = "Decides as the controller would, without a cluster: FILEs hold the fleet "
               "(ResourceSlices, Nodes, DeviceClasses, claims; or the short form, kind Fleet) and "
               "the workload (templates, pods, Jobs, JobSets, LeaderWorkerSets, Gangs ...). - is "
               "standard input.",
    .options = options,
    .n = TG_ARRAY_SIZE(options),
    .arguments = "FILE...",
    .arguments_offset = offsetof(struct simulate_options, files),
};

static const struct tg_option_set fit_set = {
    .program = "kubectl-tangram fit",
    .summary = "Would it run now? As simulate, but only yes or no, and why not.",
    .options = options,
    .n = TG_ARRAY_SIZE(options),
    .arguments = "FILE...",
    .arguments_offset = offsetof(struct simulate_options, files),
};

static void load(const struct simulate_options *chosen, struct tg_documents *documents,
                 struct tg_world *world)
{
    if (chosen->config != NULL)
        tg_documents_read(documents, chosen->config, world->problems);
    for (size_t i = 0; i < chosen->files.n; i++)
        tg_documents_read(documents, chosen->files.items[i], world->problems);
    if (world->problems->n > 0)
        return;
    tg_world_add(world, documents);
    tg_world_finish(world);
}

static void say_fit(const struct tg_simulation *simulation, struct tg_arena *arena)
{
    puts(simulation->waiting == 0 ? "yes" : "no");
    for (size_t i = 0; i < simulation->n; i++) {
        const struct tg_outcome *o = &simulation->items[i];

        if (o->plan == NULL && !o->standing)
            printf("%s: %s: %s\n", tg_or(tg_outcome_name(o, arena), "?"), tg_or(o->reason, ""),
                   tg_or(o->text, ""));
    }
}

static int report(const struct simulate_options *chosen, bool brief, const struct tg_world *world,
                  const struct tg_simulation *simulation, struct tg_error *err)
{
    struct tg_picture picture;
    int r = 0;

    tg_picture_take(world, simulation, &picture);
    if (tg_streq(chosen->output, "json"))
        r = tg_report_json(simulation, &picture, stdout, err);
    else if (brief)
        say_fit(simulation, world->arena);
    else
        tg_report_text(world, simulation, &picture, stdout);
    tg_picture_done(&picture);
    return r;
}

static int decide(const struct simulate_options *chosen, bool brief, struct tg_world *world,
                  int64_t now)
{
    struct tg_simulation simulation;
    struct tg_error err = TG_ERROR_INIT;

    if (tg_simulate(world, now, &simulation, &err) < 0 ||
        report(chosen, brief, world, &simulation, &err) < 0)
        return tg_cli_fail(TG_EXIT_INPUT, &err);
    return simulation.waiting == 0 ? TG_EXIT_OK : TG_EXIT_NO;
}

static int run(const struct tg_option_set *set, bool brief, int argc, char **argv)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_CLI_MEMORY);
    struct simulate_options chosen = {0};
    enum tg_options_result result = TG_OPTIONS_RUN;
    struct tg_error err = TG_ERROR_INIT;
    int64_t now = tg_now_wall(tg_clock_system());
    struct tg_documents documents;
    struct tg_problems problems;
    struct tg_world world;
    char created[32];
    int code = TG_EXIT_INPUT;

    if (tg_options_parse(set, argc, argv, &chosen, &result, &err) < 0)
        return tg_cli_fail(TG_EXIT_INPUT, &err);
    if (result == TG_OPTIONS_EXIT)
        return TG_EXIT_OK;
    if (chosen.files.n == 0) {
        tg_error_set(&err, TG_INVALID_ARGUMENT, "no file is given; see %s --help", set->program);
        return tg_cli_fail(TG_EXIT_INPUT, &err);
    }
    tg_time_format_seconds(now / TG_SECOND, created);
    tg_problems_init(&problems, arena);
    tg_documents_init(&documents, arena);
    tg_world_init(&world, arena, &problems, created);
    load(&chosen, &documents, &world);
    if (problems.n > 0)
        tg_problems_print(&problems, stderr);
    else
        code = decide(&chosen, brief, &world, now);
    tg_world_done(&world);
    tg_documents_done(&documents);
    tg_problems_done(&problems);
    return code;
}

static int run_simulate(int argc, char **argv)
{
    return run(&simulate_set, false, argc, argv);
}

static int run_fit(int argc, char **argv)
{
    return run(&fit_set, true, argc, argv);
}

const struct tg_verb tg_verb_simulate = {
    "simulate", "where a workload would go on a fleet, without a cluster", run_simulate};
const struct tg_verb tg_verb_fit = {"fit", "would it run now? yes or no, and why not", run_fit};
