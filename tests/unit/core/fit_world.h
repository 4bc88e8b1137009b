/* SPDX-License-Identifier: Apache-2.0 */
/* Searches on small worlds, for tests of controller/core/fit: one node n, one pool p of driver d.
 * Included by one test program each. */
#ifndef TG_TESTS_UNIT_CORE_FIT_WORLD_H
#define TG_TESTS_UNIT_CORE_FIT_WORLD_H

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/core/fit/order.h"
#include "controller/core/fit/prepare.h"
#include "controller/core/fit/result.h"
#include "tests/unit/core/world.h"

#define ANY "{\"name\":\"any\"}"
/* A request of `count` devices of class any; more: further members, each after a comma. */
#define REQUEST(name, count, more)                                                                 \
    "{\"name\":\"" name "\",\"exactly\":{\"deviceClassName\":\"any\",\"count\":" count more "}}"
#define ALTERNATIVE(name, count, more)                                                             \
    "{\"name\":\"" name "\",\"deviceClassName\":\"any\",\"count\":" count more "}"
#define SELECT(expression) ",\"selectors\":[{\"cel\":{\"expression\":\"" expression "\"}}]"
#define IS(attribute, value) "device.attributes['d']." attribute " == " value

struct trial {
    struct world w;
    struct tg_rules rules;
    struct tg_view view;
    struct tg_fit_book book;
    struct tg_fit_claim claims[40];
    size_t n_claims;
    struct tg_fit_table table;
    struct tg_fit_state state;
    struct tg_fit_answer answer;
};

static inline void trial_init(struct trial *t)
{
    memset(t, 0, sizeof(*t));
    world_init(&t->w);
    add_node(&t->w, "n", "", "");
    add_raw_class(&t->w, "{\"metadata\":{\"name\":\"any\"},\"spec\":{}}");
    t->rules = tg_rules_of_release(37);
}

static inline void trial_done(struct trial *t)
{
    world_done(&t->w);
}

/* A slice of the pool; rest: members of the spec, each before its comma; devices as JSON. */
static inline void add_part(struct trial *t, const char *name, int count, const char *rest,
                            const char *devices)
{
    assert_true(t->w.n_slices < WORLD_MAX);
    t->w.slices[t->w.n_slices++] =
        decodef(t->w.arena, &tg_resource_slice_type,
                "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"driver\":\"d\",%s\"pool\":{\"name\":"
                "\"p\",\"generation\":1,\"resourceSliceCount\":%d},\"devices\":[%s]}}",
                name, rest, count, devices);
}

static inline void add_devices(struct trial *t, const char *devices)
{
    add_part(t, "s", 1, "\"nodeName\":\"n\",", devices);
}

/* n devices g00, g01, ... with attributes index and half (index / 2). */
static inline void add_plain(struct trial *t, size_t n)
{
    char json[32768];
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        at += (size_t)snprintf(json + at, sizeof(json) - at,
                               "%s{\"name\":\"g%02zu\",\"attributes\":{\"index\":{\"int\":%zu},"
                               "\"half\":{\"int\":%zu}}}",
                               i == 0 ? "" : ",", i, i, i / 2);
        assert_true(at < sizeof(json));
    }
    add_devices(t, json);
}

static inline const struct tg_device_class *trial_class(const void *data, const char *name)
{
    const struct world *w = data;

    for (size_t i = 0; i < w->n_classes; i++) {
        if (tg_streq(w->classes[i]->metadata->name, name))
            return w->classes[i];
    }
    return NULL;
}

/* Call after the slices are there; claims may follow. */
static inline void trial_open(struct trial *t)
{
    struct tg_error err = TG_ERROR_INIT;

    if (tg_fleet_view(world_fleet(&t->w), "n", &t->rules, t->w.arena, &t->view, &err) < 0)
        fail_msg("%s", err.message);
    tg_fit_book_init(&t->book, &t->rules, trial_class, &t->w, t->w.arena);
}

/* devices: requests and what else stands in spec.devices. */
static inline struct tg_fit_claim *trial_claim(struct trial *t, const char *devices)
{
    struct tg_fit_claim *claim = &t->claims[t->n_claims++];

    assert_true(t->n_claims <= TG_ARRAY_SIZE(t->claims));
    assert_int_equal(tg_fit_book_add(&t->book, new_claim(&t->w, "q", devices), claim, NULL), 0);
    return claim;
}

static inline enum tg_fit_outcome trial_search_in(struct trial *t, size_t max_steps)
{
    assert_int_equal(tg_fit_search(&t->book, &t->view, t->claims, t->n_claims, max_steps,
                                   t->w.arena, &t->answer, NULL),
                     0);
    return t->answer.outcome;
}

static inline enum tg_fit_outcome trial_search(struct trial *t)
{
    return trial_search_in(t, 0);
}

/* Table and state, for tests below the search. */
static inline void trial_table(struct trial *t)
{
    struct tg_fit_problem problem;

    assert_int_equal(tg_fit_table_init(&t->table, &t->book, &t->view, t->w.arena, NULL), 0);
    assert_int_equal(tg_fit_prepare(&t->table, t->claims, t->n_claims, &problem, NULL), 0);
}

static inline void trial_state(struct trial *t)
{
    trial_table(t);
    assert_int_equal(tg_fit_state_init(&t->state, &t->table, t->claims, t->n_claims, NULL), 0);
}

static inline size_t trial_device(const struct trial *t, const char *name)
{
    for (size_t i = 0; i < t->view.n_devices; i++) {
        if (strcmp(t->view.devices[i].name, name) == 0)
            return i;
    }
    fail_msg("no device %s", name);
    return 0;
}

/* Two cards of one shape: a whole one, or two halves of it. Counters of release 35 and newer. */
static inline void add_cards(struct trial *t, size_t n)
{
    char devices[16384], sets[4096], rest[8192];
    size_t at = 0, to = 0;

    for (size_t i = 0; i < n; i++) {
        static const char *const parts[] = {"whole", "low", "high"};

        to += (size_t)snprintf(sets + to, sizeof(sets) - to,
                               "%s{\"name\":\"card%zu\",\"counters\":{\"lo\":{\"value\":\"1\"},"
                               "\"hi\":{\"value\":\"1\"}}}",
                               i == 0 ? "" : ",", i);
        for (size_t k = 0; k < 3; k++)
            at += (size_t)snprintf(
                devices + at, sizeof(devices) - at,
                "%s{\"name\":\"c%zu-%s\",\"attributes\":{\"part\":{\"string\":\"%s\"},\"card\":{"
                "\"int\":%zu}},\"consumesCounters\":[{\"counterSet\":\"card%zu\",\"counters\":{"
                "%s}}]}",
                at == 0 ? "" : ",", i, parts[k], k == 0 ? "whole" : "half", i, i,
                k == 0   ? "\"lo\":{\"value\":\"1\"},\"hi\":{\"value\":\"1\"}"
                : k == 1 ? "\"lo\":{\"value\":\"1\"}"
                         : "\"hi\":{\"value\":\"1\"}");
    }
    assert_true(at < sizeof(devices) && to < sizeof(sets));
    snprintf(rest, sizeof(rest), "\"nodeName\":\"n\",\"sharedCounters\":[%s],", sets);
    add_part(t, "a", 2, "\"nodeName\":\"n\",", devices);
    add_part(t, "b", 2, rest, "");
}

#endif
