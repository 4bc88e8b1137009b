/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration that goes with an allocation: of each class once, then of the claim. */
#include <string.h>

#include "api/runtime/base/str.h"
#include "api/runtime/json/value.h"
#include "api/tangram/names.h"
#include "controller/core/check/view.h"

#define CONFIGS_MAX 64 /* AllocationConfig of the API */

/* An entry that has to be there. */
struct entry {
    const char *source;
    const struct tg_opaque_config *opaque;
    const char **requests;
    size_t n;
    bool for_all; /* names every request, so that "for all" may stand for it */
};
struct entries {
    struct entry *items;
    size_t n;
};

static bool names(const char *const *requests, size_t n, const struct tg_check_ask *ask)
{
    for (size_t i = 0; i < n; i++) {
        if (tg_streq(requests[i], ask->name) || tg_streq(requests[i], ask->request->name))
            return true;
    }
    return false;
}

static bool names_all(const struct tg_check_view *view, size_t claim, const struct entry *e)
{
    for (size_t i = 0; i < view->n_asks; i++) {
        if (view->asks[i].claim == claim && !names(e->requests, e->n, &view->asks[i]))
            return false;
    }
    return true;
}

/* Is an earlier request of the claim of the same class? */
static bool class_is_done(const struct tg_check_view *view, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (view->asks[i].claim == view->asks[at].claim &&
            view->asks[i].klass == view->asks[at].klass)
            return true;
    }
    return false;
}

static int class_entries(const struct tg_check_view *view, size_t at, struct entries *ret)
{
    const struct tg_check_ask *ask = &view->asks[at];
    const char **requests;
    size_t n = 0;

    if (ask->klass->spec == NULL || class_is_done(view, at))
        return 0;
    requests = tg_arena_alloc_array(view->arena, view->n_asks, sizeof(*requests));
    if (requests == NULL)
        return tg_check_no_memory(view);
    for (size_t i = at; i < view->n_asks; i++) {
        if (view->asks[i].claim == ask->claim && view->asks[i].klass == ask->klass)
            requests[n++] = view->asks[i].name;
    }
    for (size_t i = 0; i < ask->klass->spec->config.n; i++)
        ret->items[ret->n++] = (struct entry){.source = "FromClass",
                                              .opaque = ask->klass->spec->config.items[i].opaque,
                                              .requests = requests,
                                              .n = n};
    return 0;
}

static void claim_entries(const struct tg_check_view *view, size_t claim, struct entries *ret)
{
    const struct tg_device_claim *spec = view->in->claims[claim].claim->spec->devices;

    for (size_t i = 0; i < spec->config.n; i++) {
        const struct tg_device_config *c = &spec->config.items[i];
        bool wanted = c->requests.n == 0;

        for (size_t j = 0; !wanted && j < view->n_asks; j++)
            wanted = view->asks[j].claim == claim &&
                     names(c->requests.items, c->requests.n, &view->asks[j]);
        if (wanted)
            ret->items[ret->n++] = (struct entry){.source = "FromClaim",
                                                  .opaque = c->opaque,
                                                  .requests = c->requests.items,
                                                  .n = c->requests.n};
    }
}

static int expected(const struct tg_check_view *view, size_t claim, struct entries *ret)
{
    size_t n = view->in->claims[claim].claim->spec->devices->config.n;
    int rc = 0;

    for (size_t i = 0; i < view->n_asks; i++) {
        if (view->asks[i].claim == claim && view->asks[i].klass->spec != NULL)
            n += view->asks[i].klass->spec->config.n;
    }
    *ret = (struct entries){.items = tg_arena_alloc_array(view->arena, n, sizeof(*ret->items))};
    if (ret->items == NULL)
        return tg_check_no_memory(view);
    for (size_t i = 0; rc == 0 && i < view->n_asks; i++) {
        if (view->asks[i].claim == claim)
            rc = class_entries(view, i, ret);
    }
    claim_entries(view, claim, ret);
    for (size_t i = 0; i < ret->n; i++)
        ret->items[i].for_all = names_all(view, claim, &ret->items[i]);
    return rc;
}

static bool same_json(const struct tg_check_view *view, const char *a, const char *b)
{
    struct tg_json *x = NULL, *y = NULL;

    if (a == NULL || b == NULL || strcmp(a, b) == 0)
        return tg_streq(a, b);
    return tg_json_parse(a, strlen(a), view->arena, &x, NULL) == 0 &&
           tg_json_parse(b, strlen(b), view->arena, &y, NULL) == 0 && tg_json_equal(x, y);
}

static bool is(const struct tg_check_view *view, const struct tg_device_config *have,
               const struct entry *want)
{
    const struct tg_opaque_config *a = have->opaque, *b = want->opaque;
    bool same = have->requests.n == want->n;

    if (!tg_streq(have->source, want->source) || (a == NULL) != (b == NULL))
        return false;
    if (a != NULL &&
        (!tg_streq(a->driver, b->driver) || !same_json(view, a->parameters, b->parameters)))
        return false;
    for (size_t i = 0; same && i < want->n; i++)
        same = tg_streq(have->requests.items[i], want->requests[i]);
    return same || (have->requests.n == 0 && want->for_all);
}

/* What is meant for us is no driver's business. */
static bool may_be_left_out(const struct entry *e)
{
    return e->opaque != NULL && tg_streq(e->opaque->driver, TG_MARKER_DRIVER);
}

/* Up to 1.36 an entry of the claim is repeated for each request that it names. */
static bool may_be_repeated(const struct tg_check_view *view, const struct entry *e)
{
    return view->in->minor < 37 && strcmp(e->source, "FromClaim") == 0 && e->n > 1;
}

static bool is_own_marker(const struct tg_device_config *have)
{
    return have->opaque != NULL && tg_streq(have->opaque->driver, TG_MARKER_DRIVER) &&
           tg_streq(have->source, "FromClass");
}

static void leave_out(const struct tg_check_view *view, const struct entries *want,
                      const struct tg_device_config *have, size_t *at)
{
    while (*at < want->n && may_be_left_out(&want->items[*at]) &&
           (have == NULL || !is(view, have, &want->items[*at])))
        (*at)++;
}

/* May the entry stand where *at of what is wanted comes next? */
static bool takes(const struct tg_check_view *view, const struct entries *want,
                  const struct tg_device_config *have, size_t *at)
{
    if (*at > 0 && may_be_repeated(view, &want->items[*at - 1]) &&
        is(view, have, &want->items[*at - 1]))
        return true;
    leave_out(view, want, have, at);
    if (*at < want->n && is(view, have, &want->items[*at])) {
        (*at)++;
        return true;
    }
    return is_own_marker(have);
}

static int check_config(const struct tg_check_view *view, size_t claim)
{
    const struct tg_allocation_devices *got =
        tg_check_allocation_of(&view->in->claims[claim])->devices;
    struct entries want;
    size_t at = 0;
    int rc = expected(view, claim, &want);

    if (rc < 0)
        return rc;
    if (got->config.n > CONFIGS_MAX)
        return tg_check_broken(view, "Config", claim, NULL, NULL,
                               "%zu entries of config, %d are the limit", got->config.n,
                               CONFIGS_MAX);
    for (size_t i = 0; i < got->config.n; i++) {
        if (!takes(view, &want, &got->config.items[i], &at))
            return tg_check_broken(view, "Config", claim, NULL, NULL,
                                   "entry %zu of config is not what class and claim say", i);
    }
    leave_out(view, &want, NULL, &at);
    if (at < want.n)
        return tg_check_broken(view, "Config", claim, NULL, NULL,
                               "%zu entries of config are missing", want.n - at);
    return 0;
}

int tg_check_configs(struct tg_check_view *view)
{
    int rc = 0;

    for (size_t c = 0; rc == 0 && c < view->in->n_claims; c++)
        rc = check_config(view, c);
    return rc;
}
