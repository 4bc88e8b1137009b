/* SPDX-License-Identifier: Apache-2.0 */
/* What sentence and page say in the same words. Private to explain. */
#ifndef TG_CORE_EXPLAIN_PHRASE_H
#define TG_CORE_EXPLAIN_PHRASE_H

#include "controller/core/explain/explain.h"
#include "controller/core/explain/text.h"

/* "500m", "64Gi": of a resource, as tg_explained_node has it. */
void tg_words_amount(struct tg_text *text, const char *resource, int64_t value);
/* What a rule of the gang's topology allows, and what there is. */
void tg_words_limit(struct tg_text *text, const struct tg_explained_topology *limit);
/* "1 more node once ready"; false: the rule has no words, and nothing is added. */
bool tg_words_miss(struct tg_text *text, const struct tg_explained_miss *miss);
/* "with 2 members" */
void tg_words_help(struct tg_text *text, const struct tg_explained_help *help);

#endif
