/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/json_edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

#define TEXT_MAX ((size_t)4 * 1024 * 1024)
#define SEGMENT_MAX 256

struct tg_json *tg_edit_parse(const char *text, struct tg_arena *arena)
{
    struct tg_error err = TG_ERROR_INIT;
    struct tg_json *ret = NULL;

    if (tg_json_parse(text, strlen(text), arena, &ret, &err) < 0)
        fail_msg("%s: %s", err.message, text);
    return ret;
}

struct tg_json *tg_edit_parse_quoted(const char *text, struct tg_arena *arena)
{
    char *copy = tg_arena_strdup(arena, text);

    assert_non_null(copy);
    for (char *p = copy; *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    return tg_edit_parse(copy, arena);
}

const char *tg_edit_text(const struct tg_json *value, struct tg_arena *arena)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(TEXT_MAX);
    const char *ret;

    assert_int_equal(tg_json_write(value, &buf), 0);
    ret = tg_arena_strndup(arena, tg_buf_str(&buf), buf.len);
    assert_non_null(ret);
    return ret;
}

static size_t index_of(const struct tg_json *object, const char *key)
{
    for (size_t i = 0; i < object->n; i++)
        if (strcmp(object->keys[i], key) == 0)
            return i;
    return object->n;
}

static struct tg_json *child_of(struct tg_json *value, const char *segment)
{
    uint64_t index;

    if (value == NULL)
        return NULL;
    if (value->kind == TG_JSON_OBJECT) {
        size_t i = index_of(value, segment);

        return i < value->n ? value->items[i] : NULL;
    }
    if (value->kind == TG_JSON_ARRAY && tg_parse_u64(segment, strlen(segment), &index) == 0 &&
        index < value->n)
        return value->items[index];
    return NULL;
}

struct tg_json *tg_edit_at(struct tg_json *root, ...)
{
    const char *segment;
    va_list args;

    va_start(args, root);
    while ((segment = va_arg(args, const char *)) != NULL)
        root = child_of(root, segment);
    va_end(args);
    return root;
}

const char *tg_edit_string_at(struct tg_json *root, const char *key, const char *second)
{
    struct tg_json *value = child_of(root, key);

    return tg_json_string(second == NULL ? value : child_of(value, second));
}

static struct tg_json *new_value(enum tg_json_kind kind, struct tg_arena *arena)
{
    struct tg_json *value = tg_arena_alloc(arena, sizeof(*value));

    assert_non_null(value);
    value->kind = kind;
    return value;
}

struct tg_json *tg_edit_new_string(const char *text, struct tg_arena *arena)
{
    struct tg_json *value = new_value(TG_JSON_STRING, arena);

    value->text = tg_arena_strdup(arena, text);
    return value;
}

/* Makes room for one child at `at`. */
static void insert(struct tg_json *parent, size_t at, const char *key, struct tg_json *value,
                   struct tg_arena *arena)
{
    struct tg_json **items = tg_arena_alloc_array(arena, parent->n + 1, sizeof(*items));
    const char **keys = tg_arena_alloc_array(arena, parent->n + 1, sizeof(*keys));

    assert_true(items != NULL && keys != NULL);
    for (size_t i = 0; i < parent->n + 1; i++) {
        size_t from = i > at ? i - 1 : i;

        items[i] = i == at ? value : parent->items[from];
        if (parent->kind == TG_JSON_OBJECT)
            keys[i] = i == at ? tg_arena_strdup(arena, key) : parent->keys[from];
    }
    parent->items = items;
    parent->keys = keys;
    parent->n++;
}

static void cut(struct tg_json *parent, size_t at)
{
    parent->n--;
    for (size_t i = at; i < parent->n; i++) {
        parent->items[i] = parent->items[i + 1];
        if (parent->kind == TG_JSON_OBJECT)
            parent->keys[i] = parent->keys[i + 1];
    }
}

void tg_edit_set(struct tg_json *object, const char *key, struct tg_json *value,
                 struct tg_arena *arena)
{
    size_t at;

    assert_int_equal(object->kind, TG_JSON_OBJECT);
    at = index_of(object, key);
    if (value == NULL && at < object->n)
        cut(object, at);
    else if (value != NULL && at < object->n)
        object->items[at] = value;
    else if (value != NULL)
        insert(object, at, key, value, arena);
}

struct tg_json *tg_edit_object(struct tg_json *object, const char *key, struct tg_arena *arena)
{
    struct tg_json *value = child_of(object, key);

    if (value != NULL)
        return value;
    value = new_value(TG_JSON_OBJECT, arena);
    tg_edit_set(object, key, value, arena);
    return value;
}

struct tg_json *tg_edit_merge(struct tg_json *target, struct tg_json *patch, struct tg_arena *arena)
{
    if (patch->kind != TG_JSON_OBJECT)
        return patch;
    if (target == NULL || target->kind != TG_JSON_OBJECT)
        target = new_value(TG_JSON_OBJECT, arena);
    for (size_t i = 0; i < patch->n; i++) {
        struct tg_json *old = child_of(target, patch->keys[i]);

        tg_edit_set(target, patch->keys[i],
                    patch->items[i]->kind == TG_JSON_NULL
                        ? NULL
                        : tg_edit_merge(old, patch->items[i], arena),
                    arena);
    }
    return target;
}

/* --- RFC 6902 -------------------------------------------------------------------------------- */

/* The next segment of a JSON pointer, unescaped; the rest of the pointer. */
static const char *next_segment(const char *pointer, char out[SEGMENT_MAX])
{
    size_t n = 0;

    assert_int_equal(*pointer, '/');
    for (pointer++; *pointer != '\0' && *pointer != '/'; pointer++) {
        char c = *pointer;

        if (c == '~') {
            pointer++;
            c = *pointer == '1' ? '/' : '~';
        }
        assert_true(n + 1 < SEGMENT_MAX);
        out[n++] = c;
    }
    out[n] = '\0';
    return pointer;
}

static int add_to(struct tg_json *parent, const char *segment, struct tg_json *value,
                  struct tg_arena *arena)
{
    uint64_t index = parent->n;

    if (parent->kind == TG_JSON_OBJECT) {
        tg_edit_set(parent, segment, value, arena);
        return 0;
    }
    if (parent->kind != TG_JSON_ARRAY)
        return -1;
    if (strcmp(segment, "-") != 0 &&
        (tg_parse_u64(segment, strlen(segment), &index) < 0 || index > parent->n))
        return -1;
    insert(parent, index, NULL, value, arena);
    return 0;
}

static int replace_in(struct tg_json *parent, const char *segment, struct tg_json *value)
{
    for (size_t i = 0; i < parent->n; i++)
        if (parent->items[i] == child_of(parent, segment)) {
            if (value == NULL)
                cut(parent, i);
            else
                parent->items[i] = value;
            return 0;
        }
    return -1;
}

static int apply(struct tg_json *root, const struct tg_json *operation, struct tg_arena *arena)
{
    const char *op = tg_json_string(tg_json_get(operation, "op"));
    const char *rest = tg_json_string(tg_json_get(operation, "path"));
    const struct tg_json *given = tg_json_get(operation, "value");
    struct tg_json *value = given == NULL ? NULL : tg_edit_parse(tg_edit_text(given, arena), arena);
    struct tg_json *parent = root;
    char segment[SEGMENT_MAX];

    for (rest = next_segment(rest, segment); *rest != '\0'; rest = next_segment(rest, segment))
        parent = child_of(parent, segment);
    if (parent == NULL)
        return -1;
    if (strcmp(op, "test") == 0) {
        const struct tg_json *there = child_of(parent, segment);

        return there != NULL && tg_json_equal(there, value) ? 0 : -1;
    }
    if (strcmp(op, "add") == 0)
        return add_to(parent, segment, value, arena);
    return replace_in(parent, segment, strcmp(op, "remove") == 0 ? NULL : value);
}

int tg_edit_patch(struct tg_json *root, const struct tg_json *patch, struct tg_arena *arena,
                  const char **ret_why)
{
    for (size_t i = 0; i < patch->n; i++)
        if (apply(root, patch->items[i], arena) < 0) {
            *ret_why = tg_edit_text(patch->items[i], arena);
            return -1;
        }
    return 0;
}
