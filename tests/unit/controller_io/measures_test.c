/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/controller_io/fixture.h"

#include "tests/support/promtool.h"
#include "tests/support/threads.h"

static void a_controller_tells_what_it_does(void **state)
{
    static const char *const lines[] = {
        "tangram_build_info{program=\"tangram-controller\",",
        "\nprocess_cpu_seconds_total ",
        "\ntangram_controller_leading 1\n",
        "\ntangram_controller_contested_devices 0\n",
        "\ntangram_controller_audit_findings{reason=\"DeviceHeldTwice\",invariant=\"I1\"} 0\n",
        "\ntangram_controller_audit_findings{reason=\"NeverReserved\",invariant=\"\"} 0\n",
        "\ntangram_controller_passes_total ",
        "\ntangram_controller_pass_duration_seconds_count ",
        "\ntangram_controller_writes_in_flight 0\n",
        "\ntangram_controller_writes_waiting 0\n",
        "\ntangram_client_requests_in_flight{client=\"lease\"} ",
        "\ntangram_informer_synced{informer=\"resourceclaims\"} 1\n",
        "\ntangram_informer_objects{informer=\"pods\"} 0\n",
        "\nrest_client_request_duration_seconds_count{verb=\"LIST\"} ",
        "\ntangram_fleet_devices{state=\"free\"} 0\n",
        "\ntangram_fleet_fragmented_devices{request=\"8\"} 0\n",
        "\ntangram_fleet_partitions_memory_bytes{state=\"stranded\"} 0\n",
    };
    struct fixture *f = *state;
    TG_AUTOBUF struct tg_buf page = TG_BUF_INIT(1 << 20);

    fixture_start(f, "");
    tg_metrics_write(f->controller->metrics, &page);
    for (size_t i = 0; i < TG_ARRAY_SIZE(lines); i++) {
        if (strstr(page.data, lines[i]) == NULL)
            fail_msg("not found: %s\n%s", lines[i], page.data);
    }
    assert_true(promtool_accepts(TEST_SOURCE_DIR, page.data));
    assert_true(metrics_are_documented(TEST_SOURCE_DIR, page.data));
}

/* The whole page, in buf. */
static const char *page_of(struct fixture *f, struct tg_buf *buf)
{
    buf->len = 0;
    tg_metrics_write(f->controller->metrics, buf);
    return tg_buf_str(buf);
}

static void what_waits_is_counted_by_reason_as_long_as_it_does(void **state)
{
    struct fixture *f = *state;
    TG_AUTOBUF struct tg_buf page = TG_BUF_INIT(1 << 20);

    fixture_start(f, "");
    f->state->said = tg_xstrdup("InsufficientDevices: 3 of 4: none is free");
    f->state->waiting = 4;
    assert_non_null(
        strstr(page_of(f, &page),
               "\ntangram_controller_pending_units{reason=\"InsufficientDevices\"} 1\n"));
    assert_non_null(
        strstr(page.data, "\ntangram_controller_pending_pods{reason=\"InsufficientDevices\"} 4\n"));
    assert_true(promtool_accepts(TEST_SOURCE_DIR, page.data));
    free(f->state->said);
    f->state->said = NULL;
    assert_non_null(
        strstr(page_of(f, &page),
               "\ntangram_controller_pending_units{reason=\"InsufficientDevices\"} 0\n"));
}

static void a_controller_has_no_thread_but_the_loop(void **state)
{
    struct fixture *f = *state;
    size_t before = threads_of_process();

    fixture_start(f, "");
    assert_int_equal(threads_of_process(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_controller_tells_what_it_does, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(what_waits_is_counted_by_reason_as_long_as_it_does,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_controller_has_no_thread_but_the_loop, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests_name("measures", tests, NULL, NULL);
}
