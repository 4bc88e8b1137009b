/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every byte is a choice in building a small allocation case: pools, counters, shares, taints,
 * claims with alternatives and constraints. What the search allocates the checker accepts, without
 * one of its devices the checker refuses it, and the same slices in another order give the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "tests/cases/alloc_case.h"
#include "tests/fuzz/allocation_text.h"

#define CASE_BYTES ((size_t)1 << 20)
#define ARENA_BYTES ((size_t)64 << 20)
#define MAX_STEPS 20000

static const char *const features[] = {
    "AdminAccess",        "PrioritizedList",    "PartitionableDevices",   "DeviceTaints",
    "ConsumableCapacity", "ListTypeAttributes", "DeviceBindingAndStatus", "FractionalCapacityRange",
};
static const char *const versions[] = {"0.37.2", "0.36.2", "0.35.6", "0.34"};
static void add_case(struct choices *c)
{
    unsigned mask = 255U - pick(c, 256), claims;
    const char *separator = "";

    ADD(c, "{\"name\":\"fuzz\",\"version\":\"%s\",\"features\":[", versions[pick(c, 4)]);
    for (unsigned i = 0; i < 8; i++) {
        if ((mask >> i & 1U) == 0)
            continue;
        ADD(c, "%s\"%s\"", separator, features[i]);
        separator = ",";
    }
    add(c, "],\"node\":{\"metadata\":{\"name\":\"n1\",\"labels\":{\"zone\":\"z1\"}}},"
           "\"deviceClasses\":[{\"metadata\":{\"name\":\"c0\"},\"spec\":{}},{\"metadata\":{"
           "\"name\":\"c1\"},\"spec\":{\"selectors\":[{\"cel\":{\"expression\":\"device.driver == "
           "'d'\"}}],\"config\":[{\"opaque\":{\"driver\":\"d\",\"parameters\":{\"a\":1}}}]}},{"
           "\"metadata\":{\"name\":\"c2\"},\"spec\":{\"selectors\":[{\"cel\":{\"expression\":"
           "\"'k' in device.attributes['d']\"}}]}}],\"resourceSlices\":[");
    add_pool(c, "d");
    if (pick(c, 2) == 1) {
        add(c, ",");
        add_pool(c, "e");
    }
    ADD(c,
        "],\"allocated\":{\"devices\":[%s],\"sharedDevices\":[%s],\"capacity\":{%s}},\"claims\":[",
        pick(c, 3) == 2 ? "\"d/p/a0\"" : "",
        pick(c, 3) == 2 ? "{\"device\":\"d/p/a1\",\"shareID\":\"s\"}" : "",
        pick(c, 3) == 2 ? "\"d/p/a1\":{\"m\":\"1\"}" : "");
    claims = 1 + pick(c, 2);
    for (unsigned i = 0; i < claims; i++)
        add_claim(c, i);
    add(c, "]}");
}

static void broken(const char *what, const struct tg_buf *text, const struct tg_error *err)
{
    fprintf(stderr, "%s: %s: %s\n%s\n", what, err->reason, err->message, text->data);
    abort();
}

/* Without one device a claim has not what it asks for. */
static void take_one_away(struct alloc_case *c, struct alloc_answer *answer,
                          const struct tg_buf *text)
{
    struct tg_error err = TG_ERROR_INIT;

    for (size_t i = 0; i < c->n_claims; i++) {
        struct tg_allocation_devices *devices = answer->allocations[i].devices;

        if (devices->results.n == 0)
            continue;
        devices->results.n--;
        if (alloc_case_check(c, answer, &err) == 0)
            broken("accepted without one of its devices", text, &err);
        devices->results.n++;
    }
}

static void same_in_another_order(struct alloc_case *c, const struct alloc_answer *answer,
                                  const struct tg_buf *text)
{
    struct tg_error err = TG_ERROR_INIT;
    struct alloc_answer again;

    for (size_t i = 0; i < c->n_slices / 2; i++) {
        const struct tg_resource_slice *slice = c->slices[i];

        c->slices[i] = c->slices[c->n_slices - 1 - i];
        c->slices[c->n_slices - 1 - i] = slice;
    }
    if (alloc_case_run(c, MAX_STEPS, &again, &err) < 0)
        broken("not run", text, &err);
    if (again.fit.outcome != answer->fit.outcome || again.fit.n_takes != answer->fit.n_takes)
        broken("another answer for another order", text, &err);
    for (size_t i = 0; i < again.fit.n_takes; i++) {
        if (again.fit.takes[i].device != answer->fit.takes[i].device)
            broken("other devices for another order", text, &err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(ARENA_BYTES);
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(CASE_BYTES);
    struct choices choices = {.data = data, .n = n, .out = &text};
    struct tg_error err = TG_ERROR_INIT;
    struct alloc_answer answer;
    struct tg_json *json = NULL;
    struct alloc_case c;

    add_case(&choices);
    if (tg_json_parse(text.data, text.len, arena, &json, &err) < 0 ||
        alloc_case_read(json, NULL, arena, &c, &err) < 0 ||
        alloc_case_run(&c, MAX_STEPS, &answer, &err) < 0)
        broken("not run", &text, &err);
    if (answer.fit.outcome == TG_FIT_GAVE_UP)
        broken("gave up", &text, &err);
    if (answer.fit.outcome == TG_FIT_ALLOCATED) {
        if (alloc_case_check(&c, &answer, &err) < 0)
            broken("refused by the checker", &text, &err);
        take_one_away(&c, &answer, &text);
    }
    same_in_another_order(&c, &answer, &text);
    return 0;
}
