/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster, one request after the other. */
#ifndef TG_CONTROLLER_CLI_LINK_H
#define TG_CONTROLLER_CLI_LINK_H

#include "api/kubernetes/client/client.h"
#include "api/runtime/json/decode.h"

struct tg_link {
    struct tg_loop *loop;
    struct tg_kube_client *client;
    const char *namespace_; /* of the kubeconfig's context */
};

/* kubeconfig: a file; NULL: $KUBECONFIG, then ~/.kube/config; in a pod without any of these its
 * service account. Strings are the arena's. */
int tg_link_open(const char *kubeconfig, struct tg_arena *arena, struct tg_link *ret,
                 struct tg_error *err);
void tg_link_close(struct tg_link *link);
/* Sends the call (done and data are set here) and waits for the answer: its body is put into body
 * (NULL: not wanted). Errors: those of tg_kube_result, the message naming the path. */
int tg_link_call(struct tg_link *link, const struct tg_kube_call *call, struct tg_buf *body,
                 struct tg_error *err);
/* Lets ns pass. */
void tg_link_pause(struct tg_link *link, int64_t time);
/* Every object of the kind, page by page; namespace_ NULL: of all namespaces. on_item is that of
 * tg_json_list_stream_new; it may call the cluster. Errors: those of tg_link_call. */
int tg_link_list(struct tg_link *link, const struct tg_kind *kind, const char *namespace_,
                 int (*on_item)(void *data, const char *json, size_t n, struct tg_error *err),
                 void *data, struct tg_error *err);

#endif
