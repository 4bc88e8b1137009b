/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/values/protobuf_splice.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };
enum unknown_field {
    UNKNOWN_TYPE_META = 1,
    UNKNOWN_RAW = 2,
    UNKNOWN_ENCODING = 3,
    UNKNOWN_CONTENT_TYPE = 4
};
enum {
    OBJECT_METADATA = 1,
    METADATA_ANNOTATIONS = 12,
    METADATA_FINALIZERS = 14,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2
};

static const char magic[4] = {'k', '8', 's', '\0'};
static const char protobuf_content[] = "application/vnd.kubernetes.protobuf";

struct bytes {
    const uint8_t *p;
    size_t n;
};

struct field {
    uint64_t number;
    uint64_t wire;
    struct bytes whole; /* tag, length and value */
    struct bytes value; /* of WIRE_BYTES */
};

static int malformed(struct tg_error *err, const char *what)
{
    return tg_error_set(err, TG_INVALID_ARGUMENT, "not a Kubernetes object in protobuf: %s", what);
}

static bool bytes_are(struct bytes b, const char *s)
{
    size_t n = strlen(s);

    return b.n == n && (n == 0 || memcmp(b.p, s, n) == 0);
}

static bool take_varint(struct bytes *in, uint64_t *ret)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 10 && i < in->n; i++) {
        uint8_t byte = in->p[i];

        if (i == 9 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if ((byte & 0x80) == 0) {
            in->p += i + 1;
            in->n -= i + 1;
            *ret = value;
            return true;
        }
    }
    return false;
}

static bool take_bytes(struct bytes *in, uint64_t n, struct bytes *ret)
{
    if (n > in->n)
        return false;
    *ret = (struct bytes){in->p, (size_t)n};
    in->p += n;
    in->n -= (size_t)n;
    return true;
}

/* Takes the next field off in (which is not empty). */
static int next_field(struct bytes *in, struct field *ret, struct tg_error *err)
{
    const uint8_t *start = in->p;
    uint64_t tag;
    uint64_t n = 0;
    bool ok = take_varint(in, &tag);

    if (!ok || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return malformed(err, "a bad field tag");
    ret->number = tag >> 3;
    ret->wire = tag & 7;
    ret->value = (struct bytes){0};
    switch (ret->wire) {
    case WIRE_VARINT:
        ok = take_varint(in, &n);
        break;
    case WIRE_FIXED64:
        ok = take_bytes(in, 8, &ret->value);
        break;
    case WIRE_FIXED32:
        ok = take_bytes(in, 4, &ret->value);
        break;
    case WIRE_BYTES:
        ok = take_varint(in, &n) && take_bytes(in, n, &ret->value);
        break;
    default:
        return malformed(err, "a field of an unknown wire type");
    }
    if (!ok)
        return malformed(err, "it is cut short");
    ret->whole = (struct bytes){start, (size_t)(in->p - start)};
    return 0;
}

/* The only field of this number in the message; found tells whether there is one. */
static int find_only(struct bytes message, uint64_t number, struct field *ret, bool *found,
                     struct tg_error *err)
{
    *found = false;
    while (message.n > 0) {
        struct field field;
        int rc = next_field(&message, &field, err);

        if (rc != 0)
            return rc;
        if (field.number != number)
            continue;
        if (field.wire != WIRE_BYTES)
            return malformed(err, "a field has the wrong wire type");
        if (*found)
            return malformed(err, "a field stands twice");
        *found = true;
        *ret = field;
    }
    return 0;
}

/* The envelope, down to the metadata. */
struct object {
    struct bytes envelope; /* without the magic */
    struct field raw;
    bool has_metadata;
    struct field metadata;
};

static int open_object(const uint8_t *in, size_t n, struct object *ret, struct tg_error *err)
{
    struct field field;
    bool found;
    int rc;

    if (n < sizeof(magic) || memcmp(in, magic, sizeof(magic)) != 0)
        return malformed(err, "it does not begin with \"k8s\\0\"");
    ret->envelope = (struct bytes){in + sizeof(magic), n - sizeof(magic)};
    rc = find_only(ret->envelope, UNKNOWN_ENCODING, &field, &found, err);
    if (rc == 0 && found && field.value.n > 0)
        return malformed(err, "its content is encoded");
    if (rc == 0)
        rc = find_only(ret->envelope, UNKNOWN_CONTENT_TYPE, &field, &found, err);
    if (rc == 0 && found && field.value.n > 0 && !bytes_are(field.value, protobuf_content))
        return malformed(err, "its content is of another type");
    if (rc == 0)
        rc = find_only(ret->envelope, UNKNOWN_RAW, &ret->raw, &found, err);
    if (rc == 0 && !found)
        return malformed(err, "it has no content");
    if (rc == 0)
        rc = find_only(ret->raw.value, OBJECT_METADATA, &ret->metadata, &ret->has_metadata, err);
    return rc;
}

static void put(struct tg_buf *out, struct bytes b)
{
    tg_buf_append(out, b.p, b.n);
}

static void put_varint(struct tg_buf *out, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        tg_buf_append_char(out, (char)(v | 0x80));
    tg_buf_append_char(out, (char)v);
}

static size_t varint_size(uint64_t v)
{
    size_t n = 1;

    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}

static void put_field(struct tg_buf *out, uint64_t number, struct bytes value)
{
    put_varint(out, number << 3 | WIRE_BYTES);
    put_varint(out, value.n);
    put(out, value);
}

static struct bytes text(const char *s)
{
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static void put_annotation(struct tg_buf *out, const char *key, const char *value)
{
    struct bytes k = text(key);
    struct bytes v = text(value);

    put_varint(out, METADATA_ANNOTATIONS << 3 | WIRE_BYTES);
    put_varint(out, 2 + varint_size(k.n) + k.n + varint_size(v.n) + v.n);
    put_field(out, ENTRY_KEY, k);
    put_field(out, ENTRY_VALUE, v);
}

static bool is_finalizer(const struct tg_metadata_edit *edit)
{
    return edit->kind == TG_METADATA_ADD_FINALIZER || edit->kind == TG_METADATA_REMOVE_FINALIZER;
}

static bool is_addition(const struct tg_metadata_edit *edit)
{
    return edit->kind == TG_METADATA_ADD_FINALIZER || edit->kind == TG_METADATA_SET_ANNOTATION;
}

static uint64_t field_number(const struct tg_metadata_edit *edit)
{
    return is_finalizer(edit) ? METADATA_FINALIZERS : METADATA_ANNOTATIONS;
}

/* The last field of this number: what counts where one is repeated (of map entries that is legal).
 */
static int find_last(struct bytes message, uint64_t number, struct field *ret, struct tg_error *err)
{
    while (message.n > 0) {
        struct field field;
        int rc = next_field(&message, &field, err);

        if (rc != 0)
            return rc;
        if (field.number != number)
            continue;
        if (field.wire != WIRE_BYTES)
            return malformed(err, "a field has the wrong wire type");
        *ret = field;
    }
    return 0;
}

/* Takes the next field of the metadata; `hit`: it is the finalizer or the annotation that the edit
 * is about, with the value that it has (of an annotation). */
static int next_metadata_field(struct bytes *in, const struct tg_metadata_edit *edit,
                               struct field *ret, bool *hit, struct bytes *value,
                               struct tg_error *err)
{
    struct field key = {0};
    struct field entry_value = {0};
    int rc = next_field(in, ret, err);

    *hit = false;
    *value = (struct bytes){0};
    if (rc != 0 || ret->number != field_number(edit))
        return rc;
    if (ret->wire != WIRE_BYTES)
        return malformed(err, "a field has the wrong wire type");
    if (is_finalizer(edit)) {
        *hit = bytes_are(ret->value, edit->key);
        return 0;
    }
    rc = find_last(ret->value, ENTRY_KEY, &key, err);
    if (rc == 0)
        rc = find_last(ret->value, ENTRY_VALUE, &entry_value, err);
    *hit = bytes_are(key.value, edit->key);
    *value = entry_value.value;
    return rc;
}

/* behind: how many bytes follow the last field of the edit's number (all, if there is none);
 * meaningful if what it adds is not present. */
static int is_present(const struct tg_metadata_edit *edit, struct bytes metadata, bool *ret,
                      size_t *behind, struct tg_error *err)
{
    *ret = false;
    *behind = metadata.n;
    while (metadata.n > 0 && !*ret) {
        struct field field;
        struct bytes value;
        int rc = next_metadata_field(&metadata, edit, &field, ret, &value, err);

        if (rc != 0)
            return rc;
        if (field.number == field_number(edit))
            *behind = metadata.n;
    }
    return 0;
}

static void put_addition(struct tg_buf *out, const struct tg_metadata_edit *edit)
{
    if (is_finalizer(edit))
        put_field(out, METADATA_FINALIZERS, text(edit->key));
    else
        put_annotation(out, edit->key, edit->value);
}

/* A field that the edit is about: it stays, is replaced, or goes. Of several annotations of one key
 * one is left. */
static void put_edited(struct tg_buf *out, const struct tg_metadata_edit *edit,
                       const struct field *field, struct bytes value, bool *done)
{
    if (!is_addition(edit))
        return;
    if (is_finalizer(edit) || (!*done && bytes_are(value, edit->value)))
        put(out, field->whole);
    else if (!*done)
        put_addition(out, edit);
    *done = true;
}

/* One edit of the metadata message. Something new goes where Go would write it: behind what there
 * is of its number, before the first larger field number. */
static int apply(const struct tg_metadata_edit *edit, struct bytes metadata, struct tg_buf *out,
                 struct tg_error *err)
{
    bool done; /* nothing is left to be added */
    size_t behind;
    int rc = is_present(edit, metadata, &done, &behind, err);
    bool insert = !done && is_addition(edit);

    done = false;
    while (rc == 0 && metadata.n > 0) {
        size_t left = metadata.n;
        struct field field;
        struct bytes value;
        bool hit;

        rc = next_metadata_field(&metadata, edit, &field, &hit, &value, err);
        if (rc != 0)
            return rc;
        if (insert && left <= behind && field.number > field_number(edit)) {
            put_addition(out, edit);
            insert = false;
        }
        if (hit)
            put_edited(out, edit, &field, value, &done);
        else
            put(out, field.whole);
    }
    if (rc == 0 && insert)
        put_addition(out, edit);
    return rc;
}

/* The metadata after all edits, in one of the two buffers. */
static int apply_all(const struct tg_metadata_edit *edits, size_t n, struct bytes metadata,
                     struct tg_buf buffers[2], struct bytes *ret, struct tg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct tg_buf *out = &buffers[i % 2];
        int rc;

        assert(edits[i].kind != TG_METADATA_SET_ANNOTATION || edits[i].value != NULL);
        tg_buf_clear(out);
        rc = apply(&edits[i], metadata, out, err);
        if (rc != 0)
            return rc;
        if (out->failed)
            return -TG_RESOURCE_EXHAUSTED;
        metadata = (struct bytes){(const uint8_t *)out->data, out->len};
    }
    *ret = metadata;
    return 0;
}

/* The message with its only field `old` replaced; without `old` the new field comes first. */
static void put_replaced(struct tg_buf *out, struct bytes message, const struct field *old,
                         uint64_t number, struct bytes value)
{
    size_t before = old == NULL ? 0 : (size_t)(old->whole.p - message.p);
    size_t skipped = old == NULL ? 0 : old->whole.n;

    put(out, (struct bytes){message.p, before});
    put_field(out, number, value);
    put(out, (struct bytes){message.p + before + skipped, message.n - before - skipped});
}

static bool is_same(struct bytes a, struct bytes b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static int splice(const struct object *object, const struct tg_metadata_edit *edits, size_t n_edits,
                  struct tg_buf scratch[3], struct tg_buf *out, struct tg_error *err)
{
    struct bytes metadata;
    const struct field *old = object->has_metadata ? &object->metadata : NULL;
    struct bytes before = old == NULL ? (struct bytes){0} : old->value;
    int rc = apply_all(edits, n_edits, before, scratch, &metadata, err);

    if (rc != 0)
        return rc;
    tg_buf_append(out, magic, sizeof(magic));
    if (is_same(before, metadata)) {
        put(out, object->envelope);
    } else {
        put_replaced(&scratch[2], object->raw.value, old, OBJECT_METADATA, metadata);
        put_replaced(out, object->envelope, &object->raw, UNKNOWN_RAW,
                     (struct bytes){(const uint8_t *)scratch[2].data, scratch[2].len});
    }
    return scratch[2].failed || out->failed ? -TG_RESOURCE_EXHAUSTED : 0;
}

int tg_protobuf_splice_metadata(const uint8_t *in, size_t n, const struct tg_metadata_edit *edits,
                                size_t n_edits, struct tg_buf *out, struct tg_error *err)
{
    struct tg_buf scratch[3] = {TG_BUF_INIT(out->max), TG_BUF_INIT(out->max),
                                TG_BUF_INIT(out->max)};
    struct object object;
    int rc = open_object(in, n, &object, err);

    if (rc == 0)
        rc = splice(&object, edits, n_edits, scratch, out, err);
    if (rc == -TG_RESOURCE_EXHAUSTED) {
        tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the object is larger than %zu bytes", out->max);
        if (err != NULL)
            err->retry = false;
    }
    for (size_t i = 0; i < TG_ARRAY_SIZE(scratch); i++)
        tg_buf_done(&scratch[i]);
    return rc;
}

int tg_protobuf_metadata_get(const uint8_t *in, size_t n, enum tg_metadata_field number, char *out,
                             size_t size, struct tg_error *err)
{
    struct object object;
    struct field field;
    bool found = false;
    int rc = open_object(in, n, &object, err);

    if (rc == 0 && object.has_metadata)
        rc = find_only(object.metadata.value, number, &field, &found, err);
    if (rc != 0)
        return rc;
    if (!found || field.value.n == 0)
        return tg_error_set(err, TG_NOT_FOUND, "the object has no metadata field %d", (int)number);
    if (field.value.n >= size || memchr(field.value.p, '\0', field.value.n) != NULL)
        return malformed(err, "a metadata field that is too long or has a NUL in it");
    memcpy(out, field.value.p, field.value.n);
    out[field.value.n] = '\0';
    return 0;
}

int tg_protobuf_metadata_resource_version(const uint8_t *in, size_t n, char *out, size_t size,
                                          struct tg_error *err)
{
    return tg_protobuf_metadata_get(in, n, TG_METADATA_RESOURCE_VERSION, out, size, err);
}
