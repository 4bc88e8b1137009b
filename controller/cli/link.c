/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/link.h"

#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

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

int tg_link_open(const char *kubeconfig, struct tg_arena *arena, struct tg_link *ret,
                 struct tg_error *err)
{
    const char *file = find_kubeconfig(kubeconfig, arena);
    struct tg_kube_config config = {0};
    int r;

    *ret = (struct tg_link){.loop = NULL};
    if (file == NULL)
        return tg_error_set(err, TG_NOT_FOUND,
                            "which cluster? Give --kubeconfig, or set KUBECONFIG");
    r = tg_kube_config_load(file, arena, &config, err);
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
