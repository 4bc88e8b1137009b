/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/partition/foreign.h"

#include <string.h>

#include "api/runtime/base/str.h"

static bool overlap(const struct tg_partition *a, const struct tg_partition *b)
{
    return tg_streq(a->card, b->card) && a->start < b->start + b->size &&
           b->start < a->start + a->size;
}

/* The device is that instance: it is used as it stands. */
static void give_as_it_stands(struct tg_device_set *set, struct tg_provider_device *device)
{
    struct tg_partition *place = tg_arena_alloc(set->arena, sizeof(*place));
    if (place == NULL)
        return;
    *place = *device->partition;
    place->dynamic = false;
    device->partition = place;
}

static void yield_to(struct tg_device_set *set, const struct tg_standing *standing)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->devices.n; i++) {
        struct tg_provider_device *device = &set->devices.items[i];
        const struct tg_partition *place = device->partition;
        bool exact = place != NULL && place->profile_id == standing->place.profile_id &&
                     place->start == standing->place.start && standing->whole;
        if (place != NULL && overlap(place, &standing->place)) {
            if (!exact)
                continue;
            give_as_it_stands(set, device);
        }
        set->devices.items[kept++] = *device;
    }
    set->devices.n = kept;
}

int tg_foreign_instances(struct tg_device_set *set,
                         bool (*ours)(void *data, const struct tg_partition *place), void *data,
                         struct tg_error *err)
{
    if (set->standing.n == 0)
        return 0;
    const char **problems =
        tg_arena_alloc_array(set->arena, set->problems.n + set->standing.n, sizeof(*problems));
    if (problems != NULL && set->problems.n > 0)
        memcpy(problems, set->problems.items, set->problems.n * sizeof(*problems));
    for (size_t i = 0; problems != NULL && i < set->standing.n; i++) {
        const struct tg_standing *one = &set->standing.items[i];
        if (ours(data, &one->place))
            continue;
        problems[set->problems.n++] = tg_arena_printf(
            set->arena,
            "%s (%s): an instance %s at memory slice %u was not made by this driver: it is left "
            "alone, and what overlaps it is not offered",
            one->place.card, one->place.card_uuid, one->profile, one->place.start);
        yield_to(set, one);
    }
    if (tg_arena_exhausted(set->arena))
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the devices need too much memory");
    set->problems.items = problems;
    return 0;
}
