/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/error.h"
#include "controller/core/defrag/slice.h"
#include "tests/unit/core/packing.h"

static struct tg_partition a100, rtx;

static int setup(void **state)
{
    (void)state;
    assert_int_equal(tg_partition_init(&a100, tg_card_find("NVIDIA A100-SXM4-80GB")), 0);
    assert_int_equal(
        tg_partition_init(&rtx,
                          tg_card_find("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition")),
        0);
    return 0;
}

static void one_move_makes_room(void **state)
{
    /* Two cards with 1g in the way of a 4g each. */
    uint8_t masks[] = {0x1, 0x4};
    const struct tg_partition_instance instances[] = {{.card = 0}, {.card = 1, .start = 2}};
    struct tg_slice_move move;

    (void)state;
    assert_true(tg_slice_plan(&rtx, masks, 2, instances, 2, 2, &move));
    assert_int_not_equal(move.to_card, move.card);
    assert_int_equal(instances[move.instance].card, move.card);
    assert_int_equal(move.start, 0);
    assert_int_equal(masks[0], 0x1); /* as they were */
    assert_int_equal(masks[1], 0x4);
    assert_false(tg_slice_plan(&rtx, masks, 1, instances, 1, 2, &move));
}

static void what_is_pinned_stays(void **state)
{
    uint8_t masks[] = {0x1, 0x4};
    struct tg_partition_instance instances[] = {{.card = 0, .pinned = true},
                                                {.card = 1, .start = 2}};
    struct tg_slice_move move;

    (void)state;
    assert_true(tg_slice_plan(&rtx, masks, 2, instances, 2, 2, &move));
    assert_int_equal(move.instance, 1);
    instances[1].pinned = true;
    assert_false(tg_slice_plan(&rtx, masks, 2, instances, 2, 2, &move));
}

/* --- random cards, every move tried ----------------------------------------------------------- */

enum { CARDS = 3, INSTANCES_MAX = CARDS * 8 };

struct scene {
    uint8_t masks[CARDS];
    struct tg_partition_instance instances[INSTANCES_MAX];
    unsigned n;
};

static int total(const struct scene *scene)
{
    int sum = 0;

    for (unsigned i = 0; i < CARDS; i++)
        sum += a100.value[scene->masks[i]];
    return sum;
}

static void toggle(struct scene *scene, unsigned card, unsigned profile, unsigned start)
{
    scene->masks[card] ^= tg_partition_window(&a100, profile, (uint8_t)start);
}

/* The best sum of values after any one move and the new instance, or -1. */
static int best_by_trial(struct scene scene, unsigned wanted)
{
    int best = -1;

    for (unsigned i = 0; i < scene.n; i++) {
        struct tg_partition_instance old = scene.instances[i];

        if (old.pinned)
            continue;
        toggle(&scene, old.card, old.profile, old.start);
        for (unsigned to = 0; to < CARDS * 8; to++) {
            for (unsigned at = 0; at < 8; at++) {
                uint8_t *home = &scene.masks[to / 8], *card = &scene.masks[old.card];

                if (!tg_partition_open(&a100, *home, old.profile, (uint8_t)(to % 8)))
                    continue;
                toggle(&scene, to / 8, old.profile, to % 8);
                if (tg_partition_open(&a100, *card, wanted, (uint8_t)at)) {
                    toggle(&scene, old.card, wanted, at);
                    best = total(&scene) > best ? total(&scene) : best;
                    toggle(&scene, old.card, wanted, at);
                }
                toggle(&scene, to / 8, old.profile, to % 8);
            }
        }
        toggle(&scene, old.card, old.profile, old.start);
    }
    return best;
}

static void fill(struct scene *scene, uint64_t *random)
{
    *scene = (struct scene){.n = 0};
    for (unsigned tries = 0; tries < 40; tries++) {
        unsigned card, profile, start;

        *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407U;
        card = (unsigned)(*random >> 60) % CARDS;
        profile = (unsigned)(*random >> 50) % 5;
        start = (unsigned)(*random >> 40) % 8;
        if (!tg_partition_open(&a100, scene->masks[card], profile, (uint8_t)start))
            continue;
        toggle(scene, card, profile, start);
        scene->instances[scene->n++] =
            (struct tg_partition_instance){.card = card,
                                           .profile = (uint8_t)profile,
                                           .start = (uint8_t)start,
                                           .pinned = (*random >> 35) % 4 == 0};
    }
}

static void the_move_is_the_best_of_all_that_can_be_tried(void **state)
{
    uint64_t random = 7;
    unsigned found = 0;

    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        struct scene scene;
        struct tg_slice_move move;
        unsigned wanted = round % a100.n, card;
        uint8_t start;
        int best, before;

        fill(&scene, &random);
        if (tg_partition_place(&a100, scene.masks, CARDS, wanted, &card, &start))
            continue; /* no move is needed */
        best = best_by_trial(scene, wanted);
        before = total(&scene);
        assert_int_equal(
            tg_slice_plan(&a100, scene.masks, CARDS, scene.instances, scene.n, wanted, &move),
            best >= 0);
        if (best < 0)
            continue;
        assert_int_equal(move.gain, best - before);
        found++;
    }
    assert_true(found > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_move_makes_room),
        cmocka_unit_test(what_is_pinned_stays),
        cmocka_unit_test(the_move_is_the_best_of_all_that_can_be_tried),
    };

    return cmocka_run_group_tests_name("slice", tests, setup, NULL);
}
