/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which call of the driver's library runs, about which card, and since when: told by the thread
 * that makes the calls, looked at by the one that waits for it (guard.h). Nobody can end a call
 * that hangs in the kernel; one can stop waiting, and see to it that no further call follows.
 */
#ifndef TG_DRIVER_PROVIDER_NVML_WATCH_H
#define TG_DRIVER_PROVIDER_NVML_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/runtime/base/clock.h"

/* Not the library's, but they run what is in it. */
#define TG_NVML_LOADING "dlopen"
#define TG_NVML_UNLOADING "dlclose"

/* A call that has not returned. */
struct tg_nvml_stuck {
    const char *call; /* name of the function; static */
    int64_t patience; /* how long it was waited for, ns */
    bool of_card;     /* false: the library as a whole does not answer */
    unsigned index;   /* of the card, in the driver's enumeration */
    char uuid[48];    /* "" while it is not known */
    char bus_id[13];  /* the same */
};

struct tg_nvml_watch {
    pthread_mutex_t mutex;
    const struct tg_clock *clock;
    struct tg_nvml_stuck at; /* call NULL: none runs */
    int64_t began;
    bool over; /* nobody waits any more */
};

struct tg_nvml_card;

/* `clock` NULL: the system's. */
void tg_nvml_watch_init(struct tg_nvml_watch *watch, const struct tg_clock *clock);
void tg_nvml_watch_done(struct tg_nvml_watch *watch);
/* What the next calls are about; NULL: no card. A watch that is NULL watches nothing, here and
 * below. */
void tg_nvml_watch_card(struct tg_nvml_watch *watch, const struct tg_nvml_card *card);
/* A call begins. false: nobody waits any more, it must not be made. `call` is static. */
bool tg_nvml_watch_enter(struct tg_nvml_watch *watch, const char *call);
/* It has answered `rc`, which is returned. */
int tg_nvml_watch_leave(struct tg_nvml_watch *watch, int rc);
/* true and *ret: the call that runs has been running for `limit` ns (loading the driver may take
 * four times as long), and is the last one. */
bool tg_nvml_watch_give_up(struct tg_nvml_watch *watch, int64_t limit, struct tg_nvml_stuck *ret);

#endif
