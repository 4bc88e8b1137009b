/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One write on its way: metadata of a claim by a patch or by spliced protobuf, then its status; or
 * one patch. A write whose answer was lost may still arrive at the server at any time. So it is
 * sent again, the same bytes on the same resourceVersion, until there is a definite answer: done,
 * conflict (then the object is read), or refused. Until then its unit waits and its devices count
 * as busy.
 */
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/values/protobuf_splice.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/rest/rest.h"
#include "api/tangram/names.h"
#include "controller/operation.h"

#define BODY_MAX (4 * 1024 * 1024)
#define QUERY_MAX 1024
#define AGAIN_FIRST (500 * TG_MILLISECOND)
#define AGAIN_LAST (8 * TG_SECOND)
#define LEASE_AGAIN (100 * TG_MILLISECOND)

static void read_object(struct tg_operation *op);

/* --- requests -------------------------------------------------------------------------------- */

struct request {
    enum tg_rest_method method;
    const char *subresource, *query, *content_type, *accept;
    const void *body;
    size_t n;
    tg_kube_done *done;
};

/* Between queueing a request and sending it the program may have been stopped: whatever it believed
 * then, nothing leaves that the lease does not outlast. */
static bool may_leave(void *data)
{
    const struct tg_operation *op = data;
    const struct tg_controller *controller = op->controller;

    return tg_elector_leading(controller->elector) &&
           tg_now_monotonic(controller->clock) < op->deadline &&
           tg_elector_valid_until(controller->elector) > op->deadline;
}

static void send(struct tg_operation *op, const struct request *request)
{
    bool collection = op->kind == TG_WRITE_GANG_CREATE && request->method == TG_REST_POST;
    int64_t timeout = tg_controller_write_timeout(op->controller);

    op->deadline = tg_now_monotonic(op->controller->clock) + timeout;
    tg_kube_send(
        op->controller->client,
        &(struct tg_kube_call){.method = request->method,
                               .target = {.kind = tg_controller_kind_of(op->kind),
                                          .namespace_ = op->namespace_,
                                          .name = collection ? NULL : op->name,
                                          .subresource = request->subresource,
                                          .query = request->query},
                               .content_type = request->content_type,
                               .accept = request->accept,
                               .body = request->body,
                               .body_len = request->n,
                               .timeout = timeout,
                               .may_send = request->method == TG_REST_GET ? NULL : may_leave,
                               .done = request->done,
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

static void on_again(struct tg_timer *timer)
{
    struct tg_operation *op = timer->data;
    bool mutates = op->step != read_object;

    if (mutates && !tg_controller_may_write(op->controller))
        tg_timer_start(op->controller->loop, &op->timer, LEASE_AGAIN);
    else
        op->step(op);
}

static void again(struct tg_operation *op)
{
    int64_t delay = AGAIN_FIRST << (op->attempts < 4 ? op->attempts : 4);

    op->attempts++;
    op->timer.callback = on_again;
    op->timer.data = op;
    tg_timer_start(op->controller->loop, &op->timer, delay < AGAIN_LAST ? delay : AGAIN_LAST);
}

/* It never left: nothing has happened, and it waits for the lease. */
static bool not_sent(const struct tg_error *error)
{
    return error->code == TG_FAILED_PRECONDITION && error->http_status == 0;
}

static void wait_for_lease(struct tg_operation *op)
{
    op->timer.callback = on_again;
    op->timer.data = op;
    tg_timer_start(op->controller->loop, &op->timer, LEASE_AGAIN);
}

static bool outcome_unknown(const struct tg_error *error)
{
    return error->code == TG_UNAVAILABLE || error->code == TG_DEADLINE_EXCEEDED;
}

static void say(const struct tg_operation *op, const struct tg_error *error, const char *what)
{
    TG_ERR(error, what, TG_S("kind", tg_controller_kind_of(op->kind)->kind),
           TG_S("namespace", op->namespace_), TG_S("name", op->name));
}

static void on_read(void *data, const struct tg_kube_result *result)
{
    struct tg_operation *op = data;

    if (outcome_unknown(&result->error)) {
        again(op);
        return;
    }
    if (result->error.code == TG_OK)
        enter(op, result);
    else if (result->error.code != TG_NOT_FOUND)
        say(op, &result->error, "Cannot read an object again");
    tg_operation_finish(op);
}

static void read_object(struct tg_operation *op)
{
    send(op, &(struct request){.method = TG_REST_GET, .done = on_read});
}

/* No success. Conflicts are everyday: the object has changed, and the change is read. A JSON patch
 * says by 422 that what it tests is not so: because the object has changed, which no watch may have
 * told us yet, or because of its own first sending, whose answer was lost. */
static void refused(struct tg_operation *op, const struct tg_kube_result *result)
{
    enum tg_code code = result->error.code;
    bool conflict = code == TG_ABORTED || code == TG_ALREADY_EXISTS;
    bool failed_test = result->error.http_status == 422;

    if (not_sent(&result->error)) {
        wait_for_lease(op);
        return;
    }
    if (outcome_unknown(&result->error)) {
        say(op, &result->error, "The answer to a write was lost; it is sent again");
        tg_controller_answer_lost(op->controller);
        again(op);
        return;
    }
    op->failed = true;
    if (!conflict && code != TG_NOT_FOUND && !(failed_test && op->attempts > 0))
        say(op, &result->error, "A write was refused");
    if (!conflict && !failed_test) {
        tg_operation_finish(op);
        return;
    }
    op->attempts = 0;
    op->step = read_object;
    read_object(op);
}

static void on_written(void *data, const struct tg_kube_result *result)
{
    struct tg_operation *op = data;

    if (result->error.code != TG_OK) {
        refused(op, result);
        return;
    }
    /* What deletes is answered by no object; the watch tells. */
    if (op->kind == TG_WRITE_GANG_DELETE || op->kind == TG_WRITE_POD_EVICT)
        op->watch_tells = true;
    else
        enter(op, result);
    tg_operation_finish(op);
}

static void send_body(struct tg_operation *op)
{
    static const struct request requests[] = {
        [TG_WRITE_GANG_CREATE] = {.method = TG_REST_POST},
        [TG_WRITE_GANG_METADATA] = {.method = TG_REST_PATCH, .content_type = TG_KUBE_MERGE_PATCH},
        [TG_WRITE_GANG_STATUS] = {.method = TG_REST_PATCH,
                                  .subresource = "status",
                                  .content_type = TG_KUBE_MERGE_PATCH},
        [TG_WRITE_GANG_DELETE] = {.method = TG_REST_DELETE},
        [TG_WRITE_CLAIM_CLEAR] = {.method = TG_REST_PATCH,
                                  .subresource = "status",
                                  .content_type = TG_KUBE_MERGE_PATCH},
        [TG_WRITE_POD] = {.method = TG_REST_PATCH, .content_type = TG_KUBE_JSON_PATCH},
        [TG_WRITE_POD_EVICT] = {.method = TG_REST_POST, .subresource = "eviction"},
    };
    struct request request = requests[op->kind];

    request.body = op->body;
    request.n = strlen(op->body);
    request.done = on_written;
    send(op, &request);
}

/* --- the two steps of an allocation ---------------------------------------------------------- */

static void send_allocation(struct tg_operation *op)
{
    TG_AUTOFREE char *body =
        tg_xasprintf("{\"metadata\":{\"resourceVersion\":\"%s\",\"uid\":\"%s\"},\"status\":%s}",
                     op->resource_version, op->uid, op->body);

    send(op, &(struct request){.method = TG_REST_PATCH,
                               .subresource = "status",
                               .content_type = TG_KUBE_MERGE_PATCH,
                               .body = body,
                               .n = strlen(body),
                               .done = on_written});
}

/* A later step is a write of its own: it asks for the lease again. */
static void go_on(struct tg_operation *op, void (*step)(struct tg_operation *op))
{
    op->step = step;
    op->attempts = 0;
    if (tg_controller_may_write(op->controller)) {
        step(op);
        return;
    }
    wait_for_lease(op);
}

static void give_up(struct tg_operation *op, const struct tg_error *err)
{
    op->failed = true;
    say(op, err, "Cannot write the metadata of a claim");
    tg_operation_finish(op);
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
    if (op->kind == TG_WRITE_CLAIM_EPOCH) {
        tg_operation_finish(op);
        return;
    }
    if (tg_json_decode_new(&tg_resource_claim_type, result->body, result->len, arena, &claim,
                           &err) < 0) {
        give_up(op, &err);
        return;
    }
    free(op->resource_version);
    op->resource_version =
        tg_xstrdup(((struct tg_resource_claim *)claim)->metadata->resource_version);
    go_on(op, send_allocation);
}

static void send_metadata(struct tg_operation *op)
{
    send(op, &(struct request){.method = TG_REST_PUT,
                               .content_type = TG_KUBE_PROTOBUF,
                               .accept = TG_KUBE_JSON,
                               .body = op->bytes.data,
                               .n = op->bytes.len,
                               .done = on_metadata});
}

static void send_metadata_patch(struct tg_operation *op)
{
    send(op, &(struct request){.method = TG_REST_PATCH,
                               .content_type = TG_KUBE_MERGE_PATCH,
                               .body = op->metadata,
                               .n = strlen(op->metadata),
                               .done = on_metadata});
}

static int splice(struct tg_operation *op, const struct tg_kube_result *result,
                  struct tg_error *err)
{
    /* The finalizer belongs to an allocation. */
    const struct tg_metadata_edit edits[] = {
        {.kind = TG_METADATA_SET_ANNOTATION, .key = TG_ANNOTATION_EPOCH, .value = op->epoch},
        {.kind = TG_METADATA_ADD_FINALIZER, .key = TG_FINALIZER_CLAIM},
    };
    size_t n_edits = op->kind == TG_WRITE_CLAIM_EPOCH ? 1 : TG_ARRAY_SIZE(edits);
    const uint8_t *bytes = (const uint8_t *)result->body;
    char version[64];
    int r =
        tg_protobuf_metadata_resource_version(bytes, result->len, version, sizeof(version), err);

    if (r < 0)
        return r;
    /* Decided on another version: what has changed is not known here. */
    if (!tg_streq(version, op->resource_version))
        return -TG_ABORTED;
    tg_buf_init(&op->bytes, BODY_MAX);
    return tg_protobuf_splice_metadata(bytes, result->len, edits, n_edits, &op->bytes, err);
}

static void on_bytes(void *data, const struct tg_kube_result *result)
{
    struct tg_operation *op = data;
    struct tg_error err = TG_ERROR_INIT;
    int r;

    if (result->error.code != TG_OK) {
        refused(op, result);
        return;
    }
    r = splice(op, result, &err);
    if (r == -TG_ABORTED) {
        op->failed = true;
        op->step = read_object;
        read_object(op);
    } else if (r < 0) {
        give_up(op, &err);
    } else {
        go_on(op, send_metadata);
    }
}

/* Not older than what was decided on: that the server has in memory, and it need not ask its store.
 * What it holds may be old all the same; the write that follows says which version it was. Should
 * its memory lag behind it is passed by. */
static void read_bytes(struct tg_operation *op)
{
    TG_AUTOBUF struct tg_buf query = TG_BUF_INIT(QUERY_MAX);

    if (op->attempts == 0) {
        tg_buf_append_str(&query, "resourceVersion=");
        tg_url_escape(&query, op->resource_version);
    }
    send(op, &(struct request){.method = TG_REST_GET,
                               .query = query.len > 0 ? tg_buf_str(&query) : NULL,
                               .accept = TG_KUBE_PROTOBUF,
                               .done = on_bytes});
}

/* --- life ------------------------------------------------------------------------------------ */

static char *copy(const char *s)
{
    return s == NULL ? NULL : tg_xstrdup(s);
}

struct tg_operation *tg_operation_new(struct tg_controller *controller, const char *unit,
                                      const struct tg_write *write)
{
    struct tg_operation *op = tg_xcalloc(1, sizeof(*op));

    *op = (struct tg_operation){.controller = controller,
                                .unit = tg_xstrdup(unit),
                                .kind = write->kind,
                                .namespace_ = copy(write->namespace_),
                                .name = copy(write->name),
                                .uid = copy(write->uid),
                                .resource_version = copy(write->resource_version),
                                .body = copy(write->body),
                                .epoch = copy(write->epoch),
                                .metadata = copy(write->metadata),
                                .step = send_body};
    if (write->kind == TG_WRITE_CLAIM_ALLOCATE || write->kind == TG_WRITE_CLAIM_EPOCH)
        op->step = write->metadata != NULL ? send_metadata_patch : read_bytes;
    if (write->metadata_done)
        op->step = send_allocation;
    return op;
}

void tg_operation_free(struct tg_operation *op)
{
    tg_timer_stop(&op->timer);
    tg_buf_done(&op->bytes);
    free(op->unit);
    free(op->namespace_);
    free(op->name);
    free(op->uid);
    free(op->resource_version);
    free(op->body);
    free(op->epoch);
    free(op->metadata);
    free(op);
}
