/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes a slice, a device or a pod's affinity means. */
#ifndef TG_CORE_MODEL_NODE_MATCH_H
#define TG_CORE_MODEL_NODE_MATCH_H

#include <stdbool.h>

#include "api/kubernetes/objects/core.h"
#include "api/kubernetes/objects/node_selector.h"

/* core/v1 NodeSelector: terms are ORed, an empty term matches no node; of fields there is only
 * metadata.name, which the API server sees to; others are empty. What cannot be read (an unknown
 * operator, a wrong number of values) matches no node; the built-in allocator gives up on all nodes
 * then. */
bool tg_node_selector_matches(const struct tg_node_selector *selector, const struct tg_node *node);
/* Does the answer depend on the node's label of that key (NULL: on its name)? */
bool tg_node_selector_reads(const struct tg_node_selector *selector, const char *key);
/* resource.k8s.io: nodeName, else allNodes, else nodeSelector; none of them: no node. */
bool tg_node_matches(const struct tg_node *node, const char *node_name, bool all_nodes,
                     const struct tg_node_selector *selector);

#endif
