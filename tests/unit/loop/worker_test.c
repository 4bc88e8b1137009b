/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/loop/loop.h"

struct shared {
    struct tg_loop *loop;
    struct tg_worker *worker;
    pthread_t loop_thread;
    pthread_barrier_t barrier;
    bool other_thread; /* every job ran on another thread */
    bool same_thread;  /* every done ran on the loop thread */
    char ran[16];
    char done[16];
};

struct job {
    struct shared *shared;
    char name;
    bool last;
};

static void append(char *text, char c)
{
    size_t n = strlen(text);

    text[n] = c;
    text[n + 1] = '\0';
}

static void run(void *data)
{
    struct job *job = data;

    if (pthread_equal(pthread_self(), job->shared->loop_thread))
        job->shared->other_thread = false;
    append(job->shared->ran, job->name);
}

static void done(void *data)
{
    struct job *job = data;

    if (!pthread_equal(pthread_self(), job->shared->loop_thread))
        job->shared->same_thread = false;
    append(job->shared->done, job->name);
    if (job->last)
        tg_loop_stop(job->shared->loop);
}

static void init(struct shared *shared)
{
    memset(shared, 0, sizeof(*shared));
    shared->loop = tg_loop_new(false);
    shared->worker = tg_worker_new(shared->loop);
    shared->loop_thread = pthread_self();
    shared->other_thread = shared->same_thread = true;
    pthread_barrier_init(&shared->barrier, NULL, 2);
}

static void finish(struct shared *shared)
{
    tg_loop_free(shared->loop);
    pthread_barrier_destroy(&shared->barrier);
}

static void jobs_run_one_after_the_other_on_the_thread_and_are_reported_on_the_loop(void **state)
{
    struct shared shared;
    struct job jobs[3];

    (void)state;
    init(&shared);
    for (size_t i = 0; i < 3; i++) {
        jobs[i] = (struct job){.shared = &shared, .name = (char)('a' + i), .last = i == 2};
        tg_worker_submit(shared.worker, run, done, &jobs[i]);
    }
    tg_loop_run(shared.loop);
    assert_string_equal(shared.ran, "abc");
    assert_string_equal(shared.done, "abc");
    assert_true(shared.other_thread);
    assert_true(shared.same_thread);
    tg_worker_free(shared.worker);
    finish(&shared);
}

static void run_at_barrier(void *data)
{
    struct job *job = data;

    run(job);
    pthread_barrier_wait(&job->shared->barrier);
}

static void free_waits_for_the_running_job_and_drops_the_queued_ones(void **state)
{
    struct shared shared;
    struct job a, b;

    (void)state;
    init(&shared);
    a = (struct job){.shared = &shared, .name = 'a'};
    b = (struct job){.shared = &shared, .name = 'b'};
    tg_worker_submit(shared.worker, run_at_barrier, done, &a);
    pthread_barrier_wait(&shared.barrier);
    /* b may or may not have been begun when free takes the lock; a was begun for certain. */
    tg_worker_submit(shared.worker, run, done, &b);
    tg_worker_free(shared.worker);
    assert_int_equal(shared.ran[0], 'a');
    tg_loop_run_once(shared.loop, false);
    assert_string_equal(shared.done, "");
    finish(&shared);
}

static void free_worker(void *data)
{
    struct job *job = data;

    done(job);
    tg_worker_free(job->shared->worker);
    tg_loop_stop(job->shared->loop);
}

static void a_done_callback_may_free_the_worker(void **state)
{
    struct shared shared;
    struct job a, b;

    (void)state;
    init(&shared);
    a = (struct job){.shared = &shared, .name = 'a'};
    b = (struct job){.shared = &shared, .name = 'b'};
    tg_worker_submit(shared.worker, run, free_worker, &a);
    tg_worker_submit(shared.worker, run, done, &b);
    tg_loop_run(shared.loop);
    assert_string_equal(shared.done, "a");
    finish(&shared);
}

static void a_job_without_done_is_fine(void **state)
{
    struct shared shared;
    struct job a, b;

    (void)state;
    init(&shared);
    a = (struct job){.shared = &shared, .name = 'a'};
    b = (struct job){.shared = &shared, .name = 'b', .last = true};
    tg_worker_submit(shared.worker, run, NULL, &a);
    tg_worker_submit(shared.worker, run, done, &b);
    tg_loop_run(shared.loop);
    assert_string_equal(shared.ran, "ab");
    assert_string_equal(shared.done, "b");
    tg_worker_free(shared.worker);
    finish(&shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_run_one_after_the_other_on_the_thread_and_are_reported_on_the_loop),
        cmocka_unit_test(free_waits_for_the_running_job_and_drops_the_queued_ones),
        cmocka_unit_test(a_done_callback_may_free_the_worker),
        cmocka_unit_test(a_job_without_done_is_fine),
    };
    return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
