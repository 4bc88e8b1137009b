/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/options.h"

struct options {
    const char *node;
    const char *format;
    bool leader;
    int64_t verbosity;
    int64_t port;
    int64_t lease;
};

static const char *const formats[] = {"text", "json", NULL};
static const struct tg_option table[] = {
    {.name = "node-name",
     .env = "TG_TEST_NODE",
     .kind = TG_OPTION_STRING,
     .offset = offsetof(struct options, node),
     .argument = "NAME",
     .help = "Name of the node that this program serves.",
     .required = true},
    {.name = "logging-format",
     .env = "TG_TEST_FORMAT",
     .kind = TG_OPTION_ENUM,
     .offset = offsetof(struct options, format),
     .fallback = "text",
     .argument = "FORMAT",
     .help = "Form of the log lines.",
     .values = formats},
    {.name = "leader-elect",
     .env = "TG_TEST_LEADER",
     .kind = TG_OPTION_BOOL,
     .offset = offsetof(struct options, leader),
     .fallback = "true",
     .help =
         "Compete for the lease before doing anything, so that of several copies of this program "
         "in one cluster exactly one decides and the others stand by with a warm model."},
    {.name = "v",
     .kind = TG_OPTION_INT,
     .offset = offsetof(struct options, verbosity),
     .fallback = "0",
     .argument = "LEVEL",
     .help = "Verbosity of the log.",
     .max = 10},
    {.name = "http-port",
     .env = "TG_TEST_PORT",
     .kind = TG_OPTION_INT,
     .offset = offsetof(struct options, port),
     .help = "Port of health and metrics."},
    {.name = "lease",
     .env = "TG_TEST_LEASE",
     .kind = TG_OPTION_DURATION,
     .offset = offsetof(struct options, lease),
     .fallback = "15s",
     .argument = "DURATION",
     .help = "How long a lease is valid.",
     .min = TG_SECOND,
     .max = 600 * TG_SECOND},
};
static const struct tg_option_set set = {.program = "tangram-test",
                                         .summary = "Tests the options.",
                                         .options = table,
                                         .n = TG_ARRAY_SIZE(table)};

static struct options options;
static struct tg_error err;
static enum tg_options_result result;

static int clear(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(table); i++) {
        if (table[i].env != NULL)
            unsetenv(table[i].env);
    }
    options = (struct options){0};
    err = TG_ERROR_INIT;
    result = TG_OPTIONS_RUN;
    return 0;
}

#define PARSE(...) parse((const char *[]){"tangram-test", __VA_ARGS__, NULL})

static int parse(const char **argv)
{
    int argc = 0;

    while (argv[argc] != NULL)
        argc++;
    return tg_options_parse(&set, argc, (char **)argv, &options, &result, &err);
}

static void assert_refused(int rc, const char *message)
{
    assert_int_equal(rc, -TG_INVALID_ARGUMENT);
    assert_string_equal(err.message, message);
}

static void defaults_come_from_the_table(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--node-name=a"), 0);
    assert_int_equal(result, TG_OPTIONS_RUN);
    assert_string_equal(options.node, "a");
    assert_string_equal(options.format, "text");
    assert_true(options.leader);
    assert_int_equal(options.verbosity, 0);
    assert_int_equal(options.port, 0);
    assert_int_equal(options.lease, 15 * TG_SECOND);
}

static void values_may_follow_an_equals_sign_or_a_blank(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--node-name", "a=b", "--logging-format=json", "--lease", "1m30s",
                           "--v=4", "--http-port", "-1", "--leader-elect=false"),
                     0);
    assert_string_equal(options.node, "a=b");
    assert_string_equal(options.format, "json");
    assert_int_equal(options.lease, 90 * TG_SECOND);
    assert_int_equal(options.verbosity, 4);
    assert_int_equal(options.port, -1);
    assert_false(options.leader);
}

static void klog_style_short_names_are_taken(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--node-name=a", "-v=2"), 0);
    assert_int_equal(options.verbosity, 2);
    assert_int_equal(PARSE("--node-name=a", "-v", "3"), 0);
    assert_int_equal(options.verbosity, 3);
}

static void a_bool_without_a_value_is_true_and_takes_no_argument(void **state)
{
    (void)state;
    setenv("TG_TEST_LEADER", "false", 1);
    assert_int_equal(PARSE("--leader-elect", "--node-name=a"), 0);
    assert_true(options.leader);
    assert_refused(PARSE("--node-name=a", "--leader-elect", "false"),
                   "unexpected argument \"false\"; see tangram-test --help");
}

static void the_last_one_wins_and_argv_beats_the_environment(void **state)
{
    (void)state;
    setenv("TG_TEST_NODE", "from-env", 1);
    setenv("TG_TEST_LEASE", "20s", 1);
    setenv("TG_TEST_PORT", "", 1); /* empty counts as not set */
    assert_int_equal(PARSE("--lease=30s", "--lease=40s"), 0);
    assert_string_equal(options.node, "from-env");
    assert_int_equal(options.lease, 40 * TG_SECOND);
    assert_int_equal(options.port, 0);
}

static void a_bad_environment_variable_is_told_by_its_name(void **state)
{
    (void)state;
    setenv("TG_TEST_LEASE", "soon", 1);
    assert_refused(PARSE("--node-name=a"),
                   "environment variable TG_TEST_LEASE: \"soon\" is not a duration such as 15s, "
                   "2m30s or 100ms; see tangram-test --help");
    assert_int_equal(PARSE("--node-name=a", "--lease=15s"), 0); /* overridden: not looked at */
}

static void bad_values_say_what_is_wanted(void **state)
{
    (void)state;
    assert_refused(PARSE("--logging-format=xml"), "option --logging-format: \"xml\" is not one of "
                                                  "text, json; see tangram-test --help");
    assert_refused(PARSE("--leader-elect=maybe"), "option --leader-elect: \"maybe\" is not true or "
                                                  "false; see tangram-test --help");
    assert_refused(PARSE("--http-port=80x"), "option --http-port: \"80x\" is not a whole number; "
                                             "see tangram-test --help");
    assert_refused(PARSE("-v=11"), "option -v: 11 is out of range, it must be 0 to 10");
    assert_refused(PARSE("--lease=11m"),
                   "option --lease: 11m is out of range, it must be 1s to 10m0s");
    assert_refused(PARSE("--lease=-5s"),
                   "option --lease: -5s is out of range, it must be 1s to 10m0s");
}

static void unknown_options_name_the_nearest(void **state)
{
    (void)state;
    assert_refused(PARSE("--node-nam=a"), "unknown option \"--node-nam\"; did you mean "
                                          "\"--node-name\"? See tangram-test --help");
    assert_refused(PARSE("--loging-fromat", "json"),
                   "unknown option \"--loging-fromat\"; did you mean "
                   "\"--logging-format\"? See tangram-test --help");
    assert_refused(PARSE("--hlep"),
                   "unknown option \"--hlep\"; did you mean \"--help\"? See tangram-test --help");
    assert_refused(PARSE("--completely-different-thing"),
                   "unknown option \"--completely-different-thing\"; see tangram-test --help");
    assert_refused(PARSE("-node-name=a"), "unknown option \"-node-name\"; did you mean "
                                          "\"--node-name\"? See tangram-test --help");
}

static void very_long_words_are_refused_without_harm(void **state)
{
    static char word[100000];

    (void)state;
    memset(word, '-', 2);
    memset(word + 2, 'a', sizeof(word) - 3);
    assert_int_equal(PARSE(word), -TG_INVALID_ARGUMENT);
    assert_int_equal(PARSE("--node-name=a", "--http-port", word), -TG_INVALID_ARGUMENT);
}

static void missing_values_and_options_are_named(void **state)
{
    (void)state;
    assert_refused(PARSE("--node-name"),
                   "option \"--node-name\" needs a value (NAME); see tangram-test --help");
    assert_refused(PARSE("--node-name", "--lease=3s"),
                   "option \"--node-name\" needs a value (NAME); see tangram-test --help");
    assert_refused(PARSE("--v=1"), "option \"--node-name\" is required, or environment variable "
                                   "TG_TEST_NODE; see tangram-test --help");
}

static void positional_arguments_are_refused(void **state)
{
    (void)state;
    assert_refused(PARSE("file"), "unexpected argument \"file\"; see tangram-test --help");
    assert_refused(PARSE("-"), "unexpected argument \"-\"; see tangram-test --help");
    assert_refused(PARSE("--"), "unexpected argument \"--\"; see tangram-test --help");
    assert_refused(PARSE("--=x"), "unexpected argument \"--=x\"; see tangram-test --help");
    assert_refused(PARSE(""), "unexpected argument \"\"; see tangram-test --help");
}

/* What is printed to stdout by parsing one argument. */
static char *printed_by(const char *argument)
{
    char *text = NULL;
    size_t n = 0;
    FILE *real = stdout;
    int rc;

    stdout = open_memstream(&text, &n);
    rc = PARSE(argument);
    fclose(stdout);
    stdout = real;
    assert_int_equal(rc, 0);
    assert_int_equal(result, TG_OPTIONS_EXIT);
    return text;
}

static void help_is_printed_from_the_table(void **state)
{
    TG_AUTOFREE char *text = NULL;

    (void)state;
    setenv("TG_TEST_LEASE", "nonsense", 1); /* must not stand in the way of help */
    text = printed_by("--help");
    assert_string_equal(
        text, "Usage: tangram-test [OPTION]...\n"
              "Tests the options.\n"
              "\n"
              "Options:\n"
              "  --node-name NAME\n"
              "        Name of the node that this program serves. Required. Environment:\n"
              "        TG_TEST_NODE.\n"
              "  --logging-format FORMAT\n"
              "        Form of the log lines. One of text, json. Default: text. Environment:\n"
              "        TG_TEST_FORMAT.\n"
              "  --leader-elect\n"
              "        Compete for the lease before doing anything, so that of several copies\n"
              "        of this program in one cluster exactly one decides and the others stand\n"
              "        by with a warm model. Default: true. Environment: TG_TEST_LEADER.\n"
              "  -v LEVEL\n"
              "        Verbosity of the log. Default: 0.\n"
              "  --http-port VALUE\n"
              "        Port of health and metrics. Environment: TG_TEST_PORT.\n"
              "  --lease DURATION\n"
              "        How long a lease is valid. Default: 15s. Environment: TG_TEST_LEASE.\n"
              "  --help\n"
              "        Print this text and exit.\n"
              "  --version\n"
              "        Print the version and exit.\n");
}

static void short_help_is_taken_too(void **state)
{
    TG_AUTOFREE char *text = printed_by("-h");

    (void)state;
    assert_non_null(strstr(text, "Usage: tangram-test"));
}

static void version_is_that_of_the_build(void **state)
{
    TG_AUTOFREE char *text = printed_by("--version");

    (void)state;
    assert_string_equal(text, "tangram-test " TANGRAM_VERSION "\n");
}

static void sets_that_take_them_get_positional_arguments_and_repeated_options(void **state)
{
    static struct words {
        struct tg_option_words files, arguments;
    } words;
    static const struct tg_option one[] = {{.name = "f",
                                            .kind = TG_OPTION_WORDS,
                                            .offset = offsetof(struct words, files),
                                            .argument = "FILE"}};
    static const struct tg_option_set taking = {.program = "tangram-test",
                                                .options = one,
                                                .n = TG_ARRAY_SIZE(one),
                                                .arguments = "THING...",
                                                .arguments_offset =
                                                    offsetof(struct words, arguments)};
    const char *argv[] = {"tangram-test", "a", "-f", "x", "-", "-f=y", NULL};
    const char *many[TG_OPTION_WORDS_MAX + 3] = {"tangram-test"};

    (void)state;
    assert_int_equal(tg_options_parse(&taking, 6, (char **)argv, &words, &result, &err), 0);
    assert_int_equal(words.files.n, 2);
    assert_string_equal(words.files.items[0], "x");
    assert_string_equal(words.files.items[1], "y");
    assert_int_equal(words.arguments.n, 2);
    assert_string_equal(words.arguments.items[0], "a");
    assert_string_equal(words.arguments.items[1], "-");
    for (size_t i = 1; i <= TG_OPTION_WORDS_MAX; i++)
        many[i] = "a";
    words = (struct words){.arguments = {.n = 1}};
    assert_refused(
        tg_options_parse(&taking, TG_OPTION_WORDS_MAX + 1, (char **)many, &words, &result, &err),
        "more than 64 arguments of one kind; see tangram-test --help");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(defaults_come_from_the_table, clear),
        cmocka_unit_test_setup(values_may_follow_an_equals_sign_or_a_blank, clear),
        cmocka_unit_test_setup(klog_style_short_names_are_taken, clear),
        cmocka_unit_test_setup(a_bool_without_a_value_is_true_and_takes_no_argument, clear),
        cmocka_unit_test_setup(the_last_one_wins_and_argv_beats_the_environment, clear),
        cmocka_unit_test_setup(a_bad_environment_variable_is_told_by_its_name, clear),
        cmocka_unit_test_setup(bad_values_say_what_is_wanted, clear),
        cmocka_unit_test_setup(unknown_options_name_the_nearest, clear),
        cmocka_unit_test_setup(very_long_words_are_refused_without_harm, clear),
        cmocka_unit_test_setup(missing_values_and_options_are_named, clear),
        cmocka_unit_test_setup(positional_arguments_are_refused, clear),
        cmocka_unit_test_setup(sets_that_take_them_get_positional_arguments_and_repeated_options,
                               clear),
        cmocka_unit_test_setup(help_is_printed_from_the_table, clear),
        cmocka_unit_test_setup(short_help_is_taken_too, clear),
        cmocka_unit_test_setup(version_is_that_of_the_build, clear),
    };

    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
