/* SPDX-License-Identifier: Apache-2.0 */
/* libyaml's events, one by one, into a JSON tree. Nothing is resolved that could grow: no anchors,
 * no aliases, no merges. */
#include "api/runtime/yaml/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <yaml.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/keys.h"
#include "api/runtime/json/tree.h"
#include "api/runtime/yaml/scalar.h"

#define MAX_DEPTH 64
#define MAX_CHILDREN ((size_t)100000)
#define CORE_TAG "tag:yaml.org,2002:"
#define SHOWN_BYTES 64

struct frame {
    bool mapping;
    bool key_next;
    size_t count;
    size_t key_base;
};

struct builder {
    yaml_parser_t parser;
    struct tg_arena *arena;
    struct tg_json_tree tree;
    struct tg_json_keys keys;
    struct frame frames[MAX_DEPTH];
    unsigned depth;
    bool empty; /* the document has no content at all */
    struct tg_buf number;
    struct tg_json **documents;
    size_t room; /* for so many of them */
    size_t n, max;
    struct tg_error *err;
};

static __attribute__((format(printf, 3, 4))) int refuse(struct builder *b, yaml_mark_t mark,
                                                        const char *format, ...)
{
    char message[sizeof(b->err->message)];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    tg_utf8_sanitize(message, strlen(message));
    return tg_error_set(b->err, TG_INVALID_ARGUMENT, "line %zu, column %zu: %s", mark.line + 1,
                        mark.column + 1, message);
}

static int no_memory(struct builder *b)
{
    int rc = tg_error_set(b->err, TG_RESOURCE_EXHAUSTED,
                          "the document needs more memory than it may use");

    if (b->err != NULL)
        b->err->retry = false;
    return rc;
}

static int shown(size_t n)
{
    return (int)(n < SHOWN_BYTES ? n : SHOWN_BYTES);
}

static int check_node(struct builder *b, const yaml_event_t *event, const yaml_char_t *anchor,
                      const yaml_char_t *tag, const char *allowed_tags)
{
    const char *name = (const char *)tag;

    if (anchor != NULL)
        return refuse(b, event->start_mark, "anchors (&%s) are not supported; write the value out",
                      (const char *)anchor);
    if (name == NULL || strcmp(name, "!") == 0)
        return 0;
    if (tg_has_prefix(name, CORE_TAG)) {
        const char *type = name + strlen(CORE_TAG);
        char padded[16];

        snprintf(padded, sizeof(padded), " %s ", type);
        if (strlen(type) < sizeof(padded) - 2 && strstr(allowed_tags, padded) != NULL)
            return 0;
    }
    return refuse(b, event->start_mark, "the tag %s is not supported here", name);
}

/* Before each value or key. */
static int enter_slot(struct builder *b, const yaml_event_t *event)
{
    struct frame *frame = b->depth == 0 ? NULL : &b->frames[b->depth - 1];

    if (frame == NULL)
        return 0;
    if (frame->mapping && frame->key_next)
        return refuse(b, event->start_mark, "a key must be a string");
    frame->key_next = frame->mapping;
    if (++frame->count > MAX_CHILDREN)
        return refuse(b, event->start_mark, "more than %zu entries", MAX_CHILDREN);
    return 0;
}

/* The kind that a tag demands of the scalar; -1 if there is none. */
static int tagged_kind(const yaml_char_t *tag)
{
    static const struct {
        const char *tag;
        enum tg_json_kind kind;
    } kinds[] = {
        {"!", TG_JSON_STRING},
        {CORE_TAG "str", TG_JSON_STRING},
        {CORE_TAG "null", TG_JSON_NULL},
        {CORE_TAG "bool", TG_JSON_BOOL},
        {CORE_TAG "int", TG_JSON_NUMBER},
        {CORE_TAG "float", TG_JSON_NUMBER},
    };

    for (size_t i = 0; tag != NULL && i < TG_ARRAY_SIZE(kinds); i++) {
        if (strcmp(kinds[i].tag, (const char *)tag) == 0)
            return (int)kinds[i].kind;
    }
    return -1;
}

/* What the scalar is; numbers end in b->number. */
static int resolve(struct builder *b, const yaml_event_t *event, struct tg_yaml_scalar *ret)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t n = event->data.scalar.length;
    int demanded = tagged_kind(event->data.scalar.tag);
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    const char *problem = NULL;
    int rc = check_node(b, event, event->data.scalar.anchor, event->data.scalar.tag,
                        " str null bool int float ");

    if (rc != 0)
        return rc;
    if (memchr(text, '\0', n) != NULL)
        return refuse(b, event->start_mark, "a string with a NUL character");
    if (!tg_utf8_valid(text, n))
        return refuse(b, event->start_mark, "a string that is not valid UTF-8");
    *ret = (struct tg_yaml_scalar){.kind = TG_JSON_STRING};
    if (demanded == TG_JSON_STRING || (demanded < 0 && !plain))
        return 0;
    tg_buf_clear(&b->number);
    problem = tg_yaml_scalar_resolve(text, n, ret, &b->number);
    if (problem != NULL)
        return refuse(b, event->start_mark, "%.*s: %s", shown(n), text, problem);
    if (demanded >= 0 && demanded != (int)ret->kind)
        return refuse(b, event->start_mark, "\"%.*s\" is not what its tag says", shown(n), text);
    return b->number.failed ? no_memory(b) : 0;
}

static int on_key(struct builder *b, const yaml_event_t *event)
{
    struct frame *frame = &b->frames[b->depth - 1];
    const char *text = (const char *)event->data.scalar.value;
    size_t n = event->data.scalar.length;
    struct tg_yaml_scalar scalar;
    int rc = resolve(b, event, &scalar);

    if (rc != 0)
        return rc;
    if (scalar.kind != TG_JSON_STRING)
        return refuse(b, event->start_mark, "a key must be a string; quote \"%.*s\"", shown(n),
                      text);
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp(text, "<<") == 0)
        return refuse(b, event->start_mark,
                      "merge keys (<<) are not supported; write the values out");
    if (tg_json_tree_key(&b->tree, text, n) != 0)
        return no_memory(b);
    tg_json_keys_push(&b->keys, b->tree.key, n, 1);
    frame->key_next = false;
    return 0;
}

static struct tg_json *add(struct builder *b, enum tg_json_kind kind, yaml_mark_t mark)
{
    struct tg_json *value = tg_json_tree_add(&b->tree, kind);

    if (value != NULL) {
        value->line = (int)mark.line + 1;
        value->column = (int)mark.column + 1;
    }
    return value;
}

static int on_scalar(struct builder *b, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t n = event->data.scalar.length;
    struct tg_yaml_scalar scalar;
    struct tg_json *value;
    int rc;

    if (b->depth > 0 && b->frames[b->depth - 1].mapping && b->frames[b->depth - 1].key_next)
        return on_key(b, event);
    rc = enter_slot(b, event);
    if (rc == 0)
        rc = resolve(b, event, &scalar);
    if (rc != 0)
        return rc;
    b->empty = b->depth == 0 && n == 0 && scalar.kind == TG_JSON_NULL;
    value = add(b, scalar.kind, event->start_mark);
    if (value == NULL)
        return no_memory(b);
    value->boolean = scalar.boolean;
    if (scalar.kind == TG_JSON_NUMBER)
        value->text = tg_arena_strndup(b->arena, tg_buf_str(&b->number), b->number.len);
    else if (scalar.kind == TG_JSON_STRING)
        value->text = tg_arena_strndup(b->arena, text, n);
    else
        return 0;
    return value->text == NULL ? no_memory(b) : 0;
}

static int on_start(struct builder *b, const yaml_event_t *event)
{
    bool mapping = event->type == YAML_MAPPING_START_EVENT;
    int rc = mapping ? check_node(b, event, event->data.mapping_start.anchor,
                                  event->data.mapping_start.tag, " map ")
                     : check_node(b, event, event->data.sequence_start.anchor,
                                  event->data.sequence_start.tag, " seq ");

    if (rc == 0)
        rc = enter_slot(b, event);
    if (rc != 0)
        return rc;
    if (b->depth == MAX_DEPTH)
        return refuse(b, event->start_mark, "nested deeper than %d levels", MAX_DEPTH);
    b->frames[b->depth++] =
        (struct frame){.mapping = mapping, .key_next = mapping, .key_base = b->keys.n};
    return add(b, mapping ? TG_JSON_OBJECT : TG_JSON_ARRAY, event->start_mark) == NULL
               ? no_memory(b)
               : 0;
}

static int on_end(struct builder *b, const yaml_event_t *event)
{
    const struct frame *frame = &b->frames[--b->depth];
    const struct tg_json_key *twice =
        frame->mapping ? tg_json_keys_pop(&b->keys, frame->key_base) : NULL;

    if (twice != NULL)
        return refuse(b, event->start_mark, "duplicate key \"%.*s\" in the mapping that ends here",
                      shown(twice->n), twice->text);
    return tg_json_tree_end(&b->tree) != 0 ? no_memory(b) : 0;
}

/* Most streams have few documents, whatever is allowed. */
static int push_document(struct builder *b)
{
    size_t room = b->room == 0 ? 4 : 2 * b->room;
    struct tg_json **more;

    if (b->n == b->room) {
        more = tg_arena_alloc_array(b->arena, room, sizeof(struct tg_json *));
        if (more == NULL)
            return no_memory(b);
        if (b->n > 0)
            memcpy(more, b->documents, b->n * sizeof(struct tg_json *));
        b->documents = more;
        b->room = room;
    }
    b->documents[b->n++] = b->tree.root;
    return 0;
}

static int on_document_end(struct builder *b, const yaml_event_t *event)
{
    if (b->empty)
        return 0;
    if (b->n == b->max)
        return refuse(b, event->start_mark, "more than %zu document%s", b->max,
                      b->max == 1 ? "" : "s");
    return push_document(b);
}

static int on_event(struct builder *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        b->empty = true;
        return 0;
    case YAML_DOCUMENT_END_EVENT:
        return on_document_end(b, event);
    case YAML_ALIAS_EVENT:
        return refuse(b, event->start_mark, "aliases (*%s) are not supported; write the value out",
                      (const char *)event->data.alias.anchor);
    case YAML_SCALAR_EVENT:
        return on_scalar(b, event);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        b->empty = false;
        return on_start(b, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_end(b, event);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
        break;
    }
    return 0;
}

static int syntax_error(struct builder *b)
{
    const yaml_parser_t *parser = &b->parser;

    if (parser->error == YAML_READER_ERROR)
        return tg_error_set(b->err, TG_INVALID_ARGUMENT, "not YAML: %s (byte %zu)", parser->problem,
                            parser->problem_offset);
    if (parser->problem == NULL)
        return no_memory(b);
    if (parser->context == NULL)
        return refuse(b, parser->problem_mark, "not YAML: %s", parser->problem);
    return refuse(b, parser->problem_mark, "not YAML: %s %s", parser->context, parser->problem);
}

static int run(struct builder *b)
{
    bool done = false;
    int rc = 0;

    while (!done && rc == 0) {
        yaml_event_t event;

        if (!yaml_parser_parse(&b->parser, &event))
            return syntax_error(b);
        done = event.type == YAML_STREAM_END_EVENT;
        rc = on_event(b, &event);
        yaml_event_delete(&event);
    }
    if (rc == 0 && b->n == 0)
        return tg_error_set(b->err, TG_INVALID_ARGUMENT, "there is no document in it");
    return rc;
}

/* Editors of some systems begin a file with it; it is not part of the text. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

int tg_yaml_parse_all(const char *data, size_t n, size_t max, struct tg_arena *arena,
                      struct tg_json ***ret, size_t *ret_n, struct tg_error *err)
{
    struct builder b = {.arena = arena, .number = TG_BUF_INIT(n + 32), .max = max, .err = err};
    int rc;

    if (n >= strlen(BYTE_ORDER_MARK) &&
        memcmp(data, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0) {
        data += strlen(BYTE_ORDER_MARK);
        n -= strlen(BYTE_ORDER_MARK);
    }
    if (!yaml_parser_initialize(&b.parser))
        return no_memory(&b);
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)data, n);
    tg_json_tree_init(&b.tree, arena);
    rc = run(&b);
    if (rc == 0) {
        *ret = b.documents;
        *ret_n = b.n;
    }
    tg_json_tree_done(&b.tree);
    tg_json_keys_done(&b.keys);
    tg_buf_done(&b.number);
    yaml_parser_delete(&b.parser);
    return rc;
}

int tg_yaml_parse(const char *data, size_t n, struct tg_arena *arena, struct tg_json **ret,
                  struct tg_error *err)
{
    struct tg_json **documents = NULL;
    size_t count = 0;
    int rc = tg_yaml_parse_all(data, n, 1, arena, &documents, &count, err);

    if (rc == 0)
        *ret = documents[0];
    return rc;
}
