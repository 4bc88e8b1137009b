/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tangram/gang.h"

#include <stdio.h>

#include "api/runtime/base/duration.h"
#include "api/runtime/base/str.h"
#include "api/tangram/fields.h"
#include "api/tangram/names.h"

/* Bounds of everything a user writes: the API server prices CEL rules by them. */
enum {
    LEVEL = 317,
    LABEL = 63,
    DURATION = 32,
    MAX_SPREAD = 8,
    MAX_CONSTRAINTS = 8,
    MAX_HOLDS = TG_GANG_MAX_HOLDS
};

#define PATTERN_LABEL "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
#define PATTERN_LEVEL "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
#define PATTERN_DURATION "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"

static const char *const spread_modes[] = {"Required", "Preferred", NULL};
static const char *const loss_policies[] = {"Hold", "Recreate", "Release", NULL};
static const char *const truths[] = {"True", "False", "Unknown", NULL};

/* -- spec ------------------------------------------------------------------------------------ */

static const struct tg_field pack_fields[] = {
    STRING(struct tg_topology_pack, required, "required",
           DOC(.description =
                   "Level of which one domain must hold all members: a name from the "
                   "controller's configuration, or a node label key with a prefix. Nodes "
                   "without the label are never used.",
               .pattern = PATTERN_LEVEL, .max_length = LEVEL)),
    STRING(struct tg_topology_pack, preferred, "preferred",
           DOC(.description = "Level of which as few domains as possible should hold the members.",
               .pattern = PATTERN_LEVEL, .max_length = LEVEL)),
};
static const struct tg_type pack_type = TG_TYPE(struct tg_topology_pack, pack_fields);
static const struct tg_schema_rule pack_rules[] = {
    {"has(self.required) || has(self.preferred)",
     "pack names no level: set required, preferred or both"},
    {NULL, NULL},
};

static const struct tg_field spread_fields[] = {
    STRING(struct tg_topology_spread, level, "level", REQUIRED,
           DOC(.description = "Level over whose domains the members are spread.",
               .pattern = PATTERN_LEVEL, .max_length = LEVEL)),
    INTEGER(struct tg_topology_spread, max_per_domain, "maxPerDomain", REQUIRED,
            DOC(.description = "Most members in one domain.", .minimum = 1,
                .maximum = TG_GANG_MAX_MEMBERS)),
    STRING(
        struct tg_topology_spread, mode, "mode",
        DOC(.description = "Whether the limit may be exceeded for want of room. Default Required.",
            .values = spread_modes)),
};
static const struct tg_type spread_type = TG_TYPE(struct tg_topology_spread, spread_fields);

static const struct tg_field topology_fields[] = {
    OBJECT(struct tg_topology, pack, "pack", &pack_type,
           DOC(.description = "Members close together.", .rules = pack_rules)),
    OBJECTS(struct tg_topology, spread, "spread", &spread_type, MAX_SPREAD,
            DOC(.description = "Members apart. Nodes without the label are not used.")),
};
static const struct tg_type topology_type = TG_TYPE(struct tg_topology, topology_fields);

static const struct tg_schema_rule role_rules[] = {
    {"!has(self.minSize) || self.minSize <= self.size", "minSize is larger than size"},
    {NULL, NULL},
};
static const struct tg_field role_fields[] = {
    STRING(struct tg_gang_role, name, "name", REQUIRED,
           DOC(.description = "Name that members give as their role.", .pattern = PATTERN_LABEL,
               .max_length = LABEL)),
    INTEGER(
        struct tg_gang_role, size, "size", REQUIRED,
        DOC(.description = "Members of this role.", .minimum = 1, .maximum = TG_GANG_MAX_MEMBERS)),
    INTEGER(struct tg_gang_role, min_size, "minSize",
            DOC(.description =
                    "Members without which the role cannot start. Default: size. Others may join "
                    "later, up to size.",
                .minimum = 1, .maximum = TG_GANG_MAX_MEMBERS)),
    STRINGS(struct tg_gang_role, start_after, "startAfter", TG_GANG_MAX_ROLES,
            DOC(.description = "Roles that must run before this one starts. Not supported yet.",
                .pattern = PATTERN_LABEL, .max_length = LABEL, .set = true)),
    OBJECT(struct tg_gang_role, topology, "topology", &topology_type,
           DOC(.description = "Topology of this role alone, beside that of the whole.")),
};
static const struct tg_type role_type = TG_TYPE(struct tg_gang_role, role_fields);

static const struct tg_field constraint_fields[] = {
    STRING(struct tg_gang_device_constraint, match_attribute, "matchAttribute", REQUIRED,
           DOC(.description = "Fully qualified device attribute whose value is the same for all "
                              "devices of the members.",
               .pattern = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z_][A-Za-z0-9_]*$",
               .max_length = 96)),
    STRINGS(struct tg_gang_device_constraint, roles, "roles", TG_GANG_MAX_ROLES,
            DOC(.description = "Roles that it binds; all if empty.", .pattern = PATTERN_LABEL,
                .max_length = LABEL, .set = true)),
};
static const struct tg_type constraint_type =
    TG_TYPE(struct tg_gang_device_constraint, constraint_fields);

static const struct tg_field disruption_fields[] = {
    BOOLEAN(struct tg_gang_disruption, movable, "movable",
            DOC(.description = "Whether members may be moved to make room. Default false; true is "
                               "not supported yet.")),
};
static const struct tg_type disruption_type = TG_TYPE(struct tg_gang_disruption, disruption_fields);

/* Rules of the whole spec. Those from FIRST_UNSUPPORTED on have a twin in C below, for objects that
 * were stored before the schema had the rule; the message is shared. */
enum {
    RULE_IMMUTABLE,
    RULE_SHAPE,
    RULE_TOTAL,
    FIRST_UNSUPPORTED,
    RULE_QUEUE = FIRST_UNSUPPORTED,
    RULE_START_AFTER,
    RULE_MOVABLE,
    END_RULES,
};
#define LATER(field, what) field " is not supported by this version of Tangram: " what
static const struct tg_schema_rule spec_rules[] = {
    [RULE_IMMUTABLE] = {"self == oldSelf",
                        "spec cannot be changed: delete the Gang and create it anew"},
    [RULE_SHAPE] = {"has(self.size) != has(self.roles)",
                    "exactly one of size and roles must be set"},
    [RULE_TOTAL] = {"!has(self.roles) || self.roles.map(r, r.size).sum() <= 2048",
                    "the sizes of the roles add up to more than 2048 members"},
    [RULE_QUEUE] = {"!has(self.queue)", LATER("spec.queue", "remove it")},
    [RULE_START_AFTER] = {"!has(self.roles) || self.roles.all(r, !has(r.startAfter))",
                          LATER("spec.roles[].startAfter", "remove it")},
    [RULE_MOVABLE] = {"!has(self.disruption) || !has(self.disruption.movable) || "
                      "!self.disruption.movable",
                      LATER("spec.disruption.movable: true", "remove it")},
    [END_RULES] = {NULL, NULL},
};

static const struct tg_field spec_fields[] = {
    INTEGER(struct tg_gang_spec, size, "size",
            DOC(.description = "Members of a gang of one nameless role. Excludes roles.",
                .minimum = 1, .maximum = TG_GANG_MAX_MEMBERS)),
    OBJECTS(struct tg_gang_spec, roles, "roles", &role_type, TG_GANG_MAX_ROLES,
            DOC(.description =
                    "Members by role (leader and worker, prefill and decode). Excludes size.",
                .min_items = 1, .list_key = "name", .item_rules = role_rules)),
    OBJECT(struct tg_gang_spec, topology, "topology", &topology_type,
           DOC(.description = "Where the members must or should be relative to each other.")),
    OBJECTS(struct tg_gang_spec, device_constraints, "deviceConstraints", &constraint_type,
            MAX_CONSTRAINTS,
            DOC(.description = "Attributes that the devices of all members share.")),
    STRING(struct tg_gang_spec, queue, "queue",
           DOC(.description = "Queue that the gang waits in. Not supported yet.",
               .pattern = PATTERN_LABEL, .max_length = LABEL)),
    STRING(struct tg_gang_spec, schedule_timeout, "scheduleTimeout",
           DOC(.description =
                   "Give up and report when there is no place for this long. A new member has "
                   "it tried again.",
               .pattern = PATTERN_DURATION, .max_length = DURATION)),
    STRING(struct tg_gang_spec, bind_timeout, "bindTimeout",
           DOC(.description =
                   "Time in which a member whose gate was removed must be bound, before the "
                   "gang counts as degraded. Default: the controller's delays.bind.",
               .pattern = PATTERN_DURATION, .max_length = DURATION)),
    STRING(struct tg_gang_spec, on_member_loss, "onMemberLoss",
           DOC(.description =
                   "What happens to the others when a member is lost: Hold keeps its place "
                   "for a replacement and then recreates the gang, Recreate does so at "
                   "once, Release lets the rest go on. Default Hold.",
               .values = loss_policies)),
    STRING(struct tg_gang_spec, hold_for, "holdFor",
           DOC(.description =
                   "How long Hold keeps the place of a lost member. Default: the controller's "
                   "delays.hold.",
               .pattern = PATTERN_DURATION, .max_length = DURATION)),
    OBJECT(struct tg_gang_spec, disruption, "disruption", &disruption_type,
           DOC(.description = "What may be done to the gang for the sake of others.")),
};
const struct tg_type tg_gang_spec_type = TG_TYPE(struct tg_gang_spec, spec_fields);

/* -- status ------------------------------------------------------------------------------------ */

static const struct tg_field hold_fields[] = {
    STRING(struct tg_gang_hold, pod, "pod",
           DOC(.description = "The member that was lost; absent: the gang waits, and its node is "
                              "kept for it.",
               .max_length = 253)),
    STRING(struct tg_gang_hold, node, "node",
           DOC(.description = "Node of its place.", .max_length = 253)),
    STRING(struct tg_gang_hold, device, "device",
           DOC(.description = "driver/pool/device; absent if nothing is known but the node.",
               .max_length = 381)),
    STRING(struct tg_gang_hold, until, "until", REQUIRED,
           DOC(.description = "When the hold ends by itself.", .format = "date-time")),
    STRING(struct tg_gang_hold, why, "why",
           DOC(.description = "What the device is held for.", .max_length = 256)),
};
static const struct tg_type hold_type = TG_TYPE(struct tg_gang_hold, hold_fields);

static const struct tg_field shortage_fields[] = {
    STRING(struct tg_gang_shortage, role, "role",
           DOC(.description = "Role that lacks places, where the gang has roles.",
               .max_length = LABEL)),
    INTEGER(struct tg_gang_shortage, members, "members", REQUIRED,
            DOC(.description = "Members of it without a place.")),
    INTEGER(struct tg_gang_shortage, per_member, "perMember", REQUIRED,
            DOC(.description = "Devices that each of them needs.")),
    STRINGS(struct tg_gang_shortage, classes, "classes", 32,
            DOC(.description = "Classes of these devices.", .max_length = 253, .set = true)),
};
static const struct tg_type shortage_type = TG_TYPE(struct tg_gang_shortage, shortage_fields);

/* The shared condition struct with our schema; metav1.Condition's limits. */
static const struct tg_field condition_fields[] = {
    STRING(struct tg_condition, type, "type", REQUIRED,
           DOC(.description = "Accepted, Allocated or Running.", .max_length = 316)),
    STRING(struct tg_condition, status, "status", REQUIRED,
           DOC(.description = "Whether the condition holds.", .values = truths)),
    INTEGER(struct tg_condition, observed_generation, "observedGeneration",
            DOC(.description = "metadata.generation that the condition was derived from.",
                .format = "int64")),
    STRING(struct tg_condition, last_transition_time, "lastTransitionTime", REQUIRED,
           DOC(.description = "When status changed last.", .format = "date-time")),
    STRING(struct tg_condition, reason, "reason", REQUIRED,
           DOC(.description = "One word for programs.", .max_length = 1024)),
    STRING(struct tg_condition, message, "message", REQUIRED,
           DOC(.description = "A sentence for people.", .max_length = 32768)),
};
static const struct tg_type condition_type = TG_TYPE(struct tg_condition, condition_fields);

static const struct tg_field status_fields[] = {
    INTEGER(struct tg_gang_status, observed_generation, "observedGeneration",
            DOC(.description = "metadata.generation that the status was derived from.",
                .format = "int64")),
    INTEGER(
        struct tg_gang_status, epoch, "epoch",
        DOC(.description = "Epoch of the leader that wrote the status last.", .format = "int64")),
    STRING(struct tg_gang_status, instance, "instance",
           DOC(.description = "The instance of the controller that serves the Gang. No other one "
                              "writes to it any more.",
               .max_length = LABEL)),
    STRING(struct tg_gang_status, phase, "phase",
           DOC(.description =
                   "Gathering, Waiting, Committing, Allocated, Running, Degraded, Releasing, "
                   "Completed or Failed. Clients must accept others.",
               .max_length = LABEL)),
    OBJECT(struct tg_gang_status, plan, "plan", &tg_plan_type,
           DOC(.description =
                   "The decided node and devices of every member. Writing it is the commit "
                   "point: from then on the plan is carried out or rolled back as a whole.")),
    OBJECTS(struct tg_gang_status, holds, "holds", &hold_type, MAX_HOLDS,
            DOC(.description = "Devices and nodes kept for this gang without an allocation.")),
    OBJECTS(struct tg_gang_status, shortage, "shortage", &shortage_type, TG_GANG_MAX_ROLES,
            DOC(.description = "What is missing, for autoscalers.")),
    STRING(struct tg_gang_status, explanation, "explanation",
           DOC(.description = "Why the gang waits and what would help.", .max_length = 32768)),
    OBJECTS(struct tg_gang_status, conditions, "conditions", &condition_type, 16,
            DOC(.description = "Conditions by type.", .list_key = "type")),
};
const struct tg_type tg_gang_status_type = TG_TYPE(struct tg_gang_status, status_fields);

static const struct tg_field gang_fields[] = {
    TG_FIELD_STR(struct tg_gang, api_version, "apiVersion"),
    TG_FIELD_STR(struct tg_gang, kind, "kind"),
    TG_FIELD_OBJ(struct tg_gang, metadata, "metadata", &tg_object_meta_type),
    OBJECT(struct tg_gang, spec, "spec", &tg_gang_spec_type, REQUIRED,
           DOC(.description = "What the gang is. Immutable.", .rules = spec_rules)),
    OBJECT(struct tg_gang, status, "status", &tg_gang_status_type,
           DOC(.description = "What became of it; written by the controller alone.")),
};
const struct tg_type tg_gang_type = TG_TYPE(struct tg_gang, gang_fields);

static const char *const short_names[] = {NULL};
static const char *const categories[] = {"tangram", NULL};
static const struct tg_schema_column columns[] = {
    {"Phase", "string", ".status.phase", "Where the gang stands", 0},
    {"Size", "integer", ".spec.size", "Members, for a gang without roles", 0},
    {"Allocated", "string", ".status.conditions[?(@.type==\"Allocated\")].status",
     "Whether every claim is allocated", 0},
    {"Why", "string", ".status.explanation", "Why the gang waits", 1},
    {"Age", "date", ".metadata.creationTimestamp", "Age of the object", 0},
};
const struct tg_crd tg_gang_crd = {
    .group = TG_GROUP,
    .version = TG_VERSION,
    .kind = TG_KIND_GANG,
    .plural = TG_PLURAL_GANG,
    .singular = "gang",
    .short_names = short_names,
    .categories = categories,
    .description = "A set of pods whose claims are allocated all or none.",
    .max_name = TG_GANG_NAME_MAX,
    .type = &tg_gang_type,
    .columns = columns,
    .n_columns = sizeof(columns) / sizeof(columns[0]),
};

/* -- unsupported ------------------------------------------------------------------------------- */

static bool has_queue(const struct tg_gang_spec *spec)
{
    return spec->queue != NULL;
}

static bool has_start_after(const struct tg_gang_spec *spec)
{
    for (size_t i = 0; i < spec->roles.n; i++)
        if (spec->roles.items[i].start_after.n > 0)
            return true;
    return false;
}

static bool is_movable(const struct tg_gang_spec *spec)
{
    return spec->disruption != NULL && spec->disruption->movable.set &&
           spec->disruption->movable.value;
}

static bool (*const unsupported[END_RULES])(const struct tg_gang_spec *) = {
    [RULE_QUEUE] = has_queue,
    [RULE_START_AFTER] = has_start_after,
    [RULE_MOVABLE] = is_movable,
};

int tg_gang_unsupported(const struct tg_gang *gang, struct tg_error *err)
{
    if (gang->spec == NULL)
        return 0;
    for (size_t i = FIRST_UNSUPPORTED; i < END_RULES; i++)
        if (unsupported[i](gang->spec))
            return tg_error_set(err, TG_UNIMPLEMENTED, "%s", spec_rules[i].message);
    return 0;
}

/* -- validation -------------------------------------------------------------------------------- */

static int check_size(const char *field, struct tg_opt_int size, struct tg_error *err)
{
    if (!size.set)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s is missing", field);
    if (size.value < 1 || size.value > TG_GANG_MAX_MEMBERS)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s is %lld: it must be 1 to %d", field,
                            (long long)size.value, TG_GANG_MAX_MEMBERS);
    return 0;
}

static int check_role(const struct tg_gang_spec *spec, size_t index, struct tg_error *err)
{
    const struct tg_gang_role *role = &spec->roles.items[index];
    if (tg_or(role->name, NULL) == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "spec.roles[%zu].name is missing", index);
    for (size_t i = 0; i < index; i++)
        if (tg_streq(spec->roles.items[i].name, role->name))
            return tg_error_set(err, TG_INVALID_ARGUMENT, "spec.roles has two roles named \"%s\"",
                                role->name);
    char field[128];
    snprintf(field, sizeof(field), "spec.roles[%zu].size", index);
    int rc = check_size(field, role->size, err);
    if (rc < 0)
        return rc;
    if (role->min_size.set && (role->min_size.value < 1 || role->min_size.value > role->size.value))
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "spec.roles[%zu].minSize is %lld: it must be 1 to size (%lld)", index,
                            (long long)role->min_size.value, (long long)role->size.value);
    return 0;
}

static int check_roles(const struct tg_gang_spec *spec, struct tg_error *err)
{
    int64_t total = 0;
    for (size_t i = 0; i < spec->roles.n; i++) {
        int rc = check_role(spec, i, err);
        if (rc < 0)
            return rc;
        total += spec->roles.items[i].size.value;
    }
    if (total > TG_GANG_MAX_MEMBERS)
        return tg_error_set(
            err, TG_INVALID_ARGUMENT,
            "the sizes of spec.roles add up to %lld: at most %d members are supported",
            (long long)total, TG_GANG_MAX_MEMBERS);
    return 0;
}

static int check_duration(const char *field, const char *text, struct tg_error *err)
{
    int64_t value;
    if (text == NULL || (tg_parse_duration(text, &value) == 0 && value >= 0))
        return 0;
    return tg_error_set(err, TG_INVALID_ARGUMENT,
                        "spec.%s is \"%s\": write a duration such as 90s or 5m", field, text);
}

int tg_gang_validate(const struct tg_gang *gang, struct tg_error *err)
{
    const struct tg_gang_spec *spec = gang->spec;
    if (spec == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "spec is missing");
    if (spec->size.set == (spec->roles.n > 0))
        return tg_error_set(err, TG_INVALID_ARGUMENT, "spec: %s", spec_rules[RULE_SHAPE].message);
    int rc = spec->size.set ? check_size("spec.size", spec->size, err) : check_roles(spec, err);
    if (rc < 0)
        return rc;
    const struct tg_topology *topology = spec->topology;
    if (topology != NULL && topology->pack != NULL && topology->pack->required == NULL &&
        topology->pack->preferred == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "spec.topology.pack: %s",
                            pack_rules[0].message);
    if ((rc = check_duration("scheduleTimeout", spec->schedule_timeout, err)) < 0 ||
        (rc = check_duration("bindTimeout", spec->bind_timeout, err)) < 0)
        return rc;
    return check_duration("holdFor", spec->hold_for, err);
}

/* -- reading ----------------------------------------------------------------------------------- */

static size_t as_size(struct tg_opt_int size)
{
    return size.set && size.value > 0 ? (size_t)size.value : 0;
}

size_t tg_gang_total(const struct tg_gang *gang)
{
    if (gang->spec == NULL)
        return 0;
    size_t total = as_size(gang->spec->size);
    for (size_t i = 0; i < gang->spec->roles.n; i++)
        total += as_size(gang->spec->roles.items[i].size);
    return total;
}

size_t tg_gang_role_size(const struct tg_gang *gang, const char *role)
{
    if (gang->spec == NULL)
        return 0;
    if (role == NULL)
        return as_size(gang->spec->size);
    for (size_t i = 0; i < gang->spec->roles.n; i++)
        if (tg_streq(gang->spec->roles.items[i].name, role))
            return as_size(gang->spec->roles.items[i].size);
    return 0;
}

size_t tg_gang_role_min(const struct tg_gang *gang, const char *role)
{
    if (gang->spec == NULL || role == NULL)
        return tg_gang_role_size(gang, role);
    for (size_t i = 0; i < gang->spec->roles.n; i++) {
        const struct tg_gang_role *entry = &gang->spec->roles.items[i];
        if (tg_streq(entry->name, role))
            return as_size(entry->min_size.set ? entry->min_size : entry->size);
    }
    return 0;
}

size_t tg_gang_min_total(const struct tg_gang *gang)
{
    if (gang->spec == NULL)
        return 0;
    size_t total = as_size(gang->spec->size);
    for (size_t i = 0; i < gang->spec->roles.n; i++)
        total += tg_gang_role_min(gang, gang->spec->roles.items[i].name);
    return total;
}

enum tg_on_loss tg_gang_on_loss(const struct tg_gang *gang)
{
    const char *policy = gang->spec == NULL ? NULL : gang->spec->on_member_loss;
    for (size_t i = 0; loss_policies[i] != NULL; i++)
        if (tg_streq(policy, loss_policies[i]))
            return (enum tg_on_loss)i;
    return TG_LOSS_HOLD;
}

int64_t tg_gang_hold_for(const struct tg_gang *gang, int64_t fallback)
{
    int64_t hold;
    if (gang->spec == NULL || gang->spec->hold_for == NULL ||
        tg_parse_duration(gang->spec->hold_for, &hold) < 0)
        return fallback;
    return hold;
}

static const struct tg_topology_pack *pack_of(const struct tg_gang *gang)
{
    return gang->spec == NULL || gang->spec->topology == NULL ? NULL : gang->spec->topology->pack;
}

const char *tg_gang_pack_required(const struct tg_gang *gang)
{
    const struct tg_topology_pack *pack = pack_of(gang);
    return pack == NULL ? NULL : pack->required;
}

const char *tg_gang_pack_preferred(const struct tg_gang *gang)
{
    const struct tg_topology_pack *pack = pack_of(gang);
    return pack == NULL ? NULL : pack->preferred;
}

int64_t tg_gang_bind_timeout(const struct tg_gang *gang, int64_t fallback)
{
    int64_t timeout;
    if (gang->spec == NULL || gang->spec->bind_timeout == NULL ||
        tg_parse_duration(gang->spec->bind_timeout, &timeout) < 0)
        return fallback;
    return timeout;
}

int64_t tg_gang_schedule_timeout(const struct tg_gang *gang)
{
    int64_t timeout;
    if (gang->spec == NULL || gang->spec->schedule_timeout == NULL ||
        tg_parse_duration(gang->spec->schedule_timeout, &timeout) < 0)
        return 0;
    return timeout;
}
