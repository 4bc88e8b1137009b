/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/print_slices.h"

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "driver/inventory/inventory.h"
#include "driver/partition/foreign.h"
#include "driver/provider/dropins.h"
#include "kubelet-plugin/slice_body.h"

#define SLICES_BUDGET ((size_t)16 << 20)
#define BODY_MAX ((size_t)2 << 20)

/* No claim is known here. */
static bool never(void *data, const struct tg_partition *place)
{
    (void)data;
    (void)place;
    return false;
}

static int print_all(const struct tg_slice_list *slices, FILE *out, struct tg_error *err)
{
    for (size_t i = 0; i < slices->n; i++) {
        TG_AUTOBUF struct tg_buf body = TG_BUF_INIT(BODY_MAX);
        int rc = tg_slice_body_write(&slices->items[i], &body, err);
        if (rc != 0)
            return rc;
        if (fprintf(out, "%s\n", tg_buf_str(&body)) < 0)
            return tg_error_set(err, TG_UNAVAILABLE, "the slices cannot be written");
    }
    return 0;
}

static int print_set(const struct tg_plugin_options *options, struct tg_device_set *set, FILE *out,
                     FILE *problems, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(SLICES_BUDGET);
    const struct tg_inventory_owner owner = {
        .driver = options->driver_name,
        .node_name = options->node_name,
        .layout = tg_streq(options->placements, "derived") ? TG_SLICES_DERIVED : TG_SLICES_COUNTERS,
    };
    struct tg_slice_list slices = {0};
    int rc = tg_foreign_instances(set, never, NULL, err);

    for (size_t i = 0; rc == 0 && i < set->problems.n; i++)
        fprintf(problems, "%s\n", set->problems.items[i]);
    if (rc == 0)
        rc = tg_inventory_build(&owner, set, arena, &slices, err);
    return rc != 0 ? rc : print_all(&slices, out, err);
}

int tg_print_slices(const struct tg_plugin_options *options, FILE *out, FILE *problems,
                    struct tg_error *err)
{
    const struct tg_provider_options provider_options = tg_plugin_provider_options(options);
    struct tg_provider *provider = NULL;
    struct tg_dropins *dropins =
        tg_dropins_new(options->attributes_dir, options->node_name, options->driver_name);
    struct tg_device_set set = {0};
    int rc = tg_provider_new(options->provider, &provider_options, &provider, err);

    if (rc == 0)
        rc = tg_provider_list(provider, &set, err);
    if (rc == 0)
        rc = tg_dropins_apply(dropins, &set, err);
    if (rc == 0)
        rc = print_set(options, &set, out, problems, err);
    tg_device_set_done(&set);
    tg_provider_free(provider);
    tg_dropins_free(dropins);
    return rc;
}
