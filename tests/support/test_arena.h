/* SPDX-License-Identifier: Apache-2.0 */
/* An arena for each test: `arena`, made by set_up and freed, with all that was taken from it, by
 * tear_down. */
#ifndef TG_TESTS_SUPPORT_TEST_ARENA_H
#define TG_TESTS_SUPPORT_TEST_ARENA_H

#include "api/runtime/base/arena.h"

static struct tg_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = tg_arena_new(1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tg_arena_free(arena);
    return 0;
}

#endif
