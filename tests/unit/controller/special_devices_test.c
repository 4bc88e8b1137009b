/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of which it is not enough to know who holds them, through whole courses: partitions over
 * shared counters, shares, admin access, binding conditions. Whatever is written is judged by the
 * checker, as the API server has it. */
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/audit/audit.h"
#include "controller/core/check/check.h"
#include "tests/unit/controller/invariants.h"
#include "tests/unit/controller/one.h"

#define MINUTE (60 * TG_SECOND)
#define SELECTOR(type)                                                                             \
    "{'name':'r','exactly':{'deviceClassName':'gpu','selectors':[{'cel':{'expression':"            \
    "'device.attributes[\\\"" DRIVER "\\\"].type == \\\"" type "\\\"'}}]}}"
#define HALF SELECTOR("half")
#define CARD SELECTOR("card")
#define SHARE                                                                                      \
    "{'name':'r','exactly':{'deviceClassName':'gpu','capacity':{'requests':{'memory':'3500Mi'}}}}"
#define WATCH "{'name':'r','exactly':{'deviceClassName':'gpu','adminAccess':true}}"
#define HALF_DEVICE(i, set)                                                                        \
    "{'name':'half-" #i "','attributes':{'type':{'string':'half'}}," TAKES(set)
#define TAKES(counters) "'consumesCounters':[{'counterSet':'c','counters':{" counters "}}]}"
#define ONE(name) "'" name "':{'value':'1'}"

static struct bench *node_of(const char *devices, const char *counters)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, 1);
    tg_cluster_delete(bench->cluster, TG_VIEW_SLICE, NULL, "n1");
    tg_cluster_create(bench->cluster, TG_VIEW_SLICE,
                      "{'metadata':{'name':'devices'},'spec':{'driver':'" DRIVER
                      "','nodeName':'n1','pool':{'name':'n1','generation':1,"
                      "'resourceSliceCount':%d},'devices':[%s]}}",
                      counters == NULL ? 1 : 2, devices);
    if (counters != NULL)
        tg_cluster_create(bench->cluster, TG_VIEW_SLICE,
                          "{'metadata':{'name':'counters'},'spec':{'driver':'" DRIVER
                          "','nodeName':'n1','pool':{'name':'n1','generation':1,"
                          "'resourceSliceCount':2},'sharedCounters':[{'name':'c','counters':{%s}}]}"
                          "}",
                          counters);
    return bench;
}

static struct bench *partitioned_card(void)
{
    return node_of(
        "{'name':'card','attributes':{'type':{'string':'card'}}," TAKES(
            ONE("m0") "," ONE("m1")) "," HALF_DEVICE(0, ONE("m0")) "," HALF_DEVICE(1, ONE("m1")),
        ONE("m0") "," ONE("m1"));
}

static struct bench *shared_card(void)
{
    return node_of("{'name':'d','allowMultipleAllocations':true,'capacity':{'memory':{'value':"
                   "'10Gi','requestPolicy':{'default':'1Gi','validRange':{'min':'1Gi','step':'1Gi'}"
                   "}},'slots':{'value':'8','requestPolicy':{'default':'1'}}}}",
                   NULL);
}

static void ask(struct bench *bench, const char *claim, const char *request)
{
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, claim,
                      "{'spec':{'devices':{'requests':[%s]}}}", request);
}

static void add_pod(struct bench *bench, const char *name, const char *request)
{
    char claim[64];

    bench_pod(bench, name, 1, 1, NULL);
    snprintf(claim, sizeof(claim), "%s-0", name);
    ask(bench, claim, request);
}

static const struct tg_resource_claim *claim_of(struct bench *bench, const char *name)
{
    return (const void *)tg_cluster_get(bench->cluster, TG_VIEW_CLAIM, NS, name)->object;
}

static const struct tg_allocation_device *result_of(struct bench *bench, const char *claim)
{
    const struct tg_resource_claim *c = claim_of(bench, claim);

    if (!tg_claim_allocated(c))
        fail_msg("%s is not allocated: %s", claim, bench_dump(bench));
    return &c->status->allocation->devices->results.items[0];
}

/* What the others hold, for the checker. */
static size_t others(const struct tg_view *view, const struct tg_resource_claim *claim,
                     struct tg_arena *arena, struct tg_check_held *held,
                     struct tg_check_consumed *consumed, size_t *ret_consumed)
{
    const struct tg_view_list *claims = &view->lists[TG_VIEW_CLAIM];
    size_t n = 0;

    for (size_t i = 0; i < claims->n; i++) {
        const struct tg_resource_claim *c = claims->items[i];
        const struct tg_allocation_device *r;
        struct tg_json *amounts = NULL;

        if (c == claim || !tg_claim_allocated(c))
            continue;
        r = &c->status->allocation->devices->results.items[0];
        if (r->admin_access.value)
            continue;
        held[n++] = (struct tg_check_held){r->driver, r->pool, r->device, r->share_id};
        if (r->consumed_capacity == NULL)
            continue;
        assert_int_equal(tg_json_parse(r->consumed_capacity, strlen(r->consumed_capacity), arena,
                                       &amounts, NULL),
                         0);
        for (size_t k = 0; k < amounts->n; k++)
            consumed[(*ret_consumed)++] = (struct tg_check_consumed){
                r->driver, r->pool, r->device, amounts->keys[k], amounts->items[k]->text};
    }
    return n;
}

static void check_claim(const struct tg_view *view, const struct tg_resource_claim *claim,
                        struct tg_arena *arena)
{
    struct tg_check_held held[16];
    struct tg_check_consumed consumed[32];
    struct tg_error err = TG_ERROR_INIT;
    size_t n_consumed = 0;
    size_t n_held = others(view, claim, arena, held, consumed, &n_consumed);
    const struct tg_check_claim judged = {.claim = claim};
    const struct tg_check_input input = {
        .node = tg_view_get(view, TG_VIEW_NODE, NULL, "n1"),
        .classes = (const struct tg_device_class *const *)view->lists[TG_VIEW_CLASS].items,
        .n_classes = view->lists[TG_VIEW_CLASS].n,
        .slices = (const struct tg_resource_slice *const *)view->lists[TG_VIEW_SLICE].items,
        .n_slices = view->lists[TG_VIEW_SLICE].n,
        .held = held,
        .n_held = n_held,
        .consumed = consumed,
        .n_consumed = n_consumed,
        .features = TG_CHECK_ALL_FEATURES,
        .minor = TG_CHECK_NEWEST_MINOR,
        .claims = &judged,
        .n_claims = 1,
        .devices_only = true,
    };
    struct tg_check_input copies = input;

    if (tg_check_allocation(&input, arena, &err) < 0)
        fail_msg("%s: %s", claim->metadata->name, err.message);
    /* Config has our marker besides, which the built-in allocator does not write; all else is told
     * of before it. */
    copies.devices_only = false;
    if (tg_check_allocation(&copies, arena, &err) < 0 && strcmp(err.reason, "Config") != 0)
        fail_msg("%s: %s", claim->metadata->name, err.message);
}

/* Everything that is allocated is allowed, beside all the rest. */
static void check_all(struct bench *bench)
{
    struct tg_findings findings;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_view view;

    tg_view_init(&view);
    tg_cluster_relist(bench->cluster);
    tg_cluster_fill_view(bench->cluster, bench->rotate, &view);
    for (size_t i = 0; i < view.lists[TG_VIEW_CLAIM].n; i++) {
        if (tg_claim_allocated(view.lists[TG_VIEW_CLAIM].items[i]))
            check_claim(&view, view.lists[TG_VIEW_CLAIM].items[i], bench->arena);
    }
    assert_int_equal(tg_audit(&view, "default", bench->arena, &findings, &err), 0);
    if (findings.n > 0)
        fail_msg("%s: %s", findings.items[0].about->name, findings.items[0].text);
    tg_view_done(&view);
}

static void partitions_go_to_as_many_pods_as_the_counters_allow(void **state)
{
    struct bench *bench = partitioned_card();

    (void)state;
    add_pod(bench, "a", HALF);
    add_pod(bench, "b", CARD);
    add_pod(bench, "c", HALF);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 2);
    assert_string_equal(result_of(bench, "a-0")->device, "half-0");
    assert_string_equal(result_of(bench, "c-0")->device, "half-1");
    assert_non_null(strstr(bench_told(bench, "claim/ns/b-0"), "InsufficientDevices"));
    assert_non_null(strstr(bench_told(bench, "claim/ns/b-0"), "held by claim ns/a-0"));
    check_all(bench);
    /* What one of them gives back is not enough for the whole card, that of both is. */
    bench_delete_pod(bench, "a");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 1);
    bench_delete_pod(bench, "c");
    bench_settle(bench, MINUTE);
    assert_string_equal(result_of(bench, "b-0")->device, "card");
    check_all(bench);
    bench_free(bench);
}

/* As a server of 1.34 with its alpha feature keeps them: each card in a slice with its counters,
 * which have the same names on each. */
static void counters_beside_their_devices_are_kept_to(void **state)
{
    static const char slice[] =
        "{'metadata':{'name':'%s'},'spec':{'driver':'" DRIVER
        "','nodeName':'n1','pool':{'name':'n1','generation':1,'resourceSliceCount':2},"
        "'sharedCounters':[{'name':'c','counters':{" ONE(
            "m0") "}}],'devices':["
                  "{'name':'%s','attributes':{'type':{'string':'half'}}," TAKES(
                      ONE("m0")) ","
                                 "{'name':'%s','attributes':{'type':{'string':'half'}}," TAKES(
                                     ONE("m0")) "]}}";
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 1);
    tg_cluster_delete(bench->cluster, TG_VIEW_SLICE, NULL, "n1");
    tg_cluster_create(bench->cluster, TG_VIEW_SLICE, slice, "one", "one-a", "one-b");
    tg_cluster_create(bench->cluster, TG_VIEW_SLICE, slice, "two", "two-a", "two-b");
    add_pod(bench, "a", HALF);
    add_pod(bench, "b", HALF);
    add_pod(bench, "c", HALF);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 2);
    assert_int_not_equal(
        strncmp(result_of(bench, "a-0")->device, result_of(bench, "b-0")->device, 3), 0);
    check_all(bench);
    bench_delete_pod(bench, "a");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 2);
    check_all(bench);
    bench_free(bench);
}

static void shares_carry_what_they_take_and_give_it_back(void **state)
{
    struct bench *bench = shared_card();
    const struct tg_allocation_device *a, *b;

    (void)state;
    add_pod(bench, "a", SHARE);
    add_pod(bench, "b", SHARE);
    add_pod(bench, "c", SHARE);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 2);
    a = result_of(bench, "a-0");
    b = result_of(bench, "b-0");
    assert_string_equal(a->consumed_capacity, "{\"memory\":\"4Gi\",\"slots\":\"1\"}");
    assert_int_equal(strlen(a->share_id), 36);
    assert_string_not_equal(a->share_id, b->share_id);
    assert_non_null(strstr(bench_told(bench, "claim/ns/c-0"), "InsufficientDevices"));
    check_all(bench);
    bench_delete_pod(bench, "b");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 2);
    assert_string_equal(result_of(bench, "c-0")->device, "d");
    check_all(bench);
    bench_free(bench);
}

/* Two claims of one pod: their record is the pod's annotation. */
static void a_pod_shares_a_device_with_itself(void **state)
{
    struct bench *bench = shared_card();

    (void)state;
    bench_pod(bench, "p", 2, 1, NULL);
    ask(bench, "p-0", SHARE);
    ask(bench, "p-1", SHARE);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 1);
    assert_string_not_equal(result_of(bench, "p-0")->share_id, result_of(bench, "p-1")->share_id);
    check_all(bench);
    bench_free(bench);
}

/* After any number of writes the leader dies: the next one writes what the plan says. */
static void a_gang_of_shares_survives_a_crash_at_any_write(void **state)
{
    (void)state;
    for (size_t n = 0; n < 12; n++) {
        struct bench *bench = shared_card();

        bench_gang(bench, "g", 2, 2);
        ask(bench, "g-0-0", SHARE);
        ask(bench, "g-1-0", SHARE);
        bench_run(bench, n);
        bench_crash(bench);
        bench_settle(bench, MINUTE);
        assert_int_equal(bench_bound(bench), 2);
        assert_string_not_equal(result_of(bench, "g-0-0")->share_id,
                                result_of(bench, "g-1-0")->share_id);
        check_all(bench);
        bench_free(bench);
    }
}

static void a_gang_of_partitions_gets_all_or_none(void **state)
{
    struct bench *bench = partitioned_card();

    (void)state;
    add_pod(bench, "a", HALF);
    bench_settle(bench, 0);
    bench_gang(bench, "g", 2, 2);
    ask(bench, "g-0-0", HALF);
    ask(bench, "g-1-0", HALF);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 1);
    assert_int_equal(bench_allocated(bench), 1);
    bench_delete_pod(bench, "a");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 2);
    check_all(bench);
    bench_free(bench);
}

static void admin_access_takes_nothing_from_anybody(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "user", 1, 2, NULL);
    bench_settle(bench, MINUTE);
    add_pod(bench, "watcher", WATCH);
    add_pod(bench, "other", WATCH);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    assert_true(result_of(bench, "watcher-0")->admin_access.value);
    assert_false(result_of(bench, "user-0")->admin_access.set);
    bench_delete_pod(bench, "user");
    bench_settle(bench, MINUTE);
    bench_pod(bench, "next", 1, 2, NULL);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    check_all(bench);
    bench_free(bench);
}

static void conditions_that_a_binding_waits_for_are_copied(void **state)
{
    struct bench *bench = node_of("{'name':'d','bindingConditions':['x/ready'],"
                                  "'bindingFailureConditions':['x/failed']}",
                                  NULL);
    const struct tg_allocation_device *r;

    (void)state;
    add_pod(bench, "p", "{'name':'r','exactly':{'deviceClassName':'gpu'}}");
    bench_settle(bench, MINUTE);
    r = result_of(bench, "p-0");
    assert_int_equal(r->binding_conditions.n, 1);
    assert_string_equal(r->binding_conditions.items[0], "x/ready");
    assert_string_equal(r->binding_failure_conditions.items[0], "x/failed");
    check_all(bench);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitions_go_to_as_many_pods_as_the_counters_allow),
        cmocka_unit_test(counters_beside_their_devices_are_kept_to),
        cmocka_unit_test(shares_carry_what_they_take_and_give_it_back),
        cmocka_unit_test(a_pod_shares_a_device_with_itself),
        cmocka_unit_test(a_gang_of_shares_survives_a_crash_at_any_write),
        cmocka_unit_test(a_gang_of_partitions_gets_all_or_none),
        cmocka_unit_test(admin_access_takes_nothing_from_anybody),
        cmocka_unit_test(conditions_that_a_binding_waits_for_are_copied),
    };

    return cmocka_run_group_tests_name("special_devices", tests, NULL, NULL);
}
