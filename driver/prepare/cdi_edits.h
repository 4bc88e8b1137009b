/* SPDX-License-Identifier: Apache-2.0 */
/* What a provider wants for containers, as the containerEdits of a CDI document (CDI
 * specification 0.6.0). */
#ifndef TG_DRIVER_PREPARE_CDI_EDITS_H
#define TG_DRIVER_PREPARE_CDI_EDITS_H

#include "api/runtime/json/encode.h"
#include "driver/provider/provider.h"

/* Writes the members deviceNodes, mounts and hooks that are not empty into the open object. */
void tg_cdi_edits_write(struct tg_json_writer *w, const struct tg_edits *edits);
bool tg_cdi_edits_empty(const struct tg_edits *edits);

#endif
