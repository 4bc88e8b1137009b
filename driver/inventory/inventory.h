/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices -> ResourceSlices, and the smallest set of writes that makes the API server agree. Pure:
 * no I/O, no clock.
 *
 * One pool a node, named as the node. Slices are named `<5 hex digits of index>-<driver>-<node>-<8
 * hex digits>` (the node cut where the name would pass 253 bytes; the digits are a hash of driver
 * and node), so that their lexical order is the order of the devices and two writers can never
 * create the same slice twice. A pool without devices is one empty slice: consumers then know that
 * the driver lives. Counter sets, where they are published, are in slices of their own before those
 * of the devices, at most 8 a slice, or beside the devices that consume them, at most 32 counters a
 * slice (layout.h); of devices 128 fit into one, 64 where some consume counters.
 */
#ifndef TG_DRIVER_INVENTORY_INVENTORY_H
#define TG_DRIVER_INVENTORY_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"
#include "driver/inventory/layout.h"
#include "driver/provider/provider.h"

struct tg_inventory_owner {
    const char *driver;    /* DNS subdomain, <= 63 bytes */
    const char *node_name; /* pool name, spec.nodeName */
    const char *node_uid;  /* for the owner reference to the Node; NULL or "" leaves it out */
    enum tg_slice_layout layout;
};

/* True if nobody could tell the two sets apart: the same devices in the same order, counters,
 * problems. */
bool tg_inventory_set_equal(const struct tg_device_set *a, const struct tg_device_set *b);

struct tg_slice_list {
    struct tg_resource_slice *items;
    size_t n;
};

/*
 * The slices that the pool should consist of, allocated in `arena` (device data is borrowed from
 * `set`, which must outlive the result): complete but for pool.generation, uid and resourceVersion.
 * Validated (tg_device_set_validate), names of driver and node included.
 */
int tg_inventory_build(const struct tg_inventory_owner *owner, const struct tg_device_set *set,
                       struct tg_arena *arena, struct tg_slice_list *ret, struct tg_error *err);

enum tg_inventory_action {
    TG_INVENTORY_DELETE, /* of `slice`, as observed: use its uid and resourceVersion as
                            preconditions */
    TG_INVENTORY_UPDATE, /* whole replacement: name, uid and resourceVersion of the observed one are
                            filled in */
    TG_INVENTORY_CREATE,
};
struct tg_inventory_operation {
    enum tg_inventory_action action;
    const struct tg_resource_slice *slice;
    const char *why; /* static, for the log: "missing", "content differs", ... */
};
struct tg_inventory_plan {
    struct tg_inventory_operation
        *items; /* in the order in which they must be executed; stop at the first failure */
    size_t n;
    int64_t
        generation; /* of the pool after the plan; give it back as `last_generation` next time */
};

/*
 * What must be written. `observed`: all slices with spec.driver = driver and spec.nodeName = node,
 * in any order (those of other drivers or nodes are ignored). `last_generation`: the highest
 * generation that this process published, 0 if none. Everything is in `arena` or borrowed from the
 * inputs. An empty plan means that nothing needs to be done.
 *
 * Generation (resource.k8s.io ResourcePool): stays while what consumers may see can be no mix of
 * old and new content: nothing changes, lost slices are restored, or one slice of an otherwise
 * equal pool changes; any other change takes a new one in all slices. It never falls. Order:
 * updates, creates, then deletions of what is obsolete, so that a pool of one slice is never
 * missing; only slices whose name is needed and whose immutable fields are wrong are deleted first.
 */
int tg_inventory_compare(const struct tg_inventory_owner *owner,
                         const struct tg_slice_list *desired,
                         const struct tg_resource_slice *const *observed, size_t n_observed,
                         int64_t last_generation, struct tg_arena *arena,
                         struct tg_inventory_plan *ret, struct tg_error *err);

#endif
