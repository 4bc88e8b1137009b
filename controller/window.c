/* SPDX-License-Identifier: Apache-2.0 */
/* Which writes are in flight: a bounded number of them, only while the lease outlasts them, none of
 * a unit that has to be decided anew. Those of the unit that began first go first: what is begun is
 * finished, and the scheduler has its pods, before everything else is begun. The number follows the
 * server: when it leaves a write without an answer for as long as a write may take, half as many
 * are sent, and one more when as many as there may be have been answered (as TCP does it, RFC
 * 5681). */
#include <stdlib.h>

#include "api/runtime/base/str.h"
#include "controller/operation.h"

#define WINDOW_LEAST 4
#define WINDOW_MOST                                                                                \
    64 /* of the 100 streams that Kubernetes allows on a connection; watches need some */
#define LEASE_AGAIN (100 * TG_MILLISECOND)
#define WATCH_TELLS (500 * TG_MILLISECOND) /* until what no answer tells would be written again */

/* A write must end before anybody else can hold the lease. */
int64_t tg_controller_write_timeout(const struct tg_controller *controller)
{
    const struct tg_delays *delays = tg_configuration_delays(controller->configuration);

    return delays->request < delays->lease / 3 ? delays->request : delays->lease / 3;
}

bool tg_controller_may_write(const struct tg_controller *controller)
{
    return tg_elector_leading(controller->elector) &&
           tg_elector_valid_until(controller->elector) - tg_now_monotonic(controller->clock) >
               tg_controller_write_timeout(controller);
}

void tg_controller_window_init(struct tg_controller *controller)
{
    controller->window.size = WINDOW_MOST;
}

static void widen(struct tg_controller *controller)
{
    if (++controller->window.answered < controller->window.size)
        return;
    controller->window.answered = 0;
    if (controller->window.size < WINDOW_MOST)
        controller->window.size++;
}

/* All that were in flight at the time are late together. */
void tg_controller_answer_lost(struct tg_controller *controller)
{
    int64_t now = tg_now_monotonic(controller->clock);

    controller->window.answered = 0;
    if (now - controller->window.narrowed < tg_controller_write_timeout(controller))
        return;
    controller->window.narrowed = now;
    controller->window.size /= 2;
    if (controller->window.size < WINDOW_LEAST)
        controller->window.size = WINDOW_LEAST;
}

void tg_controller_start_waiting(struct tg_controller *controller)
{
    while (controller->operations < controller->window.size && controller->first_waiting != NULL) {
        struct tg_operation *op = controller->first_waiting;

        if (!tg_controller_may_write(controller)) {
            tg_controller_wake_at(controller, tg_now_monotonic(controller->clock) + LEASE_AGAIN);
            return;
        }
        controller->first_waiting = op->next;
        if (controller->first_waiting == NULL)
            controller->last_waiting = NULL;
        op->next = controller->first_active;
        controller->first_active = op;
        controller->operations++;
        op->step(op);
    }
}

static void unlink_active(struct tg_operation *op)
{
    struct tg_operation **at = &op->controller->first_active;

    while (*at != op)
        at = &(*at)->next;
    *at = op->next;
}

static void check_drained(struct tg_controller *controller)
{
    if (controller->stopping && controller->operations == 0 && controller->drained != NULL) {
        void (*drained)(void *data) = controller->drained;

        controller->drained = NULL;
        tg_timer_stop(&controller->drain);
        drained(controller->drained_data);
    }
}

void tg_operation_finish(struct tg_operation *op)
{
    struct tg_controller *controller = op->controller;
    struct tg_unit_state *state = tg_map_get(controller->units, op->unit);

    if (state != NULL) {
        state->in_flight--;
        state->returned = state->in_flight == 0;
        state->failed = state->failed || op->failed;
        if (op->watch_tells)
            state->not_before = tg_now_monotonic(controller->clock) + WATCH_TELLS;
    }
    controller->writes++;
    controller->write_failures += op->failed;
    controller->operations--;
    widen(controller);
    unlink_active(op);
    tg_operation_free(op);
    check_drained(controller);
    tg_controller_start_waiting(controller);
    tg_controller_kick(controller);
}

/* After those of the same and of earlier turns. Most are of the last turn, or of one of the first:
 * few are walked over. */
static void queue(struct tg_controller *controller, struct tg_operation *op)
{
    struct tg_operation **at = &controller->first_waiting;

    if (controller->last_waiting != NULL && controller->last_waiting->turn <= op->turn)
        at = &controller->last_waiting->next;
    while (*at != NULL && (*at)->turn <= op->turn)
        at = &(*at)->next;
    op->next = *at;
    *at = op;
    if (op->next == NULL)
        controller->last_waiting = op;
}

void tg_controller_execute(struct tg_controller *controller, struct tg_unit_state *state,
                           const struct tg_write *writes, size_t n)
{
    if (state->turn == 0 && n > 0)
        state->turn = ++controller->turns;
    for (size_t i = 0; i < n; i++) {
        struct tg_operation *op = tg_operation_new(controller, state->key, &writes[i]);

        op->turn = state->turn;
        queue(controller, op);
        state->in_flight++;
    }
    tg_controller_start_waiting(controller);
}

/* Part of a rollback: wanted whatever else happens. */
static bool takes_back(const struct tg_operation *op)
{
    return op->kind == TG_WRITE_CLAIM_CLEAR || op->kind == TG_WRITE_CLAIM_EPOCH;
}

void tg_controller_drop_waiting(struct tg_controller *controller, struct tg_unit_state *state)
{
    struct tg_operation **at = &controller->first_waiting, *last = NULL;

    while (*at != NULL) {
        struct tg_operation *op = *at;
        struct tg_unit_state *owner = tg_map_get(controller->units, op->unit);

        if (state != NULL && (owner != state || takes_back(op))) {
            last = op;
            at = &op->next;
            continue;
        }
        if (owner != NULL) {
            owner->in_flight--;
            owner->returned = owner->in_flight == 0;
        }
        *at = op->next;
        tg_operation_free(op);
    }
    controller->last_waiting = last;
}

static void on_drain_over(struct tg_timer *timer)
{
    struct tg_controller *controller = timer->data;

    /* The lease is kept: what is still on its way may arrive, and nobody else may write before it
     * ran out. */
    tg_loop_stop(controller->loop);
}

void tg_controller_stop(struct tg_controller *controller, void (*drained)(void *data), void *data)
{
    controller->stopping = true;
    controller->drained = drained;
    controller->drained_data = data;
    controller->drain.callback = on_drain_over;
    controller->drain.data = controller;
    tg_timer_start(controller->loop, &controller->drain, tg_controller_write_timeout(controller));
    tg_controller_drop_waiting(controller, NULL);
    check_drained(controller);
}

/* The client is gone: no answer will come. */
void tg_controller_drop_operations(struct tg_controller *controller)
{
    tg_controller_drop_waiting(controller, NULL);
    while (controller->first_active != NULL) {
        struct tg_operation *op = controller->first_active;

        controller->first_active = op->next;
        tg_operation_free(op);
    }
}
