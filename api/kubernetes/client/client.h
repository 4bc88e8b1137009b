/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the API server. Asynchronous; results arrive on the loop. Objects are never PUT from
 * structs: write with patches, or with spliced bytes.
 */
#ifndef TG_KUBERNETES_CLIENT_CLIENT_H
#define TG_KUBERNETES_CLIENT_CLIENT_H

#include "api/kubernetes/client/config.h"
#include "api/kubernetes/objects/kinds.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/metrics.h"
#include "api/runtime/loop/loop.h"

struct tg_kube_client;

#define TG_KUBE_JSON "application/json"
#define TG_KUBE_JSON_PATCH "application/json-patch+json"
#define TG_KUBE_MERGE_PATCH "application/merge-patch+json"
#define TG_KUBE_STRATEGIC_PATCH "application/strategic-merge-patch+json"
#define TG_KUBE_PROTOBUF "application/vnd.kubernetes.protobuf"

/* config is copied. One connection of its own; leases use a second client. */
int tg_kube_client_new(struct tg_loop *loop, const struct tg_clock *clock,
                       const struct tg_kube_config *config, const char *user_agent,
                       struct tg_kube_client **ret, struct tg_error *err);
/* Measures requests, and what informers and events of this client do, from now on; before the first
 * request. name: of this client among those of the program ("main", "lease"), static. The registry
 * must outlive the client. */
void tg_kube_client_measure(struct tg_kube_client *client, struct tg_metrics *metrics,
                            const char *name);
/* NULL: nothing is measured. */
struct tg_metrics *tg_kube_client_metrics(const struct tg_kube_client *client);
/* Cancels everything, no callbacks; from a done too. NULL is allowed. */
void tg_kube_client_free(struct tg_kube_client *client);
struct tg_loop *tg_kube_client_loop(const struct tg_kube_client *client);
const struct tg_clock *tg_kube_client_clock(const struct tg_kube_client *client);

/* Names one object or collection. */
struct tg_kube_target {
    const struct tg_kind *kind;
    const char *path;        /* in place of all the others: "/version" */
    const char *namespace_;  /* NULL: cluster scope or all namespaces */
    const char *name;        /* NULL: the collection */
    const char *subresource; /* NULL: none */
    const char *query;       /* escaped, without '?', or NULL */
};

struct tg_kube_result {
    /* TG_OK for 2xx. Otherwise code, http_status, reason and message from the Status body (409
     * Conflict = TG_ABORTED, 409 AlreadyExists = TG_ALREADY_EXISTS, 410 = TG_OUT_OF_RANGE, 422 =
     * TG_INVALID_ARGUMENT, 429 = TG_RESOURCE_EXHAUSTED, 403 = TG_PERMISSION_DENIED, 401 =
     * TG_UNAUTHENTICATED, 404 = TG_NOT_FOUND, 5xx and transport = TG_UNAVAILABLE). A lost answer of
     * a write is TG_UNAVAILABLE too: whether it happened must be read, never guessed. */
    struct tg_error error;
    const char *body; /* valid during the callback */
    size_t len;
    int64_t retry_after; /* ns, 0 if absent */
};
typedef void tg_kube_done(void *data, const struct tg_kube_result *result);

struct tg_kube_call {
    enum tg_rest_method method;
    struct tg_kube_target target;
    const char *content_type; /* NULL: JSON */
    const char *accept;       /* NULL: JSON */
    const void *body;
    size_t body_len;
    int64_t timeout; /* 0: 30 s */
    /* Asked before the first byte goes out: false, and it is not sent (done tells
     * TG_FAILED_PRECONDITION with http_status 0). As in tg_rest_call. NULL: always. */
    bool (*may_send)(void *data);
    tg_kube_done *done;
    void *data;
};

struct tg_kube_request;
/* done is called exactly once from the loop (never from inside), unless cancelled. On 401 the token
 * is read again and the request repeated once. */
struct tg_kube_request *tg_kube_send(struct tg_kube_client *client,
                                     const struct tg_kube_call *call);
/* done is not called any more. NULL is allowed. */
void tg_kube_cancel(struct tg_kube_request *request);

/* "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/name/status?query", escaped. */
void tg_kube_path(const struct tg_kube_target *target, struct tg_buf *out);

/* Streaming GET (list pages, watches). on_data/done as in tg_rest_call. Used by informers. */
struct tg_rest *tg_kube_client_rest(struct tg_kube_client *client);

#endif
