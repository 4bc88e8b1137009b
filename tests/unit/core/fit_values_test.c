/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/values.h"
#include "tests/unit/core/fit_world.h"

static void read_domain(struct trial *t, const char *attribute, struct tg_fit_domain *ret)
{
    assert_int_equal(tg_fit_domain_read(&t->view, attribute, t->w.arena, ret, NULL), 0);
}

static bool equal(const struct tg_fit_domain *domain, size_t a, size_t b)
{
    const struct tg_fit_values *x = &domain->devices[a], *y = &domain->devices[b];

    return tg_fit_values_meet(x->ids, x->n, y->ids, y->n);
}

static void values_are_equal_by_type_and_content(void **state)
{
    struct tg_fit_domain domain;
    struct trial t;

    (void)state;
    trial_init(&t);
    add_devices(&t, "{\"name\":\"a\",\"attributes\":{\"x\":{\"int\":1}}},"
                    "{\"name\":\"b\",\"attributes\":{\"x\":{\"string\":\"1\"}}},"
                    "{\"name\":\"c\",\"attributes\":{\"x\":{\"version\":\"1\"}}},"
                    "{\"name\":\"d\",\"attributes\":{\"x\":{\"int\":1}}},"
                    "{\"name\":\"e\",\"attributes\":{\"x\":{\"bool\":true}}},{\"name\":\"f\"}");
    trial_open(&t);
    read_domain(&t, "d/x", &domain);
    assert_true(equal(&domain, 0, 3));
    assert_false(equal(&domain, 0, 1));
    assert_false(equal(&domain, 1, 2));
    assert_true(domain.devices[4].has);
    assert_false(domain.devices[5].has);
    assert_int_equal(domain.n_values, 4);
    trial_done(&t);
}

static void the_qualified_name_wins_over_the_bare_one_of_the_driver(void **state)
{
    struct tg_fit_domain domain;
    struct trial t;

    (void)state;
    trial_init(&t);
    add_devices(&t, "{\"name\":\"a\",\"attributes\":{\"x\":{\"int\":1},\"d/x\":{\"int\":2}}},"
                    "{\"name\":\"b\",\"attributes\":{\"x\":{\"int\":2}}},"
                    "{\"name\":\"c\",\"attributes\":{\"other/x\":{\"int\":2}}}");
    trial_open(&t);
    read_domain(&t, "d/x", &domain);
    assert_true(equal(&domain, 0, 1));
    assert_false(domain.devices[2].has);
    read_domain(&t, "other/x", &domain);
    assert_false(domain.devices[1].has);
    assert_true(domain.devices[2].has);
    trial_done(&t);
}

static void lists_are_sets_where_their_gate_is_on(void **state)
{
    (void)state;
    for (size_t on = 0; on < 2; on++) {
        struct tg_fit_domain domain;
        struct trial t;

        trial_init(&t);
        if (on == 1)
            t.rules.features |= TG_FEATURE_LIST_TYPE_ATTRIBUTES;
        add_devices(&t, "{\"name\":\"a\",\"attributes\":{\"x\":{\"ints\":[3, 1,3]}}},"
                        "{\"name\":\"b\",\"attributes\":{\"x\":{\"int\":3}}},"
                        "{\"name\":\"c\",\"attributes\":{\"x\":{\"ints\":[2]}}},"
                        "{\"name\":\"e\",\"attributes\":{\"x\":{\"bools\":[true,false]}}},"
                        "{\"name\":\"f\",\"attributes\":{\"x\":{\"strings\":[\"3\"]}}}");
        trial_open(&t);
        read_domain(&t, "d/x", &domain);
        assert_int_equal(domain.devices[0].n, on == 1 ? 2 : 0);
        assert_int_equal(equal(&domain, 0, 1), on);
        assert_false(equal(&domain, 1, 2));
        assert_false(equal(&domain, 1, 4));
        assert_int_equal(domain.devices[3].n, on == 1 ? 2 : 0);
        trial_done(&t);
    }
}

static void what_is_in_both_is_found(void **state)
{
    const size_t a[] = {1, 3, 5, 7}, b[] = {0, 3, 4, 7, 9};
    size_t both[4];

    (void)state;
    assert_int_equal(tg_fit_values_intersect(a, 4, b, 5, both), 2);
    assert_int_equal(both[0], 3);
    assert_int_equal(both[1], 7);
    assert_false(tg_fit_values_meet(a, 1, b, 5));
    assert_false(tg_fit_values_meet(a, 0, b, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_equal_by_type_and_content),
        cmocka_unit_test(the_qualified_name_wins_over_the_bare_one_of_the_driver),
        cmocka_unit_test(lists_are_sets_where_their_gate_is_on),
        cmocka_unit_test(what_is_in_both_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
