/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubelet/dra.h"

#include "api/kubelet/generated/dra.pb-c.h"
#include "api/kubelet/protobuf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

static int check_text(const char *text, size_t i, const char *field, struct tg_error *err)
{
    if (text[0] == '\0')
        return tg_error_set(err, TG_INVALID_ARGUMENT, "claims[%zu].%s is empty", i, field);
    if (!tg_utf8_valid(text, strlen(text)))
        return tg_error_set(err, TG_INVALID_ARGUMENT, "claims[%zu].%s is not valid UTF-8", i,
                            field);
    return 0;
}

int tg_kubelet_claims_decode(const uint8_t *message, size_t n, struct tg_arena *arena,
                             struct tg_kubelet_claims *ret, struct tg_error *err)
{
    ProtobufCMessage *base;
    /* The unprepare request has the same field of the same type. */
    int rc = tg_protobuf_unpack(&pb_dra__node_prepare_resources_request__descriptor, message, n,
                                arena, &base, err);
    if (rc != 0)
        return rc;
    const PbDra__NodePrepareResourcesRequest *request = (const void *)base;
    struct tg_kubelet_claim *items = tg_arena_alloc_array(arena, request->n_claims, sizeof(*items));
    if (items == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "%zu claims need more memory than a request may take",
                            request->n_claims);
    for (size_t i = 0; i < request->n_claims; i++) {
        const PbDra__Claim *claim = request->claims[i];
        if ((rc = check_text(claim->uid, i, "uid", err)) != 0 ||
            (rc = check_text(claim->name, i, "name", err)) != 0 ||
            (rc = check_text(claim->namespace_, i, "namespace", err)) != 0)
            return rc;
        items[i] = (struct tg_kubelet_claim){
            .namespace_ = claim->namespace_, .uid = claim->uid, .name = claim->name};
    }
    ret->items = items;
    ret->n = request->n_claims;
    return 0;
}

/* An array of our own size in an arena without a budget. */
static void *new_array(struct tg_arena *arena, size_t count, size_t size)
{
    void *p = tg_arena_alloc_array(arena, count, size);
    if (p == NULL)
        abort();
    return p;
}

static PbDra__Device *make_device(enum tg_kubelet_dra_version version,
                                  const struct tg_kubelet_device *from, struct tg_arena *arena)
{
    PbDra__Device *device = new_array(arena, 1, sizeof(*device));
    pb_dra__device__init(device);
    device->pool_name = from->pool;
    device->device_name = from->device;
    if (from->request != NULL) {
        device->n_request_names = 1;
        device->request_names = new_array(arena, 1, sizeof(char *));
        device->request_names[0] = from->request;
    }
    if (from->cdi_id != NULL) {
        device->n_cdi_device_ids = 1;
        device->cdi_device_ids = new_array(arena, 1, sizeof(char *));
        device->cdi_device_ids[0] = from->cdi_id;
    }
    if (from->share_id != NULL && version != TG_KUBELET_DRA_V1BETA1) {
        device->optional_share_id_case = PB_DRA__DEVICE__OPTIONAL_SHARE_ID_SHARE_ID;
        device->share_id = from->share_id;
    }
    return device;
}

static PbDra__NodePrepareResourcesResponse__ClaimsEntry *
make_entry(enum tg_kubelet_dra_version version, const struct tg_kubelet_answer *answer,
           struct tg_arena *arena)
{
    PbDra__NodePrepareResourcesResponse__ClaimsEntry *entry = new_array(arena, 1, sizeof(*entry));
    PbDra__NodePrepareResourceResponse *value = new_array(arena, 1, sizeof(*value));

    pb_dra__node_prepare_resources_response__claims_entry__init(entry);
    pb_dra__node_prepare_resource_response__init(value);
    entry->key = answer->uid;
    entry->value = value;
    value->error = tg_protobuf_text(arena, answer->error);
    value->n_devices = answer->n;
    value->devices = new_array(arena, answer->n, sizeof(*value->devices));
    for (size_t i = 0; i < answer->n; i++)
        value->devices[i] = make_device(version, &answer->devices[i], arena);
    return entry;
}

int tg_kubelet_prepared_encode(enum tg_kubelet_dra_version version,
                               const struct tg_kubelet_answer *answers, size_t n,
                               struct tg_buf *out, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    PbDra__NodePrepareResourcesResponse response = PB_DRA__NODE_PREPARE_RESOURCES_RESPONSE__INIT;

    response.n_claims = n;
    response.claims = new_array(arena, n, sizeof(*response.claims));
    for (size_t i = 0; i < n; i++)
        response.claims[i] = make_entry(version, &answers[i], arena);
    return tg_protobuf_pack(&response.base, out, err);
}

int tg_kubelet_unprepared_encode(const struct tg_kubelet_answer *answers, size_t n,
                                 struct tg_buf *out, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    PbDra__NodeUnprepareResourcesResponse response =
        PB_DRA__NODE_UNPREPARE_RESOURCES_RESPONSE__INIT;

    response.n_claims = n;
    response.claims = new_array(arena, n, sizeof(*response.claims));
    for (size_t i = 0; i < n; i++) {
        PbDra__NodeUnprepareResourcesResponse__ClaimsEntry *entry =
            new_array(arena, 1, sizeof(*entry));
        PbDra__NodeUnprepareResourceResponse *value = new_array(arena, 1, sizeof(*value));
        pb_dra__node_unprepare_resources_response__claims_entry__init(entry);
        pb_dra__node_unprepare_resource_response__init(value);
        value->error = tg_protobuf_text(arena, answers[i].error);
        entry->key = answers[i].uid;
        entry->value = value; /* present even when it is empty: that is what success looks like */
        response.claims[i] = entry;
    }
    return tg_protobuf_pack(&response.base, out, err);
}
