/* SPDX-License-Identifier: Apache-2.0 */
/* How often gangs that wait are tried again, and what is too much of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/tangram/names.h"
#include "controller/cli/playback.h"

#define MEMORY ((size_t)256 << 20)

static const char fleet[] =
    "{apiVersion: tangram.dev/v1alpha1, kind: Fleet, nodes: [{count: 4, prefix: n, gpus: 8, "
    "product: NVIDIA H100 80GB HBM3, mig: off, cpu: 96, memory: 1Ti}]}\n";

struct played {
    struct tg_arena *arena;
    struct tg_problems problems;
    struct tg_documents documents;
    struct tg_world world;
    struct tg_arrivals arrivals;
    struct tg_playback playback;
};

static void play(struct played *played, const struct tg_buf *rows)
{
    struct tg_error err = TG_ERROR_INIT;

    *played = (struct played){.arena = tg_arena_new(MEMORY)};
    tg_problems_init(&played->problems, played->arena);
    tg_documents_init(&played->documents, played->arena);
    tg_world_init(&played->world, played->arena, &played->problems, "2026-01-01T00:00:00Z");
    tg_documents_parse(&played->documents, "fleet", fleet, sizeof(fleet) - 1, &played->problems);
    tg_world_add(&played->world, &played->documents);
    tg_world_finish(&played->world);
    tg_arrivals_parse(&played->arrivals, "rows", tg_buf_str(rows), rows->len, &played->problems);
    tg_problems_print(&played->problems, stderr);
    assert_int_equal(played->problems.n, 0);
    assert_int_equal(tg_playback_run(&played->world, &played->arrivals, TG_DRIVER_DEFAULT, 0,
                                     &played->playback, &err),
                     0);
}

static void played_done(struct played *played)
{
    tg_playback_done(&played->playback);
    tg_arrivals_done(&played->arrivals);
    tg_world_done(&played->world);
    tg_documents_done(&played->documents);
    tg_problems_done(&played->problems);
    tg_arena_free(played->arena);
}

#define HEADER "at_s,name,gpus_per_member,members,duration_s\n"

static void who_wants_as_much_as_somebody_just_refused_is_not_tried(void **state)
{
    TG_AUTOBUF struct tg_buf rows = TG_BUF_INIT(65536);
    struct played played;
    const int n = 60;

    (void)state;
    tg_buf_append_str(&rows, HEADER);
    /* Each takes half of a node of which one half is always free: two on all four nodes. */
    for (int i = 0; i < n; i++)
        tg_buf_printf(&rows, "%d,j-%d,5,%d,%d\n", i, i, 3 + i % 2, 1000);
    play(&played, &rows);
    assert_int_equal(played.playback.never, 0);
    /* One a gang as it comes; at each departure the one that goes in, and at most two that do not.
     */
    assert_in_range(played.playback.searches, 1, 4 * n);
    played_done(&played);
}

static void who_wants_less_is_tried_after_a_refusal(void **state)
{
    TG_AUTOBUF struct tg_buf rows = TG_BUF_INIT(65536);
    struct played played;

    (void)state;
    tg_buf_append_str(&rows, HEADER "0,all,8,4,100\n"
                                    "0,late,4,1,1000\n" /* half a node, from 100 on */
                                    "1,wide,5,4,10\n"   /* of each node more than half */
                                    "2,small,5,3,10\n" /* of the other nodes */);
    play(&played, &rows);
    assert_int_equal(played.playback.never, 0);
    for (size_t i = 0; i < played.playback.jobs.n; i++)
        if (played.playback.jobs.items[i].arrival->members == 3)
            assert_true(played.playback.jobs.items[i].started < 101);
    played_done(&played);
}

static void more_members_than_can_be_played_are_refused_by_row(void **state)
{
    TG_AUTOBUF struct tg_buf rows = TG_BUF_INIT(65536);
    struct tg_arena *arena = tg_arena_new(MEMORY);
    struct tg_arrivals arrivals = {0};
    struct tg_problems problems;

    (void)state;
    tg_buf_append_str(&rows, HEADER);
    for (int i = 0; i < 1003; i++)
        tg_buf_printf(&rows, "%d,j-%d,1,2000,10\n", i, i);
    tg_problems_init(&problems, arena);
    tg_arrivals_parse(&arrivals, "rows", tg_buf_str(&rows), rows.len, &problems);
    assert_int_equal(problems.n, 1);
    assert_int_equal(problems.items.items[0].line, 1002);
    tg_arrivals_done(&arrivals);
    tg_problems_done(&problems);
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_wants_as_much_as_somebody_just_refused_is_not_tried),
        cmocka_unit_test(who_wants_less_is_tried_after_a_refusal),
        cmocka_unit_test(more_members_than_can_be_played_are_refused_by_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
