/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fleet keeps between decisions: records by name, each made of one API object, and what they
 * add up to. Everything here is the model's own (heap, strings kept once); an event changes the
 * records of one object and what depends on it. Private to the model.
 *
 *   node ─► place ◄─ stay ◄─ pod          slice ─► pool ─► held ◄─ grant ◄─ claim, hold, assumption
 *
 * A place is a node by name, whether its Node is there or only a pod or a slice speaks of it; a
 * held is a device by name, whether a slice publishes it or not. So the order of events plays no
 * part.
 */
#ifndef TG_CORE_MODEL_MODEL_H
#define TG_CORE_MODEL_MODEL_H

#include "api/kubernetes/objects/pack.h"
#include "api/runtime/base/vec.h"
#include "controller/core/model/sorted.h"
#include "controller/core/model/table.h"
#include "controller/core/model/view.h"

/* --- nodes and pods --- */

struct tg_usage { /* of one resource, of all pods that stand on the place */
    const char *name;
    __int128 sum; /* exact: what is added can be taken off again */
    size_t users;
};

struct tg_place {
    struct tg_record record;
    const char *name;
    struct tg_node *object; /* one block, NULL: no Node of that name */
    const char *broken;     /* what of the Node cannot be read, or NULL */
    uint32_t labels;        /* of the Node (labels.h), 0: none */
    struct tg_fleet_room *rooms;
    size_t n_rooms;
    size_t index; /* of fleet->nodes, TG_NO_INDEX: none */
    TG_VEC(struct tg_usage) usage;
    TG_VEC(struct tg_stay *) unreadable;  /* pods here whose requests cannot be read */
    TG_VEC(struct tg_fleet_pool *) pools; /* with a slice of this node; by driver and name */
    size_t links;                         /* slices and pods that speak of it */
};

struct tg_assumed_stay { /* newest first */
    struct tg_place *place;
    struct tg_assumed_stay *next;
};

struct tg_stay_more { /* of the few that have it */
    struct tg_place *own;
    struct tg_assumed_stay *assumed; /* where else it is said to go */
    uint32_t problem;                /* of the strings, 0: none; why its requests cannot be read */
};

/* Of each pod on a node: every byte counts. Of its key, namespace/name, the head is shared by all
 * pods that one controller made. */
struct tg_stay {
    struct tg_record record; /* own: its demand, of the blobs, 0: none; the last has no name */
    union {
        struct tg_place *own; /* bound or nominated; NULL: neither, or no such pod */
        struct tg_stay_more *more;
    };
    uint32_t head; /* of the strings */
    bool has_more : 1;
    bool bound : 1, known : 1; /* by a node; an object says so */
    char tail[];
};
#define TG_STAY_KEY 512 /* namespace 63, name 253 */

/* --- devices --- */

enum tg_slot_flags {
    TG_SLOT_TAINTED = 1U << 0,   /* has taints of its own */
    TG_SLOT_UNHEALTHY = 1U << 1, /* says healthy: false */
    TG_SLOT_COUNTS = 1U << 2,    /* consumes counters */
    TG_SLOT_DERIVED = 1U << 3,   /* says derived: true */
    TG_SLOT_BINDING = 1U << 4,   /* has binding conditions */
    TG_SLOT_SHARED = 1U << 5,    /* may be given to several claims */
    TG_SLOT_POLICY = 1U << 7,    /* has a policy about amounts, which may forbid any */
    TG_SLOT_GUARD = 1U << 6,     /* publishes an attribute of the reserved domain */
    TG_SLOT_GROUPS = 1U << 8,    /* consumes counters in compatibility groups */
};
struct tg_slot {            /* one device of a slice */
    uint32_t name, content; /* of the strings, of the contents */
    uint32_t row;           /* of fleet->devices + 1, 0: none */
    uint32_t flags;
};

struct tg_fleet_slice {
    struct tg_record record;
    const char *name;
    struct tg_fleet_pool *pool;
    int64_t generation;
    int64_t count; /* resourceSliceCount, -1: absent or below 0 */
    const char *node_name;
    struct tg_place *place; /* of node_name */
    bool all_nodes;
    struct tg_opt_bool per_device;
    unsigned flags;         /* of any of its slots */
    struct tg_arena *arena; /* of selector and counters, NULL without */
    const struct tg_node_selector *selector;
    const struct tg_counter_set *counters;
    size_t n_counters;
    struct tg_slot *slots; /* as published */
    size_t n_slots;
};

struct tg_fleet_pool {
    struct tg_record record;
    const char *driver, *name;
    TG_VEC(struct tg_fleet_slice *) slices; /* the newest generation first, then by name */
    size_t n_held;                          /* devices of it that somebody holds */
    size_t n_wide;                          /* slices that name no node */
    size_t first_row, n_rows;               /* of fleet->devices, when they were last written */
    size_t changed;                         /* its place in model->changed + 1, 0: as written */
    bool listed_bad;                        /* in model->bad_pools */
    const char *why; /* its newest generation is of no use, whatever the node: static text */
};

struct tg_share {                    /* what is somebody's of a device */
    char *id;                        /* NULL: all of it */
    struct tg_string_pair *consumed; /* one block */
    size_t n_consumed;
};

struct tg_grant { /* a device, or a share of it, is somebody's */
    struct tg_held *held;
    struct tg_grant *next;  /* of the device, the strongest first */
    const char *holder;     /* of the owner, or its own */
    struct tg_share *share; /* NULL: all of it, and no amounts are told */
    bool owned;             /* the holder is to be freed */
    bool allocated;
};

struct tg_held {
    struct tg_record record; /* own: its name, of the strings */
    struct tg_fleet_pool *pool;
    struct tg_grant *first;
};

struct tg_owner { /* a claim, or who holds devices for later; its holder follows its grants */
    struct tg_record record;   /* own: of how many grants */
    struct tg_grant *grants[]; /* some may be NULL */
};

/* --- the rest --- */

struct tg_kept { /* a class or a rule, with an arena of its own */
    struct tg_record record;
    struct tg_arena *arena;
    const char *name;
    const void *object;
    struct tg_fleet_class *klass;
};

struct tg_spare_rows { /* blocks of n rows of devices that nobody uses */
    size_t n;
    TG_VEC(uint32_t) firsts;
};

struct tg_undo { /* one thing that was assumed */
    struct tg_grant *grant;
    struct tg_stay *stay; /* its newest assumption */
};

struct tg_news { /* news.h */
    TG_VEC(uint32_t) nodes;
    uint64_t first; /* number of nodes.items[0] */
    uint64_t read;  /* up to where somebody has read */
    uint64_t epoch; /* rows have other numbers since, or everything is another */
    uint64_t wide;
};

struct tg_makes {          /* make.h */
    struct tg_make *items; /* by content; kind 0: not known */
    size_t n;
    struct tg_blobs kinds; /* names */
};

struct tg_attic { /* what decisions keep with the fleet */
    void *kept;
    void (*free)(void *kept);
};

struct tg_model {
    struct tg_fleet *fleet;
    struct tg_blobs strings, shapes, contents, demands, labels;
    struct tg_pack_strings pack; /* of strings */
    struct tg_table places, stays, slices, pools, held, owners, classes, rules;
    struct tg_table shelves[TG_SHELVES];
    TG_VEC(struct tg_fleet_pool *) wide; /* pools with n_wide > 0, by driver and name */
    TG_VEC(struct tg_undo) log;
    TG_VEC(unsigned char) buffer; /* scratch for packing, as are the next two */
    TG_VEC(struct tg_keyed_attribute) attributes;
    TG_VEC(uint32_t) numbers;
    struct tg_arena *rows; /* scratch of one row */
    size_t rows_capacity, nodes_capacity;
    struct tg_sorted nodes_by_name; /* places that have a row */
    struct tg_sorted pools_by_name;
    struct tg_sorted bad_pools;
    TG_VEC(struct tg_fleet_pool *) changed; /* whose rows are not as they should be */
    TG_VEC(uint32_t) stale_nodes;           /* whose lists of devices are not */
    TG_VEC(uint32_t) spare_nodes;           /* rows that nobody uses */
    TG_VEC(struct tg_spare_rows) spare_rows;
    size_t n_spare_rows;          /* in all of them */
    struct tg_demand_table table; /* scratch, of scratch */
    struct tg_arena *scratch;
    bool kept_changed;                    /* classes or rules: all rows are to be written again */
    bool classes_retry;                   /* one was refused for want of memory */
    struct tg_selector_options selectors; /* what they are compiled for */
    TG_VEC(uint32_t) contests;            /* by content, of contest.c */
    struct tg_contest *contest;           /* of the classes as they are, of contest_arena */
    struct tg_arena *contest_arena;
    struct tg_table selections; /* selection.h */
    uint64_t decisions;         /* how many there were, for selections */
    struct tg_news news;
    struct tg_makes makes;
    struct tg_attic attic, learned;
};

/* strings */
const char *tg_model_string(struct tg_model *model, const char *s); /* NULL for NULL; used once */
void tg_model_drop_string(struct tg_model *model, const char *s);   /* NULL is allowed */

int64_t tg_usage_amount(const struct tg_usage *usage); /* stay.c; ends at INT64_MAX */

/* place.c */
struct tg_place *tg_place_of(struct tg_model *model, const char *name); /* made if need be */
struct tg_place *tg_place_find(const struct tg_model *model, const char *name);
void tg_place_release(struct tg_model *model, struct tg_place *place); /* if nobody needs it */
void tg_place_free(struct tg_model *model, struct tg_place *place);
void tg_place_put(struct tg_model *model, const struct tg_node *node);
void tg_place_drop(struct tg_model *model, const char *name);
/* The row of the place, if it has one, says what the place says. */
void tg_place_show(struct tg_model *model, const struct tg_place *place);
/* The rooms anew, from the Node and, where they are of its making alone, what is in use. */
void tg_place_open_rooms(struct tg_model *model, struct tg_place *place);
void tg_place_fill(const struct tg_model *model, struct tg_fleet_node *row,
                   const struct tg_place *place);

/* stay.c */
void tg_stay_put(struct tg_model *model, const struct tg_pod *pod);
void tg_stay_drop(struct tg_model *model, const char *namespace_, const char *name);
struct tg_stay *tg_stay_assume(struct tg_model *model, const struct tg_pod *pod, const char *node);
void tg_stay_forget(struct tg_model *model, struct tg_stay *stay);
void tg_stay_free(struct tg_model *model, struct tg_stay *stay);
struct tg_place *tg_stay_place(const struct tg_stay *stay); /* where it counts, or NULL */
/* The last one has no name. */
const struct tg_amount *tg_stay_amounts(const struct tg_model *model, const struct tg_stay *stay);
const char *tg_stay_problem(const struct tg_model *model, const struct tg_stay *stay); /* or NULL */
const struct tg_assumed_stay *tg_stay_assumed(const struct tg_stay *stay);             /* or NULL */
/* namespace/name */
const char *tg_stay_key(const struct tg_model *model, const struct tg_stay *stay,
                        char out[TG_STAY_KEY]);

/* slice.c */
void tg_slice_put(struct tg_model *model, const struct tg_resource_slice *slice);
void tg_slice_drop(struct tg_model *model, const char *name);
struct tg_fleet_slice *tg_slice_find(const struct tg_model *model, const char *name);
void tg_slice_free(struct tg_model *model, struct tg_fleet_slice *slice);
struct tg_fleet_pool *tg_fleet_pool_of(struct tg_model *model, const char *driver,
                                       const char *name);
struct tg_fleet_pool *tg_fleet_pool_find(const struct tg_model *model, const char *driver,
                                         const char *name);
void tg_fleet_pool_release(struct tg_model *model, struct tg_fleet_pool *pool);
int tg_fleet_pool_compare(const struct tg_fleet_pool *a, const struct tg_fleet_pool *b);

/* content.c */
/* The content of the device, whatever its name, used once more. */
uint32_t tg_content_keep(struct tg_model *model, const char *driver,
                         const struct tg_device *device);
void tg_content_leave(struct tg_model *model, uint32_t content);
uint32_t tg_content_shape(const struct tg_model *model, uint32_t content);
/* Does reads say yes to the key of an attribute that tells devices of the shape apart? */
bool tg_shape_tells(const struct tg_model *model, uint32_t shape,
                    bool (*reads)(const void *data, const char *driver, const char *key),
                    const void *data);
/* What all devices of the shape have: no name, no telling attributes. TG_RESOURCE_EXHAUSTED. */
int tg_shape_device(const struct tg_model *model, uint32_t shape, struct tg_arena *arena,
                    struct tg_device *ret, struct tg_error *err);
/* The device of a slot, with what belongs to it in the arena. TG_RESOURCE_EXHAUSTED. */
int tg_slot_device(const struct tg_model *model, const struct tg_slot *slot, struct tg_arena *arena,
                   struct tg_device *ret, struct tg_error *err);

/* held.c */
struct tg_held *tg_held_find(const struct tg_model *model, const char *driver, const char *pool,
                             const char *device);
struct tg_held *tg_slot_held(const struct tg_model *model, const struct tg_fleet_pool *pool,
                             const struct tg_slot *slot);
/* The next grant that is not the same share again; NULL: no more. */
const struct tg_grant *tg_grant_next(const struct tg_grant *grant);
static inline const char *tg_grant_share(const struct tg_grant *grant) /* NULL: all of the device */
{
    return grant->share == NULL ? NULL : grant->share->id;
}
static inline const char *tg_held_name(const struct tg_model *model, const struct tg_held *held)
{
    return (const char *)tg_blobs_get(&model->strings, held->record.own);
}
const char *tg_slot_holder(const struct tg_slot *slot, const struct tg_held *held); /* of the row */
const char *tg_held_holder(const struct tg_held *held); /* of the whole; NULL is allowed */
void tg_claim_put(struct tg_model *model, const struct tg_resource_claim *claim);
void tg_owner_hold(struct tg_model *model, const char *key, const struct tg_fleet_busy *busy,
                   size_t n);
struct tg_grant *tg_grant_assume(struct tg_model *model, const struct tg_fleet_busy *busy);
void tg_grant_free(struct tg_model *model, struct tg_grant *grant);
void tg_held_free(struct tg_held *held); /* with all its grants, when the model ends */
void tg_claim_drop(struct tg_model *model, const char *namespace_, const char *name);

/* kept.c */
void tg_class_put(struct tg_model *model, const struct tg_device_class *klass);
void tg_class_drop(struct tg_model *model, const char *name);
void tg_classes_compile(struct tg_model *model); /* all of them anew */
void tg_rule_put(struct tg_model *model, const struct tg_device_taint_rule *rule);
void tg_rule_drop(struct tg_model *model, const char *name);
void tg_kept_free(struct tg_kept *kept);

/* shelf.c */
void tg_shelf_put(struct tg_model *model, enum tg_shelf shelf, const struct tg_object *object);
void tg_shelf_drop(struct tg_model *model, enum tg_shelf shelf, const char *namespace_,
                   const char *name);
void tg_shelves_free(struct tg_model *model);
uint64_t tg_shelves_hash(const struct tg_model *model);

/* contest.c */
void tg_contests_open(struct tg_model *model); /* the classes are others than before */
/* A row has come: is it contested? And it is about to go. */
void tg_contest_add(struct tg_model *model, struct tg_fleet_device *row);
void tg_contest_remove(struct tg_model *model, const struct tg_fleet_device *row);
void tg_contests_forget(struct tg_model *model, uint32_t content);

/* selection.c */
void tg_selections_free(struct tg_model *model);
void tg_selections_forget(struct tg_model *model, uint32_t content);
void tg_selections_forget_shape(struct tg_model *model, uint32_t shape);

/* make.c */
void tg_makes_forget(struct tg_model *model, uint32_t content);
void tg_makes_done(struct tg_makes *makes);

/* news.c */
void tg_news_node(struct tg_model *model, size_t node); /* TG_NO_INDEX is allowed */
void tg_news_pool(struct tg_model *model, const struct tg_fleet_pool *pool); /* all its nodes */
void tg_news_all(struct tg_model *model);

/* pool.c */
size_t
tg_fleet_pool_newest(const struct tg_fleet_pool *pool); /* how many slices have its generation */
/* Which devices of a counter set may be given away beside each other (DRADeviceCompatibilityGroups,
 * alpha in 1.37) is not known here: a pool that says so is not used, as the built-in allocator does
 * without the gate. Does a slice of the generation say so? */
#define TG_POOL_GROUPS "uses compatibilityGroups, which this version does not serve"
bool tg_fleet_pool_has_groups(const struct tg_fleet_pool *pool, int64_t generation);
void tg_fleet_pool_judge(struct tg_model *model, struct tg_fleet_pool *pool); /* sets why */

/* rows.c */
void tg_rows_init(struct tg_model *model);
void tg_rows_done(struct tg_model *model);
/* A Node of that name has come, has gone. */
void tg_rows_add_node(struct tg_model *model, struct tg_place *place);
void tg_rows_drop_node(struct tg_model *model, struct tg_place *place);
void tg_rows_add_pool(struct tg_model *model, struct tg_fleet_pool *pool);
void tg_rows_drop_pool(struct tg_model *model, struct tg_fleet_pool *pool);
/* The rows of the pool are to be written again, when the fleet is settled. */
void tg_rows_change(struct tg_model *model, struct tg_fleet_pool *pool);
/* NULL: none, or none that says how things are. */
struct tg_fleet_device *tg_rows_find(const struct tg_model *model, const struct tg_fleet_pool *pool,
                                     const char *device);
/* What decisions look at first says what the row says. */
void tg_rows_face(struct tg_model *model, const struct tg_fleet_device *row);
void tg_rows_settle(struct tg_model *model);

#endif
