/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "controller/cli/arrivals.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)1 << 20);
    struct tg_arrivals arrivals = {0};
    struct tg_problems problems;

    tg_problems_init(&problems, arena);
    tg_arrivals_parse(&arrivals, "input", (const char *)data, n, &problems);
    /* Accepted: rows in the order of their times, with numbers in bounds. */
    for (size_t i = 0; problems.n == 0 && i < arrivals.items.n; i++) {
        const struct tg_arrival *a = &arrivals.items.items[i];

        if (a->name == NULL || !(a->at >= 0) || a->gpus < 1 || a->members < 1 ||
            (i > 0 && a[-1].at > a->at))
            abort();
    }
    tg_arrivals_done(&arrivals);
    tg_problems_done(&problems);
    return 0;
}
