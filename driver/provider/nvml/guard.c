/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/nvml/guard.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/base/vec.h"
#include "driver/provider/nvml/abi.h"
#include "driver/provider/nvml/nvml.h"

#define CALL_TIMEOUT (15 * TG_SECOND)
#define LOOK_AGAIN (10 * TG_MILLISECOND) /* at a call that runs */
#define TRIES 3

/* ---- what is asked ---- */

struct job;

/* By the caller, whose it all is. */
struct request {
    int (*run)(struct tg_provider *provider, struct job *job);
    const char *card_uuid; /* NULL: all cards */
    const struct tg_partition *partition;
    const struct tg_gpu_settings *wanted;
};

/* A copy, for a thread that may never come back, and its answer. */
struct job {
    struct request request;
    struct tg_arena *arena;
    struct tg_partition partition;
    struct tg_gpu_settings settings; /* wanted, or found */
    struct tg_instance instance;
    struct tg_device_set set;
    struct tg_error err;
    int rc;
};

static struct job *job_new(const struct request *request)
{
    struct job *job = tg_xcalloc(1, sizeof(*job));
    job->arena = tg_arena_new(TG_ARENA_UNLIMITED); /* a few names */
    job->request = *request;
    job->err = TG_ERROR_INIT;
    if (request->card_uuid != NULL)
        job->request.card_uuid = tg_arena_strdup(job->arena, request->card_uuid);
    if (request->wanted != NULL)
        job->settings = *request->wanted;
    if (request->partition != NULL) {
        job->partition = *request->partition;
        job->partition.card_uuid = job->request.card_uuid;
        job->partition.card = request->partition->card == NULL
                                  ? NULL
                                  : tg_arena_strdup(job->arena, request->partition->card);
    }
    return job;
}

static void job_free(struct job *job)
{
    if (job == NULL)
        return;
    tg_device_set_done(&job->set);
    tg_arena_free(job->arena);
    free(job);
}

static int run_list(struct tg_provider *provider, struct job *job)
{
    return provider->ops->list(provider, &job->set, &job->err);
}

static int run_look(struct tg_provider *provider, struct job *job)
{
    return provider->ops->look(provider, &job->partition, job->arena, &job->instance, &job->err);
}

static int run_create(struct tg_provider *provider, struct job *job)
{
    return provider->ops->create(provider, &job->partition, job->arena, &job->instance, &job->err);
}

static int run_destroy(struct tg_provider *provider, struct job *job)
{
    return provider->ops->destroy(provider, &job->partition, &job->err);
}

static int run_settings(struct tg_provider *provider, struct job *job)
{
    return provider->ops->settings(provider, job->request.card_uuid, &job->settings, &job->err);
}

static int run_set(struct tg_provider *provider, struct job *job)
{
    return provider->ops->set(provider, job->request.card_uuid, &job->settings, &job->err);
}

/* ---- the thread ---- */

struct hand {
    struct tg_nvml_watch watch;
    struct tg_provider *provider; /* the thread's while it has a job */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t wake;   /* the thread: a job, or the end */
    pthread_cond_t told;   /* who waits: the job is done, or the thread has ended */
    struct job *job;
    bool done, end, ended;
    bool orphan;                /* nobody will wait for the end */
    struct tg_nvml_stuck stuck; /* of the guard: the call that was not waited for */
};

static void hand_free(struct hand *hand)
{
    job_free(hand->job);
    tg_nvml_watch_done(&hand->watch);
    pthread_cond_destroy(&hand->wake);
    pthread_cond_destroy(&hand->told);
    pthread_mutex_destroy(&hand->mutex);
    free(hand);
}

static void run_job(struct hand *hand)
{
    struct job *job = hand->job;
    pthread_mutex_unlock(&hand->mutex);
    job->rc = job->request.run(hand->provider, job);
    pthread_mutex_lock(&hand->mutex);
    hand->done = true;
    pthread_cond_signal(&hand->told);
}

static void *work(void *data)
{
    struct hand *hand = data;
    pthread_mutex_lock(&hand->mutex);
    while (!hand->end) {
        if (hand->job != NULL && !hand->done)
            run_job(hand);
        else
            pthread_cond_wait(&hand->wake, &hand->mutex);
    }
    pthread_mutex_unlock(&hand->mutex);
    tg_nvml_watch_card(&hand->watch, NULL);
    tg_provider_free(hand->provider);
    pthread_mutex_lock(&hand->mutex);
    hand->ended = true;
    bool orphan = hand->orphan;
    pthread_cond_signal(&hand->told);
    pthread_mutex_unlock(&hand->mutex);
    if (orphan)
        hand_free(hand);
    return NULL;
}

static struct hand *hand_new(const struct tg_clock *clock)
{
    struct hand *hand = tg_xcalloc(1, sizeof(*hand));
    pthread_condattr_t attributes;
    tg_nvml_watch_init(&hand->watch, clock);
    pthread_mutex_init(&hand->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&hand->wake, &attributes);
    pthread_cond_init(&hand->told, &attributes);
    pthread_condattr_destroy(&attributes);
    return hand;
}

static void hand_start(struct hand *hand)
{
    sigset_t all, before;
    /* Signals belong to the loop's thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&hand->thread, NULL, work, hand);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0)
        abort(); /* as tg_xmalloc */
}

/* Locked: gives the thread a little time. */
static void wait_a_little(struct hand *hand)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_AGAIN;
    until.tv_sec += until.tv_nsec / TG_SECOND;
    until.tv_nsec %= TG_SECOND;
    (void)pthread_cond_timedwait(&hand->told, &hand->mutex, &until);
}

/* Until *what, or a call has taken too long: false. */
static bool wait_for(struct hand *hand, const bool *what, int64_t timeout)
{
    bool late = false;
    pthread_mutex_lock(&hand->mutex);
    while (!*what && !late) {
        wait_a_little(hand);
        late = !*what && tg_nvml_watch_give_up(&hand->watch, timeout, &hand->stuck);
    }
    pthread_mutex_unlock(&hand->mutex);
    return !late;
}

/* The thread ends as soon as it can. */
static void tell_end(struct hand *hand)
{
    pthread_mutex_lock(&hand->mutex);
    hand->end = true;
    pthread_cond_signal(&hand->wake);
    pthread_mutex_unlock(&hand->mutex);
}

static bool has_ended(struct hand *hand)
{
    pthread_mutex_lock(&hand->mutex);
    bool ended = hand->ended;
    pthread_mutex_unlock(&hand->mutex);
    return ended;
}

static atomic_bool left_behind;

bool tg_nvml_guard_left_behind(void)
{
    return atomic_load(&left_behind);
}

/* The thread has ended: it is gone for good. Otherwise it is let go of. */
static void part(struct hand *hand)
{
    pthread_mutex_lock(&hand->mutex);
    bool ended = hand->ended;
    hand->orphan = !ended;
    pthread_t thread = hand->thread;
    if (!ended) {
        (void)pthread_detach(thread);
        atomic_store(&left_behind, true);
    }
    pthread_mutex_unlock(&hand->mutex);
    if (!ended)
        return;
    (void)pthread_join(thread, NULL);
    hand_free(hand);
}

/* ---- the guard ---- */

struct guard {
    struct tg_provider provider;
    struct tg_provider_options options; /* strings are ours */
    char version[NVML_VERSION_BYTES];   /* of the driver, when it was listed last */
    struct hand *hand;                  /* NULL: none yet, or it is stuck */
    TG_VEC(struct hand *) stuck;
};

static void describe(const struct tg_nvml_stuck *stuck, char *ret, size_t size)
{
    double seconds = (double)stuck->patience / (double)TG_SECOND;
    char about[32] = "the driver's library";
    if (stuck->bus_id[0] != '\0')
        snprintf(about, sizeof(about), "card %s", stuck->bus_id);
    else if (stuck->of_card)
        snprintf(about, sizeof(about), "card %u", stuck->index);
    snprintf(ret, size,
             "%s: %s has not answered within %g s: %s is left alone until it does; if it never "
             "does, reset the card or reboot the node",
             about, stuck->call, seconds, stuck->of_card ? "the card" : "all of it");
}

/* Forgets the calls that have returned. */
static void look_after_stuck(struct guard *guard)
{
    size_t left = 0;
    for (size_t i = 0; i < guard->stuck.n; i++) {
        struct hand *hand = guard->stuck.items[i];
        if (has_ended(hand))
            part(hand);
        else
            guard->stuck.items[left++] = hand;
    }
    guard->stuck.n = left;
}

/* What cannot be asked while a call hangs. `card_uuid` NULL: all cards. */
static int check_stuck(const struct guard *guard, const char *card_uuid, struct tg_error *err)
{
    char why[256];
    for (size_t i = 0; i < guard->stuck.n; i++) {
        const struct tg_nvml_stuck *stuck = &guard->stuck.items[i]->stuck;
        if (stuck->of_card && !tg_streq(stuck->uuid, card_uuid))
            continue;
        describe(stuck, why, sizeof(why));
        return tg_error_set(err, TG_UNAVAILABLE, "%s", why);
    }
    return 0;
}

static void leave_out_stuck(const struct guard *guard)
{
    TG_VEC(struct tg_nvml_left_out) cards = {0};
    for (size_t i = 0; i < guard->stuck.n; i++) {
        const struct tg_nvml_stuck *stuck = &guard->stuck.items[i]->stuck;
        struct tg_nvml_left_out *card = TG_VEC_PUSH(&cards);
        card->index = stuck->index;
        describe(stuck, card->why, sizeof(card->why));
    }
    tg_nvml_provider_leave_out(guard->hand->provider, cards.items, cards.n);
    TG_VEC_DONE(&cards);
}

/* A thread that has nothing to do. */
static int take_hand(struct guard *guard, struct tg_error *err)
{
    if (guard->hand != NULL)
        return 0;
    struct hand *hand = hand_new(guard->options.clock);
    int rc = tg_nvml_provider_new(&guard->options, &hand->watch, &hand->provider, err);
    if (rc < 0) {
        hand_free(hand);
        return rc;
    }
    tg_nvml_provider_set_version(hand->provider, guard->version);
    hand_start(hand);
    guard->hand = hand;
    return 0;
}

/* NULL: a call hangs, and the thread is left to it. */
static struct job *attempt(struct guard *guard, const struct request *request)
{
    struct hand *hand = guard->hand;
    leave_out_stuck(guard);
    tg_nvml_watch_card(&hand->watch, NULL);
    pthread_mutex_lock(&hand->mutex);
    hand->job = job_new(request);
    hand->done = false;
    pthread_cond_signal(&hand->wake);
    pthread_mutex_unlock(&hand->mutex);
    if (wait_for(hand, &hand->done, guard->options.call_timeout)) {
        snprintf(guard->version, sizeof(guard->version), "%s",
                 tg_nvml_provider_version(hand->provider));
        return TG_TAKE(hand->job);
    }
    tell_end(hand);
    *TG_VEC_PUSH(&guard->stuck) = hand;
    guard->hand = NULL;
    return NULL;
}

/* The answer, which the caller frees, if there is one. */
static int ask(struct guard *guard, const struct request *request, struct job **ret,
               struct tg_error *err)
{
    *ret = NULL;
    for (int i = 0; *ret == NULL && i < TRIES; i++) {
        look_after_stuck(guard);
        int rc = check_stuck(guard, request->card_uuid, err);
        if (rc == 0)
            rc = take_hand(guard, err);
        if (rc < 0)
            return rc;
        *ret = attempt(guard, request);
    }
    if (*ret == NULL) { /* one card after the other */
        char why[256];
        describe(&guard->stuck.items[guard->stuck.n - 1]->stuck, why, sizeof(why));
        return tg_error_set(err, TG_UNAVAILABLE, "%s", why);
    }
    if ((*ret)->rc < 0 && err != NULL)
        *err = (*ret)->err;
    return (*ret)->rc;
}

static struct guard *guard_of(struct tg_provider *provider)
{
    return TG_CONTAINER_OF(provider, struct guard, provider);
}

static int guard_list(struct tg_provider *provider, struct tg_device_set *ret, struct tg_error *err)
{
    struct job *job = NULL;
    int rc = ask(guard_of(provider), &(struct request){.run = run_list}, &job, err);
    if (rc == 0) {
        *ret = job->set;
        job->set = (struct tg_device_set){0};
    }
    job_free(job);
    return rc;
}

static int ask_instance(struct tg_provider *provider, const struct request *request,
                        struct tg_arena *arena, struct tg_instance *ret, struct tg_error *err)
{
    struct job *job = NULL;
    int rc = ask(guard_of(provider), request, &job, err);
    if (rc == 0) {
        *ret = job->instance;
        ret->uuid = tg_arena_strdup(arena, job->instance.uuid);
        rc = ret->uuid == NULL ? tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory") : 0;
    }
    job_free(job);
    return rc;
}

static int guard_look(struct tg_provider *provider, const struct tg_partition *partition,
                      struct tg_arena *arena, struct tg_instance *ret, struct tg_error *err)
{
    const struct request request = {run_look, partition->card_uuid, partition, NULL};
    return ask_instance(provider, &request, arena, ret, err);
}

static int guard_create(struct tg_provider *provider, const struct tg_partition *partition,
                        struct tg_arena *arena, struct tg_instance *ret, struct tg_error *err)
{
    const struct request request = {run_create, partition->card_uuid, partition, NULL};
    return ask_instance(provider, &request, arena, ret, err);
}

static int guard_destroy(struct tg_provider *provider, const struct tg_partition *partition,
                         struct tg_error *err)
{
    const struct request request = {run_destroy, partition->card_uuid, partition, NULL};
    struct job *job = NULL;
    int rc = ask(guard_of(provider), &request, &job, err);
    job_free(job);
    return rc;
}

static int guard_settings(struct tg_provider *provider, const char *card_uuid,
                          struct tg_gpu_settings *ret, struct tg_error *err)
{
    struct job *job = NULL;
    int rc =
        ask(guard_of(provider), &(struct request){run_settings, card_uuid, NULL, NULL}, &job, err);
    if (rc == 0)
        *ret = job->settings;
    job_free(job);
    return rc;
}

static int guard_set(struct tg_provider *provider, const char *card_uuid,
                     const struct tg_gpu_settings *wanted, struct tg_error *err)
{
    struct job *job = NULL;
    int rc =
        ask(guard_of(provider), &(struct request){run_set, card_uuid, NULL, wanted}, &job, err);
    job_free(job);
    return rc;
}

/* These ask files only, of a provider that its thread has no job for. */
static int guard_edit(struct tg_provider *provider, const struct tg_provider_device *device,
                      const struct tg_instance *instance, struct tg_arena *arena,
                      struct tg_edits *ret, struct tg_error *err)
{
    struct guard *guard = guard_of(provider);
    int rc = take_hand(guard, err);
    return rc < 0 ? rc
                  : guard->hand->provider->ops->edit(guard->hand->provider, device, instance, arena,
                                                     ret, err);
}

static int guard_edit_common(struct tg_provider *provider, struct tg_arena *arena,
                             struct tg_edits *ret, struct tg_error *err)
{
    struct guard *guard = guard_of(provider);
    int rc = take_hand(guard, err);
    return rc < 0 ? rc
                  : guard->hand->provider->ops->edit_common(guard->hand->provider, arena, ret, err);
}

/* ---- life ---- */

/* Strings that outlive the caller's, in the order of the structure. */
static void each_string(struct tg_provider_options *options, void (*own)(const char **string))
{
    const char **const strings[] = {
        &options->node_name,   &options->inventory, &options->library,    &options->system_root,
        &options->driver_root, &options->host_root, &options->dynamic_mig};
    for (size_t i = 0; i < TG_ARRAY_SIZE(strings); i++)
        own(strings[i]);
}

static void copy_string(const char **string)
{
    *string = *string == NULL ? NULL : tg_xstrdup(*string);
}

static void free_string(const char **string)
{
    free((char *)(uintptr_t)*string);
}

static void guard_free(struct tg_provider *provider)
{
    struct guard *guard = guard_of(provider);
    if (guard->hand != NULL) {
        tell_end(guard->hand);
        (void)wait_for(guard->hand, &guard->hand->ended, guard->options.call_timeout);
        part(guard->hand);
    }
    for (size_t i = 0; i < guard->stuck.n; i++)
        part(guard->stuck.items[i]);
    TG_VEC_DONE(&guard->stuck);
    each_string(&guard->options, free_string);
    free(guard);
}

static const struct tg_provider_ops guard_ops = {
    .name = "nvml",
    .list = guard_list,
    .free = guard_free,
    .look = guard_look,
    .create = guard_create,
    .destroy = guard_destroy,
    .settings = guard_settings,
    .set = guard_set,
    .edit = guard_edit,
    .edit_common = guard_edit_common,
};

int tg_nvml_guard_new(const struct tg_provider_options *options, struct tg_provider **ret,
                      struct tg_error *err)
{
    struct guard *guard = tg_xcalloc(1, sizeof(*guard));
    guard->provider.ops = &guard_ops;
    guard->options = *options;
    each_string(&guard->options, copy_string);
    if (guard->options.call_timeout == 0)
        guard->options.call_timeout = CALL_TIMEOUT;
    int rc = take_hand(guard, err); /* the options make sense */
    if (rc < 0) {
        guard_free(&guard->provider);
        return rc;
    }
    *ret = &guard->provider;
    return 0;
}
