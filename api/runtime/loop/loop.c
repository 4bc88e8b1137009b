/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/loop/loop.h"

#include <assert.h>
#include <ev.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/loop/internal.h"

/* Deferred work that keeps deferring more must not starve the descriptors. */
enum { PUMP_BOUND = 1024 };

struct tg_loop {
    struct ev_loop *ev;
    ev_prepare prepare;
    ev_idle
        again; /* active while the pump left work behind: the loop then polls without sleeping */
    struct tg_deferred *first, *last;
    bool once; /* in tg_loop_run_once */
};

_Static_assert(sizeof(ev_io) <= sizeof(((struct tg_io *)NULL)->opaque), "ev_io fits");
_Static_assert(sizeof(ev_timer) <= sizeof(((struct tg_timer *)NULL)->opaque), "ev_timer fits");
_Static_assert(sizeof(ev_signal) <= sizeof(((struct tg_signal *)NULL)->opaque), "ev_signal fits");
_Static_assert(_Alignof(ev_io) <= 16 && _Alignof(ev_timer) <= 16 && _Alignof(ev_signal) <= 16,
               "watchers are aligned enough");

static void unlink_deferred(struct tg_loop *loop, struct tg_deferred *deferred)
{
    if (deferred->prev != NULL)
        deferred->prev->next = deferred->next;
    else
        loop->first = deferred->next;
    if (deferred->next != NULL)
        deferred->next->prev = deferred->prev;
    else
        loop->last = deferred->prev;
    deferred->next = deferred->prev = NULL;
    deferred->queued = false;
}

static void on_prepare(struct ev_loop *ev, ev_prepare *prepare, int events)
{
    struct tg_loop *loop = prepare->data;
    int i;

    (void)events;
    for (i = 0; i < PUMP_BOUND && loop->first != NULL; i++) {
        struct tg_deferred *deferred = loop->first;
        unlink_deferred(loop, deferred);
        deferred->callback(deferred); /* may free it */
    }
    if (loop->first != NULL || (loop->once && i > 0))
        ev_idle_start(ev, &loop->again);
    else
        ev_idle_stop(ev, &loop->again);
}

static void on_idle(struct ev_loop *ev, ev_idle *idle, int events)
{
    (void)ev;
    (void)idle;
    (void)events;
}

struct tg_loop *tg_loop_new(bool main)
{
    const unsigned flags = EVFLAG_NOENV | EVBACKEND_EPOLL;
    struct tg_loop *loop = tg_xcalloc(1, sizeof(*loop));

    loop->ev = main ? ev_default_loop(flags) : ev_loop_new(flags);
    if (loop->ev == NULL)
        abort(); /* no epoll or no descriptors at start: nothing can run without a loop */
    if (main)
        signal(SIGPIPE,
               SIG_IGN); /* TLS writes with write(2); a closed peer is an error, not the end */
    ev_prepare_init(&loop->prepare, on_prepare);
    loop->prepare.data = loop;
    ev_prepare_start(loop->ev, &loop->prepare);
    ev_idle_init(&loop->again, on_idle);
    return loop;
}

void tg_loop_free(struct tg_loop *loop)
{
    if (loop == NULL)
        return;
    ev_idle_stop(loop->ev, &loop->again);
    ev_prepare_stop(loop->ev, &loop->prepare);
    ev_loop_destroy(loop->ev);
    free(loop);
}

void tg_loop_run(struct tg_loop *loop)
{
    /* The prepare watcher is never unreferenced, so this ends by tg_loop_stop only. */
    ev_run(loop->ev, 0);
}

void tg_loop_run_once(struct tg_loop *loop, bool wait)
{
    loop->once = true;
    ev_run(loop->ev, wait ? EVRUN_ONCE : EVRUN_NOWAIT);
    loop->once = false;
}

void tg_loop_stop(struct tg_loop *loop)
{
    ev_break(loop->ev, EVBREAK_ALL);
}

struct ev_loop *tg_loop_ev(const struct tg_loop *loop)
{
    return loop->ev;
}

static int to_ev(int events)
{
    return ((events & TG_LOOP_READ) != 0 ? EV_READ : 0) |
           ((events & TG_LOOP_WRITE) != 0 ? EV_WRITE : 0);
}

static void on_io(struct ev_loop *ev, ev_io *w, int revents)
{
    struct tg_io *io = w->data;
    int events = 0;

    (void)ev;
    if ((revents & EV_READ) != 0)
        events |= TG_LOOP_READ;
    if ((revents & EV_WRITE) != 0)
        events |= TG_LOOP_WRITE;
    /* The kernel refused the descriptor: the owner learns it from its next read or write. */
    if ((revents & EV_ERROR) != 0)
        events = TG_LOOP_READ | TG_LOOP_WRITE;
    io->callback(io, events);
}

void tg_io_start(struct tg_loop *loop, struct tg_io *io, int fd, int events)
{
    ev_io *w = (ev_io *)(void *)io->opaque;

    tg_io_stop(io);
    io->loop = loop;
    io->fd = fd;
    io->events = events;
    ev_io_init(w, on_io, fd, to_ev(events));
    w->data = io;
    ev_io_start(loop->ev, w);
}

void tg_io_modify(struct tg_io *io, int events)
{
    ev_io *w = (ev_io *)(void *)io->opaque;

    assert(io->loop != NULL);
    if (events == io->events)
        return;
    io->events = events;
    ev_io_stop(io->loop->ev, w);
    ev_io_set(w, io->fd, to_ev(events));
    ev_io_start(io->loop->ev, w);
}

void tg_io_stop(struct tg_io *io)
{
    if (io->loop == NULL)
        return;
    ev_io_stop(io->loop->ev, (ev_io *)(void *)io->opaque);
    io->loop = NULL;
}

static void on_timer(struct ev_loop *ev, ev_timer *w, int revents)
{
    struct tg_timer *timer = w->data;

    (void)ev;
    (void)revents;
    timer->active = false;
    timer->callback(timer);
}

void tg_timer_start(struct tg_loop *loop, struct tg_timer *timer, int64_t after)
{
    ev_timer *w = (ev_timer *)(void *)timer->opaque;

    tg_timer_stop(timer);
    timer->loop = loop;
    /* libev counts from the time the iteration began, which may be long ago. */
    ev_now_update(loop->ev);
    ev_timer_init(w, on_timer, after > 0 ? (double)after / (double)TG_SECOND : 0.0, 0.0);
    w->data = timer;
    ev_timer_start(loop->ev, w);
    timer->active = true;
}

void tg_timer_stop(struct tg_timer *timer)
{
    if (timer->loop == NULL)
        return;
    ev_timer_stop(timer->loop->ev, (ev_timer *)(void *)timer->opaque);
    timer->active = false;
    timer->loop = NULL;
}

static void on_signal(struct ev_loop *ev, ev_signal *w, int revents)
{
    struct tg_signal *signal = w->data;

    (void)ev;
    (void)revents;
    signal->callback(signal, w->signum);
}

void tg_signal_start(struct tg_loop *loop, struct tg_signal *signal, int number)
{
    ev_signal *w = (ev_signal *)(void *)signal->opaque;

    tg_signal_stop(signal);
    signal->loop = loop;
    ev_signal_init(w, on_signal, number);
    w->data = signal;
    ev_signal_start(loop->ev, w);
}

void tg_signal_stop(struct tg_signal *signal)
{
    if (signal->loop == NULL)
        return;
    ev_signal_stop(signal->loop->ev, (ev_signal *)(void *)signal->opaque);
    signal->loop = NULL;
}

void tg_defer(struct tg_loop *loop, struct tg_deferred *deferred)
{
    if (deferred->queued)
        return;
    deferred->queued = true;
    deferred->next = NULL;
    deferred->prev = loop->last;
    if (loop->last != NULL)
        loop->last->next = deferred;
    else
        loop->first = deferred;
    loop->last = deferred;
}

void tg_defer_cancel(struct tg_loop *loop, struct tg_deferred *deferred)
{
    if (deferred->queued)
        unlink_deferred(loop, deferred);
}
