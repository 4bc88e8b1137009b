/* SPDX-License-Identifier: Apache-2.0 */
#include "api/mig/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"

static const struct tg_card *card_of(const char *product)
{
    const struct tg_card *card = tg_card_find(product);
    assert_non_null(card);
    return card;
}

static struct tg_layout_instance at(const struct tg_card *card, const char *profile, uint8_t start)
{
    struct tg_layout_instance one = {.profile = tg_card_profile(card, profile), .start = start};
    assert_non_null(one.profile);
    return one;
}

/* All placements of a card that the count is taken over: no media or graphics variants; optionally
 * without the 1g of double memory, which older drivers lack. */
struct placements {
    struct tg_layout_instance items[32];
    size_t n;
};

static struct placements plain_placements(const struct tg_card *card, bool with_double_memory)
{
    struct placements all = {.n = 0};
    for (size_t p = 0; p < card->n_profiles; p++) {
        const struct tg_card_profile *profile = &card->profiles[p];
        bool double_memory =
            card->memory_slices == 8 && profile->compute_slices == 1 && profile->memory_slices == 2;
        if (profile->media != TG_CARD_MEDIA_SHARE || profile->graphics ||
            (double_memory && !with_double_memory))
            continue;
        for (uint8_t start = 0; start < 8; start++) {
            if ((profile->starts >> start) & 1)
                all.items[all.n++] =
                    (struct tg_layout_instance){.profile = profile, .start = start};
        }
    }
    return all;
}

struct counts {
    size_t legal, maximal;
};

static bool is_maximal(const struct tg_card *card, const struct placements *all,
                       struct tg_layout_instance *chosen, size_t n)
{
    if (n == TG_LAYOUT_MAX)
        return true;
    for (size_t i = 0; i < all->n; i++) {
        chosen[n] = all->items[i];
        if (tg_layout_check(card, chosen, n + 1, NULL) == 0)
            return false;
    }
    return true;
}

/* Every subset of the placements, each once: from `next` on a placement is in or out. */
static void count_layouts(const struct tg_card *card, const struct placements *all, size_t next,
                          struct tg_layout_instance *chosen, size_t n, struct counts *counts)
{
    counts->legal++;
    counts->maximal += is_maximal(card, all, chosen, n);
    for (size_t i = next; i < all->n; i++) {
        chosen[n] = all->items[i];
        if (tg_layout_check(card, chosen, n + 1, NULL) == 0)
            count_layouts(card, all, i + 1, chosen, n + 1, counts);
    }
}

static struct counts count(const char *product, bool with_double_memory)
{
    const struct tg_card *card = card_of(product);
    struct placements all = plain_placements(card, with_double_memory);
    struct tg_layout_instance chosen[TG_LAYOUT_MAX + 1];
    struct counts counts = {0};
    count_layouts(card, &all, 0, chosen, 0, &counts);
    return counts;
}

static void a_card_of_8_slices_has_723_legal_layouts_and_78_maximal_ones(void **state)
{
    (void)state;
    static const char *const products[] = {"NVIDIA A100-SXM4-40GB",
                                           "NVIDIA A100 80GB PCIe",
                                           "NVIDIA H100 80GB HBM3",
                                           "NVIDIA H200",
                                           "NVIDIA B200",
                                           "NVIDIA GB300",
                                           "NVIDIA H20"};
    for (size_t i = 0; i < TG_ARRAY_SIZE(products); i++) {
        struct counts counts = count(products[i], true);
        assert_int_equal(counts.legal, 723);
        assert_int_equal(counts.maximal, 78);
    }
}

static void the_classic_profiles_have_298_legal_layouts_and_the_19_that_nvidia_lists(void **state)
{
    (void)state;
    struct counts counts = count("NVIDIA A100-SXM4-40GB", false);
    assert_int_equal(counts.legal, 298);
    assert_int_equal(counts.maximal, 19);
}

static void a_card_of_4_slices_has_26_legal_layouts_and_5_maximal_ones(void **state)
{
    (void)state;
    static const char *const products[] = {"NVIDIA A30",
                                           "NVIDIA RTX PRO 6000 Blackwell Server Edition"};
    for (size_t i = 0; i < TG_ARRAY_SIZE(products); i++) {
        struct counts counts = count(products[i], true);
        assert_int_equal(counts.legal, 26);
        assert_int_equal(counts.maximal, 5);
    }
}

static void a_card_of_2_slices_has_5_legal_layouts_and_2_maximal_ones(void **state)
{
    (void)state;
    struct counts counts = count("NVIDIA RTX PRO 5000 Blackwell", true);
    assert_int_equal(counts.legal, 5);
    assert_int_equal(counts.maximal, 2);
}

static void order_does_not_matter(void **state)
{
    (void)state;
    const struct tg_card *card = card_of("NVIDIA A100-SXM4-40GB");
    struct tg_layout_instance forth[] = {at(card, "1g.5gb", 6), at(card, "2g.10gb", 4),
                                         at(card, "4g.20gb", 0)};
    struct tg_layout_instance back[] = {forth[2], forth[1], forth[0]};
    assert_int_equal(tg_layout_check(card, forth, 3, NULL), 0);
    assert_int_equal(tg_layout_check(card, back, 3, NULL), 0);
}

static void a_3g_in_the_lower_half_kills_the_4g(void **state)
{
    (void)state;
    const struct tg_card *card = card_of("NVIDIA H100 80GB HBM3");
    struct tg_layout_instance low[] = {at(card, "3g.40gb", 0), at(card, "4g.40gb", 0)};
    struct tg_layout_instance high[] = {at(card, "3g.40gb", 4), at(card, "4g.40gb", 0)};
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_layout_check(card, low, 2, &err), -TG_FAILED_PRECONDITION);
    assert_string_equal(err.message, "3g.40gb at 0 and 4g.40gb at 0 overlap");
    assert_int_equal(tg_layout_check(card, high, 2, NULL), 0);
}

static void a_start_that_the_profile_does_not_have_is_refused(void **state)
{
    (void)state;
    const struct tg_card *card = card_of("NVIDIA H100 80GB HBM3");
    struct tg_layout_instance odd = at(card, "2g.20gb", 6);
    struct tg_layout_instance far = at(card, "1g.10gb", 8);
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_layout_check(card, &odd, 1, &err), -TG_INVALID_ARGUMENT);
    assert_string_equal(err.message, "profile 2g.20gb cannot start at memory slice 6 of h100-80gb");
    assert_int_equal(tg_layout_check(card, &far, 1, NULL), -TG_INVALID_ARGUMENT);
}

static void a_profile_of_another_card_is_refused(void **state)
{
    (void)state;
    struct tg_layout_instance foreign = at(card_of("NVIDIA A100 80GB PCIe"), "7g.80gb", 0);
    assert_int_equal(tg_layout_check(card_of("NVIDIA H100 80GB HBM3"), &foreign, 1, NULL),
                     -TG_INVALID_ARGUMENT);
}

static void a_profile_with_media_engines_exists_once(void **state)
{
    (void)state;
    const struct tg_card *card = card_of("NVIDIA A100-SXM4-40GB");
    struct tg_layout_instance two[] = {at(card, "1g.5gb+me", 0), at(card, "1g.5gb+me", 1)};
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_layout_check(card, two, 2, &err), -TG_FAILED_PRECONDITION);
    assert_string_equal(err.message, "2 instances of 1g.5gb+me: a100-40gb takes at most 1");
}

static void an_instance_with_all_media_engines_leaves_only_ones_without(void **state)
{
    (void)state;
    const struct tg_card *card = card_of("NVIDIA RTX PRO 6000 Blackwell Server Edition");
    struct tg_layout_instance with[] = {at(card, "1g.24gb+me.all", 0), at(card, "1g.24gb", 1)};
    struct tg_layout_instance without[] = {at(card, "1g.24gb+me.all", 0), at(card, "1g.24gb-me", 1),
                                           at(card, "2g.48gb-me", 2)};
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_layout_check(card, with, 2, &err), -TG_FAILED_PRECONDITION);
    assert_non_null(strstr(err.message, "engines"));
    assert_int_equal(tg_layout_check(card, without, 3, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest layout[] = {
        cmocka_unit_test(a_card_of_8_slices_has_723_legal_layouts_and_78_maximal_ones),
        cmocka_unit_test(the_classic_profiles_have_298_legal_layouts_and_the_19_that_nvidia_lists),
        cmocka_unit_test(a_card_of_4_slices_has_26_legal_layouts_and_5_maximal_ones),
        cmocka_unit_test(a_card_of_2_slices_has_5_legal_layouts_and_2_maximal_ones),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(a_3g_in_the_lower_half_kills_the_4g),
        cmocka_unit_test(a_start_that_the_profile_does_not_have_is_refused),
        cmocka_unit_test(a_profile_of_another_card_is_refused),
        cmocka_unit_test(a_profile_with_media_engines_exists_once),
        cmocka_unit_test(an_instance_with_all_media_engines_leaves_only_ones_without),
    };
    return cmocka_run_group_tests(layout, NULL, NULL);
}
