/* SPDX-License-Identifier: Apache-2.0 */
/* scheduleTimeout of a Gang: whoever waited that long for a place is not tried any more. */
#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/str.h"
#include "controller/commit/parts.h"

static void see(const char *time, int64_t *latest)
{
    int64_t at;

    if (time != NULL && tg_time_parse(time, &at, NULL) == 0 && at > *latest)
        *latest = at;
}

/* Since its newest member came, or since its last plan ended: decided from the objects alone, so
 * that another leader comes to the same. */
static int64_t waits_since(const struct tg_unit *unit)
{
    const struct tg_gang_status *status = unit->gang->status;
    const struct tg_condition *allocated =
        status == NULL ? NULL
                       : tg_condition_find(status->conditions.items, status->conditions.n,
                                           TG_CONDITION_ALLOCATED);
    int64_t since = 0;

    see(unit->gang->metadata->creation_timestamp, &since);
    for (size_t i = 0; i < unit->n_members; i++)
        see(unit->members[i].pod->metadata->creation_timestamp, &since);
    if (allocated != NULL)
        see(allocated->last_transition_time, &since);
    return since;
}

/* What was said last remains, once it is the verdict. */
static int give_up(struct tg_deciding *d)
{
    const struct tg_gang *gang = d->in->unit->gang;
    const char *said = gang->status == NULL ? NULL : gang->status->explanation;

    d->out->warning = true;
    if (gang->status != NULL && tg_streq(gang->status->phase, TG_PHASE_FAILED) && said != NULL)
        return tg_decide_wait(d, TG_PHASE_FAILED, "ScheduleTimeout", "%s", said);
    return tg_decide_wait(
        d, TG_PHASE_FAILED, "ScheduleTimeout",
        "given up: no place was found within scheduleTimeout %s. Replace a member "
        "to have it tried again. The last answer was: %s",
        gang->spec->schedule_timeout, tg_or(said, "none"));
}

int tg_decide_timeout(struct tg_deciding *d, bool *ret_over)
{
    int64_t timeout = tg_gang_schedule_timeout(d->in->unit->gang), left;

    *ret_over = false;
    if (timeout == 0)
        return 0;
    left = waits_since(d->in->unit) + timeout - d->in->now;
    if (left > 0) {
        d->out->wake_in = left;
        return 0;
    }
    *ret_over = true;
    return give_up(d);
}
