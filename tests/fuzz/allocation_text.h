/* SPDX-License-Identifier: Apache-2.0 */
/* Pools and claims as text, every byte of an input a choice. For the fuzz targets of allocation. */
#ifndef TG_TESTS_FUZZ_ALLOCATION_TEXT_H
#define TG_TESTS_FUZZ_ALLOCATION_TEXT_H

#include <stdint.h>
#include <string.h>

#include "api/runtime/base/buf.h"

#define MAX_DEVICES 6

struct choices {
    const uint8_t *data;
    size_t n;
    struct tg_buf *out;
    unsigned devices, shares;
};

static inline unsigned pick(struct choices *c, unsigned n)
{
    unsigned byte = c->n == 0 ? 0 : *c->data;

    if (c->n > 0) {
        c->data++;
        c->n--;
    }
    return byte % n;
}

static inline void add(struct choices *c, const char *text)
{
    tg_buf_append(c->out, text, strlen(text));
}

#define ADD(c, ...) (void)tg_buf_printf((c)->out, __VA_ARGS__)

static inline void add_one(struct choices *c, const char *const *texts, unsigned n)
{
    add(c, texts[pick(c, n)]);
}
#define ADD_ONE(c, texts) add_one(c, texts, sizeof(texts) / sizeof((texts)[0]))

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

static inline void add_device(struct choices *c, unsigned number, bool first, bool counters)
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

static inline void add_slice(struct choices *c, const char *driver, unsigned number, unsigned count,
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

static inline void add_pool(struct choices *c, const char *driver)
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

static inline void add_ask(struct choices *c, bool admin)
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

static inline void add_claim(struct choices *c, unsigned number)
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

#endif
