/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a decision reads of a cluster, as one List of manifests that simulate and explain take, and
 * that can be put into a bug report: of each object only the fields that Tangram knows (no
 * environments, arguments, images or volumes of pods), no annotations but ours, and no parameters
 * of other drivers. Secrets and ConfigMaps are never read.
 */
#ifndef TG_CONTROLLER_CLI_DUMP_H
#define TG_CONTROLLER_CLI_DUMP_H

#include "controller/cli/link.h"

#define TG_DUMP_MAX ((size_t)64 << 20)

/* namespace_: only its objects, of those that have one; NULL: all. */
int tg_dump_take(struct tg_link *link, const char *namespace_, struct tg_buf *out,
                 struct tg_error *err);

#endif
