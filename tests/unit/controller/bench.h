/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller's own passes over the cluster model, step by step. pass.c is linked as it is; the
 * functions that it calls in other parts of the controller (informers, operation, report, the
 * lease) are played here, so that a test decides when a write arrives, what comes back, and when
 * the process dies. At every change of the server the invariants of the design are checked: I1 and
 * I4 on claims, I2 on every removed gate.
 */
#ifndef TG_TESTS_UNIT_CONTROLLER_BENCH_H
#define TG_TESTS_UNIT_CONTROLLER_BENCH_H

#include "controller/controller.h"
#include "tests/support/cluster_model.h"

#define NS "ns"
#define DRIVER "gpu.tangram.dev"

/* One write on its way, as operation.c would have it. */
struct bench_op {
    struct tg_write write; /* strings are the bench's */
    const char *unit;
    const char *resource_version;
    bool metadata_done;
};

enum bench_fault {
    BENCH_OK,
    BENCH_CONFLICT, /* 409, whatever the server holds */
    BENCH_LOST,   /* done, but the answer is lost: the object is read, the write counts as failed */
    BENCH_UNSENT, /* the connection broke before: the same without the write */
};

struct bench {
    struct tg_controller controller; /* first: the fakes find the bench by it */
    struct tg_cluster *cluster;
    struct tg_fake_clock clock;
    struct tg_configuration *configuration;
    struct tg_arena *arena;
    uint64_t epoch;
    struct tg_view_list parts[2]; /* pods and claims that are handed out one by one */
    size_t rotate;                /* order of the view */
    bool no_scheduler;            /* nobody binds pods */
    bool gate_removed;            /* a pod lost our gate by a write of the controller */
    bool racing; /* others change what the controller has not seen yet: I2 is checked when a gate's
                  * removal is decided, on what the cache holds */
    bool memory_ends;     /* somewhere: what is gathered twice is not the same */
    bool foreign_fault;   /* the test itself broke I1 or I2: do not check */
    size_t ungated_early; /* first gates removed while the phase did not say Allocated */
    TG_VEC(struct bench_op) ops;
    TG_VEC(struct bench_op) late; /* of suspended leaders: one request each, which left already */
    TG_VEC(const char *) trace;   /* the controller's changes, in words */
    bool arriving;                /* the change is that of a suspended leader */
    struct tg_map *taken_back;    /* claims that the controller cleared last */
    struct tg_map *told;          /* unit key -> "Reason: text" of its last decision */
    /* Of two instances of the controller that share the cluster. */
    const char *klass;    /* what it serves: "gpu", or the guest's class */
    struct bench *host;   /* the guest's: whose cluster it is; NULL: ours */
    struct bench *guest;  /* it hears of every change, too */
    struct bench *writes; /* the one of them that is just changing something */
};

struct bench *bench_new(void);
void bench_free(struct bench *bench);
/* A second instance of the controller on the host's cluster, which serves the class of its name.
 * Freed before the host; to be made before there are any objects. */
struct bench *bench_new_guest(struct bench *host, const char *instance);

/* --- objects --------------------------------------------------------------------------------- */

/* A node with that many cards, room for everything else, a rack label, and its slice. */
void bench_node(struct bench *bench, const char *name, size_t gpus);
void bench_slice(struct bench *bench, const char *node, size_t gpus, const char *extra);
/* The managed class "gpu", the namespace, n nodes of two cards each: n1, n2... */
void bench_fleet(struct bench *bench, size_t n);
/* A pod with our gate whose `claims` template claims (named <pod>-0, <pod>-1...) exist.
 * config: entries of spec.devices.config, JSON with ' for ", or NULL. */
void bench_pod(struct bench *bench, const char *name, size_t claims, size_t gpus,
               const char *config);
/* The same with a claim of each of these classes. */
void bench_pod_of(struct bench *bench, const char *name, const char *const *classes, size_t claims,
                  size_t gpus, const char *config);
/* One GangMember entry; in the bench's arena. */
const char *bench_member_config(struct bench *bench, const char *gang, int size);
/* n members named <gang>-0... of one claim with one card each. */
void bench_gang(struct bench *bench, const char *gang, int size, size_t n);
void bench_delete_pod(struct bench *bench, const char *name);

/* --- driving --------------------------------------------------------------------------------- */

void bench_pass(struct bench *bench);
/* One step of a write on its way: of an allocation first the metadata, then the status. */
void bench_step(struct bench *bench, size_t i, enum bench_fault fault);
/* The process dies: what was on its way is gone, what it remembered too; a new one lists. */
void bench_crash(struct bench *bench);
/* The process is stopped beyond its lease: of each write the request that is under way stays so,
 * and arrives whenever bench_arrive says; nothing follows it, since the process finds its lease
 * over. Another one leads. */
void bench_suspend(struct bench *bench);
/* A request of a suspended leader reaches the server. Returns 0 or what the server answers. */
int bench_arrive(struct bench *bench, size_t i);
/* What the claim controller, the garbage collector and the scheduler do meanwhile. true: something
 * was changed. */
bool bench_others(struct bench *bench);
/* Watches, passes, writes and others until nothing happens any more. With `patience` also waits for
 * whatever the controller wants to wait for, up to that many nanoseconds. */
void bench_settle(struct bench *bench, int64_t patience);
/* Passes and write steps until n steps were done; false if nothing was left to do before. */
bool bench_run(struct bench *bench, size_t n);

/* --- looking --------------------------------------------------------------------------------- */

size_t bench_allocated(struct bench *bench);                    /* claims with an allocation */
size_t bench_ours(struct bench *bench);                         /* of them, with our marker */
size_t bench_gated(struct bench *bench);                        /* live pods with our gate */
size_t bench_bound(struct bench *bench);                        /* live pods on a node */
const char *bench_phase(struct bench *bench, const char *gang); /* NULL: no Gang */
const char *bench_told(struct bench *bench, const char *unit);  /* "" if nothing */
/* All changes in one line, separated by "; ". */
const char *bench_trace(struct bench *bench);
/* Prints the trace and fails the test with this text. */
void bench_fail(struct bench *bench, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
/* Everything on the server as one text, for comparisons. */
const char *bench_dump(struct bench *bench);

#endif
