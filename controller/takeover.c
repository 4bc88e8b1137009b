/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between acquiring the lease and the first decision (design 5.2, fencing): everything is listed by
 * quorum, and whatever a predecessor may still send is made invalid by a write of our epoch to its
 * object. A write that was answered is a fence, whatever the answer: done, the version has moved
 * on; a conflict, it had moved on before and is read again. What the server keeps refusing for
 * other reasons is told and must not stop the rest of the cluster.
 */
#include "api/runtime/base/log.h"
#include "controller/controller.h"

#define MEMORY ((size_t)256 << 20)
#define ROUNDS 3
#define AGAIN TG_SECOND

/* The key of a unit cannot be this: those have slashes. */
#define UNIT "takeover"

static void raise_epoch(struct tg_controller *controller, uint64_t highest)
{
    const struct tg_delays *delays = tg_configuration_delays(controller->configuration);
    struct tg_takeover *takeover = &controller->takeover;

    TG_INFO("Objects carry an epoch that is not below ours: the Lease was deleted. Waiting as long "
            "as a lease lasts, for whoever held the old one",
            TG_I("epoch", takeover->epoch), TG_I("seen", highest));
    takeover->not_before = tg_now_monotonic(controller->clock) + delays->lease;
    tg_controller_wake_at(controller, takeover->not_before);
    tg_elector_raise(controller->elector, highest);
}

static bool take_round(struct tg_controller *controller, const struct tg_commit_input *input,
                       struct tg_arena *arena)
{
    struct tg_takeover *takeover = &controller->takeover;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_decision fences;
    uint64_t highest = 0;

    if (tg_commit_fence(input, arena, &fences, &highest, &err) < 0) {
        TG_ERR(&err, "Cannot take over; trying again");
        tg_controller_wake_at(controller, tg_now_monotonic(controller->clock) + AGAIN);
        return false;
    }
    if (takeover->rounds == 0 && highest >= takeover->epoch) {
        raise_epoch(controller, highest);
        return false;
    }
    if (fences.n_writes > 0 && takeover->rounds < ROUNDS) {
        takeover->rounds++;
        takeover->fenced += fences.n_writes;
        tg_controller_execute(controller, tg_controller_state(controller, UNIT), fences.writes,
                              fences.n_writes);
        return false;
    }
    TG_INFO("Taken over", TG_I("epoch", takeover->epoch), TG_I("fenced", takeover->fenced),
            TG_I("refused", fences.n_writes));
    takeover->done = takeover->epoch;
    return true;
}

bool tg_controller_taken_over(struct tg_controller *controller)
{
    struct tg_takeover *takeover = &controller->takeover;
    uint64_t epoch = tg_elector_epoch(controller->elector);
    struct tg_commit_input input = {
        .instance = tg_configuration_instance(controller->configuration), .epoch = epoch};
    struct tg_arena *arena;
    struct tg_view view;
    bool done;

    if (takeover->done == epoch)
        return true;
    if (takeover->epoch != epoch)
        *takeover = (struct tg_takeover){
            .epoch = epoch, .done = takeover->done, .not_before = takeover->not_before};
    if (takeover->not_before > tg_now_monotonic(controller->clock)) {
        tg_controller_wake_at(controller, takeover->not_before);
        return false;
    }
    if (tg_controller_state(controller, UNIT)->in_flight > 0 ||
        !tg_controller_refreshed(controller, epoch))
        return false;
    arena = tg_arena_new(MEMORY);
    tg_view_init(&view);
    tg_controller_fill_view(controller, &view);
    input.view = &view;
    done = take_round(controller, &input, arena);
    tg_view_done(&view);
    tg_arena_free(arena);
    return done;
}
