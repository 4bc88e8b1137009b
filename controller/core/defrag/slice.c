/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/defrag/slice.h"

struct repair {
    const struct tg_partition *partition;
    uint8_t *masks;
    unsigned cards;
    struct tg_slice_move *best;
    int best_gain;  /* of value, over all cards */
    bool best_same; /* the instance stays on its card */
    bool found;
};

static void offer(struct repair *repair, int gain, struct tg_slice_move move)
{
    bool same = move.to_card == move.card;

    if (repair->found &&
        (gain < repair->best_gain || (gain == repair->best_gain && (repair->best_same || !same))))
        return;
    repair->found = true;
    repair->best_gain = gain;
    repair->best_same = same;
    *repair->best = move;
}

/* The new instance takes `start` on the card of an instance, which goes to another place of the
 * same card or to another card. */
static void try_places(struct repair *repair, const struct tg_partition_instance *instance,
                       struct tg_slice_move move, uint8_t without, uint8_t window)
{
    const struct tg_partition *partition = repair->partition;
    uint8_t mask = repair->masks[instance->card], after = without | window;
    unsigned profile = instance->profile;

    for (uint8_t start = 0; start < partition->card->memory_slices; start++) {
        if (!tg_partition_open(partition, after, profile, start))
            continue;
        move.to_card = instance->card;
        move.to_start = start;
        offer(repair,
              partition->value[after | tg_partition_window(partition, profile, start)] -
                  partition->value[mask],
              move);
    }
    repair->masks[instance->card] = UINT8_MAX; /* not there */
    if (tg_partition_place(partition, repair->masks, repair->cards, profile, &move.to_card,
                           &move.to_start)) {
        uint8_t other = repair->masks[move.to_card];

        offer(repair,
              partition->value[after] - partition->value[mask] +
                  partition->value[other | tg_partition_window(partition, profile, move.to_start)] -
                  partition->value[other],
              move);
    }
    repair->masks[instance->card] = mask;
}

bool tg_slice_plan(const struct tg_partition *partition, uint8_t *masks, unsigned cards,
                   const struct tg_partition_instance *instances, unsigned n_instances,
                   unsigned profile, struct tg_slice_move *ret)
{
    struct repair repair = {.partition = partition, .masks = masks, .cards = cards, .best = ret};

    for (unsigned i = 0; i < n_instances; i++) {
        const struct tg_partition_instance *instance = &instances[i];
        uint8_t without = masks[instance->card];

        if (instance->pinned)
            continue;
        without &= (uint8_t)~tg_partition_window(partition, instance->profile, instance->start);
        for (uint8_t start = 0; start < partition->card->memory_slices; start++) {
            if (tg_partition_open(partition, without, profile, start))
                try_places(
                    &repair, instance,
                    (struct tg_slice_move){.instance = i, .card = instance->card, .start = start},
                    without, tg_partition_window(partition, profile, start));
        }
    }
    if (repair.found)
        ret->gain = repair.best_gain;
    return repair.found;
}
