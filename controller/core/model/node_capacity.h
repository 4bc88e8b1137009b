/* SPDX-License-Identifier: Apache-2.0 */
/* Capacities of a device, and what live shares of it take. Private to the model. */
#ifndef TG_CORE_MODEL_NODE_CAPACITY_H
#define TG_CORE_MODEL_NODE_CAPACITY_H

#include "controller/core/model/model.h"
#include "controller/core/model/node_view.h"

/* capacity and n_capacity of the row; barred if a quantity is none. held: of the device, or NULL.
 * Of a share whose amount is none, the whole value counts as used. */
int tg_node_capacity_of(const struct tg_held *held, struct tg_view_device *row,
                        struct tg_arena *arena, struct tg_error *err);

#endif
