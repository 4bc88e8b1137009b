/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/gather/checked.h"
#include "tests/unit/controller/one.h"

/* Gathers again, with what is known of claims. */
static const struct tg_unit *look_again(struct one *one, struct bench *bench,
                                        struct tg_checked *checked)
{
    one_look(one, bench);
    one->view.checked = checked;
    assert_int_equal(tg_gather(&one->view, "default", bench->arena, &one->units, &one->err), 0);
    return one_unit(one, "claim/ns/p-0");
}

static void a_claim_that_was_servable_is_looked_at_anew_when_a_class_has_changed(void **state)
{
    struct bench *bench = bench_new();
    struct tg_checked *checked = tg_checked_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    assert_null(look_again(&one, bench, checked)->problem.reason);
    assert_true(tg_checked_knows(checked, one_claim(&one, "p-0")));
    one_done(&one);
    tg_cluster_change(bench->cluster, TG_VIEW_CLASS, NULL, "gpu", "{'spec':{'selectors':null}}");
    assert_string_equal(tg_or(look_again(&one, bench, checked)->problem.reason, ""),
                        "UnguardedDeviceClass");
    one_done(&one);
    tg_checked_free(checked);
    bench_free(bench);
}

static void what_cannot_be_served_is_told_at_every_look(void **state)
{
    struct bench *bench = bench_new();
    struct tg_checked *checked = tg_checked_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 33, NULL);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(look_again(&one, bench, checked)->problem.reason, "Invalid");
        one_done(&one);
    }
    tg_checked_free(checked);
    bench_free(bench);
}

static void only_what_the_last_look_asked_about_is_remembered(void **state)
{
    struct tg_checked *checked = tg_checked_new();
    struct tg_object_meta meta = {.namespace_ = NS, .name = "c", .uid = "u"};
    struct tg_resource_claim claim = {.metadata = &meta};
    struct tg_view view;

    (void)state;
    tg_view_init(&view);
    tg_checked_begin(checked, &view);
    assert_false(tg_checked_knows(checked, &claim));
    tg_checked_note(checked, &claim);
    for (size_t i = 0; i < 3; i++) {
        tg_checked_begin(checked, &view);
        assert_true(tg_checked_knows(checked, &claim));
    }
    tg_checked_begin(checked, &view);
    tg_checked_begin(checked, &view);
    assert_false(tg_checked_knows(checked, &claim));
    tg_view_done(&view);
    tg_checked_free(checked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_that_was_servable_is_looked_at_anew_when_a_class_has_changed),
        cmocka_unit_test(what_cannot_be_served_is_told_at_every_look),
        cmocka_unit_test(only_what_the_last_look_asked_about_is_remembered),
    };

    return cmocka_run_group_tests_name("checked", tests, NULL, NULL);
}
