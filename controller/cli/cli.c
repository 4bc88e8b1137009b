/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/cli.h"

#include <stdio.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

static const struct tg_verb *const verbs[] = {
    &tg_verb_simulate, &tg_verb_fit,     &tg_verb_validate,  &tg_verb_explain,
    &tg_verb_dump,     &tg_verb_release, &tg_verb_uninstall,
};

int tg_cli_fail(enum tg_exit code, const struct tg_error *err)
{
    fprintf(stderr, "kubectl-tangram: %s\n", err->message);
    return (int)code;
}

static void print_help(FILE *out)
{
    fputs("Usage: kubectl tangram VERB [OPTION]... [ARGUMENT]...\n\n", out);
    for (size_t i = 0; i < TG_ARRAY_SIZE(verbs); i++)
        fprintf(out, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    fputs("\nkubectl tangram VERB --help says more; --version prints the version.\n"
          "Exit codes: 0 yes or done; 1 no (it does not fit, it waits); 2 arguments or files that "
          "cannot be used;\n3 the cluster cannot be reached or refuses.\n",
          out);
}

static const struct tg_verb *find_verb(const char *name)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(verbs); i++)
        if (tg_streq(verbs[i]->name, name))
            return verbs[i];
    return NULL;
}

int tg_cli_run(int argc, char **argv)
{
    const char *name = argc < 2 ? NULL : argv[1];
    const struct tg_verb *verb = name == NULL ? NULL : find_verb(name);

    if (verb != NULL)
        return verb->run(argc - 1, argv + 1);
    if (tg_streq(name, "--help") || tg_streq(name, "-h") || tg_streq(name, "help")) {
        print_help(stdout);
        return TG_EXIT_OK;
    }
    if (tg_streq(name, "--version")) {
        printf("kubectl-tangram %s\n", TANGRAM_VERSION);
        return TG_EXIT_OK;
    }
    if (name == NULL)
        fputs("kubectl-tangram: which verb?\n\n", stderr);
    else
        fprintf(stderr, "kubectl-tangram: there is no verb \"%.100s\"\n\n", name);
    print_help(stderr);
    return TG_EXIT_INPUT;
}
