/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. Private to it. */
#ifndef TG_CORE_CHECK_VIEW_H
#define TG_CORE_CHECK_VIEW_H

#include <stdbool.h>

#include "api/kubernetes/values/quantity.h"
#include "controller/core/cel/selector.h"
#include "controller/core/check/check.h"

/* A pool as this node sees it: the slices of the newest generation that it can see any of. */
struct tg_check_pool {
    const char *driver, *name;
    int64_t generation, slice_count;
    /* Of that generation: those with something for the node first, then the others. */
    const struct tg_resource_slice **slices;
    size_t n_here, n;
    bool superseded;    /* a newer generation is on its way elsewhere: there is no such pool */
    bool incomplete;    /* 1.34 takes devices from it nevertheless, unless all are asked for */
    const char *broken; /* why nothing may be taken from it, NULL if all is well */
    /* The counters that devices of this slice have are checked; NULL: none yet. */
    const struct tg_resource_slice *counters_checked;
};

/* An expression, compiled once. */
struct tg_check_selector {
    const char *expression;
    struct tg_selector *selector;
    struct tg_check_selector *next;
};

/* The alternative that a request was given: itself, or one entry of firstAvailable. */
struct tg_check_ask {
    size_t claim; /* in the input */
    const struct tg_device_request *request;
    const struct tg_exact_request *exact; /* NULL: the request got nothing */
    const char *name;                     /* "req" or "req/sub" */
    const struct tg_device_class *klass;
    bool admin, all;
    size_t n; /* results */
};

/* One result, resolved. */
struct tg_check_pick {
    struct tg_check_ask *ask;
    const struct tg_allocation_device *result;
    struct tg_check_pool *pool;
    const struct tg_resource_slice *slice;
    const struct tg_device *device;
    bool shared; /* may have several owners */
    bool first;  /* the first pick of its device */
};

struct tg_check_view {
    const struct tg_check_input *in;
    struct tg_arena *arena;
    struct tg_check_selector *selectors;
    struct tg_check_pool *pools;
    size_t n_pools;
    struct tg_check_ask *asks; /* of all claims, in their order */
    size_t n_asks;
    struct tg_check_pick *picks; /* likewise */
    size_t n_picks;
    /* Alternatives of one name (no server takes them): which of them is meant, and how many there
     * are at most. */
    size_t namesake, n_namesakes;
    struct tg_error *err;
};

/* -TG_FAILED_PRECONDITION with the rule and "claim c, request r, device d/p/x: ..."; ask and pick
 * may be NULL, where there is none. */
int tg_check_broken(const struct tg_check_view *view, const char *rule, size_t claim,
                    const struct tg_check_ask *ask, const struct tg_check_pick *pick,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));
int tg_check_no_memory(const struct tg_check_view *view);
static inline bool tg_check_has(const struct tg_check_view *view, enum tg_check_feature feature)
{
    return (view->in->features & (unsigned)feature) != 0;
}
/* The allocation to judge, NULL if there is none. */
const struct tg_allocation *tg_check_allocation_of(const struct tg_check_claim *claim);

/* node.c */
/* Terms are ORed; an empty one matches nothing. */
bool tg_check_node_matches(const struct tg_node *node, const struct tg_node_selector *selector);
/* Is the device of the slice reachable from the node? */
bool tg_check_device_on_node(const struct tg_node *node, const struct tg_resource_slice *slice,
                             const struct tg_device *device);
/* The node selectors of all claims. */
int tg_check_node_selectors(struct tg_check_view *view);

/* pool.c */
int tg_check_pools(struct tg_check_view *view);
struct tg_check_pool *tg_check_pool_named(const struct tg_check_view *view, const char *driver,
                                          const char *name);
/* From 1.35 on a slice has counters or devices; with both, its devices do not count. */
bool tg_check_is_mixed(const struct tg_check_view *view, const struct tg_resource_slice *slice);
bool tg_check_has_devices(const struct tg_check_view *view, const struct tg_resource_slice *slice);

/* request.c: fills asks and picks, and judges what can be told without looking at devices. */
int tg_check_requests(struct tg_check_view *view);

/* device.c: everything that concerns one pick alone, or two of one device. */
int tg_check_devices(struct tg_check_view *view);
/* What results repeat of devices and requests. */
int tg_check_copies(struct tg_check_view *view);
/* Would class and request take the device, were it free? Of a view with pools. */
int tg_check_selectable(struct tg_check_view *view, const struct tg_check_ask *ask,
                        const struct tg_resource_slice *slice, const struct tg_device *device,
                        bool *ret);
bool tg_check_may_be_shared(const struct tg_check_view *view, const struct tg_device *device);

/* capacity.c */
/* What one allocation for the request consumes of the device's capacity `at`. */
/* Could the device, with nothing else on it but `used` of what others consume, serve the request?
 * NULL if so, or what is wrong. Negative: memory. */
int tg_check_capacity_suits(struct tg_check_view *view, const struct tg_exact_request *exact,
                            const struct tg_check_pool *pool, const struct tg_device *device,
                            bool count_used, const char **ret_why);
/* Amounts and their sums. */
int tg_check_capacities(struct tg_check_view *view);
/* Share ids, and what results say of amounts. */
int tg_check_shares(struct tg_check_view *view);

/* counter.c */
int tg_check_counters(struct tg_check_view *view);
/* Why the pool contradicts itself, NULL if it does not: counter sets twice or missing. */
const char *tg_check_counter_sets(const struct tg_check_view *view,
                                  const struct tg_check_pool *pool);

/* all.c: a request for all devices has all of them. */
int tg_check_all_devices(struct tg_check_view *view);

/* constraint.c */
int tg_check_constraints(struct tg_check_view *view);

/* config.c */
int tg_check_configs(struct tg_check_view *view);

#endif
