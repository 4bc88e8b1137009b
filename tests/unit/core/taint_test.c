/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/taint.h"
#include "tests/unit/core/world.h"

static void a_toleration_matches_by_effect_key_and_value(void **state)
{
    static const struct tg_taint taint = {.key = "k", .value = "v", .effect = "NoSchedule"};
    static const struct {
        struct tg_toleration t;
        bool tolerated;
    } cases[] = {
        {{.key = "k", .value = "v"}, true},
        {{.key = "k", .operator_ = "Equal", .value = "v", .effect = "NoSchedule"}, true},
        {{.key = "k", .value = "w"}, false},
        {{.key = "k"}, false},
        {{.key = "k", .operator_ = "Exists"}, true},
        {{.key = "k", .operator_ = "Exists", .effect = "NoExecute"}, false},
        {{.key = "l", .operator_ = "Exists"}, false},
        {{.operator_ = "Exists"}, true},
        {{.key = "", .operator_ = "Exists", .effect = ""}, true},
        {{.value = "v"}, true},
        {{.key = "k", .operator_ = "Lt", .value = "v"}, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(tg_taint_tolerated(&taint, &cases[i].t, 1), cases[i].tolerated);
    assert_false(tg_taint_tolerated(&taint, NULL, 0));
}

static void only_noschedule_and_noexecute_block(void **state)
{
    (void)state;
    assert_true(tg_taint_blocks(&(struct tg_taint){.effect = "NoSchedule"}));
    assert_true(tg_taint_blocks(&(struct tg_taint){.effect = "NoExecute"}));
    assert_false(tg_taint_blocks(&(struct tg_taint){.effect = "PreferNoSchedule"}));
    assert_false(tg_taint_blocks(&(struct tg_taint){.effect = "None"}));
    assert_false(tg_taint_blocks(&(struct tg_taint){.effect = NULL}));
}

static void rules_taint_what_they_select(void **state)
{
    static const struct {
        const char *selector;
        size_t taints;
    } cases[] = {
        {"\"deviceSelector\":{},", 1},
        {"", 0},
        {"\"deviceSelector\":{\"driver\":\"" GPU_DRIVER "\"},", 1},
        {"\"deviceSelector\":{\"driver\":\"other\"},", 0},
        {"\"deviceSelector\":{\"pool\":\"n\",\"device\":\"gpu-0\"},", 1},
        {"\"deviceSelector\":{\"pool\":\"n\",\"device\":\"gpu-1\"},", 0},
        {"\"deviceSelector\":{\"pool\":\"m\"},", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;

        world_init(&w);
        add_node(&w, "n", "", "");
        add_gpus(&w, "n", 1, "");
        w.rules[w.n_rules++] = decodef(w.arena, &tg_device_taint_rule_type,
                                       "{\"metadata\":{\"name\":\"r\"},\"spec\":{%s\"taint\":{"
                                       "\"key\":\"k\",\"effect\":\"NoSchedule\"}}}",
                                       cases[i].selector);
        assert_int_equal(world_fleet(&w)->devices[0].n_taints, cases[i].taints);
        world_done(&w);
    }
}

static void bad_health_of_the_driver_itself_is_a_taint(void **state)
{
    static const struct {
        const char *attributes;
        size_t taints;
    } cases[] = {
        {"\"healthy\":{\"bool\":false}", 1},
        {"\"healthy\":{\"bool\":true}", 0},
        {"\"healthy\":{\"string\":\"false\"}", 0},
        {"\"" GPU_DRIVER "/healthy\":{\"bool\":false}", 1},
        {"\"other.com/healthy\":{\"bool\":false}", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;

        world_init(&w);
        add_gpus(&w, "n", 1, cases[i].attributes);
        assert_int_equal(world_fleet(&w)->devices[0].n_taints, cases[i].taints);
        world_done(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_toleration_matches_by_effect_key_and_value),
        cmocka_unit_test(only_noschedule_and_noexecute_block),
        cmocka_unit_test(rules_taint_what_they_select),
        cmocka_unit_test(bad_health_of_the_driver_itself_is_a_taint),
    };

    return cmocka_run_group_tests_name("taint", tests, NULL, NULL);
}
