/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of single modules: objects of the bench as the gatherer and the commit machine see
 * them. */
#ifndef TG_TESTS_UNIT_CONTROLLER_ONE_H
#define TG_TESTS_UNIT_CONTROLLER_ONE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/str.h"
#include "controller/commit/parts.h"
#include "controller/gather/fleet.h"
#include "tests/unit/controller/bench.h"

/* One look at the bench's cluster. */
struct one {
    struct bench *bench;
    struct tg_view view;
    struct tg_units units;
    struct tg_fleet *fleet;
    struct tg_commit_input input; /* of units.items[0] until one_unit chooses another */
    struct tg_decision decision;
    struct tg_error err;
    struct tg_deciding deciding; /* over input and decision */
};

/* The unit with this key becomes the input; fails the test if there is none. */
static inline const struct tg_unit *one_unit(struct one *one, const char *key)
{
    for (size_t i = 0; i < one->units.n; i++)
        if (tg_streq(one->units.items[i].key, key)) {
            one->input.unit = &one->units.items[i];
            return one->input.unit;
        }
    fail_msg("there is no unit %s", key);
    return NULL;
}

static inline void one_look(struct one *one, struct bench *bench)
{
    *one = (struct one){.bench = bench};
    tg_view_init(&one->view);
    tg_cluster_relist(bench->cluster);
    tg_cluster_fill_view(bench->cluster, bench->rotate, &one->view);
    assert_int_equal(tg_gather(&one->view, "default", bench->arena, &one->units, &one->err), 0);
    assert_int_equal(tg_view_fleet(&one->view, "default", bench->arena, &one->fleet, &one->err), 0);
    one->input = (struct tg_commit_input){.view = &one->view,
                                          .fleet = one->fleet,
                                          .instance = "default",
                                          .epoch = 7,
                                          .now = INT64_C(1767225600) * TG_SECOND,
                                          .unit = one->units.n > 0 ? &one->units.items[0] : NULL};
    one->deciding = (struct tg_deciding){
        .in = &one->input, .arena = bench->arena, .out = &one->decision, .err = &one->err};
}

static inline void one_done(struct one *one)
{
    tg_view_done(&one->view);
}

/* A plan for the first pods' first claims on node n1, one card each, written by hand. */
static inline struct tg_plan *one_plan(struct one *one, const char *json_quoted)
{
    const struct tg_json *tree = tg_edit_parse_quoted(json_quoted, one->bench->arena);
    struct tg_plan *plan = NULL;

    if (tg_plan_decode(tg_edit_text(tree, one->bench->arena), one->bench->arena, &plan, &one->err) <
        0)
        fail_msg("%s", one->err.message);
    one->input.plan = plan;
    return plan;
}

static inline const struct tg_pod *one_pod(struct one *one, const char *name)
{
    return tg_view_pod(&one->view, NS, name);
}

static inline const struct tg_resource_claim *one_claim(struct one *one, const char *name)
{
    return tg_view_claim(&one->view, NS, name);
}

#endif
