/* SPDX-License-Identifier: Apache-2.0 */
/* When what waits is explained anew: at another reason or other members at once, else now and then.
 */
#include "tests/unit/controller_io/fixture.h"

struct waiting { /* a pod without claims, which the fleet has no room for */
    struct tg_object_meta meta;
    struct tg_pod_spec spec;
    struct tg_pod pod;
    const struct tg_pod *pods[1];
    struct tg_piece piece;
    struct tg_unit_member member;
    struct tg_unit unit;
    struct tg_no_place hint;
    struct tg_search search;
    struct tg_view view;
    struct tg_arena *arena;
};

static void wait_for_room(struct waiting *w)
{
    *w = (struct waiting){.meta = {.namespace_ = "ns", .name = "p", .uid = "one"},
                          .arena = tg_arena_new((size_t)64 << 20)};
    w->pod = (struct tg_pod){.metadata = &w->meta, .spec = &w->spec};
    w->pods[0] = &w->pod;
    w->piece = (struct tg_piece){.pods = w->pods, .n_pods = 1};
    w->member = (struct tg_unit_member){.pod = &w->pod};
    w->unit = (struct tg_unit){.key = "pod/ns/p", .members = &w->member, .n_members = 1};
    w->hint = (struct tg_no_place){.reason = "NodesUnavailable", .text = "one"};
    w->search.request = (struct tg_place_request){.pieces = &w->piece, .n_pieces = 1};
    w->search.no_place = &w->hint;
    tg_view_init(&w->view);
}

static void done(struct waiting *w)
{
    tg_view_done(&w->view);
    tg_arena_free(w->arena);
}

static void expect(struct fixture *f, struct waiting *w, const char *text)
{
    struct tg_decision decision = {.reason = "short", .text = "short"};

    tg_controller_explain(f->controller, &w->view, f->state, &w->unit, &w->search, w->arena,
                          &decision);
    assert_string_equal(decision.reason, "NodesUnavailable");
    assert_string_equal(decision.text, text);
}

/* The fleet has one node more, which is cordoned. */
static void add_node(struct fixture *f, const char *name)
{
    struct tg_object_meta meta = {.name = name};
    struct tg_condition ready = {.type = "Ready", .status = "True"};
    struct tg_node_spec spec = {.unschedulable = {true, true}};
    struct tg_node_status status = {.conditions = {.items = &ready, .n = 1}};
    const struct tg_node node = {.metadata = &meta, .spec = &spec, .status = &status};

    tg_fleet_put(f->controller->fleet, TG_FLEET_NODE, &node);
    tg_fleet_settle(f->controller->fleet);
}

#define ONE "no node can take the pod (1 node: 1 cordoned). Nearly: 1 more node once uncordoned"
#define TWO "no node can take the pod (2 nodes: 2 cordoned). Nearly: 2 more nodes once uncordoned"

static void numbers_alone_are_told_anew_now_and_then(void **state)
{
    struct fixture *f = *state;
    struct waiting w;

    fixture_start(f, "");
    fixture_freeze(f, 14 * TG_SECOND);
    wait_for_room(&w);
    add_node(f, "a");
    expect(f, &w, ONE);
    add_node(f, "b");
    w.hint.text = "two";
    tg_fake_clock_advance(&f->clock, 10 * TG_SECOND - 1);
    expect(f, &w, ONE);
    tg_fake_clock_advance(&f->clock, 1);
    expect(f, &w, TWO);
    done(&w);
}

static void another_reason_or_another_member_is_told_at_once(void **state)
{
    struct fixture *f = *state;
    struct waiting w;

    fixture_start(f, "");
    fixture_freeze(f, 14 * TG_SECOND);
    wait_for_room(&w);
    expect(f, &w, "there are no nodes");
    add_node(f, "a");
    w.hint.reason = "InsufficientDevices";
    expect(f, &w, ONE);
    add_node(f, "b");
    w.meta.uid = "another";
    expect(f, &w, TWO);
    done(&w);
}

static void while_the_search_says_the_same_nothing_is_explained(void **state)
{
    struct fixture *f = *state;
    struct waiting w;

    fixture_start(f, "");
    fixture_freeze(f, 14 * TG_SECOND);
    wait_for_room(&w);
    expect(f, &w, "there are no nodes");
    add_node(f, "a");
    tg_fake_clock_advance(&f->clock, 60 * TG_SECOND);
    expect(f, &w, "there are no nodes");
    done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_alone_are_told_anew_now_and_then, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(another_reason_or_another_member_is_told_at_once,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(while_the_search_says_the_same_nothing_is_explained,
                                        fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
