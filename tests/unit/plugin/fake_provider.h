/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A provider that does what the test says: how many devices there are ("d-0", "d-1", ...), whether
 * listing fails, and whether it hangs until it is let go.
 */
#ifndef TG_TEST_PLUGIN_FAKE_PROVIDER_H
#define TG_TEST_PLUGIN_FAKE_PROVIDER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "driver/provider/provider.h"

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t change;
    size_t devices;
    bool broken;
    bool hang;
    int listed;
} fake = {.mutex = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};

static inline int fake_list(struct tg_provider *provider, struct tg_device_set *ret,
                            struct tg_error *err)
{
    bool broken;
    size_t n;

    (void)provider;
    pthread_mutex_lock(&fake.mutex);
    fake.listed++;
    while (fake.hang)
        pthread_cond_wait(&fake.change, &fake.mutex);
    broken = fake.broken;
    n = fake.devices;
    pthread_mutex_unlock(&fake.mutex);
    if (broken)
        return tg_error_set(err, TG_INTERNAL, "the library is lost");
    ret->arena = tg_arena_new(TG_ARENA_UNLIMITED);
    ret->devices.items = tg_arena_alloc_array(ret->arena, n, sizeof(*ret->devices.items));
    ret->devices.n = n;
    for (size_t i = 0; i < n; i++) {
        ret->devices.items[i].device.name = tg_arena_printf(ret->arena, "d-%zu", i);
        ret->devices.items[i].uuid = tg_arena_printf(ret->arena, "GPU-%zu", i);
    }
    return 0;
}

static inline void fake_free(struct tg_provider *provider)
{
    free(provider);
}

static inline int fake_provider_new(const char *kind, const struct tg_provider_options *options,
                                    struct tg_provider **ret, struct tg_error *err)
{
    static const struct tg_provider_ops ops = {
        .name = "fake", .list = fake_list, .free = fake_free};

    (void)kind;
    (void)options;
    (void)err;
    *ret = calloc(1, sizeof(**ret));
    (*ret)->ops = &ops;
    return 0;
}

static inline void fake_set(size_t devices, bool broken, bool hang)
{
    pthread_mutex_lock(&fake.mutex);
    fake.devices = devices;
    fake.broken = broken;
    fake.hang = hang;
    pthread_cond_broadcast(&fake.change);
    pthread_mutex_unlock(&fake.mutex);
}

static inline int fake_listed(void)
{
    pthread_mutex_lock(&fake.mutex);
    int n = fake.listed;
    pthread_mutex_unlock(&fake.mutex);
    return n;
}

#endif
