/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/dropins.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/base/vec.h"
#include "api/runtime/yaml/yaml.h"
#include "driver/provider/document.h"

#define KIND "DeviceAttributes"
#define RULES_MAX 256
#define ARENA_BYTES (16 * TG_DROPINS_BYTES_MAX)
#define ADDED_MAX 32 /* a device has no more in all */

enum { NODE, DEVICE, UUID, BUS_ID, PRODUCT, MATCHES };
static const char *const match_names[MATCHES] = {
    [NODE] = "node",       [DEVICE] = "device",       [UUID] = "uuid",
    [BUS_ID] = "pciBusID", [PRODUCT] = "productName",
};

struct rule {
    int line;
    bool matched; /* it says what it is for */
    const char *match[MATCHES];
    struct tg_document_attributes attributes;
};

struct tg_dropin {
    const char *file;
    TG_LIST_OF(struct rule) rules;
};

/* ---- reading a document ---- */

static int decode_match(struct tg_document_place *at, const struct tg_json *value, void *target,
                        struct tg_error *err)
{
    struct tg_document_place inside = *at;
    struct rule *rule = target;
    snprintf(inside.path, sizeof(inside.path), "%.100s.match", at->path);
    rule->matched = true;
    if (value->kind != TG_JSON_OBJECT)
        return tg_document_fail(at, value, "match", "expected what has to fit, or {} for all", err);
    for (size_t i = 0; i < value->n; i++) {
        size_t m = 0;
        while (m < MATCHES && !tg_streq(match_names[m], value->keys[i]))
            m++;
        if (m == MATCHES)
            return tg_document_fail(
                &inside, value->items[i], value->keys[i],
                "unknown field; known here: node, device, uuid, pciBusID, productName", err);
        int rc = tg_document_string(&inside, value->items[i], value->keys[i], &rule->match[m], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int decode_attributes(struct tg_document_place *at, const struct tg_json *value,
                             void *target, struct tg_error *err)
{
    static const char *const identity[] = {"uuid", "parentUUID", NULL};
    struct rule *rule = target;
    return tg_document_read_attributes(at, value, identity, "is what a device is known by",
                                       &rule->attributes, err);
}

static const struct tg_document_field rule_fields[] = {
    {"match", true, decode_match},
    {"attributes", true, decode_attributes},
};

static int decode_rules(struct tg_document_place *at, const struct tg_json *value, void *target,
                        struct tg_error *err)
{
    struct tg_dropin *dropin = target;
    if (value->kind != TG_JSON_ARRAY || value->n > RULES_MAX)
        return tg_document_fail(at, value, "rules", "expected a list of at most 256 rules", err);
    dropin->rules.items = tg_arena_alloc_array(at->arena, value->n, sizeof(*dropin->rules.items));
    if (dropin->rules.items == NULL)
        return tg_document_exhausted(at, err);
    for (size_t i = 0; i < value->n; i++) {
        struct rule *rule = &dropin->rules.items[dropin->rules.n++];
        struct tg_document_place inside = *at;
        snprintf(inside.path, sizeof(inside.path), "rules[%zu]", i);
        rule->line = value->items[i]->line;
        int rc = tg_document_object(&inside, value->items[i], rule_fields,
                                    TG_ARRAY_SIZE(rule_fields), rule, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int decode_kind(struct tg_document_place *at, const struct tg_json *value, void *target,
                       struct tg_error *err)
{
    (void)target;
    return tg_document_kind(at, value, KIND, err);
}

static const struct tg_document_field document_fields[] = {
    {"apiVersion", true, tg_document_api_version},
    {"kind", true, decode_kind},
    {"rules", true, decode_rules},
};

int tg_dropin_decode(const char *file, const char *data, size_t n, struct tg_arena *arena,
                     const struct tg_dropin **ret, struct tg_error *err)
{
    struct tg_document_place at = {.file = file, .arena = arena};
    struct tg_dropin *dropin = tg_arena_alloc(arena, sizeof(*dropin));
    struct tg_json *document = NULL;
    if (dropin == NULL)
        return tg_document_exhausted(&at, err);
    *dropin = (struct tg_dropin){.file = tg_arena_strdup(arena, file)};
    int rc = tg_yaml_parse(data, n, arena, &document, err);
    if (rc < 0)
        return err == NULL ? rc : tg_error_wrap(err, "%s", file);
    rc = tg_document_object(&at, document, document_fields, TG_ARRAY_SIZE(document_fields), dropin,
                            err);
    if (rc == 0 && dropin->file == NULL)
        rc = tg_document_exhausted(&at, err);
    *ret = dropin;
    return rc;
}

/* ---- which devices ---- */

static const char *text_of(const struct tg_device *device, const char *key)
{
    for (size_t i = 0; i < device->attributes.n; i++) {
        if (tg_streq(device->attributes.items[i].key, key))
            return device->attributes.items[i].value.string;
    }
    return NULL;
}

/* Of a device, and of the card that it is a part of. */
static bool fits(const struct rule *rule, const char *node_name, const struct tg_device *device)
{
    const char *const texts[MATCHES][2] = {
        [NODE] = {node_name, NULL},
        [DEVICE] = {device->name, NULL},
        [UUID] = {text_of(device, "uuid"), text_of(device, "parentUUID")},
        [BUS_ID] = {text_of(device, "resource.kubernetes.io/pciBusID"), NULL},
        [PRODUCT] = {text_of(device, "productName"), NULL},
    };
    for (size_t m = 0; m < MATCHES; m++) {
        const char *pattern = rule->match[m];
        if (pattern != NULL &&
            !tg_device_pattern_fits(pattern, strlen(pattern), tg_or(texts[m][0], "")) &&
            !tg_device_pattern_fits(pattern, strlen(pattern), tg_or(texts[m][1], "")))
            return false;
    }
    return true;
}

/* ---- what they get ---- */

struct additions {
    const char *node_name, *driver;
    struct tg_device_set *set;
    TG_VEC(char *) problems;
    /* of the device that is being dealt with */
    const struct tg_device *device;
    struct tg_keyed_attribute added[ADDED_MAX];
    size_t n;
};

static void additions_done(struct additions *a)
{
    for (size_t i = 0; i < a->problems.n; i++)
        free(a->problems.items[i]);
    TG_VEC_DONE(&a->problems);
}

/* Once for a rule and key, however many devices it meets. */
static void tell(struct additions *a, const struct tg_dropin *dropin, const struct rule *rule,
                 const char *key, const char *what)
{
    TG_AUTOFREE char *where =
        tg_xasprintf("%s:%d: attribute \"%.100s\"", dropin->file, rule->line, key);
    for (size_t i = 0; i < a->problems.n; i++) {
        if (tg_has_prefix(a->problems.items[i], where))
            return;
    }
    *TG_VEC_PUSH(&a->problems) = tg_xasprintf("%s %s (device %s)", where, what, a->device->name);
}

/* "DRIVER/name" is "name". */
static const char *own_key(const char *driver, const char *key)
{
    size_t n = strlen(driver);
    return n > 0 && strncmp(key, driver, n) == 0 && key[n] == '/' ? key + n + 1 : key;
}

static bool has(const struct tg_device *device, const char *key)
{
    size_t i = 0;
    while (i < device->attributes.n && !tg_streq(device->attributes.items[i].key, key))
        i++;
    return i < device->attributes.n;
}

static void add_one(struct additions *a, const struct tg_dropin *dropin, const struct rule *rule,
                    const struct tg_keyed_attribute *attribute)
{
    const char *key = own_key(a->driver, attribute->key);
    size_t taken = a->device->attributes.n + a->device->capacity.n;
    size_t at = 0;
    while (at < a->n && !tg_streq(a->added[at].key, key))
        at++;
    if (has(a->device, key)) {
        tell(a, dropin, rule, key, "is told by the driver, and stays as it is");
        return;
    }
    if (at == a->n && taken + a->n >= ADDED_MAX) {
        tell(a, dropin, rule, key, "is one too many: a device has 32 attributes and capacities");
        return;
    }
    a->added[at] = (struct tg_keyed_attribute){.key = key, .value = attribute->value};
    a->n += at == a->n;
}

static void add_dropin(struct additions *a, const struct tg_dropin *dropin)
{
    for (size_t r = 0; r < dropin->rules.n; r++) {
        const struct rule *rule = &dropin->rules.items[r];
        if (!fits(rule, a->node_name, a->device))
            continue;
        for (size_t i = 0; i < rule->attributes.list.n; i++)
            add_one(a, dropin, rule, &rule->attributes.list.items[i]);
    }
}

static const char *copied(struct tg_arena *arena, const char *s)
{
    return s == NULL ? NULL : tg_arena_strdup(arena, s);
}

static int compare_keys(const void *a, const void *b)
{
    return tg_strcmp(((const struct tg_keyed_attribute *)a)->key,
                     ((const struct tg_keyed_attribute *)b)->key);
}

static void put(struct additions *a, struct tg_device *device)
{
    struct tg_arena *arena = a->set->arena;
    size_t n = device->attributes.n;
    struct tg_keyed_attribute *items = tg_arena_alloc_array(arena, n + a->n, sizeof(*items));
    if (items == NULL || a->n == 0)
        return;
    if (n > 0)
        memcpy(items, device->attributes.items, n * sizeof(*items));
    for (size_t i = 0; i < a->n; i++) {
        items[n + i] = a->added[i];
        items[n + i].key = copied(arena, a->added[i].key);
        items[n + i].value.string = copied(arena, a->added[i].value.string);
        items[n + i].value.version = copied(arena, a->added[i].value.version);
    }
    qsort(items, n + a->n, sizeof(*items), compare_keys);
    device->attributes.items = items;
    device->attributes.n = n + a->n;
}

static int finish(struct additions *a, struct tg_error *err)
{
    struct tg_device_set *set = a->set;
    size_t n = set->problems.n;
    const char **problems = tg_arena_alloc_array(set->arena, n + a->problems.n, sizeof(*problems));
    if (problems != NULL && n > 0)
        memcpy(problems, set->problems.items, n * sizeof(*problems));
    for (size_t i = 0; problems != NULL && i < a->problems.n; i++)
        problems[n + i] = tg_arena_strdup(set->arena, a->problems.items[i]);
    if (tg_arena_exhausted(set->arena))
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the devices need too much memory");
    set->problems.items = problems;
    set->problems.n = n + a->problems.n;
    return 0;
}

int tg_dropin_add(const struct tg_dropin *dropin, const char *node_name, const char *driver,
                  struct tg_device_set *set, struct tg_error *err)
{
    TG_CLEANUP(additions_done)
    struct additions a = {.node_name = node_name, .driver = driver, .set = set};
    for (size_t i = 0; i < set->devices.n; i++) {
        a.n = 0;
        a.device = &set->devices.items[i].device;
        add_dropin(&a, dropin);
        put(&a, &set->devices.items[i].device);
    }
    return finish(&a, err);
}

/* ---- the folder ---- */

/* A file as it was last when it was understood, and what is wrong with it now. */
struct file {
    char *name;
    struct tg_arena *arena; /* of `dropin`, NULL: it never was */
    const struct tg_dropin *dropin;
    char *problem;
    bool seen;
};

struct tg_dropins {
    char *folder, *node_name, *driver;
    TG_VEC(struct file) files; /* by name */
    char *problem;             /* of the folder */
};

static void file_done(struct file *file)
{
    free(file->name);
    free(file->problem);
    tg_arena_free(file->arena);
}

struct tg_dropins *tg_dropins_new(const char *folder, const char *node_name, const char *driver)
{
    struct tg_dropins *dropins = tg_xcalloc(1, sizeof(*dropins));
    dropins->folder = tg_xstrdup(tg_or(folder, ""));
    dropins->node_name = tg_xstrdup(tg_or(node_name, ""));
    dropins->driver = tg_xstrdup(tg_or(driver, ""));
    return dropins;
}

void tg_dropins_free(struct tg_dropins *dropins)
{
    if (dropins == NULL)
        return;
    for (size_t i = 0; i < dropins->files.n; i++)
        file_done(&dropins->files.items[i]);
    TG_VEC_DONE(&dropins->files);
    free(dropins->folder);
    free(dropins->node_name);
    free(dropins->driver);
    free(dropins->problem);
    free(dropins);
}

static void read_file(const struct tg_dropins *dropins, struct file *file)
{
    TG_AUTOFREE char *path = tg_xasprintf("%s/%s", dropins->folder, file->name);
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(TG_DROPINS_BYTES_MAX);
    struct tg_arena *arena = tg_arena_new(ARENA_BYTES);
    const struct tg_dropin *dropin = NULL;
    struct tg_error why = TG_ERROR_INIT;
    int rc = tg_file_read(path, &content, &why);
    if (rc == 0)
        rc = tg_dropin_decode(path, tg_buf_str(&content), content.len, arena, &dropin, &why);
    free(TG_TAKE(file->problem));
    if (rc < 0) {
        file->problem = tg_xasprintf("%s%s", why.message,
                                     file->dropin == NULL ? "; the file is left out"
                                                          : "; what the file said before is used");
        tg_arena_free(arena);
        return;
    }
    tg_arena_free(file->arena);
    file->arena = arena;
    file->dropin = dropin;
}

static struct file *file_of(struct tg_dropins *dropins, const char *name)
{
    for (size_t i = 0; i < dropins->files.n; i++) {
        if (tg_streq(dropins->files.items[i].name, name))
            return &dropins->files.items[i];
    }
    struct file *file = TG_VEC_PUSH(&dropins->files);
    file->name = tg_xstrdup(name);
    return file;
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

/* Those that are gone are forgotten. */
static void forget(struct tg_dropins *dropins)
{
    size_t kept = 0;
    for (size_t i = 0; i < dropins->files.n; i++) {
        struct file *file = &dropins->files.items[i];
        if (file->seen)
            dropins->files.items[kept++] = *file;
        else
            file_done(file);
    }
    dropins->files.n = kept;
}

static bool is_dropin(const char *name)
{
    return name[0] != '.' && tg_has_suffix(name, ".yaml");
}

static void read_names(struct tg_dropins *dropins, DIR *folder)
{
    size_t n = 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (!is_dropin(entry->d_name))
            continue;
        if (n++ == TG_DROPINS_FILES_MAX) {
            dropins->problem = tg_xasprintf("%s: more than %d files: the rest is left out",
                                            dropins->folder, TG_DROPINS_FILES_MAX);
            return;
        }
        struct file *file = file_of(dropins, entry->d_name);
        file->seen = true;
        read_file(dropins, file);
    }
}

/* A folder that is not there has no files; of one that cannot be read they stay as they were. */
static void read_folder(struct tg_dropins *dropins)
{
    free(TG_TAKE(dropins->problem));
    if (dropins->folder[0] == '\0')
        return;
    DIR *folder = opendir(dropins->folder);
    if (folder == NULL && errno != ENOENT) {
        dropins->problem =
            tg_xasprintf("%s: cannot be read: %s", dropins->folder, strerrordesc_np(errno));
        return;
    }
    for (size_t i = 0; i < dropins->files.n; i++)
        dropins->files.items[i].seen = false;
    if (folder != NULL) {
        read_names(dropins, folder);
        closedir(folder);
    }
    forget(dropins);
    if (dropins->files.n > 1)
        qsort(dropins->files.items, dropins->files.n, sizeof(*dropins->files.items), compare_files);
}

static void tell_files(const struct tg_dropins *dropins, struct additions *a)
{
    if (dropins->problem != NULL)
        *TG_VEC_PUSH(&a->problems) = tg_xstrdup(dropins->problem);
    for (size_t i = 0; i < dropins->files.n; i++) {
        if (dropins->files.items[i].problem != NULL)
            *TG_VEC_PUSH(&a->problems) = tg_xstrdup(dropins->files.items[i].problem);
    }
}

int tg_dropins_apply(struct tg_dropins *dropins, struct tg_device_set *set, struct tg_error *err)
{
    TG_CLEANUP(additions_done)
    struct additions a = {.node_name = dropins->node_name, .driver = dropins->driver, .set = set};
    read_folder(dropins);
    tell_files(dropins, &a);
    if (dropins->files.n == 0 && a.problems.n == 0)
        return 0;
    if (set->arena == NULL) /* a set without devices may have none */
        set->arena = tg_arena_new(ARENA_BYTES);
    for (size_t i = 0; i < set->devices.n; i++) {
        a.n = 0;
        a.device = &set->devices.items[i].device;
        for (size_t f = 0; f < dropins->files.n; f++) {
            if (dropins->files.items[f].dropin != NULL)
                add_dropin(&a, dropins->files.items[f].dropin);
        }
        put(&a, &set->devices.items[i].device);
    }
    return finish(&a, err);
}
