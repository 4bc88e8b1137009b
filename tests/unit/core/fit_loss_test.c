/* SPDX-License-Identifier: Apache-2.0 */
/* Where an instance goes on cards that are partitioned, beside the tables of core/pack/partition.
 */
#include "controller/core/fit/search.h"
#include "controller/core/pack/partition.h"
#include "tests/unit/core/fit_world.h"

enum { CARDS = 3, ROUNDS = 400 };

static uint64_t random_state = 1;

static unsigned below(unsigned n)
{
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(random_state >> 33) % n;
}

static void partition_of(const char *product, struct tg_partition *ret)
{
    assert_int_equal(tg_partition_init(ret, tg_card_find(product)), 0);
}

/* Counters of the cards: what is taken of them is taken away. */
static void write_sets(char *sets, size_t size, unsigned slices, const uint8_t *masks)
{
    size_t at = 0;

    for (unsigned c = 0; c < CARDS; c++) {
        at += (size_t)snprintf(sets + at, size - at, "%s{\"name\":\"c%u\",\"counters\":{",
                               c == 0 ? "" : ",", c);
        for (unsigned i = 0; i < slices; i++)
            at += (size_t)snprintf(sets + at, size - at, "%s\"m%u\":{\"value\":\"%d\"}",
                                   i == 0 ? "" : ",", i, (masks[c] >> i & 1) == 0);
        at += (size_t)snprintf(sets + at, size - at, "}}");
        assert_true(at < size);
    }
}

static size_t write_place(char *out, size_t size, unsigned card, unsigned profile, unsigned start,
                          unsigned slices)
{
    size_t at = (size_t)snprintf(
        out, size,
        "%s{\"name\":\"c%u-p%u-%u\",\"attributes\":{\"p\":{\"int\":%u},\"memorySliceSize\":{"
        "\"int\":%u}},\"consumesCounters\":[{\"counterSet\":\"c%u\",\"counters\":{",
        card + profile + start == 0 ? "" : ",", card, profile, start, profile, slices, card);

    for (unsigned i = start; i < start + slices; i++)
        at += (size_t)snprintf(out + at, size - at, "%s\"m%u\":{\"value\":\"1\"}",
                               i == start ? "" : ",", i);
    return at + (size_t)snprintf(out + at, size - at, "}}]}");
}

/* Every place of every profile, the cards one after the other. */
static void write_places(const struct tg_partition *partition, char *out, size_t size)
{
    size_t at = 0;

    for (unsigned c = 0; c < CARDS; c++) {
        for (unsigned p = 0; p < partition->n; p++) {
            for (unsigned start = 0; start < 8; start++) {
                if ((partition->profiles[p]->starts >> start & 1) != 0)
                    at += write_place(out + at, size - at, c, p, start,
                                      partition->profiles[p]->memory_slices);
            }
        }
    }
    assert_true(at < size);
}

/* The device that one instance of the profile gets; NULL: none. */
static const char *find(const struct tg_partition *partition, const uint8_t *masks,
                        unsigned profile, bool sparing)
{
    static char devices[49152], sets[4096], rest[4352], request[256], name[64];
    const char *found = NULL;
    struct trial t;

    trial_init(&t);
    write_places(partition, devices, sizeof(devices));
    write_sets(sets, sizeof(sets), partition->card->memory_slices, masks);
    snprintf(rest, sizeof(rest), "\"nodeName\":\"n\",\"sharedCounters\":[%s],", sets);
    add_part(&t, "a", 2, "\"nodeName\":\"n\",", devices);
    add_part(&t, "b", 2, rest, "");
    trial_open(&t);
    t.book.sparing = sparing;
    snprintf(
        request, sizeof(request),
        "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"any\",\"count\":1" SELECT(
            IS("p", "%u")) "}}]",
        profile);
    trial_claim(&t, request);
    if (trial_search(&t) == TG_FIT_ALLOCATED) {
        snprintf(name, sizeof(name), "%s", t.view.devices[t.answer.takes[0].device].name);
        found = name;
    }
    trial_done(&t);
    return found;
}

static void play(const char *product)
{
    struct tg_partition partition;
    uint8_t masks[CARDS] = {0};
    size_t placed = 0;

    partition_of(product, &partition);
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned profile = below(partition.n), card = 0;
        uint8_t start = 0;
        bool fits = tg_partition_place(&partition, masks, CARDS, profile, &card, &start);
        bool fits_anyway = find(&partition, masks, profile, false) != NULL;
        const char *name = find(&partition, masks, profile, true);
        char wanted[64];

        assert_int_equal(fits, name != NULL);
        assert_int_equal(fits, fits_anyway);
        if (fits) {
            snprintf(wanted, sizeof(wanted), "c%u-p%u-%u", card, profile, start);
            if (strcmp(name, wanted) != 0)
                fail_msg("%s: profile %u on %02x %02x %02x goes to %s, not to %s", product, profile,
                         masks[0], masks[1], masks[2], name, wanted);
            masks[card] |= tg_partition_window(&partition, profile, start);
            placed++;
        }
        if (!fits || below(4) == 0)
            masks[below(CARDS)] &= (uint8_t)below(256);
    }
    assert_true(placed > ROUNDS / 3);
}

static void the_place_that_spoils_least_is_taken(void **state)
{
    (void)state;
    play("NVIDIA A100-SXM4-80GB");
    play("NVIDIA A30");
}

/* A 1g in the lower half would close the only place of 4g: first fit does that. */
static void first_fit_is_not_good_enough(void **state)
{
    struct tg_partition a100;
    const uint8_t masks[CARDS] = {0};

    (void)state;
    partition_of("NVIDIA A100-SXM4-80GB", &a100);
    assert_string_equal(find(&a100, masks, 0, false), "c0-p0-0");
    assert_string_equal(find(&a100, masks, 0, true), "c0-p0-6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_place_that_spoils_least_is_taken),
        cmocka_unit_test(first_fit_is_not_good_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
