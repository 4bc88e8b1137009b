/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubelet/registration.h"

#include "api/kubelet/generated/registration.pb-c.h"
#include "api/kubelet/protobuf.h"

int tg_kubelet_plugin_info_encode(const struct tg_kubelet_plugin_info *info, struct tg_buf *out,
                                  struct tg_error *err)
{
    PbRegistration__PluginInfo message = PB_REGISTRATION__PLUGIN_INFO__INIT;

    message.type = info->type;
    message.name = info->name;
    message.endpoint = info->endpoint;
    message.n_supported_versions = info->n;
    message.supported_versions = (const char **)(uintptr_t)info->services; /* only read */
    return tg_protobuf_pack(&message.base, out, err);
}

int tg_kubelet_registration_status_decode(const uint8_t *message, size_t n, struct tg_arena *arena,
                                          struct tg_kubelet_registration_status *ret,
                                          struct tg_error *err)
{
    ProtobufCMessage *base;
    int rc = tg_protobuf_unpack(&pb_registration__registration_status__descriptor, message, n,
                                arena, &base, err);
    if (rc != 0)
        return rc;
    const PbRegistration__RegistrationStatus *status = (const void *)base;
    ret->registered = status->plugin_registered;
    ret->error = tg_protobuf_text(arena, status->error);
    return 0;
}
