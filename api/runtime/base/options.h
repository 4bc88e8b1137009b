/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines from one table: --name VALUE, --name=VALUE, an environment fallback for each option
 * (charts use the environment), --help printed from the same table, --version.
 */
#ifndef TG_RUNTIME_BASE_OPTIONS_H
#define TG_RUNTIME_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/duration.h"
#include "api/runtime/base/error.h"

enum tg_option_kind {
    TG_OPTION_STRING,   /* const char * */
    TG_OPTION_BOOL,     /* bool; --name, --name=false */
    TG_OPTION_INT,      /* int64_t, within min..max if max > min */
    TG_OPTION_DURATION, /* int64_t nanoseconds; "15s", "2m30s", "100ms" as Go prints them; min..max
                           as above */
    TG_OPTION_ENUM,     /* const char *, one of values (NULL-terminated) */
    TG_OPTION_WORDS,    /* struct tg_option_words; may be given more than once */
};

#define TG_OPTION_WORDS_MAX 64
struct tg_option_words {
    const char *items[TG_OPTION_WORDS_MAX];
    size_t n;
};

struct tg_option {
    const char *name; /* without dashes */
    const char *env;  /* NULL: no fallback */
    enum tg_option_kind kind;
    size_t offset;        /* of the variable in the options struct */
    const char *fallback; /* default as text; NULL: zero */
    const char *argument; /* placeholder in --help, e.g. FILE */
    const char *help;     /* one sentence */
    const char *const *values;
    int64_t min, max;
    bool required;
};

struct tg_option_set {
    const char *program;
    const char *summary; /* one sentence for --help */
    const struct tg_option *options;
    size_t n;
    /* Positional arguments, as --help shows them ("FLEET WORKLOAD"); NULL: there are none. */
    const char *arguments;
    size_t arguments_offset; /* of the struct tg_option_words that takes them */
};

enum tg_options_result { TG_OPTIONS_RUN, TG_OPTIONS_EXIT };

/* At most this many options in a set. */
#define TG_OPTIONS_MAX 128

/* Fills `target` from defaults, environment and argv (later wins). String values point into argv,
 * the environment or the table. --help and --version print to stdout and give TG_OPTIONS_EXIT.
 * Unknown options, and positional arguments of a set without any, are errors that name the nearest
 * option and point at --help. "-" is a positional argument. Names of one letter are also taken
 * after one dash (-v=4). An empty environment variable counts as not set; one that argv overrides
 * is not looked at. */
int tg_options_parse(const struct tg_option_set *set, int argc, char **argv, void *target,
                     enum tg_options_result *ret, struct tg_error *err);

#endif
