/* SPDX-License-Identifier: Apache-2.0 */
/* A time that is read is written as a time that reads the same, to the microsecond. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/clock.h"

static int64_t floor_to(int64_t ns, int64_t unit)
{
    int64_t rest = ns % unit;

    return ns - (rest < 0 ? rest + unit : rest);
}

static void check(const char *text, int64_t wanted)
{
    int64_t again;
    int rc = tg_time_parse(text, &again, NULL);

    /* Rounded down, the first moment of the range may leave it. */
    if (rc == -TG_OUT_OF_RANGE && wanted == INT64_MIN)
        return;
    if (rc < 0 || again != wanted)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char text[256], out[32];
    int64_t ns;

    if (n >= sizeof(text))
        return 0;
    memcpy(text, data, n);
    text[n] = '\0';
    if (tg_time_parse(text, &ns, NULL) < 0 || ns < INT64_MIN + TG_SECOND)
        return 0;
    tg_time_format_micro(ns, out);
    check(out, floor_to(ns, 1000));
    tg_time_format_seconds(floor_to(ns, TG_SECOND) / TG_SECOND, out);
    check(out, floor_to(ns, TG_SECOND));
    return 0;
}
