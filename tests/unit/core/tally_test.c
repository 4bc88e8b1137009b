/* SPDX-License-Identifier: Apache-2.0 */
/* Which sums of an offer are kept, and what of them stands when the regions do not. */
#include "controller/core/gang/offer.h"
#include "tests/unit/core/world.h"

enum { NODES = 2 };

static const struct tg_offer_node offers[NODES] = {{.copies = 3, .free = 5}, {.copies = 7}};

static void tell(struct tg_fleet *fleet, struct tg_arena *arena, size_t node, const char *labels)
{
    tg_fleet_put(fleet, TG_FLEET_NODE,
                 decodef(arena, &tg_node_type,
                         "{\"metadata\":{\"name\":\"n%zu\",\"labels\":{%s}},\"spec\":{},"
                         "\"status\":{}}",
                         node, labels));
    tg_fleet_settle(fleet);
}

static const struct tg_tally *find(struct tg_tallies *tallies, const char *label, size_t cap,
                                   uint64_t decision)
{
    return tg_tallies_find(tallies, label, cap, offers, NODES, decision);
}

/* More than are kept stay for the decision that uses them; then those go that were not used for
 * longest. */
static void sums_stay_for_their_decision_and_the_last_used_longer(void **state)
{
    static const size_t used_last[] = {1, 10, 9, 8, 7, 6};
    struct tg_arena *arena = tg_arena_new((size_t)1 << 20);
    struct tg_fleet *fleet = tg_fleet_open("default");
    struct tg_tallies tallies = {.fleet = fleet};
    const struct tg_tally *first;

    (void)state;
    tell(fleet, arena, 0, "");
    tell(fleet, arena, 1, "");
    for (size_t cap = 1; cap <= 10; cap++)
        (void)find(&tallies, NULL, cap, 4);
    tg_tallies_open(&tallies, offers, NODES, 4);
    assert_int_equal(tallies.n, 10);
    for (size_t cap = 1; cap <= 10; cap++)
        (void)find(&tallies, NULL, cap, 4 + cap);
    first = find(&tallies, NULL, 1, 14);
    tg_tallies_open(&tallies, offers, NODES, 15);
    assert_int_equal(tallies.n, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(tg_tally_all(find(&tallies, NULL, used_last[i], 15))->places,
                         (used_last[i] < 3 ? used_last[i] : 3) +
                             (used_last[i] < 7 ? used_last[i] : 7));
    assert_ptr_equal(find(&tallies, NULL, 1, 15), first);
    assert_int_equal(tallies.n, 6);
    tg_tallies_done(&tallies);
    tg_fleet_close(fleet);
    tg_arena_free(arena);
}

static uint64_t places_in(const struct tg_tally *tally, const char *name)
{
    const struct tg_regions *regions = tg_tally_regions(tally);

    for (uint32_t r = 0; r < tg_regions_count(regions); r++) {
        const char *region = tg_regions_name(regions, r);

        if (region != NULL && strcmp(region, name) == 0)
            return tg_tally_region(tally, r)->places;
    }
    return 0;
}

/* Regions of a label that was forgotten have other numbers when they are found again. */
static void regions_with_other_numbers_are_counted_anew(void **state)
{
    static const struct tg_offer_node nothing;
    struct tg_arena *arena = tg_arena_new((size_t)1 << 20);
    struct tg_fleet *fleet = tg_fleet_open("default");
    struct tg_tallies tallies = {.fleet = fleet};
    const struct tg_tally *tally;

    (void)state;
    tell(fleet, arena, 0, "");
    tell(fleet, arena, 1, "\"rack\":\"b\"");
    tally = tg_tallies_find(&tallies, "rack", 9, (const struct tg_offer_node[]){nothing, offers[1]},
                            NODES, 1);
    assert_int_equal(places_in(tally, "b"), 7);
    tell(fleet, arena, 0, "\"rack\":\"a\"");
    tg_tallies_open(&tallies, (const struct tg_offer_node[]){nothing, offers[1]}, NODES, 2);
    tg_tallies_move(&tallies, 0, &nothing, &offers[0]);
    for (size_t round = 0; round < 2; round++) {
        assert_int_equal(places_in(tally, "a"), 3);
        assert_int_equal(places_in(tally, "b"), 7);
        for (size_t i = 0; i < 100; i++) {
            char label[16];

            snprintf(label, sizeof(label), "l%zu", i);
            (void)tg_regions_get(fleet, label);
        }
        tg_tallies_open(&tallies, offers, NODES, 3);
    }
    tg_tallies_done(&tallies);
    tg_fleet_close(fleet);
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_stay_for_their_decision_and_the_last_used_longer),
        cmocka_unit_test(regions_with_other_numbers_are_counted_anew),
    };

    return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
