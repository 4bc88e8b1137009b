/* SPDX-License-Identifier: Apache-2.0 */
/* Membership by the opaque GangMember entry of a claim (design 4.2). */
#include <string.h>

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/gather/source.h"

static int out_of_memory(struct tg_error *err)
{
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the memory budget of a pass is used up");
}

static int set_problem(struct tg_unit_problem *ret, const struct tg_resource_claim *claim,
                       struct tg_arena *arena, const char *reason, const char *text,
                       struct tg_error *err)
{
    *ret = (struct tg_unit_problem){
        .reason = reason, .text = tg_arena_strdup(arena, text), .claim = claim};
    return ret->text == NULL ? out_of_memory(err) : 0;
}

static bool same_declaration(const struct tg_member *a, const struct tg_member *b)
{
    return tg_streq(a->gang, b->gang) && tg_streq(a->pod_label, b->pod_label) &&
           a->size == b->size && tg_streq(a->role, b->role) &&
           tg_streq(a->pack_required, b->pack_required) &&
           tg_streq(a->pack_preferred, b->pack_preferred);
}

/* One claim: its GangMember entry, if it has one. */
static int look_at_claim(const struct tg_resource_claim *claim, struct tg_arena *arena,
                         struct tg_membership *ret, struct tg_error *err)
{
    const struct tg_device_claim *devices = claim->spec == NULL ? NULL : claim->spec->devices;

    for (size_t i = 0; devices != NULL && i < devices->config.n; i++) {
        const struct tg_opaque_config *opaque = devices->config.items[i].opaque;
        struct tg_error why = TG_ERROR_INIT;
        struct tg_member *member = NULL;

        if (opaque == NULL || !tg_streq(opaque->driver, TG_MARKER_DRIVER) ||
            opaque->parameters == NULL)
            continue;
        if (tg_member_decode(opaque->parameters, strlen(opaque->parameters), arena, &member, &why) <
            0) {
            if (why.code == TG_RESOURCE_EXHAUSTED)
                return out_of_memory(err);
            return set_problem(&ret->problem, claim, arena, "InvalidGangMember", why.message, err);
        }
        if (ret->declared != NULL && !same_declaration(ret->declared, member))
            return set_problem(&ret->problem, claim, arena, "ContradictingGangMember",
                               "the claims of this pod declare different gangs: give all of them "
                               "the same GangMember "
                               "parameters",
                               err);
        ret->declared = member;
    }
    return 0;
}

static int name_gang(const struct tg_pod *pod, struct tg_arena *arena, struct tg_membership *ret,
                     struct tg_error *err)
{
    char name[TG_GANG_OBJECT_NAME_SIZE];

    ret->role = ret->declared->role;
    if (ret->declared->gang != NULL) {
        ret->gang = ret->declared->gang;
        return 0;
    }
    ret->value = tg_meta_label(pod->metadata, ret->declared->pod_label);
    if (ret->value == NULL || ret->value[0] == '\0') {
        ret->problem = (struct tg_unit_problem){
            .reason = "MissingGangLabel",
            .text = tg_arena_printf(
                arena,
                "gangFrom.podLabel names the label %s, which the pod does not carry: set it on the "
                "pod template",
                ret->declared->pod_label)};
        return ret->problem.text == NULL ? out_of_memory(err) : 0;
    }
    tg_gang_object_name(ret->value, name);
    ret->gang = tg_arena_strdup(arena, name);
    return ret->gang == NULL ? out_of_memory(err) : 0;
}

static int look(const struct tg_pod *pod, const struct tg_resource_claim *const *claims, size_t n,
                struct tg_arena *arena, struct tg_membership *ret, struct tg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        int r = look_at_claim(claims[i], arena, ret, err);

        if (r < 0 || ret->problem.reason != NULL)
            return r;
    }
    return ret->declared == NULL ? 0 : name_gang(pod, arena, ret, err);
}

const struct tg_source tg_source_claim_config = {.name = "claim configuration", .look = look};
