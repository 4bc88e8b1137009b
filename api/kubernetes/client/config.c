/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/client/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/client/config_loader.h"
#include "api/runtime/base/base64.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/str.h"
#include "api/runtime/yaml/yaml.h"

enum { MAX_KUBECONFIG = 1 << 20, MAX_NAMESPACE = 256 };

#define SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

int tg_kube_loader_no_memory(const struct tg_kube_loader *loader, struct tg_error *err)
{
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s: larger than it may be", loader->path);
}

/* The entry of a list of {name, <member>} with that name; NULL if there is none. */
static const struct tg_json *find_named(const struct tg_json *root, const char *list,
                                        const char *name, const char *member)
{
    const struct tg_json *items = tg_json_get(root, list);

    for (size_t i = 0; items != NULL && items->kind == TG_JSON_ARRAY && i < items->n; i++) {
        if (tg_streq(tg_json_string(tg_json_get(items->items[i], "name")), name))
            return tg_json_get(items->items[i], member);
    }
    return NULL;
}

int tg_kube_loader_string(const struct tg_kube_loader *loader, const struct tg_json *entry,
                          const char *where, const char *key, const char **ret,
                          struct tg_error *err)
{
    const struct tg_json *value = tg_json_get(entry, key);

    *ret = NULL;
    if (value == NULL || value->kind == TG_JSON_NULL)
        return 0;
    if (value->kind != TG_JSON_STRING)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s:%d: %s.%s: expected a string",
                            loader->path, value->line, where, key);
    if (value->text[0] != '\0')
        *ret = value->text;
    return 0;
}

int tg_kube_loader_path(const struct tg_kube_loader *loader, const char *path, const char **ret,
                        struct tg_error *err)
{
    const char *slash = strrchr(loader->path, '/');

    *ret = path[0] == '/' || slash == NULL
               ? path
               : tg_arena_printf(loader->arena, "%.*s/%s", (int)(slash - loader->path),
                                 loader->path, path);
    return *ret == NULL ? tg_kube_loader_no_memory(loader, err) : 0;
}

/* "<name>-data" (base64) or "<name>" (a file, relative to the kubeconfig); the data win, as in
 * client-go. */
static int get_pem(const struct tg_kube_loader *loader, const struct tg_json *entry,
                   const char *where, const char *name, const char **file, const char **data,
                   struct tg_error *err)
{
    const char *text = NULL;
    char *key = tg_arena_printf(loader->arena, "%s-data", name);

    if (key == NULL)
        return tg_kube_loader_no_memory(loader, err);
    if (tg_kube_loader_string(loader, entry, where, key, &text, err) != 0)
        return -TG_INVALID_ARGUMENT;
    if (text != NULL) {
        *data = tg_base64_decode_text(text, loader->arena);
        if (*data == NULL)
            return tg_error_set(err, TG_INVALID_ARGUMENT, "%s: %s.%s: not base64 of a PEM text",
                                loader->path, where, key);
        return 0;
    }
    if (tg_kube_loader_string(loader, entry, where, name, &text, err) != 0)
        return -TG_INVALID_ARGUMENT;
    return text == NULL ? 0 : tg_kube_loader_path(loader, text, file, err);
}

/* Ways of authentication that we do not have are refused by name, so that nobody wonders about a
 * 401. */
static int refuse(const struct tg_kube_loader *loader, const struct tg_json *entry,
                  const char *where, const char *const *keys, struct tg_error *err)
{
    for (; *keys != NULL; keys++) {
        const struct tg_json *value = tg_json_get(entry, *keys);
        if (value != NULL && value->kind != TG_JSON_NULL)
            return tg_error_set(err, TG_UNIMPLEMENTED, "%s:%d: %s.%s is not supported",
                                loader->path, value->line, where, *keys);
    }
    return 0;
}

static int load_cluster(const struct tg_kube_loader *loader, const struct tg_json *cluster,
                        struct tg_error *err)
{
    struct tg_rest_tls *tls = &loader->config->tls;
    const struct tg_json *insecure = tg_json_get(cluster, "insecure-skip-tls-verify");
    int rc =
        tg_kube_loader_string(loader, cluster, "cluster", "server", &loader->config->server, err);

    if (rc == 0 && loader->config->server == NULL)
        rc = tg_error_set(err, TG_INVALID_ARGUMENT, "%s: cluster.server is missing", loader->path);
    if (rc == 0)
        rc = tg_kube_loader_string(loader, cluster, "cluster", "tls-server-name", &tls->server_name,
                                   err);
    if (rc == 0)
        rc = get_pem(loader, cluster, "cluster", "certificate-authority", &tls->ca_file,
                     &tls->ca_data, err);
    if (rc == 0)
        rc = tg_kube_loader_string(loader, cluster, "cluster", "proxy-url",
                                   &loader->config->proxy_url, err);
    if (rc == 0 && insecure != NULL && insecure->kind == TG_JSON_BOOL)
        tls->insecure = insecure->boolean;
    return rc;
}

static int load_user(const struct tg_kube_loader *loader, const struct tg_json *user,
                     const struct tg_json *cluster, struct tg_error *err)
{
    static const char *const refused[] = {"auth-provider", "username",  "password",      "as",
                                          "as-uid",        "as-groups", "as-user-extra", NULL};
    struct tg_kube_config *config = loader->config;
    const char *token_file = NULL;
    int rc = refuse(loader, user, "user", refused, err);

    if (rc == 0)
        rc = tg_kube_loader_string(loader, user, "user", "token", &config->token, err);
    if (rc == 0)
        rc = tg_kube_loader_string(loader, user, "user", "tokenFile", &token_file, err);
    if (rc == 0 && token_file != NULL) {
        config->token = NULL; /* client-go prefers the file as well */
        rc = tg_kube_loader_path(loader, token_file, &config->token_file, err);
    }
    if (rc == 0)
        rc = get_pem(loader, user, "user", "client-certificate", &config->tls.cert_file,
                     &config->tls.cert_data, err);
    if (rc == 0)
        rc = get_pem(loader, user, "user", "client-key", &config->tls.key_file,
                     &config->tls.key_data, err);
    /* Of several ways the explicit ones win, as in client-go. */
    if (rc == 0 && config->token == NULL && config->token_file == NULL)
        rc = tg_kube_loader_exec(loader, tg_json_get(user, "exec"), cluster, err);
    return rc;
}

static int not_found(const struct tg_kube_loader *loader, const char *list, const char *name,
                     const char *by, struct tg_error *err)
{
    return tg_error_set(err, TG_NOT_FOUND, "%s: no entry \"%s\" in %s (named by %s)", loader->path,
                        name, list, by);
}

static int load_context(const struct tg_kube_loader *loader, const struct tg_json *root,
                        struct tg_error *err)
{
    const struct tg_json *context;
    const struct tg_json *cluster;
    const struct tg_json *user;
    const char *name = NULL;
    const char *cluster_name = NULL;
    const char *user_name = NULL;
    int rc = tg_kube_loader_string(loader, root, "the file", "current-context", &name, err);

    if (rc != 0)
        return rc;
    if (name == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s: current-context is not set",
                            loader->path);
    context = find_named(root, "contexts", name, "context");
    if (context == NULL)
        return not_found(loader, "contexts", name, "current-context", err);
    rc = tg_kube_loader_string(loader, context, "context", "cluster", &cluster_name, err);
    if (rc == 0)
        rc = tg_kube_loader_string(loader, context, "context", "user", &user_name, err);
    if (rc == 0)
        rc = tg_kube_loader_string(loader, context, "context", "namespace",
                                   &loader->config->namespace_, err);
    if (rc != 0)
        return rc;
    cluster = find_named(root, "clusters", tg_or(cluster_name, ""), "cluster");
    if (cluster == NULL)
        return not_found(loader, "clusters", tg_or(cluster_name, ""), "the context", err);
    rc = load_cluster(loader, cluster, err);
    if (rc != 0 || user_name == NULL)
        return rc; /* no user: anonymous, as client-go has it */
    user = find_named(root, "users", user_name, "user");
    if (user == NULL)
        return not_found(loader, "users", user_name, "the context", err);
    return load_user(loader, user, cluster, err);
}

int tg_kube_config_load(const char *path, struct tg_arena *arena, struct tg_kube_config *ret,
                        struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(MAX_KUBECONFIG);
    struct tg_kube_config config = {0};
    const struct tg_kube_loader loader = {.path = path, .arena = arena, .config = &config};
    struct tg_json *root = NULL;
    int rc = tg_file_read(path, &text, err);

    if (rc != 0)
        return rc;
    rc = tg_yaml_parse(tg_buf_str(&text), text.len, arena, &root, err);
    if (rc != 0) {
        if (err != NULL)
            tg_error_wrap(err, "%s", path);
        return rc;
    }
    rc = load_context(&loader, root, err);
    if (rc != 0)
        return rc;
    config.namespace_ = tg_or(config.namespace_, "default");
    *ret = config;
    return 0;
}

/* The path of a file of the ServiceAccount, checked to be readable. */
static int service_account_file(const char *root, const char *name, struct tg_arena *arena,
                                const char **ret, struct tg_error *err)
{
    *ret = tg_arena_printf(arena, "%s" SERVICE_ACCOUNT "/%s", root, name);
    if (*ret == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "out of memory for the configuration");
    if (access(*ret, R_OK) != 0)
        return tg_error_errno(err, errno, "in-cluster configuration: %s", *ret);
    return 0;
}

int tg_kube_config_in_cluster(const char *root, struct tg_arena *arena, struct tg_kube_config *ret,
                              struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(MAX_NAMESPACE);
    struct tg_kube_config config = {0};
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    const char *namespace_file = NULL;
    bool v6;
    int rc;

    if (host == NULL || port == NULL || host[0] == '\0' || port[0] == '\0')
        return tg_error_set(err, TG_FAILED_PRECONDITION,
                            "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are "
                            "not set (name a kubeconfig instead)");
    v6 = strchr(host, ':') != NULL;
    config.server =
        tg_arena_printf(arena, "https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
    if (config.server == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "out of memory for the configuration");
    rc = service_account_file(root, "token", arena, &config.token_file, err);
    if (rc == 0)
        rc = service_account_file(root, "ca.crt", arena, &config.tls.ca_file, err);
    if (rc != 0)
        return rc;
    if (service_account_file(root, "namespace", arena, &namespace_file, NULL) == 0 &&
        tg_file_read(namespace_file, &text, NULL) == 0)
        config.namespace_ = tg_arena_strdup(arena, tg_buf_str(&text));
    config.namespace_ = tg_or(config.namespace_, "default");
    *ret = config;
    return 0;
}
