/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/capacity.h"

#include <string.h>

#define MILLI ((__int128)1000000)

/* For amounts that are not below 0. */
static __int128 in_units(__int128 nanos, __int128 unit)
{
    return nanos / unit + (nanos % unit > 0);
}

static bool is_whole(__int128 nanos, __int128 unit)
{
    return nanos % unit == 0;
}

/* The unit in which a range counts. */
static __int128 unit_of(const struct tg_view_capacity *c, bool fractional)
{
    if (fractional && is_whole(c->min, MILLI) && is_whole(c->step, MILLI) &&
        (!c->has_max || is_whole(c->max, MILLI)))
        return MILLI;
    return TG_NANOS_ONE;
}

static __int128 round_up_in_range(const struct tg_view_capacity *c, __int128 asked, bool fractional)
{
    __int128 unit = unit_of(c, fractional), step, steps;

    if (asked < c->min)
        return c->min;
    step = c->has_step ? in_units(c->step, unit) : 0;
    if (step <= 0)
        return asked;
    steps = in_units(asked, unit) - in_units(c->min, unit);
    steps = steps / step + (steps % step > 0);
    return (in_units(c->min, unit) + steps * step) * unit;
}

static __int128 round_up_to_value(const struct tg_view_capacity *c, __int128 asked)
{
    for (size_t i = 0; i < c->n_values; i++) {
        if (asked <= c->values[i])
            return c->values[i];
    }
    return asked;
}

__int128 tg_fit_capacity_amount(const struct tg_view_capacity *capacity, const __int128 *asked,
                                bool fractional)
{
    if (asked == NULL)
        return capacity->has_default ? capacity->default_ : capacity->value;
    switch (capacity->policy) {
    case TG_POLICY_NONE:
        break;
    case TG_POLICY_RANGE:
        return round_up_in_range(capacity, *asked, fractional);
    case TG_POLICY_VALUES:
        return round_up_to_value(capacity, *asked);
    }
    return *asked;
}

static bool range_allows(const struct tg_view_capacity *c, __int128 amount, bool fractional)
{
    __int128 unit = unit_of(c, fractional), step = c->has_step ? in_units(c->step, unit) : 0;

    if (c->has_max && amount > c->max)
        return false;
    if (step <= 0)
        return true;
    if (unit == MILLI && !is_whole(amount, MILLI))
        return false;
    return (in_units(amount, unit) - in_units(c->min, unit)) % step == 0;
}

bool tg_fit_capacity_allows(const struct tg_view_capacity *capacity, __int128 amount,
                            bool fractional)
{
    bool allowed = capacity->policy == TG_POLICY_NONE;

    if (capacity->has_default && amount == capacity->default_)
        return true;
    if (capacity->policy == TG_POLICY_RANGE)
        return range_allows(capacity, amount, fractional);
    for (size_t i = 0; i < capacity->n_values; i++)
        allowed = allowed || capacity->values[i] == amount;
    return allowed;
}

const __int128 *tg_fit_capacity_asked(const struct tg_fit_want *want, const char *name)
{
    for (size_t i = 0; i < want->n_capacity; i++) {
        if (strcmp(want->capacity[i].name, name) == 0)
            return &want->capacity[i].nanos;
    }
    return NULL;
}

static bool has_all(const struct tg_view_device *device, const struct tg_fit_want *want)
{
    for (size_t i = 0; i < want->n_capacity; i++) {
        size_t k = 0;

        while (k < device->n_capacity &&
               strcmp(device->capacity[k].name, want->capacity[i].name) != 0)
            k++;
        if (k == device->n_capacity || want->capacity[i].nanos < 0)
            return false;
    }
    return true;
}

bool tg_fit_capacity_fits(const struct tg_view_device *device, const struct tg_fit_want *want,
                          bool fractional, bool used, const __int128 *mine)
{
    if (!has_all(device, want))
        return false;
    for (size_t i = 0; i < device->n_capacity; i++) {
        const struct tg_view_capacity *c = &device->capacity[i];
        __int128 amount =
            tg_fit_capacity_amount(c, tg_fit_capacity_asked(want, c->name), fractional);
        __int128 sum = amount + (used ? c->used : 0) + (mine == NULL ? 0 : mine[i]);

        if (!tg_fit_capacity_allows(c, amount, fractional) || sum > c->value)
            return false;
    }
    return true;
}
