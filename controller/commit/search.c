/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/commit/search.h"

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/commit/rules.h"

struct searching {
    const struct tg_configuration *configuration;
    const struct tg_commit_input *input;
    struct tg_arena *arena;
    struct tg_decision *decision;
    struct tg_search *out;
    const struct tg_level *levels[2]; /* required and preferred; NULL: none */
    const struct tg_place_rule *rules;
    size_t n_rules;
};

static int find_level(struct searching *s, size_t i, const char *name, struct tg_error *err)
{
    if (name == NULL)
        return 0;
    s->levels[i] = &s->out->levels[i];
    return tg_configuration_find_level(s->configuration, name, &s->out->levels[i], err);
}

static int find_levels(struct searching *s, struct tg_error *err)
{
    const struct tg_gang *gang = s->input->unit->gang;
    int r;

    if (gang == NULL)
        return 0;
    r = find_level(s, 0, tg_gang_pack_required(gang), err);
    if (r == 0)
        r = find_level(s, 1, tg_gang_pack_preferred(gang), err);
    return r < 0 ? r
                 : tg_commit_rules(s->configuration, gang, s->arena, &s->rules, &s->n_rules, err);
}

const char *tg_search_reason(const struct tg_error *why)
{
    if (tg_streq(why->reason, TG_VOLUME_NOT_READY))
        return "VolumeNotReady";
    switch ((int)why->code) {
    case TG_RESOURCE_EXHAUSTED:
        return "TooLarge";
    case TG_FAILED_PRECONDITION:
        return "SelectorFailed";
    default:
        return "Unsupported";
    }
}

static int wait(struct searching *s, const char *reason, const char *text)
{
    struct tg_decision *decision = s->decision;

    decision->kind = TG_DECIDE_WAIT;
    decision->reason = reason;
    decision->text = text;
    decision->warning = true;
    if (!decision->joins)
        decision->phase = TG_PHASE_WAITING;
    return 0;
}

static int refuse(struct searching *s, const char *reason, const struct tg_error *why,
                  struct tg_error *err)
{
    const char *text = tg_arena_strdup(s->arena, why->message);

    if (text == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "%s: the memory budget of a pass is used up", s->input->unit->key);
    return wait(s, reason, text);
}

/* One attempt: with the first n of the chosen. */
struct attempt {
    bool on_nodes; /* where their predecessors were */
    size_t n;
};

static int try_place(struct searching *s, const struct attempt *attempt, struct tg_error *why)
{
    struct tg_search *out = s->out;
    int r;

    s->decision->n_chosen = attempt->n;
    r = tg_commit_place_request(s->input, s->decision, s->levels[0], s->levels[1],
                                attempt->on_nodes, s->arena, &out->request, why);
    if (r < 0)
        return r == -TG_FAILED_PRECONDITION ? -TG_ABORTED : r;
    out->request.rules = s->rules;
    out->request.n_rules = s->n_rules;
    out->request.policies = tg_configuration_policies(s->configuration);
    return tg_place(s->input->fleet, &out->request, s->arena, &out->placement, &out->storage, why);
}

static int try_all(struct searching *s, struct tg_error *why)
{
    const size_t all = s->decision->n_chosen, least = s->decision->n_required;
    const struct attempt attempts[] = {{true, all}, {false, all}, {false, least}};
    const bool fits[] = {s->decision->joins, true, least > 0 && least < all};
    int r = -TG_UNAVAILABLE;

    for (size_t i = 0; r == -TG_UNAVAILABLE && i < TG_ARRAY_SIZE(attempts); i++)
        if (fits[i])
            r = try_place(s, &attempts[i], why);
    return r;
}

int tg_commit_search(const struct tg_configuration *configuration,
                     const struct tg_commit_input *input, struct tg_arena *arena,
                     struct tg_decision *decision, struct tg_search *ret, struct tg_error *err)
{
    struct searching s = {.configuration = configuration,
                          .input = input,
                          .arena = arena,
                          .decision = decision,
                          .out = ret};
    struct tg_error why = TG_ERROR_INIT;
    int r;

    *ret = (struct tg_search){0};
    if (find_levels(&s, &why) < 0)
        return refuse(&s, why.code == TG_NOT_FOUND ? "UnknownLevel" : tg_search_reason(&why), &why,
                      err);
    r = try_all(&s, &why);
    ret->placed = r == 0;
    if (r == 0)
        return 0;
    if (r != -TG_UNAVAILABLE)
        return refuse(&s, r == -TG_ABORTED ? "ClaimsOnDifferentNodes" : tg_search_reason(&why),
                      &why, err);
    ret->no_place = &ret->storage;
    return wait(&s, ret->storage.reason, ret->storage.text);
}
