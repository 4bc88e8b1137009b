/* SPDX-License-Identifier: Apache-2.0 */
/* A machine with simulated NVIDIA cards, and a provider that lists them. */
#ifndef TG_TESTS_UNIT_DRIVER_NVML_MACHINE_H
#define TG_TESTS_UNIT_DRIVER_NVML_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "driver/provider/provider.h"
#include "tests/support/fake_nvml.h"
#include "tests/unit/driver/sandbox.h"

struct machine {
    struct sandbox *sandbox;
    struct fake_nvml fake;
    struct tg_provider_options options;
    struct tg_provider *provider;
    struct tg_device_set set;
    struct tg_arena *arena;
    struct tg_error err;
};

static inline void machine_open(struct machine *m, const char *dynamic_mig)
{
    tg_provider_free(m->provider);
    m->options.dynamic_mig = dynamic_mig;
    assert_int_equal(tg_provider_new("nvml", &m->options, &m->provider, NULL), 0);
}

static inline struct machine *machine_new_in(const char *build, const char *scenario,
                                             const char *dynamic_mig)
{
    struct machine *m = tg_xcalloc(1, sizeof(*m));
    /* What is synced thousands of times need not reach a disk. */
    if (access("/dev/shm", W_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 0);
    m->sandbox = sandbox_new();
    m->arena = tg_arena_new(TG_ARENA_UNLIMITED);
    fake_nvml_init(&m->fake, build, m->sandbox->folder, scenario);
    (void)unsetenv("FAKE_NVML_LOG"); /* costs more than the calls */
    m->options = (struct tg_provider_options){
        .node_name = "node-1", .library = m->fake.library, .system_root = m->fake.root};
    machine_open(m, dynamic_mig);
    return m;
}

#define machine_new(scenario, dynamic_mig) machine_new_in(TEST_BIN_DIR, scenario, dynamic_mig)

static inline int machine_list(struct machine *m)
{
    tg_device_set_done(&m->set);
    m->err = TG_ERROR_INIT;
    return tg_provider_list(m->provider, &m->set, &m->err);
}

static inline void machine_must_list(struct machine *m)
{
    struct tg_error err = TG_ERROR_INIT;
    if (machine_list(m) != 0)
        fail_msg("cannot list: %s", m->err.message);
    if (tg_device_set_validate(&m->set, &err) != 0)
        fail_msg("cannot be published: %s", err.message);
}

static inline void machine_free(struct machine *m)
{
    tg_provider_free(m->provider);
    tg_device_set_done(&m->set);
    tg_arena_free(m->arena);
    fake_nvml_done(&m->fake);
    sandbox_free(m->sandbox);
    free(m);
}

static inline const struct tg_device_attribute *attribute(const struct tg_provider_device *device,
                                                          const char *key)
{
    for (size_t i = 0; i < device->device.attributes.n; i++) {
        if (tg_streq(device->device.attributes.items[i].key, key))
            return &device->device.attributes.items[i].value;
    }
    return NULL;
}

static inline const char *text_of(const struct tg_provider_device *device, const char *key)
{
    const struct tg_device_attribute *a = attribute(device, key);
    return a == NULL ? NULL : a->version != NULL ? a->version : a->string;
}

static inline int64_t int_of(const struct tg_provider_device *device, const char *key)
{
    const struct tg_device_attribute *a = attribute(device, key);
    return a == NULL || !a->int_.set ? -1 : a->int_.value;
}

static inline const char *capacity_of(const struct tg_provider_device *device, const char *key)
{
    for (size_t i = 0; i < device->device.capacity.n; i++) {
        if (tg_streq(device->device.capacity.items[i].key, key))
            return device->device.capacity.items[i].value.value;
    }
    return NULL;
}

static inline bool has_problem(const struct machine *m, const char *text)
{
    for (size_t i = 0; i < m->set.problems.n; i++) {
        if (strstr(m->set.problems.items[i], text) != NULL)
            return true;
    }
    return false;
}

/* Of the devices that are partitions of that profile, the nth; NULL: there are fewer. */
static inline const struct tg_provider_device *partition_of(const struct machine *m,
                                                            const char *profile, size_t nth)
{
    for (size_t i = 0; i < m->set.devices.n; i++) {
        const struct tg_provider_device *one = &m->set.devices.items[i];
        if (tg_streq(text_of(one, "profile"), profile) && nth-- == 0)
            return one;
    }
    return NULL;
}

#endif
