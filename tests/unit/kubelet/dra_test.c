/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubelet/dra.h"
#include "api/runtime/base/cleanup.h"

static int decode(const char *bytes, size_t n, struct tg_arena *arena,
                  struct tg_kubelet_claims *claims, struct tg_error *err)
{
    return tg_kubelet_claims_decode((const uint8_t *)bytes, n, arena, claims, err);
}

static void claims_of_a_request_are_read_in_their_order(void **state)
{
    static const char bytes[] = "\x0a\x0c"
                                "\x0a\x02ns"
                                "\x12\x02u1"
                                "\x1a\x02n1"
                                "\x0a\x0c"
                                "\x1a\x02n2"
                                "\x12\x02u2"
                                "\x0a\x02ns";
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(65536);
    struct tg_kubelet_claims claims;
    (void)state;
    assert_int_equal(decode(bytes, sizeof(bytes) - 1, arena, &claims, NULL), 0);
    assert_int_equal(claims.n, 2);
    assert_string_equal(claims.items[0].uid, "u1");
    assert_string_equal(claims.items[0].name, "n1");
    assert_string_equal(claims.items[0].namespace_, "ns");
    assert_string_equal(claims.items[1].uid, "u2");
}

static void an_empty_request_has_no_claims(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(65536);
    struct tg_kubelet_claims claims;
    (void)state;
    assert_int_equal(decode("", 0, arena, &claims, NULL), 0);
    assert_int_equal(claims.n, 0);
}

static void fields_of_later_versions_are_skipped(void **state)
{
    static const char bytes[] = "\x0a\x10"
                                "\x0a\x02ns"
                                "\x12\x02u1"
                                "\x1a\x02n1"
                                "\xa2\x06\x01x"
                                "\x92\x03\x01y";
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(65536);
    struct tg_kubelet_claims claims;
    (void)state;
    assert_int_equal(decode(bytes, sizeof(bytes) - 1, arena, &claims, NULL), 0);
    assert_int_equal(claims.n, 1);
}

static void claims_without_a_name_or_with_bad_utf8_are_refused_by_index_and_field(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *text;
    } cases[] = {
        {"\x0a\x08"
         "\x0a\x02ns"
         "\x1a\x02n1",
         10, "claims[0].uid is empty"},
        {"\x0a\x08"
         "\x0a\x02ns"
         "\x12\x02u1",
         10, "claims[0].name is empty"},
        {"\x0a\x08"
         "\x12\x02u1"
         "\x1a\x02n1",
         10, "claims[0].namespace is empty"},
        {"\x0a\x0c"
         "\x0a\x02ns"
         "\x12\x02u\xff"
         "\x1a\x02n1",
         14, "claims[0].uid is not valid UTF-8"},
        {"\x0a\x7f"
         "\x0a\x02ns",
         6, "6 bytes that are no NodePrepareResourcesRequest"},
    };
    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(65536);
        struct tg_kubelet_claims claims;
        struct tg_error err = TG_ERROR_INIT;
        assert_int_equal(decode(cases[i].bytes, cases[i].n, arena, &claims, &err),
                         -TG_INVALID_ARGUMENT);
        assert_string_equal(err.message, cases[i].text);
    }
}

static void a_request_that_would_blow_up_in_memory_fails_within_its_budget(void **state)
{
    /* 4 MiB of empty claims would be 150 MiB of structs. */
    size_t n = (size_t)4 << 20;
    TG_AUTOFREE char *bytes = malloc(n);
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)1 << 20);
    struct tg_kubelet_claims claims;
    struct tg_error err = TG_ERROR_INIT;
    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i += 2) {
        bytes[i] = 0x0a;
        bytes[i + 1] = 0;
    }
    assert_int_equal(decode(bytes, n, arena, &claims, &err), -TG_RESOURCE_EXHAUSTED);
    assert_true(tg_arena_used(arena) <= (size_t)1 << 20);
}

static void every_allocation_that_fails_is_an_error(void **state)
{
    static const char bytes[] = "\x0a\x0c"
                                "\x0a\x02ns"
                                "\x12\x02u1"
                                "\x1a\x02n1";
    int failures = 0;
    (void)state;
    for (size_t nth = 1; nth < 100; nth++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(65536);
        struct tg_kubelet_claims claims;
        tg_arena_fail_after(arena, nth);
        int rc = decode(bytes, sizeof(bytes) - 1, arena, &claims, NULL);
        if (rc == 0)
            break;
        assert_int_equal(rc, -TG_RESOURCE_EXHAUSTED);
        failures++;
    }
    assert_in_range(failures, 3, 50);
}

static const struct tg_kubelet_device device = {
    .request = "r", .pool = "p", .device = "d", .cdi_id = "c", .share_id = "s"};

static void prepared_claims_have_the_bytes_that_the_kubelet_reads(void **state)
{
    static const char v1[] = "\x0a\x17"
                             "\x0a\x02u1"
                             "\x12\x11"
                             "\x0a\x0f"
                             "\x0a\x01r"
                             "\x12\x01p"
                             "\x1a\x01"
                             "d"
                             "\x22\x01"
                             "c"
                             "\x2a\x01s"
                             "\x0a\x09"
                             "\x0a\x02u2"
                             "\x12\x03"
                             "\x12\x01?";
    const struct tg_kubelet_answer answers[] = {
        {.uid = "u1", .devices = &device, .n = 1},
        {.uid = "u2", .error = "\xff"},
    };
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(1000);
    (void)state;
    assert_int_equal(tg_kubelet_prepared_encode(TG_KUBELET_DRA_V1, answers, 2, &out, NULL), 0);
    assert_int_equal(out.len, sizeof(v1) - 1);
    assert_memory_equal(out.data, v1, sizeof(v1) - 1);
}

static void v1beta1_never_has_a_share_id(void **state)
{
    static const char bytes[] = "\x0a\x14"
                                "\x0a\x02u1"
                                "\x12\x0e"
                                "\x0a\x0c"
                                "\x0a\x01r"
                                "\x12\x01p"
                                "\x1a\x01"
                                "d"
                                "\x22\x01"
                                "c";
    const struct tg_kubelet_answer answer = {.uid = "u1", .devices = &device, .n = 1};
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(1000);
    (void)state;
    assert_int_equal(tg_kubelet_prepared_encode(TG_KUBELET_DRA_V1BETA1, &answer, 1, &out, NULL), 0);
    assert_int_equal(out.len, sizeof(bytes) - 1);
    assert_memory_equal(out.data, bytes, sizeof(bytes) - 1);
}

static void a_device_of_all_requests_without_cdi_leaves_both_out(void **state)
{
    static const char bytes[] = "\x0a\x0e"
                                "\x0a\x02u1"
                                "\x12\x08"
                                "\x0a\x06"
                                "\x12\x01p"
                                "\x1a\x01"
                                "d";
    const struct tg_kubelet_device bare = {.pool = "p", .device = "d"};
    const struct tg_kubelet_answer answer = {.uid = "u1", .devices = &bare, .n = 1};
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(1000);
    (void)state;
    assert_int_equal(tg_kubelet_prepared_encode(TG_KUBELET_DRA_V1, &answer, 1, &out, NULL), 0);
    assert_int_equal(out.len, sizeof(bytes) - 1);
    assert_memory_equal(out.data, bytes, sizeof(bytes) - 1);
}

static void unprepared_claims_are_present_although_empty(void **state)
{
    static const char bytes[] = "\x0a\x06"
                                "\x0a\x02u1"
                                "\x12\x00"
                                "\x0a\x0a"
                                "\x0a\x02u2"
                                "\x12\x04"
                                "\x0a\x02no";
    const struct tg_kubelet_answer answers[] = {{.uid = "u1"}, {.uid = "u2", .error = "no"}};
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(1000);
    (void)state;
    assert_int_equal(tg_kubelet_unprepared_encode(answers, 2, &out, NULL), 0);
    assert_int_equal(out.len, sizeof(bytes) - 1);
    assert_memory_equal(out.data, bytes, sizeof(bytes) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_of_a_request_are_read_in_their_order),
        cmocka_unit_test(an_empty_request_has_no_claims),
        cmocka_unit_test(fields_of_later_versions_are_skipped),
        cmocka_unit_test(claims_without_a_name_or_with_bad_utf8_are_refused_by_index_and_field),
        cmocka_unit_test(a_request_that_would_blow_up_in_memory_fails_within_its_budget),
        cmocka_unit_test(every_allocation_that_fails_is_an_error),
        cmocka_unit_test(prepared_claims_have_the_bytes_that_the_kubelet_reads),
        cmocka_unit_test(v1beta1_never_has_a_share_id),
        cmocka_unit_test(a_device_of_all_requests_without_cdi_leaves_both_out),
        cmocka_unit_test(unprepared_claims_are_present_although_empty),
    };
    return cmocka_run_group_tests_name("dra", tests, NULL, NULL);
}
