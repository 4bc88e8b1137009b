/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/piece.h"

#include <stdlib.h>

#include "api/kubernetes/objects/pack.h"
#include "api/runtime/base/mem.h"
#include "controller/core/fit/storage.h"

static void *must(void *p)
{
    if (p == NULL)
        abort(); /* as tg_xmalloc: the arena has no budget */
    return p;
}

static const void *copy(struct tg_arena *arena, const struct tg_type *type, const void *object)
{
    size_t n = tg_pack(type, object, NULL, NULL, 0);
    unsigned char *bytes = tg_xmalloc(n + 1);
    const void *ret;

    tg_pack(type, object, NULL, bytes, n);
    ret = must(tg_unpack(type, bytes, NULL, arena));
    free(bytes);
    return ret;
}

static const struct tg_fit_volumes *copy_volumes(const struct tg_fit_volumes *volumes,
                                                 struct tg_arena *arena)
{
    struct tg_fit_volumes *ret;

    if (volumes == NULL)
        return NULL;
    ret = must(tg_arena_alloc(arena, sizeof(*ret)));
    ret->n = volumes->n;
    ret->selectors = must(tg_arena_alloc_array(arena, ret->n, sizeof(*ret->selectors)));
    for (size_t i = 0; i < ret->n; i++)
        ret->selectors[i] = copy(arena, &tg_node_selector_type, volumes->selectors[i]);
    return ret;
}

struct tg_piece tg_piece_copy(const struct tg_piece *piece, struct tg_arena *arena)
{
    const struct tg_pod **pods =
        must(tg_arena_alloc_array(arena, piece->n_pods + 1, sizeof(*pods)));
    const struct tg_resource_claim **claims =
        must(tg_arena_alloc_array(arena, piece->n_claims + 1, sizeof(*claims)));

    for (size_t i = 0; i < piece->n_pods; i++)
        pods[i] = copy(arena, &tg_pod_type, piece->pods[i]);
    for (size_t i = 0; i < piece->n_claims; i++)
        claims[i] = copy(arena, &tg_resource_claim_type, piece->claims[i]);
    return (struct tg_piece){.pods = pods,
                             .n_pods = piece->n_pods,
                             .claims = claims,
                             .n_claims = piece->n_claims,
                             .volumes = copy_volumes(piece->volumes, arena)};
}
