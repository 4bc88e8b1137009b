/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the audit (controller/audit) over the stores now and then, and tells what it finds: an event
 * on the object and a log line, once, and /debug/audit. What may be seen for a moment where all is
 * well is told when it was seen again after `delays.stall`. Repairs nothing.
 */
#ifndef TG_CONTROLLER_AUDITOR_H
#define TG_CONTROLLER_AUDITOR_H

#include "api/runtime/base/buf.h"
#include "controller/audit/audit.h"

struct tg_controller;
struct tg_auditor;

/* The first audit comes `delays.audit` later. */
struct tg_auditor *tg_auditor_new(struct tg_controller *controller);
void tg_auditor_free(struct tg_auditor *auditor); /* NULL is allowed */

/* How many findings of that code have been told and are still there. */
size_t tg_auditor_lasting(const struct tg_auditor *auditor, enum tg_finding_code code);

/* The page /debug/audit: what the last audit found. One that is older than 10 s is made anew. */
int tg_auditor_page(void *auditor, struct tg_buf *body, const char **content_type);

#endif
