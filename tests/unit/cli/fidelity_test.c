/* SPDX-License-Identifier: Apache-2.0 */
/* What simulate says is what the controller does: the same objects to both, and the plans of one
 * are the allocations of the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/cli/simulation.h"
#include "tests/unit/controller/bench.h"

#define SEEDS 25
#define MEMORY ((size_t)256 << 20)

/* As an API server would have written them. */
static const struct {
    enum tg_view_kind kind;
    const char *api_version, *name;
} kinds[] = {
    {TG_VIEW_NAMESPACE, "v1", "Namespace"},
    {TG_VIEW_NODE, "v1", "Node"},
    {TG_VIEW_CLASS, "resource.k8s.io/v1", "DeviceClass"},
    {TG_VIEW_SLICE, "resource.k8s.io/v1", "ResourceSlice"},
    {TG_VIEW_CLAIM, "resource.k8s.io/v1", "ResourceClaim"},
    {TG_VIEW_POD, "v1", "Pod"},
    {TG_VIEW_GANG, "tangram.dev/v1alpha1", "Gang"},
};

static void write_cluster(struct bench *bench, struct tg_buf *out)
{
    const struct tg_snapshot *s;

    for (size_t k = 0; k < TG_ARRAY_SIZE(kinds); k++)
        for (size_t i = 0; (s = tg_cluster_nth(bench->cluster, kinds[k].kind, i)) != NULL; i++)
            if (tg_json_get(s->tree, "apiVersion") != NULL)
                tg_buf_printf(out, "---\n%s\n", s->text);
            else
                tg_buf_printf(out, "---\n{\"apiVersion\":\"%s\",\"kind\":\"%s\",%s\n",
                              kinds[k].api_version, kinds[k].name, s->text + 1);
}

struct paper {
    struct tg_arena *arena;
    struct tg_problems problems;
    struct tg_documents documents;
    struct tg_world world;
    struct tg_simulation simulation;
};

static void simulate(struct bench *bench, struct paper *paper)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT((size_t)8 << 20);
    struct tg_error err = TG_ERROR_INIT;

    paper->arena = tg_arena_new(MEMORY);
    tg_problems_init(&paper->problems, paper->arena);
    tg_documents_init(&paper->documents, paper->arena);
    tg_world_init(&paper->world, paper->arena, &paper->problems, "2026-01-01T00:00:00Z");
    write_cluster(bench, &text);
    tg_documents_parse(&paper->documents, "cluster", tg_buf_str(&text), text.len, &paper->problems);
    tg_world_add(&paper->world, &paper->documents);
    tg_world_finish(&paper->world);
    tg_problems_print(&paper->problems, stderr);
    assert_int_equal(paper->problems.n, 0);
    assert_int_equal(tg_simulate(&paper->world, bench->clock.wall_now, &paper->simulation, &err),
                     0);
}

static void paper_done(struct paper *paper)
{
    tg_world_done(&paper->world);
    tg_documents_done(&paper->documents);
    tg_problems_done(&paper->problems);
    tg_arena_free(paper->arena);
}

/* --- comparing ------------------------------------------------------------------------------- */

static void same_claim(struct bench *bench, const struct tg_plan *plan,
                       const struct tg_plan_member *member, const struct tg_plan_claim *planned)
{
    const struct tg_snapshot *s = tg_cluster_get(bench->cluster, TG_VIEW_CLAIM, NS, planned->name);
    const struct tg_resource_claim *claim = (const void *)s->object;
    const struct tg_allocation_device *results;
    size_t n = 0;

    if (!tg_claim_allocated(claim))
        bench_fail(bench, "%s is placed on paper and not allocated", planned->name);
    assert_string_equal(tg_claim_node(claim), member->node);
    results = claim->status->allocation->devices->results.items;
    for (size_t i = 0; i < planned->results.n; i++)
        for (size_t k = 0; k < planned->results.items[i].devices.n; k++, n++) {
            assert_string_equal(results[n].device, planned->results.items[i].devices.items[k]);
            assert_string_equal(results[n].pool,
                                tg_plan_result_pool(member, &planned->results.items[i]));
            assert_string_equal(results[n].driver,
                                tg_plan_result_driver(plan, &planned->results.items[i]));
        }
    assert_int_equal(n, claim->status->allocation->devices->results.n);
}

static void same_plan(struct bench *bench, const struct tg_plan *plan)
{
    for (size_t i = 0; i < plan->members.n; i++)
        for (size_t k = 0; k < plan->members.items[i].claims.n; k++)
            same_claim(bench, plan, &plan->members.items[i],
                       &plan->members.items[i].claims.items[k]);
}

static void compare(struct bench *bench, const struct paper *paper)
{
    for (size_t i = 0; i < paper->simulation.n; i++) {
        const struct tg_outcome *o = &paper->simulation.items[i];
        const struct tg_unit_member *first = &o->unit->members[0];

        if (o->plan != NULL) {
            same_plan(bench, o->plan);
            continue;
        }
        assert_false(o->standing);
        if (first->n_claims > 0)
            assert_null(((const struct tg_resource_claim *)(const void *)tg_cluster_get(
                             bench->cluster, TG_VIEW_CLAIM, NS, first->claims[0]->metadata->name)
                             ->object)
                            ->status);
    }
}

/* --- scenes ---------------------------------------------------------------------------------- */

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1103515245U + 12345U;
    return *seed >> 16;
}

/* More than fits, so that some wait. */
static void make_gangs(struct bench *bench, unsigned *seed)
{
    for (unsigned i = 0, n = 2 + next(seed) % 5; i < n; i++) {
        char name[16];
        int size = 1 + (int)(next(seed) % 5);

        snprintf(name, sizeof(name), "g%u", i);
        bench_gang(bench, name, size, (size_t)size - (next(seed) % 6 == 0));
    }
}

static void make_pods(struct bench *bench, unsigned *seed)
{
    for (unsigned i = 0, n = 2 + next(seed) % 8; i < n; i++) {
        char name[16];

        snprintf(name, sizeof(name), "p%u", i);
        bench_pod(bench, name, 1 + next(seed) % 2, 1 + next(seed) % 2, NULL);
    }
}

static void play(void (*make)(struct bench *bench, unsigned *seed), unsigned seed)
{
    struct bench *bench = bench_new();
    struct paper paper;

    bench_fleet(bench, 2 + next(&seed) % 5);
    make(bench, &seed);
    simulate(bench, &paper);
    bench->no_scheduler = true;
    bench_settle(bench, 0);
    compare(bench, &paper);
    paper_done(&paper);
    bench_free(bench);
}

static void gangs_go_where_the_controller_puts_them(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++)
        play(make_gangs, seed);
}

static void pods_go_where_the_controller_puts_them(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++)
        play(make_pods, seed);
}

/* Half way through its writes the controller goes on; on paper everything has its place. */
static void what_is_being_carried_out_is_taken(void **state)
{
    struct bench *bench = bench_new();
    struct paper paper;

    (void)state;
    bench_fleet(bench, 3);
    bench_gang(bench, "first", 4, 4);
    bench->no_scheduler = true;
    for (size_t step = 0; step < 12; step++) {
        size_t standing;

        bench_run(bench, 1);
        simulate(bench, &paper);
        standing = paper.simulation.standing + paper.simulation.placed;
        assert_int_equal(standing, 1);
        assert_int_equal(paper.simulation.waiting, 0);
        paper_done(&paper);
    }
    /* Two of six cards are left: a gang of three waits, one of two does not. */
    bench_gang(bench, "second", 3, 3);
    bench_gang(bench, "third", 2, 2);
    simulate(bench, &paper);
    assert_int_equal(paper.simulation.waiting, 1);
    assert_int_equal(paper.simulation.placed, 1);
    bench_settle(bench, 0);
    compare(bench, &(struct paper){.simulation = {.items = NULL}});
    assert_int_equal(bench_allocated(bench), 6);
    paper_done(&paper);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gangs_go_where_the_controller_puts_them),
        cmocka_unit_test(pods_go_where_the_controller_puts_them),
        cmocka_unit_test(what_is_being_carried_out_is_taken),
    };

    return cmocka_run_group_tests_name("fidelity", tests, NULL, NULL);
}
