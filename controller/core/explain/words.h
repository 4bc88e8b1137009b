/* SPDX-License-Identifier: Apache-2.0 */
/* An explanation in plain words. */
#ifndef TG_CORE_EXPLAIN_WORDS_H
#define TG_CORE_EXPLAIN_WORDS_H

#include "api/runtime/base/buf.h"
#include "controller/core/explain/explain.h"
#include "controller/core/explain/text.h"

/* One or two sentences for an event or a status: what is short, where it comes closest, who holds
 * it, what would help. */
void tg_explanation_sentence(const struct tg_explanation *explanation, struct tg_text *ret);
/* The whole of it, line by line, for a terminal. TG_RESOURCE_EXHAUSTED: the buffer's bound. */
int tg_explanation_page(const struct tg_explanation *explanation, struct tg_buf *ret,
                        struct tg_error *err);

#endif
