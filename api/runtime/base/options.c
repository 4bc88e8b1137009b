/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/options.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/bitset.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

#define HELP_MAX_BYTES ((size_t)256 * 1024)
#define HELP_COLUMNS 80
#define HELP_INDENT 8
#define NEAREST_MAX 40 /* longer words get no suggestion */

struct parse {
    const struct tg_option_set *set;
    void *target;
    int argc;
    char **argv;
    int at; /* index of the argument that is looked at */
    uint64_t given[TG_BITSET_WORDS(TG_OPTIONS_MAX)];
    enum tg_options_result result;
    struct tg_error *err;
};

/* Where a value came from, for messages: `option "--lease"` or `environment variable TG_LEASE`. */
struct origin {
    const char *kind;
    const char *name;
};

static void *variable(const struct parse *parse, const struct tg_option *option)
{
    return (char *)parse->target + option->offset;
}

/* ---- nearest option ---- */

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

/* Levenshtein distance of two words of at most NEAREST_MAX bytes. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t row[NEAREST_MAX + 1];

    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t above = row[j];

            row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[b_len];
}

/* The candidate, if it is nearer to the word than the best so far. */
static const char *nearer(const char *word, size_t n, const char *candidate, const char *best,
                          size_t *best_distance)
{
    size_t len = strlen(candidate);
    size_t d;

    if (n > NEAREST_MAX || len > NEAREST_MAX)
        return best;
    d = distance(word, n, candidate, len);
    if (d >= *best_distance)
        return best;
    *best_distance = d;
    return candidate;
}

/* The option that was probably meant, or NULL. */
static const char *nearest_option(const struct tg_option_set *set, const char *word, size_t n)
{
    /* A third of the letters may be wrong; beyond that a guess is noise. */
    size_t best_distance = n / 3 + 2;
    const char *best = NULL;

    for (size_t i = 0; i < set->n; i++)
        best = nearer(word, n, set->options[i].name, best, &best_distance);
    best = nearer(word, n, "help", best, &best_distance);
    return nearer(word, n, "version", best, &best_distance);
}

static int unknown_option(struct parse *parse, const char *argument, const char *name, size_t n)
{
    const char *nearest = nearest_option(parse->set, name, n);

    if (nearest == NULL)
        return tg_error_set(parse->err, TG_INVALID_ARGUMENT,
                            "unknown option \"%.*s\"; see %s --help", (int)(name + n - argument),
                            argument, parse->set->program);
    return tg_error_set(parse->err, TG_INVALID_ARGUMENT,
                        "unknown option \"%.*s\"; did you mean \"--%s\"? See %s --help",
                        (int)(name + n - argument), argument, nearest, parse->set->program);
}

/* ---- values ---- */

static int bad_value(struct parse *parse, struct origin origin, const char *value,
                     const char *wanted)
{
    return tg_error_set(parse->err, TG_INVALID_ARGUMENT,
                        "%s%s: \"%.100s\" is not %s; see %s --help", origin.kind, origin.name,
                        value, wanted, parse->set->program);
}

static int store_bool(struct parse *parse, const struct tg_option *option, const char *value,
                      struct origin origin)
{
    bool yes = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;

    if (!yes && strcmp(value, "false") != 0 && strcmp(value, "0") != 0)
        return bad_value(parse, origin, value, "true or false");
    *(bool *)variable(parse, option) = yes;
    return 0;
}

/* A bound as the user would write it. */
static const char *format_bound(const struct tg_option *option, int64_t bound,
                                char out[static TG_DURATION_TEXT])
{
    if (option->kind == TG_OPTION_DURATION)
        return tg_format_duration(bound, out);
    snprintf(out, TG_DURATION_TEXT, "%" PRId64, bound);
    return out;
}

static int store_number(struct parse *parse, const struct tg_option *option, const char *value,
                        struct origin origin)
{
    bool is_duration = option->kind == TG_OPTION_DURATION;
    int64_t number;
    char low[TG_DURATION_TEXT];
    char high[TG_DURATION_TEXT];

    if (is_duration && tg_parse_duration(value, &number) != 0)
        return bad_value(parse, origin, value, "a duration such as 15s, 2m30s or 100ms");
    if (!is_duration && tg_parse_i64(value, strlen(value), &number) != 0)
        return bad_value(parse, origin, value, "a whole number");
    if (option->max > option->min && (number < option->min || number > option->max))
        return tg_error_set(parse->err, TG_INVALID_ARGUMENT,
                            "%s%s: %.100s is out of range, it must be %s to %s", origin.kind,
                            origin.name, value, format_bound(option, option->min, low),
                            format_bound(option, option->max, high));
    *(int64_t *)variable(parse, option) = number;
    return 0;
}

static void append_values(struct tg_buf *buf, const struct tg_option *option)
{
    for (size_t i = 0; option->values[i] != NULL; i++)
        tg_buf_printf(buf, "%s%s", i == 0 ? "" : ", ", option->values[i]);
}

static int store_enum(struct parse *parse, const struct tg_option *option, const char *value,
                      struct origin origin)
{
    TG_AUTOBUF struct tg_buf wanted = TG_BUF_INIT(1024);

    for (size_t i = 0; option->values[i] != NULL; i++) {
        if (strcmp(option->values[i], value) == 0) {
            *(const char **)variable(parse, option) = option->values[i];
            return 0;
        }
    }
    tg_buf_append_str(&wanted, "one of ");
    append_values(&wanted, option);
    return bad_value(parse, origin, value, tg_buf_str(&wanted));
}

static int add_word(struct parse *parse, struct tg_option_words *words, const char *word)
{
    if (words->n == TG_OPTION_WORDS_MAX)
        return tg_error_set(parse->err, TG_INVALID_ARGUMENT,
                            "more than %d arguments of one kind; see %s --help",
                            TG_OPTION_WORDS_MAX, parse->set->program);
    words->items[words->n++] = word;
    return 0;
}

static int store(struct parse *parse, const struct tg_option *option, const char *value,
                 struct origin origin)
{
    switch (option->kind) {
    case TG_OPTION_WORDS:
        return add_word(parse, variable(parse, option), value);
    case TG_OPTION_BOOL:
        return store_bool(parse, option, value, origin);
    case TG_OPTION_INT:
    case TG_OPTION_DURATION:
        return store_number(parse, option, value, origin);
    case TG_OPTION_ENUM:
        return store_enum(parse, option, value, origin);
    case TG_OPTION_STRING:
        break;
    }
    *(const char **)variable(parse, option) = value;
    return 0;
}

/* ---- help ---- */

/* The words of text, broken before HELP_COLUMNS and indented. */
static void append_wrapped(struct tg_buf *buf, const char *text)
{
    size_t column = 0;

    while (*text != '\0') {
        size_t word = strcspn(text, " ");

        if (column == 0 || column + 1 + word > HELP_COLUMNS) {
            tg_buf_printf(buf, "%s%*s", column == 0 ? "" : "\n", HELP_INDENT, "");
            column = HELP_INDENT;
        } else {
            tg_buf_append_char(buf, ' ');
            column++;
        }
        tg_buf_append(buf, text, word);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    tg_buf_append_char(buf, '\n');
}

static void append_option_help(struct tg_buf *help, const struct tg_option *option)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(8192);

    tg_buf_printf(help, "  %s%s", option->name[1] == '\0' ? "-" : "--", option->name);
    if (option->kind != TG_OPTION_BOOL)
        tg_buf_printf(help, " %s", tg_or(option->argument, "VALUE"));
    tg_buf_append_char(help, '\n');

    tg_buf_append_str(&text, tg_or(option->help, ""));
    if (option->kind == TG_OPTION_ENUM) {
        tg_buf_append_str(&text, " One of ");
        append_values(&text, option);
        tg_buf_append_char(&text, '.');
    }
    if (option->required)
        tg_buf_append_str(&text, " Required.");
    else if (option->fallback != NULL && option->fallback[0] != '\0')
        tg_buf_printf(&text, " Default: %s.", option->fallback);
    if (option->env != NULL)
        tg_buf_printf(&text, " Environment: %s.", option->env);
    append_wrapped(help, tg_buf_str(&text));
}

static void print_help(const struct tg_option_set *set)
{
    TG_AUTOBUF struct tg_buf help = TG_BUF_INIT(HELP_MAX_BYTES);

    tg_buf_printf(&help, "Usage: %s [OPTION]...%s%s\n%s\n\nOptions:\n", set->program,
                  set->arguments == NULL ? "" : " ", tg_or(set->arguments, ""),
                  tg_or(set->summary, ""));
    for (size_t i = 0; i < set->n; i++)
        append_option_help(&help, &set->options[i]);
    tg_buf_append_str(&help, "  --help\n");
    append_wrapped(&help, "Print this text and exit.");
    tg_buf_append_str(&help, "  --version\n");
    append_wrapped(&help, "Print the version and exit.");
    fputs(tg_buf_str(&help), stdout);
    fflush(stdout);
}

/* ---- the command line ---- */

static const struct tg_option *find_option(const struct tg_option_set *set, const char *name,
                                           size_t n)
{
    for (size_t i = 0; i < set->n; i++) {
        if (strncmp(set->options[i].name, name, n) == 0 && set->options[i].name[n] == '\0')
            return &set->options[i];
    }
    return NULL;
}

/* True for "--name" of the table: then it is not meant as the value of the option before it. */
static bool is_known_option(const struct tg_option_set *set, const char *argument)
{
    size_t n = strcspn(argument, "=");

    return n > 2 && tg_has_prefix(argument, "--") && find_option(set, argument + 2, n - 2) != NULL;
}

static bool is_word(const char *name, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(name, word, n) == 0;
}

/* --help and --version; false if it is neither. */
static bool take_built_in(struct parse *parse, const char *name, size_t n)
{
    if (is_word(name, n, "help") || is_word(name, n, "h")) {
        print_help(parse->set);
    } else if (is_word(name, n, "version")) {
        printf("%s %s\n", parse->set->program, TANGRAM_VERSION);
        fflush(stdout);
    } else {
        return false;
    }
    parse->result = TG_OPTIONS_EXIT;
    return true;
}

/* The value of an option that was given without "=": for a bool none, otherwise the next argument.
 */
static const char *following_value(struct parse *parse, const struct tg_option *option)
{
    if (option->kind == TG_OPTION_BOOL)
        return "true";
    if (parse->at + 1 >= parse->argc || is_known_option(parse->set, parse->argv[parse->at + 1]))
        return NULL;
    return parse->argv[++parse->at];
}

/* The name in "--name", "--name=value" or "-n"; NULL if the argument is no option. */
static const char *name_in(const char *argument, size_t *n)
{
    const char *name;

    if (argument[0] != '-')
        return NULL;
    name = argument + (argument[1] == '-' ? 2 : 1);
    *n = strcspn(name, "=");
    return *n == 0 ? NULL : name;
}

static int take_argument(struct parse *parse)
{
    const char *argument = parse->argv[parse->at];
    size_t n = 0;
    const char *name = name_in(argument, &n);
    const struct tg_option *option = NULL;
    const char *value;

    if (name == NULL && parse->set->arguments != NULL)
        return add_word(parse, (void *)((char *)parse->target + parse->set->arguments_offset),
                        argument);
    if (name == NULL)
        return tg_error_set(parse->err, TG_INVALID_ARGUMENT,
                            "unexpected argument \"%.100s\"; see %s --help", argument,
                            parse->set->program);
    if (n == 1 || argument[1] == '-')
        option = find_option(parse->set, name, n);
    if (option == NULL && take_built_in(parse, name, n))
        return 0;
    if (option == NULL)
        return unknown_option(parse, argument, name, n);
    value = name[n] == '=' ? name + n + 1 : following_value(parse, option);
    if (value == NULL)
        return tg_error_set(parse->err, TG_INVALID_ARGUMENT,
                            "option \"%s\" needs a value (%s); see %s --help", argument,
                            tg_or(option->argument, "VALUE"), parse->set->program);
    tg_bitset_set(parse->given, (size_t)(option - parse->set->options));
    return store(parse, option, value,
                 (struct origin){n == 1 ? "option -" : "option --", option->name});
}

static void set_defaults(struct parse *parse)
{
    for (size_t i = 0; i < parse->set->n; i++) {
        const struct tg_option *option = &parse->set->options[i];
        struct tg_error *err = parse->err;
        int rc = 0;

        parse->err = NULL;
        if (option->fallback != NULL)
            rc = store(parse, option, option->fallback,
                       (struct origin){"default of ", option->name});
        parse->err = err;
        assert(rc == 0);
        (void)rc;
    }
}

/* Environment for what the command line did not give, then the check for what is still missing. */
static int take_environment(struct parse *parse)
{
    for (size_t i = 0; i < parse->set->n; i++) {
        const struct tg_option *option = &parse->set->options[i];
        const char *value = option->env == NULL ? NULL : getenv(option->env);
        int rc;

        if (tg_bitset_has(parse->given, i))
            continue;
        if (value != NULL && value[0] != '\0') {
            rc = store(parse, option, value, (struct origin){"environment variable ", option->env});
            if (rc != 0)
                return rc;
        } else if (option->required) {
            return tg_error_set(parse->err, TG_INVALID_ARGUMENT,
                                "option \"--%s\" is required%s%s; see %s --help", option->name,
                                option->env == NULL ? "" : ", or environment variable ",
                                tg_or(option->env, ""), parse->set->program);
        }
    }
    return 0;
}

int tg_options_parse(const struct tg_option_set *set, int argc, char **argv, void *target,
                     enum tg_options_result *ret, struct tg_error *err)
{
    struct parse parse = {.set = set,
                          .target = target,
                          .argc = argc,
                          .argv = argv,
                          .result = TG_OPTIONS_RUN,
                          .err = err};
    int rc;

    assert(set->n <= TG_OPTIONS_MAX);
    set_defaults(&parse);
    for (parse.at = 1; parse.at < argc; parse.at++) {
        rc = take_argument(&parse);
        if (rc != 0)
            return rc;
        if (parse.result == TG_OPTIONS_EXIT) {
            *ret = TG_OPTIONS_EXIT;
            return 0;
        }
    }
    rc = take_environment(&parse);
    if (rc == 0)
        *ret = TG_OPTIONS_RUN;
    return rc;
}
