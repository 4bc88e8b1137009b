/* SPDX-License-Identifier: Apache-2.0 */
/* What a simulation came to, for people and for programs. */
#ifndef TG_CONTROLLER_CLI_REPORT_H
#define TG_CONTROLLER_CLI_REPORT_H

#include "controller/cli/picture.h"

/* Who got what, who waits and why, what is left. */
void tg_report_text(const struct tg_world *world, const struct tg_simulation *simulation,
                    const struct tg_picture *picture, FILE *out);
/* One JSON document, kind Simulation, with the field names of the API objects. */
int tg_report_json(const struct tg_simulation *simulation, const struct tg_picture *picture,
                   FILE *out, struct tg_error *err);
/* One JSON document, kind Explanation: what tg_report_json says of one item, the status of its Gang
 * and the events as the API has them. */
int tg_report_explanation(const struct tg_outcome *outcome, const struct tg_event *events,
                          size_t n_events, FILE *out, struct tg_error *err);

#endif
