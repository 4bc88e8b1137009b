/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubelet/registration.h"
#include "api/runtime/base/cleanup.h"

static void get_info_has_the_bytes_that_the_kubelet_reads(void **state)
{
    static const char *const services[] = {"v1.DRAPlugin", "v1beta1.DRAPlugin"};
    static const char bytes[] = "\x0a\x09"
                                "DRAPlugin"
                                "\x12\x03"
                                "a.b"
                                "\x1a\x02"
                                "/s"
                                "\x22\x0c"
                                "v1.DRAPlugin"
                                "\x22\x11"
                                "v1beta1.DRAPlugin";
    const struct tg_kubelet_plugin_info info = {TG_KUBELET_DRA_PLUGIN, "a.b", "/s", services, 2};
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(1000);
    (void)state;
    assert_int_equal(tg_kubelet_plugin_info_encode(&info, &out, NULL), 0);
    assert_int_equal(out.len, sizeof(bytes) - 1);
    assert_memory_equal(out.data, bytes, sizeof(bytes) - 1);
}

static void an_answer_over_the_cap_is_an_error(void **state)
{
    const struct tg_kubelet_plugin_info info = {TG_KUBELET_DRA_PLUGIN, "a.b", "/s", NULL, 0};
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(10);
    (void)state;
    assert_int_equal(tg_kubelet_plugin_info_encode(&info, &out, NULL), -TG_RESOURCE_EXHAUSTED);
}

static void registration_status_is_read(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(4096);
    struct tg_kubelet_registration_status status;
    (void)state;
    assert_int_equal(
        tg_kubelet_registration_status_decode((const uint8_t *)"\x08\x01", 2, arena, &status, NULL),
        0);
    assert_true(status.registered);
    assert_string_equal(status.error, "");
    assert_int_equal(tg_kubelet_registration_status_decode((const uint8_t *)"\x12\x04no\xff!", 6,
                                                           arena, &status, NULL),
                     0);
    assert_false(status.registered);
    assert_string_equal(status.error, "no?!");
}

static void a_status_that_is_none_is_refused(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(4096);
    struct tg_kubelet_registration_status status;
    (void)state;
    assert_int_equal(tg_kubelet_registration_status_decode((const uint8_t *)"\x12\x7fno", 4, arena,
                                                           &status, NULL),
                     -TG_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(get_info_has_the_bytes_that_the_kubelet_reads),
        cmocka_unit_test(an_answer_over_the_cap_is_an_error),
        cmocka_unit_test(registration_status_is_read),
        cmocka_unit_test(a_status_that_is_none_is_refused),
    };
    return cmocka_run_group_tests_name("registration", tests, NULL, NULL);
}
