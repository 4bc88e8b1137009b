/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/gather/unit.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/core/gang/place.h"
#include "controller/gather/checked.h"
#include "controller/gather/grant.h"
#include "controller/gather/instance.h"
#include "controller/gather/source.h"

#define ROLES_TOLD 8 /* names of roles in a text */

/* A unit while members are still being added. */
struct builder {
    struct tg_unit unit;
    const char *named; /* by claims of the members: the instance that goes first; NULL: none */
    const char *other; /* an instance that is not ours, or NULL */
    TG_VEC(struct tg_unit_member) members;
};

struct gathering {
    const struct tg_view *view;
    const char *instance;
    struct tg_arena *arena;
    struct tg_error *err;
    struct tg_map *builders; /* unit key -> struct builder */
};

static void builder_free(void *value)
{
    struct builder *builder = value;

    TG_VEC_DONE(&builder->members);
    free(builder);
}

static int out_of_memory(struct gathering *g)
{
    return tg_error_set(g->err, TG_RESOURCE_EXHAUSTED, "the memory budget of a pass is used up");
}

static int builder_get(struct gathering *g, enum tg_unit_kind kind, const char *namespace_,
                       const char *name, struct builder **ret)
{
    static const char *const prefix[] = {
        [TG_UNIT_GANG] = "gang", [TG_UNIT_POD] = "pod", [TG_UNIT_CLAIM] = "claim"};
    char *key = tg_arena_printf(g->arena, "%s/%s/%s", prefix[kind], namespace_, name);

    if (key == NULL)
        return out_of_memory(g);
    *ret = tg_map_get(g->builders, key);
    if (*ret == NULL) {
        *ret = tg_xcalloc(1, sizeof(**ret));
        (*ret)->unit =
            (struct tg_unit){.kind = kind, .namespace_ = namespace_, .name = name, .key = key};
        tg_map_set(g->builders, key, *ret);
    }
    return 0;
}

/* The first problem stays: later ones are seen when it is solved. */
static void note_problem(struct tg_unit_problem *problem, const struct tg_unit_problem *found)
{
    if (problem->reason == NULL)
        *problem = *found;
}

static int note_error(struct gathering *g, struct tg_unit_problem *problem,
                      const struct tg_error *why, const struct tg_resource_claim *claim)
{
    static const struct {
        enum tg_code code;
        const char *reason;
    } reasons[] = {
        {TG_UNIMPLEMENTED, "Unsupported"},
        {TG_NOT_FOUND, "UnknownDeviceClass"},
        {TG_FAILED_PRECONDITION, "UnguardedDeviceClass"},
        {TG_RESOURCE_EXHAUSTED, "TooLarge"},
    };
    struct tg_unit_problem found = {.reason = "Invalid", .claim = claim};

    for (size_t i = 0; i < TG_ARRAY_SIZE(reasons); i++)
        if (reasons[i].code == why->code)
            found.reason = reasons[i].reason;
    found.text = tg_arena_strdup(g->arena, why->message);
    if (found.text == NULL)
        return out_of_memory(g);
    note_problem(problem, &found);
    return 0;
}

/* What is known of one pod before its unit is. */
struct sighting {
    struct tg_unit_member member;
    const struct tg_resource_claim **all; /* claims that exist, managed or not */
    size_t n_all;
    bool missing;                               /* an entry has no claim yet */
    const char *named;                          /* instances that claims name: the first one */
    const char *other;                          /* one that is not ours, or NULL */
    bool ours;                                  /* ours is among them */
    const struct tg_resource_claim *unreadable; /* one of them, or NULL */
    struct tg_unit_problem problem;
};

static bool owned_by(const struct tg_resource_claim *claim, const struct tg_pod *pod)
{
    const struct tg_owner_reference *owner = tg_meta_controller(claim->metadata);

    return owner != NULL && tg_streq(owner->uid, pod->metadata->uid);
}

/* The claim controller decided that this entry needs no claim: an entry without a name. */
static bool needs_no_claim(const struct tg_pod *pod, const struct tg_pod_claim *entry)
{
    for (size_t i = 0; pod->status != NULL && i < pod->status->resource_claim_statuses.n; i++) {
        const struct tg_pod_claim_status *status = &pod->status->resource_claim_statuses.items[i];

        if (tg_streq(status->name, entry->name))
            return status->resource_claim_name == NULL;
    }
    return false;
}

/* Of a pod that is on a node nothing is decided any more: whose claim it was need not be read. */
static const char *instance_of(const struct gathering *g, const struct tg_pod *pod,
                               const struct tg_resource_claim *claim)
{
    if (pod->spec->node_name != NULL &&
        tg_streq(tg_instance_of_classes(g->view, claim), g->instance))
        return g->instance;
    return tg_instance_of_claim(g->view, claim, g->arena);
}

static void name_instance(const struct gathering *g, struct sighting *s, const char *instance)
{
    s->named = tg_instance_first(s->named, instance);
    if (tg_streq(instance, g->instance))
        s->ours = true;
    else if (instance != NULL)
        s->other = instance;
}

/* Its pod runs with it: it was found to be servable long ago. */
static bool serves(const struct gathering *g, const struct tg_pod *pod,
                   const struct tg_resource_claim *claim)
{
    return pod->spec->node_name != NULL && tg_claim_allocated(claim) &&
           tg_instance_of_classes(g->view, claim) != NULL;
}

static int check_claim(struct gathering *g, struct sighting *s,
                       const struct tg_resource_claim *claim, bool *ret_managed)
{
    const struct tg_view_list *classes = &g->view->lists[TG_VIEW_CLASS];
    struct tg_error why = TG_ERROR_INIT;
    int r;

    *ret_managed = true;
    if (g->view->checked != NULL && tg_checked_knows(g->view->checked, claim))
        return 0;
    r = tg_claim_check((const struct tg_device_class *const *)classes->items, classes->n,
                       g->instance, g->view->selectors, claim, ret_managed, &why);
    if (!*ret_managed)
        return 0;
    if (r < 0)
        return note_error(g, &s->problem, &why, claim);
    if (g->view->checked != NULL)
        tg_checked_note(g->view->checked, claim);
    return 0;
}

static int see_claim(struct gathering *g, struct sighting *s, const struct tg_pod_claim *entry)
{
    const struct tg_pod *pod = s->member.pod;
    const struct tg_resource_claim *claim =
        tg_view_claim(g->view, pod->metadata->namespace_, tg_pod_claim_object(pod, entry));
    const char *instance;
    bool managed = false;

    if (claim == NULL || (entry->resource_claim_name == NULL && !owned_by(claim, pod))) {
        s->missing = s->missing || !needs_no_claim(pod, entry);
        return 0;
    }
    s->all[s->n_all++] = claim;
    if (!tg_claim_allocated(claim) &&
        tg_view_unreadable(g->view, TG_VIEW_CLAIM, claim->metadata) != NULL)
        s->unreadable = claim;
    instance = instance_of(g, pod, claim);
    name_instance(g, s, instance);
    if (instance != NULL && !tg_streq(instance, g->instance))
        return 0;
    if (!serves(g, pod, claim) && check_claim(g, s, claim, &managed) < 0)
        return out_of_memory(g);
    /* What we have allocated stays ours to finish, whatever its class has become. */
    if (managed || instance != NULL)
        s->member.claims[s->member.n_claims++] = claim;
    return 0;
}

/* One pod goes to one node: two controllers would each choose theirs. */
static int check_instances(struct gathering *g, struct sighting *s)
{
    struct tg_unit_problem found = {.reason = "SeveralInstances"};

    if (!s->ours || s->other == NULL)
        return 0;
    found.text = tg_arena_printf(
        g->arena,
        "pod %s uses device classes of two instances of Tangram, %s and %s, and one pod can be "
        "served by one only: use classes with the same label " TG_LABEL_CONTROLLER,
        s->member.pod->metadata->name, g->instance, s->other);
    if (found.text == NULL)
        return out_of_memory(g);
    note_problem(&s->problem, &found);
    return 0;
}

static bool has_gang_label(const struct tg_pod *pod)
{
    return tg_meta_label(pod->metadata, TG_LABEL_GANG) != NULL;
}

static int see_pod(struct gathering *g, const struct tg_pod *pod, struct sighting *s)
{
    size_t n = pod->spec->resource_claims.n;
    struct tg_error why = TG_ERROR_INIT;

    *s = (struct sighting){.member = {.pod = pod, .gated = tg_pod_has_gate(pod, TG_GATE)}};
    s->all = tg_arena_alloc_array(g->arena, n, sizeof(*s->all));
    s->member.claims = tg_arena_alloc_array(g->arena, n, sizeof(*s->member.claims));
    if (s->all == NULL || s->member.claims == NULL)
        return out_of_memory(g);
    for (size_t i = 0; i < n; i++) {
        int r = see_claim(g, s, &pod->spec->resource_claims.items[i]);

        if (r < 0)
            return r;
    }
    if (check_instances(g, s) < 0)
        return out_of_memory(g);
    if (tg_view_unreadable(g->view, TG_VIEW_POD, pod->metadata) != NULL)
        s->member.wait = "it cannot be read: see its events";
    else if (s->unreadable != NULL) {
        s->member.wait =
            tg_arena_printf(g->arena, "its claim %s cannot be read: see the claim's events",
                            s->unreadable->metadata->name);
        if (s->member.wait == NULL)
            return out_of_memory(g);
    } else if (s->missing)
        s->member.wait = "its claims are not created yet";
    else if (pod->spec->scheduling_gates.n > (s->member.gated ? 1 : 0))
        s->member.wait = "another scheduling gate than tangram.dev/gang is still on it";
    if ((s->member.n_claims > 0 || has_gang_label(pod)) && tg_pod_check(pod, &why) < 0)
        return note_error(g, &s->problem, &why, NULL);
    return 0;
}

static bool same_size_and_place(const struct tg_member *a, const struct tg_member *b)
{
    return a->size == b->size && tg_streq(a->pack_required, b->pack_required) &&
           tg_streq(a->pack_preferred, b->pack_preferred);
}

static int join_gang(struct gathering *g, struct sighting *s,
                     const struct tg_membership *membership)
{
    static const struct tg_unit_problem contradiction = {
        .reason = "ContradictingGangMember",
        .text = "members of this gang declare different sizes or topology, or some declare a size "
                "and others expect a "
                "Gang written by a user: give all of them the same GangMember parameters"};
    struct builder *builder;
    int r = builder_get(g, TG_UNIT_GANG, s->member.pod->metadata->namespace_, membership->gang,
                        &builder);

    if (r < 0)
        return r;
    if (builder->unit.declared == NULL)
        builder->unit.declared = membership->declared;
    else if (membership->declared != NULL &&
             !same_size_and_place(builder->unit.declared, membership->declared))
        note_problem(&builder->unit.problem, &contradiction);
    if (builder->unit.value == NULL)
        builder->unit.value = membership->value;
    if (s->problem.reason != NULL)
        note_problem(&builder->unit.problem, &s->problem);
    builder->named = tg_instance_first(builder->named, s->named);
    builder->unit.ours = builder->unit.ours || s->ours;
    if (s->other != NULL)
        builder->other = s->other;
    s->member.role = membership->role;
    *TG_VEC_PUSH(&builder->members) = s->member;
    return 0;
}

/* The record of an implicit gang stands on the pod. */
static bool has_record(const struct tg_pod *pod)
{
    return tg_meta_annotation(pod->metadata, TG_ANNOTATION_PLAN) != NULL;
}

static int join_alone(struct gathering *g, struct sighting *s)
{
    const struct tg_pod *pod = s->member.pod;
    /* With a record it stays an implicit gang, also when its claims go one by one. */
    bool alone = s->member.n_claims == 1 && !has_record(pod);
    const struct tg_object_meta *meta = alone ? s->member.claims[0]->metadata : pod->metadata;
    struct builder *builder;
    int r;

    /* Bound pods hold what they have; a pod whose other claims are still to come would change its
     * kind. */
    if (pod->spec->node_name != NULL ||
        (s->missing && s->problem.reason == NULL && !has_record(pod)))
        return 0;
    r = builder_get(g, alone ? TG_UNIT_CLAIM : TG_UNIT_POD, meta->namespace_, meta->name, &builder);
    if (r < 0)
        return r;
    if (s->problem.reason != NULL)
        note_problem(&builder->unit.problem, &s->problem);
    *TG_VEC_PUSH(&builder->members) = s->member;
    return 0;
}

bool tg_pod_gathered(const struct tg_pod *pod)
{
    return pod->spec != NULL && (pod->spec->resource_claims.n > 0 || has_gang_label(pod)) &&
           !tg_pod_finished(pod) && pod->metadata->deletion_timestamp == NULL;
}

static int gather_pod(struct gathering *g, const struct tg_pod *pod)
{
    struct tg_membership membership;
    struct sighting s;
    int r;

    if (!tg_pod_gathered(pod))
        return 0;
    r = see_pod(g, pod, &s);
    if (r < 0 ||
        (s.member.n_claims == 0 && !has_record(pod) && !has_gang_label(pod) && s.other == NULL))
        return r;
    r = tg_membership_of(pod, s.all, s.n_all, g->arena, &membership, g->err);
    if (r < 0)
        return r;
    if (membership.problem.reason != NULL)
        s.problem = membership.problem;
    if (membership.gang != NULL)
        return join_gang(g, &s, &membership);
    /* The pods of another instance are its own business. */
    return s.member.n_claims == 0 && s.other != NULL ? 0 : join_alone(g, &s);
}

static int gather_gangs(struct gathering *g)
{
    const struct tg_view_list *gangs = &g->view->lists[TG_VIEW_GANG];

    for (size_t i = 0; i < gangs->n; i++) {
        const struct tg_gang *gang = gangs->items[i];
        struct builder *builder;
        int r = builder_get(g, TG_UNIT_GANG, gang->metadata->namespace_, gang->metadata->name,
                            &builder);

        if (r < 0)
            return r;
        builder->unit.gang = gang;
    }
    return 0;
}

/* What object and members say of the gang must agree. */
static int check_gang(struct gathering *g, struct tg_unit *unit)
{
    const struct tg_member *declared = unit->declared;
    const struct tg_gang *gang = unit->gang;
    struct tg_error why = TG_ERROR_INIT;
    bool automatic;

    if (gang == NULL)
        return 0;
    if (tg_gang_validate(gang, &why) < 0 || tg_gang_unsupported(gang, &why) < 0)
        return note_error(g, &unit->problem, &why, NULL);
    automatic = tg_streq(tg_meta_label(gang->metadata, TG_LABEL_AUTO), TG_LABEL_TRUE);
    if (declared == NULL)
        return 0;
    if (declared->size > 0 && !automatic)
        tg_error_set(&why, TG_INVALID_ARGUMENT,
                     "Gang %s/%s was written by a user, but its members declare a size: leave size "
                     "out of their GangMember "
                     "parameters, or delete the Gang",
                     unit->namespace_, unit->name);
    else if (declared->size > 0 && (size_t)declared->size != tg_gang_total(gang))
        tg_error_set(&why, TG_INVALID_ARGUMENT,
                     "Gang %s/%s has size %zu, but its members declare size %lld", unit->namespace_,
                     unit->name, tg_gang_total(gang), (long long)declared->size);
    return why.code == TG_OK ? 0 : note_error(g, &unit->problem, &why, NULL);
}

/* The names of its roles, as many as are read with pleasure. */
static const char *role_names(struct gathering *g, const struct tg_gang *gang)
{
    const char *text = NULL;

    for (size_t i = 0; i < gang->spec->roles.n && i < ROLES_TOLD; i++) {
        text = tg_arena_printf(g->arena, "%s%s%s", tg_or(text, ""), i > 0 ? ", " : "",
                               gang->spec->roles.items[i].name);
        if (text == NULL)
            return NULL;
    }
    return tg_or(text, "none: all members are alike");
}

/* A member of a role that its Gang does not have would be waited for in vain. */
static int check_roles(struct gathering *g, struct builder *builder)
{
    const struct tg_gang *gang = builder->unit.gang;

    if (gang == NULL || gang->spec == NULL || builder->unit.problem.reason != NULL)
        return 0;
    for (size_t i = 0; i < builder->members.n; i++) {
        struct tg_unit_member *member = &builder->members.items[i];
        const char *names;

        if (member->wait != NULL || tg_gang_role_size(gang, member->role) > 0)
            continue;
        names = role_names(g, gang);
        member->wait =
            names == NULL
                ? NULL
                : tg_arena_printf(g->arena, "%s%s, and the Gang's roles are: %s",
                                  member->role == NULL ? "it names no role" : "its role is ",
                                  tg_or(member->role, ""), names);
        if (member->wait == NULL)
            return out_of_memory(g);
    }
    return 0;
}

/* Everybody who uses a claim must be reserved for when it is allocated, and a claim takes so many.
 */
static int check_sharing(struct gathering *g, struct builder *builder)
{
    TG_AUTOMAP struct tg_map *users = tg_map_new(NULL); /* claim -> how many */
    struct tg_unit_problem *problem = &builder->unit.problem;

    if (builder->members.n <= TG_RESERVED_FOR_MAX)
        return 0;
    for (size_t i = 0; i < builder->members.n && problem->reason == NULL; i++)
        for (size_t j = 0; j < builder->members.items[i].n_claims; j++) {
            const struct tg_resource_claim *claim = builder->members.items[i].claims[j];
            uintptr_t n = (uintptr_t)tg_map_get(users, claim->metadata->name) + 1;

            tg_map_set(users, claim->metadata->name, (void *)n);
            if (n <= TG_RESERVED_FOR_MAX)
                continue;
            *problem = (struct tg_unit_problem){
                .reason = "TooManyPods",
                .claim = claim,
                .text = tg_arena_printf(g->arena,
                                        "more than %d pods share claim %s, which is all that "
                                        "Kubernetes can reserve it for: give them more claims",
                                        TG_RESERVED_FOR_MAX, claim->metadata->name)};
            return problem->text == NULL ? out_of_memory(g) : 0;
        }
    return 0;
}

static int member_compare(const void *a, const void *b)
{
    const struct tg_object_meta *x = ((const struct tg_unit_member *)a)->pod->metadata;
    const struct tg_object_meta *y = ((const struct tg_unit_member *)b)->pod->metadata;
    int r = tg_strcmp(x->creation_timestamp, y->creation_timestamp);

    return r != 0 ? r : tg_strcmp(x->name, y->name);
}

static int unit_compare(const void *a, const void *b)
{
    const struct tg_unit *x = a, *y = b;
    int r;

    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    r = tg_strcmp(x->created, y->created);
    return r != 0 ? r : tg_strcmp(x->key, y->key);
}

/* Of such a Gang not even the plan is known: its members and claims are left as they are. */
static bool never_read(const struct gathering *g, const struct tg_gang *gang)
{
    return gang != NULL && gang->spec == NULL &&
           tg_view_unreadable(g->view, TG_VIEW_GANG, gang->metadata) != NULL;
}

static int set_instance_problem(struct gathering *g, struct builder *builder, const char *reason,
                                const char *text)
{
    if (text == NULL)
        return out_of_memory(g);
    note_problem(&builder->unit.problem, &(struct tg_unit_problem){.reason = reason, .text = text});
    return 0;
}

/* Those of our members who ask for a gang of another instance: they are told, nothing else. */
static int keep_refused(struct gathering *g, struct builder *builder, const char *owner)
{
    size_t n = 0;

    for (size_t i = 0; i < builder->members.n; i++)
        if (builder->members.items[i].n_claims > 0)
            builder->members.items[n++] = builder->members.items[i];
    builder->members.n = n;
    builder->unit.gang = NULL;
    builder->unit.declared = NULL;
    builder->unit.problem.reason = NULL;
    return set_instance_problem(
        g, builder, "OtherInstance",
        tg_arena_printf(g->arena,
                        "Gang %s/%s is served by instance %s of Tangram, and the device classes of "
                        "this member by %s: use classes of one instance, or another gang",
                        builder->unit.namespace_, builder->unit.name, owner, g->instance));
}

/* A Gang belongs to the instance that it names, else to the first one that the claims of its
 * members name, else to the default one: so no two instances write to one Gang. *ret_mine: it is
 * ours, or there is something to say to members of ours. */
static int check_instance(struct gathering *g, struct builder *builder, bool *ret_mine)
{
    struct tg_unit *unit = &builder->unit;
    const char *says = unit->gang == NULL ? NULL : tg_instance_of_gang(unit->gang);
    const char *owner = says != NULL ? says : tg_or(builder->named, TG_INSTANCE_DEFAULT);

    *ret_mine = true;
    if (unit->kind != TG_UNIT_GANG)
        return 0;
    if (!tg_streq(owner, g->instance)) {
        *ret_mine = unit->ours;
        return unit->ours ? keep_refused(g, builder, owner) : 0;
    }
    unit->ours = unit->ours || says != NULL;
    if (builder->other == NULL)
        return 0;
    return set_instance_problem(
        g, builder, "SeveralInstances",
        tg_arena_printf(g->arena,
                        "members of this gang use device classes of two instances of Tangram, %s "
                        "and %s: give all of them classes with the same label " TG_LABEL_CONTROLLER,
                        g->instance, builder->other));
}

static int check(struct gathering *g, struct builder *builder)
{
    int r = check_gang(g, &builder->unit);

    if (r == 0)
        r = check_roles(g, builder);
    return r < 0 ? r : check_sharing(g, builder);
}

static int finish(struct gathering *g, struct tg_units *ret)
{
    struct tg_unit *units =
        tg_arena_alloc_array(g->arena, tg_map_count(g->builders), sizeof(*units));
    size_t n = 0;

    if (units == NULL)
        return out_of_memory(g);
    for (struct tg_map_entry *e = tg_map_first(g->builders); e != NULL; e = tg_map_next(e)) {
        struct builder *builder = tg_map_value(e);
        struct tg_unit *unit = &units[n];
        struct tg_unit_member *members;
        bool mine;

        if (check_instance(g, builder, &mine) < 0)
            return out_of_memory(g);
        if (!mine || never_read(g, builder->unit.gang))
            continue;
        n++;
        if (builder->members.n > 0)
            qsort(builder->members.items, builder->members.n, sizeof(*members), member_compare);
        members = tg_arena_alloc_array(g->arena, builder->members.n, sizeof(*members));
        if (members == NULL || check(g, builder) < 0)
            return out_of_memory(g);
        *unit = builder->unit;
        unit->members = members;
        unit->n_members = builder->members.n;
        unit->created = unit->gang == NULL ? NULL : unit->gang->metadata->creation_timestamp;
        if (unit->n_members == 0)
            continue;
        memcpy(members, builder->members.items, unit->n_members * sizeof(*members));
        unit->priority = members[0].pod->spec->priority.value;
        if (unit->created == NULL ||
            tg_strcmp(members[0].pod->metadata->creation_timestamp, unit->created) < 0)
            unit->created = members[0].pod->metadata->creation_timestamp;
    }
    if (n > 0)
        qsort(units, n, sizeof(*units), unit_compare);
    *ret = (struct tg_units){.items = units, .n = n};
    return 0;
}

static int pod_compare(const void *a, const void *b)
{
    const struct tg_object_meta *x = (*(const struct tg_pod *const *)a)->metadata;
    const struct tg_object_meta *y = (*(const struct tg_pod *const *)b)->metadata;
    int r = tg_strcmp(x->creation_timestamp, y->creation_timestamp);

    if (r == 0)
        r = tg_strcmp(x->namespace_, y->namespace_);
    return r != 0 ? r : tg_strcmp(x->name, y->name);
}

/* Oldest first: whose word counts (and which problem is told) does not depend on the order in which
 * a store happens to hold them. */
static int gather_pods(struct gathering *g)
{
    const struct tg_view_list *list = &g->view->lists[TG_VIEW_POD];
    const struct tg_pod **pods = tg_arena_alloc_array(g->arena, list->n, sizeof(const void *));
    int r = 0;

    if (pods == NULL)
        return out_of_memory(g);
    for (size_t i = 0; i < list->n; i++)
        pods[i] = list->items[i];
    if (list->n > 0)
        qsort(pods, list->n, sizeof(const void *), pod_compare);
    for (size_t i = 0; r == 0 && i < list->n; i++)
        r = gather_pod(g, pods[i]);
    return r;
}

int tg_gather(const struct tg_view *view, const char *instance, struct tg_arena *arena,
              struct tg_units *ret, struct tg_error *err)
{
    TG_AUTOMAP struct tg_map *builders = tg_map_new(builder_free);
    struct gathering g = {
        .view = view, .instance = instance, .arena = arena, .err = err, .builders = builders};
    int r = gather_gangs(&g);

    if (view->checked != NULL)
        tg_checked_begin(view->checked, view);
    if (r == 0)
        r = gather_pods(&g);
    return r < 0 ? r : finish(&g, ret);
}
