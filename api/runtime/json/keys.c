/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/json/keys.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

/* Objects up to this size are compared pair by pair, which is faster than sorting. */
#define SMALL_OBJECT 16

void tg_json_keys_done(struct tg_json_keys *keys)
{
    free(keys->items);
    *keys = (struct tg_json_keys){0};
}

void tg_json_keys_push(struct tg_json_keys *keys, const char *text, size_t n, int stable)
{
    if (keys->n == keys->capacity) {
        keys->capacity = keys->capacity == 0 ? 64 : keys->capacity * 2;
        keys->items = tg_xreallocarray(keys->items, keys->capacity, sizeof(*keys->items));
    }
    keys->items[keys->n++] =
        (struct tg_json_key){.hash = tg_hash64(text, n), .n = n, .text = stable ? text : NULL};
}

static int compare_keys(const void *left, const void *right)
{
    const struct tg_json_key *a = left;
    const struct tg_json_key *b = right;

    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    if (a->text == NULL || b->text == NULL)
        return 0;
    return memcmp(a->text, b->text, a->n);
}

static const struct tg_json_key *find_pairwise(const struct tg_json_key *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (items[i].hash == items[j].hash && compare_keys(&items[i], &items[j]) == 0)
                return &items[i];
        }
    }
    return NULL;
}

static const struct tg_json_key *find_sorted(struct tg_json_key *items, size_t n)
{
    qsort(items, n, sizeof(*items), compare_keys);
    for (size_t i = 1; i < n; i++) {
        if (compare_keys(&items[i - 1], &items[i]) == 0)
            return &items[i];
    }
    return NULL;
}

const struct tg_json_key *tg_json_keys_pop(struct tg_json_keys *keys, size_t base)
{
    size_t n = keys->n - base;
    struct tg_json_key *items;

    keys->n = base;
    if (n < 2)
        return NULL;
    items = keys->items + base;
    return n <= SMALL_OBJECT ? find_pairwise(items, n) : find_sorted(items, n);
}
