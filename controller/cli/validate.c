/* SPDX-License-Identifier: Apache-2.0 */
/* The verb validate: are manifests right, before anything is applied? */
#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/options.h"
#include "api/runtime/base/str.h"
#include "api/runtime/base/zoneinfo.h"
#include "controller/cli/check.h"
#include "controller/cli/cli.h"

struct validate_options {
    const char *kubernetes;
    struct tg_option_words named, files;
};

static const char *const releases[] = {"1.37", "1.36", "1.35", "1.34", NULL};

#define AT(member) .offset = offsetof(struct validate_options, member)

static const struct tg_option options[] = {
    {.name = "f",
     .kind = TG_OPTION_WORDS,
     AT(named),
     .argument = "FILE",
     .help = "A file of manifests; may be repeated. - is standard input."},
    {.name = "kubernetes",
     .kind = TG_OPTION_ENUM,
     AT(kubernetes),
     .fallback = "1.37",
     .values = releases,
     .argument = "RELEASE",
     .help = "The release of the cluster: what selectors may say, and what policies add to pods "
             "and templates."},
};

static const struct tg_option_set set = {
    .program = "kubectl-tangram validate",
    .summary = "Says what is wrong with classes, claims, templates, Gangs, workloads, fleets and "
               "the controller's configuration: file, line, column, and what to do.",
    .options = options,
    .n = TG_ARRAY_SIZE(options),
    .arguments = "FILE...",
    .arguments_offset = offsetof(struct validate_options, files),
};

static int check_all(const struct validate_options *chosen, struct tg_problems *problems,
                     struct tg_documents *documents, const struct tg_cel_zones *zones)
{
    unsigned minor = (unsigned)strtoul(chosen->kubernetes + 2, NULL, 10);
    struct tg_check_run run = {.problems = problems,
                               .arena = documents->arena,
                               .documents = documents,
                               .selectors = {.minor = minor, .zones = zones},
                               .minor = minor};
    size_t checked = 0;

    for (size_t i = 0; i < chosen->named.n; i++)
        tg_documents_read(documents, chosen->named.items[i], problems);
    for (size_t i = 0; i < chosen->files.n; i++)
        tg_documents_read(documents, chosen->files.items[i], problems);
    for (size_t i = 0; i < documents->items.n; i++)
        checked += tg_check_document(&run, &documents->items.items[i]);
    tg_problems_print(problems, stdout);
    printf("%zu objects, %zu of kinds that are looked at: %zu problems\n", documents->items.n,
           checked, problems->n);
    return problems->n > 0 ? TG_EXIT_INPUT : TG_EXIT_OK;
}

static int run_validate(int argc, char **argv)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_CLI_MEMORY);
    struct tg_zoneinfo *zoneinfo = tg_zoneinfo_new(TG_ZONEINFO_FOLDER);
    const struct tg_cel_zones zones = {.find = tg_zoneinfo_find, .context = zoneinfo};
    struct validate_options chosen = {0};
    enum tg_options_result result = TG_OPTIONS_RUN;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_documents documents;
    struct tg_problems problems;
    int code = TG_EXIT_OK;

    tg_problems_init(&problems, arena);
    tg_documents_init(&documents, arena);
    if (tg_options_parse(&set, argc, argv, &chosen, &result, &err) < 0)
        code = tg_cli_fail(TG_EXIT_INPUT, &err);
    else if (result == TG_OPTIONS_RUN && chosen.files.n + chosen.named.n == 0) {
        tg_error_set(&err, TG_INVALID_ARGUMENT, "no file is given; see %s --help", set.program);
        code = tg_cli_fail(TG_EXIT_INPUT, &err);
    } else if (result == TG_OPTIONS_RUN)
        code = check_all(&chosen, &problems, &documents, &zones);
    tg_documents_done(&documents);
    tg_problems_done(&problems);
    tg_zoneinfo_free(zoneinfo);
    return code;
}

const struct tg_verb tg_verb_validate = {"validate", "are manifests right? file, line, column",
                                         run_validate};
