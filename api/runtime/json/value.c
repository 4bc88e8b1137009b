/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/json/value.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"
#include "api/runtime/json/patch.h"
#include "api/runtime/json/reader.h"
#include "api/runtime/json/tree.h"

static enum tg_json_kind kind_of(enum tg_json_event_kind kind)
{
    static const enum tg_json_kind kinds[] = {
        [TG_JSON_EVENT_NULL] = TG_JSON_NULL,           [TG_JSON_EVENT_BOOL] = TG_JSON_BOOL,
        [TG_JSON_EVENT_NUMBER] = TG_JSON_NUMBER,       [TG_JSON_EVENT_STRING] = TG_JSON_STRING,
        [TG_JSON_EVENT_BEGIN_OBJECT] = TG_JSON_OBJECT, [TG_JSON_EVENT_BEGIN_ARRAY] = TG_JSON_ARRAY,
    };

    return kinds[kind];
}

static int add_value(struct tg_json_tree *tree, const struct tg_json_event *event)
{
    struct tg_json *value = tg_json_tree_add(tree, kind_of(event->kind));

    if (value == NULL)
        return -1;
    value->boolean = event->boolean;
    if (event->kind == TG_JSON_EVENT_NUMBER || event->kind == TG_JSON_EVENT_STRING) {
        value->text = tg_arena_strndup(tree->arena, event->text, event->n);
        if (value->text == NULL)
            return -1;
    }
    return 0;
}

static int on_event(void *data, const struct tg_json_reader *reader,
                    const struct tg_json_event *event, struct tg_error *err)
{
    struct tg_json_tree *tree = data;
    int rc;

    if (event->has_nul)
        return tg_json_reader_refuse(reader, err, TG_INVALID_ARGUMENT, "%s with a NUL character",
                                     tg_json_event_name(event->kind));
    if (event->kind == TG_JSON_EVENT_KEY)
        rc = tg_json_tree_key(tree, event->text, event->n);
    else if (event->kind == TG_JSON_EVENT_END_OBJECT || event->kind == TG_JSON_EVENT_END_ARRAY)
        rc = tg_json_tree_end(tree);
    else
        rc = add_value(tree, event);
    if (rc == 0)
        return 0;
    return tg_json_too_large(
        err, tg_json_reader_refuse(reader, err, TG_RESOURCE_EXHAUSTED,
                                   "the document needs more memory than it may use"));
}

int tg_json_parse(const char *data, size_t n, struct tg_arena *arena, struct tg_json **ret,
                  struct tg_error *err)
{
    struct tg_json_tree tree;
    int rc;

    tg_json_tree_init(&tree, arena);
    rc = tg_json_read(data, n, on_event, &tree, err);
    if (rc == 0)
        *ret = tree.root;
    tg_json_tree_done(&tree);
    return rc;
}

const struct tg_json *tg_json_get(const struct tg_json *v, const char *key)
{
    if (v == NULL || v->kind != TG_JSON_OBJECT)
        return NULL;
    for (size_t i = 0; i < v->n; i++) {
        if (strcmp(v->keys[i], key) == 0)
            return v->items[i];
    }
    return NULL;
}

const char *tg_json_string(const struct tg_json *v)
{
    return v != NULL && v->kind == TG_JSON_STRING ? v->text : NULL;
}

int tg_json_i64(const struct tg_json *v, int64_t *ret)
{
    if (v == NULL || v->kind != TG_JSON_NUMBER)
        return -1;
    return tg_parse_i64(v->text, strlen(v->text), ret);
}

static void write_value(struct tg_json_writer *w, const struct tg_json *v)
{
    switch (v->kind) {
    case TG_JSON_NULL:
        tg_jw_null(w);
        break;
    case TG_JSON_BOOL:
        tg_jw_bool(w, v->boolean);
        break;
    case TG_JSON_NUMBER:
        tg_jw_raw(w, v->text);
        break;
    case TG_JSON_STRING:
        tg_jw_string(w, v->text);
        break;
    case TG_JSON_ARRAY:
        tg_jw_begin_array(w);
        for (size_t i = 0; i < v->n; i++)
            write_value(w, v->items[i]);
        tg_jw_end_array(w);
        break;
    case TG_JSON_OBJECT:
        tg_jw_begin_object(w);
        for (size_t i = 0; i < v->n; i++) {
            tg_jw_key(w, v->keys[i]);
            write_value(w, v->items[i]);
        }
        tg_jw_end_object(w);
        break;
    }
}

int tg_json_write(const struct tg_json *v, struct tg_buf *out)
{
    struct tg_json_writer w;

    tg_json_writer_init(&w, out);
    write_value(&w, v);
    return tg_jw_finish(&w, NULL) == 0 ? 0 : -1;
}

static int compare_members(const void *left, const void *right)
{
    const struct tg_json_tree_child *a = left;
    const struct tg_json_tree_child *b = right;

    return strcmp(a->key, b->key);
}

/* The members by key, so that objects of any size compare in O(n log n). */
static struct tg_json_tree_child *sorted_members(const struct tg_json *v)
{
    struct tg_json_tree_child *members = tg_xcalloc(v->n, sizeof(*members));

    for (size_t i = 0; i < v->n; i++)
        members[i] = (struct tg_json_tree_child){.key = v->keys[i], .value = v->items[i]};
    qsort(members, v->n, sizeof(*members), compare_members);
    return members;
}

static bool equal_objects(const struct tg_json *a, const struct tg_json *b)
{
    struct tg_json_tree_child *left TG_AUTOFREE = NULL;
    struct tg_json_tree_child *right TG_AUTOFREE = NULL;

    if (a->n == 0)
        return true;
    left = sorted_members(a);
    right = sorted_members(b);
    for (size_t i = 0; i < a->n; i++) {
        if (strcmp(left[i].key, right[i].key) != 0 || !tg_json_equal(left[i].value, right[i].value))
            return false;
    }
    return true;
}

bool tg_json_equal(const struct tg_json *a, const struct tg_json *b)
{
    if (a->kind != b->kind || a->n != b->n)
        return false;
    switch (a->kind) {
    case TG_JSON_NULL:
        return true;
    case TG_JSON_BOOL:
        return a->boolean == b->boolean;
    case TG_JSON_NUMBER:
    case TG_JSON_STRING:
        return strcmp(a->text, b->text) == 0;
    case TG_JSON_ARRAY:
        for (size_t i = 0; i < a->n; i++) {
            if (!tg_json_equal(a->items[i], b->items[i]))
                return false;
        }
        return true;
    case TG_JSON_OBJECT:
        return equal_objects(a, b);
    }
    return false;
}
