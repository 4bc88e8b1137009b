/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/slice_api.h"

#include <stdlib.h>

#include "api/kubernetes/client/informer.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "kubelet-plugin/slice_body.h"

/* One object may have 1.5 MiB in etcd. */
#define BODY_MAX ((size_t)2 << 20)

struct tg_slice_api {
    struct tg_kube_client *client;
    struct tg_informer *informer;
    struct tg_publisher_api publisher;
    void (*changed)(void *data);
    void (*lost)(void *data);
    void *data;
    struct tg_kube_request *request; /* NULL: none runs */
    bool deleting;
    struct tg_deferred refuse; /* tells an error that was found before anything was sent */
    struct tg_error refusal;
    void (*done)(void *done_data, const struct tg_error *err);
    void *done_data;
};

static void on_change(void *data, struct tg_informer *informer, const struct tg_stored *before,
                      const struct tg_stored *after)
{
    const struct tg_slice_api *api = data;

    (void)informer;
    (void)before;
    (void)after;
    api->changed(api->data);
}

static void on_synced(void *data, struct tg_informer *informer)
{
    const struct tg_slice_api *api = data;

    (void)informer;
    api->changed(api->data);
}

static void on_error(void *data, struct tg_informer *informer, const struct tg_object_meta *about,
                     const struct tg_error *err)
{
    const struct tg_slice_api *api = data;

    (void)informer;
    (void)about; /* the error names it */
    TG_ERR(err, "Cannot watch slices, trying on");
    api->lost(api->data);
}

struct collect {
    struct tg_arena *arena;
    const struct tg_resource_slice **items;
    size_t n;
};

static bool collect(void *data, const struct tg_stored *stored)
{
    struct collect *to = data;
    to->items[to->n++] = (const struct tg_resource_slice *)(const void *)stored->object;
    return true;
}

static int observe(void *data, struct tg_arena *arena, const struct tg_resource_slice ***ret,
                   size_t *n, struct tg_error *err)
{
    const struct tg_slice_api *api = data;
    struct collect to = {.arena = arena};

    if (!tg_informer_synced(api->informer))
        return TG_PUBLISHER_WAIT;
    to.items = tg_arena_alloc_array(arena, tg_informer_count(api->informer), sizeof(*to.items));
    if (to.items == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory for the slices of the node");
    tg_informer_each(api->informer, collect, &to);
    *ret = to.items;
    *n = to.n;
    return 0;
}

static void on_response(void *data, const struct tg_kube_result *result)
{
    struct tg_slice_api *api = data;
    struct tg_error err = result->error;

    api->request = NULL;
    /* What the server made of it is known before its watch event comes. An answer that does not
     * decode is no failure of the write: the event will tell. */
    if (err.code == TG_OK && !api->deleting) {
        struct tg_error problem;
        if (tg_informer_apply(api->informer, result->body, result->len, &problem) != 0)
            TG_ERR(&problem, "The answer to a write of a slice cannot be read");
    }
    api->done(api->done_data, err.code == TG_OK ? NULL : &err);
}

static void on_refuse(struct tg_deferred *deferred)
{
    struct tg_slice_api *api = deferred->data;
    api->done(api->done_data, &api->refusal);
}

static void execute(void *data, const struct tg_inventory_operation *operation,
                    void (*done)(void *done_data, const struct tg_error *err), void *done_data)
{
    static const enum tg_rest_method methods[] = {
        [TG_INVENTORY_DELETE] = TG_REST_DELETE,
        [TG_INVENTORY_UPDATE] = TG_REST_PUT,
        [TG_INVENTORY_CREATE] = TG_REST_POST,
    };
    struct tg_slice_api *api = data;
    TG_AUTOBUF struct tg_buf body = TG_BUF_INIT(BODY_MAX);

    api->done = done;
    api->done_data = done_data;
    api->deleting = operation->action == TG_INVENTORY_DELETE;
    int rc = api->deleting ? tg_slice_body_delete(operation->slice, &body, &api->refusal)
                           : tg_slice_body_write(operation->slice, &body, &api->refusal);
    if (rc != 0) {
        tg_defer(tg_kube_client_loop(api->client), &api->refuse);
        return;
    }
    const struct tg_kube_call call = {
        .method = methods[operation->action],
        .target = {.kind = &tg_kind_resource_slice,
                   .name = operation->action == TG_INVENTORY_CREATE
                               ? NULL
                               : operation->slice->metadata->name},
        .body = body.data,
        .body_len = body.len,
        .done = on_response,
        .data = api,
    };
    api->request = tg_kube_send(api->client, &call);
}

struct tg_slice_api *tg_slice_api_new(struct tg_kube_client *client, const char *driver,
                                      const char *node_name, void (*changed)(void *data),
                                      void (*lost)(void *data), void *data)
{
    struct tg_slice_api *api = tg_xcalloc(1, sizeof(*api));

    api->client = client;
    api->changed = changed;
    api->lost = lost;
    api->data = data;
    api->publisher = (struct tg_publisher_api){.observe = observe, .execute = execute, .data = api};
    api->refuse = (struct tg_deferred){.callback = on_refuse, .data = api};
    TG_AUTOFREE char *selector = tg_xasprintf("spec.nodeName=%s,spec.driver=%s", node_name, driver);
    const struct tg_informer_config config = {
        .kind = &tg_kind_resource_slice,
        .field_selector = selector,
        .on_change = on_change,
        .on_synced = on_synced,
        .on_error = on_error,
        .data = api,
    };
    api->informer = tg_informer_new(client, &config);
    return api;
}

void tg_slice_api_free(struct tg_slice_api *api)
{
    if (api == NULL)
        return;
    if (api->request != NULL)
        tg_kube_cancel(api->request);
    tg_defer_cancel(tg_kube_client_loop(api->client), &api->refuse);
    tg_informer_free(api->informer);
    free(api);
}

const struct tg_publisher_api *tg_slice_api_publisher(struct tg_slice_api *api)
{
    return &api->publisher;
}
