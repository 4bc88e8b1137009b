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

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "tests/cases/alloc_case.h"

#define CASE_BYTES ((size_t)1 << 20)
#define ARENA_BYTES ((size_t)64 << 20)
#define MAX_STEPS 20000
#define MAX_DEVICES 6

struct choices {
    const uint8_t *data;
    size_t n;
    struct tg_buf *out;
    unsigned devices, shares;
};

static unsigned pick(struct choices *c, unsigned n)
{
    unsigned byte = c->n == 0 ? 0 : *c->data;

    if (c->n > 0) {
        c->data++;
        c->n--;
    }
    return byte % n;
}

static void add(struct choices *c, const char *text)
{
    tg_buf_append(c->out, text, strlen(text));
}

#define ADD(c, ...) (void)tg_buf_printf((c)->out, __VA_ARGS__)

static void add_one(struct choices *c, const char *const *texts, unsigned n)
{
    add(c, texts[pick(c, n)]);
}
#define ADD_ONE(c, texts) add_one(c, texts, sizeof(texts) / sizeof((texts)[0]))

static const char *const features[] = {
    "AdminAccess",        "PrioritizedList",    "PartitionableDevices",   "DeviceTaints",
    "ConsumableCapacity", "ListTypeAttributes", "DeviceBindingAndStatus", "FractionalCapacityRange",
};
static const char *const versions[] = {"0.37.2", "0.36.2", "0.35.6", "0.34"};
static const char *const places[] = {
    "\"nodeName\":\"n1\"",
    "\"allNodes\":true",
    "\"nodeName\":\"n1\"",
    "\"nodeName\":\"n2\"",
    "\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","
    "\"operator\":\"In\",\"values\":[\"z1\"]}]}]}",
    "\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","
    "\"operator\":\"Exists\"}]}]}",
    "\"perDeviceNodeSelection\":true",
};
static const char *const attributes[] = {
    "\"k\":{\"int\":1}",
    "\"k\":{\"int\":2},\"s\":{\"string\":\"x\"}",
    "\"d/k\":{\"int\":1},\"s\":{\"string\":\"y\"}",
    "\"s\":{\"string\":\"x\"}",
    "\"k\":{\"ints\":[1,2]}",
    "\"k\":{\"ints\":[2,3]},\"s\":{\"string\":\"x\"}",
    "",
};
static const char *const policies[] = {
    "",
    ",\"requestPolicy\":{\"default\":\"1\"}",
    ",\"requestPolicy\":{\"default\":\"2\",\"validRange\":{\"min\":\"1\",\"max\":\"4\"}}",
    ",\"requestPolicy\":{\"default\":\"2\",\"validRange\":{\"min\":\"2\",\"step\":\"2\"}}",
    ",\"requestPolicy\":{\"default\":\"2\",\"validValues\":[\"2\",\"4\"]}",
    ",\"requestPolicy\":{\"default\":\"500m\",\"validRange\":{\"min\":\"500m\",\"step\":\"250m\"}}",
};
static const char *const extras[] = {
    "",
    "",
    ",\"taints\":[{\"key\":\"t\",\"effect\":\"NoSchedule\"}]",
    ",\"taints\":[{\"key\":\"t\",\"effect\":\"None\"}]",
    ",\"bindingConditions\":[\"Ready\"],\"bindingFailureConditions\":[\"Failed\"]",
    ",\"bindingConditions\":[\"Ready\"],\"bindsToNode\":true",
};
static const char *const selectors[] = {
    "",
    "",
    ",\"selectors\":[{\"cel\":{\"expression\":\"device.driver == 'd'\"}}]",
    ",\"selectors\":[{\"cel\":{\"expression\":\"'k' in device.attributes['d']\"}}]",
    ",\"selectors\":[{\"cel\":{\"expression\":\"'m' in device.capacity['d']\"}}]",
};
static const char *const wishes[] = {
    "",
    "",
    ",\"tolerations\":[{\"operator\":\"Exists\"}]",
    ",\"tolerations\":[{\"key\":\"t\",\"operator\":\"Equal\",\"effect\":\"NoSchedule\"}]",
    ",\"capacity\":{\"requests\":{\"m\":\"1\"}}",
    ",\"capacity\":{\"requests\":{\"m\":\"3\"}}",
};
static const char *const constraints[] = {
    "{\"matchAttribute\":\"d/k\"}",
    "{\"distinctAttribute\":\"d/k\"}",
    "{\"matchAttribute\":\"d/s\",\"requests\":[\"r0\"]}",
    "{\"matchAttribute\":\"d/s\",\"requests\":[\"r0\",\"r1/a0\"]}",
    "{\"distinctAttribute\":\"d/s\",\"requests\":[\"r1\"]}",
};

static void add_device(struct choices *c, unsigned number, bool first, bool counters)
{
    ADD(c, "%s{\"name\":\"a%u\",\"attributes\":{", first ? "" : ",", number);
    ADD_ONE(c, attributes);
    add(c, "}");
    if (pick(c, 2) == 1)
        add(c, ",\"allowMultipleAllocations\":true");
    if (pick(c, 2) == 1) {
        ADD(c, ",\"capacity\":{\"m\":{\"value\":\"%u\"", 1 + pick(c, 8));
        ADD_ONE(c, policies);
        add(c, "}}");
    }
    if (counters && pick(c, 4) > 0)
        ADD(c,
            ",\"consumesCounters\":[{\"counterSet\":\"set\",\"counters\":{\"g\":{\"value\":\"%u\"}}"
            "}]",
            pick(c, 4));
    ADD_ONE(c, extras);
    /* Only read where the slice says so. */
    ADD(c, ",\"nodeName\":\"n%u\"}", 1 + pick(c, 4) / 3);
}

static void add_slice(struct choices *c, const char *driver, unsigned number, unsigned count,
                      unsigned generation, bool counters)
{
    unsigned n = 1 + pick(c, 4);

    ADD(c,
        "{\"metadata\":{\"name\":\"%s%u\"},\"spec\":{\"driver\":\"%s\",\"pool\":{\"name\":\"p\","
        "\"generation\":%u,\"resourceSliceCount\":%u},",
        driver, number, driver, generation, count);
    ADD_ONE(c, places);
    add(c, ",\"devices\":[");
    for (unsigned i = 0; i < n && c->devices < MAX_DEVICES; i++, c->devices++)
        add_device(c, number * 4 + i, i == 0, counters);
    add(c, "]}}");
}

static void add_pool(struct choices *c, const char *driver)
{
    bool counters = pick(c, 2) == 1;
    unsigned slices = 1 + pick(c, 4) / 3, count = slices + counters + pick(c, 16) / 15;

    for (unsigned i = 0; i < slices; i++) {
        add(c, i == 0 ? "" : ",");
        add_slice(c, driver, i, count, 2, counters);
    }
    if (counters)
        ADD(c,
            ",{\"metadata\":{\"name\":\"%sc\"},\"spec\":{\"driver\":\"%s\",\"pool\":{\"name\":"
            "\"p\",\"generation\":2,\"resourceSliceCount\":%u},\"nodeName\":\"n%u\","
            "\"sharedCounters\":[{\"name\":\"set\",\"counters\":{\"g\":{\"value\":\"%u\"}}}]}}",
            driver, driver, count, 1 + pick(c, 2), 2 + pick(c, 5));
    if (pick(c, 8) == 7) {
        add(c, ",");
        add_slice(c, driver, 9, 1, pick(c, 2) == 0 ? 1 : 3, false);
    }
}

static void add_ask(struct choices *c, bool admin)
{
    ADD(c, "\"deviceClassName\":\"c%u\"", pick(c, 3));
    if (pick(c, 6) == 5)
        add(c, ",\"allocationMode\":\"All\"");
    else
        ADD(c, ",\"allocationMode\":\"ExactCount\",\"count\":%u", 1 + pick(c, 3));
    ADD_ONE(c, selectors);
    ADD_ONE(c, wishes);
    if (admin && pick(c, 8) == 7)
        add(c, ",\"adminAccess\":true");
}

static void add_claim(struct choices *c, unsigned number)
{
    unsigned requests = 1 + pick(c, 2), n = pick(c, 3);

    ADD(c,
        "%s{\"metadata\":{\"name\":\"x%u\",\"uid\":\"u%u\"},\"spec\":{\"devices\":{\"requests\":[",
        number == 0 ? "" : ",", number, number);
    for (unsigned i = 0; i < requests; i++) {
        unsigned alternatives = pick(c, 4);

        ADD(c, "%s{\"name\":\"r%u\",", i == 0 ? "" : ",", i);
        if (alternatives < 2) {
            add(c, "\"exactly\":{");
            add_ask(c, true);
            add(c, "}}");
            continue;
        }
        add(c, "\"firstAvailable\":[");
        for (unsigned k = 0; k < alternatives; k++) {
            ADD(c, "%s{\"name\":\"a%u\",", k == 0 ? "" : ",", k);
            add_ask(c, false);
            add(c, "}");
        }
        add(c, "]}");
    }
    add(c, "],\"constraints\":[");
    for (unsigned i = 0; i < n; i++) {
        add(c, i == 0 ? "" : ",");
        ADD_ONE(c, constraints);
    }
    add(c, "],\"config\":[");
    if (pick(c, 4) == 3)
        ADD(c, "{\"requests\":[\"r%u\"],\"opaque\":{\"driver\":\"d\",\"parameters\":{}}}",
            pick(c, requests));
    add(c, "]}}}");
}

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
