/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/zoneinfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/file.h"
#include "api/runtime/base/map.h"
#include "api/runtime/base/mem.h"

#define PATH_BYTES 512

struct tg_zoneinfo {
    char *folder;
    struct tg_map *zones; /* name -> struct zone */
    size_t kept;
};

struct zone {
    size_t n;
    char data[];
};

struct tg_zoneinfo *tg_zoneinfo_new(const char *folder)
{
    struct tg_zoneinfo *z = tg_xmalloc(sizeof(*z));

    *z = (struct tg_zoneinfo){.folder = tg_xstrdup(folder), .zones = tg_map_new(free)};
    return z;
}

void tg_zoneinfo_free(struct tg_zoneinfo *zoneinfo)
{
    if (zoneinfo == NULL)
        return;
    tg_map_free(zoneinfo->zones);
    free(zoneinfo->folder);
    free(zoneinfo);
}

static struct zone *read_zone(const struct tg_zoneinfo *z, const char *name)
{
    TG_AUTOBUF struct tg_buf data = TG_BUF_INIT(TG_ZONEINFO_ZONE);
    char path[PATH_BYTES];
    struct zone *zone;
    int n = snprintf(path, sizeof(path), "%s/%s", z->folder, name);

    if (n >= (int)sizeof(path) || tg_file_read(path, &data, NULL) < 0 || data.len == 0)
        return NULL;
    zone = tg_xmalloc(sizeof(*zone) + data.len);
    zone->n = data.len;
    memcpy(zone->data, data.data, data.len);
    return zone;
}

const void *tg_zoneinfo_find(void *zoneinfo, const char *name, size_t *ret_n)
{
    struct tg_zoneinfo *z = zoneinfo;
    struct zone *zone = tg_map_get(z->zones, name);

    if (zone == NULL) {
        if (*name == '\0' || *name == '/' || strstr(name, "..") != NULL ||
            z->kept > TG_ZONEINFO_ALL - TG_ZONEINFO_ZONE)
            return NULL;
        zone = read_zone(z, name);
        if (zone == NULL)
            return NULL;
        z->kept += zone->n;
        tg_map_set(z->zones, name, zone);
    }
    *ret_n = zone->n;
    return zone->data;
}
