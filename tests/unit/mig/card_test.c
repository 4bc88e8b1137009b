/* SPDX-License-Identifier: Apache-2.0 */
#include "api/mig/card.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"

static void a_card_is_found_by_each_of_its_product_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < tg_cards_n; i++) {
        assert_true(tg_cards[i].n_product_names > 0);
        for (size_t j = 0; j < tg_cards[i].n_product_names; j++)
            assert_ptr_equal(tg_card_find(tg_cards[i].product_names[j]), &tg_cards[i]);
    }
}

static void a_card_is_found_by_each_of_its_pci_ids(void **state)
{
    (void)state;
    for (size_t i = 0; i < tg_cards_n; i++) {
        for (size_t j = 0; j < tg_cards[i].n_pci_device_ids; j++)
            assert_ptr_equal(tg_card_find_pci(tg_cards[i].pci_device_ids[j]), &tg_cards[i]);
    }
}

static void a_pci_id_that_two_cards_share_finds_neither(void **state)
{
    (void)state;
    assert_null(tg_card_find_pci(0x25b6)); /* A2 and A16 */
    assert_null(tg_card_find_pci(0xffff));
}

static void a_product_name_must_be_exact(void **state)
{
    (void)state;
    assert_null(tg_card_find("nvidia l4"));
    assert_null(tg_card_find("NVIDIA L4 "));
    assert_null(tg_card_find(""));
    assert_null(tg_card_find(NULL));
}

static void cards_without_mig_are_known_too(void **state)
{
    (void)state;
    const struct tg_card *card = tg_card_find("NVIDIA RTX 4000 SFF Ada Generation");
    assert_non_null(card);
    assert_int_equal(card->memory_gib, 20);
    assert_int_equal(card->multiprocessors, 48);
    assert_int_equal(card->memory_slices, 0);
    assert_int_equal(card->n_profiles, 0);
    assert_string_equal(card->architecture, "Ada Lovelace");
    assert_string_equal(card->compute_capability, "8.9");
    assert_ptr_equal(tg_card_find_pci(0x27b0), card);
}

static void a_profile_is_found_by_name_and_by_the_drivers_id(void **state)
{
    (void)state;
    const struct tg_card *card = tg_card_find("NVIDIA H100 80GB HBM3");
    assert_non_null(card);
    const struct tg_card_profile *profile = tg_card_profile(card, "3g.40gb");
    assert_non_null(profile);
    assert_ptr_equal(tg_card_profile_by_id(card, 9), profile);
    assert_int_equal(profile->memory_slices, 4);
    assert_int_equal(profile->compute_slices, 3);
    assert_int_equal(profile->starts, 0x11);
    assert_int_equal(profile->multiprocessors, 60);
    assert_null(tg_card_profile(card, "3g.20gb"));
    assert_null(tg_card_profile_by_id(card, 64));
}

static void an_unknown_profile_id_is_found_by_no_number(void **state)
{
    (void)state;
    const struct tg_card *card = tg_card_find("NVIDIA RTX PRO 4500 Blackwell");
    assert_non_null(card);
    assert_int_equal(card->profiles[0].gi_profile_id, TG_CARD_UNKNOWN);
    assert_null(tg_card_profile_by_id(card, TG_CARD_UNKNOWN));
}

static void what_is_published_of_a_card_fits_an_attribute(void **state)
{
    (void)state;
    for (size_t i = 0; i < tg_cards_n; i++) {
        for (size_t j = 0; j < tg_cards[i].n_product_names; j++)
            assert_in_range(strlen(tg_cards[i].product_names[j]), 1, 64);
        assert_in_range(strlen(tg_cards[i].architecture), 1, 64);
        assert_true(tg_cards[i].memory_gib > 0);
    }
}

static void a_mistyped_name_suggests_the_right_one_first(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        {"RTX 4000 SFF Ada", "NVIDIA RTX 4000 SFF Ada Generation"},
        {"nvidia l4", "NVIDIA L4"},
        {"Nvidia RTX 4000 SSF Ada Generation", "NVIDIA RTX 4000 SFF Ada Generation"},
        {"H100 80GB HBM", "NVIDIA H100 80GB HBM3"},
        {"T4", "Tesla T4"},
    };
    for (size_t i = 0; i < TG_ARRAY_SIZE(rows); i++) {
        const char *found[3];
        assert_in_range(tg_card_suggest(rows[i].text, found, 3), 1, 3);
        assert_string_equal(found[0], rows[i].wanted);
    }
}

static void nonsense_suggests_nothing(void **state)
{
    (void)state;
    const char *found[3];
    assert_int_equal(tg_card_suggest("qqqqqqqqqqqqqqqq", found, 3), 0);
    assert_int_equal(tg_card_suggest("", found, 3), 0);
    assert_int_equal(tg_card_suggest("NVIDIA L4", found, 0), 0);
}

static void a_very_long_name_is_no_trouble(void **state)
{
    (void)state;
    char text[1000];
    const char *found[3];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(tg_card_suggest(text, found, 3), 0);
}

int main(void)
{
    const struct CMUnitTest card[] = {
        cmocka_unit_test(a_card_is_found_by_each_of_its_product_names),
        cmocka_unit_test(a_card_is_found_by_each_of_its_pci_ids),
        cmocka_unit_test(a_pci_id_that_two_cards_share_finds_neither),
        cmocka_unit_test(a_product_name_must_be_exact),
        cmocka_unit_test(cards_without_mig_are_known_too),
        cmocka_unit_test(a_profile_is_found_by_name_and_by_the_drivers_id),
        cmocka_unit_test(an_unknown_profile_id_is_found_by_no_number),
        cmocka_unit_test(what_is_published_of_a_card_fits_an_attribute),
        cmocka_unit_test(a_mistyped_name_suggests_the_right_one_first),
        cmocka_unit_test(nonsense_suggests_nothing),
        cmocka_unit_test(a_very_long_name_is_no_trouble),
    };
    return cmocka_run_group_tests(card, NULL, NULL);
}
