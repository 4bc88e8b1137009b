/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/nvml/loader_cache.h"

#include <stdint.h>
#include <string.h>

#define OLD_MAGIC "ld.so-1.7.0"
#define NEW_MAGIC "glibc-ld.so.cache1.1"
#define OLD_HEADER 16 /* magic, then the number of entries of 12 bytes */
#define OLD_ENTRY 12
#define NEW_HEADER 48 /* magic, number of entries, bytes of strings, and what we do not need */
#define NEW_ENTRY 24  /* flags, name, path, and what we do not need */
#define ALIGNMENT 8

/* FLAG_ELF_LIBC6 with the architecture (sysdeps of glibc). */
#if defined(__x86_64__)
#define FLAGS 0x0303
#elif defined(__aarch64__)
#define FLAGS 0x0a03
#else
#define FLAGS 0x0003
#endif

static uint32_t number_at(const char *data)
{
    uint32_t number;
    memcpy(&number, data, sizeof(number));
    return number;
}

/* Older systems put an older format in front. */
static size_t find_start(const char *data, size_t n)
{
    if (n < OLD_HEADER || memcmp(data, OLD_MAGIC, sizeof(OLD_MAGIC) - 1) != 0)
        return 0;
    uint64_t end = OLD_HEADER + (uint64_t)number_at(data + OLD_HEADER - 4) * OLD_ENTRY;
    end = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return end < n ? (size_t)end : n;
}

/* A string that ends inside the file, or NULL. */
static const char *string_at(const char *data, size_t n, uint32_t offset)
{
    return offset < n && memchr(data + offset, '\0', n - offset) != NULL ? data + offset : NULL;
}

int tg_loader_cache_each(const char *data, size_t n,
                         int (*found)(void *data, const char *name, const char *path,
                                      struct tg_error *err),
                         void *found_data, struct tg_error *err)
{
    size_t start = find_start(data, n);
    if (n - start < NEW_HEADER || memcmp(data + start, NEW_MAGIC, sizeof(NEW_MAGIC) - 1) != 0)
        return tg_error_set(err, TG_DATA_LOSS, "this is no cache of the dynamic loader");
    data += start;
    n -= start;
    uint32_t entries = number_at(data + sizeof(NEW_MAGIC) - 1);
    if (entries > (n - NEW_HEADER) / NEW_ENTRY)
        return tg_error_set(err, TG_DATA_LOSS, "the cache of the dynamic loader is cut off");
    for (uint32_t i = 0; i < entries; i++) {
        const char *entry = data + NEW_HEADER + (size_t)i * NEW_ENTRY;
        const char *name = string_at(data, n, number_at(entry + 4));
        const char *path = string_at(data, n, number_at(entry + 8));
        if (number_at(entry) != FLAGS || name == NULL || path == NULL)
            continue;
        int rc = found(found_data, name, path, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}
