/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CDI documents: one file a prepared claim, `<folder>/k8s.<driver>-claim_<uid>.json`, kind
 * `k8s.<driver>/claim`.
 *
 * In it one CDI device a result, `<uid>_<request>_<device>` (and `_<share id>`), each with a name
 * of its own: the kubelet reports health by that name, and a pod status in which a name is there
 * twice is refused. The kubelet passes those of the requests that a container uses. Of one variable
 * the last value wins when a container gets several CDI devices, so:
 *
 *   TANGRAM_DEVICES        all devices of the request, comma-separated in the order of the results,
 *   TANGRAM_DEVICE_UUIDS   and the same in each of its CDI devices: exact for a container that uses
 *                          one request
 *   what the provider      under names that are that device's own: complete for every container
 *   wants for a device
 *
 * An annotation carries the claim's record, so that a lost journal is rebuilt from the documents.
 * Version 0.6.0 is the lowest that knows annotations. Device nodes, mounts and hooks are what the
 * provider says, for each device and once for all.
 */
#ifndef TG_DRIVER_PREPARE_CDI_H
#define TG_DRIVER_PREPARE_CDI_H

#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"
#include "driver/prepare/crash.h"
#include "driver/prepare/record.h"
#include "driver/provider/provider.h"

#define TG_CDI_BYTES_MAX ((size_t)256 << 10)

struct tg_cdi {
    const char *folder;
    const char *driver;
    struct tg_prepare_crash *crash;
    struct tg_provider *provider; /* for what containers need besides variables; NULL: nothing */
};

/* "k8s.<driver>/claim=<uid>_<request>_<device>" in the arena; NULL when it is exhausted. */
const char *tg_cdi_id(const struct tg_cdi *cdi, const char *uid,
                      const struct tg_claim_device *device, struct tg_arena *arena);
/* The document of a claim. TG_NOT_FOUND (retry) if a device is not in the set; what the provider
 * says if it cannot tell what a container needs. */
int tg_cdi_render(const struct tg_cdi *cdi, const struct tg_claim_record *claim,
                  const struct tg_device_set *set, struct tg_buf *out, struct tg_error *err);
/* Writes it durably unless the file has exactly this content; *written tells. */
int tg_cdi_write(const struct tg_cdi *cdi, const struct tg_claim_record *claim,
                 const struct tg_device_set *set, bool *written, struct tg_error *err);
/* A file that is not there is success. */
int tg_cdi_remove(const struct tg_cdi *cdi, const char *uid, struct tg_error *err);

/* A document in the folder under our name, that of claim `uid`. `record` is NULL when the content
 * cannot be read as ours; otherwise it is validated, about that claim, and lives until the callback
 * returns. */
typedef int (*tg_cdi_found)(void *data, const char *uid, const struct tg_claim_record *record,
                            struct tg_error *err);
/* Calls `found` for each document of ours, in the order of their names, and removes temporary files
 * that a crash left behind. Stops at its first negative return. */
int tg_cdi_scan(const struct tg_cdi *cdi, tg_cdi_found found, void *data, struct tg_error *err);

#endif
