/* SPDX-License-Identifier: Apache-2.0 */
/* Capacity that is consumed (KEP-5075): what one allocation takes of each capacity of a device, and
 * whether all of them together fit. */
#include <stdio.h>
#include <string.h>

#include "api/runtime/base/str.h"
#include "api/runtime/json/value.h"
#include "controller/core/check/view.h"

/* The policy of a capacity and what is asked for, as numbers. */
struct amount_of {
    struct tg_quantity value, asked, default_, min, max, step;
    bool has_asked, has_policy, has_default, has_min, has_max, has_step, has_range;
    const struct tg_json *values; /* validValues, NULL if there are none */
};

static const struct tg_json *tree(struct tg_check_view *view, const char *text)
{
    struct tg_json *root = NULL;

    if (text == NULL || tg_json_parse(text, strlen(text), view->arena, &root, NULL) < 0)
        return NULL;
    return root;
}

/* false: it is there and no quantity. */
static bool number(const struct tg_json *json, struct tg_quantity *ret, bool *ret_has)
{
    *ret_has = false;
    if (json == NULL || json->kind == TG_JSON_NULL)
        return true;
    if (json->kind != TG_JSON_STRING && json->kind != TG_JSON_NUMBER)
        return false;
    *ret_has = tg_quantity_parse(json->text, ret, NULL) == 0;
    return *ret_has;
}

static bool read_amount(struct tg_check_view *view, const struct tg_json *requests,
                        const struct tg_keyed_capacity *capacity, struct amount_of *ret)
{
    const struct tg_json *policy = tree(view, capacity->value.request_policy);
    const struct tg_json *range = tg_json_get(policy, "validRange");
    const struct tg_json *values = tg_json_get(policy, "validValues");

    *ret = (struct amount_of){
        .has_policy = policy != NULL && policy->kind == TG_JSON_OBJECT,
        .has_range = range != NULL && range->kind == TG_JSON_OBJECT,
        .values = values != NULL && values->kind == TG_JSON_ARRAY && values->n > 0 ? values : NULL,
    };
    return capacity->value.value != NULL &&
           tg_quantity_parse(capacity->value.value, &ret->value, NULL) == 0 &&
           (capacity->value.request_policy == NULL || policy != NULL) &&
           number(tg_json_get(requests, capacity->key), &ret->asked, &ret->has_asked) &&
           number(tg_json_get(policy, "default"), &ret->default_, &ret->has_default) &&
           number(tg_json_get(range, "min"), &ret->min, &ret->has_min) &&
           number(tg_json_get(range, "max"), &ret->max, &ret->has_max) &&
           number(tg_json_get(range, "step"), &ret->step, &ret->has_step);
}

static bool is_milli(const struct tg_quantity *q)
{
    struct tg_quantity whole = *q;

    /* In thousandths nothing is lost: three more digits behind the point than there may be. */
    if (whole.scale >= -3)
        return true;
    for (int32_t s = whole.scale; s < -3; s++) {
        if (whole.mantissa % 10 != 0)
            return false;
        whole.mantissa /= 10;
    }
    return true;
}

/* Steps count in thousandths where the release has learnt it and all three allow it. */
static bool in_milli(const struct tg_check_view *view, const struct amount_of *a)
{
    return tg_check_has(view, TG_CHECK_FRACTIONAL_CAPACITY) && is_milli(&a->min) &&
           (!a->has_max || is_milli(&a->max)) && is_milli(&a->step) &&
           tg_quantity_milli_value(&a->step) >= 1;
}

static int64_t units(const struct tg_quantity *q, bool milli)
{
    return milli ? tg_quantity_milli_value(q) : tg_quantity_value(q);
}

/* asked, raised to the next min + n * step. false: it cannot be. */
static bool step_up(const struct tg_check_view *view, const struct amount_of *a,
                    struct tg_quantity *ret)
{
    bool milli = in_milli(view, a);
    __int128 step = units(&a->step, milli), min = units(&a->min, milli),
             asked = units(&a->asked, milli), up;

    if (step <= 0)
        return false;
    up = min + (asked - min + step - 1) / step * step;
    if (up > INT64_MAX)
        return false;
    *ret = tg_quantity_from_int((int64_t)up, a->step.format);
    if (milli) {
        char text[32];

        snprintf(text, sizeof(text), "%lldm", (long long)up);
        return tg_quantity_parse(text, ret, NULL) == 0;
    }
    return true;
}

static bool value_up(const struct amount_of *a, struct tg_quantity *ret)
{
    bool has, found = false;

    for (size_t i = 0; i < a->values->n; i++) {
        struct tg_quantity v;

        if (!number(a->values->items[i], &v, &has) || !has)
            return false;
        if (tg_quantity_cmp(&v, &a->asked) >= 0 && (!found || tg_quantity_cmp(&v, ret) < 0)) {
            *ret = v;
            found = true;
        }
    }
    if (!found)
        *ret = a->asked;
    return true;
}

static bool consumed(const struct tg_check_view *view, const struct amount_of *a,
                     struct tg_quantity *ret)
{
    if (!a->has_asked) {
        *ret = a->has_default ? a->default_ : a->value;
        return true;
    }
    *ret = a->asked;
    if (a->has_min && tg_quantity_cmp(&a->asked, &a->min) < 0) {
        *ret = a->min;
        return true;
    }
    if (a->has_min)
        return !a->has_step || step_up(view, a, ret);
    return a->values == NULL || value_up(a, ret);
}

static bool in_range(const struct tg_check_view *view, const struct amount_of *a,
                     const struct tg_quantity *amount)
{
    bool milli;

    if (a->has_max && tg_quantity_cmp(amount, &a->max) > 0)
        return false;
    if (!a->has_step)
        return true;
    milli = in_milli(view, a);
    return units(&a->step, milli) > 0 && (!milli || is_milli(amount)) &&
           (units(amount, milli) - units(&a->min, milli)) % units(&a->step, milli) == 0;
}

static bool allowed(const struct tg_check_view *view, const struct amount_of *a,
                    const struct tg_quantity *amount)
{
    bool has;

    if (!a->has_policy || (a->has_default && tg_quantity_cmp(amount, &a->default_) == 0))
        return true;
    if (a->has_range)
        return in_range(view, a, amount);
    for (size_t i = 0; a->values != NULL && i < a->values->n; i++) {
        struct tg_quantity v;

        if (number(a->values->items[i], &v, &has) && has && tg_quantity_cmp(&v, amount) == 0)
            return true;
    }
    return a->values == NULL;
}

/* What others consume of it, added up. */
static bool add_used(const struct tg_check_view *view, const struct tg_check_pool *pool,
                     const struct tg_device *device, const char *capacity, struct tg_quantity *sum)
{
    for (size_t i = 0; i < view->in->n_consumed; i++) {
        const struct tg_check_consumed *c = &view->in->consumed[i];
        struct tg_quantity q;

        if (!tg_streq(c->device, device->name) || !tg_streq(c->pool, pool->name) ||
            !tg_streq(c->driver, pool->driver) || !tg_streq(c->capacity, capacity))
            continue;
        if (tg_quantity_parse(tg_or(c->quantity, ""), &q, NULL) < 0 ||
            tg_quantity_add(sum, &q, NULL) < 0)
            return false;
    }
    return true;
}

static const struct tg_json *requests_of(struct tg_check_view *view,
                                         const struct tg_exact_request *exact)
{
    return tg_json_get(tree(view, exact->capacity), "requests");
}

static bool has_capacity(const struct tg_device *device, const char *name)
{
    for (size_t i = 0; i < device->capacity.n; i++) {
        if (tg_streq(device->capacity.items[i].key, name))
            return true;
    }
    return false;
}

/* NULL, or what is wrong with one capacity of the device. */
static const char *unsuited(struct tg_check_view *view, const struct tg_json *requests,
                            const struct tg_check_pool *pool, const struct tg_device *device,
                            const struct tg_keyed_capacity *capacity, bool count_used)
{
    struct amount_of a;
    struct tg_quantity amount;

    if (!read_amount(view, requests, capacity, &a) || !consumed(view, &a, &amount))
        return "its capacity or what is asked of it is no usable quantity";
    if (!allowed(view, &a, &amount))
        return "its policy forbids the amount that is asked for";
    if (count_used && !add_used(view, pool, device, capacity->key, &amount))
        return "what others consume of it is no usable quantity";
    return tg_quantity_cmp(&amount, &a.value) > 0 ? "it has less than is asked for" : NULL;
}

int tg_check_capacity_suits(struct tg_check_view *view, const struct tg_exact_request *exact,
                            const struct tg_check_pool *pool, const struct tg_device *device,
                            bool count_used, const char **ret_why)
{
    const struct tg_json *requests = requests_of(view, exact);

    *ret_why = NULL;
    for (size_t i = 0; requests != NULL && i < requests->n; i++) {
        if (requests->kind == TG_JSON_OBJECT && !has_capacity(device, requests->keys[i]))
            *ret_why = "it lacks a capacity that is asked for";
    }
    for (size_t i = 0; *ret_why == NULL && i < device->capacity.n; i++)
        *ret_why = unsuited(view, requests, pool, device, &device->capacity.items[i], count_used);
    return tg_arena_exhausted(view->arena) ? tg_check_no_memory(view) : 0;
}

static bool same_device(const struct tg_check_pick *a, const struct tg_check_pick *b)
{
    return a->device == b->device && a->slice == b->slice;
}

/* All shares of the device together, for one capacity. */
static int check_sum(struct tg_check_view *view, const struct tg_check_pick *pick,
                     const struct tg_keyed_capacity *capacity)
{
    struct tg_quantity sum = {0}, amount;
    struct amount_of a;
    bool good = add_used(view, pick->pool, pick->device, capacity->key, &sum);

    for (size_t i = 0; good && i < view->n_picks; i++) {
        const struct tg_check_pick *p = &view->picks[i];

        if (!same_device(p, pick))
            continue;
        good = read_amount(view, requests_of(view, p->ask->exact), capacity, &a) &&
               consumed(view, &a, &amount) && tg_quantity_add(&sum, &amount, NULL) == 0;
    }
    if (!good || tg_quantity_cmp(&sum, &a.value) > 0)
        return tg_check_broken(view, "Capacity", pick->ask->claim, pick->ask, pick,
                               "all shares together take more than there is of %s", capacity->key);
    return 0;
}

static int check_share(const struct tg_check_view *view, const struct tg_check_pick *pick)
{
    const struct tg_allocation_device *r = pick->result;
    bool taken = false;

    if (r->share_id == NULL || *r->share_id == '\0')
        return tg_check_broken(view, "Share", pick->ask->claim, pick->ask, pick,
                               "a shared device needs a share id");
    for (const struct tg_check_pick *p = view->picks; p < pick; p++)
        taken = taken || (same_device(p, pick) && tg_streq(p->result->share_id, r->share_id));
    for (size_t i = 0; i < view->in->n_held; i++) {
        const struct tg_check_held *h = &view->in->held[i];

        taken = taken || (tg_streq(h->share_id, r->share_id) && tg_streq(h->device, r->device) &&
                          tg_streq(h->pool, r->pool) && tg_streq(h->driver, r->driver));
    }
    return taken ? tg_check_broken(view, "Share", pick->ask->claim, pick->ask, pick,
                                   "the share id is another's")
                 : 0;
}

/* consumedCapacity says what is consumed, no more and no less. */
static int check_record(struct tg_check_view *view, const struct tg_check_pick *pick)
{
    const struct tg_json *said = tree(view, pick->result->consumed_capacity);
    const struct tg_json *requests = requests_of(view, pick->ask->exact);
    size_t n = said == NULL || said->kind != TG_JSON_OBJECT ? 0 : said->n;
    bool good = n == pick->device->capacity.n;

    for (size_t i = 0; good && i < pick->device->capacity.n; i++) {
        const struct tg_keyed_capacity *c = &pick->device->capacity.items[i];
        struct tg_quantity amount, have;
        struct amount_of a;
        bool has = false;

        good = read_amount(view, requests, c, &a) && consumed(view, &a, &amount) &&
               number(tg_json_get(said, c->key), &have, &has) && has &&
               tg_quantity_cmp(&amount, &have) == 0;
    }
    return good ? 0
                : tg_check_broken(view, "Capacity", pick->ask->claim, pick->ask, pick,
                                  "consumedCapacity is not what the request consumes");
}

static int check_exclusive(const struct tg_check_view *view, const struct tg_check_pick *pick)
{
    if (pick->result->share_id == NULL && pick->result->consumed_capacity == NULL)
        return 0;
    return tg_check_broken(view, "Share", pick->ask->claim, pick->ask, pick,
                           "a device with one owner has neither share id nor consumed capacity");
}

int tg_check_capacities(struct tg_check_view *view)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < view->n_picks; i++) {
        struct tg_check_pick *pick = &view->picks[i];
        const char *why = NULL;

        if (tg_check_has(view, TG_CHECK_CONSUMABLE_CAPACITY))
            rc = tg_check_capacity_suits(view, pick->ask->exact, pick->pool, pick->device, false,
                                         &why);
        if (rc == 0 && why != NULL)
            return tg_check_broken(view, "Capacity", pick->ask->claim, pick->ask, pick, "%s", why);
        for (size_t j = 0; rc == 0 && pick->shared && pick->first && j < pick->device->capacity.n;
             j++)
            rc = check_sum(view, pick, &pick->device->capacity.items[j]);
    }
    return rc;
}

int tg_check_shares(struct tg_check_view *view)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < view->n_picks; i++) {
        struct tg_check_pick *pick = &view->picks[i];

        if (!pick->shared) {
            rc = check_exclusive(view, pick);
            continue;
        }
        rc = check_share(view, pick);
        if (rc == 0)
            rc = check_record(view, pick);
    }
    return rc;
}
