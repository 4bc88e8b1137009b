/* SPDX-License-Identifier: Apache-2.0 */
/* An explanation as JSON. Field names are those of the API where it has the thing (deviceClassName,
 * nodeName, claim, request, count); lists are as bounded as the explanation. */
#ifndef TG_CORE_EXPLAIN_DOCUMENT_H
#define TG_CORE_EXPLAIN_DOCUMENT_H

#include "api/runtime/json/encode.h"
#include "controller/core/explain/explain.h"

/* One object, also as a value inside another document. What goes wrong is said by tg_jw_finish. */
void tg_explanation_write(const struct tg_explanation *explanation, struct tg_json_writer *w);

#endif
