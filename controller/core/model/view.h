/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a fleet, for controller/core only: rows of nodes, devices and classes. Rows refer
 * to each other by index; a row stays where it is while its node or pool is there, and events
 * change what it says in place. Which row is whose depends on the order of events: what must not
 * depend on it goes by name, with the walks below or tg_fleet_node.order.
 */
#ifndef TG_CORE_MODEL_VIEW_H
#define TG_CORE_MODEL_VIEW_H

#include "controller/core/cel/selector.h"
#include "controller/core/model/demand.h"
#include "controller/core/model/fleet.h"
#include "controller/core/model/sorted.h"

#define TG_NO_INDEX ((size_t)-1)

#define TG_NO_ROW UINT32_MAX

/* What nearly every pod wants is with the row of a node, the rest a step away. */
enum tg_main_room { TG_MAIN_CPU, TG_MAIN_MEMORY, TG_MAIN_PODS, TG_MAIN_ROOMS };
extern const char *const tg_main_rooms[TG_MAIN_ROOMS]; /* their names */

struct tg_fleet_room { /* one resource of a node */
    const char *name;
    int64_t allocatable, used; /* in the unit of struct tg_amount */
};

struct tg_fleet_node {
    const struct tg_node *object; /* NULL: the row is nobody's, and all of it zero */
    const char *name;
    uint64_t order; /* grows with the name: who comes first is told without the names */
    const char
        *broken; /* why the node cannot be judged (a quantity that does not parse), or NULL */
    struct tg_fleet_room *rooms; /* sorted by name */
    uint32_t *devices;           /* indexes of fleet->devices, in order of driver, pool, name */
    int64_t left[TG_MAIN_ROOMS]; /* as tg_fleet_room_left, of what nearly every pod wants */
    uint32_t n_rooms, n_devices;
    uint32_t labels;       /* the number of what its labels say (labels.h) */
    uint32_t first_device; /* TG_NO_ROW, or: the devices are these and those that follow */
    bool stale;            /* the list is about to be written anew */
    bool plain;            /* ready, readable, not cordoned, without taints */
};

struct tg_fleet_device {
    const struct tg_slot *slot; /* what it is, for the model; NULL: the row is nobody's */
    const char *driver, *pool, *name;
    size_t node; /* TG_NO_INDEX: of no node that we know, or wide */
    bool wide;   /* its slice names no node: several nodes may reach it */
    bool exact; /* that nobody holds it says too little of whether it is there to be given: wide, or
                   it consumes counters, or it has shares; the view of a node (node_view.h) says */
    bool shared;             /* may be given to several at once */
    bool binding;            /* has binding conditions, which an allocation copies */
    const char *unsupported; /* why it is never allocated, or NULL */
    const char *contested;   /* the class by which others can have it (contest.h), or NULL */
    const char *holder;      /* who holds it, or NULL */
    const struct tg_taint *const
        *taints; /* NoSchedule and NoExecute only, those of rules and of bad health included */
    size_t n_taints;
};

/* A pool that nothing is allocated from, and why. */
struct tg_fleet_bad_pool {
    const char *driver, *pool, *why;
};

struct tg_fleet_class {
    const struct tg_device_class *object;
    const char *name;
    enum tg_class_kind kind;
    struct tg_selector **selectors; /* managed classes only */
    size_t n_selectors;
    int compile_code;          /* 0, or the negative code with which a selector was refused */
    const char *compile_error; /* its text */
    size_t contests;           /* devices that it contests (contest.h) */
    size_t contests_first;     /* the first of them, or TG_NO_INDEX: not known */
};

/* The face of a device, in its row of fleet->faces: what most decisions look at, without the rest.
 */
#define TG_FACE_FREE 1U  /* supported, not contested, held by nobody */
#define TG_FACE_PLAIN 2U /* not exact, not shared, without taints: the shape tells everything */
#define TG_FACE_OURS 4U  /* supported and not contested: if it is not free, somebody holds it */
#define TG_FACE_SHAPE 3  /* bits before the number of its shape (content.c) */

struct tg_fleet {
    struct tg_fleet_node *nodes;
    size_t n_nodes;                  /* rows, those that are nobody's included */
    struct tg_fleet_device *devices; /* of a pool one after another, by name */
    size_t n_devices;                /* without rows that are nobody's */
    size_t device_rows;              /* with them */
    uint32_t *faces;                 /* as many */
    size_t n_exact;                  /* devices that are exact */
    size_t n_bad_pools;
    struct tg_fleet_class *classes; /* by name */
    size_t n_classes;
    const struct tg_device_taint_rule **taint_rules; /* by name */
    size_t n_taint_rules;
    const char *instance;
    const struct tg_selector_options *selectors; /* what they are compiled for */
    struct tg_model *model;                      /* what the rows are made of */
};

/* What decisions keep with the fleet from one to the next (gang/offer.h): it is the caller's to
 * make and to change, and freed with the fleet. One of a kind: whoever asks first says how it is
 * freed.
 */
void **tg_fleet_attic(const struct tg_fleet *fleet, void (*free)(void *kept));

/* What was learned of the requests that came (gang/ledger.h): as the attic, but it is never emptied
 * before the fleet is closed, since nothing that the fleet knows could bring it back. */
void **tg_fleet_learned(const struct tg_fleet *fleet, void (*free)(void *kept));

/* What is kept of objects that pods speak of: an object of the shelf in the arena, *ret NULL if
 * there is none of that name (namespace_ NULL for cluster scope). TG_RESOURCE_EXHAUSTED. */
enum tg_shelf {
    TG_SHELF_VOLUME,        /* struct tg_persistent_volume */
    TG_SHELF_VOLUME_CLAIM,  /* struct tg_persistent_volume_claim */
    TG_SHELF_STORAGE_CLASS, /* struct tg_storage_class */
    TG_SHELVES,             /* how many there are */
};
int tg_fleet_shelved(const struct tg_fleet *fleet, enum tg_shelf shelf, const char *namespace_,
                     const char *name, struct tg_arena *arena, const void **ret,
                     struct tg_error *err);

/* TG_NO_INDEX if there is none. */
size_t tg_fleet_find_node(const struct tg_fleet *fleet, const char *name);
size_t tg_fleet_find_device(const struct tg_fleet *fleet, const char *driver, const char *pool,
                            const char *device);
const struct tg_fleet_class *tg_fleet_find_class(const struct tg_fleet *fleet, const char *name);
/* Why nothing is allocated from the pool, or NULL: it is sound, or not there. */
const char *tg_fleet_pool_fault(const struct tg_fleet *fleet, const char *driver, const char *pool);
/* The first such pool; false: none. */
bool tg_fleet_bad_pool(const struct tg_fleet *fleet, struct tg_fleet_bad_pool *ret);
struct tg_fleet_walk { /* zeroed at first */
    struct tg_sorted_at at;
    size_t next, end;
};
/* Rows in the order of names (driver, pool, name); TG_NO_INDEX at the end. */
size_t tg_fleet_next_node(const struct tg_fleet *fleet, struct tg_fleet_walk *walk);
size_t tg_fleet_next_device(const struct tg_fleet *fleet, struct tg_fleet_walk *walk);
/* Only those that are of no node in particular. */
size_t tg_fleet_next_wide(const struct tg_fleet *fleet, struct tg_fleet_walk *walk);
/* Numbers of shapes are below that, for now. */
size_t tg_fleet_shapes(const struct tg_fleet *fleet);
static inline uint32_t tg_fleet_shape(const struct tg_fleet *fleet, size_t device)
{
    return fleet->faces[device] >> TG_FACE_SHAPE;
}
/* Do all slices of the pool that are in force name one and the same node? */
bool tg_fleet_pool_is_local(const struct tg_fleet *fleet, const char *driver, const char *pool);
/* Does the selector match the device of that row? TG_FAILED_PRECONDITION: it fails on it. */
int tg_fleet_selects(const struct tg_fleet *fleet, const struct tg_selector *selector,
                     size_t device, bool *ret, struct tg_error *err);
/* What the device says of an attribute by its full name ("domain/name"), as text that differs for
 * different values; false: nothing, or a list. */
#define TG_FLEET_ATTRIBUTE 96
bool tg_fleet_attribute(const struct tg_fleet *fleet, size_t device, const char *name,
                        char ret[TG_FLEET_ATTRIBUTE]);
/* What is left of a resource on a node: 0 if the node does not offer it; below 0 if it is
 * overcommitted. */
int64_t tg_fleet_room_left(const struct tg_fleet_node *node, const char *resource);
/* strcmp by three keys. */
int tg_fleet_compare_id(const char *a_driver, const char *a_pool, const char *a_device,
                        const char *b_driver, const char *b_pool, const char *b_device);

#endif
