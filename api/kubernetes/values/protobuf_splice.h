/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes the metadata of an object in its protobuf form, and not one byte besides.
 *
 * Why: a claim whose opaque parameters were stored with spaces cannot be patched, nor PUT as JSON:
 * the server compares raw bytes of what is immutable (design 5.2). GET as
 * application/vnd.kubernetes.protobuf, this, PUT with the same content type: the bytes carry their
 * resourceVersion, so a change in between is a conflict.
 *
 * Form (k8s.io/apimachinery runtime/serializer/protobuf, runtime/generated.proto): "k8s\0", then
 * runtime.Unknown {typeMeta = 1, raw = 2, contentEncoding = 3, contentType = 4}; raw is the object,
 * whose field 1 is ObjectMeta {name = 1, namespace = 3, uid = 5, resourceVersion = 6, annotations =
 * 12 (map entries {1, 2}), finalizers = 14}. Numbers are part of the stable API. Unknown fields are
 * kept. Refused (TG_INVALID_ARGUMENT): anything truncated, groups, field number 0, wrong wire
 * types, a second raw or metadata, an encoded (compressed) or foreign content.
 */
#ifndef TG_KUBERNETES_VALUES_PROTOBUF_SPLICE_H
#define TG_KUBERNETES_VALUES_PROTOBUF_SPLICE_H

#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"

enum tg_metadata_edit_kind {
    TG_METADATA_ADD_FINALIZER, /* at the end, unless it is there */
    TG_METADATA_REMOVE_FINALIZER,
    TG_METADATA_SET_ANNOTATION,
    TG_METADATA_REMOVE_ANNOTATION,
};

struct tg_metadata_edit {
    enum tg_metadata_edit_kind kind;
    const char *key;   /* the finalizer, or the annotation's key */
    const char *value; /* of TG_METADATA_SET_ANNOTATION */
};

/* Appends the object with all edits made, in their order, to out; edits that change nothing leave
 * the bytes as they are, so the output equals the input if there was nothing to do.
 * TG_RESOURCE_EXHAUSTED when out's cap is reached. */
int tg_protobuf_splice_metadata(const uint8_t *in, size_t n, const struct tg_metadata_edit *edits,
                                size_t n_edits, struct tg_buf *out, struct tg_error *err);

/* Values of ObjectMeta's string fields. */
enum tg_metadata_field {
    TG_METADATA_NAME = 1,
    TG_METADATA_NAMESPACE = 3,
    TG_METADATA_UID = 5,
    TG_METADATA_RESOURCE_VERSION = 6,
};
/* TG_NOT_FOUND if the object has none; TG_INVALID_ARGUMENT if it is longer than size - 1 or has a
 * NUL in it. */
int tg_protobuf_metadata_get(const uint8_t *in, size_t n, enum tg_metadata_field field, char *out,
                             size_t size, struct tg_error *err);
int tg_protobuf_metadata_resource_version(const uint8_t *in, size_t n, char *out, size_t size,
                                          struct tg_error *err);

#endif
