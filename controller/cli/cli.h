/* SPDX-License-Identifier: Apache-2.0 */
/* kubectl-tangram: one program, one table of verbs, one meaning of exit codes. */
#ifndef TG_CONTROLLER_CLI_CLI_H
#define TG_CONTROLLER_CLI_CLI_H

#include "api/runtime/base/error.h"

enum tg_exit {
    TG_EXIT_OK = 0,
    TG_EXIT_NO = 1,      /* understood, and the answer is no: it does not fit, it waits */
    TG_EXIT_INPUT = 2,   /* arguments or files cannot be used */
    TG_EXIT_CLUSTER = 3, /* the cluster cannot be reached, or refuses */
};

struct tg_verb {
    const char *name;
    const char *summary; /* half a line for --help */
    /* argv[0] is the name of the verb. Returns an exit code. */
    int (*run)(int argc, char **argv);
};

/* The program: finds the verb and runs it. */
int tg_cli_run(int argc, char **argv);
/* Prints "kubectl-tangram: MESSAGE" to stderr; returns `code`. */
int tg_cli_fail(enum tg_exit code, const struct tg_error *err);

extern const struct tg_verb tg_verb_simulate, tg_verb_fit, tg_verb_validate, tg_verb_explain,
    tg_verb_dump, tg_verb_release, tg_verb_uninstall;

#endif
