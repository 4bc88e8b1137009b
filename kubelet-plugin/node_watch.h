/* SPDX-License-Identifier: Apache-2.0 */
/* Our Node object: its uid, and whether it offers the same cards by another way. */
#ifndef TG_PLUGIN_NODE_WATCH_H
#define TG_PLUGIN_NODE_WATCH_H

#include "api/kubernetes/client/client.h"
#include "api/kubernetes/objects/core.h"
#include "api/runtime/base/buf.h"

/*
 * Two ways to the same cards mean two owners: appends a sentence for people if the node offers any
 * of the extended resources in `list` ("nvidia.com/gpu,nvidia.com/mig-*") and returns true. Pure.
 */
bool tg_node_conflict(const struct tg_node *node, const char *list, struct tg_buf *why);

struct tg_node_watch;
struct tg_node_watch_config {
    const char *node_name;             /* borrowed, as all */
    const char *conflicting_resources; /* as above */
    /* uid NULL: there is no such Node. blocked NULL: no conflict. Only when one of them changed. */
    void (*changed)(void *data, const struct tg_object_meta *node, const char *blocked);
    void *data;
};

struct tg_node_watch *tg_node_watch_new(struct tg_kube_client *client,
                                        const struct tg_node_watch_config *config);
void tg_node_watch_free(struct tg_node_watch *watch); /* NULL is allowed */

#endif
