/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/prepare/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/json/decode.h"
#include "api/runtime/json/encode.h"

static struct tg_claim_device device(const char *name, const char *share_id, bool admin)
{
    return (struct tg_claim_device){.request = "r",
                                    .pool = "node-1",
                                    .device = name,
                                    .share_id = share_id,
                                    .admin_access = {.set = admin, .value = admin}};
}

static void a_record_survives_being_written_and_read(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(1 << 20);
    struct tg_claim_device devices[] = {device("gpu-1", "share", false),
                                        device("gpu-2", NULL, true)};
    struct tg_claim_record before = {
        .uid = "u", .namespace_ = "ns", .name = "n", .devices = {devices, 2}};
    struct tg_claim_record after = {0};
    assert_int_equal(tg_json_encode(&tg_claim_record_type, &before, &text, NULL), 0);
    assert_string_equal(
        tg_buf_str(&text),
        "{\"uid\":\"u\",\"namespace\":\"ns\",\"name\":\"n\",\"devices\":["
        "{\"request\":\"r\",\"pool\":\"node-1\",\"device\":\"gpu-1\",\"shareID\":\"share\"},"
        "{\"request\":\"r\",\"pool\":\"node-1\",\"device\":\"gpu-2\",\"adminAccess\":true}]}");
    assert_int_equal(
        tg_json_decode(&tg_claim_record_type, text.data, text.len, &after, arena, NULL), 0);
    assert_true(tg_claim_record_equal(&before, &after));
    assert_int_equal(tg_claim_record_validate(&after, NULL), 0);
}

static void each_part_of_a_record_counts_for_equality(void **state)
{
    (void)state;
    struct tg_claim_device one = device("gpu-1", NULL, false);
    const struct tg_claim_record record = {
        .uid = "u", .namespace_ = "ns", .name = "n", .devices = {&one, 1}};
    struct tg_claim_device others[] = {device("gpu-2", NULL, false),
                                       device("gpu-1", "share", false), device("gpu-1", NULL, true),
                                       device("gpu-1", NULL, false), device("gpu-1", NULL, false)};
    others[3].request = "other";
    others[4].pool = "node-2";
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct tg_claim_record other = record;
        other.devices.items = &others[i];
        assert_false(tg_claim_record_equal(&record, &other));
    }
    struct tg_claim_record renamed = record;
    renamed.name = "m";
    assert_false(tg_claim_record_equal(&record, &renamed));
    struct tg_claim_record fewer = record;
    fewer.devices.n = 0;
    assert_false(tg_claim_record_equal(&record, &fewer));
    assert_true(tg_claim_record_equal(&record, &record));
}

static void admin_access_that_is_false_equals_none(void **state)
{
    (void)state;
    struct tg_claim_device absent = device("gpu-1", NULL, false), off = absent;
    off.admin_access.set = true;
    struct tg_claim_record a = {.uid = "u",
                                .namespace_ = "ns",
                                .name = "n",
                                .devices = {&absent, 1}},
                           b = a;
    b.devices.items = &off;
    assert_true(tg_claim_record_equal(&a, &b));
}

static void only_the_same_device_of_the_same_pool_conflicts(void **state)
{
    (void)state;
    struct tg_claim_device a = device("gpu-1", NULL, false), b = device("gpu-2", NULL, false),
                           c = a;
    c.pool = "node-2";
    assert_true(tg_claim_device_conflicts(&a, &a));
    assert_false(tg_claim_device_conflicts(&a, &b));
    assert_false(tg_claim_device_conflicts(&a, &c));
}

static void shares_conflict_with_themselves_and_with_the_whole(void **state)
{
    (void)state;
    struct tg_claim_device whole = device("gpu-1", NULL, false), one = device("gpu-1", "1", false),
                           two = device("gpu-1", "2", false), admin = device("gpu-1", NULL, true);
    assert_true(tg_claim_device_conflicts(&whole, &one));
    assert_true(tg_claim_device_conflicts(&one, &whole));
    assert_true(tg_claim_device_conflicts(&one, &one));
    assert_false(tg_claim_device_conflicts(&one, &two));
    assert_false(tg_claim_device_conflicts(&admin, &whole));
    assert_false(tg_claim_device_conflicts(&one, &admin));
}

static void a_record_that_needs_more_memory_than_it_may_is_an_error(void **state)
{
    (void)state;
    struct tg_claim_device one = device("gpu-1", "share", false);
    struct tg_claim_record record = {.uid = "u",
                                     .namespace_ = "ns",
                                     .name = "n",
                                     .devices = {&one, 1}},
                           copy;
    for (size_t nth = 1; nth <= 8; nth++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
        tg_arena_fail_after(arena, nth);
        assert_int_equal(tg_claim_record_copy(&record, arena, &copy, NULL), -TG_RESOURCE_EXHAUSTED);
    }
}

int main(void)
{
    const struct CMUnitTest record[] = {
        cmocka_unit_test(a_record_survives_being_written_and_read),
        cmocka_unit_test(each_part_of_a_record_counts_for_equality),
        cmocka_unit_test(admin_access_that_is_false_equals_none),
        cmocka_unit_test(only_the_same_device_of_the_same_pool_conflicts),
        cmocka_unit_test(shares_conflict_with_themselves_and_with_the_whole),
        cmocka_unit_test(a_record_that_needs_more_memory_than_it_may_is_an_error),
    };
    return cmocka_run_group_tests(record, NULL, NULL);
}
