/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/loop/child.h"

struct fixture {
    struct tg_loop *loop;
    int calls;
    char output[256];
    size_t n;
    struct tg_error err;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    f->loop = tg_loop_new(true);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    tg_loop_free(f->loop);
    free(f);
    return 0;
}

static void on_done(void *data, const char *output, size_t n, const struct tg_error *err)
{
    struct fixture *f = data;

    f->calls++;
    f->n = n;
    f->err = *err;
    snprintf(f->output, sizeof(f->output), "%s", output);
}

static struct tg_child *start(struct fixture *f, const char *script,
                              const struct tg_child_config *how)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct tg_child_config config = *how;
    struct tg_child *child = NULL;

    config.argv = argv;
    config.done = on_done;
    config.data = f;
    f->calls = 0;
    assert_int_equal(tg_child_start(f->loop, &config, &child, &f->err), 0);
    return child;
}

static void run(struct fixture *f, const char *script, const struct tg_child_config *how)
{
    start(f, script, how);
    while (f->calls == 0)
        tg_loop_run_once(f->loop, true);
    assert_int_equal(f->calls, 1);
}

static void the_output_is_collected_and_the_input_is_empty(void **state)
{
    struct fixture *f = *state;

    run(f, "cat; echo one; echo two", &(struct tg_child_config){0});
    assert_int_equal(f->err.code, TG_OK);
    assert_string_equal(f->output, "one\ntwo\n");
    assert_int_equal(f->n, 8);
}

static void the_environment_is_ours_with_the_given_over_it(void **state)
{
    struct fixture *f = *state;
    const char *const env[] = {"TANGRAM_A=new", "TANGRAM_B=added", NULL};

    setenv("TANGRAM_A", "old", 1);
    setenv("TANGRAM_AB", "kept", 1);
    run(f, "echo $TANGRAM_A $TANGRAM_B $TANGRAM_AB", &(struct tg_child_config){.env = env});
    assert_string_equal(f->output, "new added kept\n");
}

static void a_failure_is_told_with_the_last_line_of_its_complaint(void **state)
{
    struct fixture *f = *state;

    run(f, "echo first >&2; echo 'not logged in' >&2; echo >&2; exit 3",
        &(struct tg_child_config){0});
    assert_int_equal(f->err.code, TG_UNAVAILABLE);
    assert_string_equal(f->err.message, "sh: exit status 3: not logged in");
    run(f, "kill -9 $$", &(struct tg_child_config){0});
    assert_int_equal(f->err.code, TG_UNAVAILABLE);
    assert_non_null(strstr(f->err.message, "signal 9"));
}

static void what_hangs_is_killed_with_everything_it_started(void **state)
{
    struct fixture *f = *state;

    run(f, "tail -f /dev/null & tail -f /dev/null",
        &(struct tg_child_config){.timeout = 50 * TG_MILLISECOND});
    assert_int_equal(f->err.code, TG_DEADLINE_EXCEEDED);
    assert_non_null(strstr(f->err.message, "not finished within 50 ms"));
}

static void too_much_output_is_refused(void **state)
{
    struct fixture *f = *state;

    run(f, "while :; do echo 0123456789; done", &(struct tg_child_config){.max_output = 1000});
    assert_int_equal(f->err.code, TG_RESOURCE_EXHAUSTED);
}

static void a_flood_of_complaints_does_no_harm(void **state)
{
    struct fixture *f = *state;

    run(f, "i=0; while [ $i -lt 20000 ]; do echo complaint >&2; i=$((i+1)); done; echo fine",
        &(struct tg_child_config){0});
    assert_int_equal(f->err.code, TG_OK);
    assert_string_equal(f->output, "fine\n");
}

static void one_that_left_its_pipes_to_another_is_done_when_it_exits(void **state)
{
    struct fixture *f = *state;

    run(f, "sleep 3 & echo done", &(struct tg_child_config){0});
    assert_int_equal(f->err.code, TG_OK);
    assert_string_equal(f->output, "done\n");
}

static void a_stopped_one_is_not_told(void **state)
{
    struct fixture *f = *state;

    tg_child_stop(start(f, "tail -f /dev/null", &(struct tg_child_config){0}));
    tg_child_stop(NULL);
    run(f, "echo next", &(struct tg_child_config){0});
    assert_string_equal(f->output, "next\n");
}

static void a_program_that_is_not_there_is_told_at_once(void **state)
{
    struct fixture *f = *state;
    const char *const argv[] = {"/nonexistent/program", NULL};
    const struct tg_child_config config = {.argv = argv, .done = on_done, .data = f};
    struct tg_child *child = NULL;

    assert_int_equal(tg_child_start(f->loop, &config, &child, &f->err), -TG_NOT_FOUND);
    assert_non_null(strstr(f->err.message, "/nonexistent/program"));
    assert_null(child);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_output_is_collected_and_the_input_is_empty),
        TEST(the_environment_is_ours_with_the_given_over_it),
        TEST(a_failure_is_told_with_the_last_line_of_its_complaint),
        TEST(what_hangs_is_killed_with_everything_it_started),
        TEST(too_much_output_is_refused),
        TEST(a_flood_of_complaints_does_no_harm),
        TEST(one_that_left_its_pipes_to_another_is_done_when_it_exits),
        TEST(a_stopped_one_is_not_told),
        TEST(a_program_that_is_not_there_is_told_at_once),
    };
    return cmocka_run_group_tests_name("child", tests, NULL, NULL);
}
