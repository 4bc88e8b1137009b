/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/options.h"

#include "api/runtime/base/cleanup.h"
#include "api/tangram/names.h"

static const char *const formats[] = {"text", "json", NULL};

#define AT(member) .offset = offsetof(struct tg_controller_options, member)

static const struct tg_option options[] = {
    {.name = "kubeconfig",
     .env = "TANGRAM_KUBECONFIG",
     .kind = TG_OPTION_STRING,
     AT(kubeconfig),
     .argument = "FILE",
     .help = "How to reach the API server; without it the ServiceAccount of the pod is used."},
    {.name = "config",
     .env = "TANGRAM_CONFIG",
     .kind = TG_OPTION_STRING,
     AT(config),
     .argument = "FILE",
     .help = "A TangramConfiguration document; without it the defaults apply."},
    {.name = "validate-config",
     .kind = TG_OPTION_BOOL,
     AT(validate_config),
     .help = "Check the file given by --config, say what is wrong with it, and exit."},
    {.name = "health-addr",
     .env = "TANGRAM_HEALTH_ADDR",
     .kind = TG_OPTION_STRING,
     AT(health_addr),
     .argument = "HOST:PORT",
     .help = "Serve /healthz, /readyz, /metrics and /debug here; off by default. /debug is for "
             "requests from the pod itself."},
    {.name = "namespace",
     .env = "TANGRAM_NAMESPACE",
     .kind = TG_OPTION_STRING,
     AT(namespace_),
     .fallback = TG_NAMESPACE_SYSTEM,
     .argument = "NAME",
     .help = "Namespace of the leader's Lease."},
    {.name = "identity",
     .env = "TANGRAM_IDENTITY",
     .kind = TG_OPTION_STRING,
     AT(identity),
     .argument = "NAME",
     .help = "Holder identity in the Lease; by default the host name with a unique part."},
    {.name = "logging-format",
     .env = "TANGRAM_LOGGING_FORMAT",
     .kind = TG_OPTION_ENUM,
     AT(logging_format),
     .fallback = "text",
     .values = formats,
     .help = "How log lines look."},
    {.name = "v",
     .env = "TANGRAM_V",
     .kind = TG_OPTION_INT,
     AT(verbosity),
     .fallback = "0",
     .min = 0,
     .max = 10,
     .help = "Verbosity of the log."},
};

const struct tg_option_set tg_controller_option_set = {
    .program = "tangram-controller",
    .summary = "Allocates the ResourceClaims of managed device classes: gangs all or none, tightly "
               "packed.",
    .options = options,
    .n = TG_ARRAY_SIZE(options),
};
