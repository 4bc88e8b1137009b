/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical form of a quantity is a quantity of the same value, and its own canonical form
 * unless it is read in another format (12.5Ki is printed as 12800, which is decimal). Of two,
 * separated by a line end: what is added can be taken off again, and their order is antisymmetric.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/values/quantity.h"

static void check_form(const struct tg_quantity *q)
{
    char canonical[TG_QUANTITY_TEXT], same[TG_QUANTITY_TEXT];
    struct tg_quantity again;

    if (tg_quantity_format(q, canonical, sizeof(canonical)) < 0)
        abort();
    if (tg_quantity_parse(canonical, &again, NULL) < 0 || tg_quantity_cmp(q, &again) != 0 ||
        tg_quantity_format(&again, same, sizeof(same)) < 0)
        abort();
    if (again.format == q->format && strcmp(canonical, same) != 0)
        abort();
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static void check_pair(const struct tg_quantity *a, const struct tg_quantity *b)
{
    struct tg_quantity sum = *a;

    if (sign(tg_quantity_cmp(a, b)) != -sign(tg_quantity_cmp(b, a)))
        abort();
    if (tg_quantity_add(&sum, b, NULL) < 0)
        return;
    if (sign(tg_quantity_cmp(&sum, a)) != sign(tg_quantity_cmp(b, &(struct tg_quantity){0})))
        abort();
    if (tg_quantity_sub(&sum, b, NULL) < 0 || tg_quantity_cmp(&sum, a) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char text[512];
    char *second;
    struct tg_quantity a, b;

    if (n >= sizeof(text))
        return 0;
    memcpy(text, data, n);
    text[n] = '\0';
    second = strchr(text, '\n');
    if (second != NULL)
        *second++ = '\0';
    if (tg_quantity_parse(text, &a, NULL) < 0)
        return 0;
    check_form(&a);
    if (second != NULL && tg_quantity_parse(second, &b, NULL) == 0)
        check_pair(&a, &b);
    return 0;
}
