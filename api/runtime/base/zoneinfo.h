/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time zone database of the system (TZif files, RFC 8536), read once a zone and kept: what a
 * decision has seen of a zone it sees until the process ends, and no decision waits for a disk
 * twice.
 */
#ifndef TG_RUNTIME_BASE_ZONEINFO_H
#define TG_RUNTIME_BASE_ZONEINFO_H

#include <stddef.h>

#define TG_ZONEINFO_FOLDER "/usr/share/zoneinfo"
/* Bytes of one zone, and of all that are kept; a database has 600 zones of at most 4 KB. */
#define TG_ZONEINFO_ZONE ((size_t)64 * 1024)
#define TG_ZONEINFO_ALL ((size_t)8 * 1024 * 1024)

struct tg_zoneinfo;

/* folder is copied; it need not be there. */
struct tg_zoneinfo *tg_zoneinfo_new(const char *folder);
void tg_zoneinfo_free(struct tg_zoneinfo *zoneinfo); /* NULL is allowed */
/* The file of a zone ("Europe/Berlin"), valid until tg_zoneinfo_free; NULL: there is none, the name
 * leaves the folder, or the bounds above are reached. zoneinfo is void so that this is the callback
 * that a user of zones takes. Not for several threads at once. */
const void *tg_zoneinfo_find(void *zoneinfo, const char *name, size_t *ret_n);

#endif
