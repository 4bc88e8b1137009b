/* SPDX-License-Identifier: Apache-2.0 */
/* Counter sets of a pool. No device that consumes them is allocated in this version, but a pool
 * whose counters contradict themselves is invalid as a whole, as for the built-in allocator. */
#ifndef TG_CORE_MODEL_COUNTERS_H
#define TG_CORE_MODEL_COUNTERS_H

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"

/* slices: n struct tg_resource_slice, the whole pool of one generation. *ret_why is set (static
 * text) when two sets have one name or a device consumes a set or counter that is not there. */
int tg_counters_check(const void *const *slices, size_t n, struct tg_arena *arena,
                      const char **ret_why, struct tg_error *err);

#endif
