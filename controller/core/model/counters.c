/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/counters.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/model/sort.h"

static int compare_sets(const void *pa, const void *pb, const void *context)
{
    const struct tg_counter_set *a = pa, *b = pb;

    (void)context;
    return tg_strcmp(a->name, b->name);
}

static const struct tg_counter_set *find_set(const void *const *sets, size_t n, const char *name)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tg_counter_set *set = sets[middle];
        int order = tg_strcmp(set->name, name);

        if (order == 0)
            return set;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Does the set have every counter that is consumed of it? */
static bool has_counters(const struct tg_counter_set *set, const struct tg_counter_set *consumed)
{
    for (size_t i = 0; i < consumed->counters.n; i++) {
        size_t k = 0;

        while (k < set->counters.n &&
               !tg_streq(set->counters.items[k].key, consumed->counters.items[i].key))
            k++;
        if (k == set->counters.n)
            return false;
    }
    return true;
}

static bool device_is_sound(const struct tg_device *device, const void *const *sets, size_t n)
{
    for (size_t i = 0; i < device->consumes_counters.n; i++) {
        const struct tg_counter_set *consumed = &device->consumes_counters.items[i];
        const struct tg_counter_set *set = find_set(sets, n, consumed->name);

        if (set == NULL || !has_counters(set, consumed))
            return false;
    }
    return true;
}

static int collect(const void *const *slices, size_t n, struct tg_arena *arena, const void ***ret,
                   size_t *ret_n, struct tg_error *err)
{
    int rc = 0;

    *ret_n = 0;
    for (size_t i = 0; i < n; i++)
        *ret_n += ((const struct tg_resource_slice *)slices[i])->spec->shared_counters.n;
    rc = tg_core_alloc(arena, *ret_n, sizeof(**ret), ret, err);
    *ret_n = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct tg_resource_slice_spec *spec =
            ((const struct tg_resource_slice *)slices[i])->spec;

        for (size_t k = 0; k < spec->shared_counters.n; k++)
            (*ret)[(*ret_n)++] = &spec->shared_counters.items[k];
    }
    return rc < 0 ? rc : tg_core_sort(*ret, *ret_n, compare_sets, NULL, arena, err);
}

int tg_counters_check(const void *const *slices, size_t n, struct tg_arena *arena,
                      const char **ret_why, struct tg_error *err)
{
    const void **sets;
    size_t n_sets = 0;
    int rc = collect(slices, n, arena, &sets, &n_sets, err);

    if (rc < 0)
        return rc;
    for (size_t i = 1; i < n_sets; i++) {
        if (compare_sets(sets[i - 1], sets[i], NULL) == 0)
            *ret_why = "has two counter sets of one name";
    }
    for (size_t i = 0; i < n; i++) {
        const struct tg_resource_slice_spec *spec =
            ((const struct tg_resource_slice *)slices[i])->spec;

        for (size_t k = 0; k < spec->devices.n; k++) {
            if (!device_is_sound(&spec->devices.items[k], (const void *const *)sets, n_sets))
                *ret_why = "has a device that consumes counters which are not there";
        }
    }
    return 0;
}
