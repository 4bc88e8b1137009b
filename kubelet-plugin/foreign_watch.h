/* SPDX-License-Identifier: Apache-2.0 */
/* The ResourceSlices of other drivers on our node: whether one of them offers our cards as well. */
#ifndef TG_PLUGIN_FOREIGN_WATCH_H
#define TG_PLUGIN_FOREIGN_WATCH_H

#include "api/kubernetes/client/client.h"
#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/buf.h"
#include "driver/provider/provider.h"

/*
 * A card that two drivers publish has two owners. Appends a sentence for people if a device of
 * `slices` (of other drivers, same node) is one of `devices` or a part of the same card, and
 * returns true: an attribute uuid or parentUUID, of whatever domain, has the value of one of ours,
 * or pciBusID has. Slices without spec (they could not be read) tell nothing. Of several conflicts
 * the first by driver and device is told, so that the text does not depend on the order. Pure.
 */
bool tg_foreign_conflict(const struct tg_device_set *devices,
                         const struct tg_resource_slice *const *slices, size_t n,
                         struct tg_buf *why);

struct tg_foreign_watch;
struct tg_foreign_watch_config {
    const char *driver; /* ours; borrowed, as all */
    const char *node_name;
    /* How long no conflict must have been seen before one is over, in nanoseconds; up to a quarter
     * is added by chance, so that two drivers that waited for each other do not both begin again.
     * The kubelet removes the slices of all drivers when it starts, and other drivers put theirs
     * back only 30 s later. */
    int64_t grace;
    /* blocked NULL: no other driver offers our cards; otherwise why nothing may be published. First
     * when the slices are known and the devices too, then whenever it changes. */
    void (*changed)(void *data, const char *blocked);
    void *data;
};

struct tg_foreign_watch *tg_foreign_watch_new(struct tg_kube_client *client,
                                              const struct tg_foreign_watch_config *config);
void tg_foreign_watch_free(struct tg_foreign_watch *watch); /* NULL is allowed */
/* Our devices; borrowed. May call `changed`. */
void tg_foreign_watch_set_devices(struct tg_foreign_watch *watch,
                                  const struct tg_device_set *devices);

#endif
