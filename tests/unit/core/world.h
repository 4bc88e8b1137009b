/* SPDX-License-Identifier: Apache-2.0 */
/* Small fleets for tests of controller/core, made of JSON as the API server has it. Included by one
 * test program each. */
#ifndef TG_TESTS_UNIT_CORE_WORLD_H
#define TG_TESTS_UNIT_CORE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/json/decode.h"
#include "api/tangram/names.h"
#include "controller/core/gang/place.h"
#include "controller/core/model/view.h"

#define WORLD_MAX 64
#define GPU_DRIVER "gpu.example.com"

struct world {
    struct tg_arena *arena;
    const struct tg_node *nodes[WORLD_MAX];
    const struct tg_resource_slice *slices[WORLD_MAX];
    const struct tg_device_class *classes[WORLD_MAX];
    const struct tg_resource_claim *claims[WORLD_MAX];
    const struct tg_pod *pods[WORLD_MAX];
    const struct tg_device_taint_rule *rules[WORLD_MAX];
    const struct tg_persistent_volume *volumes[WORLD_MAX];
    const struct tg_persistent_volume_claim *volume_claims[WORLD_MAX];
    const struct tg_storage_class *storage_classes[WORLD_MAX];
    struct tg_fleet_busy busy[WORLD_MAX];
    struct tg_fleet_assumed assumed[WORLD_MAX];
    size_t n_nodes, n_slices, n_classes, n_claims, n_pods, n_rules, n_busy, n_assumed;
    size_t n_volumes, n_volume_claims, n_storage_classes;
};

static inline void *decode(struct tg_arena *arena, const struct tg_type *type, const char *json)
{
    struct tg_error err = TG_ERROR_INIT;
    void *object = NULL;

    if (tg_json_decode_new(type, json, strlen(json), arena, &object, &err) < 0)
        fail_msg("%s: %s", json, err.message);
    return object;
}

__attribute__((format(printf, 3, 4))) static inline void *
decodef(struct tg_arena *arena, const struct tg_type *type, const char *format, ...)
{
    static char json[65536];
    va_list args;
    int n = 0;

    va_start(args, format);
    n = vsnprintf(json, sizeof(json), format, args);
    va_end(args);
    assert_true(n > 0 && (size_t)n < sizeof(json));
    return decode(arena, type, json);
}

static inline void world_init(struct world *w)
{
    memset(w, 0, sizeof(*w));
    w->arena = tg_arena_new((size_t)64 * 1024 * 1024);
}

static inline void world_done(struct world *w)
{
    tg_arena_free(w->arena);
}

/* A ready node with 8 cpu, 64Gi, 110 pods; labels as JSON members ("\"a\":\"b\""), more as members
 * of the object. */
static inline void add_node(struct world *w, const char *name, const char *labels, const char *spec)
{
    assert_true(w->n_nodes < WORLD_MAX);
    w->nodes[w->n_nodes++] = decodef(w->arena, &tg_node_type,
                                     "{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}},\"spec\":{%s}"
                                     ",\"status\":{\"conditions\":[{\"type\":"
                                     "\"Ready\",\"status\":\"True\"}],\"allocatable\":{\"cpu\":"
                                     "\"8\",\"memory\":\"64Gi\",\"pods\":\"110\"}}}",
                                     name, labels, spec);
}

static inline const struct tg_resource_slice *add_slice(struct world *w, const char *json)
{
    assert_true(w->n_slices < WORLD_MAX);
    return w->slices[w->n_slices++] = decode(w->arena, &tg_resource_slice_type, json);
}

/* n devices gpu-0.. of the node in one complete pool of its name; attributes as JSON members. */
static inline void add_gpus(struct world *w, const char *node, size_t n, const char *attributes)
{
    char json[32768];
    size_t at = 0;

    at += (size_t)snprintf(json, sizeof(json),
                           "{\"metadata\":{\"name\":\"s-%s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                           "\",\"nodeName\":\"%s\",\"pool\":{\"name\":\"%s\",\"generation\":1,"
                           "\"resourceSliceCount\":1},\"devices\":[",
                           node, node, node);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(
            json + at, sizeof(json) - at,
            "%s{\"name\":\"gpu-%zu\",\"attributes\":{\"index\":{\"int\":%zu}%s%s}}",
            i == 0 ? "" : ",", i, i, attributes[0] == '\0' ? "" : ",", attributes);
    assert_true(at + 8 < sizeof(json));
    memcpy(json + at, "]}}", 4);
    add_slice(w, json);
}

#define GUARD_JSON                                                                                 \
    "{\"cel\":{\"expression\":\"\\\"granted\\\" in device.attributes[\\\"tangram.dev\\\"]\"}}"

/* A managed class of the default instance; more: further selectors, each after a comma. */
static inline const struct tg_device_class *add_class(struct world *w, const char *name,
                                                      const char *more)
{
    assert_true(w->n_classes < WORLD_MAX);
    return w->classes[w->n_classes++] =
               decodef(w->arena, &tg_device_class_type,
                       "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"tangram.dev/"
                       "controller\":\"default\"}},\"spec\":{"
                       "\"selectors\":[" GUARD_JSON "%s]}}",
                       name, more);
}

static inline const struct tg_device_class *add_raw_class(struct world *w, const char *json)
{
    assert_true(w->n_classes < WORLD_MAX);
    return w->classes[w->n_classes++] = decode(w->arena, &tg_device_class_type, json);
}

/* A claim of namespace ns; requests and what follows them as JSON. Not part of the fleet until
 * add_claim. */
static inline struct tg_resource_claim *new_claim(struct world *w, const char *name,
                                                  const char *devices)
{
    return decodef(w->arena, &tg_resource_claim_type,
                   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"u-%s\"},\"spec\":"
                   "{\"devices\":{%s}}}",
                   name, name, devices);
}

/* One request "r" of `count` devices of class gpu. */
static inline struct tg_resource_claim *new_gpu_claim(struct world *w, const char *name,
                                                      size_t count)
{
    char devices[256];

    snprintf(
        devices, sizeof(devices),
        "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"count\":%zu}}]",
        count);
    return new_claim(w, name, devices);
}

/* A claim that holds a device of the node's pool. */
static inline void add_holder(struct world *w, const char *name, const char *node,
                              const char *device)
{
    assert_true(w->n_claims < WORLD_MAX);
    w->claims[w->n_claims++] = decodef(
        w->arena, &tg_resource_claim_type,
        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"u-%s\"},\"spec\":{"
        "\"devices\":{}},\"status\":{"
        "\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"" GPU_DRIVER
        "\",\"pool\":\"%s\",\"device\":\"%s\"}]}}}}",
        name, name, node, device);
}

/* A pod of namespace ns with one container that requests cpu; more: further members of the spec,
 * each before its comma. */
static inline struct tg_pod *new_pod(struct world *w, const char *name, const char *cpu,
                                     const char *more)
{
    return decodef(w->arena, &tg_pod_type,
                   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"u-%s\"},\"spec\":"
                   "{%s\"containers\":[{"
                   "\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}",
                   name, name, more, cpu);
}

/* A volume; labels and the terms of its node affinity as JSON. */
static inline void add_volume(struct world *w, const char *name, const char *labels,
                              const char *terms)
{
    w->volumes[w->n_volumes++] =
        decodef(w->arena, &tg_persistent_volume_type,
                "{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}},\"spec\":{%s%s%s}}", name, labels,
                terms[0] == '\0' ? "" : "\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[",
                terms, terms[0] == '\0' ? "" : "]}}");
}

/* A claim of a volume, of pods in namespace ns; meta: members, each after a comma. */
static inline void add_volume_claim(struct world *w, const char *name, const char *meta,
                                    const char *spec)
{
    w->volume_claims[w->n_volume_claims++] = decodef(
        w->arena, &tg_persistent_volume_claim_type,
        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\"%s},\"spec\":{%s}}", name, meta, spec);
}

static inline void add_storage_class(struct world *w, const char *name, const char *members)
{
    w->storage_classes[w->n_storage_classes++] = decodef(
        w->arena, &tg_storage_class_type, "{\"metadata\":{\"name\":\"%s\"}%s}", name, members);
}

#define VOLUME_BOUND ",\"annotations\":{\"" TG_VOLUME_BOUND "\":\"yes\"}"
#define USES_VOLUME(claim)                                                                         \
    "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"" claim "\"}}],"

static inline struct tg_fleet_input world_input(const struct world *w)
{
    return (struct tg_fleet_input){.nodes = w->nodes,
                                   .n_nodes = w->n_nodes,
                                   .slices = w->slices,
                                   .n_slices = w->n_slices,
                                   .classes = w->classes,
                                   .n_classes = w->n_classes,
                                   .claims = w->claims,
                                   .n_claims = w->n_claims,
                                   .pods = w->pods,
                                   .n_pods = w->n_pods,
                                   .taint_rules = w->rules,
                                   .n_taint_rules = w->n_rules,
                                   .volumes = w->volumes,
                                   .n_volumes = w->n_volumes,
                                   .volume_claims = w->volume_claims,
                                   .n_volume_claims = w->n_volume_claims,
                                   .storage_classes = w->storage_classes,
                                   .n_storage_classes = w->n_storage_classes,
                                   .busy = w->busy,
                                   .n_busy = w->n_busy,
                                   .assumed = w->assumed,
                                   .n_assumed = w->n_assumed,
                                   .instance = "default"};
}

static inline struct tg_fleet *world_fleet(struct world *w)
{
    struct tg_fleet_input input = world_input(w);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_fleet *fleet = NULL;

    if (tg_fleet_new(&input, w->arena, &fleet, &err) < 0)
        fail_msg("%s", err.message);
    return fleet;
}

/* A piece of one pod and perhaps one claim. */
static inline struct tg_piece new_piece(struct world *w, struct tg_pod *pod,
                                        struct tg_resource_claim *claim)
{
    const struct tg_pod **pods = tg_arena_alloc_array(w->arena, 1, sizeof(*pods));
    const struct tg_resource_claim **claims = tg_arena_alloc_array(w->arena, 1, sizeof(*claims));

    assert_non_null(pods);
    assert_non_null(claims);
    pods[0] = pod;
    claims[0] = claim;
    return (struct tg_piece){
        .pods = pods, .n_pods = 1, .claims = claims, .n_claims = claim == NULL ? 0 : 1};
}

/* n pods m-0.. with a claim of `count` class gpu devices each. */
static inline struct tg_piece *new_gang(struct world *w, size_t n, size_t count)
{
    struct tg_piece *pieces = tg_arena_alloc_array(w->arena, n, sizeof(*pieces));

    assert_non_null(pieces);
    for (size_t i = 0; i < n; i++) {
        char name[32];

        snprintf(name, sizeof(name), "m-%02zu", i);
        pieces[i] = new_piece(w, new_pod(w, name, "1", ""), new_gpu_claim(w, name, count));
    }
    return pieces;
}

#endif
