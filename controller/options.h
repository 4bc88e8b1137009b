/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of tangram-controller. Everything else is in the TangramConfiguration. */
#ifndef TG_CONTROLLER_OPTIONS_H
#define TG_CONTROLLER_OPTIONS_H

#include "api/runtime/base/options.h"

struct tg_controller_options {
    const char *kubeconfig; /* NULL: in the cluster */
    const char *config;     /* NULL: defaults */
    bool validate_config;
    const char *health_addr; /* NULL: off */
    const char *namespace_;  /* of the Lease */
    const char *identity;    /* NULL: host name and a random part */
    const char *logging_format;
    int64_t verbosity;
};

extern const struct tg_option_set tg_controller_option_set;

#endif
