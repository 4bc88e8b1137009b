/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs simulate and fit: where would this workload go on that fleet? */
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/options.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/cli/cli.h"
#include "controller/cli/load.h"
#include "controller/cli/picture_svg.h"
#include "controller/cli/playback.h"
#include "controller/cli/report.h"
#include "controller/cli/svg.h"

struct simulate_options {
    const char *output, *config, *kubeconfig, *arrivals, *class;
    bool from_cluster;
    struct tg_option_words files;
};

static const char *const outputs[] = {"text", "json", "svg", NULL};

#define AT(member) .offset = offsetof(struct simulate_options, member)

/* fit takes the first FIT_OPTIONS of them. */
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
    {.name = "from-cluster",
     .kind = TG_OPTION_BOOL,
     AT(from_cluster),
     .help =
         "Take fleet and everything that runs on it from the cluster; nothing is written there. "
         "fit does so by itself when the files hold no nodes."},
    {.name = "kubeconfig",
     .kind = TG_OPTION_STRING,
     AT(kubeconfig),
     .argument = "FILE",
     .help = "How to reach the cluster; KUBECONFIG or ~/.kube/config without it."},
    {.name = "arrivals",
     .kind = TG_OPTION_STRING,
     AT(arrivals),
     .argument = "FILE",
     .help = "Gangs that come and go, as CSV: at_s, name, members, gpus_per_member, profile, "
             "duration_s, priority, pack_required. What comes out is use, waiting and "
             "fragmentation over time."},
    {.name = "class",
     .kind = TG_OPTION_STRING,
     AT(class),
     .fallback = TG_DRIVER_DEFAULT,
     .argument = "NAME",
     .help = "The DeviceClass that arrivals ask for."},
};
#define FIT_OPTIONS 4

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
    .n = FIT_OPTIONS,
    .arguments = "FILE...",
    .arguments_offset = offsetof(struct simulate_options, files),
};

static void say_fit(const struct tg_simulation *simulation, struct tg_arena *arena)
{
    puts(simulation->waiting == 0 ? "yes" : "no");
    for (size_t i = 0; i < simulation->n; i++) {
        const struct tg_outcome *o = &simulation->items[i];

        if (o->plan == NULL && !o->standing && o->asked)
            printf("%s: %s: %s\n", tg_or(tg_outcome_name(o, arena), "?"), tg_or(o->reason, ""),
                   tg_or(o->text, ""));
    }
}

static int draw(const struct tg_simulation *simulation, const struct tg_picture *picture,
                struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(TG_SVG_MAX);
    int r = tg_picture_svg(simulation, picture, &buf, err);

    if (r == 0)
        fputs(tg_buf_str(&buf), stdout);
    return r;
}

static int report(const struct simulate_options *chosen, bool brief, const struct tg_world *world,
                  const struct tg_simulation *simulation, struct tg_error *err)
{
    struct tg_picture picture;
    int r = 0;

    tg_picture_take(world, simulation, &picture);
    if (tg_streq(chosen->output, "json"))
        r = tg_report_json(simulation, &picture, stdout, err);
    else if (tg_streq(chosen->output, "svg"))
        r = draw(simulation, &picture, err);
    else if (brief)
        say_fit(simulation, world->arena);
    else
        tg_report_text(world, simulation, &picture, stdout);
    tg_picture_done(&picture);
    return r;
}

static int play(const struct simulate_options *chosen, struct tg_world *world,
                const struct tg_arrivals *arrivals, int64_t now)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(TG_SVG_MAX);
    struct tg_playback playback;
    struct tg_error err = TG_ERROR_INIT;
    bool never;
    int r = tg_playback_run(world, arrivals, chosen->class, now, &playback, &err);

    never = playback.never > 0;
    if (r == 0 && tg_streq(chosen->output, "json"))
        r = tg_playback_json(&playback, stdout, &err);
    else if (r == 0 && tg_streq(chosen->output, "svg")) {
        r = tg_playback_svg(&playback, &buf, &err);
        fputs(tg_buf_str(&buf), stdout);
    } else if (r == 0)
        tg_playback_text(&playback, stdout);
    tg_playback_done(&playback);
    if (r < 0)
        return tg_cli_fail(TG_EXIT_INPUT, &err);
    return never ? TG_EXIT_NO : TG_EXIT_OK;
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

/* The fleet is among the files. */
static bool has_nodes(const struct tg_documents *documents)
{
    for (size_t i = 0; i < documents->items.n; i++)
        if (tg_streq(documents->items.items[i].kind, "Node") ||
            tg_streq(documents->items.items[i].kind, "Fleet"))
            return true;
    return false;
}

static int add_cluster(const struct simulate_options *chosen, struct tg_load *load)
{
    struct tg_error err = TG_ERROR_INIT;
    struct tg_link link;
    int r = tg_link_open(chosen->kubeconfig, load->arena, &link, &err);

    if (r < 0 && !chosen->from_cluster)
        tg_error_wrap(&err, "the files hold no nodes, and there is no cluster to ask instead");
    if (r < 0)
        return tg_cli_fail(TG_EXIT_CLUSTER, &err);
    r = tg_load_cluster(load, &link, NULL, &err);
    tg_link_close(&link);
    return r < 0 ? tg_cli_fail(TG_EXIT_CLUSTER, &err) : TG_EXIT_OK;
}

static int run_loaded(const struct simulate_options *chosen, bool brief, struct tg_load *load)
{
    struct tg_arrivals arrivals = {0};
    int code = TG_EXIT_OK;

    tg_load_file(load, chosen->config);
    tg_load_files(load, &chosen->files);
    if (load->problems.n == 0 && (chosen->from_cluster || (brief && !has_nodes(&load->documents))))
        code = add_cluster(chosen, load);
    if (code == TG_EXIT_OK && chosen->arrivals != NULL)
        tg_arrivals_read(&arrivals, chosen->arrivals, &load->problems);
    if (code == TG_EXIT_OK && !tg_load_finish(load))
        code = TG_EXIT_INPUT;
    if (code == TG_EXIT_OK)
        code = chosen->arrivals != NULL ? play(chosen, &load->world, &arrivals, load->now)
                                        : decide(chosen, brief, &load->world, load->now);
    tg_arrivals_done(&arrivals);
    return code;
}

static int run(const struct tg_option_set *set, bool brief, int argc, char **argv)
{
    struct simulate_options chosen = {0};
    enum tg_options_result result = TG_OPTIONS_RUN;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_load load;
    int code;

    if (tg_options_parse(set, argc, argv, &chosen, &result, &err) < 0)
        return tg_cli_fail(TG_EXIT_INPUT, &err);
    if (result == TG_OPTIONS_EXIT)
        return TG_EXIT_OK;
    if (chosen.files.n == 0 && !chosen.from_cluster) {
        tg_error_set(&err, TG_INVALID_ARGUMENT, "no file is given; see %s --help", set->program);
        return tg_cli_fail(TG_EXIT_INPUT, &err);
    }
    tg_load_init(&load);
    code = run_loaded(&chosen, brief, &load);
    tg_load_done(&load);
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
