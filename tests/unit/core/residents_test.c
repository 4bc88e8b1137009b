/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/residents.h"
#include "tests/unit/core/packing.h"

static void a_full_node_of_any_size_is_counted_without_overflow(void **state)
{
    (void)state;
    for (uint16_t cards = 1; cards <= TG_PACK_CARDS_MAX; cards++) {
        const struct tg_pack_request request = whole(cards);
        unsigned n = TG_PACK_CARDS_MAX / cards;
        uint64_t residents = 0;

        for (unsigned i = 0; i < n; i++)
            residents = tg_residents_add(residents, &request, 1);
        for (unsigned other = 1; other <= TG_PACK_CARDS_MAX; other++)
            assert_int_equal(tg_residents_count(residents, other), other == cards ? n : 0);
        for (unsigned i = 0; i < n; i++)
            residents = tg_residents_add(residents, &request, -1);
        assert_int_equal(residents, 0);
    }
}

static void parts_of_cards_are_nobody(void **state)
{
    const struct tg_pack_request part = share(500), none = whole(0);

    (void)state;
    assert_int_equal(tg_residents_add(5, &part, 1), 5);
    assert_int_equal(tg_residents_add(5, &none, 1), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_node_of_any_size_is_counted_without_overflow),
        cmocka_unit_test(parts_of_cards_are_nobody),
    };

    return cmocka_run_group_tests_name("residents", tests, NULL, NULL);
}
