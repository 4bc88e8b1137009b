/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tokens of a document, one call each: what decoder, tree and list stream are built on. Private
 * to this folder.
 *
 * Behind it is yajl's stream parser; reader.c is the only file that includes it. What yajl lets
 * pass and the reader refuses: invalid UTF-8 (yajl takes overlong forms and surrogates), lone
 * surrogates in escapes (yajl turns them into '?'), duplicate keys, and nesting deeper than
 * TG_JSON_MAX_DEPTH. A value that nobody looks into is not judged: it must be well-formed, and
 * nested no deeper than TG_JSON_MAX_DEPTH_UNJUDGED. An API server keeps free-form parts of its
 * objects just so, and one odd part must not hide the object around it.
 */
#ifndef TG_RUNTIME_JSON_READER_H
#define TG_RUNTIME_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "api/runtime/base/error.h"

#define TG_JSON_MAX_DEPTH 64
/* Go's decoder takes 10,000 levels, so no API server holds a free-form part that is deeper; the
 * rest is for what stands around it: an object, a list of them. */
#define TG_JSON_MAX_DEPTH_UNJUDGED 10100
#define TG_JSON_MAX_ITEMS ((size_t)100000)

enum tg_json_event_kind {
    TG_JSON_EVENT_NULL,
    TG_JSON_EVENT_BOOL,
    TG_JSON_EVENT_NUMBER,
    TG_JSON_EVENT_STRING,
    TG_JSON_EVENT_KEY,
    TG_JSON_EVENT_BEGIN_OBJECT,
    TG_JSON_EVENT_END_OBJECT,
    TG_JSON_EVENT_BEGIN_ARRAY,
    TG_JSON_EVENT_END_ARRAY,
};

struct tg_json_event {
    enum tg_json_event_kind kind;
    bool boolean;
    bool has_nul;     /* a string or key with \u0000 in it: no C string can hold it */
    const char *text; /* number as written; string or key decoded; n bytes without a NUL, gone after
                         the call */
    size_t n;
    size_t start, end; /* of the token in the whole input; start is only known for whole documents
                          and for { and [ */
};

struct tg_json_reader;
/* Answers of a tg_json_event_fn beside 0 (go on) and a negative code with err filled (best by
 * tg_json_reader_refuse). */
enum {
    /* After a key: its value, whatever it is, is not judged. After { or [: nothing inside is. */
    TG_JSON_UNJUDGED = 1,
};
typedef int (*tg_json_event_fn)(void *data, const struct tg_json_reader *reader,
                                const struct tg_json_event *event, struct tg_error *err);

/* Reads one whole document. */
int tg_json_read(const char *text, size_t n, tg_json_event_fn on_event, void *data,
                 struct tg_error *err);

/* The same in chunks. Only the outermost `key_depth` levels are judged (duplicate keys, UTF-8; 0:
 * none); what is deeper is not: whoever reads the parts as documents of their own judges those. So
 * one odd part does not hide the others. Paths are unknown, and lone surrogates are not looked for.
 */
struct tg_json_reader *tg_json_reader_new(tg_json_event_fn on_event, void *data,
                                          unsigned key_depth);
void tg_json_reader_free(struct tg_json_reader *reader);
int tg_json_reader_feed(struct tg_json_reader *reader, const char *chunk, size_t n,
                        struct tg_error *err);
/* An error if the document is not complete. */
int tg_json_reader_end(struct tg_json_reader *reader, struct tg_error *err);

/* As tg_error_set, with the JSON path of the current value and ": " before the message. */
int tg_json_reader_refuse(const struct tg_json_reader *reader, struct tg_error *err,
                          enum tg_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Open objects and arrays. BEGIN counts its own, END does not. */
unsigned tg_json_reader_depth(const struct tg_json_reader *reader);
/* "a string", "an object", ... */
const char *tg_json_event_name(enum tg_json_event_kind kind);
/* An error of this module that trying again cannot mend: a document larger than its budget. */
int tg_json_too_large(struct tg_error *err, int rc);

#endif
