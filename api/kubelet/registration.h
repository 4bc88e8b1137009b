/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the kubelet's plugin registration as plain structs. The wire format is in
 * proto/registration.proto. */
#ifndef TG_KUBELET_REGISTRATION_H
#define TG_KUBELET_REGISTRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"

#define TG_KUBELET_GET_INFO "/pluginregistration.Registration/GetInfo"
#define TG_KUBELET_NOTIFY "/pluginregistration.Registration/NotifyRegistrationStatus"

/* PluginInfo.type of a DRA driver. */
#define TG_KUBELET_DRA_PLUGIN "DRAPlugin"

struct tg_kubelet_plugin_info {
    const char *type;
    const char *name;            /* of the driver */
    const char *endpoint;        /* absolute path of the service socket, as the kubelet sees it */
    const char *const *services; /* best first; the kubelet takes the first that it knows */
    size_t n;
};

struct tg_kubelet_registration_status {
    bool registered;
    const char *error; /* never NULL */
};

/* Appends the answer to GetInfo. TG_RESOURCE_EXHAUSTED: the buffer's cap. */
int tg_kubelet_plugin_info_encode(const struct tg_kubelet_plugin_info *info, struct tg_buf *out,
                                  struct tg_error *err);
/* Reads a NotifyRegistrationStatus request (the answer to it is empty). Strings are in the arena.
 * TG_INVALID_ARGUMENT: no such message; TG_RESOURCE_EXHAUSTED: the arena's budget. */
int tg_kubelet_registration_status_decode(const uint8_t *message, size_t n, struct tg_arena *arena,
                                          struct tg_kubelet_registration_status *ret,
                                          struct tg_error *err);

#endif
