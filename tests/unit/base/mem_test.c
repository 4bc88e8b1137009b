/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"

static void sizes_of_zero_give_memory(void **state)
{
    TG_AUTOFREE void *a = tg_xmalloc(0);
    TG_AUTOFREE void *b = tg_xcalloc(0, 8);
    TG_AUTOFREE void *c = tg_xrealloc(NULL, 0);

    (void)state;
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
}

static void strings_are_copied(void **state)
{
    TG_AUTOFREE char *whole = tg_xstrdup("abc");
    TG_AUTOFREE char *part = tg_xstrndup("abcdef", 2);
    TG_AUTOFREE char *shorter = tg_xstrndup("ab", 10);
    TG_AUTOFREE char *printed = tg_xasprintf("%s/%d", "a", 1);

    (void)state;
    assert_string_equal(whole, "abc");
    assert_string_equal(part, "ab");
    assert_string_equal(shorter, "ab");
    assert_string_equal(printed, "a/1");
}

/* Runs fn in a child; true if that ended abnormally and wrote something to stderr. */
static bool dies_loudly(void (*fn)(void))
{
    char text[256] = "";
    int ends[2];
    int status;
    pid_t child;
    ssize_t n;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        fn();
        _exit(0);
    }
    close(ends[1]);
    n = read(ends[0], text, sizeof(text) - 1);
    while (read(ends[0], (char[256]){0}, 256) > 0)
        ;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return n > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static volatile size_t huge = SIZE_MAX / 2;

static void ask_for_too_much(void)
{
    free(tg_xmalloc(huge));
}

static void ask_for_too_many(void)
{
    free(tg_xreallocarray(NULL, huge, 8));
}

static void exhaustion_aborts_with_a_message(void **state)
{
    (void)state;
    assert_true(dies_loudly(ask_for_too_much));
}

static void a_product_that_overflows_aborts_with_a_message(void **state)
{
    (void)state;
    assert_true(dies_loudly(ask_for_too_many));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_zero_give_memory),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(exhaustion_aborts_with_a_message),
        cmocka_unit_test(a_product_that_overflows_aborts_with_a_message),
    };

    return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
