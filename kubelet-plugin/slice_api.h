/* SPDX-License-Identifier: Apache-2.0 */
/* ResourceSlices of one driver on one node at the API server: an informer for what is there,
 * requests for what is written. */
#ifndef TG_PLUGIN_SLICE_API_H
#define TG_PLUGIN_SLICE_API_H

#include "api/kubernetes/client/client.h"
#include "kubelet-plugin/publisher.h"

struct tg_slice_api;

/* Begins to watch. changed: what `observe` tells is different now; lost: the watch broke (it comes
 * back), so the server may be another one. */
struct tg_slice_api *tg_slice_api_new(struct tg_kube_client *client, const char *driver,
                                      const char *node_name, void (*changed)(void *data),
                                      void (*lost)(void *data), void *data);
/* A running operation is cancelled. NULL is allowed. */
void tg_slice_api_free(struct tg_slice_api *api);
const struct tg_publisher_api *tg_slice_api_publisher(struct tg_slice_api *api);

#endif
