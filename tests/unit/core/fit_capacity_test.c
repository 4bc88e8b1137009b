/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/capacity.h"
#include "tests/unit/core/fit_world.h"

static __int128 nanos(const char *text)
{
    __int128 value = 0;

    assert_int_equal(tg_nanos_parse(text, &value, NULL), 0);
    return value;
}

static struct tg_view_capacity range(const char *min, const char *step, const char *max)
{
    return (struct tg_view_capacity){.name = "m",
                                     .value = nanos("100"),
                                     .has_policy = true,
                                     .policy = TG_POLICY_RANGE,
                                     .min = nanos(min),
                                     .has_step = step != NULL,
                                     .step = step == NULL ? 0 : nanos(step),
                                     .has_max = max != NULL,
                                     .max = max == NULL ? 0 : nanos(max)};
}

static void expect(const struct tg_view_capacity *c, const char *asked, bool fractional,
                   const char *amount, bool allowed)
{
    __int128 ask = asked == NULL ? 0 : nanos(asked);
    __int128 got = tg_fit_capacity_amount(c, asked == NULL ? NULL : &ask, fractional);

    assert_true(got == nanos(amount));
    assert_int_equal(tg_fit_capacity_allows(c, got, fractional), allowed);
}

static void without_a_policy_it_is_what_is_asked_or_everything(void **state)
{
    struct tg_view_capacity c = {.name = "m", .value = nanos("8")};

    (void)state;
    expect(&c, "1500m", false, "1500m", true);
    expect(&c, NULL, false, "8", true);
    c.has_policy = c.has_default = true;
    c.default_ = nanos("2");
    expect(&c, NULL, false, "2", true);
}

static void ranges_round_up_to_min_and_step(void **state)
{
    struct tg_view_capacity c = range("2", "3", "8");

    (void)state;
    expect(&c, "1", false, "2", true);
    expect(&c, "3", false, "5", true);
    expect(&c, "5", false, "5", true);
    expect(&c, "4500m", false, "5", true);
    expect(&c, "6", false, "8", true);
    expect(&c, "9", false, "11", false);
    c = range("2", NULL, "8");
    expect(&c, "2500m", false, "2500m", true);
}

static void ranges_of_thousandths_count_so_where_the_gate_is_on(void **state)
{
    struct tg_view_capacity c = range("500m", "250m", "2");

    (void)state;
    expect(&c, "600m", true, "750m", true);
    expect(&c, "600m", false, "1", true);
}

static void values_round_up_to_the_next_listed(void **state)
{
    const __int128 values[] = {nanos("1"), nanos("4")};
    struct tg_view_capacity c = {.name = "m",
                                 .value = nanos("8"),
                                 .policy = TG_POLICY_VALUES,
                                 .values = values,
                                 .n_values = 2};

    (void)state;
    expect(&c, "1", false, "1", true);
    expect(&c, "2", false, "4", true);
    expect(&c, "5", false, "5", false);
}

static void every_capacity_must_have_room(void **state)
{
    struct tg_view_capacity capacity[] = {{.name = "m", .value = nanos("8"), .used = nanos("3")},
                                          {.name = "n", .value = nanos("1"), .has_default = true}};
    const struct tg_view_device device = {.capacity = capacity, .n_capacity = 2};
    const struct tg_fit_amount five = {"m", nanos("5")}, six = {"m", nanos("6")}, other = {"x", 0};
    const __int128 mine[] = {nanos("1"), 0};
    struct tg_fit_want want = {.capacity = &five, .n_capacity = 1};

    (void)state;
    assert_true(tg_fit_capacity_fits(&device, &want, false, true, NULL));
    assert_false(tg_fit_capacity_fits(&device, &want, false, true, mine));
    want.capacity = &six;
    assert_false(tg_fit_capacity_fits(&device, &want, false, true, NULL));
    assert_true(tg_fit_capacity_fits(&device, &want, false, false, NULL));
    want.capacity = &other;
    assert_false(tg_fit_capacity_fits(&device, &want, false, false, NULL));
    want.n_capacity = 0;
    assert_false(tg_fit_capacity_fits(&device, &want, false, true, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_policy_it_is_what_is_asked_or_everything),
        cmocka_unit_test(ranges_round_up_to_min_and_step),
        cmocka_unit_test(ranges_of_thousandths_count_so_where_the_gate_is_on),
        cmocka_unit_test(values_round_up_to_the_next_listed),
        cmocka_unit_test(every_capacity_must_have_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
