/* SPDX-License-Identifier: Apache-2.0 */
/* How to reach the API server: a kubeconfig file, or the files of a pod's ServiceAccount. */
#ifndef TG_KUBERNETES_CLIENT_CONFIG_H
#define TG_KUBERNETES_CLIENT_CONFIG_H

#include "api/runtime/base/arena.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/rest/rest.h"

/* A program that is asked for credentials (client.authentication.k8s.io, v1 or v1beta1). */
struct tg_kube_exec {
    const char *api_version;
    const char *const *argv;  /* ended by NULL */
    const char *const *env;   /* "NAME=value", ended by NULL, KUBERNETES_EXEC_INFO among them */
    const char *install_hint; /* how to get the program, or NULL */
};

/* Strings live in the arena given to the loader. Of token, token_file and exec at most one is set.
 */
struct tg_kube_config {
    const char *server;
    const char *namespace_; /* of the context or of the pod; "default" if unknown */
    struct tg_rest_tls tls;
    const char *token;
    const char *token_file; /* read again when older than 60 s, and at once after a 401 */
    const struct tg_kube_exec *exec;
    const char *proxy_url; /* NULL: none, whatever the environment says */
    int64_t dead_after;    /* as in tg_rest_config; no file sets it */
};

/* path: a kubeconfig (current-context; certificate and key as files or *-data, token, tokenFile,
 * exec, tls-server-name, proxy-url, insecure-skip-tls-verify; auth-provider, basic authentication
 * and impersonation are refused by name). Relative file names are relative to the kubeconfig. */
int tg_kube_config_load(const char *path, struct tg_arena *arena, struct tg_kube_config *ret,
                        struct tg_error *err);
/* KUBERNETES_SERVICE_HOST/PORT and /var/run/secrets/kubernetes.io/serviceaccount below root ("" for
 * the real one). */
int tg_kube_config_in_cluster(const char *root, struct tg_arena *arena, struct tg_kube_config *ret,
                              struct tg_error *err);

#endif
