/* SPDX-License-Identifier: Apache-2.0 */
/* What the three kinds of units share; not for use outside controller/commit. */
#ifndef TG_CONTROLLER_COMMIT_PARTS_H
#define TG_CONTROLLER_COMMIT_PARTS_H

#include "controller/commit/commit.h"

/* Memory and errors of one decision. */
struct tg_deciding {
    const struct tg_commit_input *in;
    struct tg_arena *arena;
    struct tg_decision *out;
    struct tg_error *err;
    size_t writes_capacity;
};

int tg_decide_gang(struct tg_deciding *d);
int tg_decide_pod(struct tg_deciding *d);
int tg_decide_claim(struct tg_deciding *d);

/* The epoch of this leader, decimal; NULL: out of memory. */
const char *tg_deciding_epoch(const struct tg_deciding *d);
int tg_decide_out_of_memory(struct tg_deciding *d);
/* Has the gang waited longer than its scheduleTimeout allows? Then the decision says so (phase
 * Failed) and *ret_over is set; else the decision may say when to look again. timeout.c */
int tg_decide_timeout(struct tg_deciding *d, bool *ret_over);
/* Sets kind WAIT and the text (printf). */
int tg_decide_wait(struct tg_deciding *d, const char *phase, const char *reason, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));
/* Adds a write and sets kind WRITE. */
int tg_decide_write(struct tg_deciding *d, const struct tg_write *write);
/* The problem of the unit as a warning. */
int tg_decide_problem(struct tg_deciding *d, const char *phase);

/* --- state of what a plan names (plan_state.c) --- */

enum tg_claim_state {
    TG_CLAIM_OPEN,     /* exists, not allocated */
    TG_CLAIM_WRITTEN,  /* allocated per the plan */
    TG_CLAIM_FOREIGN,  /* allocated, but not by this plan */
    TG_CLAIM_GONE,     /* absent, or another object of the name */
    TG_CLAIM_DELETING, /* has a deletionTimestamp */
};

struct tg_plan_pod {
    const struct tg_pod *pod; /* NULL: gone (or another pod of the name) */
    bool gated, bound, finished, deleting;
};

struct tg_plan_pod tg_plan_pod_state(const struct tg_view *view, const char *namespace_,
                                     const struct tg_plan_member *member);
enum tg_claim_state tg_plan_claim_state(const struct tg_deciding *d,
                                        const struct tg_plan_member *member,
                                        const struct tg_plan_claim *planned,
                                        const struct tg_resource_claim **ret);

/* What has become of a member of the plan, once a gate of the gang was removed. */
enum tg_member_state {
    TG_MEMBER_GATED,    /* there, with our gate */
    TG_MEMBER_RELEASED, /* without it, not bound yet */
    TG_MEMBER_BOUND,
    TG_MEMBER_FINISHED, /* it succeeded, or failed by itself */
    TG_MEMBER_LOST,     /* gone, being deleted, or ended by a disruption */
};

struct tg_member_view {
    const struct tg_plan_member *member;
    const struct tg_pod *pod; /* NULL: gone */
    enum tg_member_state state;
    bool failed;         /* FINISHED: not by success */
    size_t open, broken; /* GATED: claims still to be written, claims that cannot be */
    const char *robbed;  /* RELEASED, BOUND: a claim that is not allocated as planned (any more) */
};

/* Where an open plan stands. */
struct tg_progress {
    struct tg_member_view *members; /* as in the plan */
    size_t n;
    size_t alive, gated, bound, finished, lost; /* members; alive: neither finished nor lost */
    size_t ended;                               /* pods in a final phase, whatever the reason */
    size_t open, broken;                        /* claims of gated members */
    size_t robbed;                              /* members */
    bool proof;  /* a pod stands without our gate, even if it is being deleted: one was removed */
    bool shrunk; /* the plan lists no claims any more */
    const char *lost_pod, *robbed_claim; /* one of them */
    const struct tg_pod *unbound;        /* the first that was released and is not bound yet */
};

/* progress.c */
bool tg_pod_was_disrupted(const struct tg_pod *pod);
int tg_progress_of(struct tg_deciding *d, const struct tg_plan *plan, struct tg_progress *ret);
struct tg_member_view tg_member_look(const struct tg_deciding *d,
                                     const struct tg_plan_member *member);

/* Nobody for whom it is reserved can have started (gated, or another of its claims is open): the
 * allocation may still be taken back. */
bool tg_claim_before_gate(const struct tg_view *view, const struct tg_resource_claim *claim);

enum tg_plan_verdict { TG_PLAN_STANDS, TG_PLAN_STALLS, TG_PLAN_BROKEN };
/* The left column of the event table: may a plan of which no gate was removed go on? why: arena
 * text. */
enum tg_plan_verdict tg_plan_judge(struct tg_deciding *d, const struct tg_plan *plan,
                                   const char **ret_why);

/* The same of one member. */
enum tg_plan_verdict tg_plan_judge_member(struct tg_deciding *d, const struct tg_plan *plan,
                                          const struct tg_plan_member *member,
                                          const char **ret_why);

/* --- after the first gate --- */

/* As the Gang's status says; NULL: nothing yet. */
const char *tg_gang_phase(const struct tg_unit *unit);
int tg_decide_after(struct tg_deciding *d, const struct tg_progress *p); /* gang_after.c */
/* Pins and un-gates every gated member. */
int tg_release_gates(struct tg_deciding *d, const struct tg_progress *p);

/* loss.c: what onMemberLoss makes of the lost members; nothing if there are none, or if the Gang is
 * being deleted. What is only told (reason set, no writes) leaves room for a replacement. */
int tg_loss_decide(struct tg_deciding *d, const struct tg_progress *p);
/* Says what is lost, and leaves it at that. */
int tg_loss_report(struct tg_deciding *d, const struct tg_progress *p);
/* Those that have started are going to be evicted: no further gate is removed. */
bool tg_loss_recreates(const struct tg_deciding *d, const struct tg_progress *p);
/* The plan without a member that never started, its place held if the gang holds places. */
int tg_loss_forget(struct tg_deciding *d, const struct tg_progress *p,
                   const struct tg_plan_member *member);
/* Running, Allocated (somebody is not bound yet) or Degraded (somebody is lost). */
const char *tg_after_phase(const struct tg_deciding *d, const struct tg_progress *p);

/* Copies of the plan of the input, whose list of members may be changed; NULL: out of memory. */
struct tg_plan *tg_plan_copy(struct tg_deciding *d);
struct tg_plan *tg_plan_without_claims(struct tg_deciding *d);
/* With the members of `more` in place of as many lost or failed ones of their roles. */
struct tg_plan *tg_plan_join(struct tg_deciding *d, const struct tg_progress *p,
                             const struct tg_plan *more);

/* --- bodies of writes --- */

/* `status` of a claim per the plan (allocation.c); NULL: out of memory. */
char *tg_allocation_status(const struct tg_deciding *d, const struct tg_plan *plan,
                           const struct tg_plan_member *member, const struct tg_plan_claim *planned,
                           const struct tg_resource_claim *claim);
/* The patch that writes epoch and (finalizer) TG_FINALIZER_CLAIM to a claim; NULL: it must be
 * spliced instead (claim_patch.c). */
int tg_claim_metadata(struct tg_deciding *d, const struct tg_resource_claim *claim,
                      const char *epoch, bool finalizer, const char **ret);
int tg_write_allocate(struct tg_deciding *d, const struct tg_plan *plan,
                      const struct tg_plan_member *member, const struct tg_plan_claim *planned,
                      const struct tg_resource_claim *claim);
int tg_write_clear(struct tg_deciding *d, const struct tg_resource_claim *claim);
/* Adds the allocation of every claim of the plan that is still open. */
int tg_write_open_claims(struct tg_deciding *d, const struct tg_plan *plan);
/* The same of one claim; nothing if it is not open. */
int tg_write_open_claim(struct tg_deciding *d, const struct tg_plan *plan,
                        const struct tg_plan_member *member, const struct tg_plan_claim *planned);
/* Adds the clearing of what is allocated per the plan, of members that did not start. */
int tg_write_clear_planned(struct tg_deciding *d, const struct tg_plan *plan);
/* Adds the clearing of every claim that carries the marker of the unit and of which no user has
 * been un-gated. */
int tg_write_clear_marked(struct tg_deciding *d);
/* One JSON patch: pinned to the node and un-gated, or (gated false) only the annotation removed
 * (pod_patch.c). */
int tg_write_release_pod(struct tg_deciding *d, const struct tg_pod *pod, const char *node,
                         bool drop_plan);
/* The epoch of this leader on a pod: its resourceVersion moves on, and no earlier write fits it. */
int tg_write_pod_epoch(struct tg_deciding *d, const struct tg_pod *pod);
int tg_write_pod_plan(struct tg_deciding *d, const struct tg_pod *pod, const struct tg_plan *plan);

/* --- gang objects (gang_write.c) --- */

/* --- fencing (fence.c) --- */

/* Before anything of the unit is cleared: the epoch of this leader on its gated pods, and on its
 * claims that are not allocated. Adds nothing when all of them carry it. plan: NULL if it cannot be
 * read. */
int tg_fence_unit(struct tg_deciding *d, const struct tg_plan *plan);
/* The same of the members of the plan alone. */
int tg_fence_plan(struct tg_deciding *d, const struct tg_plan *plan);

enum tg_plan_change { TG_PLAN_KEEP, TG_PLAN_SET, TG_PLAN_DROP };
enum tg_hold_change { TG_HOLDS_KEEP, TG_HOLDS_SET, TG_HOLDS_DROP };
struct tg_status_change {
    const char *phase, *reason, *text;
    enum tg_plan_change plan_change;
    const struct tg_plan *plan;
    const struct tg_gang_shortage *shortage; /* one or NULL */
    enum tg_hold_change hold_change;
    const struct tg_gang_hold *holds;
    size_t n_holds;
};
/* Adds the status write unless the object shows all of it already. */
int tg_write_gang_status(struct tg_deciding *d, const struct tg_status_change *change);
/* Nothing but the epoch, in the status of any Gang. */
int tg_write_gang_epoch(struct tg_deciding *d, const struct tg_gang *gang);
int tg_write_gang_create(struct tg_deciding *d);
int tg_write_gang_finalizer(struct tg_deciding *d, bool present);
int tg_write_gang_delete(struct tg_deciding *d);

#endif
