/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/volumes.h"

#include <string.h>

#include "controller/core/fit/storage.h"
#include "controller/core/model/sort.h"

static bool any_volumes(const struct tg_place_request *request)
{
    for (size_t i = 0; i < request->n_pieces; i++) {
        for (size_t k = 0; k < request->pieces[i].n_pods; k++) {
            if (tg_fit_claims_volumes(request->pieces[i].pods[k]))
                return true;
        }
    }
    return false;
}

int tg_request_read_volumes(const struct tg_fleet *fleet, const struct tg_place_request *request,
                            struct tg_arena *arena, const struct tg_place_request **ret,
                            struct tg_error *err)
{
    struct tg_place_request *copy = NULL;
    struct tg_piece *pieces = NULL;
    int rc = 0;

    *ret = request;
    if (!any_volumes(request))
        return 0;
    rc = tg_core_alloc(arena, 1, sizeof(*copy), &copy, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, request->n_pieces, sizeof(*pieces), &pieces, err);
    if (rc < 0)
        return rc;
    memcpy(pieces, request->pieces, request->n_pieces * sizeof(*pieces));
    for (size_t i = 0; rc == 0 && i < request->n_pieces; i++)
        rc = tg_fit_read_volumes(fleet, pieces[i].pods, pieces[i].n_pods, arena, &pieces[i].volumes,
                                 err);
    *copy = *request;
    copy->pieces = pieces;
    *ret = copy;
    return rc;
}
