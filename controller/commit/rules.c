/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/commit/rules.h"

#include "api/runtime/base/str.h"

struct builder {
    const struct tg_configuration *configuration;
    const struct tg_gang *gang;
    struct tg_arena *arena;
    struct tg_place_rule *rules;
    size_t n;
    const char *role; /* whose topology is read; NULL: that of the whole */
};

size_t tg_commit_role(const struct tg_gang *gang, const char *role)
{
    for (size_t i = 0;
         gang != NULL && gang->spec != NULL && role != NULL && i < gang->spec->roles.n; i++)
        if (tg_streq(gang->spec->roles.items[i].name, role))
            return i + 1;
    return 0;
}

static int exhausted(struct tg_error *err)
{
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the memory budget of a pass is used up");
}

/* The field as people find it: "topology.spread[0] of role worker". */
static const char *name_field(const struct builder *b, const char *list, size_t i)
{
    return tg_arena_printf(b->arena, "%s[%zu]%s%s", list, i, b->role == NULL ? "" : " of role ",
                           tg_or(b->role, ""));
}

/* Has what the level has, which the rule keeps a copy of. */
static int add(struct builder *b, const struct tg_level *level, const struct tg_place_rule *rule,
               struct tg_error *err)
{
    struct tg_level *own = tg_arena_alloc(b->arena, sizeof(*own));

    if (own == NULL || rule->field == NULL)
        return exhausted(err);
    *own = *level;
    b->rules[b->n] = *rule;
    b->rules[b->n++].level = own;
    return 0;
}

static int add_named(struct builder *b, const char *name, const struct tg_place_rule *rule,
                     struct tg_error *err)
{
    struct tg_level level;
    int r = tg_configuration_find_level(b->configuration, name, &level, err);

    return r < 0 ? r : add(b, &level, rule, err);
}

static int add_spread(struct builder *b, const struct tg_topology *topology, const bool *roles,
                      struct tg_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && topology != NULL && i < topology->spread.n; i++) {
        const struct tg_topology_spread *spread = &topology->spread.items[i];

        if (spread->level == NULL || spread->max_per_domain.value < 1)
            return tg_error_set(err, TG_INVALID_ARGUMENT,
                                "topology.spread[%zu] needs a level, and a maxPerDomain of 1 or "
                                "more",
                                i);
        r = add_named(b, spread->level,
                      &(struct tg_place_rule){.roles = roles,
                                              .most = (size_t)spread->max_per_domain.value,
                                              .required = !tg_streq(spread->mode, "Preferred"),
                                              .field = name_field(b, "topology.spread", i)},
                      err);
    }
    return r;
}

/* Flags of all roles, none set. */
static bool *new_roles(const struct builder *b)
{
    return tg_arena_alloc_array(b->arena, b->gang->spec->roles.n + 1, sizeof(bool));
}

static int add_role(struct builder *b, size_t i, struct tg_error *err)
{
    const struct tg_topology *topology = b->gang->spec->roles.items[i].topology;
    bool *roles;
    int r = 0;

    if (topology == NULL)
        return 0;
    roles = new_roles(b);
    if (roles == NULL)
        return exhausted(err);
    roles[i + 1] = true;
    b->role = tg_or(b->gang->spec->roles.items[i].name, "?");
    if (topology->pack != NULL && topology->pack->required != NULL)
        r = add_named(
            b, topology->pack->required,
            &(struct tg_place_rule){
                .roles = roles,
                .required = true,
                .field = tg_arena_printf(b->arena, "topology.pack.required of role %s", b->role)},
            err);
    if (r == 0 && topology->pack != NULL && topology->pack->preferred != NULL)
        r = add_named(b, topology->pack->preferred,
                      &(struct tg_place_rule){.roles = roles, .field = "topology.pack.preferred"},
                      err);
    return r < 0 ? r : add_spread(b, topology, roles, err);
}

static int add_constraint(struct builder *b, size_t at, struct tg_error *err)
{
    const struct tg_gang_device_constraint *constraint =
        &b->gang->spec->device_constraints.items[at];
    const struct tg_level level = {.name = constraint->match_attribute,
                                   .device_attribute = constraint->match_attribute,
                                   .rank = TG_LEVEL_UNRANKED};
    bool *roles = NULL;

    if (constraint->match_attribute == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "spec.deviceConstraints: matchAttribute is missing");
    if (constraint->roles.n > 0 && (roles = new_roles(b)) == NULL)
        return exhausted(err);
    for (size_t i = 0; i < constraint->roles.n; i++) {
        size_t role = tg_commit_role(b->gang, constraint->roles.items[i]);

        if (role == 0)
            return tg_error_set(err, TG_INVALID_ARGUMENT,
                                "spec.deviceConstraints names the role %s, which the Gang does not "
                                "have",
                                constraint->roles.items[i]);
        roles[role] = true;
    }
    b->role = NULL;
    return add(b, &level,
               &(struct tg_place_rule){.roles = roles,
                                       .required = true,
                                       .field = name_field(b, "deviceConstraints", at)},
               err);
}

static size_t count(const struct tg_topology *topology)
{
    return topology == NULL ? 0 : topology->spread.n + 2;
}

int tg_commit_rules(const struct tg_configuration *configuration, const struct tg_gang *gang,
                    struct tg_arena *arena, const struct tg_place_rule **ret, size_t *ret_n,
                    struct tg_error *err)
{
    struct builder b = {.configuration = configuration, .gang = gang, .arena = arena};
    size_t n;
    int r;

    *ret = NULL;
    *ret_n = 0;
    if (gang == NULL || gang->spec == NULL)
        return 0;
    n = count(gang->spec->topology) + gang->spec->device_constraints.n;
    for (size_t i = 0; i < gang->spec->roles.n; i++)
        n += count(gang->spec->roles.items[i].topology);
    b.rules = tg_arena_alloc_array(arena, n, sizeof(*b.rules));
    if (b.rules == NULL)
        return exhausted(err);
    r = add_spread(&b, gang->spec->topology, NULL, err);
    for (size_t i = 0; r == 0 && i < gang->spec->roles.n; i++)
        r = add_role(&b, i, err);
    for (size_t i = 0; r == 0 && i < gang->spec->device_constraints.n; i++)
        r = add_constraint(&b, i, err);
    *ret = b.rules;
    *ret_n = r < 0 ? 0 : b.n;
    return r;
}
