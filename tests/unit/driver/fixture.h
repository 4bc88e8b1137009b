/* SPDX-License-Identifier: Apache-2.0 */
/* A node in a folder: devices, boot id, state and CDI folders; and what tests ask about them. */
#ifndef TG_TESTS_UNIT_DRIVER_FIXTURE_H
#define TG_TESTS_UNIT_DRIVER_FIXTURE_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "driver/prepare/prepare.h"
#include "tests/unit/driver/sandbox.h"

#define DEVICES 6
#define DRIVER "gpu.tangram.dev"
#define NODE "node-1"
#define BOOT_1 "11111111-1111-1111-1111-111111111111\n"
#define BOOT_2 "22222222-2222-2222-2222-222222222222\n"

struct fixture {
    struct sandbox *sandbox;
    char *state_folder, *cdi_folder, *boot_id_file, *journal;
    struct tg_device_set devices;
    struct tg_prepare_options options;
    struct tg_prepare *prepare;
    struct tg_prepare_report report;
};

/* gpu-0 .. gpu-5, each with a UUID and a variable of its own. */
static inline void fixture_make_devices(struct tg_device_set *set, size_t n)
{
    set->arena = tg_arena_new(TG_ARENA_UNLIMITED);
    set->devices.n = n;
    set->devices.items = tg_arena_alloc_array(set->arena, n, sizeof(*set->devices.items));
    for (size_t i = 0; i < n; i++) {
        struct tg_provider_device *one = &set->devices.items[i];
        const char **env = tg_arena_alloc_array(set->arena, 1, sizeof(*env));
        one->device.name = tg_arena_printf(set->arena, "gpu-%zu", i);
        one->uuid = tg_arena_printf(set->arena, "GPU-%zu", i);
        env[0] = tg_arena_printf(set->arena, "TANGRAM_DEVICE_GPU_%zu=GPU-%zu", i, i);
        one->env.items = env;
        one->env.n = 1;
    }
}

static inline void fixture_boot(struct fixture *f, const char *boot_id)
{
    assert_int_equal(tg_file_write_atomic(f->boot_id_file, boot_id, strlen(boot_id), 0644, NULL),
                     0);
}

static inline struct fixture *fixture_new(void)
{
    struct fixture *f = tg_xcalloc(1, sizeof(*f));
    f->sandbox = sandbox_new();
    f->state_folder = tg_xasprintf("%s/lib/plugin", f->sandbox->folder);
    f->cdi_folder = tg_xasprintf("%s/run/cdi", f->sandbox->folder);
    f->boot_id_file = tg_xasprintf("%s/boot_id", f->sandbox->folder);
    f->journal = tg_xasprintf("%s/prepare.journal", f->state_folder);
    fixture_make_devices(&f->devices, DEVICES);
    fixture_boot(f, BOOT_1);
    f->options = (struct tg_prepare_options){
        .state_folder = f->state_folder,
        .cdi_folder = f->cdi_folder,
        .boot_id_file = f->boot_id_file,
        .driver = DRIVER,
        .pool = NODE,
    };
    return f;
}

static inline void fixture_close(struct fixture *f)
{
    tg_prepare_close(TG_TAKE(f->prepare));
}

static inline void fixture_free(struct fixture *f)
{
    fixture_close(f);
    tg_device_set_done(&f->devices);
    sandbox_free(f->sandbox);
    free(f->state_folder);
    free(f->cdi_folder);
    free(f->boot_id_file);
    free(f->journal);
    free(f);
}

static inline void fixture_open(struct fixture *f)
{
    struct tg_error err = TG_ERROR_INIT;
    fixture_close(f);
    if (tg_prepare_open(&f->options, &f->devices, &f->prepare, &f->report, &err) != 0)
        fail_msg("cannot open: %s", err.message);
}

/* An empty CDI folder, as after a reboot. */
static inline void fixture_wipe_cdi(struct fixture *f)
{
    sandbox_remove(f->cdi_folder);
}

static inline char *fixture_document(const struct fixture *f, const char *uid)
{
    return tg_xasprintf("%s/k8s." DRIVER "-claim_%s.json", f->cdi_folder, uid);
}

static inline bool fixture_has_document(const struct fixture *f, const char *uid)
{
    TG_AUTOFREE char *path = fixture_document(f, uid);
    return access(path, F_OK) == 0;
}

/* Entries of the CDI folder, hidden ones included. */
static inline size_t fixture_count_files(const struct fixture *f)
{
    size_t n = 0;
    DIR *folder = opendir(f->cdi_folder);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return n;
}

static inline struct tg_allocation_device result(const char *request, const char *device)
{
    return (struct tg_allocation_device){
        .request = request, .driver = DRIVER, .pool = NODE, .device = device};
}

/* Prepares claim ns/<uid> with one result. */
static inline int fixture_prepare(struct fixture *f, const char *uid, const char *device,
                                  struct tg_error *err)
{
    struct tg_allocation_device one = result("gpus", device);
    const struct tg_prepared_claim *claim = NULL;
    return tg_prepare_claim(f->prepare, uid, "ns", uid, &one, 1, &claim, err);
}

static inline void assert_held_by(struct fixture *f, const char *uid, const char *device)
{
    const struct tg_prepared_claim *claim = tg_prepare_find(f->prepare, uid);
    assert_non_null(claim);
    assert_int_equal(claim->n, 1);
    assert_string_equal(claim->devices[0].device, device);
    assert_true(fixture_has_document(f, uid));
}

#endif
