/* SPDX-License-Identifier: Apache-2.0 */
/* A large unit among small ones that never end to come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubernetes/values/rfc3339.h"
#include "controller/drain.h"
#include "tests/unit/controller/bench.h"
#include "tests/unit/controller/invariants.h"

#define MINUTE (60 * TG_SECOND)

/* --- how long --------------------------------------------------------------------------------- */

static void others_are_delayed_no_longer_than_said(void **state)
{
    const struct tg_delays delays = {.drain_after = 2 * MINUTE, .drain = 10 * MINUTE};
    struct tg_draining draining = {0};
    uint64_t random = 1;
    int64_t kept_since = 0, free_since = 1, longest_kept = 0, shortest_free = INT64_MAX;
    bool kept = false;

    (void)state;
    for (int64_t now = 1; now < 500 * MINUTE; now += (int64_t)(random >> 33) % MINUTE + 1) {
        int64_t wake = 0;
        bool due = tg_draining_due(&draining, &delays, now, &wake);

        random = random * 6364136223846793005U + 1442695040888963407U;
        assert_true(wake > now);
        if (due && draining.keeps_since == 0)
            draining.keeps_since = now; /* as tg_draining_choose does */
        if (due && !kept) {
            shortest_free = now - free_since < shortest_free && free_since > 1 ? now - free_since
                                                                               : shortest_free;
            assert_true(free_since > 1 || now - free_since >= delays.drain_after);
            kept_since = now;
        }
        if (due && now - kept_since > longest_kept)
            longest_kept = now - kept_since;
        if (!due && kept)
            free_since = now;
        kept = due;
    }
    assert_true(longest_kept < delays.drain);
    assert_true(longest_kept > delays.drain / 2);
    assert_true(shortest_free >= delays.drain);
    tg_draining_end(&draining);
}

/* --- in a cluster ------------------------------------------------------------------------------
 */

static struct bench *bench_with(const char *delays)
{
    struct bench *bench = bench_new();
    struct tg_error err = TG_ERROR_INIT;
    char text[256];

    snprintf(text, sizeof(text),
             "apiVersion: tangram.dev/v1alpha1\nkind: TangramConfiguration\ndelays: {%s}\n",
             delays);
    tg_configuration_free(bench->configuration);
    if (tg_configuration_parse("test", text, strlen(text), &bench->configuration, &err) < 0)
        fail_msg("%s", err.message);
    bench->controller.configuration = bench->configuration;
    return bench;
}

static void come(struct bench *bench, unsigned number)
{
    char name[16];

    snprintf(name, sizeof(name), "s%02u", number);
    bench_pod(bench, name, 1, 1, NULL);
}

static void finish(struct bench *bench, unsigned number)
{
    char name[16];

    snprintf(name, sizeof(name), "s%02u", number);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, name, "{'status':{'phase':'Succeeded'}}");
}

static const char *node_of(struct bench *bench, const char *name)
{
    const struct tg_snapshot *pod = tg_cluster_get(bench->cluster, TG_VIEW_POD, NS, name);

    return ((const struct tg_pod *)pod->object)->spec->node_name;
}

static void let_pass(struct bench *bench, int64_t time)
{
    tg_fake_clock_advance(&bench->clock, time);
    bench_settle(bench, TG_SECOND);
}

/* Two nodes full of small pods, `big` wants one of them wholly; then every half minute one of the
 * small ones ends and another one comes. Returns after how many of them it has its place. */
static unsigned wait_for_big(struct bench *bench, unsigned rounds)
{
    bench_fleet(bench, 2);
    for (unsigned i = 0; i < 4; i++)
        come(bench, i);
    bench_settle(bench, TG_SECOND);
    assert_int_equal(bench_bound(bench), 4);
    bench_pod(bench, "big", 1, 2, NULL);
    bench_settle(bench, TG_SECOND);
    for (unsigned i = 0; i < rounds; i++) {
        come(bench, i + 4);
        finish(bench, i);
        let_pass(bench, MINUTE / 2);
        if (node_of(bench, "big") != NULL)
            return i;
    }
    return rounds;
}

static void small_ones_do_not_starve_a_large_one(void **state)
{
    struct bench *bench = bench_with("drainAfter: 2m, drain: 30m");
    unsigned rounds = wait_for_big(bench, 20);

    (void)state;
    assert_true(rounds >= 4 && rounds < 12);
    invariants_rest(bench);
    bench_free(bench);
}

/* What would happen otherwise. */
static void nothing_is_kept_before_it_is_time(void **state)
{
    struct bench *bench = bench_with("drainAfter: 10h, drain: 30m");

    (void)state;
    assert_int_equal(wait_for_big(bench, 20), 20);
    bench_free(bench);
}

/* The other pod on the node that is kept does not end: after a time the small ones have it again.
 */
static void what_is_kept_in_vain_is_given_back(void **state)
{
    struct bench *bench = bench_with("drainAfter: 2m, drain: 10m");

    (void)state;
    bench_fleet(bench, 1);
    come(bench, 0);
    come(bench, 1);
    bench_settle(bench, TG_SECOND);
    bench_pod(bench, "big", 1, 2, NULL);
    bench_settle(bench, TG_SECOND);
    let_pass(bench, 3 * MINUTE);
    assert_non_null(strstr(bench_told(bench, "claim/ns/big-0"),
                           "What is or becomes free on n1 is kept for it, for 600s at most"));
    finish(bench, 0);
    come(bench, 2);
    let_pass(bench, MINUTE);
    assert_null(node_of(bench, "s02"));
    let_pass(bench, MINUTE); /* what is told follows the fleet now and then */
    assert_non_null(
        strstr(bench_told(bench, "claim/ns/s02-0"), "claim ns/big-0 (kept free for it)"));
    let_pass(bench, 10 * MINUTE);
    assert_non_null(node_of(bench, "s02"));
    assert_null(strstr(bench_told(bench, "claim/ns/big-0"), "kept"));
    bench_free(bench);
}

/* --- another leader --------------------------------------------------------------------------- */

static const struct tg_gang_status *status_of(struct bench *bench, const char *gang)
{
    const struct tg_snapshot *object = tg_cluster_get(bench->cluster, TG_VIEW_GANG, NS, gang);

    assert_non_null(object);
    return ((const struct tg_gang *)object->object)->status;
}

static void expect_kept(struct bench *bench, const char *const *nodes, size_t n, const char *until)
{
    const struct tg_gang_status *status = status_of(bench, "g");

    assert_int_equal(status->holds.n, n);
    for (size_t i = 0; i < n; i++) {
        const struct tg_gang_hold *hold = &status->holds.items[i];

        assert_string_equal(hold->node, nodes[i]);
        assert_null(hold->pod);
        assert_null(hold->device);
        assert_non_null(hold->why);
        if (until != NULL)
            assert_string_equal(hold->until, until);
    }
}

/* Two nodes full of small pods; a gang that wants all of them has waited for three minutes. Returns
 * until when they are kept for it. */
static struct bench *gang_waits(const char **ret_until)
{
    static const char *const both[] = {"n1", "n2"};
    struct bench *bench = bench_with("drainAfter: 2m, drain: 10m");

    bench_fleet(bench, 2);
    for (unsigned i = 0; i < 4; i++)
        come(bench, i);
    bench_settle(bench, TG_SECOND);
    bench_gang(bench, "g", 4, 4);
    /* Before those that come later: everything here is of one age. */
    for (unsigned i = 0; i < 4; i++) {
        char name[8];

        snprintf(name, sizeof(name), "g-%u", i);
        tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, name, "{'spec':{'priority':1}}");
    }
    bench_settle(bench, TG_SECOND);
    assert_int_equal(status_of(bench, "g")->holds.n, 0);
    let_pass(bench, 3 * MINUTE);
    expect_kept(bench, both, 2, NULL);
    *ret_until = tg_arena_strdup(bench->arena, status_of(bench, "g")->holds.items[0].until);
    return bench;
}

static void a_new_leader_keeps_what_the_one_before_kept_and_no_longer(void **state)
{
    static const char *const both[] = {"n1", "n2"};
    const char *until;
    struct bench *bench = gang_waits(&until);

    (void)state;
    let_pass(bench, MINUTE);
    expect_kept(bench, both, 2, until);
    bench_crash(bench);
    finish(bench, 0);
    come(bench, 4);
    let_pass(bench, MINUTE);
    expect_kept(bench, both, 2, until);
    assert_null(node_of(bench, "s04"));
    let_pass(bench, 6 * MINUTE);
    assert_null(node_of(bench, "s04"));
    let_pass(bench, 3 * MINUTE);
    assert_non_null(node_of(bench, "s04"));
    assert_int_equal(status_of(bench, "g")->holds.n, 0);
    bench_free(bench);
}

static void what_ended_while_nobody_led_begins_no_sooner_again(void **state)
{
    const char *until;
    struct bench *bench = gang_waits(&until);

    (void)state;
    bench_crash(bench);
    tg_fake_clock_advance(&bench->clock, 12 * MINUTE);
    finish(bench, 0);
    come(bench, 4);
    bench_settle(bench, TG_SECOND);
    assert_non_null(node_of(bench, "s04"));
    assert_int_equal(status_of(bench, "g")->holds.n, 0);
    let_pass(bench, 4 * MINUTE);
    assert_int_equal(status_of(bench, "g")->holds.n, 0);
    let_pass(bench, 6 * MINUTE);
    assert_int_equal(status_of(bench, "g")->holds.n, 2);
    bench_free(bench);
}

/* The plan and the end of what was kept are one write: such holds mean other things beside a plan.
 */
static void with_its_place_nothing_is_kept(void **state)
{
    const char *until;
    struct bench *bench = gang_waits(&until);

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        finish(bench, i);
    while (status_of(bench, "g")->plan == NULL)
        assert_true(bench_run(bench, 1) || bench_others(bench));
    assert_int_equal(status_of(bench, "g")->holds.n, 0);
    bench_settle(bench, TG_SECOND);
    assert_string_equal(bench_phase(bench, "g"), "Running");
    assert_int_equal(status_of(bench, "g")->holds.n, 0);
    invariants_rest(bench);
    bench_free(bench);
}

/* Whatever a status says of the end, nothing lasts longer than it may. */
static void an_end_that_makes_no_sense_is_cut(void **state)
{
    static const struct {
        const char *until;
        int64_t keeps_since, rests_since; /* minutes before now; -1: not at all */
    } rows[] = {
        {"1678-01-01T00:00:00Z", -1, 10},
        {"2262-01-01T00:00:00Z", 0, -1},
        {"2026-11-30T00:03:00Z", 7, -1},
        {"2026-11-29T23:58:00Z", -1, 2},
        {"soon", -1, -1},
        {NULL, -1, -1},
    };
    const struct tg_delays delays = {.drain = 10 * MINUTE};
    const int64_t now = 1000 * MINUTE;
    int64_t wall;

    (void)state;
    assert_int_equal(tg_time_parse("2026-11-30T00:00:00Z", &wall, NULL), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tg_gang_hold hold = {.node = "n1", .until = rows[i].until};
        struct tg_gang_status status = {.holds = {.items = &hold, .n = 1}};
        struct tg_gang gang = {.status = &status};
        struct tg_draining draining = {0};

        tg_draining_recall(&draining, &gang, &delays, now, wall);
        assert_int_equal(draining.keeps_since,
                         rows[i].keeps_since < 0 ? 0 : now - rows[i].keeps_since * MINUTE);
        assert_int_equal(draining.rests_since,
                         rows[i].rests_since < 0 ? 0 : now - rows[i].rests_since * MINUTE);
        tg_draining_end(&draining);
    }
}

/* Somebody of higher priority waits: it is not the first any more. */
static void who_is_not_the_first_any_more_keeps_nothing(void **state)
{
    const char *until;
    struct bench *bench = gang_waits(&until);

    (void)state;
    bench_pod(bench, "vip", 1, 2, NULL);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "vip", "{'spec':{'priority':1000}}");
    let_pass(bench, MINUTE);
    assert_int_equal(status_of(bench, "g")->holds.n, 0);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_are_delayed_no_longer_than_said),
        cmocka_unit_test(small_ones_do_not_starve_a_large_one),
        cmocka_unit_test(nothing_is_kept_before_it_is_time),
        cmocka_unit_test(what_is_kept_in_vain_is_given_back),
        cmocka_unit_test(a_new_leader_keeps_what_the_one_before_kept_and_no_longer),
        cmocka_unit_test(what_ended_while_nobody_led_begins_no_sooner_again),
        cmocka_unit_test(with_its_place_nothing_is_kept),
        cmocka_unit_test(an_end_that_makes_no_sense_is_cut),
        cmocka_unit_test(who_is_not_the_first_any_more_keeps_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
