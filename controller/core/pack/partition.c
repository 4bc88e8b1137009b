/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/partition.h"
#include "api/runtime/base/error.h"

static bool is_plain(const struct tg_card_profile *profile)
{
    return profile->media == TG_CARD_MEDIA_SHARE && !profile->graphics;
}

/* By memory slices, then compute slices. */
static bool smaller(const struct tg_card_profile *a, const struct tg_card_profile *b)
{
    if (a->memory_slices != b->memory_slices)
        return a->memory_slices < b->memory_slices;
    return a->compute_slices < b->compute_slices;
}

static void add(struct tg_partition *partition, const struct tg_card_profile *profile)
{
    unsigned at = partition->n++;

    for (; at > 0 && smaller(profile, partition->profiles[at - 1]); at--)
        partition->profiles[at] = partition->profiles[at - 1];
    partition->profiles[at] = profile;
}

uint8_t tg_partition_window(const struct tg_partition *partition, unsigned profile, uint8_t start)
{
    unsigned size = partition->profiles[profile]->memory_slices;

    return (uint8_t)(((1U << size) - 1) << start);
}

bool tg_partition_open(const struct tg_partition *partition, uint8_t mask, unsigned profile,
                       uint8_t start)
{
    return (partition->profiles[profile]->starts >> start & 1) != 0 &&
           (mask & tg_partition_window(partition, profile, start)) == 0;
}

static uint16_t value_of(const struct tg_partition *partition, uint8_t mask)
{
    unsigned value = 0;

    for (unsigned i = 0; i < partition->n; i++) {
        for (uint8_t start = 0; start < partition->card->memory_slices; start++) {
            if (tg_partition_open(partition, mask, i, start))
                value += partition->profiles[i]->memory_slices;
        }
    }
    return (uint16_t)value;
}

int tg_partition_init(struct tg_partition *partition, const struct tg_card *card)
{
    *partition = (struct tg_partition){.card = card};
    if (card->memory_slices == 0 || card->memory_slices > 8)
        return -TG_INVALID_ARGUMENT;
    for (size_t i = 0; i < card->n_profiles; i++) {
        if (is_plain(&card->profiles[i]) && partition->n < TG_PARTITION_PROFILES_MAX)
            add(partition, &card->profiles[i]);
    }
    for (unsigned mask = 0; mask < TG_PARTITION_MASKS; mask++)
        partition->value[mask] = value_of(partition, (uint8_t)mask);
    return 0;
}

unsigned tg_partition_profile(const struct tg_partition *partition, int gi_profile_id)
{
    for (unsigned i = 0; i < partition->n; i++) {
        if (partition->profiles[i]->gi_profile_id == gi_profile_id)
            return i;
    }
    return TG_PARTITION_PROFILES_MAX;
}

bool tg_partition_start(const struct tg_partition *partition, uint8_t mask, unsigned profile,
                        uint8_t *ret_start, int *ret_loss)
{
    int best = -1;

    for (uint8_t start = 0; start < partition->card->memory_slices; start++) {
        int left;

        if (!tg_partition_open(partition, mask, profile, start))
            continue;
        left = partition->value[mask | tg_partition_window(partition, profile, start)];
        if (left <= best)
            continue;
        best = left;
        *ret_start = start;
    }
    *ret_loss = partition->value[mask] - best;
    return best >= 0;
}

bool tg_partition_place(const struct tg_partition *partition, const uint8_t *masks, unsigned cards,
                        unsigned profile, unsigned *ret_card, uint8_t *ret_start)
{
    bool seen[TG_PARTITION_MASKS] = {false}; /* cards of one occupancy are alike */
    bool found = false;
    int least = 0;

    for (unsigned i = 0; i < cards; i++) {
        uint8_t start = 0;
        int loss;

        if (seen[masks[i]])
            continue;
        seen[masks[i]] = true;
        if (!tg_partition_start(partition, masks[i], profile, &start, &loss) ||
            (found && loss >= least))
            continue;
        found = true;
        least = loss;
        *ret_card = i;
        *ret_start = start;
    }
    return found;
}

/* Do all profiles have the same number of memory and compute slices, each twice the one before? */
static bool halves(const struct tg_partition *partition)
{
    for (unsigned i = 0; i < partition->n; i++) {
        if (partition->profiles[i]->memory_slices != 1U << i)
            return false;
    }
    return partition->n > 0 && 1U << (partition->n - 1) == partition->card->memory_slices;
}

/* Sizes that divide each other fill without gaps from the largest down. */
static bool holds_halves(const struct tg_partition *partition, const int64_t *counts, int64_t cards)
{
    int64_t slices = 0;

    for (unsigned i = 0; i < partition->n; i++)
        slices += counts[i] * partition->profiles[i]->memory_slices;
    return slices <= cards * partition->card->memory_slices;
}

/* 1g, 1g of double memory, 2g, 3g, 4g, 7g on eight memory slices. */
static bool sevenths(const struct tg_partition *partition)
{
    static const struct {
        uint8_t memory, compute, starts;
    } wanted[] = {{1, 1, 0x7f}, {2, 1, 0x55}, {2, 2, 0x15},
                  {4, 3, 0x11}, {4, 4, 0x01}, {8, 7, 0x01}};

    if (partition->n != sizeof(wanted) / sizeof(wanted[0]))
        return false;
    for (unsigned i = 0; i < partition->n; i++) {
        const struct tg_card_profile *profile = partition->profiles[i];

        if (profile->memory_slices != wanted[i].memory ||
            profile->compute_slices != wanted[i].compute || profile->starts != wanted[i].starts)
            return false;
    }
    return true;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Lower halves take 4g, then what is left of 3g; upper halves 3g first. Of an upper half that is
 * left the last pair of slices takes a double-memory 1g or one 1g, the other pair anything small.
 */
static bool holds_sevenths(const int64_t *counts, int64_t cards)
{
    int64_t n1 = counts[0], doubles = counts[1], n2 = counts[2], n3 = counts[3];
    int64_t upper = cards - counts[5], lower = upper - counts[4];
    int64_t in_upper, last_pairs, pairs;

    if (lower < 0)
        return false;
    in_upper = least(n3, upper);
    upper -= in_upper;
    lower -= n3 - in_upper;
    if (lower < 0)
        return false;
    last_pairs = upper - least(doubles, upper);
    pairs = upper + 2 * lower - n2 - (doubles - least(doubles, upper));
    return pairs >= 0 && n1 <= 2 * pairs + last_pairs;
}

int tg_partition_holds(const struct tg_partition *partition, const int64_t *counts, int64_t cards,
                       bool *ret)
{
    if (halves(partition))
        *ret = holds_halves(partition, counts, cards);
    else if (sevenths(partition))
        *ret = holds_sevenths(counts, cards);
    else
        return -TG_UNIMPLEMENTED;
    return 0;
}
