/* SPDX-License-Identifier: Apache-2.0 */
/* Seen by config.c and config_exec.c only: reading a kubeconfig. */
#ifndef TG_KUBERNETES_CLIENT_CONFIG_LOADER_H
#define TG_KUBERNETES_CLIENT_CONFIG_LOADER_H

#include "api/kubernetes/client/config.h"
#include "api/runtime/json/value.h"

struct tg_kube_loader {
    const char *path; /* of the kubeconfig */
    struct tg_arena *arena;
    struct tg_kube_config *config;
};

int tg_kube_loader_no_memory(const struct tg_kube_loader *loader, struct tg_error *err);
/* The string member of an entry; NULL in *ret if it is absent or empty. where: "cluster", for
 * messages. */
int tg_kube_loader_string(const struct tg_kube_loader *loader, const struct tg_json *entry,
                          const char *where, const char *key, const char **ret,
                          struct tg_error *err);
/* A file name as it is meant in the kubeconfig. */
int tg_kube_loader_path(const struct tg_kube_loader *loader, const char *path, const char **ret,
                        struct tg_error *err);
/* user.exec (NULL: nothing to do) into config->exec. The rest of config is loaded already; cluster
 * is the entry that it came from. */
int tg_kube_loader_exec(const struct tg_kube_loader *loader, const struct tg_json *exec,
                        const struct tg_json *cluster, struct tg_error *err);

#endif
