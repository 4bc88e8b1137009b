/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/base64.h"

/* RFC 4648, 10. */
static const struct {
    const char *plain, *encoded;
} vectors[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xff\xfe\xfb", "//77"},
};

static void texts_survive_both_ways(void **state)
{
    struct tg_arena *arena = tg_arena_new(4096);

    (void)state;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        struct tg_buf out = TG_BUF_INIT(64);

        tg_base64_encode(vectors[i].plain, strlen(vectors[i].plain), &out);
        assert_string_equal(tg_buf_str(&out), vectors[i].encoded);
        assert_string_equal(tg_base64_decode_text(vectors[i].encoded, arena), vectors[i].plain);
        tg_buf_done(&out);
    }
    assert_string_equal(tg_base64_decode_text("Zm9v\r\nYmFy\n", arena), "foobar");
    tg_arena_free(arena);
}

static void what_is_no_base64_of_a_text_is_refused(void **state)
{
    static const char *const bad[] = {
        "Z", "Zg=", "Zg", "Zg==Zg==", "Z===", "Zm9v!", "AA==", "-_=="};
    struct tg_arena *arena = tg_arena_new(4096);

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_null(tg_base64_decode_text(bad[i], arena));
    tg_arena_free(arena);
}

static void full_memory_is_told(void **state)
{
    struct tg_arena *arena = tg_arena_new(4096);
    struct tg_buf out = TG_BUF_INIT(5);

    (void)state;
    tg_arena_fail_after(arena, 1);
    assert_null(tg_base64_decode_text("Zg==", arena));
    tg_base64_encode("foobar", 6, &out);
    assert_true(out.failed);
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_survive_both_ways),
        cmocka_unit_test(what_is_no_base64_of_a_text_is_refused),
        cmocka_unit_test(full_memory_is_told),
    };
    return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
