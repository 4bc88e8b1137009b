/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator knows of devices and the driver does not: files NAME.yaml of a folder that add
 * attributes to devices, whatever provider they are of.
 *
 *   apiVersion: tangram.dev/v1alpha1
 *   kind: DeviceAttributes
 *   rules:
 *   - match: {}                                    # every device of every node that has the file
 *     attributes: {rack: {string: r7}}
 *   - match: {node: "gpu-node-*", productName: "NVIDIA H100*", pciBusID: "0000:41:00.0"}
 *     attributes: {example.com/rail: {int: 3}}
 *
 * match: all of node, device (name), uuid, pciBusID, productName that are given must fit; the last
 * byte may be '*'. A partition is matched by the uuid and the product of its card, too. Files are
 * read in the order of their names, rules in the order of the document; what comes later replaces
 * what came before, but never what the provider itself tells: that is a problem of the set. A file
 * that is not understood is left out as a whole, or stays as it was when it was read last, and is a
 * problem as long as it is so.
 */
#ifndef TG_DRIVER_PROVIDER_DROPINS_H
#define TG_DRIVER_PROVIDER_DROPINS_H

#include <stddef.h>

#include "driver/provider/provider.h"

#define TG_DROPINS_FILES_MAX 64
#define TG_DROPINS_BYTES_MAX ((size_t)256 << 10) /* of one file */

struct tg_dropins;

/* `folder` need not exist; "" and NULL: there are none. `driver`: keys of that domain are the
 * device's own. Strings are copied. */
struct tg_dropins *tg_dropins_new(const char *folder, const char *node_name, const char *driver);
void tg_dropins_free(struct tg_dropins *dropins); /* NULL is allowed */

/* Reads the folder as it is now, and adds to the devices of the set and to its problems what comes
 * of it. TG_RESOURCE_EXHAUSTED if the set's arena has no room. */
int tg_dropins_apply(struct tg_dropins *dropins, struct tg_device_set *set, struct tg_error *err);

/* A file, decoded. */
struct tg_dropin;
/* TG_INVALID_ARGUMENT: "FILE:LINE: rules[1].match.node: ...". In the arena. */
int tg_dropin_decode(const char *file, const char *data, size_t n, struct tg_arena *arena,
                     const struct tg_dropin **ret, struct tg_error *err);
/* Adds what it says to the devices of a set that fit. */
int tg_dropin_add(const struct tg_dropin *dropin, const char *node_name, const char *driver,
                  struct tg_device_set *set, struct tg_error *err);

#endif
