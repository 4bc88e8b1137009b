/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubelet/health.h"
#include "api/runtime/base/cleanup.h"

static void health_has_the_bytes_that_the_kubelet_reads(void **state)
{
    static const char bytes[] = "\x0a\x0e"
                                "\x0a\x06"
                                "\x0a\x01p"
                                "\x12\x01"
                                "d"
                                "\x10\x01"
                                "\x18\x07"
                                "\x20\x1e"
                                "\x0a\x0f"
                                "\x0a\x06"
                                "\x0a\x01p"
                                "\x12\x01"
                                "e"
                                "\x10\x02"
                                "\x2a\x03"
                                "Xid";
    const struct tg_kubelet_device_health devices[] = {
        {.pool = "p", .device = "d", .health = TG_KUBELET_HEALTHY, .updated = 7, .timeout = 30},
        {.pool = "p", .device = "e", .health = TG_KUBELET_UNHEALTHY, .message = "Xid"},
    };
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(1000);
    (void)state;
    assert_int_equal(tg_kubelet_health_encode(devices, 2, &out, NULL), 0);
    assert_int_equal(out.len, sizeof(bytes) - 1);
    assert_memory_equal(out.data, bytes, sizeof(bytes) - 1);
}

static void a_node_without_devices_sends_an_empty_list(void **state)
{
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(1000);
    (void)state;
    assert_int_equal(tg_kubelet_health_encode(NULL, 0, &out, NULL), 0);
    assert_int_equal(out.len, 0);
}

static void more_than_the_buffer_takes_is_an_error(void **state)
{
    const struct tg_kubelet_device_health device = {.pool = "p", .device = "d"};
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(4);
    (void)state;
    assert_int_equal(tg_kubelet_health_encode(&device, 1, &out, NULL), -TG_RESOURCE_EXHAUSTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(health_has_the_bytes_that_the_kubelet_reads),
        cmocka_unit_test(a_node_without_devices_sends_an_empty_list),
        cmocka_unit_test(more_than_the_buffer_takes_is_an_error),
    };
    return cmocka_run_group_tests_name("health", tests, NULL, NULL);
}
