/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/link.h"

#include <stdlib.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

#define PAGE_MAX ((size_t)64 << 20)
#define PAGE_OBJECTS "500"

struct waiting {
    struct tg_link *link;
    struct tg_buf *body;
    struct tg_error *err;
    int rc;
};

static const char *find_kubeconfig(const char *given, struct tg_arena *arena)
{
    const char *home = getenv("HOME");

    if (given != NULL)
        return given;
    if (tg_or(getenv("KUBECONFIG"), "")[0] != '\0')
        return getenv("KUBECONFIG");
    return home == NULL ? NULL : tg_arena_printf(arena, "%s/.kube/config", home);
}

/* A file that somebody names counts, be it there or not. */
static bool is_in_pod(const char *given, const char *file)
{
    return given == NULL && tg_or(getenv("KUBECONFIG"), "")[0] == '\0' &&
           getenv("KUBERNETES_SERVICE_HOST") != NULL && (file == NULL || access(file, R_OK) != 0);
}

static int find_config(const char *given, struct tg_arena *arena, struct tg_kube_config *ret,
                       struct tg_error *err)
{
    const char *file = find_kubeconfig(given, arena);

    if (is_in_pod(given, file))
        return tg_kube_config_in_cluster("", arena, ret, err);
    if (file == NULL)
        return tg_error_set(err, TG_NOT_FOUND,
                            "which cluster? Give --kubeconfig, or set KUBECONFIG");
    return tg_kube_config_load(file, arena, ret, err);
}

int tg_link_open(const char *kubeconfig, struct tg_arena *arena, struct tg_link *ret,
                 struct tg_error *err)
{
    struct tg_kube_config config = {0};
    int r;

    *ret = (struct tg_link){.loop = NULL};
    r = find_config(kubeconfig, arena, &config, err);
    if (r < 0)
        return r;
    ret->namespace_ = tg_or(config.namespace_, "default");
    ret->loop = tg_loop_new(true);
    r = tg_kube_client_new(ret->loop, tg_clock_system(), &config,
                           "kubectl-tangram/" TANGRAM_VERSION, &ret->client, err);
    if (r < 0)
        tg_link_close(ret);
    return r;
}

void tg_link_close(struct tg_link *link)
{
    tg_kube_client_free(link->client);
    tg_loop_free(link->loop);
    *link = (struct tg_link){.loop = NULL};
}

static void on_done(void *data, const struct tg_kube_result *result)
{
    struct waiting *w = data;

    if (result->error.code != TG_OK) {
        w->rc = -(int)result->error.code;
        if (w->err != NULL)
            *w->err = result->error;
    } else if (w->body != NULL && tg_buf_append(w->body, result->body, result->len) < 0)
        w->rc = tg_error_set(w->err, TG_RESOURCE_EXHAUSTED, "the answer is larger than %zu MiB",
                             w->body->max >> 20);
    tg_loop_stop(w->link->loop);
}

int tg_link_call(struct tg_link *link, const struct tg_kube_call *call, struct tg_buf *body,
                 struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf path = TG_BUF_INIT(16384);
    struct waiting w = {.link = link, .body = body, .err = err};
    struct tg_kube_call sent = *call;

    sent.done = on_done;
    sent.data = &w;
    tg_kube_send(link->client, &sent);
    tg_loop_run(link->loop);
    if (w.rc < 0 && err != NULL) {
        tg_kube_path(&call->target, &path);
        tg_error_wrap(err, "%.200s", tg_buf_str(&path));
    }
    return w.rc;
}

static void on_time(struct tg_timer *timer)
{
    tg_loop_stop(timer->loop);
}

void tg_link_pause(struct tg_link *link, int64_t time)
{
    struct tg_timer timer = {.callback = on_time};

    tg_timer_start(link->loop, &timer, time);
    tg_loop_run(link->loop);
}

static int read_page(const struct tg_buf *body,
                     int (*on_item)(void *data, const char *json, size_t n, struct tg_error *err),
                     void *data, struct tg_json_list_meta *ret_meta, struct tg_error *err)
{
    struct tg_json_list_stream *stream = tg_json_list_stream_new(on_item, data, PAGE_MAX);
    int r = tg_json_list_stream_feed(stream, tg_buf_str(body), body->len, err);

    if (r == 0)
        r = tg_json_list_stream_end(stream, ret_meta, err);
    tg_json_list_stream_free(stream);
    return r;
}

int tg_link_list(struct tg_link *link, const struct tg_kind *kind, const char *namespace_,
                 int (*on_item)(void *data, const char *json, size_t n, struct tg_error *err),
                 void *data, struct tg_error *err)
{
    struct tg_json_list_meta meta = {.continue_token = ""};
    int r;

    do {
        TG_AUTOBUF struct tg_buf body = TG_BUF_INIT(PAGE_MAX);
        TG_AUTOFREE char *query =
            tg_xasprintf("limit=" PAGE_OBJECTS "%s%s",
                         meta.continue_token[0] == '\0' ? "" : "&continue=", meta.continue_token);
        const struct tg_kube_call call = {
            .target = {
                .kind = kind, .namespace_ = kind->namespaced ? namespace_ : NULL, .query = query}};

        r = tg_link_call(link, &call, &body, err);
        if (r == 0)
            r = read_page(&body, on_item, data, &meta, err);
    } while (r == 0 && meta.continue_token[0] != '\0');
    return r;
}
