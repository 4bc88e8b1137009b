/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One write on its way: metadata of a claim by spliced protobuf, then its status; or one patch. A
 * write whose answer was lost is resolved by reading the object, never by guessing: until then its
 * unit waits.
 */
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/values/protobuf_splice.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/tangram/names.h"
#include "controller/controller.h"

#define WINDOW 32 /* writes in flight */
#define BODY_MAX (4 * 1024 * 1024)
#define READ_AGAIN TG_SECOND
#define LEASE_AGAIN (100 * TG_MILLISECOND)

struct tg_operation {
    struct tg_controller *controller;
    char *unit; /* key of its state, which may be gone when the answer comes */
    enum tg_write_kind kind;
    char *namespace_, *name, *uid, *resource_version, *body, *epoch;
    bool metadata_done;
    bool failed;
    struct tg_timer timer; /* until the object is read again */
    struct tg_operation *next;
};

static void operation_free(struct tg_operation *op)
{
    tg_timer_stop(&op->timer);
    free(op->unit);
    free(op->namespace_);
    free(op->name);
    free(op->uid);
    free(op->resource_version);
    free(op->body);
    free(op->epoch);
    free(op);
}

static int64_t write_timeout(const struct tg_controller *controller);

static void finish(struct tg_operation *op)
{
    struct tg_controller *controller = op->controller;
    struct tg_unit_state *state = tg_map_get(controller->units, op->unit);

    if (state != NULL) {
        state->in_flight--;
        state->failed = state->failed || op->failed;
    }
    controller->writes++;
    controller->write_failures += op->failed;
    controller->operations--;
    operation_free(op);
    tg_controller_start_waiting(controller);
    tg_controller_kick(controller);
}

/* --- requests -------------------------------------------------------------------------------- */

static void send(struct tg_operation *op, enum tg_rest_method method, const char *subresource,
                 const char *content_type, const char *accept, const void *body, size_t n,
                 tg_kube_done *done)
{
    tg_kube_send(op->controller->client,
                 &(struct tg_kube_call){
                     .method = method,
                     .target = {.kind = tg_controller_kind_of(op->kind),
                                .namespace_ = op->namespace_,
                                .name = op->kind == TG_WRITE_GANG_CREATE && method == TG_REST_POST
                                            ? NULL
                                            : op->name,
                                .subresource = subresource},
                     .content_type = content_type,
                     .accept = accept,
                     .body = body,
                     .body_len = n,
                     .timeout = write_timeout(op->controller),
                     .done = done,
                     .data = op});
}

static void enter(struct tg_operation *op, const struct tg_kube_result *result)
{
    struct tg_informer *informer = tg_controller_informer_of(op->controller, op->kind);
    struct tg_error err = TG_ERROR_INIT;

    if (tg_informer_apply(informer, result->body, result->len, &err) < 0)
        TG_ERR(&err, "Cannot read the answer to a write", TG_S("namespace", op->namespace_),
               TG_S("name", op->name));
}

static void read_again(struct tg_timer *timer);

static void on_read(void *data, const struct tg_kube_result *result)
{
    struct tg_operation *op = data;

    if (result->error.code == TG_OK)
        enter(op, result);
    if (result->error.code == TG_OK || result->error.code == TG_NOT_FOUND) {
        finish(op);
        return;
    }
    op->timer.callback = read_again;
    op->timer.data = op;
    tg_timer_start(op->controller->loop, &op->timer, READ_AGAIN);
}

static void read_again(struct tg_timer *timer)
{
    struct tg_operation *op = timer->data;

    send(op, TG_REST_GET, NULL, NULL, NULL, NULL, 0, on_read);
}

static bool outcome_unknown(const struct tg_error *error)
{
    return error->code == TG_UNAVAILABLE || error->code == TG_DEADLINE_EXCEEDED;
}

static void refused(struct tg_operation *op, const struct tg_kube_result *result)
{
    op->failed = true;
    /* Conflicts are everyday: the object has changed, and the change is on its way to us. */
    if (result->error.code == TG_ABORTED || result->error.code == TG_NOT_FOUND)
        TG_V(2, "A write came too late", TG_S("namespace", op->namespace_), TG_S("name", op->name),
             TG_S("why", result->error.message));
    else
        TG_ERR(&result->error, "A write was refused",
               TG_S("kind", tg_controller_kind_of(op->kind)->kind),
               TG_S("namespace", op->namespace_), TG_S("name", op->name));
    if (outcome_unknown(&result->error))
        read_again(&(struct tg_timer){.data = op});
    else
        finish(op);
}

static void on_written(void *data, const struct tg_kube_result *result)
{
    struct tg_operation *op = data;

    if (result->error.code != TG_OK) {
        refused(op, result);
        return;
    }
    if (op->kind != TG_WRITE_GANG_DELETE)
        enter(op, result);
    finish(op);
}

/* --- the two steps of an allocation ---------------------------------------------------------- */

static void send_allocation(struct tg_operation *op)
{
    char *body =
        tg_xasprintf("{\"metadata\":{\"resourceVersion\":\"%s\",\"uid\":\"%s\"},\"status\":%s}",
                     op->resource_version, op->uid, op->body);

    send(op, TG_REST_PATCH, "status", TG_KUBE_MERGE_PATCH, NULL, body, strlen(body), on_written);
    free(body);
}

static void on_metadata(void *data, const struct tg_kube_result *result)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(BODY_MAX);
    struct tg_operation *op = data;
    struct tg_error err = TG_ERROR_INIT;
    void *claim;

    if (result->error.code != TG_OK) {
        refused(op, result);
        return;
    }
    enter(op, result);
    if (tg_json_decode_new(&tg_resource_claim_type, result->body, result->len, arena, &claim,
                           &err) < 0) {
        TG_ERR(&err, "Cannot read the answer to a write", TG_S("namespace", op->namespace_),
               TG_S("name", op->name));
        op->failed = true;
        finish(op);
        return;
    }
    free(op->resource_version);
    op->resource_version =
        tg_xstrdup(((struct tg_resource_claim *)claim)->metadata->resource_version);
    send_allocation(op);
}

static void give_up(struct tg_operation *op, const struct tg_error *err)
{
    op->failed = true;
    TG_ERR(err, "Cannot write the metadata of a claim", TG_S("namespace", op->namespace_),
           TG_S("name", op->name));
    finish(op);
}

static void on_bytes(void *data, const struct tg_kube_result *result)
{
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(BODY_MAX);
    struct tg_operation *op = data;
    const struct tg_metadata_edit edits[] = {
        {.kind = TG_METADATA_ADD_FINALIZER, .key = TG_FINALIZER_CLAIM},
        {.kind = TG_METADATA_SET_ANNOTATION, .key = TG_ANNOTATION_EPOCH, .value = op->epoch},
    };
    const uint8_t *bytes = (const uint8_t *)result->body;
    struct tg_error err = TG_ERROR_INIT;
    char version[64];

    if (result->error.code != TG_OK) {
        refused(op, result);
        return;
    }
    if (tg_protobuf_metadata_resource_version(bytes, result->len, version, sizeof(version), &err) <
            0 ||
        tg_protobuf_splice_metadata(bytes, result->len, edits, TG_ARRAY_SIZE(edits), &out, &err) <
            0) {
        give_up(op, &err);
        return;
    }
    /* Decided on another version: what has changed is not known here. */
    if (!tg_streq(version, op->resource_version)) {
        op->failed = true;
        finish(op);
        return;
    }
    send(op, TG_REST_PUT, NULL, TG_KUBE_PROTOBUF, TG_KUBE_JSON, out.data, out.len, on_metadata);
}

static void start(struct tg_operation *op)
{
    switch (op->kind) {
    case TG_WRITE_GANG_CREATE:
        send(op, TG_REST_POST, NULL, NULL, NULL, op->body, strlen(op->body), on_written);
        break;
    case TG_WRITE_GANG_METADATA:
        send(op, TG_REST_PATCH, NULL, TG_KUBE_MERGE_PATCH, NULL, op->body, strlen(op->body),
             on_written);
        break;
    case TG_WRITE_GANG_STATUS:
    case TG_WRITE_CLAIM_CLEAR:
        send(op, TG_REST_PATCH, "status", TG_KUBE_MERGE_PATCH, NULL, op->body, strlen(op->body),
             on_written);
        break;
    case TG_WRITE_GANG_DELETE:
        send(op, TG_REST_DELETE, NULL, NULL, NULL, op->body, strlen(op->body), on_written);
        break;
    case TG_WRITE_POD:
        send(op, TG_REST_PATCH, NULL, TG_KUBE_JSON_PATCH, NULL, op->body, strlen(op->body),
             on_written);
        break;
    case TG_WRITE_CLAIM_ALLOCATE:
        if (op->metadata_done)
            send_allocation(op);
        else
            send(op, TG_REST_GET, NULL, NULL, TG_KUBE_PROTOBUF, NULL, 0, on_bytes);
        break;
    }
}

/* A write must end before anybody else can hold the lease. */
static int64_t write_timeout(const struct tg_controller *controller)
{
    const struct tg_delays *delays = tg_configuration_delays(controller->configuration);

    return delays->request < delays->lease / 3 ? delays->request : delays->lease / 3;
}

static bool may_write(const struct tg_controller *controller)
{
    return tg_elector_leading(controller->elector) &&
           tg_elector_valid_until(controller->elector) - tg_now_monotonic(controller->clock) >
               write_timeout(controller);
}

void tg_controller_start_waiting(struct tg_controller *controller)
{
    while (controller->operations < WINDOW && controller->first_waiting != NULL) {
        struct tg_operation *op = controller->first_waiting;

        if (!may_write(controller)) {
            tg_controller_wake_at(controller, tg_now_monotonic(controller->clock) + LEASE_AGAIN);
            return;
        }
        controller->first_waiting = op->next;
        if (controller->first_waiting == NULL)
            controller->last_waiting = NULL;
        op->next = NULL;
        controller->operations++;
        start(op);
    }
}

static char *copy(const char *s)
{
    return s == NULL ? NULL : tg_xstrdup(s);
}

void tg_controller_execute(struct tg_controller *controller, struct tg_unit_state *state,
                           const struct tg_write *writes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct tg_operation *op = tg_xcalloc(1, sizeof(*op));

        *op = (struct tg_operation){.controller = controller,
                                    .unit = tg_xstrdup(state->key),
                                    .kind = writes[i].kind,
                                    .namespace_ = copy(writes[i].namespace_),
                                    .name = copy(writes[i].name),
                                    .uid = copy(writes[i].uid),
                                    .resource_version = copy(writes[i].resource_version),
                                    .body = copy(writes[i].body),
                                    .epoch = copy(writes[i].epoch),
                                    .metadata_done = writes[i].metadata_done};
        if (controller->last_waiting != NULL)
            controller->last_waiting->next = op;
        else
            controller->first_waiting = op;
        controller->last_waiting = op;
        state->in_flight++;
    }
    tg_controller_start_waiting(controller);
}

void tg_controller_drop_operations(struct tg_controller *controller)
{
    while (controller->first_waiting != NULL) {
        struct tg_operation *op = controller->first_waiting;

        controller->first_waiting = op->next;
        operation_free(op);
    }
}
