/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cases/alloc_case.h"

#include <string.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "controller/core/model/sort.h"

#define OBJECT_MAX_BYTES ((size_t)64 * 1024 * 1024)

/* head: development of 1.37 as of July 2026, before kubernetes#140769. */
static const struct alloc_version versions[] = {
    {"head", 37, TG_QUIRK_ALL_SKIPS_USED},   {"0.37.2", 37, 0},
    {"0.36.2", 36, TG_QUIRK_ALL_SKIPS_USED}, {"0.35.6", 35, TG_QUIRK_ALL_SKIPS_USED},
    {"0.34", 34, TG_QUIRK_ALL_SKIPS_USED},
};

const struct alloc_version *alloc_version_named(const char *name)
{
    if (name[0] == 'v')
        name++;
    for (size_t i = 0; i < TG_ARRAY_SIZE(versions); i++) {
        if (strcmp(versions[i].name, name) == 0)
            return &versions[i];
    }
    return NULL;
}

const struct alloc_version *alloc_version_of_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;

    for (size_t i = 0; i < TG_ARRAY_SIZE(versions); i++) {
        char minor[8] = "";

        /* "0.36" stands for all of its patches. */
        if (versions[i].name[0] == '0')
            memcpy(minor, versions[i].name, 4);
        if (minor[0] != '\0' && strstr(name, minor) != NULL)
            return &versions[i];
    }
    return &versions[0];
}

/* What the reading of one case passes around. */
struct reader {
    struct alloc_case *c;
    struct tg_error *err;
};

static int bad(struct reader *r, const char *what)
{
    tg_error_set(r->err, TG_INVALID_ARGUMENT, "not understood: %s", what);
    return -1;
}

static const char *text_of(struct reader *r, const struct tg_json *json)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(OBJECT_MAX_BYTES);

    return tg_json_write(json, &buf) < 0 ? NULL : tg_arena_strndup(r->c->arena, buf.data, buf.len);
}

static int read_object(struct reader *r, const struct tg_json *json, const struct tg_type *type,
                       void *ret)
{
    const char *text = text_of(r, json);
    void *object = NULL;

    if (text == NULL)
        return bad(r, type->name);
    if (tg_json_decode_new(type, text, strlen(text), r->c->arena, &object, r->err) < 0)
        return -1;
    memcpy(ret, &object, sizeof(object));
    return 0;
}

static int read_list(struct reader *r, const char *key, const struct tg_type *type, void *ret,
                     size_t *ret_n)
{
    const struct tg_json *list = tg_json_get(r->c->json, key);
    size_t n = list == NULL ? 0 : list->n;
    void **items;
    int rc = tg_core_alloc(r->c->arena, n, sizeof(*items), &items, r->err);

    if (list != NULL && list->kind != TG_JSON_ARRAY && list->kind != TG_JSON_NULL)
        return bad(r, key);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = read_object(r, list->items[i], type, &items[i]);
    memcpy(ret, &items, sizeof(items));
    *ret_n = n;
    return rc;
}

static int read_features(struct reader *r, const struct alloc_version *version)
{
    const struct tg_json *list = tg_json_get(r->c->json, "features");

    r->c->rules = (struct tg_rules){.release = version->release, .features = version->quirks};
    for (size_t i = 0; list != NULL && i < list->n; i++) {
        const char *name = tg_json_string(list->items[i]);
        unsigned feature = name == NULL ? 0 : tg_feature_parse(name);

        if (feature == 0)
            return bad(r, tg_or(name, "features"));
        r->c->rules.features |= feature;
    }
    return 0;
}

/* "driver/pool/device"; the pool may have slashes of its own. */
static int split_device(struct reader *r, const char *id, struct tg_check_held *ret)
{
    char *copy = id == NULL ? NULL : tg_arena_strdup(r->c->arena, id);
    char *first = copy == NULL ? NULL : strchr(copy, '/');
    char *last = copy == NULL ? NULL : strrchr(copy, '/');

    if (first == last)
        return bad(r, "allocated: driver/pool/device expected");
    *first = *last = '\0';
    *ret = (struct tg_check_held){.driver = copy, .pool = first + 1, .device = last + 1};
    return 0;
}

static int add_capacity(struct reader *r, const char *id, const struct tg_json *amounts)
{
    struct tg_check_held device;

    if (split_device(r, id, &device) < 0)
        return -1;
    for (size_t i = 0; i < amounts->n; i++) {
        r->c->consumed[r->c->n_consumed++] =
            (struct tg_check_consumed){.driver = device.driver,
                                       .pool = device.pool,
                                       .device = device.device,
                                       .capacity = amounts->keys[i],
                                       .quantity = amounts->items[i]->text};
        if (amounts->items[i]->text == NULL)
            return bad(r, "allocated.capacity");
    }
    return 0;
}

static size_t members(const struct tg_json *json)
{
    return json == NULL ? 0 : json->n;
}

/* Devices, shares and capacity in use, as the checker wants them. */
static int read_allocated(struct reader *r)
{
    const struct tg_json *allocated = tg_json_get(r->c->json, "allocated");
    const struct tg_json *devices = tg_json_get(allocated, "devices");
    const struct tg_json *shared = tg_json_get(allocated, "sharedDevices");
    const struct tg_json *capacity = tg_json_get(allocated, "capacity");
    size_t n_amounts = 0;
    int rc = 0;

    for (size_t i = 0; i < members(capacity); i++)
        n_amounts += capacity->items[i]->n;
    rc = tg_core_alloc(r->c->arena, members(devices) + members(shared), sizeof(*r->c->held),
                       &r->c->held, r->err);
    if (rc == 0)
        rc =
            tg_core_alloc(r->c->arena, n_amounts, sizeof(*r->c->consumed), &r->c->consumed, r->err);
    for (size_t i = 0; rc == 0 && i < members(devices); i++)
        rc = split_device(r, tg_json_string(devices->items[i]), &r->c->held[r->c->n_held++]);
    for (size_t i = 0; rc == 0 && i < members(shared); i++) {
        struct tg_check_held *held = &r->c->held[r->c->n_held++];

        rc = split_device(r, tg_json_string(tg_json_get(shared->items[i], "device")), held);
        held->share_id = tg_or(tg_json_string(tg_json_get(shared->items[i], "shareID")), "share");
    }
    for (size_t i = 0; rc == 0 && i < members(capacity); i++)
        rc = add_capacity(r, capacity->keys[i], capacity->items[i]);
    return rc;
}

/* The same as a claim that holds it: one result for each device and share; what is consumed goes to
 * results of its own. */
static int write_others(struct reader *r)
{
    size_t n = r->c->n_held + r->c->n_consumed;
    struct tg_allocation_device *results;
    struct {
        struct tg_resource_claim claim;
        struct tg_object_meta meta;
        struct tg_resource_claim_status status;
        struct tg_allocation allocation;
        struct tg_allocation_devices devices;
    } * o;
    int rc = tg_core_alloc(r->c->arena, n, sizeof(*results), &results, r->err);

    if (rc == 0)
        rc = tg_core_alloc(r->c->arena, 1, sizeof(*o), &o, r->err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < r->c->n_held; i++) {
        const struct tg_check_held *held = &r->c->held[i];

        results[i] = (struct tg_allocation_device){.request = "r",
                                                   .driver = held->driver,
                                                   .pool = held->pool,
                                                   .device = held->device,
                                                   .share_id = held->share_id};
    }
    for (size_t i = 0; i < r->c->n_consumed; i++) {
        const struct tg_check_consumed *used = &r->c->consumed[i];

        results[r->c->n_held + i] = (struct tg_allocation_device){
            .request = "r",
            .driver = used->driver,
            .pool = used->pool,
            .device = used->device,
            .share_id = "consumed",
            .consumed_capacity =
                tg_arena_printf(r->c->arena, "{\"%s\":\"%s\"}", used->capacity, used->quantity)};
    }
    o->meta = (struct tg_object_meta){.name = "others", .namespace_ = "allocated", .uid = "others"};
    o->devices.results.items = results;
    o->devices.results.n = n;
    o->allocation.devices = &o->devices;
    o->status.allocation = &o->allocation;
    o->claim.metadata = &o->meta;
    o->claim.status = &o->status;
    r->c->others = &o->claim;
    return 0;
}

int alloc_case_read(const struct tg_json *json, const struct alloc_version *version,
                    struct tg_arena *arena, struct alloc_case *ret, struct tg_error *err)
{
    struct reader r = {.c = ret, .err = err};
    const char *named = tg_json_string(tg_json_get(json, "version"));
    const struct tg_json *node = tg_json_get(json, "node");
    int rc = 0;

    *ret = (struct alloc_case){.arena = arena,
                               .json = json,
                               .name = tg_or(tg_json_string(tg_json_get(json, "name")), "?")};
    if (named != NULL)
        version = alloc_version_named(named);
    if (version == NULL)
        return bad(&r, "version");
    rc = read_features(&r, version);
    if (rc == 0)
        rc = node == NULL ? bad(&r, "no node") : read_object(&r, node, &tg_node_type, &ret->node);
    if (rc == 0)
        rc = read_list(&r, "deviceClasses", &tg_device_class_type, &ret->classes, &ret->n_classes);
    if (rc == 0)
        rc = read_list(&r, "resourceSlices", &tg_resource_slice_type, &ret->slices, &ret->n_slices);
    if (rc == 0)
        rc = read_list(&r, "claims", &tg_resource_claim_type, &ret->claims, &ret->n_claims);
    if (rc == 0)
        rc = read_allocated(&r);
    if (rc == 0)
        rc = write_others(&r);
    return rc < 0 ? -1 : 0;
}

static const struct tg_device_class *find_class(const void *data, const char *name)
{
    const struct alloc_case *c = data;

    for (size_t i = 0; i < c->n_classes; i++) {
        if (c->classes[i]->metadata != NULL && tg_streq(c->classes[i]->metadata->name, name))
            return c->classes[i];
    }
    return NULL;
}

static int view_of(const struct alloc_case *c, struct tg_view *ret, struct tg_error *err)
{
    const struct tg_node *const nodes[] = {c->node};
    const struct tg_resource_claim *const claims[] = {c->others};
    const struct tg_fleet_input input = {.nodes = nodes,
                                         .n_nodes = 1,
                                         .slices = c->slices,
                                         .n_slices = c->n_slices,
                                         .classes = c->classes,
                                         .n_classes = c->n_classes,
                                         .claims = claims,
                                         .n_claims = 1,
                                         .instance = "default"};
    struct tg_fleet *fleet = NULL;

    if (tg_fleet_new(&input, c->arena, &fleet, err) < 0)
        return -1;
    return tg_fleet_view(fleet, c->node->metadata->name, &c->rules, c->arena, ret, err) < 0 ? -1
                                                                                            : 0;
}

/* As the controller would: one of its own for each share. */
static int name_shares(const struct alloc_case *c, struct tg_allocation *allocations,
                       struct tg_error *err)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_claims; i++) {
        for (size_t k = 0; k < allocations[i].devices->results.n; k++) {
            struct tg_allocation_device *result = &allocations[i].devices->results.items[k];

            if (result->share_id == NULL)
                continue;
            result->share_id = tg_arena_printf(c->arena, "new-share-%zu", n++);
            if (result->share_id == NULL)
                return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory");
        }
    }
    return 0;
}

int alloc_case_run(const struct alloc_case *c, size_t max_steps, struct alloc_answer *ret,
                   struct tg_error *err)
{
    struct tg_fit_book book;
    struct tg_view view;
    int rc = 0;

    if (c->node->metadata == NULL || c->node->metadata->name == NULL) {
        tg_error_set(err, TG_INVALID_ARGUMENT, "the node has no name");
        return -1;
    }
    if (view_of(c, &view, err) < 0)
        return -1;
    tg_fit_book_init(&book, &c->rules, find_class, c, c->arena);
    rc = tg_core_alloc(c->arena, c->n_claims, sizeof(*ret->claims), &ret->claims, err);
    for (size_t i = 0; rc == 0 && i < c->n_claims; i++)
        rc = tg_fit_book_add(&book, c->claims[i], &ret->claims[i], err);
    if (rc == 0)
        rc = tg_fit_search(&book, &view, ret->claims, c->n_claims, max_steps, c->arena, &ret->fit,
                           err);
    if (rc == 0 && ret->fit.outcome == TG_FIT_ALLOCATED)
        rc = tg_fit_result(&book, &view, ret->claims, c->n_claims, &ret->fit, c->arena,
                           &ret->allocations, err);
    if (rc == 0 && ret->fit.outcome == TG_FIT_ALLOCATED)
        rc = name_shares(c, ret->allocations, err);
    return rc < 0 ? -1 : 0;
}

/* The features of the checker by the names that both have. */
static unsigned check_features(unsigned features)
{
    unsigned ret = 0;

    for (unsigned bit = 1; bit != 0; bit <<= 1) {
        const char *name = (features & bit) == 0 ? NULL : tg_feature_name(bit);

        if (name != NULL)
            ret |= tg_check_feature_named(name);
    }
    return ret;
}

int alloc_case_check(const struct alloc_case *c, const struct alloc_answer *answer,
                     struct tg_error *err)
{
    struct tg_check_claim *claims;
    struct tg_check_input input = {.node = c->node,
                                   .classes = c->classes,
                                   .n_classes = c->n_classes,
                                   .slices = c->slices,
                                   .n_slices = c->n_slices,
                                   .held = c->held,
                                   .n_held = c->n_held,
                                   .consumed = c->consumed,
                                   .n_consumed = c->n_consumed,
                                   .features = check_features(c->rules.features),
                                   .minor = c->rules.release,
                                   .n_claims = c->n_claims};
    int rc = tg_core_alloc(c->arena, c->n_claims, sizeof(*claims), &claims, err);

    for (size_t i = 0; rc == 0 && i < c->n_claims; i++)
        claims[i] =
            (struct tg_check_claim){.claim = c->claims[i], .allocation = &answer->allocations[i]};
    input.claims = claims;
    return rc < 0 ? rc : tg_check_allocation(&input, c->arena, err);
}
