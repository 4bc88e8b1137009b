/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/world.h"

static const struct {
    const char *spec, *text; /* text NULL: accepted */
} cases[] = {
    {"", NULL},
    {"\"schedulerName\":\"default-scheduler\"", NULL},
    {"\"schedulerName\":\"other\"", "schedulerName"},
    {"\"affinity\":{\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
     "\"topologyKey\":\"k\"}]}}",
     "podAffinity"},
    {"\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
     "\"topologyKey\":\"k\"}]}}",
     "podAntiAffinity"},
    {"\"affinity\":{\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[ ]}}",
     NULL},
    {"\"affinity\":{\"podAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{}]}}",
     NULL},
    {"\"topologySpreadConstraints\":[{\"whenUnsatisfiable\":\"ScheduleAnyway\"}]", NULL},
    {"\"topologySpreadConstraints\":[{\"whenUnsatisfiable\":\"ScheduleAnyway\"},{"
     "\"whenUnsatisfiable\":\"DoNotSchedule\"}]",
     "DoNotSchedule"},
    {"\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]", NULL},
    {"\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"x\"}}]", NULL},
    {"\"volumes\":[{\"name\":\"v\",\"ephemeral\":{}}]", NULL},
    {"\"containers\":[{\"ports\":[{\"containerPort\":80}]}]", NULL},
    {"\"containers\":[{\"ports\":[{\"containerPort\":80,\"hostPort\":80}]}]", NULL},
};

static void what_placement_cannot_model_is_refused_by_name(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct tg_pod *pod = decodef(
            arena, &tg_pod_type,
            "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\"},\"spec\":{%s}}", cases[i].spec);
        struct tg_error err = TG_ERROR_INIT;
        int rc = tg_pod_check(pod, &err);

        if (rc != (cases[i].text == NULL ? 0 : -TG_UNIMPLEMENTED))
            fail_msg("%s: %d %s", cases[i].spec, rc, err.message);
        if (cases[i].text != NULL) {
            assert_non_null(strstr(err.message, "pod ns/p"));
            assert_non_null(strstr(err.message, cases[i].text));
        }
    }
}

static void a_pod_without_spec_is_an_error(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);

    (void)state;
    assert_int_equal(
        tg_pod_check(decode(arena, &tg_pod_type, "{\"metadata\":{\"name\":\"p\"}}"), NULL),
        -TG_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_placement_cannot_model_is_refused_by_name),
        cmocka_unit_test(a_pod_without_spec_is_an_error),
    };

    return cmocka_run_group_tests_name("pod", tests, NULL, NULL);
}
