/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event loop thread owns everything (libev behind it). I/O callbacks change state and enqueue;
 * deferred work runs in the pump, right before the loop sleeps. Idle means no wake-ups.
 */
#ifndef TG_RUNTIME_LOOP_LOOP_H
#define TG_RUNTIME_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/runtime/base/clock.h"

struct tg_loop;

/* The default loop if `main` (needed for signals and children; SIGPIPE is ignored from then on),
 * else a private one. Never NULL. */
struct tg_loop *tg_loop_new(bool main);
/* Every watcher, deferred work and worker must have been stopped before. NULL is allowed. */
void tg_loop_free(struct tg_loop *loop);
/* Runs until tg_loop_stop is called from a callback (a stop before the run is forgotten). */
void tg_loop_run(struct tg_loop *loop);
/* One iteration without blocking (tests); if wait, blocking until something happened: an event, or
 * deferred work that ran. */
void tg_loop_run_once(struct tg_loop *loop, bool wait);
void tg_loop_stop(struct tg_loop *loop);

enum { TG_LOOP_READ = 1, TG_LOOP_WRITE = 2 };

/* Every watcher is embedded by the caller (zeroed before init), may be stopped twice, and may be
 * stopped and freed in its own callback. `opaque` holds the libev watcher. */
struct tg_io {
    /* A descriptor that the kernel refuses is reported as READ | WRITE: its owner sees the error
     * when using it. */
    void (*callback)(struct tg_io *io, int events);
    void *data;
    struct tg_loop *loop;
    int fd;
    int events;
    _Alignas(16) unsigned char opaque[64];
};
void tg_io_start(struct tg_loop *loop, struct tg_io *io, int fd, int events);
void tg_io_modify(struct tg_io *io, int events);
void tg_io_stop(struct tg_io *io);

struct tg_timer {
    void (*callback)(struct tg_timer *timer);
    void *data;
    struct tg_loop *loop;
    bool active;
    _Alignas(16) unsigned char opaque[80];
};
/* Relative, one shot; started again it is re-armed. 0 = the next iteration. */
void tg_timer_start(struct tg_loop *loop, struct tg_timer *timer, int64_t after);
void tg_timer_stop(struct tg_timer *timer);

struct tg_signal {
    void (*callback)(struct tg_signal *signal, int number);
    void *data;
    struct tg_loop *loop;
    _Alignas(16) unsigned char opaque[64];
};
void tg_signal_start(struct tg_loop *loop, struct tg_signal *signal, int number);
void tg_signal_stop(struct tg_signal *signal);

/* Deferred work: runs once, in order of deferral, before the loop blocks; may defer more (which
 * runs in the same pump, up to a bound, then next iteration). */
struct tg_deferred {
    void (*callback)(struct tg_deferred *deferred);
    void *data;
    bool queued;
    struct tg_deferred *next, *prev;
};
void tg_defer(struct tg_loop *loop, struct tg_deferred *deferred);
void tg_defer_cancel(struct tg_loop *loop, struct tg_deferred *deferred);

/* A worker thread: jobs run there one after the other, `done` is called on the loop thread. */
struct tg_worker;
struct tg_worker *tg_worker_new(struct tg_loop *loop);
/* Waits for the running job. Queued jobs are dropped; no done is called any more. May be called
 * from a done. */
void tg_worker_free(struct tg_worker *worker);
/* done may be NULL. data stays the caller's. */
void tg_worker_submit(struct tg_worker *worker, void (*run)(void *data), void (*done)(void *data),
                      void *data);

#endif
