/* SPDX-License-Identifier: Apache-2.0 */
/* One write of a unit; window.c decides when it starts. For these two files only. */
#ifndef TG_CONTROLLER_OPERATION_H
#define TG_CONTROLLER_OPERATION_H

#include "api/runtime/base/buf.h"
#include "controller/controller.h"

struct tg_operation {
    struct tg_controller *controller;
    char *unit;    /* key of its state, which may be gone when the answer comes */
    uint64_t turn; /* of the unit: smaller ones are sent first */
    enum tg_write_kind kind;
    char *namespace_, *name, *uid, *resource_version, *body, *epoch, *metadata;
    struct tg_buf bytes;                   /* spliced metadata */
    void (*step)(struct tg_operation *op); /* what is (or is to be) sent, again if need be */
    unsigned attempts;                     /* of this step, answers lost */
    int64_t deadline;                      /* monotonic: of the request under way */
    bool failed;
    bool watch_tells;          /* what came of it is not in the answer */
    struct tg_timer timer;     /* until the step is sent again */
    struct tg_operation *next; /* in the queue, or among those in flight */
};

struct tg_operation *tg_operation_new(struct tg_controller *controller, const char *unit,
                                      const struct tg_write *write);
void tg_operation_free(struct tg_operation *op);
/* It has its definite answer (window.c): the unit is told, the next one starts. Frees it. */
void tg_operation_finish(struct tg_operation *op);

#endif
