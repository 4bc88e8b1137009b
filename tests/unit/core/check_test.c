/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/check.h"
#include "controller/core/cel/parser.h"
#include "tests/unit/core/world.h"

static int check(const char *source, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_cel_node *root = NULL;

    if (tg_cel_parse(source, arena, &root, err) < 0)
        fail_msg("%s: %s", source, err->message);
    return tg_cel_check(root, err);
}

#define ATTRIBUTE "device.attributes['d'].n"
#define CAPACITY "device.capacity['d'].n"

/* Every type against every type, for equality, order and the methods. */
static void pairs_are_accepted_as_by_cels_checker(void **state)
{
    static const char *const values[] = {
        "true", "1", "1u", "1.0", "'s'", CAPACITY, "semver('1.0.0')", ATTRIBUTE};
    static const struct {
        const char *format;
        const char *accepted[8]; /* a row a left side: + accepted, . refused */
    } tables[] = {
        {"(%s) == (%s)",
         {"+......+", ".+.....+", "..+....+", "...+...+", "....+..+", ".....+.+", "......++",
          "++++++++"}},
        {"(%s) < (%s)",
         {"+......+", ".+++...+", ".+++...+", ".+++...+", "....+..+", "........", "........",
          "+++++..+"}},
        {"(%s).compareTo(%s) == 0",
         {"........", "........", "........", "........", "........", ".....+.+", "......++",
          ".....+++"}},
    };

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        for (size_t a = 0; a < 8; a++) {
            for (size_t b = 0; b < 8; b++) {
                struct tg_error err = TG_ERROR_INIT;
                char source[256], left[128];
                const char *hole = strstr(tables[t].format, "%s"), *rest = hole + 2,
                           *second = strstr(rest, "%s");

                snprintf(left, sizeof(left), "%.*s%s", (int)(hole - tables[t].format),
                         tables[t].format, values[a]);
                snprintf(source, sizeof(source), "%s%.*s%s%s", left, (int)(second - rest), rest,
                         values[b], second + 2);
                if ((check(source, &err) == 0) != (tables[t].accepted[a][b] == '+'))
                    fail_msg("%s: %s", source, err.message);
            }
        }
    }
}

static void the_message_names_column_operator_and_types(void **state)
{
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    assert_int_equal(check("true && device.driver == 1", &err), -TG_INVALID_ARGUMENT);
    assert_string_equal(err.message, "column 23: '==' has no meaning between string and int");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_accepted_as_by_cels_checker),
        cmocka_unit_test(the_message_names_column_operator_and_types),
    };

    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
