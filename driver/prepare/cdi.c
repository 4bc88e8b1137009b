/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/prepare/cdi.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/encode.h"
#include "driver/prepare/cdi_edits.h"

#define CDI_VERSION "0.6.0"
#define ANNOTATION "tangram.dev/claim"
#define SUFFIX ".json"
#define DOCUMENT_MODE 0644
#define NAME_BYTES_MAX 512  /* four names of at most 63 bytes each */
#define DOCUMENTS_MAX 65536 /* of ours in the folder; a node has far fewer claims */

/* A vendor must begin with a letter, a driver name need not. */
static char *file_prefix(const struct tg_cdi *cdi)
{
    return tg_xasprintf("k8s.%s-claim_", cdi->driver);
}

static char *path_of(const struct tg_cdi *cdi, const char *uid)
{
    return tg_xasprintf("%s/k8s.%s-claim_%s" SUFFIX, cdi->folder, cdi->driver, uid);
}

/* Labels have no "_": no two results have the same name. */
static int format_name(const char *uid, const struct tg_claim_device *device, struct tg_buf *out)
{
    (void)tg_buf_printf(out, "%s_%s_%s", uid, device->request, device->device);
    if (device->share_id != NULL)
        (void)tg_buf_printf(out, "_%s", device->share_id);
    return out->failed ? -1 : 0;
}

const char *tg_cdi_id(const struct tg_cdi *cdi, const char *uid,
                      const struct tg_claim_device *device, struct tg_arena *arena)
{
    TG_AUTOBUF struct tg_buf name = TG_BUF_INIT(NAME_BYTES_MAX);
    if (format_name(uid, device, &name) != 0)
        return NULL;
    return tg_arena_printf(arena, "k8s.%s/claim=%s", cdi->driver, tg_buf_str(&name));
}

/* ---- writing ---- */

static const struct tg_provider_device *find_device(const struct tg_device_set *set,
                                                    const struct tg_claim_device *wanted,
                                                    struct tg_error *err)
{
    const struct tg_provider_device *device = tg_device_set_find(set, wanted->device);
    if (device == NULL) {
        (void)tg_error_set(err, TG_NOT_FOUND, "device %s of request %s is not on this node",
                           wanted->device, wanted->request);
        if (err != NULL)
            err->retry = true;
    }
    return device;
}

static void add_joined(struct tg_buf *list, const char *value)
{
    (void)tg_buf_append_char(list, list->len == 0 ? '=' : ',');
    (void)tg_buf_append_str(list, value);
}

/* A partition that was made for the claim has one of its own. */
static const char *uuid_of(const struct tg_claim_device *one,
                           const struct tg_provider_device *device)
{
    const char *own = one->partition == NULL ? NULL : one->partition->uuid;
    return tg_or(own, tg_or(device->uuid, ""));
}

/* "NAME=a,b": names or UUIDs of the devices of a request, each device once, in the order of the
 * results. */
static int write_list(struct tg_json_writer *w, const char *name, bool uuids,
                      const struct tg_claim_record *claim, const char *request,
                      const struct tg_device_set *set, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf list = TG_BUF_INIT(TG_CDI_BYTES_MAX);
    TG_AUTOBUF struct tg_buf line = TG_BUF_INIT(TG_CDI_BYTES_MAX);
    const struct tg_provider_device *listed[TG_RESULTS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < claim->devices.n; i++) {
        const struct tg_claim_device *one = &claim->devices.items[i];
        if (!tg_streq(one->request, request))
            continue;
        const struct tg_provider_device *device = find_device(set, one, err);
        if (device == NULL)
            return -TG_NOT_FOUND;
        size_t before = 0;
        while (before < n && listed[before] != device)
            before++;
        if (before < n)
            continue; /* another share of it */
        listed[n++] = device;
        add_joined(&list, uuids ? uuid_of(one, device) : device->device.name);
    }
    (void)tg_buf_printf(&line, "%s%s", name, tg_buf_str(&list));
    tg_jw_string(w, tg_buf_str(&line));
    return 0;
}

/* What the provider wants for the device; without one that has wishes, its variables. */
static int find_edits(const struct tg_cdi *cdi, const struct tg_claim_device *one,
                      const struct tg_provider_device *device, struct tg_arena *arena,
                      struct tg_edits *ret, struct tg_error *err)
{
    const struct tg_claim_partition *partition = one->partition;
    struct tg_instance instance = {0};
    if (partition != NULL)
        instance = (struct tg_instance){.gi = (unsigned)partition->gi.value,
                                        .ci = (unsigned)partition->ci.value,
                                        .uuid = tg_or(partition->uuid, "")};
    if (cdi->provider == NULL || cdi->provider->ops->edit == NULL) {
        ret->env.items = device->env.items;
        ret->env.n = device->env.n;
        return 0;
    }
    return cdi->provider->ops->edit(cdi->provider, device, partition == NULL ? NULL : &instance,
                                    arena, ret, err);
}

static int write_env(struct tg_json_writer *w, const struct tg_claim_record *claim,
                     const struct tg_claim_device *one, const struct tg_edits *edits,
                     const struct tg_device_set *set, struct tg_error *err)
{
    tg_jw_key(w, "env");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < edits->env.n; i++)
        tg_jw_string(w, edits->env.items[i]);
    int rc = write_list(w, "TANGRAM_DEVICES", false, claim, one->request, set, err);
    if (rc == 0)
        rc = write_list(w, "TANGRAM_DEVICE_UUIDS", true, claim, one->request, set, err);
    tg_jw_end_array(w);
    return rc;
}

static int write_device(struct tg_json_writer *w, const struct tg_cdi *cdi,
                        const struct tg_claim_record *claim, const struct tg_claim_device *one,
                        const struct tg_device_set *set, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_CDI_BYTES_MAX);
    TG_AUTOBUF struct tg_buf name = TG_BUF_INIT(NAME_BYTES_MAX);
    const struct tg_provider_device *device = find_device(set, one, err);
    struct tg_edits edits = {0};
    if (device == NULL)
        return -TG_NOT_FOUND;
    int rc = find_edits(cdi, one, device, arena, &edits, err);
    if (rc < 0)
        return err == NULL ? rc : tg_error_wrap(err, "device %s", one->device);
    (void)format_name(claim->uid, one, &name);
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "name", tg_buf_str(&name));
    tg_jw_key(w, "containerEdits");
    tg_jw_begin_object(w);
    rc = write_env(w, claim, one, &edits, set, err);
    tg_cdi_edits_write(w, &edits);
    tg_jw_end_object(w);
    tg_jw_end_object(w);
    return rc;
}

static int write_devices(struct tg_json_writer *w, const struct tg_cdi *cdi,
                         const struct tg_claim_record *claim, const struct tg_device_set *set,
                         struct tg_error *err)
{
    int rc = 0;
    tg_jw_key(w, "devices");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < claim->devices.n && rc == 0; i++)
        rc = write_device(w, cdi, claim, &claim->devices.items[i], set, err);
    tg_jw_end_array(w);
    return rc;
}

/* Once for all devices of the document. */
static int write_common(struct tg_json_writer *w, const struct tg_cdi *cdi, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_CDI_BYTES_MAX);
    struct tg_edits edits = {0};
    if (cdi->provider == NULL || cdi->provider->ops->edit_common == NULL)
        return 0;
    int rc = cdi->provider->ops->edit_common(cdi->provider, arena, &edits, err);
    if (rc < 0 || tg_cdi_edits_empty(&edits))
        return rc;
    tg_jw_key(w, "containerEdits");
    tg_jw_begin_object(w);
    tg_jw_key(w, "env");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < edits.env.n; i++)
        tg_jw_string(w, edits.env.items[i]);
    tg_jw_end_array(w);
    tg_cdi_edits_write(w, &edits);
    tg_jw_end_object(w);
    return 0;
}

int tg_cdi_render(const struct tg_cdi *cdi, const struct tg_claim_record *claim,
                  const struct tg_device_set *set, struct tg_buf *out, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf record = TG_BUF_INIT(TG_CDI_BYTES_MAX);
    TG_AUTOFREE char *kind = tg_xasprintf("k8s.%s/claim", cdi->driver);
    struct tg_json_writer w;
    int rc = tg_json_encode(&tg_claim_record_type, claim, &record, err);
    if (rc < 0)
        return rc;
    tg_json_writer_init(&w, out);
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "cdiVersion", CDI_VERSION);
    tg_jw_kv_string(&w, "kind", kind);
    tg_jw_key(&w, "annotations");
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, ANNOTATION, tg_buf_str(&record));
    tg_jw_end_object(&w);
    rc = write_devices(&w, cdi, claim, set, err);
    if (rc == 0)
        rc = write_common(&w, cdi, err);
    tg_jw_end_object(&w);
    return rc < 0 ? rc : tg_jw_finish(&w, err);
}

static bool has_content(const char *path, const struct tg_buf *wanted)
{
    TG_AUTOBUF struct tg_buf found = TG_BUF_INIT(TG_CDI_BYTES_MAX);
    return tg_file_read(path, &found, NULL) == 0 && found.len == wanted->len &&
           memcmp(tg_buf_str(&found), tg_buf_str(wanted), wanted->len) == 0;
}

int tg_cdi_write(const struct tg_cdi *cdi, const struct tg_claim_record *claim,
                 const struct tg_device_set *set, bool *written, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf document = TG_BUF_INIT(TG_CDI_BYTES_MAX);
    TG_AUTOFREE char *path = path_of(cdi, claim->uid);
    *written = false;
    int rc = tg_prepare_crash_check(cdi->crash, err);
    if (rc == 0)
        rc = tg_cdi_render(cdi, claim, set, &document, err);
    if (rc < 0 || has_content(path, &document))
        return rc;
    rc = tg_file_write_atomic(path, document.data, document.len, DOCUMENT_MODE, err);
    if (rc < 0)
        return rc;
    *written = true;
    return tg_prepare_crash_step(cdi->crash, err);
}

static int remove_path(const struct tg_cdi *cdi, const char *path, struct tg_error *err)
{
    int rc = tg_prepare_crash_check(cdi->crash, err);
    if (rc == 0)
        rc = tg_file_remove(path, err);
    return rc < 0 ? rc : tg_prepare_crash_step(cdi->crash, err);
}

int tg_cdi_remove(const struct tg_cdi *cdi, const char *uid, struct tg_error *err)
{
    TG_AUTOFREE char *path = path_of(cdi, uid);
    return remove_path(cdi, path, err);
}

/* ---- reading ---- */

struct document {
    const char *kind;
    TG_LIST_OF(struct tg_string_pair) annotations;
};
static const struct tg_field document_fields[] = {
    TG_FIELD_STR(struct document, kind, "kind"),
    TG_FIELD_STR_MAP(struct document, annotations, "annotations"),
};
static const struct tg_type document_type = TG_TYPE(struct document, document_fields);

static const char *annotation_of(const struct document *document)
{
    for (size_t i = 0; i < document->annotations.n; i++) {
        if (tg_streq(document->annotations.items[i].key, ANNOTATION))
            return document->annotations.items[i].value;
    }
    return NULL;
}

/* The record in a document, which must be that of the claim `uid`. */
static int parse_record(const struct tg_buf *content, const char *uid, struct tg_arena *arena,
                        struct tg_claim_record *ret)
{
    struct document document = {0};
    int rc =
        tg_json_decode(&document_type, tg_buf_str(content), content->len, &document, arena, NULL);
    if (rc < 0)
        return rc;
    const char *text = annotation_of(&document);
    if (text == NULL)
        return -TG_DATA_LOSS;
    rc = tg_json_decode(&tg_claim_record_type, text, strlen(text), ret, arena, NULL);
    if (rc == 0)
        rc = tg_claim_record_validate(ret, NULL);
    return rc == 0 && !tg_streq(ret->uid, uid) ? -TG_DATA_LOSS : rc;
}

struct scan {
    const struct tg_cdi *cdi;
    const char *prefix;
    tg_cdi_found found;
    void *data;
};

static int visit(const struct scan *scan, const char *file, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(4 * TG_CDI_BYTES_MAX);
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(TG_CDI_BYTES_MAX);
    TG_AUTOFREE char *path = tg_xasprintf("%s/%s", scan->cdi->folder, file);
    size_t prefix = strlen(scan->prefix);
    TG_AUTOFREE char *uid =
        tg_xstrndup(file + prefix, strlen(file) - prefix - (sizeof(SUFFIX) - 1));
    struct tg_claim_record record = {0};
    /* A disk that cannot be read says nothing about the document; one that is too long is not ours.
     */
    int rc = tg_file_read(path, &content, err);
    if (rc < 0 && !content.failed)
        return rc;
    bool readable = rc == 0 && parse_record(&content, uid, arena, &record) == 0;
    return scan->found(scan->data, uid, readable ? &record : NULL, err);
}

/* Documents of ours, and what an interrupted write of one left behind (file.h:
 * ".<name>.tmp-XXXXXX"). */
static bool is_document(const struct scan *scan, const char *file)
{
    return tg_has_prefix(file, scan->prefix) && tg_has_suffix(file, SUFFIX) &&
           strlen(file) >= strlen(scan->prefix) + sizeof(SUFFIX) - 1;
}

static bool is_leftover(const struct scan *scan, const char *file)
{
    return file[0] == '.' && tg_has_prefix(file + 1, scan->prefix) &&
           strstr(file, SUFFIX ".tmp-") != NULL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct names {
    char **items;
    size_t n, capacity;
};

static void names_done(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->items[i]);
    free(names->items);
}

static void names_add(struct names *names, const char *name)
{
    if (names->n == names->capacity) {
        names->capacity = names->capacity == 0 ? 16 : 2 * names->capacity;
        names->items = tg_xreallocarray(names->items, names->capacity, sizeof(*names->items));
    }
    names->items[names->n++] = tg_xstrdup(name);
}

static int read_names(const struct scan *scan, DIR *folder, struct names *ret, struct tg_error *err)
{
    for (;;) {
        /* The end is told apart from a failure by errno only; a claim that is overlooked here may
         * be one that nothing else tells of. */
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (entry == NULL && errno != 0)
            return tg_error_errno(err, errno, "cannot list %s", scan->cdi->folder);
        if (entry == NULL)
            return 0;
        if (!is_document(scan, entry->d_name) && !is_leftover(scan, entry->d_name))
            continue;
        if (ret->n == DOCUMENTS_MAX)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s: more than %d documents of ours",
                                scan->cdi->folder, DOCUMENTS_MAX);
        names_add(ret, entry->d_name);
    }
}

/* All names of ours first: the folder changes while they are visited. */
static int list_names(const struct scan *scan, struct names *ret, struct tg_error *err)
{
    DIR *folder = opendir(scan->cdi->folder);
    if (folder == NULL)
        return tg_error_errno(err, errno, "cannot list %s", scan->cdi->folder);
    int rc = read_names(scan, folder, ret, err);
    closedir(folder);
    if (rc == 0 && ret->n > 0)
        qsort(ret->items, ret->n, sizeof(*ret->items), compare_names);
    return rc;
}

static int remove_leftover(const struct tg_cdi *cdi, const char *file, struct tg_error *err)
{
    TG_AUTOFREE char *path = tg_xasprintf("%s/%s", cdi->folder, file);
    return remove_path(cdi, path, err);
}

int tg_cdi_scan(const struct tg_cdi *cdi, tg_cdi_found found, void *data, struct tg_error *err)
{
    TG_CLEANUP(names_done) struct names names = {0};
    TG_AUTOFREE char *prefix = file_prefix(cdi);
    struct scan scan = {.cdi = cdi, .prefix = prefix, .found = found, .data = data};
    int rc = list_names(&scan, &names, err);
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        if (is_leftover(&scan, names.items[i]))
            rc = remove_leftover(cdi, names.items[i], err);
        else
            rc = visit(&scan, names.items[i], err);
    }
    return rc;
}
