/* SPDX-License-Identifier: Apache-2.0 */
/* The only look outside of the core: the zone files do not change while a decision runs, and a
 * selector that names a zone is a curiosity. TZif: RFC 8536. */
#include "controller/core/cel/zone.h"

#include <stdio.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "controller/core/cel/number.h"

#define FILE_MAX (256 * 1024)

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

/* The offset of the last transition at or before `at`; before the first, of the first type. */
static bool find_offset(const unsigned char *data, size_t n, int64_t at, int64_t *ret)
{
    struct tzif f = {.at = data, .end = data + n};
    const unsigned char *types, *type;
    struct header h;
    size_t i = 0, which = 0;

    if (!read_header(&f, &h) || f.at[4] < '2' || block_size(&h, 4) + 44 > (size_t)(f.end - f.at))
        return false;
    f.at += 44 + block_size(&h, 4); /* the second block has 64-bit times */
    if (!read_header(&f, &h) || h.types == 0 || block_size(&h, 8) + 44 > (size_t)(f.end - f.at))
        return false;
    f.at += 44;
    types = f.at + h.times * 9;
    while (i < h.times && big_endian(f.at + 8 * i, 8) <= at)
        i++;
    if (i > 0)
        which = f.at[8 * h.times + i - 1];
    if (which >= h.types)
        return false;
    type = types + 6 * which;
    *ret = big_endian(type, 4);
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

bool tg_cel_zone_offset(const char *name, size_t n, int64_t at, int64_t *ret)
{
    static const char folder[] = "/usr/share/zoneinfo/";
    unsigned char data[FILE_MAX / 8];
    const char *colon = n == 0 ? NULL : memchr(name, ':', n);
    TG_AUTOFCLOSE FILE *file = NULL;
    char path[128];

    *ret = 0;
    if (n == 0 || (n == 3 && memcmp(name, "UTC", 3) == 0))
        return true;
    if (colon != NULL)
        return numeric_offset(name, n, colon, ret);
    if (n > 64 || *name == '/' || memchr(name, '\0', n) != NULL || memmem(name, n, "..", 2) != NULL)
        return false;
    snprintf(path, sizeof(path), "%s%.*s", folder, (int)n, name);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    return find_offset(data, fread(data, 1, sizeof(data), file), at, ret);
}
