/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cases/alloc_compare.h"

#include <stdio.h>
#include <string.h>

#include "api/kubernetes/values/quantity.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"

#define TEXT_MAX_BYTES ((size_t)16 * 1024 * 1024)

/* Texts of the built-in allocator by the class of the error that they stand for. */
static const struct {
    const char *text, *class;
} texts[] = {
    {"exceeds the claim limit", "claimLimit"},
    {"could not retrieve device class", "unknownClass"},
    {"missing device class name", "missingClass"},
    {"DRAPrioritizedList feature is disabled", "featureDisabled:DRAPrioritizedList"},
    {"DRAConsumableCapacity feature is disabled", "featureDisabled:DRAConsumableCapacity"},
    {"admin access is requested, but the feature is disabled", "featureDisabled:DRAAdminAccess"},
    {"undeclared reference", "celCompile"},
    {"CEL compile error", "celCompile"},
    {"unsupported attribute value", "unsupportedAttributeValue"},
    {"CEL runtime error", "celRuntime"},
    {"no such key", "celRuntime"},
    {"CEL expression empty", "unsupportedSelector"},
    {"unsupported count mode", "unsupportedMode"},
    {"empty constraint", "unsupportedConstraint"},
    {"is currently being updated", "poolIncompleteAll"},
    {"a claim constraint would not be satisfied", "constraintAll"},
    {"invalid resource pools were encountered", "invalidPools"},
    {"is currently invalid", "invalidPools"},
};

const char *alloc_outcome_name(enum tg_fit_outcome outcome)
{
    static const char *const names[] = {[TG_FIT_ALLOCATED] = "allocated",
                                        [TG_FIT_UNALLOCATABLE] = "unallocatable",
                                        [TG_FIT_ERROR] = "error",
                                        [TG_FIT_GAVE_UP] = "gaveUp"};

    return names[outcome];
}

const char *alloc_error_class(const struct alloc_case *c, const struct tg_fit_problem *problem)
{
    const char *name = tg_fit_fault_name(problem->fault);

    if (problem->fault == TG_FAULT_FEATURE_DISABLED)
        return tg_arena_printf(c->arena, "%s:DRA%s", name,
                               tg_or(tg_feature_name(problem->feature), "?"));
    return name;
}

/* The class that an expectation means: a text of the built-in allocator, or the class itself. The
 * gate may stand there without its "DRA". */
static bool same_class(const char *expected, const char *class)
{
    const char *gate = strchr(class, ':');

    for (size_t i = 0; i < TG_ARRAY_SIZE(texts); i++) {
        if (strstr(expected, texts[i].text) != NULL)
            return strcmp(texts[i].class, class) == 0;
    }
    if (strcmp(expected, class) == 0)
        return true;
    return gate != NULL && strncmp(expected, class, (size_t)(gate + 1 - class)) == 0 &&
           strcmp(expected + (gate + 1 - class), gate + 1 + strlen("DRA")) == 0;
}

struct comparison {
    const struct alloc_case *c;
    const struct alloc_answer *answer;
    const char *expected, *got;
};

__attribute__((format(printf, 3, 4))) static bool
differs(struct comparison *q, const char *expected, const char *format, ...)
{
    char text[4096];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    q->expected = expected;
    q->got = tg_arena_strdup(q->c->arena, text);
    return false;
}

static const char *show(const struct comparison *q, const struct tg_json *json)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(TEXT_MAX_BYTES);

    if (json == NULL || tg_json_write(json, &buf) < 0)
        return "nothing";
    return tg_arena_strndup(q->c->arena, buf.data, buf.len);
}

/* An object of ours as a tree. */
static const struct tg_json *tree_of(const struct comparison *q, const struct tg_type *type,
                                     const void *object)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(TEXT_MAX_BYTES);
    struct tg_json *tree = NULL;

    if (tg_json_encode(type, object, &buf, NULL) < 0 ||
        tg_json_parse(buf.data, buf.len, q->c->arena, &tree, NULL) < 0)
        return NULL;
    return tree;
}

/* null, {} and [] are nothing. */
static bool is_nothing(const struct tg_json *json)
{
    return json == NULL || json->kind == TG_JSON_NULL ||
           ((json->kind == TG_JSON_ARRAY || json->kind == TG_JSON_OBJECT) && json->n == 0);
}

/* Are the lists of requirements (of a term) or values equal, whatever their order? */
static bool same_set(const struct tg_json *a, const struct tg_json *b);

static bool same_member(const struct tg_json *a, const struct tg_json *b)
{
    if (a->kind == TG_JSON_ARRAY || b->kind == TG_JSON_ARRAY)
        return same_set(a, b);
    if (a->kind != TG_JSON_OBJECT || b->kind != TG_JSON_OBJECT)
        return tg_json_equal(a, b);
    for (size_t i = 0; i < a->n; i++) {
        const struct tg_json *other = tg_json_get(b, a->keys[i]);

        if (is_nothing(a->items[i]) ? !is_nothing(other)
                                    : other == NULL || !same_member(a->items[i], other))
            return false;
    }
    for (size_t i = 0; i < b->n; i++) {
        if (tg_json_get(a, b->keys[i]) == NULL && !is_nothing(b->items[i]))
            return false;
    }
    return true;
}

static bool same_set(const struct tg_json *a, const struct tg_json *b)
{
    if (a->kind != b->kind || a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        bool found = false;

        for (size_t k = 0; k < b->n && !found; k++)
            found = same_member(a->items[i], b->items[k]);
        if (!found)
            return false;
    }
    return true;
}

static bool compare_selector(struct comparison *q, const struct tg_json *expected,
                             const struct tg_allocation *allocation)
{
    const struct tg_json *want = tg_json_get(expected, "nodeSelector");
    const struct tg_json *have = NULL;

    if (allocation->node_selector != NULL)
        have = tree_of(q, &tg_node_selector_type, allocation->node_selector);
    if (is_nothing(want) ? have == NULL : have != NULL && same_member(want, have))
        return true;
    return differs(q, show(q, want), "nodeSelector %s", show(q, have));
}

/* Entries in their order; of one, a missing list of requests is an empty one. */
static bool compare_config(struct comparison *q, const struct tg_json *expected,
                           const struct tg_allocation *allocation)
{
    const struct tg_json *want = tg_json_get(expected, "config");
    size_t n = is_nothing(want) ? 0 : want->n;

    if (n != allocation->devices->config.n)
        return differs(q, show(q, want), "%zu entries of config", allocation->devices->config.n);
    for (size_t i = 0; i < n; i++) {
        const struct tg_json *have =
            tree_of(q, &tg_device_config_type, &allocation->devices->config.items[i]);

        if (have == NULL || !same_member(want->items[i], have))
            return differs(q, show(q, want), "config[%zu] %s", i, show(q, have));
    }
    return true;
}

static bool same_quantities(const struct tg_json *a, const struct tg_json *b)
{
    if (is_nothing(a) || is_nothing(b))
        return is_nothing(a) && is_nothing(b);
    for (size_t i = 0; i < a->n; i++) {
        const struct tg_json *other = tg_json_get(b, a->keys[i]);
        struct tg_quantity x, y;

        if (other == NULL || other->text == NULL || a->items[i]->text == NULL ||
            tg_quantity_parse(a->items[i]->text, &x, NULL) < 0 ||
            tg_quantity_parse(other->text, &y, NULL) < 0 || tg_quantity_cmp(&x, &y) != 0)
            return false;
    }
    return a->n == b->n;
}

/* Everything but share id (there or not) and amounts (as quantities) by its text. */
static bool same_result(const struct tg_json *want, const struct tg_json *have)
{
    static const char *const fields[] = {"request",     "driver",
                                         "pool",        "device",
                                         "adminAccess", "bindingConditions",
                                         "tolerations", "bindingFailureConditions"};

    for (size_t i = 0; i < TG_ARRAY_SIZE(fields); i++) {
        const struct tg_json *a = tg_json_get(want, fields[i]), *b = tg_json_get(have, fields[i]);

        if (is_nothing(a) ? !is_nothing(b) : b == NULL || !tg_json_equal(a, b))
            return false;
    }
    return is_nothing(tg_json_get(want, "shareID")) == is_nothing(tg_json_get(have, "shareID")) &&
           same_quantities(tg_json_get(want, "consumedCapacity"),
                           tg_json_get(have, "consumedCapacity"));
}

static bool same_id(const struct tg_json *want, const struct tg_allocation_device *have)
{
    return tg_streq(tg_json_string(tg_json_get(want, "request")), have->request) &&
           tg_streq(tg_json_string(tg_json_get(want, "driver")), have->driver) &&
           tg_streq(tg_json_string(tg_json_get(want, "pool")), have->pool) &&
           tg_streq(tg_json_string(tg_json_get(want, "device")), have->device);
}

/* Devices are compared where the case says that only one set of them is allowed; what else a result
 * says, wherever it is for the expected device. */
static bool compare_results(struct comparison *q, const struct tg_json *expected,
                            const struct tg_allocation *allocation, bool unique)
{
    const struct tg_json *want = tg_json_get(expected, "results");
    size_t n = is_nothing(want) ? 0 : want->n;

    if (n != allocation->devices->results.n && unique)
        return differs(q, show(q, want), "%zu results", allocation->devices->results.n);
    for (size_t i = 0; i < allocation->devices->results.n; i++) {
        const struct tg_allocation_device *result = &allocation->devices->results.items[i];
        const struct tg_json *have = tree_of(q, &tg_allocation_device_type, result);
        bool known = false, same = false;

        for (size_t k = 0; k < n && !same; k++) {
            if (!same_id(want->items[k], result))
                continue;
            known = true;
            same = have != NULL && same_result(want->items[k], have);
        }
        if (!same && (known || unique))
            return differs(q, show(q, want), "results[%zu] %s", i, show(q, have));
    }
    return true;
}

/* The alternatives that were chosen, against the best possible: the first that differs decides. */
static bool compare_ranks(struct comparison *q)
{
    const struct tg_json *best = tg_json_get(tg_json_get(q->c->json, "oracle"), "bestRanks");
    const struct alloc_answer *answer = q->answer;
    size_t n = 0;

    for (size_t c = 0; best != NULL && best->kind == TG_JSON_ARRAY && c < q->c->n_claims; c++) {
        for (size_t r = 0; r < answer->claims[c].n_requests; r++) {
            const struct tg_fit_request *request = &answer->claims[c].requests[r];
            int64_t rank = -1, limit = -1;

            if (!request->listed || n >= best->n)
                continue;
            for (size_t i = 0; i < answer->fit.n_takes; i++) {
                const struct tg_fit_choice *choice = answer->fit.takes[i].choice;

                if (choice >= request->choices && choice < request->choices + request->n_choices)
                    rank = choice - request->choices;
            }
            if (tg_json_i64(best->items[n++], &limit) < 0 || rank < 0 || rank > limit)
                return differs(q, show(q, best), "alternative %d of request %s", (int)rank,
                               request->name);
            if (rank < limit)
                return true;
        }
    }
    return true;
}

static bool compare_allocated(struct comparison *q, const struct tg_json *expect)
{
    const struct tg_json *valid =
        tg_json_get(tg_json_get(q->c->json, "oracle"), "validAllocations");
    const struct tg_json *claims = tg_json_get(expect, "claims");
    struct tg_error err = TG_ERROR_INIT;
    int64_t n_valid = 0;
    bool unique = valid != NULL && tg_json_i64(valid, &n_valid) == 0 && n_valid == 1;

    if (alloc_case_check(q->c, q->answer, &err) < 0)
        return differs(q, "an allocation that the checker accepts", "%s: %s", err.reason,
                       err.message);
    if ((claims == NULL ? 0 : claims->n) != q->c->n_claims)
        return differs(q, show(q, claims), "%zu claims", q->c->n_claims);
    for (size_t i = 0; i < q->c->n_claims; i++) {
        const struct tg_allocation *allocation = &q->answer->allocations[i];

        if (!compare_results(q, claims->items[i], allocation, unique) ||
            !compare_selector(q, claims->items[i], allocation) ||
            !compare_config(q, claims->items[i], allocation))
            return false;
    }
    return compare_ranks(q);
}

bool alloc_compare(const struct alloc_case *c, const struct alloc_answer *answer,
                   const char **ret_expected, const char **ret_got)
{
    struct comparison q = {.c = c, .answer = answer};
    const struct tg_json *expect = tg_json_get(c->json, "expect");
    const char *outcome = tg_json_string(tg_json_get(expect, "outcome"));
    const char *error = tg_json_string(tg_json_get(expect, "error"));
    const char *name = alloc_outcome_name(answer->fit.outcome);
    bool same = false;

    if (outcome == NULL)
        same = differs(&q, "a case with expect.outcome", "none");
    else if (strcmp(outcome, name) != 0)
        same = differs(&q, outcome, "%s (%s) after %zu steps", name,
                       tg_or(answer->fit.problem.message, "-"), answer->fit.steps);
    else if (answer->fit.outcome == TG_FIT_ALLOCATED)
        same = compare_allocated(&q, expect);
    else if (answer->fit.outcome != TG_FIT_ERROR || error == NULL)
        same = true;
    else
        same = same_class(error, alloc_error_class(c, &answer->fit.problem)) ||
               differs(&q, error, "%s: %s", alloc_error_class(c, &answer->fit.problem),
                       answer->fit.problem.message);
    *ret_expected = q.expected;
    *ret_got = q.got;
    return same;
}

static void write_object(struct tg_json_writer *w, const struct tg_type *type, const void *object)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(TEXT_MAX_BYTES);

    if (object == NULL || tg_json_encode(type, object, &buf, NULL) < 0)
        tg_jw_null(w);
    else
        tg_jw_raw(w, buf.data);
}

static void write_claim(struct tg_json_writer *w, const struct tg_allocation *allocation)
{
    const struct tg_allocation_devices *devices = allocation->devices;

    tg_jw_begin_object(w);
    tg_jw_key(w, "nodeSelector");
    write_object(w, &tg_node_selector_type, allocation->node_selector);
    tg_jw_key(w, "results");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < devices->results.n; i++)
        write_object(w, &tg_allocation_device_type, &devices->results.items[i]);
    tg_jw_end_array(w);
    tg_jw_key(w, "config");
    if (devices->config.n == 0) {
        tg_jw_null(w);
    } else {
        tg_jw_begin_array(w);
        for (size_t i = 0; i < devices->config.n; i++)
            write_object(w, &tg_device_config_type, &devices->config.items[i]);
        tg_jw_end_array(w);
    }
    tg_jw_end_object(w);
}

int alloc_write(const struct alloc_case *c, const struct alloc_answer *answer, struct tg_buf *out)
{
    struct tg_json_writer w;

    tg_json_writer_init(&w, out);
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "name", c->name);
    tg_jw_kv_string(&w, "outcome", alloc_outcome_name(answer->fit.outcome));
    if (answer->fit.outcome == TG_FIT_ERROR) {
        tg_jw_kv_string(&w, "error", alloc_error_class(c, &answer->fit.problem));
        tg_jw_kv_string(&w, "message", answer->fit.problem.message);
    }
    if (answer->fit.outcome == TG_FIT_ALLOCATED) {
        tg_jw_key(&w, "claims");
        tg_jw_begin_array(&w);
        for (size_t i = 0; i < c->n_claims; i++)
            write_claim(&w, &answer->allocations[i]);
        tg_jw_end_array(&w);
    }
    tg_jw_kv_int(&w, "steps", (int64_t)answer->fit.steps);
    tg_jw_end_object(&w);
    return tg_jw_finish(&w, NULL);
}
