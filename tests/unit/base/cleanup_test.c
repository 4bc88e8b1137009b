/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"

static int closed(int fd)
{
    return fcntl(fd, F_GETFD) == -1;
}

static void descriptors_are_closed_at_the_end_of_the_scope(void **state)
{
    int kept;

    (void)state;
    {
        TG_AUTOCLOSE int fd = -1;
        TG_AUTOCLOSE int never_opened = -1;

        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(never_opened, -1);
        kept = fd;
    }
    assert_true(closed(kept));
}

static void a_taken_descriptor_stays_open(void **state)
{
    int kept;

    (void)state;
    {
        TG_AUTOCLOSE int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

        kept = tg_take_fd(&fd);
        assert_int_equal(fd, -1);
    }
    assert_false(closed(kept));
    close(kept);
}

static void a_taken_pointer_is_not_freed(void **state)
{
    char *kept;

    (void)state;
    {
        TG_AUTOFREE char *p = malloc(8);

        assert_non_null(p);
        p[0] = 'x';
        kept = TG_TAKE(p);
        assert_null(p);
    }
    assert_int_equal(kept[0], 'x');
    free(kept);
}

struct counted {
    int *frees;
};

static void counted_free(struct counted *counted)
{
    (*counted->frees)++;
}
TG_DEFINE_CLEANUP(counted, struct counted, counted_free)

static void defined_cleanups_skip_null(void **state)
{
    int frees = 0;
    struct counted object = {&frees};

    (void)state;
    {
        TG_CLEANUP(tg_cleanup_counted) struct counted *p = &object;
        TG_CLEANUP(tg_cleanup_counted) struct counted *none = NULL;

        assert_non_null(p);
        assert_null(none);
    }
    assert_int_equal(frees, 1);
}

struct outer {
    int a;
    int b;
};

static void container_of_finds_the_object_around_a_member(void **state)
{
    struct outer outer = {1, 2};
    int *member = &outer.b;

    (void)state;
    assert_ptr_equal(TG_CONTAINER_OF(member, struct outer, b), &outer);
    assert_int_equal(TG_ARRAY_SIZE(((int[]){1, 2, 3})), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_are_closed_at_the_end_of_the_scope),
        cmocka_unit_test(a_taken_descriptor_stays_open),
        cmocka_unit_test(a_taken_pointer_is_not_freed),
        cmocka_unit_test(defined_cleanups_skip_null),
        cmocka_unit_test(container_of_finds_the_object_around_a_member),
    };

    return cmocka_run_group_tests_name("cleanup", tests, NULL, NULL);
}
