/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever stands in the files of kubectl-tangram: validate judges it, simulate decides about what
 * it makes of it, explains and draws it. */
#include <stdint.h>
#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "controller/cli/check.h"
#include "controller/cli/picture_svg.h"
#include "controller/cli/svg.h"

#define MEMORY ((size_t)4 << 20)

static void draw(const struct tg_world *world, const struct tg_simulation *simulation)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(TG_SVG_MAX);
    struct tg_picture picture;

    tg_picture_take(world, simulation, &picture);
    (void)tg_picture_svg(simulation, &picture, &buf, NULL);
    tg_picture_done(&picture);
}

static void simulate(struct tg_arena *arena, struct tg_problems *problems,
                     const struct tg_documents *documents)
{
    struct tg_simulation simulation;
    struct tg_world world;

    tg_world_init(&world, arena, problems, "2026-01-01T00:00:00Z");
    tg_world_add(&world, documents);
    tg_world_finish(&world);
    /* A problem, or a decision about everything. */
    if (problems->n == 0 && tg_simulate(&world, 0, &simulation, NULL) == 0)
        draw(&world, &simulation);
    tg_world_done(&world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(MEMORY);
    struct tg_documents documents;
    struct tg_problems problems;
    struct tg_check_run run = {.arena = arena, .minor = 37};

    tg_problems_init(&problems, arena);
    tg_documents_init(&documents, arena);
    tg_documents_parse(&documents, "input", (const char *)data, n, &problems);
    if (problems.n == 0 && documents.items.n == 0)
        abort();
    if (problems.n == 0)
        simulate(arena, &problems, &documents);
    run.problems = &problems;
    run.documents = &documents;
    for (size_t i = 0; i < documents.items.n; i++)
        tg_check_document(&run, &documents.items.items[i]);
    tg_documents_done(&documents);
    tg_problems_done(&problems);
    return 0;
}
