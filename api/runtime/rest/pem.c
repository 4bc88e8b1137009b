/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates and keys. They are given to curl as text and never as files: curl shares a
 * connection only between requests whose texts are equal, so a rotated file means a new connection,
 * while what runs on the old one goes on.
 */
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/rest/internal.h"

enum { MAX_PEM = 4 << 20 }; /* the bundle of a whole distribution is a quarter of a MiB */

static const struct {
    const char *what;
    size_t file, data; /* offsets in struct tg_rest_tls */
    CURLoption option;
} parts[] = {
    {"certificate authority", offsetof(struct tg_rest_tls, ca_file),
     offsetof(struct tg_rest_tls, ca_data), CURLOPT_CAINFO_BLOB},
    {"client certificate", offsetof(struct tg_rest_tls, cert_file),
     offsetof(struct tg_rest_tls, cert_data), CURLOPT_SSLCERT_BLOB},
    {"client key", offsetof(struct tg_rest_tls, key_file), offsetof(struct tg_rest_tls, key_data),
     CURLOPT_SSLKEY_BLOB},
};

static const char *string_at(const struct tg_rest_tls *tls, size_t offset)
{
    return *(const char *const *)(const void *)((const char *)tls + offset);
}

void tg_rest_pem_unref(struct rest_pem *pem)
{
    if (pem == NULL || --pem->references > 0)
        return;
    for (size_t i = 0; i < TG_ARRAY_SIZE(pem->text); i++)
        free(pem->text[i]);
    free(pem);
}

/* True if the file is another one than was read; a file that is gone is as it was. */
static bool is_changed(const char *path, struct rest_file_state *state)
{
    struct stat now;

    if (stat(path, &now) != 0)
        return false;
    if (state->device == now.st_dev && state->inode == now.st_ino && state->size == now.st_size &&
        state->changed.tv_sec == now.st_mtim.tv_sec &&
        state->changed.tv_nsec == now.st_mtim.tv_nsec)
        return false;
    *state = (struct rest_file_state){now.st_dev, now.st_ino, now.st_size, now.st_mtim};
    return true;
}

static bool any_changed(struct tg_rest *rest)
{
    bool changed = false;

    for (size_t i = 0; i < TG_ARRAY_SIZE(parts); i++) {
        const char *file = string_at(&rest->tls, parts[i].file);
        if (file != NULL && is_changed(file, &rest->files[i]))
            changed = true;
    }
    return changed;
}

static char *read_part(const struct tg_rest_tls *tls, size_t i, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(MAX_PEM);
    const char *data = string_at(tls, parts[i].data);
    const char *file = string_at(tls, parts[i].file);

    if (data != NULL)
        return tg_xstrdup(data);
    if (file == NULL)
        return NULL;
    if (tg_file_read(file, &text, err) != 0) {
        tg_error_wrap(err, "the %s", parts[i].what);
        /* Not the code of the file: no caller may take it for an answer of the server. */
        err->code = TG_FAILED_PRECONDITION;
        return NULL;
    }
    return tg_buf_take(&text);
}

int tg_rest_pem_get(struct tg_rest *rest, struct rest_pem **ret, struct tg_error *err)
{
    struct tg_error problem = TG_ERROR_INIT;

    if (any_changed(rest) || rest->pem == NULL) {
        struct rest_pem *pem = tg_xcalloc(1, sizeof(*pem));

        pem->references = 1;
        for (size_t i = 0; i < TG_ARRAY_SIZE(parts) && problem.code == TG_OK; i++)
            pem->text[i] = read_part(&rest->tls, i, &problem);
        if (problem.code != TG_OK) {
            tg_rest_pem_unref(pem);
            memset(rest->files, 0, sizeof(rest->files)); /* looked at again by the next request */
        } else {
            tg_rest_pem_unref(rest->pem);
            rest->pem = pem;
        }
    }
    if (rest->pem == NULL) {
        *err = problem;
        return -(int)problem.code;
    }
    rest->pem->references++;
    *ret = rest->pem;
    return 0;
}

CURLcode tg_rest_pem_apply(const struct rest_pem *pem, CURL *easy)
{
    CURLcode rc = CURLE_OK;

    for (size_t i = 0; i < TG_ARRAY_SIZE(parts) && rc == CURLE_OK; i++) {
        struct curl_blob blob = {.data = pem->text[i], .flags = CURL_BLOB_NOCOPY};

        if (pem->text[i] == NULL)
            continue;
        blob.len = strlen(pem->text[i]);
        rc = curl_easy_setopt(easy, parts[i].option, &blob);
    }
    return rc;
}

static void replace(const char **to, const char *value)
{
    free((void *)(uintptr_t)*to);
    *to = value == NULL ? NULL : tg_xstrdup(value);
}

void tg_rest_set_certificate(struct tg_rest *rest, const char *certificate, const char *key)
{
    if (tg_streq(rest->tls.cert_data, certificate) && tg_streq(rest->tls.key_data, key))
        return;
    replace(&rest->tls.cert_data, certificate);
    replace(&rest->tls.key_data, key);
    tg_rest_pem_unref(rest->pem);
    rest->pem = NULL;
}
