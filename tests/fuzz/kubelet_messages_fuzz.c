/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "api/kubelet/dra.h"
#include "api/kubelet/registration.h"
#include "api/runtime/base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)1 << 20);
    struct tg_kubelet_registration_status status;
    struct tg_kubelet_claims claims;

    if (tg_kubelet_registration_status_decode(data, n, arena, &status, NULL) == 0 &&
        !tg_utf8_valid(status.error, strlen(status.error)))
        abort();
    tg_arena_reset(arena);
    if (tg_kubelet_claims_decode(data, n, arena, &claims, NULL) != 0)
        return 0;
    for (size_t i = 0; i < claims.n; i++)
        if (claims.items[i].uid[0] == '\0' || claims.items[i].name[0] == '\0' ||
            claims.items[i].namespace_[0] == '\0')
            abort();
    return 0;
}
