/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes say the same in their labels. Nodes with the same number (tg_fleet_node.labels) have
 * the same keys, and the same values but for those that a node has for itself alone (its name, a
 * serial number): what asks for none of the latter is answered once for all of them.
 */
#ifndef TG_CORE_MODEL_LABELS_H
#define TG_CORE_MODEL_LABELS_H

#include "api/kubernetes/objects/meta.h"
#include "controller/core/model/view.h"

struct tg_model;

/* The number, above 0, of the labels of a node of that name, used once more. Keys and values are
 * strings of the model, used by nobody else because of this node. */
uint32_t tg_labels_keep(struct tg_model *model, const char *name,
                        const struct tg_string_pair *labels, size_t n);
void tg_labels_leave(struct tg_model *model, uint32_t labels); /* 0 is allowed */

/* Numbers are below that, for now. */
size_t tg_fleet_labels(const struct tg_fleet *fleet);
/* Does reads say yes to a key whose value a node with these labels has for itself? */
bool tg_labels_tell(const struct tg_fleet *fleet, uint32_t labels,
                    bool (*reads)(const void *data, const char *key), const void *data);

#endif
