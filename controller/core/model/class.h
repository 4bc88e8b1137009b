/* SPDX-License-Identifier: Apache-2.0 */
/* Device classes: whose they are, and their selectors compiled once. Private to the model. */
#ifndef TG_CORE_MODEL_CLASS_H
#define TG_CORE_MODEL_CLASS_H

#include "controller/core/model/view.h"

/* The class as a row in the arena, its compiled selectors in the other one: a class for which that
 * is too small counts as refused. The object and both arenas must outlive the row. NULL: no memory
 * for the row. */
struct tg_fleet_class *tg_class_read(const struct tg_device_class *klass, const char *instance,
                                     const struct tg_selector_options *options,
                                     struct tg_arena *arena, struct tg_arena *selectors);

#endif
