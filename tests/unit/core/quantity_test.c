/* SPDX-License-Identifier: Apache-2.0 */
/* Every expectation is what the Go packages of Kubernetes 1.34 and 1.37 answer. */
#include "controller/core/cel/quantity.h"

#include "controller/core/cel/selector.h"
#include "tests/unit/core/world.h"

#define LONG "12345678901234567890123456789012345678901234567890"

static bool holds(const char *expression, unsigned minor)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_device device = {.name = "d"};
    struct tg_selector *selector = NULL;
    struct tg_error err = TG_ERROR_INIT;
    bool match = false;

    if (tg_selector_compile_for(expression, minor, arena, &selector, &err) < 0 ||
        tg_selector_matches(selector, "d", &device, &match, &err) < 0)
        fail_msg("%s: %s", expression, err.message);
    return match;
}

static void assert_hold(const char *const *expressions, size_t n, unsigned minor)
{
    for (size_t i = 0; i < n; i++) {
        if (!holds(expressions[i], minor))
            fail_msg("%s does not hold", expressions[i]);
    }
}

#define ASSERT_HOLD(expressions, minor)                                                            \
    assert_hold(expressions, sizeof(expressions) / sizeof(expressions[0]), minor)

static void texts_are_read_as_go_reads_them(void **state)
{
    static const char *const expressions[] = {
        "isQuantity('e5') && isQuantity('.5e-10') && isQuantity('Ki') && isQuantity('.')",
        "isQuantity('+') && isQuantity('E') && !isQuantity('') && !isQuantity('--1')",
        "!isQuantity('.e-10') && !isQuantity('e-10') && !isQuantity('e') && !isQuantity('Ei')",
        "!isQuantity('1e9223372036854775808') && !isQuantity('1 Gi') && !isQuantity('1gi')",
        /* An exponent is cut to 32 bits. */
        "quantity('1e4294967297') == quantity('10')",
        "quantity('1e-30') == quantity('1n') && quantity('-1e-30') == quantity('-1n')",
        "quantity('0.3e-9') == quantity('1n') && quantity('0.0001Ki') == quantity('102400u')",
        "quantity('8Ei') == quantity('9223372036854775807')",
        "quantity('5Ei') == quantity('5764607523034234880')",
        "quantity('99999999999999999999999999999999999Gi') == quantity('9223372036854775807')",
    };

    (void)state;
    ASSERT_HOLD(expressions, 37);
    ASSERT_HOLD(expressions, 34);
}

static void whether_it_is_an_integer_goes_by_how_it_is_held(void **state)
{
    static const char *const expressions[] = {
        "quantity('1e18').asInteger() == 1000000000000000000 && !quantity('1e19').isInteger()",
        "!quantity('1000000000000000000').isInteger()",
        "quantity('100000000000000000').isInteger() && !quantity('0.5Ki').isInteger()",
        "!quantity('5Ei').isInteger() && quantity('99Ti').isInteger()",
        "!quantity('100Ti').isInteger() && !quantity('" LONG "').isInteger()",
        "!quantity('9223372036854775807').add(1).isInteger()",
        "quantity('1e30').sub(quantity('1e30')).isInteger()",
        /* Compared to a big decimal it becomes one. */
        ("cel.bind(q, quantity('1'), q.isInteger() && "
         "q.compareTo(quantity('99999999999999999999')) < 0 && !q.isInteger())"),
        "[1, 2].all(i, quantity('1').isInteger())",
    };

    (void)state;
    ASSERT_HOLD(expressions, 37);
}

static void numbers_of_any_size_are_compared_and_added(void **state)
{
    static const char *const expressions[] = {
        "quantity('" LONG "').isGreaterThan(quantity('1e49'))",
        "quantity('" LONG "').isLessThan(quantity('2e49'))",
        "quantity('1e100').compareTo(quantity('12345678901234567890e80')) == 1",
        "quantity('1e100') == quantity('10e99')",
        "quantity('1e30').add(quantity('1n')).compareTo(quantity('1e30')) == 1",
        "quantity('9223372036854775807').add(1) == quantity('9223372036854775808')",
        ("sign(quantity('-" LONG "')) == -1 && sign(quantity('" LONG "').sub(quantity('" LONG
         "'))) == 0"),
        /* The smallest integer has no opposite, which Go overlooks. */
        "sign(quantity('0').sub(-9223372036854775807 - 1)) == -1",
        "sign(quantity('-1').sub(-9223372036854775807 - 1)) == 1",
    };

    (void)state;
    ASSERT_HOLD(expressions, 37);
}

static void a_sum_of_big_ones_changed_its_operand_until_1_36(void **state)
{
    static const char changed[] = "cel.bind(q, quantity('99999999999999999999'), "
                                  "sign(q.sub(quantity('99999999999999999998'))) == 1 && "
                                  "q == quantity('1'))";

    (void)state;
    assert_true(holds(changed, 34));
    assert_true(holds(changed, 36));
    assert_false(holds(changed, 37));
    /* What one evaluation changes no other sees. */
    assert_true(holds("[1, 2].all(i, sign(quantity('99999999999999999999').sub(quantity("
                      "'99999999999999999999'))) == 0)",
                      34));
}

static void doubles_are_those_of_go(void **state)
{
    static const char *const expressions[] = {
        "quantity('1e50').asApproximateFloat() == 1e50",
        "quantity('1e309').asApproximateFloat() > 1e308",
        "quantity('-1e400').asApproximateFloat() < -1e308",
        "quantity('1.5').asApproximateFloat() == 1.5 && quantity('0').asApproximateFloat() == 0.0",
        "quantity('5Ei').asApproximateFloat() == 5764607523034234880.0",
    };

    (void)state;
    ASSERT_HOLD(expressions, 37);
}

static void beyond_the_bound_it_is_an_error_and_never_a_hang(void **state)
{
    static const char huge[] = "1234567890123456789e1000000000";
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_cel_scratch scratch;
    struct tg_cel_quantity q, one;

    (void)state;
    tg_cel_scratch_on(&scratch, arena);
    assert_int_equal(tg_cel_quantity_parse(&scratch, huge, strlen(huge), &q),
                     TG_CEL_QUANTITY_RANGE);
    assert_int_equal(tg_cel_quantity_parse(&scratch, "1e1000000000", 12, &q), TG_CEL_QUANTITY_OK);
    assert_int_equal(tg_cel_quantity_parse(&scratch, "1", 1, &one), TG_CEL_QUANTITY_OK);
    assert_int_equal(tg_cel_quantity_cmp(&q, &one), 1);
    assert_int_equal(tg_cel_quantity_add(&scratch, &q, &one, false, false, &q),
                     TG_CEL_QUANTITY_RANGE);
    assert_true(holds("isQuantity('1234567890123456789e1000000000')", 37));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_read_as_go_reads_them),
        cmocka_unit_test(whether_it_is_an_integer_goes_by_how_it_is_held),
        cmocka_unit_test(numbers_of_any_size_are_compared_and_added),
        cmocka_unit_test(a_sum_of_big_ones_changed_its_operand_until_1_36),
        cmocka_unit_test(doubles_are_those_of_go),
        cmocka_unit_test(beyond_the_bound_it_is_an_error_and_never_a_hang),
    };

    return cmocka_run_group_tests_name("quantity", tests, NULL, NULL);
}
