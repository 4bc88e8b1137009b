/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/nanos.h"

#define NANO_SCALE 9
#define DIGITS_MAX 9

static __int128 clamp(__int128 nanos)
{
    if (nanos > TG_NANOS_MAX)
        return TG_NANOS_MAX;
    return nanos < -TG_NANOS_MAX ? -TG_NANOS_MAX : nanos;
}

__int128 tg_nanos_of(const struct tg_quantity *quantity)
{
    __int128 nanos = clamp(quantity->mantissa);
    int32_t scale = quantity->scale + NANO_SCALE;

    /* Clamped in each step: ten times the limit is far from the end of the type. */
    for (; scale > 0 && nanos != 0 && nanos != TG_NANOS_MAX && nanos != -TG_NANOS_MAX; scale--)
        nanos = clamp(nanos * 10);
    if (scale < 0)
        nanos = quantity->mantissa;
    for (; scale < 0 && nanos != 0; scale++)
        nanos = nanos / 10 + (nanos % 10 > 0) - (nanos % 10 < 0);
    return clamp(nanos);
}

/* Most texts are a few digits ("1"): those are read without the grammar of quantities. */
static bool read_digits(const char *text, __int128 *ret)
{
    int64_t value = 0;
    size_t n = 0;

    for (; n < DIGITS_MAX && text[n] >= '0' && text[n] <= '9'; n++)
        value = value * 10 + (text[n] - '0');
    if (n == 0 || text[n] != '\0')
        return false;
    *ret = value * (__int128)TG_NANOS_ONE;
    return true;
}

int tg_nanos_parse(const char *text, __int128 *ret, struct tg_error *err)
{
    struct tg_quantity quantity;
    int rc = 0;

    if (read_digits(text, ret))
        return 0;
    rc = tg_quantity_parse(text, &quantity, err);
    if (rc == 0)
        *ret = tg_nanos_of(&quantity);
    return rc;
}

__int128 tg_nanos_units(__int128 nanos)
{
    __int128 rest = nanos % TG_NANOS_ONE;

    return nanos / TG_NANOS_ONE + (rest > 0) - (rest < 0);
}

struct tg_quantity tg_nanos_quantity(__int128 nanos, enum tg_quantity_format format)
{
    struct tg_quantity quantity = {.mantissa = nanos, .scale = -NANO_SCALE, .format = format};

    if (nanos == 0)
        quantity.scale = 0;
    for (; quantity.mantissa != 0 && quantity.mantissa % 10 == 0; quantity.scale++)
        quantity.mantissa /= 10;
    return quantity;
}
