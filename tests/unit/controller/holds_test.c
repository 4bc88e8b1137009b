/* SPDX-License-Identifier: Apache-2.0 */
/* What held places and lost allocations take from everybody else. */
#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/tangram/names.h"
#include "tests/unit/controller/one.h"

#define GANG(more, holds)                                                                          \
    "{'metadata':{'namespace':'" NS "','name':'g'},'spec':{'size':2" more "},'status':{'phase':"   \
    "'Degraded','holds':[" holds "]}}"
#define HOLD(device, until)                                                                        \
    "{'pod':'x','node':'n2','device':'" device "','until':'" until "','why':'w'}"
#define LATER "2026-01-01T00:00:01Z"
#define NOW "2026-01-01T00:00:00Z"

static struct bench *look(struct one *one, const char *gang)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, 2);
    bench_gang(bench, "g", 2, 1);
    tg_cluster_create(bench->cluster, TG_VIEW_GANG, "%s", gang);
    tg_cluster_change(bench->cluster, TG_VIEW_GANG, NS, "g",
                      "{'status':{'plan':{'epoch':7,'members':[{'pod':'g-0','uid':'%s','node':"
                      "'n1'},{'pod':'x','uid':'lost-uid','node':'n2'}]}}}",
                      tg_cluster_get(bench->cluster, TG_VIEW_POD, NS, "g-0")->uid);
    one_look(one, bench);
    one_unit(one, "gang/ns/g");
    return bench;
}

static struct tg_held held(struct one *one, const struct tg_lost_device *lost, size_t n)
{
    struct tg_held ret;

    assert_int_equal(tg_commit_held(&one->view, one->input.unit, one->input.now, lost, n,
                                    one->bench->arena, &ret, &one->err),
                     0);
    return ret;
}

static void a_held_device_is_busy_and_a_pod_like_the_lost_one_takes_its_room(void **state)
{
    struct bench *bench;
    struct tg_held h;
    struct one one;

    (void)state;
    bench = look(&one, GANG("", HOLD("d/p/with/slash/gpu-1", LATER) "," HOLD("d/p/gpu-2", LATER)));
    h = held(&one, NULL, 0);
    assert_int_equal(h.n_busy, 2);
    assert_string_equal(h.busy[0].driver, "d");
    assert_string_equal(h.busy[0].pool, "p/with/slash");
    assert_string_equal(h.busy[0].device, "gpu-1");
    assert_string_equal(h.busy[0].holder, "gang/ns/g");
    assert_int_equal(h.n_assumed, 1);
    assert_string_equal(h.assumed[0].node, "n2");
    assert_null(h.assumed[0].pod->spec->node_name);
    assert_int_equal(h.assumed[0].pod->spec->containers.n, 1);
    one_done(&one);
    bench_free(bench);
}

static void a_hold_that_has_ended_takes_nothing(void **state)
{
    struct bench *bench;
    struct tg_held h;
    struct one one;

    (void)state;
    bench = look(&one, GANG("", HOLD("d/p/gpu-1", NOW) "," HOLD("d/p/gpu-2", "never")));
    h = held(&one, NULL, 0);
    assert_int_equal(h.n_busy, 0);
    assert_int_equal(h.n_assumed, 0);
    one_done(&one);
    bench_free(bench);
}

static size_t lost_taken(const char *gang, const char *pod_uid, const char *change)
{
    struct bench *bench;
    struct one one;
    struct tg_held h;
    struct tg_lost_device lost = {.device = tg_xstrdup("d/p/gpu-1")};

    bench = look(&one, gang);
    lost.pod_uid = tg_xstrdup(
        pod_uid != NULL ? pod_uid : tg_cluster_get(bench->cluster, TG_VIEW_POD, NS, "g-0")->uid);
    if (change != NULL) {
        tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-0", "%s", change);
        one_done(&one);
        one_look(&one, bench);
        one_unit(&one, "gang/ns/g");
    }
    h = held(&one, &lost, 1);
    free(lost.pod_uid);
    free(lost.device);
    one_done(&one);
    bench_free(bench);
    return h.n_busy;
}

static void a_lost_allocation_is_taken_while_its_pod_may_run_on_it(void **state)
{
    (void)state;
    assert_int_equal(lost_taken(GANG("", ""), NULL, NULL), 1);
    assert_int_equal(lost_taken(GANG(",'onMemberLoss':'Release'", ""), NULL, NULL), 1);
    assert_int_equal(lost_taken(GANG("", ""), NULL, "{'status':{'phase':'Succeeded'}}"), 0);
    assert_int_equal(lost_taken(GANG("", ""), "somebody-else", NULL), 0);
}

static void a_lost_allocation_is_taken_until_the_place_of_its_pod_is_held(void **state)
{
    (void)state;
    assert_int_equal(lost_taken(GANG("", ""), "lost-uid", NULL), 1);
    assert_int_equal(lost_taken(GANG("", HOLD("d/p/gpu-1", LATER)), "lost-uid", NULL), 1);
    assert_int_equal(lost_taken(GANG("", HOLD("d/p/gpu-1", NOW)), "lost-uid", NULL), 0);
    assert_int_equal(lost_taken(GANG(",'onMemberLoss':'Release'", ""), "lost-uid", NULL), 0);
    assert_int_equal(lost_taken(GANG(",'onMemberLoss':'Recreate'", ""), "lost-uid", NULL), 0);
}

static void a_place_is_reclaimed_by_a_gated_member_that_the_plan_does_not_list(void **state)
{
    struct bench *bench;
    struct one one;

    (void)state;
    bench = look(&one, GANG("", HOLD("d/p/gpu-1", LATER)));
    assert_false(tg_commit_reclaims(one.input.unit));
    bench_pod(bench, "g-9", 1, 1, bench_member_config(bench, "g", 2));
    one_done(&one);
    one_look(&one, bench);
    one_unit(&one, "gang/ns/g");
    assert_true(tg_commit_reclaims(one.input.unit));
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-9", "{'spec':{'schedulingGates':null}}");
    one_done(&one);
    one_look(&one, bench);
    one_unit(&one, "gang/ns/g");
    assert_false(tg_commit_reclaims(one.input.unit));
    one_done(&one);
    bench_free(bench);
}

static void what_a_plan_takes_is_busy_share_by_share(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 16);
    const char *whole[] = {"a"}, *shared[] = {"b", "b"}, *watched[] = {"c"};
    struct tg_plan_result results[] = {
        {.request = "r"},
        {.request = "s", .consumed = "{\"m\":\"2Gi\"}", .pool = "far"},
        {.request = "t", .admin_access = {true, true}}};
    struct tg_plan_claim claim = {.name = "c", .uid = "u"};
    const struct tg_plan_member member = {.node = "n1"};
    const struct tg_plan plan = {.epoch = {true, 3}, .driver = "d"};
    struct tg_fleet_busy busy[4];
    char id[TG_PLAN_SHARE_ID];
    size_t n = 0;

    (void)state;
    results[0].devices.items = whole;
    results[1].devices.items = shared;
    results[2].devices.items = watched;
    results[0].devices.n = results[2].devices.n = 1;
    results[1].devices.n = 2;
    claim.results.items = results;
    claim.results.n = 3;
    tg_commit_busy(&plan, &member, &claim, "holder", arena, busy, &n);
    assert_int_equal(n, 3); /* admin access takes nothing */
    assert_string_equal(busy[0].device, "a");
    assert_string_equal(busy[0].pool, "n1");
    assert_null(busy[0].share);
    for (size_t i = 1; i < 3; i++) {
        /* The id that the allocation is going to have. */
        tg_plan_share_id(&plan, &claim, i, id);
        assert_string_equal(busy[i].share, id);
        assert_string_equal(busy[i].pool, "far");
        assert_int_equal(busy[i].n_consumed, 1);
        assert_string_equal(busy[i].consumed[0].key, "m");
        assert_string_equal(busy[i].consumed[0].value, "2Gi");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_held_device_is_busy_and_a_pod_like_the_lost_one_takes_its_room),
        cmocka_unit_test(a_hold_that_has_ended_takes_nothing),
        cmocka_unit_test(a_lost_allocation_is_taken_while_its_pod_may_run_on_it),
        cmocka_unit_test(a_lost_allocation_is_taken_until_the_place_of_its_pod_is_held),
        cmocka_unit_test(a_place_is_reclaimed_by_a_gated_member_that_the_plan_does_not_list),
        cmocka_unit_test(what_a_plan_takes_is_busy_share_by_share),
    };

    return cmocka_run_group_tests_name("holds", tests, NULL, NULL);
}
