/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities as integers of billionths, in which sums are plain additions and nothing is rounded.
 */
#ifndef TG_CORE_MODEL_NANOS_H
#define TG_CORE_MODEL_NANOS_H

#include "api/kubernetes/values/quantity.h"

#define TG_NANOS_ONE ((__int128)1000000000)
/* Larger amounts end here, so that sums of 2^20 of them cannot overflow. It is over 2^63 units. */
#define TG_NANOS_MAX ((__int128)1 << 104)

__int128 tg_nanos_of(const struct tg_quantity *quantity);
/* TG_INVALID_ARGUMENT, TG_OUT_OF_RANGE: as tg_quantity_parse. */
int tg_nanos_parse(const char *text, __int128 *ret, struct tg_error *err);
/* In units, rounded up, away from zero (Quantity.Value). */
__int128 tg_nanos_units(__int128 nanos);
/* The same amount as a quantity, exactly, to be printed in that format. */
struct tg_quantity tg_nanos_quantity(__int128 nanos, enum tg_quantity_format format);

#endif
