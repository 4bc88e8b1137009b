/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists as a new leader needs them. The stores of a standby follow by watches, which may be late
 * without showing it; what a predecessor wrote last must be known before anything is decided. So
 * claims, Gangs, and the pods that are not on a node are listed once more, by quorum (no
 * resourceVersion), and enter the stores as events where they are newer. What the list lacks but a
 * store still has comes by its watch: a write to it fails.
 */
#include <stdio.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/rest/rest.h"
#include "controller/controller.h"

#define AGAIN (500 * TG_MILLISECOND)
#define PAGE 500
#define ITEM_MAX ((size_t)4 << 20)
#define QUERY_MAX ((size_t)16 << 10)

/* What a decision must not be wrong about. A pod on a node has no gate to lose. */
static const struct {
    enum tg_view_kind kind;
    const char *query;
} parts[] = {
    {TG_VIEW_CLAIM, ""},
    {TG_VIEW_GANG, ""},
    {TG_VIEW_POD, "&fieldSelector=spec.nodeName%3D"},
};

static void ask(struct tg_controller *controller);

static void on_again(struct tg_timer *timer)
{
    ask(timer->data);
}

/* An item that cannot be read is told by its informer, and stays as it is known. */
static int on_item(void *data, const char *json, size_t n, struct tg_error *err)
{
    struct tg_error ignored = TG_ERROR_INIT;

    (void)err;
    (void)tg_informer_apply(data, json, n, &ignored);
    return 0;
}

static int take(struct tg_controller *controller, const struct tg_kube_result *result,
                struct tg_error *err)
{
    struct tg_refresh *refresh = &controller->refresh;
    struct tg_json_list_stream *stream = tg_json_list_stream_new(
        on_item, controller->informers[parts[refresh->part].kind], ITEM_MAX);
    struct tg_json_list_meta meta = {0};
    int r = tg_json_list_stream_feed(stream, result->body, result->len, err);

    if (r == 0)
        r = tg_json_list_stream_end(stream, &meta, err);
    tg_json_list_stream_free(stream);
    if (r < 0)
        return r;
    memcpy(refresh->next_page, meta.continue_token, sizeof(refresh->next_page));
    refresh->part += refresh->next_page[0] == '\0';
    return 0;
}

/* A token that the server has forgotten: the part begins anew. */
static void try_again(struct tg_controller *controller, const struct tg_error *why)
{
    struct tg_refresh *refresh = &controller->refresh;

    TG_ERR(why, "Cannot list before the first decision; asking again",
           TG_S("kind", tg_informer_kind(controller->informers[parts[refresh->part].kind])->kind));
    refresh->next_page[0] = '\0';
    refresh->again.callback = on_again;
    refresh->again.data = controller;
    tg_timer_start(controller->loop, &refresh->again, AGAIN);
}

static void on_page(void *data, const struct tg_kube_result *result)
{
    struct tg_controller *controller = data;
    struct tg_refresh *refresh = &controller->refresh;
    struct tg_error err = result->error;

    if (err.code != TG_OK || take(controller, result, &err) < 0) {
        try_again(controller, &err);
        return;
    }
    if (refresh->part < TG_ARRAY_SIZE(parts)) {
        ask(controller);
        return;
    }
    refresh->done = refresh->epoch;
    refresh->epoch = 0;
    tg_controller_kick(controller);
}

static void ask(struct tg_controller *controller)
{
    TG_AUTOBUF struct tg_buf query = TG_BUF_INIT(QUERY_MAX);
    struct tg_refresh *refresh = &controller->refresh;
    enum tg_view_kind kind = parts[refresh->part].kind;

    tg_buf_printf(&query, "limit=%d%s", PAGE, parts[refresh->part].query);
    if (refresh->next_page[0] != '\0') {
        tg_buf_append_str(&query, "&continue=");
        tg_url_escape(&query, refresh->next_page);
    }
    tg_kube_send(
        controller->client,
        &(struct tg_kube_call){.method = TG_REST_GET,
                               .target = {.kind = tg_informer_kind(controller->informers[kind]),
                                          .query = tg_buf_str(&query)},
                               .done = on_page,
                               .data = controller});
}

bool tg_controller_refreshed(struct tg_controller *controller, uint64_t epoch)
{
    struct tg_refresh *refresh = &controller->refresh;

    if (refresh->done == epoch)
        return true;
    if (refresh->epoch != 0)
        return false; /* under way; if it was for an earlier reign, another follows */
    *refresh = (struct tg_refresh){.epoch = epoch, .done = refresh->done};
    ask(controller);
    return false;
}
