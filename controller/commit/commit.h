/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commit machine: objects in, writes out, no hidden state. For one unit it looks at the API
 * objects as they are and says what comes next: wait (and why), find a place, or these writes.
 * Every write carries the resourceVersion it was decided on; when all of them have returned, the
 * machine is asked again. The rules are those of design 5.2; the table of transitions is in
 * README.md.
 */
#ifndef TG_CONTROLLER_COMMIT_COMMIT_H
#define TG_CONTROLLER_COMMIT_COMMIT_H

#include "api/runtime/base/arena.h"
#include "api/tangram/plan.h"
#include "controller/core/gang/place.h"
#include "controller/gather/grant.h"
#include "controller/gather/unit.h"

enum tg_write_kind {
    TG_WRITE_GANG_CREATE,    /* POST of a Gang */
    TG_WRITE_GANG_METADATA,  /* merge patch */
    TG_WRITE_GANG_STATUS,    /* merge patch of /status */
    TG_WRITE_GANG_DELETE,    /* with preconditions */
    TG_WRITE_CLAIM_ALLOCATE, /* metadata spliced (finalizer, epoch), then merge patch of /status
                                with the version that returned */
    TG_WRITE_CLAIM_CLEAR,    /* merge patch of /status */
    TG_WRITE_CLAIM_EPOCH,    /* metadata spliced (epoch) */
    TG_WRITE_POD,            /* JSON patch */
    TG_WRITE_POD_EVICT,      /* POST of an Eviction, with preconditions */
};

struct tg_write {
    enum tg_write_kind kind;
    const char *namespace_, *name, *uid;
    const char *resource_version; /* on which it was decided */
    /* The request body. TG_WRITE_CLAIM_ALLOCATE: the JSON of `status` alone, since the version is
     * known only after the metadata was written. TG_WRITE_CLAIM_EPOCH: "". */
    const char *body;
    const char *epoch; /* TG_WRITE_CLAIM_ALLOCATE and _EPOCH: what the annotation says, decimal */
    /* TG_WRITE_CLAIM_ALLOCATE and _EPOCH: a merge patch of the metadata; NULL: they must be spliced
     * into the claim's own bytes. */
    const char *metadata;
    bool metadata_done; /* TG_WRITE_CLAIM_ALLOCATE: finalizer and epoch stand already */
};

enum tg_decision_kind { TG_DECIDE_WAIT, TG_DECIDE_WRITE, TG_DECIDE_PLACE };

struct tg_decision {
    enum tg_decision_kind kind;
    struct tg_write *writes;
    size_t n_writes;
    /* For people; NULL when there is nothing to say. Stable while the situation is. */
    const char *reason, *text;
    bool warning;
    bool to_waiting;                       /* of the members, only those still gated are told */
    bool passing;                          /* mostly over within a moment: told only if it lasts */
    const struct tg_resource_claim *about; /* the claim that the text is about, or NULL */
    const char *phase;                     /* gangs: TG_PHASE_* */
    bool stalled; /* the plan waits for a node or device to come back; tell `stall_over` when the
                     delay has passed */
    bool unbound; /* a released member is not bound yet; tell `bind_over` when that took too long */
    bool abandoned;  /* an auto Gang without live members; deleted when `linger_over` */
    bool drop_holds; /* every place is taken: tg_commit_show takes status.holds away */
    /* Nodes that are kept free for a Gang that waits: tg_commit_show writes them into its
     * status.holds, which has nothing else before there is a plan. */
    const struct tg_gang_hold *kept;
    size_t n_kept;
    int64_t wake;    /* wall, ns: look again then (a hold ends); 0: no need */
    int64_t wake_in; /* ns; 0: nothing changes by itself. A scheduleTimeout runs out then */
    /* TG_DECIDE_PLACE: the members to place (indexes into unit->members). If there is no room for
     * all, the first n_required must do. */
    size_t *chosen;
    size_t n_chosen, n_required;
    /* They join a plan that stands: beside its members, if possible each on nodes[i] (NULL: no
     * wish). The phase stays. */
    bool joins;
    const char **nodes;
};

/* A device of an allocation of the unit that is no more: seen, not recorded. */
struct tg_lost_device {
    char *pod_uid; /* for whom it was reserved */
    char *device;  /* "driver/pool/device" */
};

struct tg_commit_input {
    const struct tg_view *view;
    const struct tg_unit *unit;
    const struct tg_fleet *fleet;
    const struct tg_plan
        *plan; /* of the commit record, or decided and not yet written (claims); NULL: none */
    bool plan_unreadable; /* there is a record, but it does not decode */
    const char *instance;
    uint64_t epoch;
    int64_t now;      /* wall, ns: for timestamps in objects, and against those of holds */
    int64_t hold_for; /* ns: how long the place of a lost member is held */
    bool disturbed;   /* somebody else cleared an allocation of the open plan */
    /* What lost members had, as far as we have seen it go; a plan that has shrunk does not say. */
    const struct tg_lost_device *lost;
    size_t n_lost;
    bool stall_over;
    bool linger_over;
    bool bind_over;
};

/* Errors: only exhaustion of the arena. */
int tg_commit_decide(const struct tg_commit_input *input, struct tg_arena *arena,
                     struct tg_decision *ret, struct tg_error *err);

/* The places that a unit holds (Gang.status.holds) as everybody else must see them: devices that
 * are busy, and pods like the lost ones on their nodes. Holds that have ended count for nothing.
 * Devices of lost allocations (n_lost) are busy as well: while their pod may still run on them, and
 * until the hold of its place is written. now: wall, ns. Memory is the arena's; errors: only its
 * exhaustion. */
struct tg_held {
    struct tg_fleet_busy *busy;
    size_t n_busy;
    struct tg_fleet_assumed *assumed;
    size_t n_assumed;
};
int tg_commit_held(const struct tg_view *view, const struct tg_unit *unit, int64_t now,
                   const struct tg_lost_device *lost, size_t n_lost, struct tg_arena *arena,
                   struct tg_held *ret, struct tg_error *err);
/* What the results of a planned claim make busy for everybody else, one entry a result (none for
 * admin access): appended to ret, which has room for tg_plan_claim_results more. A share of
 * which the memory does not allow to say what it takes counts as the whole device. */
void tg_commit_busy(const struct tg_plan *plan, const struct tg_plan_member *member,
                    const struct tg_plan_claim *planned, const char *holder, struct tg_arena *arena,
                    struct tg_fleet_busy *ret, size_t *ret_n);
/* A member of the unit is there for a place that the unit holds: what is held must be free for
 * tg_place then, and for nobody else. */
bool tg_commit_reclaims(const struct tg_unit *unit);

/* What to ask of tg_place for the chosen members. on_nodes: where decision->nodes says.
 * TG_FAILED_PRECONDITION: claims that they share
 * are allocated on different nodes. */
int tg_commit_place_request(const struct tg_commit_input *input, const struct tg_decision *decision,
                            const struct tg_level *pack_required,
                            const struct tg_level *pack_preferred, bool on_nodes,
                            struct tg_arena *arena, struct tg_place_request *ret,
                            struct tg_error *err);

/* The plan of a placement: of the chosen members alone. */
int tg_commit_plan(const struct tg_commit_input *input, const struct tg_decision *decision,
                   const struct tg_place_request *request, const struct tg_placement *placement,
                   struct tg_arena *arena, struct tg_plan **ret, struct tg_error *err);

/* The writes that make a fresh plan the commit record (gang, pod; of members that join: a part of
 * it), or that make it true at once (claim). */
int tg_commit_begin(const struct tg_commit_input *input, const struct tg_plan *plan,
                    struct tg_arena *arena, struct tg_decision *ret, struct tg_error *err);

/* Gangs: the status write that shows a decision, if the object does not show it already: appended
 * to decision->writes. no_place may be NULL. */
int tg_commit_show(const struct tg_commit_input *input, const struct tg_no_place *no_place,
                   struct tg_arena *arena, struct tg_decision *decision, struct tg_error *err);

/* The fences of a view, or of all its parts, in an order that is not that of the stores. */
void tg_commit_sort_fences(struct tg_write *writes, size_t n);

/* Taking over (design 5.2, fencing): the writes that make invalid whatever a predecessor may still
 * send. The epoch is written to each unallocated claim that carries one, each gated pod of a plan,
 * and each Gang whose plan is open, unless it says input->epoch already; input->unit and
 * input->plan are not read. Claims of classes of another instance, and objects that cannot be read
 * (nobody knows a version of them), are left out. No write is left when all are fenced.
 * *ret_highest: the highest epoch that any of our records says, 0 if there is none; values of 2^53
 * and above are nobody's honest count and ignored. Errors: only exhaustion of the arena. */
int tg_commit_fence(const struct tg_commit_input *input, struct tg_arena *arena,
                    struct tg_decision *ret, uint64_t *ret_highest, struct tg_error *err);

/* The plan in the commit record: Gang.status.plan or the pod's annotation. NULL: none.
 * *ret_unreadable: there is one, but it cannot be replayed. */
int tg_commit_record(const struct tg_unit *unit, struct tg_arena *arena, const struct tg_plan **ret,
                     bool *ret_unreadable, struct tg_error *err);

/* The UID that markers of this unit carry: of the Gang (NULL if there is none), of the pod, or ""
 * for a claim. */
const char *tg_unit_marker_uid(const struct tg_unit *unit);

/* A plan as compact JSON and back (pod annotation; plans on their way to the API). */
char *tg_plan_encode(const struct tg_plan *plan, struct tg_arena *arena);
int tg_plan_decode(const char *json, struct tg_arena *arena, struct tg_plan **ret,
                   struct tg_error *err);

#endif
