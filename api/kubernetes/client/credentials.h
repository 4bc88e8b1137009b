/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who we are, as it changes: a fixed token, a file that the kubelet rotates, or a program that is
 * asked (exec credentials). Seen by this folder and its tests only.
 */
#ifndef TG_KUBERNETES_CLIENT_CREDENTIALS_H
#define TG_KUBERNETES_CLIENT_CREDENTIALS_H

#include "api/kubernetes/client/config.h"
#include "api/runtime/loop/loop.h"

struct tg_kube_credentials;

/* config is copied. ready: after TG_REST_WAIT it is worth asking again; certificate and key (PEM)
 * are what the program gave, both NULL if it gave none. */
struct tg_kube_credentials *tg_kube_credentials_new(
    struct tg_loop *loop, const struct tg_clock *clock, const struct tg_kube_config *config,
    void (*ready)(void *data, const char *certificate, const char *key), void *data);
/* NULL is allowed. */
void tg_kube_credentials_free(struct tg_kube_credentials *credentials);
/* As tg_rest_config.token; data is the credentials. The program is run when there is nothing valid,
 * at most once at a time; after it failed its error stands for a growing time of 1 to 30 s. */
int tg_kube_credentials_token(void *data, const char **ret, struct tg_error *err);
/* Grows whenever they change. */
unsigned tg_kube_credentials_generation(const struct tg_kube_credentials *credentials);
/* The server refused those of that generation: if they are still the same they are fetched anew
 * before the next request. False if there is nowhere to fetch from. */
bool tg_kube_credentials_refused(struct tg_kube_credentials *credentials, unsigned generation);
/* Why the last reading of the file failed; NULL if it did not. */
const char *tg_kube_credentials_problem(const struct tg_kube_credentials *credentials);

#endif
