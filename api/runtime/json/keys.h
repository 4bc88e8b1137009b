/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of all objects that are open while a document is read, to find duplicates. A stack: an
 * object remembers its base, and its keys are checked and dropped when it closes. Costs O(n log n)
 * for any input. */
#ifndef TG_RUNTIME_JSON_KEYS_H
#define TG_RUNTIME_JSON_KEYS_H

#include <stddef.h>
#include <stdint.h>

struct tg_json_key {
    uint64_t hash;
    size_t n;
    const char *text; /* NULL: only the hash is known */
};

struct tg_json_keys {
    struct tg_json_key *items;
    size_t n;
    size_t capacity;
};

void tg_json_keys_done(struct tg_json_keys *keys);
/* `text` is the decoded key. It is kept by address if `stable` (it outlives the object); otherwise
 * only its 64-bit hash and length are, and keys that agree in both count as the same. */
void tg_json_keys_push(struct tg_json_keys *keys, const char *text, size_t n, int stable);
/* Drops the keys from `base` on. Returns one that was there twice, or NULL; valid until the next
 * push. */
const struct tg_json_key *tg_json_keys_pop(struct tg_json_keys *keys, size_t base);

#endif
