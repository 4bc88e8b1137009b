/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/documents.h"

#include <errno.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/yaml/yaml.h"

#define DOCUMENTS_MAX ((size_t)100000)
#define PART_MAX ((size_t)64 << 20)

void tg_documents_init(struct tg_documents *documents, struct tg_arena *arena)
{
    *documents = (struct tg_documents){.arena = arena};
}

void tg_documents_done(struct tg_documents *documents)
{
    TG_VEC_DONE(&documents->items);
}

const struct tg_json *tg_json_at(const struct tg_json *root, ...)
{
    const char *key;
    va_list args;

    va_start(args, root);
    while (root != NULL && (key = va_arg(args, const char *)) != NULL)
        root = tg_json_get(root, key);
    va_end(args);
    return root;
}

/* --- one document ---------------------------------------------------------------------------- */

static const char *group_of(struct tg_arena *arena, const char *api_version)
{
    const char *slash = strchr(api_version, '/');

    return slash == NULL ? "" : tg_arena_strndup(arena, api_version, (size_t)(slash - api_version));
}

static void add_document(struct tg_documents *documents, const char *file,
                         const struct tg_json *root, struct tg_problems *problems);

static void add_items(struct tg_documents *documents, const char *file, const struct tg_json *items,
                      struct tg_problems *problems)
{
    for (size_t i = 0; items != NULL && items->kind == TG_JSON_ARRAY && i < items->n; i++)
        add_document(documents, file, items->items[i], problems);
}

static void add_document(struct tg_documents *documents, const char *file,
                         const struct tg_json *root, struct tg_problems *problems)
{
    const char *api_version = tg_json_string(tg_json_get(root, "apiVersion"));
    const char *kind = tg_json_string(tg_json_get(root, "kind"));
    struct tg_document *document;

    if (root->kind != TG_JSON_OBJECT || tg_or(api_version, "")[0] == '\0' ||
        tg_or(kind, "")[0] == '\0') {
        tg_problems_add(problems, file, root, "",
                        "this is no Kubernetes object: it needs apiVersion and kind");
        return;
    }
    if (tg_streq(api_version, "v1") && tg_has_suffix(kind, "List")) {
        add_items(documents, file, tg_json_get(root, "items"), problems);
        return;
    }
    if (documents->items.n == DOCUMENTS_MAX) {
        tg_problems_add(problems, file, root, "", "more than %zu objects", DOCUMENTS_MAX);
        return;
    }
    document = TG_VEC_PUSH(&documents->items);
    *document = (struct tg_document){
        .file = file,
        .root = root,
        .api_version = api_version,
        .kind = kind,
        .group = tg_or(group_of(documents->arena, api_version), ""),
        .namespace_ =
            tg_or(tg_json_string(tg_json_at(root, "metadata", "namespace", NULL)), "default"),
        .name = tg_or(tg_json_string(tg_json_at(root, "metadata", "name", NULL)), "")};
}

/* --- files ----------------------------------------------------------------------------------- */

/* "line 3, column 7: text" of the YAML reader, as a place. */
static void add_syntax(struct tg_problems *problems, const char *file, const struct tg_error *err)
{
    struct tg_json at = {.kind = TG_JSON_NULL};
    int used = 0;

    if (sscanf(err->message, "line %d, column %d: %n", &at.line, &at.column, &used) < 2)
        used = 0;
    tg_problems_add(problems, file, used > 0 ? &at : NULL, "", "%s", err->message + used);
}

void tg_documents_parse(struct tg_documents *documents, const char *file, const char *data,
                        size_t n, struct tg_problems *problems)
{
    struct tg_error err = TG_ERROR_INIT;
    struct tg_json **roots = NULL, *json = NULL;
    size_t count = 0;

    if (tg_yaml_parse_all(data, n, DOCUMENTS_MAX, documents->arena, &roots, &count, &err) < 0) {
        /* Not all that is JSON is YAML to libyaml. */
        if (data[strspn(data, " \t\r\n")] != '{' ||
            tg_json_parse(data, n, documents->arena, &json, NULL) < 0) {
            add_syntax(problems, file, &err);
            return;
        }
        add_document(documents, file, json, problems);
        return;
    }
    for (size_t i = 0; i < count; i++)
        add_document(documents, file, roots[i], problems);
    if (count == 0)
        tg_problems_add(problems, file, NULL, "", "the file is empty");
}

static int read_stdin(struct tg_buf *buf, struct tg_error *err)
{
    char chunk[65536];
    ssize_t n;

    while ((n = read(STDIN_FILENO, chunk, sizeof(chunk))) > 0)
        if (tg_buf_append(buf, chunk, (size_t)n) < 0)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "more than %zu MiB",
                                TG_CLI_FILE_MAX >> 20);
    return n < 0 ? tg_error_errno(err, errno, "cannot be read") : 0;
}

void tg_documents_read(struct tg_documents *documents, const char *file,
                       struct tg_problems *problems)
{
    bool from_stdin = tg_streq(file, "-");
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(TG_CLI_FILE_MAX);
    struct tg_error err = TG_ERROR_INIT;
    const char *name = from_stdin ? "<stdin>" : file;
    int r = from_stdin ? read_stdin(&buf, &err) : tg_file_read(file, &buf, &err);

    if (r < 0) {
        tg_problems_add(problems, name, NULL, "", "%s", err.message);
        return;
    }
    tg_documents_parse(documents, name, tg_buf_str(&buf), buf.len, problems);
}

void *tg_document_decode(const struct tg_document *document, const struct tg_json *part,
                         const char *path, const struct tg_type *type, struct tg_arena *arena,
                         struct tg_problems *problems)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(PART_MAX);
    struct tg_error err = TG_ERROR_INIT;
    void *object = NULL;

    if (tg_json_write(part, &text) < 0) {
        tg_problems_add(problems, document->file, part, path, "is too large");
        return NULL;
    }
    if (tg_json_decode_new(type, tg_buf_str(&text), text.len, arena, &object, &err) < 0) {
        tg_problems_locate(problems, document->file, document->root, path, err.message);
        return NULL;
    }
    return object;
}
