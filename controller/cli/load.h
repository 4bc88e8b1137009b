/* SPDX-License-Identifier: Apache-2.0 */
/* What verbs begin with: files, or a cluster, to a world. */
#ifndef TG_CONTROLLER_CLI_LOAD_H
#define TG_CONTROLLER_CLI_LOAD_H

#include "api/runtime/base/options.h"
#include "controller/cli/link.h"
#include "controller/cli/world.h"

struct tg_load {
    struct tg_arena *arena;
    struct tg_problems problems;
    struct tg_documents documents;
    struct tg_world world;
    int64_t now; /* wall, ns */
    char created[32];
};

void tg_load_init(struct tg_load *load);
void tg_load_done(struct tg_load *load);
/* NULL is allowed. */
void tg_load_file(struct tg_load *load, const char *file);
void tg_load_files(struct tg_load *load, const struct tg_option_words *files);
/* The cluster's objects (dump.h). */
int tg_load_cluster(struct tg_load *load, struct tg_link *link, const char *namespace_,
                    struct tg_error *err);
/* After all of them: true if there is a world; else the problems have been printed. */
bool tg_load_finish(struct tg_load *load);

#endif
