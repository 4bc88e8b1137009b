/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/nvml/watch.h"

#include <stdio.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "driver/provider/nvml/card.h"

#define LOADING_TIMES 4

void tg_nvml_watch_init(struct tg_nvml_watch *watch, const struct tg_clock *clock)
{
    *watch = (struct tg_nvml_watch){.clock = clock == NULL ? tg_clock_system() : clock};
    pthread_mutex_init(&watch->mutex, NULL);
}

void tg_nvml_watch_done(struct tg_nvml_watch *watch)
{
    pthread_mutex_destroy(&watch->mutex);
}

void tg_nvml_watch_card(struct tg_nvml_watch *watch, const struct tg_nvml_card *card)
{
    struct tg_nvml_stuck about = {0};
    if (watch == NULL)
        return;
    if (card != NULL) {
        about.of_card = true;
        about.index = card->index;
        snprintf(about.uuid, sizeof(about.uuid), "%s", card->uuid);
        snprintf(about.bus_id, sizeof(about.bus_id), "%s", card->bus_id);
    }
    pthread_mutex_lock(&watch->mutex);
    watch->at = about;
    pthread_mutex_unlock(&watch->mutex);
}

bool tg_nvml_watch_enter(struct tg_nvml_watch *watch, const char *call)
{
    if (watch == NULL)
        return true;
    pthread_mutex_lock(&watch->mutex);
    bool wanted = !watch->over;
    watch->at.call = call;
    watch->began = tg_now_monotonic(watch->clock);
    pthread_mutex_unlock(&watch->mutex);
    return wanted;
}

int tg_nvml_watch_leave(struct tg_nvml_watch *watch, int rc)
{
    if (watch == NULL)
        return rc;
    pthread_mutex_lock(&watch->mutex);
    watch->at.call = NULL;
    pthread_mutex_unlock(&watch->mutex);
    return rc;
}

/* The first call wakes all cards where nobody keeps them awake. */
static bool is_loading(const char *call)
{
    return tg_streq(call, TG_NVML_LOADING) || tg_streq(call, "nvmlInit_v2");
}

bool tg_nvml_watch_give_up(struct tg_nvml_watch *watch, int64_t limit, struct tg_nvml_stuck *ret)
{
    pthread_mutex_lock(&watch->mutex);
    int64_t patience = is_loading(watch->at.call) ? LOADING_TIMES * limit : limit;
    bool late = watch->at.call != NULL && tg_now_monotonic(watch->clock) - watch->began >= patience;
    if (late) {
        watch->over = true;
        *ret = watch->at;
        ret->patience = patience;
    }
    pthread_mutex_unlock(&watch->mutex);
    return late;
}
