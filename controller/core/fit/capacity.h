/* SPDX-License-Identifier: Apache-2.0 */
/* What a share of a device consumes, and whether a device has it (resource.k8s.io requestPolicy;
 * dynamic-resource-allocation, consumable_capacity.go). Amounts in billionths. */
#ifndef TG_CORE_FIT_CAPACITY_H
#define TG_CORE_FIT_CAPACITY_H

#include "controller/core/fit/book.h"
#include "controller/core/model/node_view.h"

/* What one result consumes of the capacity: what is asked for (NULL: nothing), raised to what the
 * policy allows; nothing asked: the policy's default, else the whole value. fractional: ranges
 * count in thousandths where all of their numbers are whole thousandths
 * (DRAFractionalCapacityRange). */
__int128 tg_fit_capacity_amount(const struct tg_view_capacity *capacity, const __int128 *asked,
                                bool fractional);
/* Does the policy permit that amount? */
bool tg_fit_capacity_allows(const struct tg_view_capacity *capacity, __int128 amount,
                            bool fractional);
/* What the want asks for under that name, NULL if nothing. */
const __int128 *tg_fit_capacity_asked(const struct tg_fit_want *want, const char *name);
/* Does the device have every capacity that the want names, and enough of each beside what live
 * shares use (used) and beside `mine` (one a capacity, NULL: nothing)? */
bool tg_fit_capacity_fits(const struct tg_view_device *device, const struct tg_fit_want *want,
                          bool fractional, bool used, const __int128 *mine);

#endif
