/* SPDX-License-Identifier: Apache-2.0 */
/* Two versions separated by a line end: the order is antisymmetric, and each equals itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/values/semver.h"

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char text[512];
    char *second;
    struct tg_semver a, b;

    if (n >= sizeof(text))
        return 0;
    memcpy(text, data, n);
    text[n] = '\0';
    second = strchr(text, '\n');
    if (second != NULL)
        *second++ = '\0';
    if (tg_semver_parse(text, &a, NULL) < 0)
        return 0;
    if (tg_semver_compare(&a, &a) != 0)
        abort();
    if ((a.pre != NULL && a.pre + a.pre_n > text + n) || (a.build != NULL && a.build[0] == '\0'))
        abort();
    if (second == NULL || tg_semver_parse(second, &b, NULL) < 0)
        return 0;
    if (sign(tg_semver_compare(&a, &b)) != -sign(tg_semver_compare(&b, &a)))
        abort();
    return 0;
}
