/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/check.h"
#include "controller/core/cel/eval.h"
#include "controller/core/cel/parser.h"
#include "tests/unit/core/world.h"

/* The truth of an expression over the attributes t, f, and the missing m: 't', 'f' or 'e'. */
static char truth(const char *source)
{
    static struct tg_keyed_attribute attributes[] = {{"t", {.bool_ = {true, true}}},
                                                     {"f", {.bool_ = {true, false}}}};
    const struct tg_device device = {.name = "d", .attributes = {attributes, 2}};
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_cel_node *root = NULL;
    struct tg_cel_value value;
    struct tg_error err = TG_ERROR_INIT;

    if (tg_cel_parse(source, arena, &root, &err) < 0 || tg_cel_check(root, &err) < 0)
        fail_msg("%s: %s", source, err.message);
    if (tg_cel_eval(root, "x.com", &device, &value, &err) < 0) {
        assert_int_equal(err.code, TG_FAILED_PRECONDITION);
        return 'e';
    }
    assert_int_equal(value.type, TG_CEL_BOOL);
    return value.boolean ? 't' : 'f';
}

/* The tables of the language definition, with e for an error. */
static void and_and_or_absorb_errors_in_either_order(void **state)
{
    static const char names[] = "tfe";
    static const char *const terms[] = {"device.attributes['x.com'].t",
                                        "device.attributes['x.com'].f",
                                        "device.attributes['x.com'].m"};
    static const char *const and_table[] = {"tfe", "fff", "efe"};
    static const char *const or_table[] = {"ttt", "tfe", "tee"};

    (void)state;
    for (size_t a = 0; a < 3; a++) {
        for (size_t b = 0; b < 3; b++) {
            char source[256];

            snprintf(source, sizeof(source), "%s && %s", terms[a], terms[b]);
            if (truth(source) != and_table[a][b])
                fail_msg("%c && %c gives %c", names[a], names[b], truth(source));
            snprintf(source, sizeof(source), "%s || %s", terms[a], terms[b]);
            if (truth(source) != or_table[a][b])
                fail_msg("%c || %c gives %c", names[a], names[b], truth(source));
        }
    }
}

static void the_grant_is_overlaid_and_cannot_be_published_away(void **state)
{
    static struct tg_keyed_attribute attributes[] = {
        {"tangram.dev/granted", {.bool_ = {true, false}}}};
    const struct tg_device device = {.name = "d", .attributes = {attributes, 1}};
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_cel_node *root = NULL;
    struct tg_cel_value value;

    (void)state;
    assert_int_equal(tg_cel_parse("device.attributes['tangram.dev'].granted", arena, &root, NULL),
                     0);
    assert_int_equal(tg_cel_check(root, NULL), 0);
    assert_int_equal(tg_cel_eval(root, "x.com", &device, &value, NULL), 0);
    assert_true(value.boolean);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(and_and_or_absorb_errors_in_either_order),
        cmocka_unit_test(the_grant_is_overlaid_and_cannot_be_published_away),
    };

    return cmocka_run_group_tests_name("eval", tests, NULL, NULL);
}
