/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tangram/member.h"

#include <stdio.h>
#include <string.h>

#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/tangram/names.h"
#include "api/tangram/plan.h"
#include "api/tangram/syntax.h"

/* The API bounds opaque parameters to 10 KiB; what is larger was not stored by it. */
enum { MAX_PARAMETERS = 10 * 1024, NAME_MAX_ = 63 };

struct pack {
    const char *required, *preferred;
};
struct topology {
    struct pack *pack;
};
struct gang_from {
    const char *pod_label;
};
struct document {
    const char *api_version, *kind, *gang, *role;
    struct gang_from *gang_from;
    struct tg_opt_int size;
    struct topology *topology;
};

#define STRICT(T, fields_)                                                                         \
    {                                                                                              \
        .name = TG_KIND_MEMBER, .size = sizeof(T), .fields = (fields_),                            \
        .n = sizeof(fields_) / sizeof((fields_)[0]), .strict = true                                \
    }

static const struct tg_field pack_fields[] = {
    TG_FIELD_STR(struct pack, required, "required"),
    TG_FIELD_STR(struct pack, preferred, "preferred"),
};
static const struct tg_type pack_type = STRICT(struct pack, pack_fields);
static const struct tg_field topology_fields[] = {
    TG_FIELD_OBJ(struct topology, pack, "pack", &pack_type),
};
static const struct tg_type topology_type = STRICT(struct topology, topology_fields);
static const struct tg_field gang_from_fields[] = {
    TG_FIELD_STR(struct gang_from, pod_label, "podLabel"),
};
static const struct tg_type gang_from_type = STRICT(struct gang_from, gang_from_fields);
static const struct tg_field document_fields[] = {
    TG_FIELD_STR(struct document, api_version, "apiVersion"),
    TG_FIELD_STR(struct document, kind, "kind"),
    TG_FIELD_STR(struct document, gang, "gang"),
    TG_FIELD_OBJ(struct document, gang_from, "gangFrom", &gang_from_type),
    TG_FIELD_INTEGER(struct document, size, "size"),
    TG_FIELD_STR(struct document, role, "role"),
    TG_FIELD_OBJ(struct document, topology, "topology", &topology_type),
};
static const struct tg_type document_type = STRICT(struct document, document_fields);

static int refuse(struct tg_error *err, const char *text)
{
    return tg_error_set(err, TG_INVALID_ARGUMENT, "%s: %s", TG_KIND_MEMBER, text);
}

static int check_kind(const struct document *d, struct tg_error *err)
{
    if (!tg_streq(d->api_version, TG_API_VERSION))
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s: apiVersion is \"%s\": it must be \"%s\"",
                            TG_KIND_MEMBER, tg_or(d->api_version, ""), TG_API_VERSION);
    if (!tg_streq(d->kind, TG_KIND_MEMBER))
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "opaque parameters of driver %s: kind is \"%s\": it must be \"%s\"",
                            TG_MARKER_DRIVER, tg_or(d->kind, ""), TG_KIND_MEMBER);
    return 0;
}

static int check_gang(const struct document *d, struct tg_error *err)
{
    if (d->gang != NULL && d->gang_from != NULL)
        return refuse(err, "gang and gangFrom are both set: keep one of them");
    if (d->gang == NULL && d->gang_from == NULL)
        return refuse(err, "neither gang nor gangFrom is set: name the gang");
    if (d->gang != NULL && !tg_syntax_is_dns_subdomain(d->gang, NAME_MAX_))
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "%s: gang is \"%s\": it must be a name of lower-case letters, digits, "
                            "'-' and '.', at most %d long",
                            TG_KIND_MEMBER, d->gang, NAME_MAX_);
    if (d->gang_from == NULL)
        return 0;
    if (d->gang_from->pod_label == NULL)
        return refuse(err, "gangFrom.podLabel is missing: name the pod label whose values are the "
                           "gangs");
    if (!tg_syntax_is_label_key(d->gang_from->pod_label))
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "%s: gangFrom.podLabel is \"%s\": it must be a label key",
                            TG_KIND_MEMBER, d->gang_from->pod_label);
    return 0;
}

static int check_size(const struct document *d, struct tg_error *err)
{
    if (d->size.set && (d->size.value < 1 || d->size.value > TG_GANG_MAX_MEMBERS))
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s: size is %lld: it must be 1 to %d",
                            TG_KIND_MEMBER, (long long)d->size.value, TG_GANG_MAX_MEMBERS);
    if (d->size.set && d->role != NULL)
        return refuse(err, "size and role are both set: with size the gang has one role; to use "
                           "roles write a Gang and remove size");
    if (!d->size.set && d->gang_from != NULL)
        return refuse(err, "gangFrom without size: give the number of members of each gang");
    if (!d->size.set && d->topology != NULL)
        return refuse(err, "topology without size: the topology of a Gang that you write stands in "
                           "its spec.topology");
    if (d->role != NULL && !tg_syntax_is_dns_label(d->role))
        return tg_error_set(
            err, TG_INVALID_ARGUMENT,
            "%s: role is \"%s\": it must be a name of lower-case letters, digits and "
            "'-', at most %d long",
            TG_KIND_MEMBER, d->role, NAME_MAX_);
    return 0;
}

static int check_level(const char *field, const char *level, struct tg_error *err)
{
    if (level == NULL || tg_syntax_is_label_key(level))
        return 0;
    return tg_error_set(err, TG_INVALID_ARGUMENT,
                        "%s: topology.pack.%s is \"%s\": it must be the name of a level or a node "
                        "label key",
                        TG_KIND_MEMBER, field, level);
}

static int check_topology(const struct document *d, struct tg_error *err)
{
    if (d->topology == NULL)
        return 0;
    const struct pack *pack = d->topology->pack;
    if (pack == NULL)
        return refuse(err, "topology is empty: set topology.pack or remove it");
    if (pack->required == NULL && pack->preferred == NULL)
        return refuse(err, "topology.pack names no level: set required, preferred or both");
    int rc = check_level("required", pack->required, err);
    return rc < 0 ? rc : check_level("preferred", pack->preferred, err);
}

static int decode(const char *json, size_t n, struct tg_arena *arena, struct document *d,
                  struct tg_error *err)
{
    if (n > MAX_PARAMETERS)
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "%s: the parameters are %zu bytes long, the API allows %d",
                            TG_KIND_MEMBER, n, MAX_PARAMETERS);
    int rc = tg_json_decode(&document_type, json, n, d, arena, err);
    if (rc < 0)
        return tg_error_wrap(err, TG_KIND_MEMBER);
    if ((rc = check_kind(d, err)) < 0 || (rc = check_gang(d, err)) < 0 ||
        (rc = check_size(d, err)) < 0)
        return rc;
    return check_topology(d, err);
}

int tg_member_decode(const char *json, size_t n, struct tg_arena *arena, struct tg_member **ret,
                     struct tg_error *err)
{
    struct document d = {0};
    int rc = decode(json, n, arena, &d, err);
    if (rc < 0)
        return rc;
    struct tg_member *member = tg_arena_alloc(arena, sizeof(*member));
    if (member == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s: out of memory budget", TG_KIND_MEMBER);
    member->gang = d.gang;
    member->pod_label = d.gang_from == NULL ? NULL : d.gang_from->pod_label;
    member->size = d.size.set ? d.size.value : 0;
    member->role = d.role;
    if (d.topology != NULL) {
        member->pack_required = d.topology->pack->required;
        member->pack_preferred = d.topology->pack->preferred;
    }
    *ret = member;
    return 0;
}

/* The byte of the value as it may stand in a name. */
static char name_byte(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '-';
}

void tg_gang_object_name(const char *label_value, char ret[TG_GANG_OBJECT_NAME_SIZE])
{
    enum { KEPT = TG_GANG_OBJECT_NAME_SIZE - 1 - 9 };
    size_t n = 0;
    for (const char *p = label_value; *p != '\0' && n < KEPT; p++) {
        char c = name_byte(*p);
        if (c != '-' || n > 0)
            ret[n++] = c;
    }
    while (n > 0 && ret[n - 1] == '-')
        n--;
    if (n == 0) {
        memcpy(ret, "gang", 4);
        n = 4;
    }
    uint64_t hash = tg_hash64(label_value, strlen(label_value));
    snprintf(ret + n, TG_GANG_OBJECT_NAME_SIZE - n, "-%08x", (unsigned)(hash & 0xffffffffU));
}
