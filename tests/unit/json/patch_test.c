/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/json/patch.h"

static void test_operations_are_written_in_order_with_escaped_paths(void **state)
{
    struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(1000);
    struct tg_json_patch p;

    (void)state;
    tg_json_patch_init(&p, &out);
    tg_json_patch_test(&p, "\"12\"", "metadata", "resourceVersion", NULL);
    tg_json_patch_add(&p, "\"3\"", "metadata", "annotations", "tangram.dev/epoch~\"", NULL);
    tg_json_patch_replace(&p, "[]", "spec", "", "0", NULL);
    tg_json_patch_remove(&p, "spec", "schedulingGates", "0", NULL);
    assert_int_equal(tg_json_patch_finish(&p, NULL), 0);
    assert_string_equal(
        out.data, "[{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"12\"},"
                  "{\"op\":\"add\",\"path\":\"/metadata/annotations/"
                  "tangram.dev~1epoch~0\\\"\",\"value\":\"3\"},"
                  "{\"op\":\"replace\",\"path\":\"/spec//0\",\"value\":[]},"
                  "{\"op\":\"remove\",\"path\":\"/spec/schedulingGates/0\"}]");
}

static void test_a_path_larger_than_the_buffer_is_an_error(void **state)
{
    struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(10);
    struct tg_json_patch p;

    (void)state;
    tg_json_patch_init(&p, &out);
    tg_json_patch_remove(&p, "a segment that does not fit", NULL);
    assert_int_equal(tg_json_patch_finish(&p, NULL), -TG_RESOURCE_EXHAUSTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations_are_written_in_order_with_escaped_paths),
        cmocka_unit_test(test_a_path_larger_than_the_buffer_is_an_error),
    };

    return cmocka_run_group_tests_name("patch", tests, NULL, NULL);
}
