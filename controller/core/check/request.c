/* SPDX-License-Identifier: Apache-2.0 */
/* Which request each result belongs to, and whether every request got what it counts. */
#include <inttypes.h>
#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/check/view.h"

static int count_all(struct tg_check_view *view)
{
    size_t n_asks = 0, n_picks = 0;

    for (size_t c = 0; c < view->in->n_claims; c++) {
        const struct tg_allocation *a = tg_check_allocation_of(&view->in->claims[c]);

        if (a == NULL || a->devices == NULL)
            return tg_check_broken(view, "Structure", c, NULL, NULL,
                                   "the allocation has no devices");
        if (a->devices->results.n > TG_RESULTS_MAX)
            return tg_check_broken(view, "Structure", c, NULL, NULL,
                                   "%zu devices in one claim, %d are the limit",
                                   a->devices->results.n, TG_RESULTS_MAX);
        n_asks += view->in->claims[c].claim->spec->devices->requests.n;
        n_picks += a->devices->results.n;
    }
    view->n_asks = view->n_picks = 0;
    view->asks = tg_arena_alloc_array(view->arena, n_asks, sizeof(*view->asks));
    view->picks = tg_arena_alloc_array(view->arena, n_picks, sizeof(*view->picks));
    return view->asks == NULL || view->picks == NULL ? tg_check_no_memory(view) : 0;
}

/* Features that a request uses by being written so, whichever alternative is taken. */
static int check_features(const struct tg_check_view *view, const struct tg_check_ask *ask,
                          const struct tg_exact_request *exact)
{
    if (exact->admin_access.set && !tg_check_has(view, TG_CHECK_ADMIN_ACCESS))
        return tg_check_broken(view, "Feature", ask->claim, ask, NULL,
                               "adminAccess is not switched on");
    if (exact->capacity != NULL && !tg_check_has(view, TG_CHECK_CONSUMABLE_CAPACITY))
        return tg_check_broken(view, "Feature", ask->claim, ask, NULL,
                               "requests of capacity are not switched on");
    if (exact->allocation_mode != NULL && !tg_streq(exact->allocation_mode, "All") &&
        !tg_streq(exact->allocation_mode, "ExactCount"))
        return tg_check_broken(view, "Structure", ask->claim, ask, NULL,
                               "allocation mode %s is not known", exact->allocation_mode);
    return 0;
}

static int add_ask(struct tg_check_view *view, size_t claim,
                   const struct tg_device_request *request)
{
    struct tg_check_ask *ask = &view->asks[view->n_asks++];
    int rc = 0;

    *ask =
        (struct tg_check_ask){.claim = claim, .request = request, .name = tg_or(request->name, "")};
    if ((request->exactly == NULL) == (request->first_available.n == 0))
        return tg_check_broken(view, "Structure", claim, ask, NULL,
                               "a request has exactly or firstAvailable");
    if (request->exactly != NULL) {
        ask->exact = request->exactly;
        return check_features(view, ask, ask->exact);
    }
    if (!tg_check_has(view, TG_CHECK_PRIORITIZED_LIST))
        return tg_check_broken(view, "Feature", claim, ask, NULL,
                               "firstAvailable is not switched on");
    for (size_t i = 0; rc == 0 && i < request->first_available.n; i++)
        rc = check_features(view, ask, &request->first_available.items[i]);
    return rc;
}

/* The entry of firstAvailable that has the name; of several the one in turn. */
static const struct tg_exact_request *
alternative(struct tg_check_view *view, const struct tg_device_request *request, const char *name)
{
    const struct tg_exact_request *found = NULL;
    size_t n = 0;

    for (size_t i = 0; i < request->first_available.n; i++) {
        const struct tg_exact_request *a = &request->first_available.items[i];

        if (!tg_streq(a->name, name))
            continue;
        if (n <= view->namesake)
            found = a;
        n++;
    }
    if (n > view->n_namesakes)
        view->n_namesakes = n;
    return found;
}

/* The request of the claim (its requests are the last ones) that a result names. */
static struct tg_check_ask *ask_of(struct tg_check_view *view, size_t from, const char *name,
                                   const char **ret_sub)
{
    size_t n = strcspn(name, "/");

    *ret_sub = name[n] == '/' ? name + n + 1 : NULL;
    for (size_t i = from; i < view->n_asks; i++) {
        const char *own = tg_or(view->asks[i].request->name, "");

        if (strlen(own) == n && memcmp(own, name, n) == 0)
            return &view->asks[i];
    }
    return NULL;
}

static int add_pick(struct tg_check_view *view, size_t claim, size_t from,
                    const struct tg_allocation_device *result)
{
    const struct tg_exact_request *exact;
    const char *sub, *name = tg_or(result->request, "");
    struct tg_check_ask *ask = ask_of(view, from, name, &sub);
    struct tg_check_pick pick = {.ask = ask, .result = result};

    if (result->driver == NULL || result->pool == NULL || result->device == NULL)
        return tg_check_broken(view, "Structure", claim, NULL, NULL,
                               "a result has driver, pool and device");
    if (ask == NULL || (sub == NULL) != (ask->request->exactly != NULL))
        return tg_check_broken(view, "Structure", claim, NULL, &pick,
                               "the result is for \"%s\", which is no request of the claim", name);
    exact = sub == NULL ? ask->exact : alternative(view, ask->request, sub);
    if (exact == NULL)
        return tg_check_broken(view, "Structure", claim, ask, &pick,
                               "there is no alternative \"%s\"", sub);
    if (ask->exact != NULL && ask->exact != exact)
        return tg_check_broken(view, "FirstAvailable", claim, ask, &pick,
                               "results of two alternatives, %s is another", name);
    ask->exact = exact;
    ask->name = name;
    ask->n++;
    view->picks[view->n_picks++] = pick;
    return 0;
}

static const struct tg_device_class *class_named(const struct tg_check_view *view, const char *name)
{
    for (size_t i = 0; i < view->in->n_classes; i++) {
        const struct tg_object_meta *meta = view->in->classes[i]->metadata;

        if (meta != NULL && tg_streq(meta->name, name))
            return view->in->classes[i];
    }
    return NULL;
}

static int check_ask(const struct tg_check_view *view, struct tg_check_ask *ask)
{
    int64_t count;

    if (ask->exact == NULL)
        return tg_check_broken(view, "FirstAvailable", ask->claim, ask, NULL,
                               "no alternative was taken");
    ask->all = tg_streq(ask->exact->allocation_mode, "All");
    ask->admin = ask->exact->admin_access.set && ask->exact->admin_access.value;
    ask->klass = class_named(view, ask->exact->device_class_name);
    if (ask->klass == NULL)
        return tg_check_broken(view, "Unknown", ask->claim, ask, NULL, "there is no class \"%s\"",
                               tg_or(ask->exact->device_class_name, ""));
    count = ask->exact->count.set ? ask->exact->count.value : 1;
    if (!ask->all && (int64_t)ask->n != count)
        return tg_check_broken(view, "Count", ask->claim, ask, NULL,
                               "%zu devices, %" PRId64 " are asked for", ask->n, count);
    return 0;
}

int tg_check_requests(struct tg_check_view *view)
{
    int rc = count_all(view);

    for (size_t c = 0; rc == 0 && c < view->in->n_claims; c++) {
        const struct tg_device_claim *spec = view->in->claims[c].claim->spec->devices;
        const struct tg_allocation_devices *got =
            tg_check_allocation_of(&view->in->claims[c])->devices;
        size_t from = view->n_asks;

        for (size_t i = 0; rc == 0 && i < spec->requests.n; i++)
            rc = add_ask(view, c, &spec->requests.items[i]);
        for (size_t i = 0; rc == 0 && i < got->results.n; i++)
            rc = add_pick(view, c, from, &got->results.items[i]);
        for (size_t i = from; rc == 0 && i < view->n_asks; i++)
            rc = check_ask(view, &view->asks[i]);
    }
    return rc;
}
