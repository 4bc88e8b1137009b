/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller: informers feed a view, a pass gathers units and asks the commit machine what
 * comes next, writes go out, their answers enter the stores. One loop thread.
 */
#ifndef TG_CONTROLLER_CONTROLLER_H
#define TG_CONTROLLER_CONTROLLER_H

#include "api/kubernetes/client/events.h"
#include "api/kubernetes/client/informer.h"
#include "api/kubernetes/client/lease.h"
#include "api/runtime/base/vec.h"
#include "api/runtime/http/http.h"
#include "api/tangram/configuration.h"
#include "controller/auditor.h"
#include "controller/commit/commit.h"
#include "controller/commit/search.h"
#include "controller/core/cel/selector.h"
#include "controller/core/model/usage.h"
#include "controller/drain.h"
#include "controller/gather/awake.h"
#include "controller/lessons.h"
#include "controller/options.h"
#include "controller/owners.h"
#include "controller/release.h"

/* What the controller remembers of a unit between passes: nothing that it could not do without. */
struct tg_unit_state {
    char *key;
    size_t learned;        /* members that policies know of */
    uint64_t turn;         /* when it wrote first, among all units; 0: never yet */
    size_t in_flight;      /* writes; while there are any the unit is left alone */
    bool returned;         /* the last of them has returned, and the unit was not looked at since */
    bool failed;           /* one of them did not succeed */
    unsigned failures;     /* in a row */
    int64_t not_before;    /* monotonic: backs off until then */
    uint64_t version;      /* of its objects when that was decided */
    char *pending;         /* plan whose first writes are on their way: its devices count as busy */
    int64_t stalled_since; /* monotonic, 0: does not stall */
    int64_t passing_since; /* monotonic, 0: is in no passing state */
    int64_t unbound_since; /* monotonic, 0: every released member is bound */
    int64_t empty_since;   /* monotonic, 0: has live members */
    uint64_t reclaimed;    /* pass in which it could take back a place that it holds; 0: never */
    bool disturbed;        /* somebody else cleared an allocation of its open plan */
    uint64_t said_to;      /* hash of the members that were told */
    char *said;            /* reason and text that were logged last */
    size_t waiting;        /* members that were gated when it was told */
    int64_t planned_since; /* monotonic: when the plan under way was decided; 0: none is */
    bool recorded;         /* it stands in the API */
    TG_VEC(struct tg_lost_device) lost; /* of its allocations that are no more */
    struct {                            /* explain.c: what was explained last; text NULL: nothing */
        char *hint, *hint_text;         /* what the search said then */
        char *reason, *text;
        uint64_t members; /* hash of those it was for */
        int64_t since;    /* monotonic */
    } why;
    struct tg_draining draining;
    char *marker_uid; /* what markers of its allocations carry; NULL if unknown */
    bool seen;        /* in this pass */
};

/* Lists before the first decision of a reign (refresh.c). */
struct tg_refresh {
    uint64_t epoch;       /* of the reign for which they are under way; 0: none are */
    uint64_t done;        /* of the last reign that has them */
    size_t part;          /* which list */
    char next_page[4096]; /* "": the first */
    struct tg_timer again;
};

/* Fencing of predecessors (takeover.c). */
struct tg_takeover {
    uint64_t epoch;     /* of the reign under way */
    uint64_t done;      /* of the last reign that may decide */
    int64_t not_before; /* monotonic: when somebody we know nothing of can lead no more */
    unsigned rounds;
    size_t fenced; /* writes */
};

enum tg_controller_metric {
    TG_CONTROLLER_LEADING,
    TG_CONTROLLER_PASSES,
    TG_CONTROLLER_PASS_DURATION,
    TG_CONTROLLER_UNITS,
    TG_CONTROLLER_WRITES,
    TG_CONTROLLER_WRITE_FAILURES,
    TG_CONTROLLER_IN_FLIGHT,
    TG_CONTROLLER_WAITING,
    TG_CONTROLLER_CONTESTED,
    TG_CONTROLLER_FINDINGS,
    TG_CONTROLLER_PENDING_UNITS,
    TG_CONTROLLER_PENDING_PODS,
    TG_CONTROLLER_DECISION_DURATION,
    TG_CONTROLLER_COMMIT_DURATION,
    TG_CONTROLLER_DEVICES,
    TG_CONTROLLER_FRAGMENTED,
    TG_CONTROLLER_PARTS_MEMORY,
    TG_CONTROLLER_METRICS,
};

struct tg_controller {
    struct tg_loop *loop;
    const struct tg_clock *clock;
    const struct tg_configuration *configuration;
    struct tg_kube_client *client;
    struct tg_kube_client *lease_client;
    struct tg_informer *informers[TG_VIEW_KINDS]; /* NULL: the server does not serve the kind */
    struct tg_elector *elector;
    struct tg_events *events;
    struct tg_auditor *auditor;
    struct tg_owners *owners; /* of members of incomplete gangs */
    struct tg_release *release;
    struct tg_zoneinfo *zoneinfo;
    struct tg_cel_zones zones;
    struct tg_selector_options selectors; /* what the two above say */
    struct tg_http *http;
    struct tg_metrics *metrics;
    struct tg_metric *metric[TG_CONTROLLER_METRICS];
    struct tg_map *units; /* unit key -> struct tg_unit_state */
    struct tg_lessons lessons;
    struct tg_fleet *fleet; /* told every event; what a pass assumes is undone at its end */
    struct tg_checked *checked;
    struct tg_awake *awake;       /* pods that a pass has to look at */
    struct tg_view_source source; /* of the others, for the view */
    struct tg_view view;          /* of the last pass */
    bool viewed[TG_VIEW_KINDS];   /* nothing of the kind has changed since */
    struct tg_deferred pass;
    int64_t rests_until; /* monotonic: no pass before */
    struct tg_timer wake;
    int64_t wake_at;
    struct tg_refresh refresh;
    struct tg_takeover takeover;
    struct tg_timer probe;
    bool probed; /* it is known which optional kinds the server serves */
    bool stopping;
    int exit_code;
    /* Writes waiting for a place in the window, by the turns of their units. */
    struct tg_operation *first_waiting, *last_waiting;
    uint64_t turns; /* that were given */
    struct tg_operation *first_active;
    size_t operations; /* in flight */
    struct {
        size_t size, answered; /* operations that may be in flight; answered since it changed */
        int64_t narrowed;      /* monotonic */
    } window;
    void (*drained)(void *data); /* while stopping: nothing is in flight any more */
    void *drained_data;
    struct tg_timer drain; /* how long that may take */
    uint64_t passes, writes, write_failures;
    size_t contested;            /* devices, as of the last pass */
    struct tg_usage_book *usage; /* of the fleet, for /metrics */
};

int tg_controller_new(struct tg_loop *loop, const struct tg_controller_options *options,
                      const struct tg_configuration *configuration,
                      const struct tg_kube_config *kube, struct tg_controller **ret,
                      struct tg_error *err);
void tg_controller_free(struct tg_controller *controller);

/* --- for the parts of the controller --- */

/* informers.c */
void tg_controller_start_informers(struct tg_controller *controller);
bool tg_controller_synced(const struct tg_controller *controller);
/* All objects as they are now, into an empty view. */
void tg_controller_fill_view(const struct tg_controller *controller, struct tg_view *view);
/* For somebody who has to look at everything: an initialized view gets all objects of kinds with
 * few, and pods and claims some hundred at a time (the first part may have none); it finds the
 * others by name. Valid until the next part. false: that was all; the view is to be ended then, and
 * tg_controller_parts_done called. */
struct tg_view_part {
    enum tg_view_kind kind;
    size_t place;
    bool begun;
};
bool tg_controller_fill_part(struct tg_controller *controller, struct tg_view_part *part,
                             struct tg_view *view);
void tg_controller_parts_done(struct tg_controller *controller);
/* The same for the pass, which looks often: kept, filled anew where something has changed, and of
 * pods and claims no more than it has to look at; it finds the others. Valid until the stores
 * change, or tg_controller_view_done. */
const struct tg_view *tg_controller_view(struct tg_controller *controller);
void tg_controller_view_done(struct tg_controller *controller);
/* The informer whose store holds what a write of this kind returns. */
struct tg_informer *tg_controller_informer_of(const struct tg_controller *controller,
                                              enum tg_write_kind kind);
const struct tg_kind *tg_controller_kind_of(enum tg_write_kind kind);

/* refresh.c: claims, Gangs and waiting pods have been listed by quorum in this reign; starts that,
 * and a pass when it is done. */
bool tg_controller_refreshed(struct tg_controller *controller, uint64_t epoch);
/* takeover.c: nothing that a predecessor may still send can succeed any more; goes on with it if
 * not, and a pass follows. Nothing is decided before. */
bool tg_controller_taken_over(struct tg_controller *controller);

/* measures.c: the registry, with what the process and the controller tell. */
void tg_controller_measure(struct tg_controller *controller);

/* stages.c: how long the stages of a unit's way take, for /metrics. */
enum tg_search_outcome { TG_SEARCH_PLACED, TG_SEARCH_NO_PLACE, TG_SEARCH_REFUSED };
/* A search for a place that began at `since` (monotonic) has ended. */
void tg_controller_searched(struct tg_controller *controller, struct tg_unit_state *state,
                            int64_t since, enum tg_search_outcome outcome);
/* Looks whether the plan under way has been made true or taken back; record: as it stands in the
 * API, NULL: none does. */
void tg_controller_follow(struct tg_controller *controller, struct tg_unit_state *state,
                          const struct tg_unit *unit, const struct tg_plan *record);
/* The unit is no more: there is nothing to do for it. */
void tg_controller_unfollow(struct tg_controller *controller, struct tg_unit_state *state,
                            const struct tg_view *view);

/* feed.c: an object of a store has changed; before or after may be NULL. */
void tg_controller_feed(struct tg_controller *controller, enum tg_view_kind kind,
                        const struct tg_object *before, const struct tg_object *after);

/* pass.c */
void tg_controller_pass(struct tg_controller *controller);
/* A pass soon, or (wake) not later than at this monotonic time. */
void tg_controller_kick(struct tg_controller *controller);
void tg_controller_wake_at(struct tg_controller *controller, int64_t when);

/* unit_state.c */
struct tg_map *tg_controller_states_new(void);
/* The state of a unit, made if there is none. */
struct tg_unit_state *tg_controller_state(struct tg_controller *controller, const char *key);
/* Tells members of a unit from others: one that is new has not heard what was told. */
uint64_t tg_controller_hash_members(const struct tg_unit *unit);
/* Forgets devices of pods that the plan (NULL: none) does not list. */
void tg_controller_forget_lost(struct tg_unit_state *state, const struct tg_plan *plan);
/* The store holds another version of a claim, or (after NULL) none any more: was an allocation
 * cleared that an open plan needs? Its devices are remembered. */
void tg_controller_claim_changed(struct tg_controller *controller,
                                 const struct tg_resource_claim *before,
                                 const struct tg_resource_claim *after);

/* window.c: sends the writes of one unit; when all have returned the unit is decided again. */
void tg_controller_execute(struct tg_controller *controller, struct tg_unit_state *state,
                           const struct tg_write *writes, size_t n);
/* Starts what the window and the lease allow. */
void tg_controller_start_waiting(struct tg_controller *controller);
/* So many writes may be in flight as the server is known to answer in time: at first many; fewer
 * when it has left one without an answer. */
void tg_controller_window_init(struct tg_controller *controller);
void tg_controller_answer_lost(struct tg_controller *controller);
/* Forgets writes of the unit (NULL: of all) that were not sent yet. */
void tg_controller_drop_waiting(struct tg_controller *controller, struct tg_unit_state *state);
/* Deadline of one request (ns): it must end before anybody else can hold the lease. */
int64_t tg_controller_write_timeout(const struct tg_controller *controller);
/* The lease outlasts a request that is sent now. */
bool tg_controller_may_write(const struct tg_controller *controller);
/* Sends nothing new; drained is called when nothing is in flight. If that takes longer than a
 * request may, the loop is stopped instead, and the lease is left to run out. */
void tg_controller_stop(struct tg_controller *controller, void (*drained)(void *data), void *data);
void tg_controller_drop_operations(struct tg_controller *controller);

/* report.c: events and log lines of a decision. */
void tg_controller_report(struct tg_controller *controller, struct tg_unit_state *state,
                          const struct tg_unit *unit, const struct tg_decision *decision);
void tg_controller_report_class(struct tg_controller *controller,
                                const struct tg_device_class *klass, const char *reason,
                                const char *text);

/* explain.c: the decision of a search that found no place gets the reason and the text of a full
 * explanation, or the one that still stands. The fleet is as it was. */
void tg_controller_explain(struct tg_controller *controller, const struct tg_view *view,
                           struct tg_unit_state *state, const struct tg_unit *unit,
                           const struct tg_search *search, struct tg_arena *arena,
                           struct tg_decision *decision);
void tg_controller_forget_why(struct tg_unit_state *state);

/* debug.c */
int tg_controller_serve(struct tg_controller *controller, const char *address,
                        struct tg_error *err);

#endif
