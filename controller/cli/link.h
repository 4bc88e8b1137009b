/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster, one request after the other. */
#ifndef TG_CONTROLLER_CLI_LINK_H
#define TG_CONTROLLER_CLI_LINK_H

#include "api/kubernetes/client/client.h"

struct tg_link {
    struct tg_loop *loop;
    struct tg_kube_client *client;
    const char *namespace_; /* of the kubeconfig's context */
};

/* kubeconfig: a file; NULL: $KUBECONFIG, then ~/.kube/config. Strings are the arena's. */
int tg_link_open(const char *kubeconfig, struct tg_arena *arena, struct tg_link *ret,
                 struct tg_error *err);
void tg_link_close(struct tg_link *link);
/* Sends the call (done and data are set here) and waits for the answer: its body is put into body
 * (NULL: not wanted). Errors: those of tg_kube_result, the message naming the path. */
int tg_link_call(struct tg_link *link, const struct tg_kube_call *call, struct tg_buf *body,
                 struct tg_error *err);

#endif
