/* SPDX-License-Identifier: Apache-2.0 */
/* Device classes: whose they are, and their selectors compiled once. Private to the model. */
#ifndef TG_CORE_MODEL_CLASS_H
#define TG_CORE_MODEL_CLASS_H

#include "controller/core/model/view.h"

/* The class as a row, in the arena, whose budget is for what its selectors need: one for which it
 * is too small counts as refused. The object must outlive the row. NULL: not even the row. */
struct tg_fleet_class *tg_class_read(const struct tg_device_class *klass, const char *instance,
                                     const struct tg_selector_options *options,
                                     struct tg_arena *arena);

#endif
