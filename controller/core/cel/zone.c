/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a zone: RFC 8536. */
#include "controller/core/cel/zone.h"

#include <string.h>

#include "controller/core/cel/number.h"
#include "controller/core/cel/zone_rule.h"

#define FILE_MAX (256 * 1024)
#define NAME_MAX_BYTES 64

struct tzif {
    const unsigned char *at, *end;
};

static int64_t big_endian(const unsigned char *p, size_t n)
{
    uint64_t v = n == 4 && (p[0] & 0x80) != 0 ? UINT64_MAX : 0;

    for (size_t i = 0; i < n; i++)
        v = v << 8 | p[i];
    return (int64_t)v;
}

struct header {
    size_t isut, isstd, leap, times, types, characters;
};

static bool read_header(const struct tzif *f, struct header *ret)
{
    const unsigned char *p = f->at + 20;

    if (f->end - f->at < 44 || memcmp(f->at, "TZif", 4) != 0)
        return false;
    ret->isut = (size_t)big_endian(p, 4);
    ret->isstd = (size_t)big_endian(p + 4, 4);
    ret->leap = (size_t)big_endian(p + 8, 4);
    ret->times = (size_t)big_endian(p + 12, 4);
    ret->types = (size_t)big_endian(p + 16, 4);
    ret->characters = (size_t)big_endian(p + 20, 4);
    return ret->isut < FILE_MAX && ret->isstd < FILE_MAX && ret->leap < FILE_MAX &&
           ret->times < FILE_MAX && ret->types < FILE_MAX && ret->characters < FILE_MAX;
}

static size_t block_size(const struct header *h, size_t width)
{
    return h->times * (width + 1) + h->types * 6 + h->characters + h->leap * (width + 4) +
           h->isstd + h->isut;
}

/* The 64-bit block of a file, taken apart. */
struct zone {
    const unsigned char *times, *indexes, *types;
    const char *rule; /* for what comes after the last transition */
    size_t n_times, n_types, n_rule;
};

static bool read_zone(const unsigned char *data, size_t n, struct zone *ret)
{
    struct tzif f = {.at = data, .end = data + n};
    const char *line_end;
    struct header h;

    if (!read_header(&f, &h) || f.at[4] < '2' || block_size(&h, 4) + 44 > (size_t)(f.end - f.at))
        return false;
    f.at += 44 + block_size(&h, 4); /* the second block has 64-bit times */
    if (!read_header(&f, &h) || h.types == 0 || block_size(&h, 8) + 44 > (size_t)(f.end - f.at))
        return false;
    f.at += 44;
    *ret = (struct zone){.times = f.at, .n_times = h.times, .n_types = h.types};
    ret->indexes = f.at + h.times * 8;
    ret->types = f.at + h.times * 9;
    f.at += block_size(&h, 8);
    if (f.end - f.at < 2 || *f.at != '\n')
        return true;
    ret->rule = (const char *)f.at + 1;
    line_end = memchr(ret->rule, '\n', (size_t)(f.end - f.at) - 1);
    ret->n_rule = line_end == NULL ? 0 : (size_t)(line_end - ret->rule);
    return true;
}

static bool is_summer(const struct zone *z, size_t type)
{
    return z->types[6 * type + 4] != 0;
}

static bool is_used(const struct zone *z, size_t type)
{
    return z->n_times > 0 && memchr(z->indexes, (int)type, z->n_times) != NULL;
}

/* The type that held before the first transition, as Go finds it: the first one if no transition
 * leads to it, or else one that is no summer time. */
static size_t first_type(const struct zone *z)
{
    if (!is_used(z, 0))
        return 0;
    if (z->n_times > 0 && z->indexes[0] < z->n_types && is_summer(z, z->indexes[0])) {
        for (size_t i = z->indexes[0]; i > 0; i--) {
            if (!is_summer(z, i - 1))
                return i - 1;
        }
    }
    for (size_t i = 0; i < z->n_types; i++) {
        if (!is_summer(z, i))
            return i;
    }
    return 0;
}

static bool find_offset(const unsigned char *data, size_t n, int64_t at, int64_t *ret)
{
    struct zone z;
    size_t low = 0, high, type;

    if (!read_zone(data, n, &z))
        return false;
    high = z.n_times;
    while (low < high) { /* the first transition behind `at` */
        size_t middle = (low + high) / 2;

        if (big_endian(z.times + 8 * middle, 8) <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == z.n_times && z.n_rule > 0 && tg_cel_zone_rule_offset(z.rule, z.n_rule, at, ret))
        return true;
    type = low == 0 ? first_type(&z) : z.indexes[low - 1];
    if (type >= z.n_types)
        return false;
    *ret = big_endian(z.types + 6 * type, 4);
    return true;
}

/* +hh:mm, as lenient as strconv.Atoi is on both sides of the colon. */
static bool numeric_offset(const char *name, size_t n, const char *colon, int64_t *ret)
{
    int64_t hours = 0, minutes = 0, total;

    if (!tg_cel_parse_int(name, (size_t)(colon - name), &hours) ||
        !tg_cel_parse_int(colon + 1, (size_t)(name + n - colon - 1), &minutes) || hours > 1000 ||
        hours < -1000 || minutes > 1000 || minutes < -1000)
        return false;
    total = *name == '-' ? hours * 60 - minutes : hours * 60 + minutes;
    *ret = total * 60;
    return true;
}

bool tg_cel_zone_offset(const struct tg_cel_zones *zones, const char *name, size_t n, int64_t at,
                        int64_t *ret)
{
    const char *colon = n == 0 ? NULL : memchr(name, ':', n);
    char copy[NAME_MAX_BYTES + 1];
    const void *data;
    size_t n_data = 0;

    *ret = 0;
    if (n == 0 || (n == 3 && memcmp(name, "UTC", 3) == 0) ||
        (n == 5 && memcmp(name, "Local", 5) == 0))
        return true;
    if (colon != NULL)
        return numeric_offset(name, n, colon, ret);
    if (zones == NULL || n > NAME_MAX_BYTES || *name == '/' || *name == '\\' ||
        memchr(name, '\0', n) != NULL || memmem(name, n, "..", 2) != NULL)
        return false;
    memcpy(copy, name, n);
    copy[n] = '\0';
    data = zones->find(zones->context, copy, &n_data);
    return data != NULL && find_offset(data, n_data, at, ret);
}
