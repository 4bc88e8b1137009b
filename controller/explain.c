/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a unit has no place, in full (core/explain): made when the reason is another, or members are,
 * and now and then while it stays the same and its numbers change. In between what was said stands,
 * so that neither statuses nor events follow every move of the fleet.
 */
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "controller/controller.h"
#include "controller/core/explain/explain.h"
#include "controller/core/explain/words.h"

/* The same reason with other numbers is told no more often. */
#define EVERY (10 * TG_SECOND)

/* --- who is behind a holder ------------------------------------------------------------------- */

struct finder {
    const struct tg_view *view;
    struct tg_arena *arena;
};

/* "claim ns/name", and "gang/ns/name" as keys of units are, taken apart in the arena. */
static bool split(struct tg_arena *arena, const char *holder, const char *kind,
                  const char **ret_namespace, const char **ret_name)
{
    size_t n = strlen(kind);
    const char *slash;

    if (strncmp(holder, kind, n) != 0 || (holder[n] != ' ' && holder[n] != '/'))
        return false;
    slash = strchr(holder + n + 1, '/');
    if (slash == NULL)
        return false;
    *ret_namespace = tg_arena_strndup(arena, holder + n + 1, (size_t)(slash - holder) - n - 1);
    *ret_name = slash + 1;
    return *ret_namespace != NULL;
}

static bool find_claim(const struct finder *f, const char *namespace_, const char *name,
                       struct tg_resident *ret)
{
    const struct tg_resource_claim *claim = tg_view_claim(f->view, namespace_, name);
    const struct tg_pod **pods;

    if (claim == NULL || claim->status == NULL)
        return false;
    pods = tg_arena_alloc_array(f->arena, claim->status->reserved_for.n + 1, sizeof(*pods));
    if (pods == NULL)
        return false;
    for (size_t i = 0; i < claim->status->reserved_for.n; i++) {
        const struct tg_consumer_reference *user = &claim->status->reserved_for.items[i];
        const struct tg_pod *pod =
            tg_streq(user->resource, "pods") ? tg_view_pod(f->view, namespace_, user->name) : NULL;

        if (pod != NULL && tg_streq(pod->metadata->uid, user->uid))
            pods[ret->n_pods++] = pod;
    }
    ret->pods = pods;
    /* All of it, or it is not known what moving it would mean. */
    ret->claim = ret->n_pods == claim->status->reserved_for.n ? claim : NULL;
    return true;
}

/* Until when a gang holds the places of lost members. */
static bool find_gang(const struct finder *f, const char *namespace_, const char *name,
                      struct tg_resident *ret)
{
    const struct tg_gang *gang = tg_view_get(f->view, TG_VIEW_GANG, namespace_, name);

    if (gang == NULL || gang->status == NULL || gang->status->holds.n == 0 ||
        gang->status->holds.items[0].until == NULL)
        return false;
    return tg_time_parse(gang->status->holds.items[0].until, &ret->until, NULL) == 0;
}

static bool find(void *data, const char *holder, struct tg_resident *ret)
{
    const struct finder *f = data;
    const char *namespace_, *name;

    if (split(f->arena, holder, "claim", &namespace_, &name))
        return find_claim(f, namespace_, name, ret);
    return split(f->arena, holder, "gang", &namespace_, &name) &&
           find_gang(f, namespace_, name, ret);
}

/* --- when ------------------------------------------------------------------------------------- */

static bool still_stands(struct tg_controller *controller, struct tg_unit_state *state,
                         const struct tg_no_place *hint, uint64_t members, int64_t now)
{
    if (state->why.text == NULL || state->why.members != members ||
        !tg_streq(state->why.hint, hint->reason))
        return false;
    if (tg_streq(state->why.hint_text, hint->text))
        return true;
    if (now - state->why.since >= EVERY)
        return false;
    tg_controller_wake_at(controller, state->why.since + EVERY);
    return true;
}

void tg_controller_forget_why(struct tg_unit_state *state)
{
    free(state->why.hint);
    free(state->why.hint_text);
    free(state->why.reason);
    free(state->why.text);
    memset(&state->why, 0, sizeof(state->why));
}

static void remember(struct tg_unit_state *state, const struct tg_no_place *hint,
                     const char *reason, const char *text, uint64_t members, int64_t now)
{
    tg_controller_forget_why(state);
    state->why.hint = tg_xstrdup(hint->reason);
    state->why.hint_text = tg_xstrdup(hint->text);
    state->why.reason = tg_xstrdup(reason);
    state->why.text = tg_xstrdup(text);
    state->why.members = members;
    state->why.since = now;
}

void tg_controller_explain(struct tg_controller *controller, const struct tg_view *view,
                           struct tg_unit_state *state, const struct tg_unit *unit,
                           const struct tg_search *search, struct tg_arena *arena,
                           struct tg_decision *decision)
{
    const struct tg_no_place *hint = search->no_place;
    uint64_t members = tg_controller_hash_members(unit);
    int64_t now = tg_now_monotonic(controller->clock);
    struct finder finder = {.view = view, .arena = arena};
    struct tg_explain_input input = {.request = &search->request, .find = find, .data = &finder};
    struct tg_explanation *explanation;

    if (!still_stands(controller, state, hint, members, now)) {
        struct tg_error err = TG_ERROR_INIT;
        struct tg_text text;

        input.levels = tg_configuration_levels(controller->configuration, &input.n_levels);
        explanation = tg_arena_alloc(arena, sizeof(*explanation));
        /* The short form is right, too, if there is no more to be had. */
        if (explanation == NULL ||
            tg_explain_request(controller->fleet, &input, arena, explanation, &err) < 0 ||
            explanation->reason == NULL)
            return;
        tg_explanation_sentence(explanation, &text);
        remember(state, hint, explanation->reason, text.data, members, now);
    }
    decision->reason = state->why.reason;
    decision->text = state->why.text;
}
