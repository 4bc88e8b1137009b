/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "api/tangram/member.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(65536);
    struct tg_member *member = NULL;

    /* Accepted: exactly one way to name the gang, and a size in bounds. */
    if (tg_member_decode((const char *)data, n, arena, &member, NULL) == 0 &&
        ((member->gang == NULL) == (member->pod_label == NULL) || member->size < 0))
        abort();
    return 0;
}
