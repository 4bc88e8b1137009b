/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of tangram-kubelet-plugin. */
#ifndef TG_PLUGIN_OPTIONS_H
#define TG_PLUGIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"
#include "api/runtime/base/options.h"
#include "driver/provider/provider.h"

struct tg_plugin_options {
    const char *node_name;
    const char *kubeconfig; /* "": in-cluster */
    const char *provider;
    const char *inventory;
    const char *nvml_library;
    int64_t nvml_timeout; /* nanoseconds */
    const char *system_root;
    const char *driver_root, *host_driver_root;
    const char *dynamic_mig;
    const char *attributes_dir;
    const char *placements; /* counters, derived */
    bool print_slices;
    const char *driver_name;
    const char *plugin_dir; /* after tg_plugin_options_complete never "" */
    const char *registry_dir;
    const char *cdi_dir;
    const char *boot_id_file;
    const char *health_addr;           /* "": no health server */
    const char *conflicting_resources; /* comma separated, a name may end in '*' */
    int64_t conflict_grace;            /* nanoseconds */
    int64_t v;
    const char *logging_format;
};

extern const struct tg_option_set tg_plugin_option_set;

/* Fills in what depends on other options (strings from the arena) and checks what a table cannot:
 * names, socket paths. */
int tg_plugin_options_complete(struct tg_plugin_options *options, struct tg_arena *arena,
                               struct tg_error *err);

/* What a provider needs of them; strings are borrowed. */
struct tg_provider_options tg_plugin_provider_options(const struct tg_plugin_options *options);

#endif
