/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical form of a quantity is a quantity of the same value. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/values/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char text[256], canonical[256];
    struct tg_quantity q, again;

    if (n >= sizeof(text))
        return 0;
    memcpy(text, data, n);
    text[n] = '\0';
    if (tg_quantity_parse(text, &q, NULL) < 0 ||
        tg_quantity_format(&q, canonical, sizeof(canonical)) < 0)
        return 0;
    if (tg_quantity_parse(canonical, &again, NULL) < 0 || tg_quantity_cmp(&q, &again) != 0)
        abort();
    return 0;
}
