/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/health_stream.h"

#include "api/kubelet/health.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/vec.h"

#define CHECK_BUDGET ((size_t)4 << 20) /* names and texts of some thousand devices */
#define MESSAGE_MAX ((size_t)4 << 20)  /* what the kubelet takes */

struct tg_health_stream {
    struct tg_loop *loop;
    const struct tg_clock *clock;
    struct tg_device_worker *devices;
    int64_t timeout;
    TG_VEC(struct tg_grpc_call) watchers;
    struct tg_timer timer; /* active while somebody watches and no check runs */
    bool checking;
    struct tg_device_job job;
};

static void check(struct tg_health_stream *stream)
{
    if (stream->checking || stream->watchers.n == 0)
        return;
    tg_timer_stop(&stream->timer);
    stream->checking = true;
    tg_device_worker_check(stream->devices, &stream->job);
}

static void on_timer(struct tg_timer *timer)
{
    check(timer->data);
}

static void send_all(struct tg_health_stream *stream)
{
    TG_AUTOBUF struct tg_buf message = TG_BUF_INIT(MESSAGE_MAX);
    struct tg_device_job *job = &stream->job;
    struct tg_error err;

    for (size_t i = 0; i < job->n_health; i++) {
        job->health[i].updated = tg_now_wall(stream->clock) / TG_SECOND;
        job->health[i].timeout = stream->timeout / TG_SECOND;
    }
    if (tg_kubelet_health_encode(job->health, job->n_health, &message, &err) != 0) {
        TG_ERR(&err, "Cannot tell the health of devices");
        return;
    }
    for (size_t i = 0; i < stream->watchers.n; i++)
        tg_grpc_stream_send(stream->watchers.items[i], (const uint8_t *)message.data, message.len);
}

static void on_checked(struct tg_device_job *job)
{
    struct tg_health_stream *stream = job->data;

    stream->checking = false;
    if (job->err.code == TG_OK)
        send_all(stream);
    else
        TG_ERR(&job->err, "Cannot check the health of devices");
    tg_arena_reset(job->arena);
    job->health = NULL;
    job->n_health = 0;
    if (stream->watchers.n > 0)
        tg_timer_start(stream->loop, &stream->timer, stream->timeout / 2);
}

struct tg_health_stream *tg_health_stream_new(struct tg_loop *loop, const struct tg_clock *clock,
                                              struct tg_device_worker *devices, int64_t timeout)
{
    struct tg_health_stream *stream = tg_xcalloc(1, sizeof(*stream));

    stream->loop = loop;
    stream->clock = clock;
    stream->devices = devices;
    stream->timeout = timeout;
    stream->timer = (struct tg_timer){.callback = on_timer, .data = stream};
    stream->job = (struct tg_device_job){
        .done = on_checked, .data = stream, .arena = tg_arena_new(CHECK_BUDGET)};
    return stream;
}

void tg_health_stream_free(struct tg_health_stream *stream)
{
    if (stream == NULL)
        return;
    tg_timer_stop(&stream->timer);
    tg_arena_free(stream->job.arena);
    TG_VEC_DONE(&stream->watchers);
    free(stream);
}

void tg_health_stream_add(struct tg_health_stream *stream, struct tg_grpc_call call)
{
    *TG_VEC_PUSH(&stream->watchers) = call;
    /* A check that runs already answers the new watcher, too. */
    check(stream);
}

void tg_health_stream_remove(struct tg_health_stream *stream, struct tg_grpc_call call)
{
    for (size_t i = 0; i < stream->watchers.n; i++) {
        const struct tg_grpc_call *c = &stream->watchers.items[i];
        if (c->connection != call.connection || c->stream != call.stream)
            continue;
        stream->watchers.items[i] = stream->watchers.items[--stream->watchers.n];
        break;
    }
    if (stream->watchers.n == 0)
        tg_timer_stop(&stream->timer);
}
