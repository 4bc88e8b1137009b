/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/storage.h"
#include "controller/core/gang/key.h"
#include "tests/unit/core/world.h"

static const char *key(struct world *w, const char *cpu, const char *spec, const char *devices,
                       const char *fixed)
{
    struct tg_piece piece = new_piece(w, new_pod(w, "p", cpu, spec), new_claim(w, "c", devices));
    struct tg_demand demand;
    const char *text = NULL;

    piece.fixed_node = fixed;
    assert_int_equal(tg_demand_sum(piece.pods, 1, w->arena, &demand, NULL), 0);
    assert_int_equal(tg_piece_key(&piece, &demand, w->arena, &text, NULL), 0);
    return text;
}

/* No two of these are alike to placement. */
static const struct {
    const char *cpu, *spec, *devices, *fixed;
} different[] = {
    {"1", "", "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\"}}]", NULL},
    {"2", "", "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\"}}]", NULL},
    {"1", "", "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\"}}]", "n"},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"count\":2}}]", NULL},
    {"1", "", "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"cpu\"}}]", NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"selectors\":[{"
     "\"cel\":{\"expression\":"
     "\"true\"}}]}}]",
     NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"tolerations\":[{"
     "\"key\":\"k\"}]}}]",
     NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"tolerations\":[{"
     "\"value\":\"k\"}]}}]",
     NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\","
     "\"allocationMode\":\"All\"}}]",
     NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\","
     "\"capacity\":{\"requests\":{\"m\":\"1\"}}}}]",
     NULL},
    {"1", "", "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[{\"deviceClassName\":\"gpu\"}]}]",
     NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[{\"deviceClassName\":\"gpu\"},{"
     "\"deviceClassName\":\"gpu\",\"count\":2}]}]",
     NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\"}}],"
     "\"constraints\":[{\"matchAttribute\":\"a/b\"}]",
     NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\"}}],"
     "\"constraints\":[{\"distinctAttribute\":\"a/b\"}]",
     NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\"}}],"
     "\"constraints\":[{\"requests\":[\"r\"],\"matchAttribute\":\"a/b\"}]",
     NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"s\",\"exactly\":{\"deviceClassName\":\"gpu\"}}],"
     "\"constraints\":[{\"requests\":[\"r\"],\"matchAttribute\":\"a/b\"}]",
     NULL},
    {"1", "\"nodeSelector\":{\"a\":\"b\"},", "\"requests\":[]", NULL},
    {"1", "\"nodeSelector\":{\"a\":\"bc\"},", "\"requests\":[]", NULL},
    {"1", "\"nodeSelector\":{\"ab\":\"c\"},", "\"requests\":[]", NULL},
    {"1", "\"tolerations\":[{\"key\":\"k\"}],", "\"requests\":[]", NULL},
    {"1", "\"tolerations\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}],", "\"requests\":[]", NULL},
    {"1",
     "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
     "\"nodeSelectorTerms\":[]}}},",
     "\"requests\":[]", NULL},
    {"1",
     "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
     "\"nodeSelectorTerms\":[{"
     "\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n\"]}]}]}}},",
     "\"requests\":[]", NULL},
    {"1",
     "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
     "\"nodeSelectorTerms\":[{"
     "\"matchExpressions\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n\"]}]}]}}"
     "},",
     "\"requests\":[]", NULL},
    {"1",
     "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
     "\"nodeSelectorTerms\":[{"
     "\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"m\"]}]}]}}},",
     "\"requests\":[]", NULL},
    {"1", "\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}],", "\"requests\":[]", NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\"}}],"
     "\"constraints\":[{\"distinctAttribute\":\"a/c\"}]",
     NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\"}}],"
     "\"constraints\":[{\"requests\":[\"s\"],\"matchAttribute\":\"a/b\"}]",
     NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"adminAccess\":true}}"
     "]",
     NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[{\"name\":\"x\",\"deviceClassName\":"
     "\"gpu\"}]"
     "}],\"constraints\":[{\"requests\":[\"r/x\"],\"matchAttribute\":\"a/b\"}]",
     NULL},
    {"1", "",
     "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[{\"name\":\"y\",\"deviceClassName\":"
     "\"gpu\"}]"
     "}],\"constraints\":[{\"requests\":[\"r/x\"],\"matchAttribute\":\"a/b\"}]",
     NULL},
};

static void what_placement_looks_at_tells_pieces_apart(void **state)
{
    size_t n = sizeof(different) / sizeof(different[0]);
    const char *keys[sizeof(different) / sizeof(different[0])];
    struct world w;

    (void)state;
    world_init(&w);
    for (size_t i = 0; i < n; i++) {
        keys[i] =
            key(&w, different[i].cpu, different[i].spec, different[i].devices, different[i].fixed);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(keys[i], keys[k]);
    }
    world_done(&w);
}

/* Where the volumes of the pods are. */
static void volumes_tell_pieces_apart(void **state)
{
    static const char *const terms[] = {
        "", "{}",
        "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"a\"]}]}",
        "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"b\"]}]}"};
    const char *keys[5] = {NULL};
    struct world w;

    (void)state;
    world_init(&w);
    for (size_t i = 0; i < 5; i++) {
        struct tg_piece piece = new_piece(&w, new_pod(&w, "p", "1", ""), NULL);
        const struct tg_node_selector *selector = NULL;
        const struct tg_fit_volumes volumes = {.selectors = &selector, .n = 1};
        struct tg_demand demand;

        if (i < 4) {
            selector =
                decodef(w.arena, &tg_node_selector_type, "{\"nodeSelectorTerms\":[%s]}", terms[i]);
            piece.volumes = &volumes;
        }
        assert_int_equal(tg_demand_sum(piece.pods, 1, w.arena, &demand, NULL), 0);
        assert_int_equal(tg_piece_key(&piece, &demand, w.arena, &keys[i], NULL), 0);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(keys[i], keys[k]);
    }
    world_done(&w);
}

static void equal_amounts_written_differently_are_alike(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    assert_string_equal(key(&w, "1", "", "\"requests\":[]", NULL),
                        key(&w, "1000m", "", "\"requests\":[]", NULL));
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_placement_looks_at_tells_pieces_apart),
        cmocka_unit_test(volumes_tell_pieces_apart),
        cmocka_unit_test(equal_amounts_written_differently_are_alike),
    };

    return cmocka_run_group_tests_name("key", tests, NULL, NULL);
}
