/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/grpc/session.h"

#include <assert.h>
#include <nghttp2/nghttp2.h>
#include <string.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/grpc/wire.h"

/* Limits. The kubelet has at most a handful of calls open; the header lists that it sends have some
 * hundred bytes. */
#define MAX_STREAMS 64
#define MAX_HEADER_LIST ((size_t)16 << 10)
#define MAX_REQUEST_BYTES ((size_t)8 << 20) /* all unfinished requests of a connection together */
#define MAX_SETTINGS 32                     /* entries in one SETTINGS frame */
#define MAX_CONTINUATIONS 8
#define MAX_OUTBOUND_ACK 1000
#define RESET_BURST 1000 /* RST_STREAM frames at once, and then a second */
#define RESET_RATE 33
#define OUTPUT_CHUNK                                                                               \
    ((size_t)16 << 10) /* frames are gathered up to here before they are offered                   \
                        */

/* An outgoing message with its prefix, and how much of it nghttp2 took. */
struct outgoing {
    struct tg_buf frame;
    size_t taken;
};

struct stream {
    struct tg_grpc_session *session;
    struct stream *prev, *next;
    int32_t id;
    const void *method;
    int64_t timeout; /* of the header, -1: none */
    int64_t deadline;
    size_t header_bytes;
    int http_status; /* 200, or why the request is not gRPC at all */
    bool bad_timeout;
    struct tg_grpc_framer request;
    bool delivered;      /* the handler has seen it */
    bool ended;          /* the answer is complete: status is the final one */
    bool headers_queued; /* the response was begun */
    struct outgoing sending, newest;
    size_t held; /* bytes of messages, as they were last counted */
    enum tg_code status;
    struct tg_buf status_text; /* percent-encoded */
};

struct tg_grpc_session {
    nghttp2_session *nghttp2;
    const struct tg_grpc_session_handlers *handlers;
    void *data;
    struct tg_grpc_budget *budget;
    int64_t now;
    size_t request_bytes;
    size_t held; /* of all streams */
    struct stream *streams;
    struct tg_buf output;
    size_t output_sent;
};

static nghttp2_nv header(const char *name, const char *value)
{
    return (nghttp2_nv){
        .name = (uint8_t *)(uintptr_t)name,
        .value = (uint8_t *)(uintptr_t)value,
        .namelen = strlen(name),
        .valuelen = strlen(value),
        .flags = NGHTTP2_NV_FLAG_NONE,
    };
}

/* --- what messages take --- */

static size_t shared_part(const struct tg_grpc_session *session)
{
    return session->held > session->budget->own ? session->held - session->budget->own : 0;
}

/* Counts what the stream holds now. Returns false if all sessions together hold more than they may:
 * then the caller lets go of what it has just added. */
static bool count_held(struct stream *stream)
{
    struct tg_grpc_session *session = stream->session;
    size_t held =
        stream->request.message.len + stream->sending.frame.len + stream->newest.frame.len;
    size_t before = shared_part(session);

    session->held += held - stream->held;
    stream->held = held;
    session->budget->used += shared_part(session) - before;
    return session->budget->used <= session->budget->max;
}

static int over_budget(const struct tg_grpc_session *session, struct tg_error *err)
{
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                        "all connections together hold %zu bytes of messages, and no more are "
                        "taken; try again",
                        session->budget->max);
}

/* --- answering --- */

static void promote_newest(struct stream *stream)
{
    tg_buf_done(&stream->sending.frame);
    stream->sending = stream->newest;
    tg_buf_init(&stream->newest.frame, TG_GRPC_MESSAGE_MAX + TG_GRPC_PREFIX_SIZE);
    count_held(stream);
}

/* grpc-status and, if there is one, grpc-message; returns how many headers. */
static size_t status_headers(const struct stream *stream, char number[static 12],
                             nghttp2_nv headers[static 2])
{
    size_t n = 0;
    snprintf(number, 12, "%d", (int)stream->status);
    headers[n++] = header("grpc-status", number);
    if (stream->status_text.len > 0)
        headers[n++] = header("grpc-message", tg_buf_str(&stream->status_text));
    return n;
}

/* nghttp2 asks for up to `length` bytes of the response body. */
static ssize_t read_body(nghttp2_session *nghttp2, int32_t id, uint8_t *to, size_t length,
                         uint32_t *flags, nghttp2_data_source *source, void *data)
{
    struct stream *stream = source->ptr;
    size_t n = 0;

    (void)data;
    while (n < length) {
        struct outgoing *out = &stream->sending;
        if (out->taken == out->frame.len) {
            if (stream->newest.frame.len == 0)
                break;
            promote_newest(stream);
            continue;
        }
        size_t part = out->frame.len - out->taken;
        part = part < length - n ? part : length - n;
        memcpy(to + n, out->frame.data + out->taken, part);
        out->taken += part;
        n += part;
    }
    bool drained =
        stream->sending.taken == stream->sending.frame.len && stream->newest.frame.len == 0;
    if (drained && stream->ended) {
        char number[12];
        nghttp2_nv trailers[2];
        size_t count = status_headers(stream, number, trailers);
        if (nghttp2_submit_trailer(nghttp2, id, trailers, count) != 0)
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        return (ssize_t)n;
    }
    return n > 0 ? (ssize_t)n : NGHTTP2_ERR_DEFERRED;
}

static void reset_stream(struct stream *stream, uint32_t code)
{
    nghttp2_submit_rst_stream(stream->session->nghttp2, NGHTTP2_FLAG_NONE, stream->id, code);
}

/* Begins the response, or wakes the body of a response that waits for more. */
static void push_body(struct stream *stream)
{
    nghttp2_session *nghttp2 = stream->session->nghttp2;
    if (stream->headers_queued) {
        /* "Not deferred" is no error: then the body is read on its own account. */
        nghttp2_session_resume_data(nghttp2, stream->id);
        return;
    }
    const nghttp2_nv headers[] = {
        header(":status", "200"),
        header("content-type", "application/grpc"),
    };
    const nghttp2_data_provider body = {.source.ptr = stream, .read_callback = read_body};
    stream->headers_queued = true;
    if (nghttp2_submit_response(nghttp2, stream->id, headers, TG_ARRAY_SIZE(headers), &body) != 0)
        reset_stream(stream, NGHTTP2_INTERNAL_ERROR);
}

/* A response without a body: one block of headers that also ends the stream. */
static void respond_without_body(struct stream *stream)
{
    char number[12];
    char http[12];
    nghttp2_nv headers[5];
    size_t n = 0;

    snprintf(http, sizeof(http), "%d", stream->http_status);
    headers[n++] = header(":status", http);
    if (stream->http_status == 200) {
        headers[n++] = header("content-type", "application/grpc");
        n += status_headers(stream, number, headers + n);
        if (stream->status == TG_UNIMPLEMENTED)
            headers[n++] = header("grpc-accept-encoding", "identity");
    }
    stream->headers_queued = true;
    if (nghttp2_submit_response(stream->session->nghttp2, stream->id, headers, n, NULL) != 0)
        reset_stream(stream, NGHTTP2_INTERNAL_ERROR);
}

/* Queues a message: behind what is under way, instead of what is not. false: there is no memory for
 * it. */
static bool queue_message(struct stream *stream, const uint8_t *message, size_t n)
{
    struct outgoing *out = stream->sending.taken == 0 ? &stream->sending : &stream->newest;

    tg_buf_clear(&out->frame);
    out->taken = 0;
    if (tg_grpc_append_message(message, n, &out->frame) == 0 && count_held(stream)) {
        push_body(stream);
        return true;
    }
    tg_buf_done(&out->frame);
    count_held(stream);
    return false;
}

static void end_stream(struct stream *stream, enum tg_code status, const char *text)
{
    stream->ended = true;
    stream->deadline = 0;
    stream->status = status;
    tg_grpc_append_status_text(text, &stream->status_text);
    /* A failure makes unsent states pointless; what is half sent must be completed. */
    if (status != TG_OK) {
        tg_buf_done(&stream->newest.frame);
        count_held(stream);
    }
    if (!stream->headers_queued && (status != TG_OK || stream->http_status != 200))
        respond_without_body(stream);
    else
        push_body(stream);
}

static void fail_stream(struct stream *stream, const struct tg_error *err)
{
    end_stream(stream, err->code == TG_OK ? TG_UNKNOWN : err->code, err->message);
}

/* Nobody waits for this call any more. */
static void cancel(struct stream *stream)
{
    struct tg_grpc_session *session = stream->session;
    if (stream->delivered && !stream->ended)
        session->handlers->cancelled(session->data, stream->id, stream->method);
}

/* --- requests --- */

static struct stream *stream_of(struct tg_grpc_session *session, int32_t id)
{
    return nghttp2_session_get_stream_user_data(session->nghttp2, id);
}

static void stream_free(struct stream *stream)
{
    struct tg_grpc_session *session = stream->session;
    session->request_bytes -= stream->request.message.len;
    if (stream->prev != NULL)
        stream->prev->next = stream->next;
    else
        session->streams = stream->next;
    if (stream->next != NULL)
        stream->next->prev = stream->prev;
    tg_grpc_framer_done(&stream->request);
    tg_buf_done(&stream->sending.frame);
    tg_buf_done(&stream->newest.frame);
    count_held(stream);
    tg_buf_done(&stream->status_text);
    free(stream);
}

static int on_begin_headers(nghttp2_session *nghttp2, const nghttp2_frame *frame, void *data)
{
    struct tg_grpc_session *session = data;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    struct stream *stream = tg_xcalloc(1, sizeof(*stream));
    stream->session = session;
    stream->id = frame->hd.stream_id;
    stream->http_status = 415; /* until a content type says gRPC */
    stream->timeout = -1;
    tg_grpc_framer_init(&stream->request);
    tg_buf_init(&stream->sending.frame, TG_GRPC_MESSAGE_MAX + TG_GRPC_PREFIX_SIZE);
    tg_buf_init(&stream->newest.frame, TG_GRPC_MESSAGE_MAX + TG_GRPC_PREFIX_SIZE);
    tg_buf_init(&stream->status_text, sizeof(((struct tg_error *)NULL)->message) * 3);
    stream->next = session->streams;
    if (stream->next != NULL)
        stream->next->prev = stream;
    session->streams = stream;
    nghttp2_session_set_stream_user_data(nghttp2, stream->id, stream);
    return 0;
}

static void take_method(struct stream *stream, const char *value)
{
    if (!tg_streq(value, "POST"))
        stream->http_status = 405;
}

static void take_path(struct stream *stream, const char *value)
{
    stream->method = stream->session->handlers->find(stream->session->data, value);
}

static void take_content_type(struct stream *stream, const char *value)
{
    static const char grpc[] = "application/grpc";
    if (!tg_has_prefix(value, grpc) || stream->http_status != 415)
        return;
    const char *rest = value + sizeof(grpc) - 1;
    if (*rest == '\0' || *rest == ';' || tg_streq(rest, "+proto") || tg_has_prefix(rest, "+proto;"))
        stream->http_status = 200;
}

static void take_timeout(struct stream *stream, const char *value)
{
    stream->bad_timeout = tg_grpc_parse_timeout(value, strlen(value), &stream->timeout) != 0;
}

/* :authority is not looked at: the kubelet sends "localhost" or the encoded path of the socket. */
static const struct {
    const char *name;
    void (*take)(struct stream *stream, const char *value);
} request_headers[] = {
    {":method", take_method},
    {":path", take_path},
    {"content-type", take_content_type},
    {"grpc-timeout", take_timeout},
};

static int on_header(nghttp2_session *nghttp2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *data)
{
    struct stream *stream = stream_of(data, frame->hd.stream_id);

    (void)nghttp2;
    (void)flags;
    if (stream == NULL)
        return 0;
    /* 32 bytes an entry on top, as RFC 9113 6.5.2 counts them. */
    stream->header_bytes += name_n + value_n + 32;
    if (stream->header_bytes > MAX_HEADER_LIST)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    /* nghttp2 ends both with a NUL that is not counted, and refuses NULs in values. */
    for (size_t i = 0; i < TG_ARRAY_SIZE(request_headers); i++)
        if (tg_streq(request_headers[i].name, (const char *)name))
            request_headers[i].take(stream, (const char *)value);
    return 0;
}

/* All headers are here: what can be refused now is refused now. */
static void on_request_headers(struct stream *stream)
{
    struct tg_error err = TG_ERROR_INIT;

    if (stream->http_status != 200) {
        end_stream(stream, TG_UNKNOWN, "");
        return;
    }
    if (stream->method == NULL)
        tg_error_set(&err, TG_UNIMPLEMENTED, "no such method");
    else if (stream->bad_timeout)
        tg_error_set(&err, TG_INTERNAL, "grpc-timeout is malformed");
    if (err.code != TG_OK) {
        fail_stream(stream, &err);
        return;
    }
    if (stream->timeout >= 0 &&
        __builtin_add_overflow(stream->session->now, stream->timeout, &stream->deadline))
        stream->deadline = 0; /* so far away that it is none */
}

static void on_request_end(struct stream *stream)
{
    struct tg_grpc_session *session = stream->session;
    struct tg_error err;

    if (stream->ended)
        return;
    if (tg_grpc_framer_finish(&stream->request, &err) != 0) {
        fail_stream(stream, &err);
        return;
    }
    stream->delivered = true;
    session->handlers->request(session->data, stream->id, stream->method,
                               (const uint8_t *)tg_buf_str(&stream->request.message),
                               stream->request.message.len, stream->deadline);
    session->request_bytes -= stream->request.message.len;
    tg_grpc_framer_done(&stream->request);
    count_held(stream);
}

static int on_frame_recv(nghttp2_session *nghttp2, const nghttp2_frame *frame, void *data)
{
    bool headers = frame->hd.type == NGHTTP2_HEADERS;
    struct stream *stream;

    (void)nghttp2;
    if (!headers && frame->hd.type != NGHTTP2_DATA)
        return 0;
    stream = stream_of(data, frame->hd.stream_id);
    if (stream == NULL)
        return 0;
    if (headers && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        on_request_headers(stream);
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        on_request_end(stream);
    return 0;
}

static int on_data_chunk(nghttp2_session *nghttp2, uint8_t flags, int32_t id, const uint8_t *bytes,
                         size_t n, void *data)
{
    struct tg_grpc_session *session = data;
    struct stream *stream = stream_of(session, id);
    struct tg_error err;

    (void)nghttp2;
    (void)flags;
    /* What follows an early answer is read and dropped, so that the windows stay open. */
    if (stream == NULL || stream->ended)
        return 0;
    size_t before = stream->request.message.len;
    int rc = session->request_bytes + n > MAX_REQUEST_BYTES
                 ? tg_error_set(&err, TG_RESOURCE_EXHAUSTED,
                                "more than %zu bytes of unfinished requests on one connection",
                                MAX_REQUEST_BYTES)
                 : tg_grpc_framer_feed(&stream->request, bytes, n, &err);
    if (!count_held(stream) && rc == 0)
        rc = over_budget(session, &err);
    if (rc != 0) {
        session->request_bytes -= before;
        tg_grpc_framer_done(&stream->request);
        count_held(stream);
        fail_stream(stream, &err);
        return 0;
    }
    session->request_bytes += stream->request.message.len - before;
    return 0;
}

/* An answer went out before the request was complete: tell the client to stop (RFC 9113, 8.1). */
static int on_frame_send(nghttp2_session *nghttp2, const nghttp2_frame *frame, void *data)
{
    struct stream *stream;

    if (frame->hd.type != NGHTTP2_HEADERS || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    stream = stream_of(data, frame->hd.stream_id);
    if (stream != NULL && nghttp2_session_get_stream_remote_close(nghttp2, stream->id) == 0)
        reset_stream(stream, NGHTTP2_NO_ERROR);
    return 0;
}

static int on_stream_close(nghttp2_session *nghttp2, int32_t id, uint32_t code, void *data)
{
    struct stream *stream = stream_of(data, id);

    (void)code;
    if (stream == NULL)
        return 0;
    nghttp2_session_set_stream_user_data(nghttp2, id, NULL);
    cancel(stream);
    stream_free(stream);
    return 0;
}

static int on_invalid_frame(nghttp2_session *nghttp2, const nghttp2_frame *frame, int code,
                            void *data)
{
    (void)nghttp2;
    (void)data;
    /* Normal at every farewell of grpc-go: its GOAWAY carries an odd last stream id. */
    TG_V(5, "Invalid HTTP/2 frame", TG_I("type", frame->hd.type),
         TG_I("stream", frame->hd.stream_id), TG_S("problem", nghttp2_strerror(code)));
    return 0;
}

/* --- the connection --- */

static nghttp2_session_callbacks *make_callbacks(void)
{
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        abort();
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, on_invalid_frame);
    return callbacks;
}

static nghttp2_option *make_options(void)
{
    nghttp2_option *option;
    if (nghttp2_option_new(&option) != 0)
        abort();
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_max_outbound_ack(option, MAX_OUTBOUND_ACK);
    nghttp2_option_set_max_settings(option, MAX_SETTINGS);
    nghttp2_option_set_max_continuations(option, MAX_CONTINUATIONS);
    nghttp2_option_set_stream_reset_rate_limit(option, RESET_BURST, RESET_RATE);
    return option;
}

struct tg_grpc_session *tg_grpc_session_new(const struct tg_grpc_session_handlers *handlers,
                                            void *data, struct tg_grpc_budget *budget)
{
    static const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, MAX_STREAMS},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, MAX_HEADER_LIST},
        {NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 4096},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 65535},
        {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 16384},
    };
    struct tg_grpc_session *session = tg_xcalloc(1, sizeof(*session));
    nghttp2_session_callbacks *callbacks = make_callbacks();
    nghttp2_option *option = make_options();

    session->handlers = handlers;
    session->data = data;
    session->budget = budget;
    tg_buf_init(&session->output, 8 * OUTPUT_CHUNK);
    /* A new session and its first frame have a size that we decide: no memory for them aborts, as
     * everywhere. */
    if (nghttp2_session_server_new2(&session->nghttp2, callbacks, session, option) != 0 ||
        nghttp2_submit_settings(session->nghttp2, NGHTTP2_FLAG_NONE, settings,
                                TG_ARRAY_SIZE(settings)) != 0)
        abort();
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return session;
}

void tg_grpc_session_free(struct tg_grpc_session *session)
{
    if (session == NULL)
        return;
    for (struct stream *stream = session->streams, *next; stream != NULL; stream = next) {
        next = stream->next;
        cancel(stream);
        stream_free(stream);
    }
    nghttp2_session_del(session->nghttp2);
    tg_buf_done(&session->output);
    free(session);
}

int tg_grpc_session_receive(struct tg_grpc_session *session, const uint8_t *bytes, size_t n,
                            int64_t now, struct tg_error *err)
{
    session->now = now;
    ssize_t taken = nghttp2_session_mem_recv(session->nghttp2, bytes, n);
    if (taken < 0)
        return tg_error_set(err, TG_UNAVAILABLE, "HTTP/2 connection broken by the peer: %s",
                            nghttp2_strerror((int)taken));
    return 0;
}

int tg_grpc_session_output(struct tg_grpc_session *session, const uint8_t **ret, size_t *n,
                           struct tg_error *err)
{
    struct tg_buf *output = &session->output;

    if (session->output_sent > 0) {
        tg_buf_consume(output, session->output_sent);
        session->output_sent = 0;
    }
    while (output->len < OUTPUT_CHUNK) {
        const uint8_t *bytes;
        ssize_t length = nghttp2_session_mem_send(session->nghttp2, &bytes);
        if (length < 0)
            return tg_error_set(err, TG_UNAVAILABLE, "HTTP/2 connection broken: %s",
                                nghttp2_strerror((int)length));
        if (length == 0)
            break;
        if (tg_buf_append(output, bytes, (size_t)length) != 0)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory for output");
    }
    if (output->len == 0)
        tg_buf_done(output); /* an idle connection holds no buffer */
    *ret = (const uint8_t *)output->data;
    *n = output->len;
    return 0;
}

void tg_grpc_session_sent(struct tg_grpc_session *session, size_t n)
{
    session->output_sent += n;
    assert(session->output_sent <= session->output.len);
}

bool tg_grpc_session_finished(const struct tg_grpc_session *session)
{
    return session->output.len == session->output_sent &&
           !nghttp2_session_want_read(session->nghttp2) &&
           !nghttp2_session_want_write(session->nghttp2);
}

bool tg_grpc_session_busy(const struct tg_grpc_session *session)
{
    for (const struct stream *stream = session->streams; stream != NULL; stream = stream->next)
        if (stream->delivered)
            return true;
    return false;
}

int64_t tg_grpc_session_next_deadline(const struct tg_grpc_session *session)
{
    int64_t next = 0;
    for (const struct stream *stream = session->streams; stream != NULL; stream = stream->next)
        if (stream->deadline != 0 && (next == 0 || stream->deadline < next))
            next = stream->deadline;
    return next;
}

/* Answers a stream in the handler's place, then tells the handler. It is freed later, when nghttp2
 * closes it. */
static void abandon(struct stream *stream, const struct tg_error *err)
{
    struct tg_grpc_session *session = stream->session;

    if (stream->ended)
        return;
    fail_stream(stream, err);
    if (stream->delivered)
        session->handlers->cancelled(session->data, stream->id, stream->method);
}

void tg_grpc_session_expire(struct tg_grpc_session *session, int64_t now)
{
    struct tg_error err;
    tg_error_set(&err, TG_DEADLINE_EXCEEDED, "the deadline of the call passed");
    for (struct stream *stream = session->streams; stream != NULL; stream = stream->next)
        if (stream->deadline != 0 && stream->deadline <= now)
            abandon(stream, &err);
}

void tg_grpc_session_reply(struct tg_grpc_session *session, int32_t id, const uint8_t *message,
                           size_t n)
{
    struct stream *stream = stream_of(session, id);
    struct tg_error err = TG_ERROR_INIT;

    if (stream == NULL || stream->ended)
        return;
    if (n > TG_GRPC_MESSAGE_MAX)
        tg_error_set(&err, TG_RESOURCE_EXHAUSTED, "the answer has %zu bytes, clients take %zu", n,
                     TG_GRPC_MESSAGE_MAX);
    else if (!queue_message(stream, message, n))
        over_budget(session, &err);
    if (err.code != TG_OK)
        fail_stream(stream, &err);
    else
        end_stream(stream, TG_OK, "");
}

void tg_grpc_session_fail(struct tg_grpc_session *session, int32_t id, const struct tg_error *err)
{
    struct stream *stream = stream_of(session, id);
    if (stream != NULL && !stream->ended)
        fail_stream(stream, err);
}

void tg_grpc_session_send(struct tg_grpc_session *session, int32_t id, const uint8_t *message,
                          size_t n)
{
    struct stream *stream = stream_of(session, id);
    if (stream == NULL || stream->ended || n > TG_GRPC_MESSAGE_MAX)
        return;
    /* Clients take this for RESOURCE_EXHAUSTED. The handler is told when the stream closes, and not
     * from within its call. */
    if (!queue_message(stream, message, n))
        reset_stream(stream, NGHTTP2_ENHANCE_YOUR_CALM);
}

void tg_grpc_session_shutdown(struct tg_grpc_session *session)
{
    struct tg_error err;
    tg_error_set(&err, TG_UNAVAILABLE, "the server is shutting down");
    for (struct stream *stream = session->streams; stream != NULL; stream = stream->next)
        abandon(stream, &err);
    /* No notice before it: this GOAWAY tells the client exactly which calls it may try elsewhere.
     */
    nghttp2_submit_goaway(session->nghttp2, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(session->nghttp2),
                          NGHTTP2_NO_ERROR, NULL, 0);
}
