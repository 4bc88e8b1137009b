/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations to be judged, made of JSON with ' in place of ". Included by one test program each.
 * What a scene leaves out is that of a valid one: node n1, a class c that takes everything, pool p
 * of driver d with the devices a and b on the node, and a claim x that got device a. */
#ifndef TG_TESTS_UNIT_CORE_CHECK_SCENE_H
#define TG_TESTS_UNIT_CORE_CHECK_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "controller/core/check/check.h"

struct scene {
    const char *what;
    const char *rule; /* that is broken; NULL: valid */
    const char *classes, *slices, *claims;
    const char *held, *consumed, *taint_rules, *node;
    unsigned minor; /* 0: 37 */
    unsigned off;   /* features that are not switched on */
    const struct tg_cel_zones *zones;
};

#define PINNED                                                                                     \
    "'nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In'," \
    "'values':['n1']}]}]}"
/* A claim: its name, spec.devices, the results; beside them config, a selector. */
#define CLAIM_WITH(name, spec, config, selector, results)                                          \
    "{'metadata':{'name':'" name "'},'spec':{'devices':{" spec "}},'status':{'allocation':{"       \
    "'devices':{'results':[" results "],'config':[" config "]}" selector "}}}"
#define CLAIM(name, spec, results) CLAIM_WITH(name, spec, "", "," PINNED, results)
#define ASK(name, more) "{'name':'" name "','exactly':{'deviceClassName':'c'" more "}}"
#define GOT(request, device, more)                                                                 \
    "{'request':'" request "','driver':'d','pool':'p','device':'" device "'" more "}"
#define ONE_ASK "'requests':[" ASK("r", "") "]"
#define SLICE(name, pool, count, where, content)                                                   \
    "{'metadata':{'name':'" name "'},'spec':{'driver':'d','pool':{'name':'" pool                   \
    "','generation':1,'resourceSliceCount':" count "}," where "," content "}}"
#define HERE "'nodeName':'n1'"
#define POOL(devices) SLICE("s", "p", "1", HERE, "'devices':[" devices "]")

struct scene_objects {
    struct tg_node *node;
    TG_LIST_OF(struct tg_device_class) classes;
    TG_LIST_OF(struct tg_resource_slice) slices;
    TG_LIST_OF(struct tg_device_taint_rule) taint_rules;
    TG_LIST_OF(struct tg_resource_claim) claims;
    TG_LIST_OF(struct tg_check_held) held;
    TG_LIST_OF(struct tg_check_consumed) consumed;
};

static const struct tg_field held_fields[] = {
    TG_FIELD_STR(struct tg_check_held, driver, "driver"),
    TG_FIELD_STR(struct tg_check_held, pool, "pool"),
    TG_FIELD_STR(struct tg_check_held, device, "device"),
    TG_FIELD_STR(struct tg_check_held, share_id, "shareID"),
};
static const struct tg_type held_type = TG_TYPE(struct tg_check_held, held_fields);
static const struct tg_field consumed_fields[] = {
    TG_FIELD_STR(struct tg_check_consumed, driver, "driver"),
    TG_FIELD_STR(struct tg_check_consumed, pool, "pool"),
    TG_FIELD_STR(struct tg_check_consumed, device, "device"),
    TG_FIELD_STR(struct tg_check_consumed, capacity, "capacity"),
    TG_FIELD_STR(struct tg_check_consumed, quantity, "quantity"),
};
static const struct tg_type consumed_type = TG_TYPE(struct tg_check_consumed, consumed_fields);
static const struct tg_field scene_fields[] = {
    TG_FIELD_OBJ(struct scene_objects, node, "node", &tg_node_type),
    TG_FIELD_OBJ_LIST(struct scene_objects, classes, "classes", &tg_device_class_type),
    TG_FIELD_OBJ_LIST(struct scene_objects, slices, "slices", &tg_resource_slice_type),
    TG_FIELD_OBJ_LIST(struct scene_objects, taint_rules, "taintRules", &tg_device_taint_rule_type),
    TG_FIELD_OBJ_LIST(struct scene_objects, claims, "claims", &tg_resource_claim_type),
    TG_FIELD_OBJ_LIST(struct scene_objects, held, "held", &held_type),
    TG_FIELD_OBJ_LIST(struct scene_objects, consumed, "consumed", &consumed_type),
};
static const struct tg_type scene_type = TG_TYPE(struct scene_objects, scene_fields);

static inline void scene_read(const struct scene *s, struct tg_arena *arena,
                              struct scene_objects *ret)
{
    static char json[32768];
    struct tg_error err = TG_ERROR_INIT;
    int n = snprintf(
        json, sizeof(json),
        "{'node':%s,'classes':[%s],'slices':[%s],'claims':[%s],'held':[%s],'consumed':[%s],"
        "'taintRules':[%s]}",
        tg_or(s->node, "{'metadata':{'name':'n1','labels':{'zone':'z1'}}}"),
        tg_or(s->classes, "{'metadata':{'name':'c'},'spec':{}}"),
        tg_or(s->slices, POOL("{'name':'a'},{'name':'b'}")),
        tg_or(s->claims, CLAIM("x", ONE_ASK, GOT("r", "a", ""))), tg_or(s->held, ""),
        tg_or(s->consumed, ""), tg_or(s->taint_rules, ""));

    assert_true(n > 0 && (size_t)n < sizeof(json));
    for (char *c = json; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    *ret = (struct scene_objects){0};
    if (tg_json_decode(&scene_type, json, (size_t)n, ret, arena, &err) < 0)
        fail_msg("%s: %s\n%s", s->what, err.message, json);
}

#define SCENE_POINTERS(from, to)                                                                   \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < (from).n; i_++)                                                   \
            (to)[i_] = &(from).items[i_];                                                          \
    } while (0)

static inline int scene_judge(const struct scene *s, struct tg_arena *arena, struct tg_error *err)
{
    const struct tg_device_class *classes[8];
    const struct tg_resource_slice *slices[8];
    const struct tg_device_taint_rule *rules[8];
    struct tg_check_claim claims[8] = {0};
    struct scene_objects o;
    struct tg_check_input in;

    scene_read(s, arena, &o);
    SCENE_POINTERS(o.classes, classes);
    SCENE_POINTERS(o.slices, slices);
    SCENE_POINTERS(o.taint_rules, rules);
    for (size_t i = 0; i < o.claims.n; i++)
        claims[i].claim = &o.claims.items[i];
    in = (struct tg_check_input){
        .node = o.node,
        .classes = classes,
        .n_classes = o.classes.n,
        .slices = slices,
        .n_slices = o.slices.n,
        .taint_rules = rules,
        .n_taint_rules = o.taint_rules.n,
        .held = o.held.items,
        .n_held = o.held.n,
        .consumed = o.consumed.items,
        .n_consumed = o.consumed.n,
        .features = ~s->off,
        .minor = s->minor == 0 ? 37 : s->minor,
        .zones = s->zones,
        .claims = claims,
        .n_claims = o.claims.n,
    };
    return tg_check_allocation(&in, arena, err);
}

/* Each scene is valid, or breaks the rule that it names. */
static inline void scenes_play(const struct scene *scenes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct tg_arena *arena = tg_arena_new((size_t)4 << 20);
        struct tg_error err = TG_ERROR_INIT;
        int rc = scene_judge(&scenes[i], arena, &err);

        if (scenes[i].rule == NULL && rc != 0)
            fail_msg("%s: %s: %s", scenes[i].what, err.reason, err.message);
        if (scenes[i].rule != NULL &&
            (rc != -TG_FAILED_PRECONDITION || strcmp(err.reason, scenes[i].rule) != 0))
            fail_msg("%s: expected %s, got %d %s: %s", scenes[i].what, scenes[i].rule, rc,
                     err.reason, err.message);
        tg_arena_free(arena);
    }
}
#define PLAY(scenes) scenes_play(scenes, sizeof(scenes) / sizeof((scenes)[0]))

#endif
