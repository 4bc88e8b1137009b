/* SPDX-License-Identifier: Apache-2.0 */
/* How large a plan is, and what happens to one that is too large for its record. */
#include <stdio.h>
#include <stdlib.h>

#include "api/runtime/base/mem.h"
#include "tests/unit/controller/one.h"

#define MEBIBYTE ((size_t)1024 * 1024)

/* prefix, a number, and x up to this many characters. */
static const char *long_name(struct tg_arena *arena, const char *prefix, size_t i, size_t n)
{
    char text[256];
    int used = snprintf(text, sizeof(text), "%s-%04zu-", prefix, i);

    memset(text + used, 'x', n - (size_t)used);
    text[n] = '\0';
    return tg_arena_strdup(arena, text);
}

static const char *const devices[] = {"gpu-0123456789ab-19-0", "gpu-0123456789ab-19-1",
                                      "gpu-0123456789ab-19-2", "gpu-0123456789ab-19-3",
                                      "gpu-0123456789ab-19-4", "gpu-0123456789ab-19-5",
                                      "gpu-0123456789ab-19-6", "gpu-0123456789ab-19-7"};

/* One claim of eight devices a member; names as long as `n`. */
static struct tg_plan *big_plan(struct tg_arena *arena, size_t members, size_t n)
{
    struct tg_plan *plan = tg_arena_alloc(arena, sizeof(*plan));
    struct tg_plan_member *list = tg_arena_alloc_array(arena, members, sizeof(*list));

    *plan = (struct tg_plan){.epoch = {true, 123456},
                             .allocation_timestamp = "2026-01-01T00:00:00Z",
                             .driver = "gpu.tangram.dev"};
    for (size_t i = 0; i < members; i++) {
        struct tg_plan_claim *claim = tg_arena_alloc(arena, sizeof(*claim));
        struct tg_plan_result *result = tg_arena_alloc(arena, sizeof(*result));

        *result = (struct tg_plan_result){.request = "gpus"};
        result->devices.items = (void *)(uintptr_t)devices;
        result->devices.n = 8;
        *claim = (struct tg_plan_claim){.name = long_name(arena, "claim", i, n),
                                        .uid = "01234567-89ab-cdef-0123-456789abcdef"};
        claim->results.items = result;
        claim->results.n = 1;
        list[i] = (struct tg_plan_member){.pod = long_name(arena, "pod", i, n),
                                          .uid = "01234567-89ab-cdef-0123-456789abcdef",
                                          .role = "worker",
                                          .node = long_name(arena, "node", i, n)};
        list[i].claims.items = claim;
        list[i].claims.n = 1;
    }
    plan->members.items = list;
    plan->members.n = members;
    return plan;
}

/* Names of 63 characters: the longest that a pod can have and still be a host name. */
static void a_plan_of_1024_claims_of_eight_devices_with_long_names_is_below_a_mebibyte(void **state)
{
    struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_plan *plan = big_plan(arena, 1024, 63), *back = NULL;
    char *text = tg_plan_encode(plan, arena);

    (void)state;
    assert_non_null(text);
    print_message("%zu bytes, %zu a member\n", strlen(text), strlen(text) / 1024);
    assert_true(strlen(text) < MEBIBYTE);
    assert_int_equal(tg_plan_decode(text, arena, &back, NULL), 0);
    assert_string_equal(tg_plan_encode(back, arena), text);
    tg_arena_free(arena);
}

static void begin(struct one *one, const struct tg_plan *plan, const char *said)
{
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(tg_commit_begin(&one->input, plan, one->bench->arena, &one->decision, &err),
                     -TG_RESOURCE_EXHAUSTED);
    if (strstr(err.message, said) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", err.message, said);
    assert_int_equal(one->decision.n_writes, 0);
}

static void a_plan_that_its_gang_cannot_hold_is_refused_with_what_helps(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_gang(bench, "g", 1, 1);
    tg_cluster_create(bench->cluster, TG_VIEW_GANG,
                      "{'metadata':{'namespace':'" NS "','name':'g','finalizers':['"
                      "tangram.dev/plan']},'spec':{'size':1}}");
    one_look(&one, bench);
    one_unit(&one, "gang/ns/g");
    begin(&one, big_plan(bench->arena, 1024, 240),
          "gang/ns/g: the plan of 1024 members is larger than the 1024 KiB that its record holds: "
          "make the gang smaller");
    one_done(&one);
    bench_free(bench);
}

/* All annotations of an object together have 256 KiB. */
static void a_plan_that_an_annotation_cannot_hold_is_refused_too(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 2, 1, NULL);
    one_look(&one, bench);
    one_unit(&one, "pod/ns/p");
    begin(&one, big_plan(bench->arena, 400, 200), "larger than the 192 KiB that its record holds");
    one_done(&one);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_plan_of_1024_claims_of_eight_devices_with_long_names_is_below_a_mebibyte),
        cmocka_unit_test(a_plan_that_its_gang_cannot_hold_is_refused_with_what_helps),
        cmocka_unit_test(a_plan_that_an_annotation_cannot_hold_is_refused_too),
    };

    return cmocka_run_group_tests_name("commit", tests, NULL, NULL);
}
