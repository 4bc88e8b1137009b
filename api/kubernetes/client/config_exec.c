/* SPDX-License-Identifier: Apache-2.0 */
/* user.exec of a kubeconfig: which program is asked for credentials, and what it is told. */
#include <string.h>

#include "api/kubernetes/client/config_loader.h"
#include "api/runtime/base/base64.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"

enum { MAX_INFO = 4 << 20 };

static const char *const versions[] = {"client.authentication.k8s.io/v1",
                                       "client.authentication.k8s.io/v1beta1"};

/* Where programs find what a cluster's owner wants them to know. */
static const char extension_name[] = "client.authentication.k8s.io/exec";

static int check_version(const struct tg_kube_loader *loader, const char *version,
                         struct tg_error *err)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(versions); i++) {
        if (tg_streq(version, versions[i]))
            return 0;
    }
    return tg_error_set(err, TG_UNIMPLEMENTED,
                        "%s: user.exec.apiVersion: \"%s\" is not supported (known: %s, %s)",
                        loader->path, tg_or(version, ""), versions[0], versions[1]);
}

static void write_extension(struct tg_json_writer *w, const struct tg_json *cluster)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(MAX_INFO);
    const struct tg_json *extensions = tg_json_get(cluster, "extensions");

    for (size_t i = 0; extensions != NULL && extensions->kind == TG_JSON_ARRAY && i < extensions->n;
         i++) {
        const struct tg_json *entry = extensions->items[i];

        if (!tg_streq(tg_json_string(tg_json_get(entry, "name")), extension_name) ||
            tg_json_get(entry, "extension") == NULL)
            continue;
        if (tg_json_write(tg_json_get(entry, "extension"), &text) == 0)
            tg_jw_kv_raw(w, "config", tg_buf_str(&text));
        return;
    }
}

static int write_authority(struct tg_json_writer *w, const struct tg_rest_tls *tls,
                           struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf pem = TG_BUF_INIT(MAX_INFO / 2);
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(MAX_INFO);

    if (tls->ca_data != NULL)
        tg_buf_append_str(&pem, tls->ca_data);
    else if (tls->ca_file == NULL || tg_file_read(tls->ca_file, &pem, err) != 0)
        return tls->ca_file == NULL ? 0 : -(int)err->code;
    tg_base64_encode(pem.data, pem.len, &text);
    tg_jw_kv_string(w, "certificate-authority-data", tg_buf_str(&text));
    return 0;
}

static int write_cluster(const struct tg_kube_loader *loader, struct tg_json_writer *w,
                         const struct tg_json *cluster, struct tg_error *err)
{
    const struct tg_kube_config *config = loader->config;
    int rc;

    tg_jw_key(w, "cluster");
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "server", config->server);
    tg_jw_kv_string(w, "tls-server-name", config->tls.server_name);
    if (config->tls.insecure)
        tg_jw_kv_bool(w, "insecure-skip-tls-verify", true);
    rc = write_authority(w, &config->tls, err);
    tg_jw_kv_string(w, "proxy-url", config->proxy_url);
    write_extension(w, cluster);
    tg_jw_end_object(w);
    return rc;
}

/* "KUBERNETES_EXEC_INFO={...}": an ExecCredential with the spec only. */
static int make_info(const struct tg_kube_loader *loader, const char *version,
                     const struct tg_json *cluster, const char **ret, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(MAX_INFO);
    struct tg_json_writer w;
    int rc = 0;

    tg_buf_append_str(&text, "KUBERNETES_EXEC_INFO=");
    tg_json_writer_init(&w, &text);
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "kind", "ExecCredential");
    tg_jw_kv_string(&w, "apiVersion", version);
    tg_jw_key(&w, "spec");
    tg_jw_begin_object(&w);
    if (cluster != NULL)
        rc = write_cluster(loader, &w, cluster, err);
    tg_jw_kv_bool(&w, "interactive", false); /* nobody is there to answer */
    tg_jw_end_object(&w);
    tg_jw_end_object(&w);
    if (rc == 0)
        rc = tg_jw_finish(&w, err);
    if (rc != 0)
        return rc;
    *ret = tg_arena_strdup(loader->arena, tg_buf_str(&text));
    return *ret == NULL ? tg_kube_loader_no_memory(loader, err) : 0;
}

static int wrong_list(const struct tg_kube_loader *loader, const struct tg_json *list,
                      const char *key, const char *wanted, struct tg_error *err)
{
    return tg_error_set(err, TG_INVALID_ARGUMENT, "%s:%d: user.exec.%s: expected a list of %s",
                        loader->path, list->line, key, wanted);
}

static int load_argv(const struct tg_kube_loader *loader, const struct tg_json *exec,
                     const char *command, const char *const **ret, struct tg_error *err)
{
    const struct tg_json *args = tg_json_get(exec, "args");
    size_t n = 0;
    const char **argv;
    int rc;

    if (args != NULL && args->kind != TG_JSON_NULL) {
        if (args->kind != TG_JSON_ARRAY)
            return wrong_list(loader, args, "args", "strings", err);
        n = args->n;
    }
    argv = tg_arena_alloc_array(loader->arena, n + 2, sizeof(*argv));
    if (argv == NULL)
        return tg_kube_loader_no_memory(loader, err);
    argv[0] = command;
    /* Without a slash it is searched in PATH. */
    rc = strchr(command, '/') == NULL ? 0 : tg_kube_loader_path(loader, command, &argv[0], err);
    for (size_t i = 0; i < n && rc == 0; i++) {
        argv[i + 1] = tg_json_string(args->items[i]);
        if (argv[i + 1] == NULL)
            rc = wrong_list(loader, args, "args", "strings", err);
    }
    *ret = argv;
    return rc;
}

static int load_env(const struct tg_kube_loader *loader, const struct tg_json *exec,
                    const char *info, const char *const **ret, struct tg_error *err)
{
    const struct tg_json *list = tg_json_get(exec, "env");
    size_t n = 0;
    const char **env;

    if (list != NULL && list->kind != TG_JSON_NULL) {
        if (list->kind != TG_JSON_ARRAY)
            return wrong_list(loader, list, "env", "{name, value}", err);
        n = list->n;
    }
    env = tg_arena_alloc_array(loader->arena, n + 2, sizeof(*env));
    if (env == NULL)
        return tg_kube_loader_no_memory(loader, err);
    for (size_t i = 0; i < n; i++) {
        const char *name = tg_json_string(tg_json_get(list->items[i], "name"));
        const char *value = tg_json_string(tg_json_get(list->items[i], "value"));

        if (name == NULL || name[0] == '\0' || strchr(name, '=') != NULL)
            return wrong_list(loader, list, "env", "{name, value}", err);
        env[i] = tg_arena_printf(loader->arena, "%s=%s", name, tg_or(value, ""));
        if (env[i] == NULL)
            return tg_kube_loader_no_memory(loader, err);
    }
    env[n] = info;
    *ret = env;
    return 0;
}

/* What is plain text in the entry, checked; *ret_command is argv[0] as it stands there. */
static int load_texts(const struct tg_kube_loader *loader, const struct tg_json *exec,
                      struct tg_kube_exec *ret, const char **ret_command, struct tg_error *err)
{
    const char *mode = NULL;
    const struct {
        const char *key;
        const char **value;
    } texts[] = {
        {"apiVersion", &ret->api_version},
        {"command", ret_command},
        {"installHint", &ret->install_hint},
        {"interactiveMode", &mode},
    };

    for (size_t i = 0; i < TG_ARRAY_SIZE(texts); i++) {
        int rc =
            tg_kube_loader_string(loader, exec, "user.exec", texts[i].key, texts[i].value, err);
        if (rc != 0)
            return rc;
    }
    if (*ret_command == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s: user.exec.command is missing",
                            loader->path);
    if (tg_streq(mode, "Always"))
        return tg_error_set(err, TG_UNIMPLEMENTED,
                            "%s: user.exec.interactiveMode: Always: nobody is there to answer %s",
                            loader->path, *ret_command);
    return check_version(loader, ret->api_version, err);
}

int tg_kube_loader_exec(const struct tg_kube_loader *loader, const struct tg_json *exec,
                        const struct tg_json *cluster, struct tg_error *err)
{
    struct tg_kube_exec *ret;
    const struct tg_json *provide = tg_json_get(exec, "provideClusterInfo");
    bool informed = provide != NULL && provide->kind == TG_JSON_BOOL && provide->boolean;
    const char *command = NULL;
    const char *info = NULL;
    int rc;

    if (exec == NULL || exec->kind == TG_JSON_NULL)
        return 0;
    ret = tg_arena_alloc(loader->arena, sizeof(*ret));
    if (ret == NULL)
        return tg_kube_loader_no_memory(loader, err);
    rc = load_texts(loader, exec, ret, &command, err);
    if (rc == 0)
        rc = load_argv(loader, exec, command, &ret->argv, err);
    if (rc == 0)
        rc = make_info(loader, ret->api_version, informed ? cluster : NULL, &info, err);
    if (rc == 0)
        rc = load_env(loader, exec, info, &ret->env, err);
    if (rc == 0)
        loader->config->exec = ret;
    return rc;
}
