/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to Gang objects. */
#include <string.h>

#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"
#include "api/tangram/names.h"
#include "controller/commit/parts.h"

#define GANG_MAX (2 * 1024 * 1024)

static int add(struct tg_deciding *d, enum tg_write_kind kind, struct tg_json_writer *w,
               struct tg_buf *buf)
{
    const struct tg_unit *unit = d->in->unit;
    const struct tg_object_meta *meta = unit->gang == NULL ? NULL : unit->gang->metadata;

    if (tg_jw_finish(w, NULL) < 0)
        return tg_decide_out_of_memory(d);
    return tg_decide_write(
        d, &(struct tg_write){.kind = kind,
                              .namespace_ = unit->namespace_,
                              .name = unit->name,
                              .uid = meta == NULL ? NULL : meta->uid,
                              .resource_version = meta == NULL ? NULL : meta->resource_version,
                              .body = tg_arena_strndup(d->arena, tg_buf_str(buf), buf->len)});
}

static void begin_on(const struct tg_gang *gang, struct tg_json_writer *w, struct tg_buf *buf)
{
    tg_json_writer_init(w, buf);
    tg_jw_begin_object(w);
    tg_jw_key(w, "metadata");
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "resourceVersion", gang->metadata->resource_version);
    tg_jw_kv_string(w, "uid", gang->metadata->uid);
}

static void begin(struct tg_deciding *d, struct tg_json_writer *w, struct tg_buf *buf)
{
    begin_on(d->in->unit->gang, w, buf);
}

static void begin_status(struct tg_deciding *d, struct tg_json_writer *w)
{
    tg_jw_end_object(w);
    tg_jw_key(w, "status");
    tg_jw_begin_object(w);
    tg_jw_kv_int(w, "epoch", (int64_t)d->in->epoch);
}

int tg_write_gang_epoch(struct tg_deciding *d, const struct tg_gang *gang)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(4096);
    const struct tg_object_meta *meta = gang->metadata;
    struct tg_json_writer w;

    begin_on(gang, &w, &buf);
    begin_status(d, &w);
    tg_jw_end_object(&w);
    tg_jw_end_object(&w);
    if (tg_jw_finish(&w, NULL) < 0)
        return tg_decide_out_of_memory(d);
    return tg_decide_write(
        d, &(struct tg_write){.kind = TG_WRITE_GANG_STATUS,
                              .namespace_ = meta->namespace_,
                              .name = meta->name,
                              .uid = meta->uid,
                              .resource_version = meta->resource_version,
                              .body = tg_arena_strndup(d->arena, tg_buf_str(&buf), buf.len)});
}

/* The controller that all members have in common, or NULL. */
static const struct tg_owner_reference *common_owner(const struct tg_unit *unit)
{
    const struct tg_owner_reference *first = NULL;

    for (size_t i = 0; i < unit->n_members; i++) {
        const struct tg_owner_reference *owner = tg_meta_controller(unit->members[i].pod->metadata);

        if (owner == NULL || (first != NULL && !tg_streq(owner->uid, first->uid)))
            return NULL;
        first = owner;
    }
    return first;
}

static void write_owner(struct tg_json_writer *w, const struct tg_owner_reference *owner)
{
    tg_jw_key(w, "ownerReferences");
    tg_jw_begin_array(w);
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "apiVersion", owner->api_version);
    tg_jw_kv_string(w, "kind", owner->kind);
    tg_jw_kv_string(w, "name", owner->name);
    tg_jw_kv_string(w, "uid", owner->uid);
    tg_jw_end_object(w);
    tg_jw_end_array(w);
}

static void write_create_metadata(struct tg_json_writer *w, const struct tg_unit *unit,
                                  const char *instance)
{
    const struct tg_owner_reference *owner = common_owner(unit);

    tg_jw_key(w, "metadata");
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "namespace", unit->namespace_);
    tg_jw_kv_string(w, "name", unit->name);
    tg_jw_key(w, "labels");
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, TG_LABEL_AUTO, TG_LABEL_TRUE);
    tg_jw_kv_string(w, TG_LABEL_CONTROLLER, instance);
    tg_jw_end_object(w);
    if (unit->value != NULL) {
        tg_jw_key(w, "annotations");
        tg_jw_begin_object(w);
        tg_jw_kv_string(w, TG_ANNOTATION_GANG_VALUE, unit->value);
        tg_jw_end_object(w);
    }
    if (owner != NULL)
        write_owner(w, owner);
    tg_jw_end_object(w);
}

int tg_write_gang_create(struct tg_deciding *d)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(GANG_MAX);
    const struct tg_unit *unit = d->in->unit;
    struct tg_json_writer w;

    tg_json_writer_init(&w, &buf);
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "apiVersion", TG_API_VERSION);
    tg_jw_kv_string(&w, "kind", TG_KIND_GANG);
    write_create_metadata(&w, unit, d->in->instance);
    tg_jw_key(&w, "spec");
    tg_jw_begin_object(&w);
    tg_jw_kv_int(&w, "size", unit->declared->size);
    if (unit->declared->pack_required != NULL || unit->declared->pack_preferred != NULL) {
        tg_jw_key(&w, "topology");
        tg_jw_begin_object(&w);
        tg_jw_key(&w, "pack");
        tg_jw_begin_object(&w);
        tg_jw_kv_string(&w, "required", unit->declared->pack_required);
        tg_jw_kv_string(&w, "preferred", unit->declared->pack_preferred);
        tg_jw_end_object(&w);
        tg_jw_end_object(&w);
    }
    tg_jw_end_object(&w);
    tg_jw_end_object(&w);
    return add(d, TG_WRITE_GANG_CREATE, &w, &buf);
}

/* Whose Gang it is, for whoever takes over before the status says so. */
static void write_instance_label(struct tg_json_writer *w, const struct tg_deciding *d)
{
    tg_jw_key(w, "labels");
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, TG_LABEL_CONTROLLER, d->in->instance);
    tg_jw_end_object(w);
}

int tg_write_gang_finalizer(struct tg_deciding *d, bool present)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(GANG_MAX);
    const struct tg_object_meta *meta = d->in->unit->gang->metadata;
    struct tg_json_writer w;

    begin(d, &w, &buf);
    tg_jw_key(&w, "finalizers");
    tg_jw_begin_array(&w);
    for (size_t i = 0; i < meta->finalizers.n; i++)
        if (!tg_streq(meta->finalizers.items[i], TG_FINALIZER_PLAN))
            tg_jw_string(&w, meta->finalizers.items[i]);
    if (present)
        tg_jw_string(&w, TG_FINALIZER_PLAN);
    tg_jw_end_array(&w);
    if (present)
        write_instance_label(&w, d);
    tg_jw_end_object(&w);
    tg_jw_end_object(&w);
    return add(d, TG_WRITE_GANG_METADATA, &w, &buf);
}

int tg_write_gang_delete(struct tg_deciding *d)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(4096);
    const struct tg_object_meta *meta = d->in->unit->gang->metadata;
    struct tg_json_writer w;

    tg_json_writer_init(&w, &buf);
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "apiVersion", "v1");
    tg_jw_kv_string(&w, "kind", "DeleteOptions");
    tg_jw_key(&w, "preconditions");
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "resourceVersion", meta->resource_version);
    tg_jw_kv_string(&w, "uid", meta->uid);
    tg_jw_end_object(&w);
    tg_jw_end_object(&w);
    return add(d, TG_WRITE_GANG_DELETE, &w, &buf);
}

/* --- status ---------------------------------------------------------------------------------- */

#define N_CONDITIONS 3

/* The conditions that a phase means. */
static void conditions_of(const struct tg_deciding *d, const struct tg_status_change *change,
                          struct tg_condition ret[N_CONDITIONS])
{
    bool running = tg_streq(change->phase, TG_PHASE_RUNNING);
    bool allocated = running || tg_streq(change->phase, TG_PHASE_ALLOCATED);
    const struct tg_unit_problem *problem = &d->in->unit->problem;
    bool accepted = problem->reason == NULL;
    const char *text = tg_or(change->text, "");

    ret[0] = (struct tg_condition){.type = TG_CONDITION_ACCEPTED,
                                   .status = accepted ? "True" : "False",
                                   .reason = accepted ? "Valid" : problem->reason,
                                   .message = accepted ? "" : problem->text};
    ret[1] = (struct tg_condition){.type = TG_CONDITION_ALLOCATED,
                                   .status = allocated ? "True" : "False",
                                   .reason = tg_or(change->reason, change->phase),
                                   .message = text};
    ret[2] = (struct tg_condition){.type = TG_CONDITION_RUNNING,
                                   .status = running ? "True" : "False",
                                   .reason = tg_or(change->reason, change->phase),
                                   .message = text};
}

static bool condition_shown(const struct tg_gang_status *status,
                            const struct tg_condition *condition)
{
    const struct tg_condition *shown =
        tg_condition_find(status->conditions.items, status->conditions.n, condition->type);

    return shown != NULL && tg_streq(shown->status, condition->status) &&
           tg_streq(shown->reason, condition->reason) &&
           tg_streq(tg_or(shown->message, ""), tg_or(condition->message, ""));
}

static bool same_shortage(const struct tg_gang_status *status,
                          const struct tg_gang_shortage *shortage)
{
    if (shortage == NULL || status->shortage.n == 0)
        return shortage == NULL && status->shortage.n == 0;
    return status->shortage.items[0].members.value == shortage->members.value &&
           status->shortage.items[0].per_member.value == shortage->per_member.value;
}

/* From then on no other instance writes to it. The default one looks after Gangs that nobody has
 * claimed yet, and leaves them open to others. */
static bool claims_gang(const struct tg_deciding *d, const struct tg_status_change *change)
{
    return d->in->unit->ours || change->plan_change == TG_PLAN_SET;
}

static bool owner_shown(const struct tg_deciding *d, const struct tg_status_change *change)
{
    const struct tg_gang_status *status = d->in->unit->gang->status;

    return !claims_gang(d, change) || (status != NULL && status->instance != NULL);
}

static bool all_shown(const struct tg_deciding *d, const struct tg_status_change *change,
                      const struct tg_condition conditions[N_CONDITIONS])
{
    const struct tg_gang *gang = d->in->unit->gang;
    const struct tg_gang_status *status = gang->status;

    if (status == NULL || !tg_streq(status->phase, change->phase) ||
        !tg_streq(tg_or(status->explanation, ""), tg_or(change->text, "")) ||
        status->observed_generation.value != gang->metadata->generation.value ||
        !same_shortage(status, change->shortage) || change->plan_change == TG_PLAN_SET)
        return false;
    if ((change->plan_change == TG_PLAN_DROP && status->plan != NULL) ||
        (change->hold_change == TG_HOLDS_DROP && status->holds.n > 0) ||
        change->hold_change == TG_HOLDS_SET)
        return false;
    for (size_t i = 0; i < N_CONDITIONS; i++)
        if (!condition_shown(status, &conditions[i]))
            return false;
    return true;
}

static void write_conditions(struct tg_deciding *d, struct tg_json_writer *w,
                             const struct tg_condition conditions[N_CONDITIONS])
{
    const struct tg_gang *gang = d->in->unit->gang;
    char now[32];

    tg_time_format_seconds(d->in->now / TG_SECOND, now);
    tg_jw_key(w, "conditions");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < N_CONDITIONS; i++) {
        const struct tg_condition *shown =
            gang->status == NULL
                ? NULL
                : tg_condition_find(gang->status->conditions.items, gang->status->conditions.n,
                                    conditions[i].type);
        bool same = shown != NULL && tg_streq(shown->status, conditions[i].status);

        tg_jw_begin_object(w);
        tg_jw_kv_string(w, "type", conditions[i].type);
        tg_jw_kv_string(w, "status", conditions[i].status);
        tg_jw_kv_string(w, "reason", conditions[i].reason);
        tg_jw_kv_string(w, "message", tg_or(conditions[i].message, ""));
        tg_jw_kv_int(w, "observedGeneration", gang->metadata->generation.value);
        tg_jw_kv_string(w, "lastTransitionTime",
                        same && shown->last_transition_time != NULL ? shown->last_transition_time
                                                                    : now);
        tg_jw_end_object(w);
    }
    tg_jw_end_array(w);
}

static int write_plan(struct tg_deciding *d, struct tg_json_writer *w,
                      const struct tg_status_change *change)
{
    char *text;

    if (change->plan_change == TG_PLAN_KEEP)
        return 0;
    if (change->plan_change == TG_PLAN_DROP) {
        tg_jw_kv_raw(w, "plan", "null");
        return 0;
    }
    text = tg_plan_encode(change->plan, d->arena);
    if (text == NULL)
        return tg_decide_out_of_memory(d);
    /* A merge patch merges objects: what the plan no longer has is taken away by name. */
    text = tg_arena_printf(d->arena, "%.*s%s%s}", (int)strlen(text) - 1, text,
                           change->plan->classes.n == 0 ? ",\"classes\":null" : "",
                           change->plan->driver == NULL ? ",\"driver\":null" : "");
    if (text == NULL)
        return tg_decide_out_of_memory(d);
    tg_jw_kv_raw(w, "plan", text);
    return 0;
}

static void write_shortage(struct tg_json_writer *w, const struct tg_gang_shortage *shortage)
{
    if (shortage == NULL) {
        tg_jw_kv_raw(w, "shortage", "null");
        return;
    }
    tg_jw_key(w, "shortage");
    tg_jw_begin_array(w);
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "role", shortage->role);
    tg_jw_kv_int(w, "members", shortage->members.value);
    tg_jw_kv_int(w, "perMember", shortage->per_member.value);
    tg_jw_key(w, "classes");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < shortage->classes.n; i++)
        tg_jw_string(w, shortage->classes.items[i]);
    tg_jw_end_array(w);
    tg_jw_end_object(w);
    tg_jw_end_array(w);
}

static void write_holds(struct tg_json_writer *w, const struct tg_status_change *change)
{
    if (change->hold_change == TG_HOLDS_KEEP)
        return;
    if (change->hold_change == TG_HOLDS_DROP) {
        tg_jw_kv_raw(w, "holds", "null");
        return;
    }
    tg_jw_key(w, "holds");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < change->n_holds; i++) {
        const struct tg_gang_hold *hold = &change->holds[i];

        tg_jw_begin_object(w);
        tg_jw_kv_string(w, "pod", hold->pod);
        tg_jw_kv_string(w, "node", hold->node);
        tg_jw_kv_string(w, "device", hold->device);
        tg_jw_kv_string(w, "until", hold->until);
        tg_jw_kv_string(w, "why", hold->why);
        tg_jw_end_object(w);
    }
    tg_jw_end_array(w);
}

int tg_write_gang_status(struct tg_deciding *d, const struct tg_status_change *change)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(GANG_MAX);
    struct tg_condition conditions[N_CONDITIONS];
    struct tg_json_writer w;
    int r;

    conditions_of(d, change, conditions);
    if (owner_shown(d, change) && all_shown(d, change, conditions))
        return 0;
    begin(d, &w, &buf);
    begin_status(d, &w);
    tg_jw_kv_int(&w, "observedGeneration", d->in->unit->gang->metadata->generation.value);
    if (claims_gang(d, change))
        tg_jw_kv_string(&w, "instance", d->in->instance);
    tg_jw_kv_string(&w, "phase", change->phase);
    if (change->text != NULL)
        tg_jw_kv_string(&w, "explanation", change->text);
    else
        tg_jw_kv_raw(&w, "explanation", "null");
    r = write_plan(d, &w, change);
    if (r < 0)
        return r;
    write_holds(&w, change);
    write_shortage(&w, change->shortage);
    write_conditions(d, &w, conditions);
    tg_jw_end_object(&w);
    tg_jw_end_object(&w);
    return add(d, TG_WRITE_GANG_STATUS, &w, &buf);
}

static void fill_shortage(const struct tg_commit_input *input, const struct tg_no_place *no_place,
                          struct tg_arena *arena, struct tg_gang_shortage *ret)
{
    const struct tg_unit *unit = input->unit;
    const struct tg_resource_claim *claim =
        unit->n_members > 0 && unit->members[0].n_claims > 0 ? unit->members[0].claims[0] : NULL;
    const struct tg_device_claim *devices =
        claim == NULL || claim->spec == NULL ? NULL : claim->spec->devices;
    size_t n = 0;

    *ret = (struct tg_gang_shortage){.members = {true, (int64_t)no_place->members_short},
                                     .per_member = {true, (int64_t)no_place->devices_per_member}};
    if (devices == NULL || devices->requests.n == 0)
        return;
    for (size_t i = 0; i < devices->requests.n; i++)
        n += 1 + devices->requests.items[i].first_available.n;
    ret->classes.items = tg_arena_alloc_array(arena, n, sizeof(char *));
    for (size_t i = 0; ret->classes.items != NULL && i < devices->requests.n; i++) {
        const struct tg_device_request *request = &devices->requests.items[i];

        if (request->exactly != NULL)
            ret->classes.items[ret->classes.n++] = request->exactly->device_class_name;
        for (size_t k = 0; k < request->first_available.n; k++)
            ret->classes.items[ret->classes.n++] =
                request->first_available.items[k].device_class_name;
    }
}

static bool same_hold(const struct tg_gang_hold *a, const struct tg_gang_hold *b)
{
    return tg_streq(a->node, b->node) && tg_streq(a->until, b->until) && tg_streq(a->why, b->why) &&
           a->pod == NULL && b->pod == NULL;
}

/* Before there is a plan the holds are the nodes that are kept for the gang. */
static void change_holds(const struct tg_commit_input *input, const struct tg_decision *decision,
                         struct tg_status_change *change)
{
    const struct tg_gang_status *status = input->unit->gang->status;
    size_t shown = status == NULL ? 0 : status->holds.n, same = 0;

    change->hold_change = decision->drop_holds ? TG_HOLDS_DROP : TG_HOLDS_KEEP;
    if (input->plan != NULL || input->plan_unreadable)
        return;
    while (same < shown && same < decision->n_kept &&
           same_hold(&status->holds.items[same], &decision->kept[same]))
        same++;
    if (same == shown && same == decision->n_kept)
        return;
    change->hold_change = decision->n_kept > 0 ? TG_HOLDS_SET : TG_HOLDS_DROP;
    change->holds = decision->kept;
    change->n_holds = decision->n_kept;
}

int tg_commit_show(const struct tg_commit_input *input, const struct tg_no_place *no_place,
                   struct tg_arena *arena, struct tg_decision *decision, struct tg_error *err)
{
    struct tg_deciding d = {.in = input,
                            .arena = arena,
                            .out = decision,
                            .err = err,
                            .writes_capacity = decision->n_writes};
    struct tg_status_change change = {
        .phase = decision->phase, .reason = decision->reason, .text = decision->text};
    struct tg_gang_shortage shortage;

    if (input->unit->kind != TG_UNIT_GANG || input->unit->gang == NULL || decision->phase == NULL ||
        input->unit->gang->metadata->deletion_timestamp != NULL)
        return 0;
    change_holds(input, decision, &change);
    if (no_place != NULL) {
        fill_shortage(input, no_place, arena, &shortage);
        change.shortage = &shortage;
    }
    return tg_write_gang_status(&d, &change);
}
