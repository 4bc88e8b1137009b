/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/residents.h"

/* Where the count of requests of so many cards lies: sixteen of one card, eight of two, five of
 * three ... */
static const struct {
    uint8_t shift, bits;
} fields[TG_PACK_CARDS_MAX + 1] = {
    [1] = {0, 5},   [2] = {5, 4},   [3] = {9, 3},   [4] = {12, 3},  [5] = {15, 2},  [6] = {17, 2},
    [7] = {19, 2},  [8] = {21, 2},  [9] = {23, 1},  [10] = {24, 1}, [11] = {25, 1}, [12] = {26, 1},
    [13] = {27, 1}, [14] = {28, 1}, [15] = {29, 1}, [16] = {30, 1},
};

uint64_t tg_residents_add(uint64_t residents, const struct tg_pack_request *request, int by)
{
    if (request->cards == 0 || tg_pack_request_shares(request))
        return residents;
    return by > 0 ? residents + ((uint64_t)1 << fields[request->cards].shift)
                  : residents - ((uint64_t)1 << fields[request->cards].shift);
}

unsigned tg_residents_count(uint64_t residents, unsigned cards)
{
    return (unsigned)(residents >> fields[cards].shift & ((1U << fields[cards].bits) - 1));
}
