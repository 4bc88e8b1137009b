/* SPDX-License-Identifier: Apache-2.0 */
/* A look at a few places of a document, without a type for it and without judging the rest: how a
 * message tells what it is about although its content cannot be decoded. */
#ifndef TG_RUNTIME_JSON_PROBE_H
#define TG_RUNTIME_JSON_PROBE_H

#include <stddef.h>

#include "api/runtime/base/error.h"
#include "api/runtime/base/str.h"

enum { TG_JSON_PROBE_DEPTH = 3 };

struct tg_json_place {
    const char *path[TG_JSON_PROBE_DEPTH + 1]; /* keys, the outermost first, then NULL */
    /* One of the two. A string is copied to text, with a NUL; anything else, and what does not fit
     * or has a NUL in it, leaves "". An object or array is pointed to in data; anything else
     * leaves NULL. */
    char *text;
    size_t size;
    struct tg_str *raw;
};

/* One pass over one whole document. TG_INVALID_ARGUMENT if it is not well-formed, if a key of its
 * outermost three levels is there twice, or if text in them is not UTF-8; deeper, anything that is
 * well-formed passes (nesting up to 10,100). */
int tg_json_probe(const char *data, size_t n, const struct tg_json_place *places, size_t count,
                  struct tg_error *err);

#endif
