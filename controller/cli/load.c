/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/load.h"

#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/clock.h"
#include "controller/cli/dump.h"

void tg_load_init(struct tg_load *load)
{
    *load = (struct tg_load){.arena = tg_arena_new(TG_CLI_MEMORY),
                             .now = tg_now_wall(tg_clock_system())};
    tg_time_format_seconds(load->now / TG_SECOND, load->created);
    tg_problems_init(&load->problems, load->arena);
    tg_documents_init(&load->documents, load->arena);
    tg_world_init(&load->world, load->arena, &load->problems, load->created);
}

void tg_load_done(struct tg_load *load)
{
    tg_world_done(&load->world);
    tg_documents_done(&load->documents);
    tg_problems_done(&load->problems);
    tg_arena_free(load->arena);
}

void tg_load_file(struct tg_load *load, const char *file)
{
    if (file != NULL)
        tg_documents_read(&load->documents, file, &load->problems);
}

void tg_load_files(struct tg_load *load, const struct tg_option_words *files)
{
    for (size_t i = 0; i < files->n; i++)
        tg_load_file(load, files->items[i]);
}

int tg_load_cluster(struct tg_load *load, struct tg_link *link, const char *namespace_,
                    struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf dump = TG_BUF_INIT(TG_DUMP_MAX);
    int r = tg_dump_take(link, namespace_, &dump, err);

    if (r == 0)
        tg_documents_parse(&load->documents, "the cluster", tg_buf_str(&dump), dump.len,
                           &load->problems);
    return r;
}

bool tg_load_finish(struct tg_load *load)
{
    if (load->problems.n == 0) {
        tg_world_add(&load->world, &load->documents);
        tg_world_finish(&load->world);
    }
    tg_problems_print(&load->problems, stderr);
    return load->problems.n == 0;
}
