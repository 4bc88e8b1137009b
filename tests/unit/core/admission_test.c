/* SPDX-License-Identifier: Apache-2.0 */
/* Node rules are asked once for nodes of the same labels; what tells one of them from the others,
 * and somebody reads, is asked of each. */
#include "controller/core/fit/rule.h"
#include "controller/core/fit/storage.h"
#include "controller/core/gang/offer.h"
#include "tests/unit/core/world.h"

/* Nodes a, b and c in one zone, each with a label of its own. */
static void begin(struct world *w)
{
    world_init(w);
    for (const char *name = "abc"; *name != '\0'; name++) {
        char node[2] = {*name, '\0'}, labels[64];

        snprintf(labels, sizeof(labels), "\"zone\":\"z\",\"host\":\"%s\"", node);
        add_node(w, node, labels, "");
    }
}

/* Which of the nodes the pod may go to. */
static const char *nodes_of(struct world *w, struct tg_fleet *fleet, const char *spec)
{
    struct tg_piece piece = new_piece(w, new_pod(w, "p", "1", spec), NULL);
    struct tg_offer *offer = NULL;
    char nodes[4] = "";
    size_t n = 0;

    assert_int_equal(tg_fit_read_volumes(fleet, piece.pods, 1, w->arena, &piece.volumes, NULL), 0);
    assert_int_equal(tg_offer_get(fleet, &piece, NULL, w->arena, &offer, NULL), 0);
    for (size_t i = 0; i < 3; i++) {
        if (tg_offer_nodes(offer)[i].failed == tg_fit_rules_count)
            nodes[n++] = fleet->nodes[i].name[0];
    }
    return tg_arena_printf(w->arena, "%s", nodes);
}

#define AFFINE(key, value)                                                                         \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"         \
    "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"" key                                \
    "\",\"operator\":\"In\",\"values\":[\"" value "\"]}]}]}}},"

static void selectors_read_what_tells_nodes_apart(void **state)
{
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    begin(&w);
    fleet = world_fleet(&w);
    assert_string_equal(nodes_of(&w, fleet, "\"nodeSelector\":{\"zone\":\"z\"},"), "abc");
    assert_string_equal(nodes_of(&w, fleet, "\"nodeSelector\":{\"zone\":\"y\"},"), "");
    assert_string_equal(nodes_of(&w, fleet, "\"nodeSelector\":{\"zone\":\"z\",\"host\":\"b\"},"),
                        "b");
    assert_string_equal(nodes_of(&w, fleet, AFFINE("host", "c")), "c");
    assert_string_equal(nodes_of(&w, fleet, AFFINE("zone", "z")), "abc");
    world_done(&w);
}

#define TERM(key, value)                                                                           \
    "{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"In\",\"values\":[\"" value "\"]}]" \
    "}"

/* The second volume as well as the first. */
static void volumes_read_what_tells_nodes_apart(void **state)
{
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    begin(&w);
    add_volume(&w, "wide", "", TERM("zone", "z"));
    add_volume(&w, "local", "", TERM("host", "b"));
    add_volume_claim(&w, "c", VOLUME_BOUND, "\"volumeName\":\"wide\"");
    add_volume_claim(&w, "d", VOLUME_BOUND, "\"volumeName\":\"local\"");
    fleet = world_fleet(&w);
    assert_string_equal(nodes_of(&w, fleet, USES_VOLUME("c")), "abc");
    assert_string_equal(nodes_of(&w, fleet, USES_VOLUME("d")), "b");
    assert_string_equal(
        nodes_of(&w, fleet,
                 "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"c\"}},"
                 "{\"name\":\"w\",\"persistentVolumeClaim\":{\"claimName\":\"d\"}}],"),
        "b");
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selectors_read_what_tells_nodes_apart),
        cmocka_unit_test(volumes_read_what_tells_nodes_apart),
    };

    return cmocka_run_group_tests_name("admission", tests, NULL, NULL);
}
