/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of bytes numbered in the order in which they were first seen, compared in full. */
#ifndef TG_CORE_FIT_BLOBS_H
#define TG_CORE_FIT_BLOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"

struct tg_fit_blob {
    const unsigned char *data;
    size_t n;
    uint64_t hash;
};

struct tg_fit_blobs {
    struct tg_arena *arena;
    struct tg_fit_blob *items;
    size_t n, max;
    size_t *slots; /* index + 1, 0: empty */
    size_t n_slots;
};

/* Room for at most max of them. */
int tg_fit_blobs_init(struct tg_fit_blobs *blobs, size_t max, struct tg_arena *arena,
                      struct tg_error *err);
/* Forgets all of them; their room stays. */
void tg_fit_blobs_clear(struct tg_fit_blobs *blobs);
bool tg_fit_blobs_has(const struct tg_fit_blobs *blobs, const void *data, size_t n);
/* The number of the string; it is copied if it is new. TG_RESOURCE_EXHAUSTED: the arena. At most
 * max different ones may be added. */
int tg_fit_blobs_add(struct tg_fit_blobs *blobs, const void *data, size_t n, size_t *ret,
                     struct tg_error *err);

/* A string that is being put together; it is used again and again. */
struct tg_fit_bytes {
    struct tg_arena *arena;
    unsigned char *data;
    size_t n, capacity;
    int rc; /* the first failure; nothing is appended after it */
    struct tg_error *err;
};
void tg_fit_bytes_put(struct tg_fit_bytes *bytes, const void *data, size_t n);
void tg_fit_bytes_number(struct tg_fit_bytes *bytes, size_t number);
void tg_fit_bytes_amount(struct tg_fit_bytes *bytes, __int128 amount);

#endif
