/* SPDX-License-Identifier: Apache-2.0 */
/* Claims are read from the API server. */
#ifndef TG_PLUGIN_CLAIM_API_H
#define TG_PLUGIN_CLAIM_API_H

#include "api/kubernetes/client/client.h"
#include "kubelet-plugin/claims.h"

/* A source that borrows the client. */
struct tg_claim_source tg_claim_api_source(struct tg_kube_client *client);

#endif
