/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "tests/unit/controller/one.h"

#define ENTRY(parameters)                                                                          \
    "{'opaque':{'driver':'tangram.dev','parameters':{'apiVersion':'tangram.dev/v1alpha1',"         \
    "'kind':'GangMember'," parameters "}}}"

/* The unit of a pod "p" with n claims of this configuration. */
static const struct tg_unit *unit_with(struct one *one, struct bench *bench, size_t claims,
                                       const char *config, const char *key)
{
    bench_fleet(bench, 1);
    bench_pod(bench, "p", claims, 1, config);
    one_look(one, bench);
    return one_unit(one, key);
}

static void the_entry_names_the_gang(void **state)
{
    struct bench *bench = bench_new();
    const struct tg_unit *unit;
    struct one one;

    (void)state;
    unit = unit_with(&one, bench, 2,
                     ENTRY("'gang':'g','size':4,'topology':{'pack':{'required':'zone'}}"),
                     "gang/ns/g");
    assert_int_equal(unit->declared->size, 4);
    assert_string_equal(unit->declared->pack_required, "zone");
    assert_null(unit->problem.reason);
    one_done(&one);
    bench_free(bench);
}

static void entries_of_other_drivers_and_kinds_are_left_alone(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    assert_null(unit_with(&one, bench, 1,
                          "{'opaque':{'driver':'gpu.tangram.dev','parameters':{'kind':"
                          "'GangMember'}}}",
                          "claim/ns/p-0")
                    ->problem.reason);
    one_done(&one);
    bench_free(bench);
}

static void an_unknown_field_is_an_error_about_the_claim(void **state)
{
    struct bench *bench = bench_new();
    const struct tg_unit *unit;
    struct one one;

    (void)state;
    unit = unit_with(&one, bench, 1, ENTRY("'gang':'g','sizes':4"), "claim/ns/p-0");
    assert_string_equal(unit->problem.reason, "InvalidGangMember");
    assert_non_null(strstr(unit->problem.text, "sizes"));
    assert_ptr_equal(unit->problem.claim, one_claim(&one, "p-0"));
    one_done(&one);
    bench_free(bench);
}

static void two_entries_that_contradict_each_other_are_an_error(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    assert_string_equal(unit_with(&one, bench, 1,
                                  ENTRY("'gang':'g','size':4") "," ENTRY("'gang':'h','size':4"),
                                  "claim/ns/p-0")
                            ->problem.reason,
                        "ContradictingGangMember");
    one_done(&one);
    bench_free(bench);
}

static void gang_from_makes_a_gang_of_each_label_value(void **state)
{
    struct bench *bench = bench_new();
    char name[TG_GANG_OBJECT_NAME_SIZE], key[80];
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    for (size_t i = 0; i < 3; i++) {
        char pod[8] = {'p', (char)('0' + i), '\0'};

        bench_pod(bench, pod, 1, 1, ENTRY("'gangFrom':{'podLabel':'x/group'},'size':2"));
        tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, pod,
                          "{'metadata':{'labels':{'x/group':'%s'}}}", i < 2 ? "One" : "Two");
    }
    one_look(&one, bench);
    assert_int_equal(one.units.n, 2);
    tg_gang_object_name("One", name);
    snprintf(key, sizeof(key), "gang/ns/%s", name);
    assert_int_equal(one_unit(&one, key)->n_members, 2);
    assert_string_equal(one_unit(&one, key)->value, "One");
    one_done(&one);
    bench_free(bench);
}

static void gang_from_a_label_that_the_pod_lacks_is_an_error_that_names_it(void **state)
{
    struct bench *bench = bench_new();
    const struct tg_unit *unit;
    struct one one;

    (void)state;
    unit = unit_with(&one, bench, 1, ENTRY("'gangFrom':{'podLabel':'x/group'},'size':2"),
                     "claim/ns/p-0");
    assert_string_equal(unit->problem.reason, "MissingGangLabel");
    assert_non_null(strstr(unit->problem.text, "x/group"));
    one_done(&one);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_entry_names_the_gang),
        cmocka_unit_test(entries_of_other_drivers_and_kinds_are_left_alone),
        cmocka_unit_test(an_unknown_field_is_an_error_about_the_claim),
        cmocka_unit_test(two_entries_that_contradict_each_other_are_an_error),
        cmocka_unit_test(gang_from_makes_a_gang_of_each_label_value),
        cmocka_unit_test(gang_from_a_label_that_the_pod_lacks_is_an_error_that_names_it),
    };

    return cmocka_run_group_tests_name("claim_config", tests, NULL, NULL);
}
