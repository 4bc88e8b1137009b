/* SPDX-License-Identifier: Apache-2.0 */
/* Who is told that an allocation was cleared. */
#include "api/tangram/names.h"
#include "tests/unit/controller/one.h"

/* The claim p-0 of a pod with two claims, allocated, and then cleared. */
static struct tg_unit_state *clear_under(struct bench *bench, size_t in_flight)
{
    struct tg_unit_state *unit;

    bench_fleet(bench, 2);
    bench_pod(bench, "p", 2, 1, NULL);
    while (bench_allocated(bench) < 1)
        assert_true(bench_run(bench, 1));
    while (bench->ops.n > 0)
        bench_step(bench, 0, BENCH_OK);
    tg_cluster_deliver(bench->cluster);
    unit = tg_controller_state(&bench->controller, "pod/ns/p");
    unit->in_flight = in_flight;
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "p-0",
                      "{'status':{'allocation':null,'reservedFor':null}}");
    tg_cluster_deliver(bench->cluster);
    return unit;
}

static void the_unit_of_the_marker_is_disturbed(void **state)
{
    struct bench *bench = bench_new();
    struct tg_unit_state *other = tg_controller_state(&bench->controller, "pod/ns/q");

    (void)state;
    other->marker_uid = NULL;
    assert_true(clear_under(bench, 0)->disturbed);
    bench_free(bench);
}

/* Its own rollback does not mind, and a gate that is about to go must stay. */
static void also_while_it_writes(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    assert_true(clear_under(bench, 1)->disturbed);
    bench_free(bench);
}

static void another_claim_of_the_name_disturbs_nobody(void **state)
{
    struct bench *bench = bench_new();
    struct tg_resource_claim was = {0}, is = {0};
    struct tg_object_meta first = {.name = "c", .uid = "1"}, second = {.name = "c", .uid = "2"};
    struct tg_allocation allocation = {0};
    struct tg_resource_claim_status status = {.allocation = &allocation};

    (void)state;
    was.metadata = &first;
    was.status = &status;
    is.metadata = &second;
    tg_controller_claim_changed(&bench->controller, &was, &is);
    assert_int_equal(tg_map_count(bench->controller.units), 0);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_unit_of_the_marker_is_disturbed),
        cmocka_unit_test(also_while_it_writes),
        cmocka_unit_test(another_claim_of_the_name_disturbs_nobody),
    };

    return cmocka_run_group_tests_name("unit_state", tests, NULL, NULL);
}
