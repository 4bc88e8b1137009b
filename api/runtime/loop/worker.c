/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <ev.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/loop/internal.h"
#include "api/runtime/loop/loop.h"

struct job {
    void (*run)(void *data);
    void (*done)(void *data);
    void *data;
    struct job *next;
};

struct queue {
    struct job *first, *last;
};

struct tg_worker {
    struct ev_loop *ev;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards waiting, finished and stop */
    pthread_cond_t wake;
    struct queue waiting;
    struct queue finished;
    bool stop;
    bool *freed; /* set while done callbacks run, so that one of them may free the worker */
    ev_async async;
};

static void push(struct queue *queue, struct job *job)
{
    job->next = NULL;
    if (queue->last != NULL)
        queue->last->next = job;
    else
        queue->first = job;
    queue->last = job;
}

static struct job *pop(struct queue *queue)
{
    struct job *job = queue->first;

    if (job == NULL)
        return NULL;
    queue->first = job->next;
    if (queue->first == NULL)
        queue->last = NULL;
    return job;
}

static void drop_all(struct queue *queue)
{
    struct job *job;

    while ((job = pop(queue)) != NULL)
        free(job);
}

static void *work(void *data)
{
    struct tg_worker *worker = data;

    pthread_mutex_lock(&worker->mutex);
    while (!worker->stop) {
        struct job *job = pop(&worker->waiting);
        if (job == NULL) {
            pthread_cond_wait(&worker->wake, &worker->mutex);
            continue;
        }
        pthread_mutex_unlock(&worker->mutex);
        job->run(job->data);
        pthread_mutex_lock(&worker->mutex);
        push(&worker->finished, job);
        ev_async_send(worker->ev, &worker->async);
    }
    pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

static void on_async(struct ev_loop *ev, ev_async *async, int events)
{
    struct tg_worker *worker = async->data;
    bool freed = false;

    (void)ev;
    (void)events;
    worker->freed = &freed;
    while (!freed) {
        pthread_mutex_lock(&worker->mutex);
        struct job *job = pop(&worker->finished);
        pthread_mutex_unlock(&worker->mutex);
        if (job == NULL) {
            worker->freed = NULL;
            return;
        }
        void (*done)(void *) = job->done;
        void *job_data = job->data;
        free(job);
        if (done != NULL)
            done(job_data);
    }
}

struct tg_worker *tg_worker_new(struct tg_loop *loop)
{
    struct tg_worker *worker = tg_xcalloc(1, sizeof(*worker));
    sigset_t all, before;
    int rc;

    worker->ev = tg_loop_ev(loop);
    pthread_mutex_init(&worker->mutex, NULL);
    pthread_cond_init(&worker->wake, NULL);
    ev_async_init(&worker->async, on_async);
    worker->async.data = worker;
    ev_async_start(worker->ev, &worker->async);

    /* Signals belong to the loop thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&worker->thread, NULL, work, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0)
        abort(); /* as tg_xmalloc: a program that cannot start its one thread cannot do its job */
    return worker;
}

void tg_worker_free(struct tg_worker *worker)
{
    if (worker == NULL)
        return;
    pthread_mutex_lock(&worker->mutex);
    worker->stop = true;
    drop_all(&worker->waiting);
    pthread_cond_signal(&worker->wake);
    pthread_mutex_unlock(&worker->mutex);
    pthread_join(worker->thread, NULL);
    drop_all(&worker->finished);
    ev_async_stop(worker->ev, &worker->async);
    pthread_cond_destroy(&worker->wake);
    pthread_mutex_destroy(&worker->mutex);
    if (worker->freed != NULL)
        *worker->freed = true;
    free(worker);
}

void tg_worker_submit(struct tg_worker *worker, void (*run)(void *data), void (*done)(void *data),
                      void *data)
{
    struct job *job = tg_xcalloc(1, sizeof(*job));

    assert(run != NULL);
    *job = (struct job){.run = run, .done = done, .data = data};
    pthread_mutex_lock(&worker->mutex);
    push(&worker->waiting, job);
    pthread_cond_signal(&worker->wake);
    pthread_mutex_unlock(&worker->mutex);
}
