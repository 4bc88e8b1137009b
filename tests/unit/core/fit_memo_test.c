/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/memo.h"
#include "tests/unit/core/fit_world.h"

struct notes {
    struct trial t;
    struct tg_fit_order order;
    struct tg_fit_turn items[2];
    struct tg_fit_turns turns;
    struct tg_fit_memo memo;
};

static void open_notes(struct notes *n, const char *more)
{
    char devices[1024];

    trial_init(&n->t);
    add_cards(&n->t, 3);
    trial_open(&n->t);
    snprintf(devices, sizeof(devices),
             "\"requests\":[" REQUEST("a", "2", "%s") "," REQUEST("b", "1", "") "]", more);
    trial_claim(&n->t, devices);
    trial_state(&n->t);
    assert_int_equal(tg_fit_order_init(&n->order, &n->t.state, false, NULL), 0);
    n->items[0] = (struct tg_fit_turn){.claim = 0, .request = 0};
    n->items[1] = (struct tg_fit_turn){.claim = 0, .request = 1};
    n->turns = (struct tg_fit_turns){.items = n->items, .n = 2};
    tg_fit_memo_init(&n->memo, &n->t.state, &n->order, &n->turns);
}

static void take(struct notes *n, const char *device)
{
    assert_int_equal(tg_fit_state_take(&n->t.state, 0, &n->t.claims[0].requests[0].choices[0],
                                       trial_device(&n->t, device)),
                     TG_TAKE_DONE);
}

static bool knows(struct notes *n, const struct tg_fit_place *place)
{
    bool known = false;

    assert_int_equal(tg_fit_memo_knows(&n->memo, place, &known, NULL), 0);
    return known;
}

static void states_that_differ_in_alike_cards_are_one_before_a_request(void **state)
{
    const struct tg_fit_place place = {.turn = 1};
    struct notes n;

    (void)state;
    open_notes(&n, "");
    take(&n, "c0-low");
    assert_false(knows(&n, &place));
    assert_int_equal(tg_fit_memo_add(&n.memo, &place, NULL), 0);
    assert_true(knows(&n, &place));
    tg_fit_state_undo(&n.t.state);
    assert_false(knows(&n, &place));
    take(&n, "c2-low");
    assert_true(knows(&n, &place));
    tg_fit_state_undo(&n.t.state);
    take(&n, "c2-high");
    assert_false(knows(&n, &place));
    tg_fit_memo_clear(&n.memo);
    tg_fit_state_undo(&n.t.state);
    take(&n, "c0-low");
    assert_false(knows(&n, &place));
    trial_done(&n.t);
}

static void within_a_request_it_matters_which_card_it_was(void **state)
{
    struct notes n;

    (void)state;
    open_notes(&n, "");
    {
        const struct tg_fit_place place = {
            .choice = &n.t.claims[0].requests[0].choices[0], .found = 1, .start = 2};

        take(&n, "c0-low");
        assert_int_equal(tg_fit_memo_add(&n.memo, &place, NULL), 0);
        assert_true(knows(&n, &place));
        tg_fit_state_undo(&n.t.state);
        take(&n, "c2-low");
        assert_false(knows(&n, &place));
    }
    trial_done(&n.t);
}

static void with_admin_access_nothing_is_remembered(void **state)
{
    const struct tg_fit_place place = {.turn = 1};
    struct notes n;

    (void)state;
    open_notes(&n, ",\"adminAccess\":true");
    assert_int_equal(tg_fit_memo_add(&n.memo, &place, NULL), 0);
    assert_false(knows(&n, &place));
    trial_done(&n.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_that_differ_in_alike_cards_are_one_before_a_request),
        cmocka_unit_test(within_a_request_it_matters_which_card_it_was),
        cmocka_unit_test(with_admin_access_nothing_is_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
