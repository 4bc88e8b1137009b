/* SPDX-License-Identifier: Apache-2.0 */
/* A plan after the first gate: it shrinks, loses members, and others join. */
#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/commit/parts.h"

static struct tg_plan *copy_with_room(struct tg_deciding *d, size_t more)
{
    const struct tg_plan *plan = d->in->plan;
    struct tg_plan *copy = tg_arena_alloc(d->arena, sizeof(*copy));
    struct tg_plan_member *members =
        tg_arena_alloc_array(d->arena, plan->members.n + more, sizeof(*members));

    if (copy == NULL || members == NULL)
        return NULL;
    memcpy(members, plan->members.items, plan->members.n * sizeof(*members));
    *copy = *plan;
    copy->members.items = members;
    return copy;
}

struct tg_plan *tg_plan_copy(struct tg_deciding *d)
{
    return copy_with_room(d, 0);
}

struct tg_plan *tg_plan_without_claims(struct tg_deciding *d)
{
    struct tg_plan *small = copy_with_room(d, 0);

    if (small == NULL)
        return NULL;
    for (size_t i = 0; i < small->members.n; i++) {
        small->members.items[i].claims.items = NULL;
        small->members.items[i].claims.n = 0;
    }
    small->driver = NULL;
    small->classes.items = NULL;
    small->classes.n = 0;
    return small;
}

/* --- joining --------------------------------------------------------------------------------- */

static bool has_class(const struct tg_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->classes.n; i++)
        if (tg_streq(plan->classes.items[i].name, name))
            return true;
    return false;
}

/* Configuration that the plan has already stays as it was when the plan was made. */
static int join_classes(struct tg_deciding *d, struct tg_plan *plan, const struct tg_plan *more)
{
    struct tg_plan_class *classes =
        tg_arena_alloc_array(d->arena, plan->classes.n + more->classes.n, sizeof(*classes));
    size_t n = plan->classes.n;

    if (classes == NULL)
        return -1;
    if (n > 0)
        memcpy(classes, plan->classes.items, n * sizeof(*classes));
    for (size_t i = 0; i < more->classes.n; i++)
        if (!has_class(plan, more->classes.items[i].name))
            classes[n++] = more->classes.items[i];
    plan->classes.items = classes;
    plan->classes.n = n;
    return 0;
}

/* The driver of `more` is named where it is not that of the plan. */
static int name_drivers(struct tg_deciding *d, const char *driver, struct tg_plan_member *member)
{
    struct tg_plan_claim *claims =
        tg_arena_alloc_array(d->arena, member->claims.n, sizeof(*claims));

    if (claims == NULL)
        return -1;
    for (size_t i = 0; i < member->claims.n; i++) {
        struct tg_plan_result *results;

        claims[i] = member->claims.items[i];
        results = tg_arena_alloc_array(d->arena, claims[i].results.n, sizeof(*results));
        if (results == NULL)
            return -1;
        for (size_t j = 0; j < claims[i].results.n; j++) {
            results[j] = claims[i].results.items[j];
            results[j].driver = tg_or(results[j].driver, driver);
        }
        claims[i].results.items = results;
    }
    member->claims.items = claims;
    return 0;
}

static bool gives_place(const struct tg_member_view *view, const char *role)
{
    return tg_streq(view->member->role, role) &&
           (view->state == TG_MEMBER_LOST || (view->state == TG_MEMBER_FINISHED && view->failed));
}

/* Lost members first: theirs is the place that was held. */
static void drop_one(const struct tg_progress *p, struct tg_plan *plan, const char *role)
{
    for (int failed_too = 0; failed_too < 2; failed_too++)
        for (size_t i = 0; i < p->n; i++) {
            const struct tg_member_view *view = &p->members[i];

            if (!gives_place(view, role) || (view->state != TG_MEMBER_LOST && failed_too == 0))
                continue;
            for (size_t j = 0; j < plan->members.n; j++)
                if (tg_streq(plan->members.items[j].uid, view->member->uid)) {
                    memmove(&plan->members.items[j], &plan->members.items[j + 1],
                            (--plan->members.n - j) * sizeof(plan->members.items[0]));
                    return;
                }
        }
}

struct tg_plan *tg_plan_join(struct tg_deciding *d, const struct tg_progress *p,
                             const struct tg_plan *more)
{
    struct tg_plan *plan = copy_with_room(d, more->members.n);

    if (plan == NULL || join_classes(d, plan, more) < 0)
        return NULL;
    if (plan->driver == NULL)
        plan->driver = more->driver;
    for (size_t i = 0; i < more->members.n; i++) {
        struct tg_plan_member member = more->members.items[i];

        drop_one(p, plan, member.role);
        if (!tg_streq(plan->driver, more->driver) && name_drivers(d, more->driver, &member) < 0)
            return NULL;
        plan->members.items[plan->members.n++] = member;
    }
    return plan;
}
