/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kubelet-plugin/slice_body.h"

static struct tg_object_meta meta = {.name = "s", .uid = "u", .resource_version = "7"};
static struct tg_resource_pool pool = {
    .name = "p", .generation = {true, 1}, .resource_slice_count = {true, 1}};
static struct tg_resource_slice_spec spec = {.driver = "d", .pool = &pool, .node_name = "n"};
static const struct tg_resource_slice slice = {&meta, &spec};

static void a_written_slice_says_what_it_is(void **state)
{
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(1000);
    (void)state;
    assert_int_equal(tg_slice_body_write(&slice, &out, NULL), 0);
    assert_string_equal(tg_buf_str(&out),
                        "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\","
                        "\"metadata\":{\"name\":\"s\",\"uid\":\"u\",\"resourceVersion\":\"7\"},"
                        "\"spec\":{\"driver\":\"d\",\"pool\":{\"name\":\"p\",\"generation\":1,"
                        "\"resourceSliceCount\":1},\"nodeName\":\"n\"}}");
}

static void a_deletion_means_exactly_the_object_that_was_seen(void **state)
{
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(1000);
    (void)state;
    assert_int_equal(tg_slice_body_delete(&slice, &out, NULL), 0);
    assert_string_equal(tg_buf_str(&out),
                        "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
                        "\"preconditions\":{\"uid\":\"u\",\"resourceVersion\":\"7\"}}");
}

static void a_slice_over_the_cap_is_an_error(void **state)
{
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(100);
    (void)state;
    assert_int_equal(tg_slice_body_write(&slice, &out, NULL), -TG_RESOURCE_EXHAUSTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_written_slice_says_what_it_is),
        cmocka_unit_test(a_deletion_means_exactly_the_object_that_was_seen),
        cmocka_unit_test(a_slice_over_the_cap_is_an_error),
    };
    return cmocka_run_group_tests_name("slice_body", tests, NULL, NULL);
}
