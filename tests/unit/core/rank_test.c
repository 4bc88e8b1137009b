/* SPDX-License-Identifier: Apache-2.0 */
/* What is put on nodes for the time being, in the numbers of policies. */
#include "controller/core/gang/ledger.h"
#include "controller/core/gang/rank.h"
#include "tests/unit/core/world.h"

/* Two cards are put where the numbers know of one: cpu and memory are used all the same, down to
 * none. */
static void what_does_not_fit_by_numbers_takes_its_room(void **state)
{
    static const char *const nodes[] = {"a", "b", "c"};
    struct world w;
    struct tg_piece pair;
    struct tg_fleet *fleet;
    struct tg_rank *rank;
    struct tg_pack_request request;
    uint32_t before;
    unsigned type;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (size_t i = 0; i < 3; i++) {
        add_node(&w, nodes[i], "", "");
        add_gpus(&w, nodes[i], 1, "");
    }
    pair = new_piece(&w, new_pod(&w, "m", "5", "\"overhead\":{\"memory\":\"4Gi\"},"),
                     new_gpu_claim(&w, "m", 2));
    fleet = world_fleet(&w);
    tg_fleet_put(fleet, TG_FLEET_POD,
                 new_pod(&w, "x", "5", "\"nodeName\":\"b\",\"overhead\":{\"memory\":\"4Gi\"},"));
    tg_fleet_put(fleet, TG_FLEET_POD,
                 new_pod(&w, "y", "8", "\"nodeName\":\"c\",\"overhead\":{\"memory\":\"8Gi\"},"));
    tg_fleet_settle(fleet);
    rank = tg_rank_get(fleet, "binpack");
    assert_int_equal(tg_ledger_request(fleet, &pair, w.arena, &request, NULL), 0);
    type = tg_rank_type(rank, &request);
    before = tg_rank_class(rank, 0);
    tg_rank_put(rank, 0, type);
    assert_int_equal(tg_rank_class(rank, 0), tg_rank_class(rank, 1));
    tg_rank_put(rank, 0, type);
    assert_int_equal(tg_rank_class(rank, 0), tg_rank_class(rank, 2));
    tg_rank_take_all(rank);
    assert_int_equal(tg_rank_class(rank, 0), before);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_fit_by_numbers_takes_its_room),
    };

    return cmocka_run_group_tests_name("rank", tests, NULL, NULL);
}
