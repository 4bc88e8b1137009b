/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between acquiring the lease and the first decision (design 5.2, fencing): everything is listed by
 * quorum, and whatever a predecessor may still send is made invalid by a write of our epoch to its
 * object. A write that was answered is a fence, whatever the answer: done, the version has moved
 * on; a conflict, it had moved on before and is read again. What the server keeps refusing for
 * other reasons is told and must not stop the rest of the cluster.
 */
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/vec.h"
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

/* One look at everything, some hundred objects at a time. send: what has to be fenced, when all is
 * known, in an order that is not that of the stores; and nothing is sent otherwise. */
struct look {
    struct tg_controller *controller;
    struct tg_commit_input input;
    struct tg_view view;
    bool send;
    uint64_t highest;
    size_t fences;
    TG_VEC(struct tg_write) kept; /* they outlive the parts */
    struct tg_arena *texts;
};

static void keep(struct look *look, const struct tg_write *fence)
{
    struct tg_write copy = *fence;
    const char **const texts[] = {&copy.namespace_,       &copy.name, &copy.uid,
                                  &copy.resource_version, &copy.body, &copy.epoch,
                                  &copy.metadata};

    for (size_t i = 0; i < TG_ARRAY_SIZE(texts); i++) {
        if (*texts[i] != NULL)
            *texts[i] = tg_arena_strdup(look->texts, *texts[i]);
    }
    *TG_VEC_PUSH(&look->kept) = copy;
}

static int look_at_part(struct look *look, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(MEMORY);
    struct tg_decision fences;
    uint64_t highest = 0;
    int r = tg_commit_fence(&look->input, arena, &fences, &highest, err);

    if (r < 0)
        return r;
    look->highest = highest > look->highest ? highest : look->highest;
    look->fences += fences.n_writes;
    for (size_t i = 0; look->send && i < fences.n_writes; i++)
        keep(look, &fences.writes[i]);
    return 0;
}

static int look_at_all(struct look *look, struct tg_error *err)
{
    struct tg_view_part part = {.place = 0};
    int r = 0;

    look->highest = look->fences = 0;
    look->input.view = &look->view;
    tg_view_init(&look->view);
    while (r == 0 && tg_controller_fill_part(look->controller, &part, &look->view)) {
        r = look_at_part(look, err);
        /* Each Gang once. */
        TG_VEC_CLEAR(&look->view.lists[TG_VIEW_GANG]);
    }
    tg_view_done(&look->view);
    tg_controller_parts_done(look->controller);
    return r;
}

static int send_fences(struct look *look, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *texts = tg_arena_new(TG_ARENA_UNLIMITED);
    int r;

    look->send = true;
    look->texts = texts;
    r = look_at_all(look, err);
    tg_commit_sort_fences(look->kept.items, look->kept.n);
    if (r == 0)
        tg_controller_execute(look->controller, tg_controller_state(look->controller, UNIT),
                              look->kept.items, look->kept.n);
    TG_VEC_DONE(&look->kept);
    return r;
}

static bool give_up(struct tg_controller *controller, const struct tg_error *err)
{
    TG_ERR(err, "Cannot take over; trying again");
    tg_controller_wake_at(controller, tg_now_monotonic(controller->clock) + AGAIN);
    return false;
}

static bool take_round(struct tg_controller *controller, struct look *look)
{
    struct tg_takeover *takeover = &controller->takeover;
    struct tg_error err = TG_ERROR_INIT;

    if (look_at_all(look, &err) < 0)
        return give_up(controller, &err);
    if (takeover->rounds == 0 && look->highest >= takeover->epoch) {
        raise_epoch(controller, look->highest);
        return false;
    }
    if (look->fences > 0 && takeover->rounds < ROUNDS) {
        if (send_fences(look, &err) < 0)
            return give_up(controller, &err);
        takeover->rounds++;
        takeover->fenced += look->fences;
        return false;
    }
    TG_INFO("Taken over", TG_I("epoch", takeover->epoch), TG_I("fenced", takeover->fenced),
            TG_I("refused", look->fences));
    takeover->done = takeover->epoch;
    return true;
}

bool tg_controller_taken_over(struct tg_controller *controller)
{
    struct tg_takeover *takeover = &controller->takeover;
    uint64_t epoch = tg_elector_epoch(controller->elector);
    struct look look = {.controller = controller,
                        .input = {.instance = tg_configuration_instance(controller->configuration),
                                  .epoch = epoch}};

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
    return take_round(controller, &look);
}
