/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/client/credentials.h"

#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/client/internal.h"
#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/loop/child.h"

/* Bound tokens of a pod are rotated by the kubelet long before they expire; a minute is what
 * client-go waits too. */
static const int64_t token_age = 60 * TG_SECOND;
static const int64_t exec_timeout = 60 * TG_SECOND;
/* A request that is sent with the last breath of a credential would be refused under way. */
static const int64_t early = 10 * TG_SECOND;
enum { MAX_TOKEN = 16 << 10, MAX_CREDENTIAL = 1 << 20 };

struct tg_kube_credentials {
    struct tg_loop *loop;
    const struct tg_clock *clock;
    void (*ready)(void *data, const char *certificate, const char *key);
    void *data;
    char *token; /* NULL: none */
    unsigned generation;

    char *file;
    bool file_read;
    int64_t file_read_at;
    struct tg_error file_error; /* of the last reading */

    struct tg_arena *arena; /* of exec */
    const struct tg_kube_exec *exec;
    struct tg_child *child; /* runs */
    bool valid;             /* what it gave last */
    int64_t expires;        /* wall; 0: never */
    struct tg_error error;  /* of its last run */
    int64_t retry_at;       /* monotonic; until then the error stands */
    struct tg_backoff backoff;
};

/* What the program prints (client.authentication.k8s.io, ExecCredential). */
struct exec_status {
    const char *expires, *token, *certificate, *key;
};
struct exec_credential {
    const char *api_version, *kind;
    struct exec_status *status;
};
static const struct tg_field status_fields[] = {
    TG_FIELD_STR(struct exec_status, expires, "expirationTimestamp"),
    TG_FIELD_STR(struct exec_status, token, "token"),
    TG_FIELD_STR(struct exec_status, certificate, "clientCertificateData"),
    TG_FIELD_STR(struct exec_status, key, "clientKeyData"),
};
static const struct tg_type status_type = TG_TYPE(struct exec_status, status_fields);
static const struct tg_field credential_fields[] = {
    TG_FIELD_STR(struct exec_credential, api_version, "apiVersion"),
    TG_FIELD_STR(struct exec_credential, kind, "kind"),
    TG_FIELD_OBJ(struct exec_credential, status, "status", &status_type),
};
static const struct tg_type credential_type = TG_TYPE(struct exec_credential, credential_fields);

static void set_token(struct tg_kube_credentials *credentials, const char *token)
{
    free(credentials->token);
    credentials->token = token == NULL ? NULL : tg_xstrdup(token);
    credentials->generation++;
}

/* --- a file --- */

static void read_token(struct tg_kube_credentials *credentials)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(MAX_TOKEN);
    int64_t now = tg_now_monotonic(credentials->clock);

    if (credentials->file_read && now - credentials->file_read_at < token_age)
        return;
    credentials->file_read = true;
    credentials->file_read_at = now;
    credentials->file_error = TG_ERROR_INIT;
    if (tg_file_read(credentials->file, &text, &credentials->file_error) != 0)
        return; /* the one we have may still be good; a 401 will tell why it is not */
    while (text.len > 0 && strchr(" \t\r\n", text.data[text.len - 1]) != NULL)
        text.data[--text.len] = '\0';
    if (!tg_streq(credentials->token, tg_buf_str(&text)))
        set_token(credentials, tg_buf_str(&text));
}

/* --- a program --- */

/* Checks what the program printed; strings in the arena. */
static int read_credential(const struct tg_kube_credentials *credentials, const char *output,
                           size_t n, struct tg_arena *arena, struct exec_status *ret,
                           int64_t *ret_expires, struct tg_error *err)
{
    struct exec_credential credential = {0};
    int rc = tg_json_decode(&credential_type, output, n, &credential, arena, err);

    *ret_expires = 0;
    if (rc != 0)
        return rc;
    if (!tg_streq(credential.kind, "ExecCredential") ||
        !tg_streq(credential.api_version, credentials->exec->api_version))
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "it printed a %s of %s, asked for was an ExecCredential of %s",
                            tg_or(credential.kind, "(no kind)"),
                            tg_or(credential.api_version, "(no apiVersion)"),
                            credentials->exec->api_version);
    if (credential.status == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "it printed no status");
    *ret = *credential.status;
    if ((ret->certificate == NULL) != (ret->key == NULL))
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "status has one of clientCertificateData and clientKeyData only");
    if (tg_or(ret->token, "")[0] == '\0' && ret->certificate == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "status has neither a token nor a client certificate");
    return ret->expires == NULL ? 0 : tg_time_parse(ret->expires, ret_expires, err);
}

static void fail(struct tg_kube_credentials *credentials, const struct tg_error *why)
{
    const struct tg_kube_exec *exec = credentials->exec;

    credentials->error = *why;
    tg_error_wrap(&credentials->error, "asking %s for credentials", exec->argv[0]);
    /* Its NOT_FOUND must not look like an object's. */
    credentials->error.code = TG_UNAUTHENTICATED;
    credentials->error.retry = true;
    if (exec->install_hint != NULL && why->code == TG_NOT_FOUND) {
        size_t n = strlen(credentials->error.message);
        snprintf(credentials->error.message + n, sizeof(credentials->error.message) - n, " (%s)",
                 exec->install_hint);
    }
    credentials->retry_at =
        tg_now_monotonic(credentials->clock) + tg_backoff_next(&credentials->backoff);
}

static void on_program_done(void *data, const char *output, size_t n, const struct tg_error *err)
{
    struct tg_kube_credentials *credentials = data;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(4 * MAX_CREDENTIAL);
    struct exec_status status = {0};
    struct tg_error error = *err;

    credentials->child = NULL;
    if (error.code == TG_OK)
        (void)read_credential(credentials, output, n, arena, &status, &credentials->expires,
                              &error);
    credentials->valid = error.code == TG_OK;
    if (credentials->valid) {
        tg_backoff_reset(&credentials->backoff);
        set_token(credentials, status.token);
        TG_V(4, "Got credentials", TG_S("command", credentials->exec->argv[0]),
             TG_S("expires", status.expires));
    } else {
        fail(credentials, &error);
    }
    credentials->ready(credentials->data, status.certificate, status.key);
}

static bool is_expired(const struct tg_kube_credentials *credentials)
{
    return credentials->expires != 0 &&
           tg_now_wall(credentials->clock) + early >= credentials->expires;
}

static int ask_program(struct tg_kube_credentials *credentials, const char **ret,
                       struct tg_error *err)
{
    const struct tg_child_config config = {.argv = credentials->exec->argv,
                                           .env = credentials->exec->env,
                                           .timeout = exec_timeout,
                                           .max_output = MAX_CREDENTIAL,
                                           .done = on_program_done,
                                           .data = credentials};
    struct tg_error error = TG_ERROR_INIT;

    if (credentials->child != NULL)
        return TG_REST_WAIT;
    if (credentials->valid && !is_expired(credentials)) {
        *ret = credentials->token;
        return 0;
    }
    credentials->valid = false;
    if (tg_now_monotonic(credentials->clock) >= credentials->retry_at) {
        if (tg_child_start(credentials->loop, &config, &credentials->child, &error) == 0)
            return TG_REST_WAIT;
        fail(credentials, &error);
    }
    *err = credentials->error;
    return -(int)err->code;
}

/* --- all --- */

static const char **copy_strings(const char *const *strings, struct tg_arena *arena)
{
    size_t n = 0;
    const char **copy;

    while (strings[n] != NULL)
        n++;
    copy = tg_arena_alloc_array(arena, n + 1, sizeof(*copy));
    for (size_t i = 0; copy != NULL && i < n; i++)
        copy[i] = tg_arena_strdup(arena, strings[i]);
    return copy;
}

/* What was loaded under a budget is ours to copy without one. */
static void copy_exec(struct tg_kube_credentials *credentials, const struct tg_kube_exec *exec)
{
    struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_kube_exec *copy = tg_arena_alloc(arena, sizeof(*copy));

    if (copy == NULL)
        abort(); /* as tg_xmalloc */
    copy->api_version = tg_arena_strdup(arena, exec->api_version);
    copy->argv = copy_strings(exec->argv, arena);
    copy->env = copy_strings(exec->env, arena);
    if (exec->install_hint != NULL)
        copy->install_hint = tg_arena_strdup(arena, exec->install_hint);
    if (tg_arena_exhausted(arena))
        abort();
    credentials->arena = arena;
    credentials->exec = copy;
}

struct tg_kube_credentials *tg_kube_credentials_new(
    struct tg_loop *loop, const struct tg_clock *clock, const struct tg_kube_config *config,
    void (*ready)(void *data, const char *certificate, const char *key), void *data)
{
    struct tg_kube_credentials *credentials = tg_xcalloc(1, sizeof(*credentials));

    credentials->loop = loop;
    credentials->clock = clock;
    credentials->ready = ready;
    credentials->data = data;
    credentials->file_error = TG_ERROR_INIT;
    credentials->error = TG_ERROR_INIT;
    credentials->backoff = (struct tg_backoff){.first = TG_SECOND, .most = 15 * TG_SECOND};
    if (config->token_file != NULL)
        credentials->file = tg_xstrdup(config->token_file);
    else if (config->token != NULL)
        credentials->token = tg_xstrdup(config->token);
    else if (config->exec != NULL)
        copy_exec(credentials, config->exec);
    return credentials;
}

void tg_kube_credentials_free(struct tg_kube_credentials *credentials)
{
    if (credentials == NULL)
        return;
    tg_child_stop(credentials->child);
    tg_arena_free(credentials->arena);
    free(credentials->file);
    free(credentials->token);
    free(credentials);
}

int tg_kube_credentials_token(void *data, const char **ret, struct tg_error *err)
{
    struct tg_kube_credentials *credentials = data;

    if (credentials->exec != NULL)
        return ask_program(credentials, ret, err);
    if (credentials->file != NULL)
        read_token(credentials);
    *ret = credentials->token;
    return 0;
}

unsigned tg_kube_credentials_generation(const struct tg_kube_credentials *credentials)
{
    return credentials->generation;
}

bool tg_kube_credentials_refused(struct tg_kube_credentials *credentials, unsigned generation)
{
    if (credentials->file == NULL && credentials->exec == NULL)
        return false;
    if (generation == credentials->generation) {
        credentials->file_read = false;
        credentials->valid = false;
    }
    return true;
}

const char *tg_kube_credentials_problem(const struct tg_kube_credentials *credentials)
{
    return credentials->file_error.code == TG_OK ? NULL : credentials->file_error.message;
}
