/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for devices of a view that are alike in everything that a search looks at. Private to the
 * model. */
#ifndef TG_CORE_MODEL_NODE_SHAPE_H
#define TG_CORE_MODEL_NODE_SHAPE_H

#include "controller/core/model/node_view.h"

/* Fills shape of all n rows, which are otherwise complete, and says how many there are. contents:
 * of each row the number under which the model keeps its content (content.c): the same number, the
 * same driver and device but for the name. Content is compared, not only hashes of it.
 * TG_RESOURCE_EXHAUSTED. */
int tg_node_shapes(struct tg_view_device *rows, const uint32_t *numbers, size_t n,
                   struct tg_arena *arena, size_t *ret_n, struct tg_error *err);

#endif
