/* SPDX-License-Identifier: Apache-2.0 */
/* A folder for one test: inventory, plugin, registry and CDI folders in it; removed with everything
 * at the end. */
#ifndef TG_TEST_PLUGIN_FOLDER_H
#define TG_TEST_PLUGIN_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/prepare/prepare.h"
#include "driver/provider/provider.h"

#define TEST_DRIVER "gpu.tangram.dev"
#define TEST_NODE "node-a"

struct test_folder {
    char root[64];
    char inventory[96];
    char plugin[96];
    char registry[96];
    char cdi[96];
    char boot_id[96];
};

static inline void test_folder_write(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* Two cards, whatever the card tables say. */
static inline void test_folder_init(struct test_folder *folder)
{
    snprintf(folder->root, sizeof(folder->root), "/tmp/tangram-plugin-XXXXXX");
    assert_non_null(mkdtemp(folder->root));
    snprintf(folder->inventory, sizeof(folder->inventory), "%s/inventory.yaml", folder->root);
    snprintf(folder->plugin, sizeof(folder->plugin), "%s/plugin", folder->root);
    snprintf(folder->registry, sizeof(folder->registry), "%s/registry", folder->root);
    snprintf(folder->cdi, sizeof(folder->cdi), "%s/cdi", folder->root);
    snprintf(folder->boot_id, sizeof(folder->boot_id), "%s/boot_id", folder->root);
    assert_int_equal(mkdir(folder->plugin, 0700), 0);
    assert_int_equal(mkdir(folder->registry, 0700), 0);
    test_folder_write(folder->boot_id, "6f1ed002-ab5c-4e9f-8d6b-0e2f5d0c5f11\n");
    test_folder_write(folder->inventory, "apiVersion: tangram.dev/v1alpha1\n"
                                         "kind: SimInventory\n"
                                         "cards:\n"
                                         "- {name: custom, memory: 48Gi, count: 2}\n");
}

static inline int test_folder_remove_one(const char *path, const struct stat *st, int type,
                                         struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline void test_folder_done(struct test_folder *folder)
{
    nftw(folder->root, test_folder_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline struct tg_provider_options test_provider_options(const struct test_folder *folder)
{
    return (struct tg_provider_options){.node_name = TEST_NODE, .inventory = folder->inventory};
}

static inline struct tg_prepare_options test_prepare_options(const struct test_folder *folder)
{
    return (struct tg_prepare_options){.state_folder = folder->plugin,
                                       .cdi_folder = folder->cdi,
                                       .boot_id_file = folder->boot_id,
                                       .driver = TEST_DRIVER,
                                       .pool = TEST_NODE};
}

#endif
