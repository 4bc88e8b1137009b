/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/options.h"

#include <ctype.h>
#include <stddef.h>
#include <sys/un.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/str.h"
#include "kubelet-plugin/registration.h"

#define DRIVER_NAME_MAX 63 /* DriverNameMaxLength of resource.k8s.io */
#define NODE_NAME_MAX 253

static const char *const providers[] = {"sim", "nvml", NULL};
static const char *const placements[] = {"counters", "derived", NULL};
static const char *const logging_formats[] = {"text", "json", NULL};

#define OPTION(member) .offset = offsetof(struct tg_plugin_options, member)
static const struct tg_option table[] = {
    {.name = "node-name",
     .env = "TANGRAM_NODE_NAME",
     .kind = TG_OPTION_STRING,
     OPTION(node_name),
     .argument = "NAME",
     .required = true,
     .help = "Name of the Node object of this machine; also the name of the device pool."},
    {.name = "kubeconfig",
     .env = "TANGRAM_KUBECONFIG",
     .kind = TG_OPTION_STRING,
     OPTION(kubeconfig),
     .fallback = "",
     .argument = "FILE",
     .help = "How to reach the API server; without it, as a pod of the cluster."},
    {.name = "provider",
     .env = "TANGRAM_PROVIDER",
     .kind = TG_OPTION_ENUM,
     OPTION(provider),
     .fallback = "sim",
     .argument = "KIND",
     .values = providers,
     .help = "Where devices come from."},
    {.name = "inventory",
     .env = "TANGRAM_INVENTORY",
     .kind = TG_OPTION_STRING,
     OPTION(inventory),
     .fallback = "",
     .argument = "FILE",
     .help = "The SimInventory document of provider sim."},
    {.name = "nvml-library",
     .env = "TANGRAM_NVML_LIBRARY",
     .kind = TG_OPTION_STRING,
     OPTION(nvml_library),
     .fallback = "libnvidia-ml.so.1",
     .argument = "FILE",
     .help = "The driver's library, for provider nvml: a path, or a name for the loader."},
    {.name = "nvml-timeout",
     .env = "TANGRAM_NVML_TIMEOUT",
     .kind = TG_OPTION_DURATION,
     OPTION(nvml_timeout),
     .fallback = "15s",
     .argument = "DURATION",
     .min = TG_SECOND,
     .max = 40 * TG_SECOND, /* the kubelet waits 45 s */
     .help = "How long one call of the driver's library may take; then its card is left alone "
             "until it returns."},
    {.name = "driver-root",
     .env = "TANGRAM_DRIVER_ROOT",
     .kind = TG_OPTION_STRING,
     OPTION(driver_root),
     .fallback = "",
     .argument = "FOLDER",
     .help = "Where the NVIDIA driver is installed (default: /); its library is looked for there, "
             "too."},
    {.name = "host-driver-root",
     .env = "TANGRAM_HOST_DRIVER_ROOT",
     .kind = TG_OPTION_STRING,
     OPTION(host_driver_root),
     .fallback = "",
     .argument = "FOLDER",
     .help = "What the folder of --driver-root is called on the host, where the container runtime "
             "reads CDI documents (default: the same)."},
    {.name = "system-root",
     .env = "TANGRAM_SYSTEM_ROOT",
     .kind = TG_OPTION_STRING,
     OPTION(system_root),
     .fallback = "",
     .argument = "FOLDER",
     .help = "Where proc and sys of the host are (default: /)."},
    {.name = "dynamic-mig",
     .env = "TANGRAM_DYNAMIC_MIG",
     .kind = TG_OPTION_STRING,
     OPTION(dynamic_mig),
     .fallback = "",
     .argument = "LIST",
     .help = "Cards with MIG mode on that are partitioned on demand: UUIDs, PCI addresses, product "
             "names; the last may end in '*'."},
    {.name = "attributes-dir",
     .env = "TANGRAM_ATTRIBUTES_DIR",
     .kind = TG_OPTION_STRING,
     OPTION(attributes_dir),
     .fallback = "/etc/tangram/attributes.d",
     .argument = "FOLDER",
     .help = "DeviceAttributes documents (*.yaml) that add attributes to devices; read again when "
             "they change."},
    {.name = "placements",
     .env = "TANGRAM_PLACEMENTS",
     .kind = TG_OPTION_ENUM,
     OPTION(placements),
     .fallback = "counters",
     .argument = "HOW",
     .values = placements,
     .help = "How partitions that can be made are published where the API server keeps no "
             "counters: not at all, or derived, for a Tangram controller."},
    {.name = "print-slices",
     .env = "TANGRAM_PRINT_SLICES",
     .kind = TG_OPTION_BOOL,
     OPTION(print_slices),
     .help = "Prints the ResourceSlices that would be published, and exits."},
    {.name = "driver-name",
     .env = "TANGRAM_DRIVER_NAME",
     .kind = TG_OPTION_STRING,
     OPTION(driver_name),
     .fallback = "gpu.tangram.dev",
     .argument = "NAME",
     .help = "Name of the driver in slices, claims and the kubelet's registry."},
    {.name = "plugin-dir",
     .env = "TANGRAM_PLUGIN_DIR",
     .kind = TG_OPTION_STRING,
     OPTION(plugin_dir),
     .fallback = "",
     .argument = "FOLDER",
     .help = "Service socket and journal (default: /var/lib/kubelet/plugins/<driver>)."},
    {.name = "registry-dir",
     .env = "TANGRAM_REGISTRY_DIR",
     .kind = TG_OPTION_STRING,
     OPTION(registry_dir),
     .fallback = "/var/lib/kubelet/plugins_registry",
     .argument = "FOLDER",
     .help = "Where the kubelet looks for registration sockets."},
    {.name = "cdi-dir",
     .env = "TANGRAM_CDI_DIR",
     .kind = TG_OPTION_STRING,
     OPTION(cdi_dir),
     .fallback = "/var/run/cdi",
     .argument = "FOLDER",
     .help = "Where the container runtime looks for CDI documents."},
    {.name = "boot-id-file",
     .env = "TANGRAM_BOOT_ID_FILE",
     .kind = TG_OPTION_STRING,
     OPTION(boot_id_file),
     .fallback = "/proc/sys/kernel/random/boot_id",
     .argument = "FILE",
     .help = "What tells one boot of the machine from the next."},
    {.name = "health-addr",
     .env = "TANGRAM_HEALTH_ADDR",
     .kind = TG_OPTION_STRING,
     OPTION(health_addr),
     .fallback = "",
     .argument = "HOST:PORT",
     .help = "Serves /healthz, /readyz and /metrics there (default: nowhere)."},
    {.name = "conflicting-resources",
     .env = "TANGRAM_CONFLICTING_RESOURCES",
     .kind = TG_OPTION_STRING,
     OPTION(conflicting_resources),
     .fallback = "nvidia.com/gpu,nvidia.com/mig-*",
     .argument = "LIST",
     .help =
         "Extended resources of the same cards: while the node offers any, nothing is published."},
    {.name = "conflict-grace",
     .env = "TANGRAM_CONFLICT_GRACE",
     .kind = TG_OPTION_DURATION,
     OPTION(conflict_grace),
     .fallback = "1m",
     .argument = "DURATION",
     .min = TG_SECOND,
     .max = 24 * 3600 * TG_SECOND,
     .help = "How long no other driver must have published our cards before they are published "
             "again."},
    {.name = "v",
     .env = "TANGRAM_V",
     .kind = TG_OPTION_INT,
     OPTION(v),
     .fallback = "0",
     .argument = "LEVEL",
     .min = 0,
     .max = 10,
     .help = "Verbosity of the log."},
    {.name = "logging-format",
     .env = "TANGRAM_LOGGING_FORMAT",
     .kind = TG_OPTION_ENUM,
     OPTION(logging_format),
     .fallback = "text",
     .argument = "FORMAT",
     .values = logging_formats,
     .help = "Format of the log."},
};

const struct tg_option_set tg_plugin_option_set = {
    .program = "tangram-kubelet-plugin",
    .summary = "Publishes the GPUs of a node and prepares them for pods.",
    .options = table,
    .n = TG_ARRAY_SIZE(table),
};

/* RFC 1123 subdomain: labels of lower-case letters, digits and '-', joined by dots. */
static bool is_subdomain(const char *name, size_t max)
{
    size_t n = strlen(name);

    if (n == 0 || n > max)
        return false;
    for (size_t i = 0; i < n; i++) {
        bool inner = i > 0 && name[i - 1] != '.' && i + 1 < n && name[i + 1] != '.';
        bool alnum = islower((unsigned char)name[i]) || isdigit((unsigned char)name[i]);
        if (!alnum && !(inner && (name[i] == '-' || name[i] == '.')))
            return false;
    }
    return true;
}

struct tg_provider_options tg_plugin_provider_options(const struct tg_plugin_options *options)
{
    return (struct tg_provider_options){
        .node_name = options->node_name,
        .inventory = options->inventory,
        .library = options->nvml_library,
        .system_root = options->system_root,
        .driver_root = options->driver_root,
        .host_root = options->host_driver_root,
        .dynamic_mig = options->dynamic_mig,
        .call_timeout = options->nvml_timeout,
    };
}

int tg_plugin_options_complete(struct tg_plugin_options *options, struct tg_arena *arena,
                               struct tg_error *err)
{
    if (!is_subdomain(options->node_name, NODE_NAME_MAX))
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "--node-name: \"%s\" is not a name that a Node can have",
                            options->node_name);
    if (!is_subdomain(options->driver_name, DRIVER_NAME_MAX))
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "--driver-name: \"%s\" is not a DNS subdomain of at most %d bytes",
                            options->driver_name, DRIVER_NAME_MAX);
    if (tg_streq(options->provider, "sim") && options->inventory[0] == '\0')
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "--inventory is needed with --provider sim: name a SimInventory file");
    if (options->plugin_dir[0] == '\0')
        options->plugin_dir =
            tg_arena_printf(arena, "/var/lib/kubelet/plugins/%s", options->driver_name);
    const char *const paths[] = {
        tg_registration_service_path(options->plugin_dir, arena),
        tg_registration_socket_path(options->registry_dir, options->driver_name, arena),
    };
    for (size_t i = 0; i < TG_ARRAY_SIZE(paths); i++) {
        size_t max = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;
        if (paths[i][0] != '/')
            return tg_error_set(err, TG_INVALID_ARGUMENT,
                                "%s is not an absolute path, and the kubelet needs one", paths[i]);
        if (strlen(paths[i]) > max)
            return tg_error_set(err, TG_INVALID_ARGUMENT,
                                "%s has %zu bytes; a socket path has at most %zu: choose a shorter "
                                "folder or driver name",
                                paths[i], strlen(paths[i]), max);
    }
    return 0;
}
