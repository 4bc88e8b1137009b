/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/audit/grants.h"

#include <stdlib.h>

#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/audit/parts.h"
#include "controller/core/cel/selector.h"
#include "controller/core/check/check.h"
#include "controller/gather/grant.h"

/* A class that is not ours, as the built-in allocator reads it. */
struct reader {
    const struct tg_device_class *klass;
    struct tg_selector **selectors;
    size_t n;
};

struct tg_grants {
    const struct tg_view *view;
    const char *instance;
    int64_t now;
    const struct tg_resource_slice **slices; /* by node; those of no node first */
    size_t n_slices, n_anywhere;
    struct reader *readers;
    size_t n_readers;
};

/* Which rules of core/check are told of which allocations: the others break when the world changes
 * under an allocation that was right. */
enum told { TOLD_NEVER, TOLD_YOUNG, TOLD_ALWAYS };
static const struct {
    const char *rule;
    enum told told;
} rules[] = {
    {"Structure", TOLD_ALWAYS},     {"Count", TOLD_ALWAYS},       {"Tolerations", TOLD_ALWAYS},
    {"NodeSelector", TOLD_ALWAYS},  {"AdminAccess", TOLD_ALWAYS}, {"Share", TOLD_ALWAYS},
    {"Selector", TOLD_YOUNG},       {"All", TOLD_YOUNG},          {"FirstAvailable", TOLD_YOUNG},
    {"MatchAttribute", TOLD_YOUNG}, {"Config", TOLD_YOUNG},       {"DistinctAttribute", TOLD_YOUNG},
};

static int out_of_memory(struct tg_error *err)
{
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the memory budget of an audit is used up");
}

/* --- what is needed of the cluster ----------------------------------------------------------- */

static const char *node_of(const struct tg_resource_slice *slice)
{
    return tg_or(slice->spec->node_name, "");
}

static int compare_slices(const void *pa, const void *pb)
{
    const struct tg_resource_slice *a = *(const struct tg_resource_slice *const *)pa;
    const struct tg_resource_slice *b = *(const struct tg_resource_slice *const *)pb;
    int order = tg_strcmp(node_of(a), node_of(b));

    return order != 0 ? order : tg_strcmp(a->metadata->name, b->metadata->name);
}

static int sort_slices(struct tg_grants *grants, struct tg_arena *arena)
{
    const struct tg_view_list *list = &grants->view->lists[TG_VIEW_SLICE];

    grants->slices = tg_arena_alloc_array(arena, list->n, sizeof(*grants->slices));
    if (grants->slices == NULL)
        return -1;
    for (size_t i = 0; i < list->n; i++) {
        const struct tg_resource_slice *slice = list->items[i];

        if (slice->spec != NULL)
            grants->slices[grants->n_slices++] = slice;
    }
    if (grants->n_slices > 0)
        qsort(grants->slices, grants->n_slices, sizeof(const void *), compare_slices);
    while (grants->n_anywhere < grants->n_slices &&
           node_of(grants->slices[grants->n_anywhere])[0] == '\0')
        grants->n_anywhere++;
    return 0;
}

/* A class whose selectors are not understood is not judged: who serves it tells. */
static int read_class(struct tg_grants *grants, const struct tg_device_class *klass,
                      struct tg_arena *arena)
{
    struct reader *reader = &grants->readers[grants->n_readers];
    size_t n = klass->spec == NULL ? 0 : klass->spec->selectors.n;

    *reader = (struct reader){.klass = klass};
    reader->selectors = tg_arena_alloc_array(arena, n, sizeof(struct tg_selector *));
    if (reader->selectors == NULL)
        return -1;
    for (; reader->n < n; reader->n++) {
        const struct tg_cel_selector *cel = klass->spec->selectors.items[reader->n].cel;

        if (cel == NULL || cel->expression == NULL ||
            tg_selector_compile_with(cel->expression, grants->view->selectors, arena,
                                     &reader->selectors[reader->n], NULL) < 0)
            return 0;
    }
    grants->n_readers++;
    return 0;
}

static int read_classes(struct tg_grants *grants, struct tg_arena *arena)
{
    const struct tg_view_list *list = &grants->view->lists[TG_VIEW_CLASS];
    int r = 0;

    grants->readers = tg_arena_alloc_array(arena, list->n, sizeof(*grants->readers));
    if (grants->readers == NULL)
        return -1;
    for (size_t i = 0; r == 0 && i < list->n; i++)
        if (tg_class_kind(list->items[i], grants->instance) == TG_CLASS_UNMANAGED)
            r = read_class(grants, list->items[i], arena);
    return r;
}

int tg_grants_open(const struct tg_view *view, const char *instance, int64_t now,
                   struct tg_arena *arena, struct tg_grants **ret, struct tg_error *err)
{
    struct tg_grants *grants = tg_arena_alloc(arena, sizeof(*grants));

    if (grants == NULL)
        return out_of_memory(err);
    *grants = (struct tg_grants){.view = view, .instance = instance, .now = now};
    if (sort_slices(grants, arena) < 0 || read_classes(grants, arena) < 0)
        return out_of_memory(err);
    *ret = grants;
    return 0;
}

/* --- one allocation -------------------------------------------------------------------------- */

struct judging {
    const struct tg_grants *grants;
    const struct tg_resource_claim *claim;
    struct tg_auditing auditing;
    struct tg_arena *arena;
};

static int64_t allocated_at(const struct tg_resource_claim *claim)
{
    const char *text = claim->status->allocation->allocation_timestamp;
    int64_t ns;

    return text != NULL && tg_time_parse(text, &ns, NULL) == 0 ? ns : 0;
}

static bool is_told(const struct judging *j, const char *rule)
{
    bool young = j->grants->now - allocated_at(j->claim) < TG_GRANTS_YOUNG;

    for (size_t i = 0; i < TG_ARRAY_SIZE(rules); i++)
        if (tg_streq(rules[i].rule, rule))
            return rules[i].told == TOLD_ALWAYS || (young && rules[i].told == TOLD_YOUNG);
    return false;
}

/* Slices of the node and those of no node, one behind the other; NULL: no memory. */
static const struct tg_resource_slice **slices_at(const struct judging *j, const char *node,
                                                  size_t *ret_n)
{
    const struct tg_grants *g = j->grants;
    const struct tg_resource_slice **ret;
    size_t low = g->n_anywhere, high = g->n_slices, n = 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tg_strcmp(node_of(g->slices[middle]), node) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + n < g->n_slices && tg_streq(node_of(g->slices[low + n]), node))
        n++;
    ret = tg_arena_alloc_array(j->arena, g->n_anywhere + n, sizeof(*ret));
    for (size_t i = 0; ret != NULL && i < g->n_anywhere; i++)
        ret[i] = g->slices[i];
    for (size_t i = 0; ret != NULL && i < n; i++)
        ret[g->n_anywhere + i] = g->slices[low + i];
    *ret_n = g->n_anywhere + n;
    return ret;
}

static int check_validity(struct judging *j, const struct tg_node *node,
                          const struct tg_resource_slice *const *slices, size_t n)
{
    const struct tg_view *view = j->grants->view;
    const struct tg_check_claim claim = {.claim = j->claim};
    const struct tg_check_input input = {
        .node = node,
        .classes =
            (const struct tg_device_class *const *)(const void *)view->lists[TG_VIEW_CLASS].items,
        .n_classes = view->lists[TG_VIEW_CLASS].n,
        .slices = slices,
        .n_slices = n,
        .features = TG_CHECK_ALL_FEATURES,
        .minor = view->selectors == NULL || view->selectors->minor == 0 ? TG_CHECK_NEWEST_MINOR
                                                                        : view->selectors->minor,
        .zones = view->selectors == NULL ? NULL : view->selectors->zones,
        .claims = &claim,
        .n_claims = 1};
    struct tg_error why = TG_ERROR_INIT;
    int r = tg_check_allocation(&input, j->arena, &why);

    if (r == -TG_RESOURCE_EXHAUSTED)
        return tg_audit_out_of_memory(&j->auditing);
    if (r != -TG_FAILED_PRECONDITION || !is_told(j, why.reason))
        return 0;
    return tg_audit_found(&j->auditing, TG_FOUND_INVALID_ALLOCATION, &tg_kind_resource_claim,
                          j->claim->metadata, "its allocation is not what it asks for (%s): %s",
                          why.reason, why.message);
}

static bool reaches(const struct reader *reader, const char *driver, const struct tg_device *device)
{
    for (size_t i = 0; i < reader->n; i++) {
        bool match = false;

        if (tg_selector_matches_published(reader->selectors[i], driver, device, &match, NULL) < 0 ||
            !match)
            return false;
    }
    return true;
}

/* A class that came after the allocation is told of by itself. */
static bool came_later(const struct judging *j, const struct reader *reader)
{
    const char *text = reader->klass->metadata->creation_timestamp;
    int64_t created;

    return text != NULL && tg_time_parse(text, &created, NULL) == 0 &&
           created > allocated_at(j->claim);
}

static int check_device(struct judging *j, const struct tg_allocation_device *result,
                        const struct tg_device *device)
{
    for (size_t i = 0; i < j->grants->n_readers; i++) {
        const struct reader *reader = &j->grants->readers[i];

        if (came_later(j, reader) || !reaches(reader, result->driver, device))
            continue;
        return tg_audit_found(&j->auditing, TG_FOUND_CONTESTED_DEVICE, &tg_kind_resource_claim,
                              j->claim->metadata,
                              "device %s/%s/%s is reached by DeviceClass %s as well, which is not "
                              "managed: others may be given it",
                              tg_or(result->driver, ""), tg_or(result->pool, ""),
                              tg_or(result->device, ""), reader->klass->metadata->name);
    }
    return 0;
}

static const struct tg_device *find_device(const struct tg_resource_slice *const *slices, size_t n,
                                           const struct tg_allocation_device *result)
{
    for (size_t i = 0; i < n; i++) {
        const struct tg_resource_slice_spec *spec = slices[i]->spec;

        if (spec->pool == NULL || !tg_streq(spec->driver, result->driver) ||
            !tg_streq(spec->pool->name, result->pool))
            continue;
        for (size_t k = 0; k < spec->devices.n; k++)
            if (tg_streq(spec->devices.items[k].name, result->device))
                return &spec->devices.items[k];
    }
    return NULL;
}

static int check_reach(struct judging *j, const struct tg_resource_slice *const *slices, size_t n)
{
    const struct tg_allocation_devices *devices = j->claim->status->allocation->devices;
    int r = 0;

    for (size_t i = 0;
         r == 0 && j->grants->n_readers > 0 && devices != NULL && i < devices->results.n; i++) {
        const struct tg_device *device = find_device(slices, n, &devices->results.items[i]);

        if (device != NULL && !devices->results.items[i].admin_access.value)
            r = check_device(j, &devices->results.items[i], device);
    }
    return r;
}

int tg_grants_check(const struct tg_grants *grants, const struct tg_resource_claim *claim,
                    const struct tg_node *node, struct tg_arena *arena, struct tg_findings *ret,
                    struct tg_error *err)
{
    struct judging j = {.grants = grants,
                        .claim = claim,
                        .arena = arena,
                        .auditing = {.view = grants->view,
                                     .instance = grants->instance,
                                     .arena = arena,
                                     .out = ret,
                                     .err = err}};
    const struct tg_resource_slice **slices;
    struct tg_plan_marker marker;
    size_t n;
    int r;

    if (node == NULL || claim->spec == NULL || !tg_claim_marker(claim, arena, &marker) ||
        !tg_streq(tg_or(marker.instance, TG_INSTANCE_DEFAULT), grants->instance))
        return 0;
    slices = slices_at(&j, node->metadata->name, &n);
    if (slices == NULL)
        return tg_audit_out_of_memory(&j.auditing);
    r = check_validity(&j, node, slices, n);
    return r < 0 ? r : check_reach(&j, slices, n);
}
