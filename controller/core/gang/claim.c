/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/claim.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/core/cel/selector.h"
#include "controller/core/gang/place.h"

/* Bytes that all selectors of one claim may need: far more than the API's limits allow. */
#define CHECK_BUDGET ((size_t)16 * 1024 * 1024)

size_t tg_request_count(const struct tg_exact_request *request)
{
    return request->count.set ? (size_t)request->count.value : 1;
}

/* The forms that a request may have; an alternative of firstAvailable has all but the first two. */
static bool has_no_known_form(const struct tg_exact_request *request)
{
    return request == NULL;
}

static bool has_unknown_mode(const struct tg_exact_request *request)
{
    return request->allocation_mode != NULL && !tg_streq(request->allocation_mode, "ExactCount") &&
           !tg_streq(request->allocation_mode, "All");
}

/* In this order: later ones look into the request. */
static const struct {
    bool (*applies)(const struct tg_exact_request *request);
    const char *field, *instead;
} unsupported[] = {
    {has_no_known_form, "a form other than exactly and firstAvailable", "use exactly"},
    {has_unknown_mode, "allocationMode", "use ExactCount with a count, or All"},
};

/* Devices that it has at least: of All one. TG_RESULTS_MAX + 1 stands for all larger numbers. */
static int check_form(const char *name, const struct tg_exact_request *request, size_t *ret_least,
                      struct tg_error *err)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(unsupported); i++) {
        if (unsupported[i].applies(request))
            return tg_error_set(err, TG_UNIMPLEMENTED,
                                "request %s: %s is not supported in this version: %s", name,
                                unsupported[i].field, unsupported[i].instead);
    }
    *ret_least = 1;
    if (tg_streq(request->allocation_mode, "All"))
        return 0;
    if (request->count.set && request->count.value < 1)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "request %s: count must be at least 1", name);
    *ret_least = request->count.set && request->count.value > TG_RESULTS_MAX
                     ? TG_RESULTS_MAX + 1
                     : tg_request_count(request);
    return 0;
}

static int check_request(const struct tg_device_request *request, size_t *total,
                         struct tg_error *err)
{
    const char *name = tg_or(request->name, "?");
    size_t least = TG_RESULTS_MAX + 1;
    int rc = 0;

    if (request->first_available.n == 0)
        rc = check_form(name, request->exactly, &least, err);
    for (size_t i = 0; rc == 0 && i < request->first_available.n; i++) {
        size_t one = 0;

        rc = check_form(name, &request->first_available.items[i], &one, err);
        least = one < least ? one : least;
    }
    if (rc < 0)
        return rc;
    *total += least;
    if (*total > TG_RESULTS_MAX)
        return tg_error_set(
            err, TG_INVALID_ARGUMENT,
            "request %s: a claim cannot have more than %d devices; use several claims", name,
            TG_RESULTS_MAX);
    return 0;
}

static int check_constraints(const struct tg_device_claim *devices, struct tg_error *err)
{
    for (size_t i = 0; i < devices->constraints.n; i++) {
        if (devices->constraints.items[i].match_attribute == NULL &&
            devices->constraints.items[i].distinct_attribute == NULL)
            return tg_error_set(err, TG_UNIMPLEMENTED,
                                "spec.devices.constraints[%zu]: only matchAttribute and "
                                "distinctAttribute are known",
                                i);
    }
    return 0;
}

int tg_claim_supported(const struct tg_resource_claim *claim, size_t *ret_devices,
                       struct tg_error *err)
{
    const struct tg_device_claim *devices = claim->spec == NULL ? NULL : claim->spec->devices;
    size_t total = 0;
    int rc = 0;

    if (devices != NULL)
        rc = check_constraints(devices, err);
    for (size_t i = 0; rc == 0 && devices != NULL && i < devices->requests.n; i++)
        rc = check_request(&devices->requests.items[i], &total, err);
    if (rc < 0)
        return tg_error_wrap(err, "claim %s/%s", tg_or(claim->metadata->namespace_, ""),
                             tg_or(claim->metadata->name, "?"));
    *ret_devices = total;
    return 0;
}

/* What the classes of a claim are to us. */
struct tally {
    const struct tg_device_class *managed, *unguarded, *other;
    const char *unknown;
};

static void count_class(const struct tg_device_class *const *classes, size_t n,
                        const char *instance, const char *name, struct tally *tally)
{
    for (size_t i = 0; i < n; i++) {
        if (!tg_streq(classes[i]->metadata->name, name))
            continue;
        switch (tg_class_kind(classes[i], instance)) {
        case TG_CLASS_MANAGED:
            tally->managed = classes[i];
            return;
        case TG_CLASS_UNGUARDED:
            tally->unguarded = classes[i];
            return;
        case TG_CLASS_UNMANAGED:
        case TG_CLASS_OTHER_INSTANCE:
            tally->other = classes[i];
            return;
        }
    }
    if (tally->unknown == NULL)
        tally->unknown = tg_or(name, "");
}

static struct tally count_classes(const struct tg_device_class *const *classes, size_t n,
                                  const char *instance, const struct tg_device_claim *devices)
{
    struct tally tally = {.managed = NULL};

    for (size_t i = 0; devices != NULL && i < devices->requests.n; i++) {
        const struct tg_device_request *request = &devices->requests.items[i];

        if (request->exactly != NULL)
            count_class(classes, n, instance, request->exactly->device_class_name, &tally);
        for (size_t k = 0; k < request->first_available.n; k++)
            count_class(classes, n, instance, request->first_available.items[k].device_class_name,
                        &tally);
    }
    return tally;
}

/* A claim that says it is a gang's is ours even while its class is not there. */
static bool is_member(const struct tg_device_claim *devices)
{
    for (size_t i = 0; devices != NULL && i < devices->config.n; i++) {
        const struct tg_opaque_config *opaque = devices->config.items[i].opaque;

        if (opaque != NULL && tg_streq(opaque->driver, TG_MARKER_DRIVER))
            return true;
    }
    return false;
}

static int check_classes(const struct tally *tally, struct tg_error *err)
{
    if (tally->unknown != NULL)
        return tg_error_set(err, TG_NOT_FOUND, "there is no DeviceClass %s", tally->unknown);
    if (tally->other != NULL && (tally->managed != NULL || tally->unguarded != NULL))
        return tg_error_set(
            err, TG_INVALID_ARGUMENT,
            "DeviceClass %s is managed by this controller and %s is not: one claim cannot mix "
            "them, use two claims",
            (tally->managed != NULL ? tally->managed : tally->unguarded)->metadata->name,
            tally->other->metadata->name);
    if (tally->unguarded != NULL)
        return tg_error_set(err, TG_FAILED_PRECONDITION,
                            "DeviceClass %s carries the label " TG_LABEL_CONTROLLER
                            " without the guard: add %s as an entry of its spec.selectors",
                            tally->unguarded->metadata->name, TG_GUARD_EXPRESSION);
    return 0;
}

struct checking {
    const struct tg_selector_options *options;
    struct tg_arena *arena;
};

static int check_selectors(const struct tg_device_selector *items, size_t n, const char *kind,
                           const char *name, const struct checking *checking, struct tg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct tg_selector *selector;
        int rc = 0;

        if (items[i].cel == NULL || items[i].cel->expression == NULL)
            return tg_error_set(err, TG_UNIMPLEMENTED, "%s %s: selectors[%zu]: only cel is known",
                                kind, name, i);
        rc = tg_selector_compile_with(items[i].cel->expression, checking->options, checking->arena,
                                      &selector, err);
        if (rc < 0)
            return tg_error_wrap(err, "%s %s: selectors[%zu]", kind, name, i);
    }
    return 0;
}

static int check_class_selectors(const struct tg_device_class *const *classes, size_t n,
                                 const char *name, const struct checking *checking,
                                 struct tg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (tg_streq(classes[i]->metadata->name, name))
            return check_selectors(classes[i]->spec->selectors.items, classes[i]->spec->selectors.n,
                                   "DeviceClass", name, checking, err);
    }
    return 0;
}

static int check_request_selectors(const struct tg_device_class *const *classes, size_t n,
                                   const struct tg_exact_request *request, const char *name,
                                   const struct checking *checking, struct tg_error *err)
{
    int rc = check_class_selectors(classes, n, request->device_class_name, checking, err);

    return rc < 0 ? rc
                  : check_selectors(request->selectors.items, request->selectors.n, "request",
                                    tg_or(name, "?"), checking, err);
}

static int check_all_selectors(const struct tg_device_class *const *classes, size_t n,
                               const struct tg_device_claim *devices,
                               const struct tg_selector_options *options, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(CHECK_BUDGET);
    const struct checking checking = {.options = options, .arena = arena};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < devices->requests.n; i++) {
        const struct tg_device_request *request = &devices->requests.items[i];

        if (request->first_available.n == 0)
            rc = check_request_selectors(classes, n, request->exactly, request->name, &checking,
                                         err);
        for (size_t k = 0; rc == 0 && k < request->first_available.n; k++)
            rc = check_request_selectors(classes, n, &request->first_available.items[k],
                                         request->name, &checking, err);
    }
    return rc;
}

int tg_claim_check(const struct tg_device_class *const *classes, size_t n_classes,
                   const char *instance, const struct tg_selector_options *options,
                   const struct tg_resource_claim *claim, bool *ret_managed, struct tg_error *err)
{
    const struct tg_device_claim *devices = claim->spec == NULL ? NULL : claim->spec->devices;
    struct tally tally = count_classes(classes, n_classes, instance, devices);
    struct tg_error own = TG_ERROR_INIT;
    size_t n = 0;
    int rc = 0;

    *ret_managed = tally.managed != NULL || tally.unguarded != NULL;
    if (!*ret_managed && !(tally.unknown != NULL && tally.other == NULL && is_member(devices)))
        return 0;
    *ret_managed = true;
    err = err != NULL ? err : &own;
    rc = check_classes(&tally, err);
    if (rc == 0)
        rc = tg_claim_supported(claim, &n, err);
    else
        tg_error_wrap(err, "claim %s/%s", tg_or(claim->metadata->namespace_, ""),
                      tg_or(claim->metadata->name, "?"));
    if (rc == 0) {
        rc = check_all_selectors(classes, n_classes, devices, options, err);
        if (rc < 0)
            tg_error_wrap(err, "claim %s/%s", tg_or(claim->metadata->namespace_, ""),
                          tg_or(claim->metadata->name, "?"));
    }
    return rc;
}
