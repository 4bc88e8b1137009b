/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/error.h"
#include "controller/core/pack/partition.h"
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

/* Indexes of plain profiles on a card of eight slices. */
enum { P1G, P1G_DOUBLE, P2G, P3G, P4G, P7G };

static void only_partitionable_cards_have_tables(void **state)
{
    struct tg_partition partition;

    (void)state;
    assert_true(tg_partition_init(&partition, tg_card_find("NVIDIA RTX 4000 SFF Ada Generation")) <
                0);
    assert_int_equal(a100.n, 6);
    assert_int_equal(rtx.n, 3);
    assert_int_equal(tg_partition_profile(&a100, 9), P3G);
    assert_int_equal(tg_partition_profile(&a100, 20), TG_PARTITION_PROFILES_MAX); /* 1g+me */
}

static void small_instances_leave_the_large_places_open(void **state)
{
    uint8_t start = 0;
    int loss = 0;

    (void)state;
    /* 4g can only sit at 0, so the first 3g goes to the upper half, and a 1g beside it. */
    assert_true(tg_partition_start(&a100, 0, P3G, &start, &loss));
    assert_int_equal(start, 4);
    assert_true(tg_partition_start(&a100, 0, P1G, &start, &loss));
    assert_int_equal(start, 6);
    assert_true(tg_partition_start(&a100, 0x40, P1G_DOUBLE, &start, &loss));
    assert_int_equal(start, 4);
    assert_false(tg_partition_start(&a100, 0x01, P7G, &start, &loss));
}

static void a_used_card_is_taken_before_an_empty_one(void **state)
{
    const uint8_t masks[] = {0, 0, 0x3, 0};
    unsigned card = 9;
    uint8_t start = 9;

    (void)state;
    assert_true(tg_partition_place(&rtx, masks, 4, 0, &card, &start));
    assert_int_equal(card, 2);
    assert_int_equal(start, 2);
    assert_true(tg_partition_place(&rtx, masks, 4, 2, &card, &start));
    assert_int_equal(card, 0);
    assert_false(tg_partition_place(&rtx, masks + 2, 1, 2, &card, &start));
}

/* Every multiset of at most `left` more instances, of profile p and larger numbers, tried on two
 * cards by exhaustion: can it be placed? */
static bool place_all(const struct tg_partition *partition, int64_t *counts, uint8_t *masks,
                      unsigned cards)
{
    unsigned p = 0;

    while (p < partition->n && counts[partition->n - 1 - p] == 0)
        p++;
    if (p == partition->n)
        return true;
    p = partition->n - 1 - p;
    counts[p]--;
    for (unsigned card = 0; card < cards; card++) {
        for (uint8_t start = 0; start < 8; start++) {
            uint8_t window = tg_partition_window(partition, p, start), before = masks[card];

            if ((partition->profiles[p]->starts >> start & 1) == 0 || (before & window) != 0)
                continue;
            masks[card] = before | window;
            if (place_all(partition, counts, masks, cards)) {
                masks[card] = before;
                counts[p]++;
                return true;
            }
            masks[card] = before;
        }
    }
    counts[p]++;
    return false;
}

static void check_sets(const struct tg_partition *partition, int64_t *counts, unsigned profile,
                       unsigned left, unsigned *checked)
{
    if (profile == partition->n) {
        uint8_t masks[2] = {0, 0};
        bool holds = false;

        assert_int_equal(tg_partition_holds(partition, counts, 2, &holds), 0);
        if (holds != place_all(partition, counts, masks, 2)) {
            for (unsigned i = 0; i < partition->n; i++)
                print_error("%d of %s\n", (int)counts[i], partition->profiles[i]->name);
            fail_msg("the closed form says %s", holds ? "yes" : "no");
        }
        (*checked)++;
        return;
    }
    for (unsigned i = 0; i <= left; i++) {
        counts[profile] = i;
        check_sets(partition, counts, profile + 1, left - i, checked);
    }
    counts[profile] = 0;
}

static void the_closed_form_is_what_exhaustion_says(void **state)
{
    int64_t counts[TG_PARTITION_PROFILES_MAX] = {0};
    unsigned checked = 0;

    (void)state;
    check_sets(&a100, counts, 0, 7, &checked);
    assert_int_equal(checked, 1716); /* C(7 + 6, 6) */
    checked = 0;
    check_sets(&rtx, counts, 0, 9, &checked);
    assert_int_equal(checked, 220);
}

static void sets_of_an_irregular_card_are_not_judged(void **state)
{
    struct tg_partition odd = a100;
    const int64_t counts[TG_PARTITION_PROFILES_MAX] = {0};
    bool holds;

    (void)state;
    odd.n = 5;
    assert_int_equal(tg_partition_holds(&odd, counts, 1, &holds), -TG_UNIMPLEMENTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_partitionable_cards_have_tables),
        cmocka_unit_test(small_instances_leave_the_large_places_open),
        cmocka_unit_test(a_used_card_is_taken_before_an_empty_one),
        cmocka_unit_test(the_closed_form_is_what_exhaustion_says),
        cmocka_unit_test(sets_of_an_irregular_card_are_not_judged),
    };

    return cmocka_run_group_tests_name("partition", tests, setup, NULL);
}
