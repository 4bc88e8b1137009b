/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/storage.h"

#include <stdio.h>
#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/model/sort.h"

/* A volume of a class of this provisioner is found, not made. */
#define NO_PROVISIONER "kubernetes.io/no-provisioner"
/* Values of a zone label stand one after another with this between them. */
#define ZONE_SEPARATOR "__"
/* Selectors that one volume gives: its affinity and a label each. */
#define SELECTORS_A_VOLUME (1 + TG_VOLUME_LABELS)

struct reading {
    const struct tg_fleet *fleet;
    const struct tg_pod *pod;
    struct tg_arena *arena;
    struct tg_fit_volumes *out;
    struct tg_error *err;
};

static bool is_claimed(const struct tg_pod_volume *volume)
{
    return volume->persistent_volume_claim != NULL || volume->ephemeral != NULL;
}

bool tg_fit_claims_volumes(const struct tg_pod *pod)
{
    for (size_t i = 0; pod->spec != NULL && i < pod->spec->volumes.n; i++) {
        if (is_claimed(&pod->spec->volumes.items[i]))
            return true;
    }
    return false;
}

/* --- what is said ----------------------------------------------------------------------------- */

static int not_ready(const struct reading *r, const char *claim, const char *what)
{
    const struct tg_object_meta *meta = r->pod->metadata;
    int rc =
        tg_error_set(r->err, TG_FAILED_PRECONDITION, "pod %s/%s: its PersistentVolumeClaim %s %s",
                     tg_or(meta->namespace_, ""), tg_or(meta->name, "?"), claim, what);

    if (r->err != NULL)
        snprintf(r->err->reason, sizeof(r->err->reason), "%s", TG_VOLUME_NOT_READY);
    return rc;
}

static int not_modelled(const struct reading *r, const char *claim, const char *what)
{
    const struct tg_object_meta *meta = r->pod->metadata;

    return tg_error_set(r->err, TG_UNIMPLEMENTED,
                        "pod %s/%s: its PersistentVolumeClaim %s %s: that is not supported in this "
                        "version",
                        tg_or(meta->namespace_, ""), tg_or(meta->name, "?"), claim, what);
}

/* --- selectors -------------------------------------------------------------------------------- */

/* A selector of n empty terms, each with room for `each` requirements, that is asked for. */
static int add_selector(struct reading *r, size_t n, size_t each, struct tg_node_selector **ret)
{
    struct tg_node_selector *selector = NULL;
    int rc = tg_core_alloc(r->arena, 1, sizeof(*selector), &selector, r->err);

    if (rc == 0)
        rc = tg_core_alloc(r->arena, n, sizeof(*selector->terms.items), &selector->terms.items,
                           r->err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct tg_selector_term *term = &selector->terms.items[i];

        rc = tg_core_alloc(r->arena, each, sizeof(*term->match_expressions.items),
                           &term->match_expressions.items, r->err);
    }
    if (rc < 0)
        return rc;
    selector->terms.n = n;
    r->out->selectors[r->out->n++] = selector;
    *ret = selector;
    return 0;
}

static void require(struct tg_selector_term *term, const char *key, const char *operator_,
                    const char **values, size_t n)
{
    term->match_expressions.items[term->match_expressions.n++] = (struct tg_selector_requirement){
        .key = key, .operator_ = operator_, .values = {.items = values, .n = n}};
}

/* "a__b": the values of a label. */
static int split(struct reading *r, const char *text, const char ***ret, size_t *ret_n)
{
    size_t n = 1;
    int rc = 0;

    for (const char *at = text; (at = strstr(at, ZONE_SEPARATOR)) != NULL; at += 2)
        n++;
    rc = tg_core_alloc(r->arena, n, sizeof(**ret), ret, r->err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const char *end = strstr(text, ZONE_SEPARATOR);
        size_t length = end == NULL ? strlen(text) : (size_t)(end - text);

        (*ret)[i] = tg_arena_strndup(r->arena, text, length);
        if ((*ret)[i] == NULL)
            return tg_error_set(r->err, TG_RESOURCE_EXHAUSTED,
                                "the decision needs more memory than its budget");
        text = end == NULL ? text + length : end + 2;
    }
    *ret_n = n;
    return rc;
}

/* The node has that label with one of the values, or instead of an old label the new one; or it
 * says nothing of where it is at all. */
static int add_zone(struct reading *r, const struct tg_volume_label *label, const char *value)
{
    struct tg_node_selector *selector = NULL;
    const char **values = NULL;
    size_t n = 0;
    int rc = split(r, value, &values, &n);

    if (rc == 0)
        rc = add_selector(r, 3, TG_VOLUME_LABELS, &selector);
    if (rc < 0)
        return rc;
    require(&selector->terms.items[0], label->key, "In", values, n);
    require(&selector->terms.items[1], label->key, "DoesNotExist", NULL, 0);
    require(&selector->terms.items[1], label->newer, "In", values, n);
    for (size_t i = 0; i < TG_VOLUME_LABELS; i++)
        require(&selector->terms.items[2], tg_volume_labels[i].key, "DoesNotExist", NULL, 0);
    return 0;
}

static int add_node(struct reading *r, const char *name)
{
    struct tg_node_selector *selector = NULL;
    struct tg_selector_requirement *field = NULL;
    const char **values = NULL;
    int rc = add_selector(r, 1, 0, &selector);

    if (rc == 0)
        rc = tg_core_alloc(r->arena, 1, sizeof(*field), &field, r->err);
    if (rc == 0)
        rc = tg_core_alloc(r->arena, 1, sizeof(*values), &values, r->err);
    if (rc < 0)
        return rc;
    values[0] = name;
    *field = (struct tg_selector_requirement){
        .key = "metadata.name", .operator_ = "In", .values = {.items = values, .n = 1}};
    selector->terms.items[0].match_fields.items = field;
    selector->terms.items[0].match_fields.n = 1;
    return 0;
}

/* --- one claim -------------------------------------------------------------------------------- */

/* The scheduler compares with the labels of a node alone: a term about fields matches none. */
static void drop_fields(struct tg_node_selector *selector)
{
    size_t kept = 0;

    for (size_t i = 0; i < selector->terms.n; i++) {
        if (selector->terms.items[i].match_fields.n == 0)
            selector->terms.items[kept++] = selector->terms.items[i];
    }
    selector->terms.n = kept;
}

static int read_volume(struct reading *r, const char *claim, const char *name)
{
    const struct tg_persistent_volume *volume = NULL;
    const void *found = NULL;
    int rc = tg_fleet_shelved(r->fleet, TG_SHELF_VOLUME, NULL, name, r->arena, &found, r->err);

    volume = found;
    if (rc < 0)
        return rc;
    if (volume == NULL)
        return not_ready(r, claim, "is bound to a PersistentVolume that does not exist");
    if (volume->spec != NULL && volume->spec->node_affinity != NULL &&
        volume->spec->node_affinity->required != NULL) {
        drop_fields(volume->spec->node_affinity->required);
        r->out->selectors[r->out->n++] = volume->spec->node_affinity->required;
    }
    for (size_t i = 0; rc == 0 && i < TG_VOLUME_LABELS; i++) {
        const char *value = tg_meta_label(volume->metadata, tg_volume_labels[i].key);

        if (value != NULL)
            rc = add_zone(r, &tg_volume_labels[i], value);
    }
    return rc;
}

/* Nodes of which the class says that volumes can be made there; without terms: all. */
static int read_topologies(struct reading *r, const struct tg_storage_class *klass)
{
    struct tg_node_selector *selector = NULL;
    size_t n = klass->allowed_topologies.n;
    int rc = n == 0 ? 0 : tg_core_alloc(r->arena, 1, sizeof(*selector), &selector, r->err);

    if (rc < 0 || n == 0)
        return rc;
    for (size_t i = 0; i < n; i++) {
        struct tg_selector_term *term = &klass->allowed_topologies.items[i];

        for (size_t k = 0; k < term->match_expressions.n; k++)
            term->match_expressions.items[k].operator_ = "In";
    }
    selector->terms.items = klass->allowed_topologies.items;
    selector->terms.n = n;
    r->out->selectors[r->out->n++] = selector;
    return 0;
}

/* It is bound when the pod comes to a node, and where that may be its class says. */
static int read_unbound(struct reading *r, const struct tg_persistent_volume_claim *claim)
{
    const char *name = claim->metadata->name, *class_name = tg_persistent_volume_claim_class(claim);
    const char *node = tg_meta_annotation(claim->metadata, TG_VOLUME_NODE);
    const struct tg_storage_class *klass = NULL;
    const void *found = NULL;
    int rc = 0;

    if (class_name != NULL)
        rc = tg_fleet_shelved(r->fleet, TG_SHELF_STORAGE_CLASS, NULL, class_name, r->arena, &found,
                              r->err);
    klass = found;
    if (rc < 0)
        return rc;
    if (klass == NULL || !tg_streq(klass->volume_binding_mode, "WaitForFirstConsumer") ||
        (claim->spec != NULL && tg_or(claim->spec->volume_name, "")[0] != '\0'))
        return not_ready(r, name, "is not bound yet");
    if (tg_or(klass->provisioner, "")[0] == '\0' || tg_streq(klass->provisioner, NO_PROVISIONER))
        return not_modelled(r, name,
                            "waits for its first consumer, and no volume of its class is made for "
                            "it (bind it before, or use a class with a provisioner)");
    rc = read_topologies(r, klass);
    return rc == 0 && node != NULL ? add_node(r, node) : rc;
}

static bool is_bound(const struct tg_persistent_volume_claim *claim)
{
    return claim->spec != NULL && tg_or(claim->spec->volume_name, "")[0] != '\0' &&
           tg_meta_annotation(claim->metadata, TG_VOLUME_BOUND) != NULL;
}

static bool has_mode(const struct tg_persistent_volume_claim *claim, const char *mode)
{
    for (size_t i = 0; claim->spec != NULL && i < claim->spec->access_modes.n; i++) {
        if (tg_streq(claim->spec->access_modes.items[i], mode))
            return true;
    }
    return false;
}

static bool is_of_pod(const struct tg_persistent_volume_claim *claim, const struct tg_pod *pod)
{
    const struct tg_owner_reference *owner = tg_meta_controller(claim->metadata);

    return owner != NULL && tg_streq(owner->uid, pod->metadata->uid);
}

static int read_claim(struct reading *r, const char *name, bool own)
{
    const struct tg_persistent_volume_claim *claim = NULL;
    const void *found = NULL;
    int rc = tg_fleet_shelved(r->fleet, TG_SHELF_VOLUME_CLAIM, r->pod->metadata->namespace_, name,
                              r->arena, &found, r->err);

    claim = found;
    if (rc < 0)
        return rc;
    if (claim == NULL)
        return not_ready(r, name, "does not exist yet");
    if (own && !is_of_pod(claim, r->pod))
        return not_ready(r, name, "was not made for this pod, and stands in the way of its own");
    if (claim->metadata->deletion_timestamp != NULL)
        return not_ready(r, name, "is being deleted");
    if (claim->status != NULL && tg_streq(claim->status->phase, "Lost"))
        return not_ready(r, name, "has lost its PersistentVolume");
    if (has_mode(claim, "ReadWriteOncePod"))
        return not_modelled(r, name, "has the access mode ReadWriteOncePod");
    return is_bound(claim) ? read_volume(r, name, claim->spec->volume_name)
                           : read_unbound(r, claim);
}

/* --- all of them ------------------------------------------------------------------------------ */

static int read_pod(struct reading *r)
{
    const struct tg_pod_spec *spec = r->pod->spec;
    int rc = 0;

    for (size_t i = 0; rc == 0 && spec != NULL && i < spec->volumes.n; i++) {
        const struct tg_pod_volume *volume = &spec->volumes.items[i];
        const char *name = NULL;

        if (!is_claimed(volume))
            continue;
        if (volume->persistent_volume_claim != NULL)
            name = tg_or(volume->persistent_volume_claim->claim_name, "");
        else
            name = tg_arena_printf(r->arena, "%s-%s", tg_or(r->pod->metadata->name, ""),
                                   tg_or(volume->name, ""));
        rc = name == NULL ? tg_error_set(r->err, TG_RESOURCE_EXHAUSTED,
                                         "the decision needs more memory than its budget")
                          : read_claim(r, name, volume->persistent_volume_claim == NULL);
    }
    return rc;
}

int tg_fit_read_volumes(const struct tg_fleet *fleet, const struct tg_pod *const *pods, size_t n,
                        struct tg_arena *arena, const struct tg_fit_volumes **ret,
                        struct tg_error *err)
{
    struct reading r = {.fleet = fleet, .arena = arena, .err = err};
    size_t most = 0;
    int rc = 0;

    *ret = NULL;
    for (size_t i = 0; i < n; i++)
        most += tg_fit_claims_volumes(pods[i]) ? pods[i]->spec->volumes.n : 0;
    if (most == 0)
        return 0;
    rc = tg_core_alloc(arena, 1, sizeof(*r.out), &r.out, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, most * SELECTORS_A_VOLUME, sizeof(*r.out->selectors),
                           &r.out->selectors, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        r.pod = pods[i];
        rc = read_pod(&r);
    }
    if (rc == 0 && r.out->n > 0)
        *ret = r.out;
    return rc;
}
