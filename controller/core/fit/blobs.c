/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/blobs.h"

#include <string.h>

#include "controller/core/model/sort.h"

int tg_fit_blobs_init(struct tg_fit_blobs *blobs, size_t max, struct tg_arena *arena,
                      struct tg_error *err)
{
    int rc = 0;

    *blobs = (struct tg_fit_blobs){.arena = arena, .max = max, .n_slots = 8};
    while (blobs->n_slots < 2 * max)
        blobs->n_slots *= 2;
    rc = tg_core_alloc(arena, max, sizeof(*blobs->items), &blobs->items, err);
    return rc < 0 ? rc
                  : tg_core_alloc(arena, blobs->n_slots, sizeof(*blobs->slots), &blobs->slots, err);
}

void tg_fit_blobs_clear(struct tg_fit_blobs *blobs)
{
    memset(blobs->slots, 0, blobs->n_slots * sizeof(*blobs->slots));
    blobs->n = 0;
}

/* FNV-1a, eight bytes at a time where there are eight, then mixed. */
static uint64_t hash_of(const unsigned char *data, size_t n)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325), word;

    for (; n >= sizeof(word); data += sizeof(word), n -= sizeof(word)) {
        memcpy(&word, data, sizeof(word));
        hash = (hash ^ word) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
    }
    for (; n > 0; data++, n--)
        hash = (hash ^ *data) * UINT64_C(0x100000001b3);
    hash ^= hash >> 32;
    return hash;
}

/* The slot where it is, or where it would go. */
static size_t slot_of(const struct tg_fit_blobs *blobs, const void *data, size_t n, uint64_t hash)
{
    size_t slot = (size_t)hash & (blobs->n_slots - 1);

    for (; blobs->slots[slot] != 0; slot = (slot + 1) & (blobs->n_slots - 1)) {
        const struct tg_fit_blob *item = &blobs->items[blobs->slots[slot] - 1];

        if (item->hash == hash && item->n == n && memcmp(item->data, data, n) == 0)
            break;
    }
    return slot;
}

bool tg_fit_blobs_has(const struct tg_fit_blobs *blobs, const void *data, size_t n)
{
    return blobs->slots[slot_of(blobs, data, n, hash_of(data, n))] != 0;
}

int tg_fit_blobs_add(struct tg_fit_blobs *blobs, const void *data, size_t n, size_t *ret,
                     struct tg_error *err)
{
    uint64_t hash = hash_of(data, n);
    size_t slot = slot_of(blobs, data, n, hash);
    unsigned char *copy;
    int rc = 0;

    if (blobs->slots[slot] == 0) {
        rc = tg_core_alloc(blobs->arena, n, 1, &copy, err);
        if (rc < 0)
            return rc;
        if (n > 0)
            memcpy(copy, data, n);
        blobs->items[blobs->n] = (struct tg_fit_blob){.data = copy, .n = n, .hash = hash};
        blobs->slots[slot] = ++blobs->n;
    }
    *ret = blobs->slots[slot] - 1;
    return 0;
}

void tg_fit_bytes_put(struct tg_fit_bytes *bytes, const void *data, size_t n)
{
    if (bytes->rc < 0 || n == 0)
        return;
    if (bytes->n + n > bytes->capacity) {
        size_t capacity = 2 * (bytes->n + n) + 64;
        unsigned char *grown;

        bytes->rc = tg_core_alloc(bytes->arena, capacity, 1, &grown, bytes->err);
        if (bytes->rc < 0)
            return;
        if (bytes->n > 0)
            memcpy(grown, bytes->data, bytes->n);
        bytes->data = grown;
        bytes->capacity = capacity;
    }
    memcpy(bytes->data + bytes->n, data, n);
    bytes->n += n;
}

void tg_fit_bytes_number(struct tg_fit_bytes *bytes, size_t number)
{
    tg_fit_bytes_put(bytes, &number, sizeof(number));
}

void tg_fit_bytes_amount(struct tg_fit_bytes *bytes, __int128 amount)
{
    tg_fit_bytes_put(bytes, &amount, sizeof(amount));
}
