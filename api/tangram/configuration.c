/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tangram/configuration.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/values/quantity.h"
#include "api/runtime/base/arena.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/duration.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/yaml/yaml.h"
#include "api/tangram/names.h"
#include "api/tangram/syntax.h"

enum {
    MAX_FILE = 1 << 20,
    MAX_ARENA = 16 << 20,
    MAX_LEVELS = 16,
    MAX_CLASSES = 256,
    MAX_EXPECTED = 128,
    MAX_COUNT = 1000000
};
#define MAX_DELAY (7 * 24 * 3600 * TG_SECOND)

struct tg_configuration {
    struct tg_arena *arena;
    const char *instance;
    struct tg_policies policies;
    struct tg_expected *expected;
    size_t n_expected;
    struct tg_delays delays;
    struct tg_level levels[MAX_LEVELS + 1]; /* one more than a user may write: host */
    size_t n_levels;
};

static const struct {
    const char *name;
    size_t offset;
    int64_t fallback;
    int64_t minimum;
} delays[] = {
    {"lease", offsetof(struct tg_delays, lease), 15 * TG_SECOND, TG_SECOND},
    {"stall", offsetof(struct tg_delays, stall), 120 * TG_SECOND, TG_MILLISECOND},
    {"bind", offsetof(struct tg_delays, bind), 60 * TG_SECOND, TG_MILLISECOND},
    {"hold", offsetof(struct tg_delays, hold), 300 * TG_SECOND, TG_MILLISECOND},
    {"linger", offsetof(struct tg_delays, linger), 60 * TG_SECOND, TG_MILLISECOND},
    {"audit", offsetof(struct tg_delays, audit), 300 * TG_SECOND, TG_MILLISECOND},
    {"request", offsetof(struct tg_delays, request), 10 * TG_SECOND, TG_MILLISECOND},
    {"watch", offsetof(struct tg_delays, watch), 300 * TG_SECOND, TG_SECOND},
    {"drainAfter", offsetof(struct tg_delays, drain_after), 120 * TG_SECOND, TG_MILLISECOND},
    {"drain", offsetof(struct tg_delays, drain), 1800 * TG_SECOND, TG_MILLISECOND},
    {"watchIdle", offsetof(struct tg_delays, watch_idle), 180 * TG_SECOND, TG_MILLISECOND},
};

static int64_t *delay_at(struct tg_delays *d, size_t i)
{
    return (int64_t *)(void *)((char *)d + delays[i].offset);
}

/* -- reading the tree -------------------------------------------------------------------------- */

struct reader {
    const char *file;
    struct tg_error *err;
};

/* "FILE:LINE: FIELD: text". */
static int fault(struct reader *r, const struct tg_json *at, const char *field, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));
static int fault(struct reader *r, const struct tg_json *at, const char *field, const char *format,
                 ...)
{
    char text[384];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return tg_error_set(r->err, TG_INVALID_ARGUMENT, "%s:%d: %s%s%s", r->file,
                        at == NULL ? 1 : at->line, field, field[0] == '\0' ? "" : ": ", text);
}

static const char *kind_name(const struct tg_json *v)
{
    static const char *const names[] = {
        [TG_JSON_NULL] = "nothing",    [TG_JSON_BOOL] = "a boolean",
        [TG_JSON_NUMBER] = "a number", [TG_JSON_STRING] = "a string",
        [TG_JSON_ARRAY] = "a list",    [TG_JSON_OBJECT] = "a mapping"};
    return names[v->kind];
}

/* v is a mapping with no other keys than the NULL-terminated known ones. */
static int check_mapping(struct reader *r, const struct tg_json *v, const char *field,
                         const char *const *known)
{
    if (v->kind != TG_JSON_OBJECT)
        return fault(r, v, field, "expected a mapping, found %s", kind_name(v));
    for (size_t i = 0; i < v->n; i++) {
        size_t k = 0;
        while (known[k] != NULL && !tg_streq(known[k], v->keys[i]))
            k++;
        if (known[k] != NULL)
            continue;
        char list[256] = "";
        for (size_t j = 0; known[j] != NULL; j++) {
            size_t used = strlen(list);
            snprintf(list + used, sizeof(list) - used, "%s%s", j == 0 ? "" : ", ", known[j]);
        }
        return fault(r, v->items[i], field, "unknown field \"%s\"; known are %s", v->keys[i], list);
    }
    return 0;
}

/* *ret is the member's text, or stays as it is when there is none. */
static int read_string(struct reader *r, const struct tg_json *object, const char *key,
                       const char *field, const char **ret)
{
    const struct tg_json *v = tg_json_get(object, key);
    if (v == NULL || v->kind == TG_JSON_NULL)
        return 0;
    if (v->kind != TG_JSON_STRING)
        return fault(r, v, field, "expected a string, found %s", kind_name(v));
    *ret = v->text;
    return 0;
}

static int read_header(struct reader *r, const struct tg_json *root)
{
    const struct {
        const char *key, *wanted;
    } header[] = {{"apiVersion", TG_API_VERSION}, {"kind", TG_KIND_CONFIGURATION}};
    for (size_t i = 0; i < TG_ARRAY_SIZE(header); i++) {
        const char *found = NULL;
        int rc = read_string(r, root, header[i].key, header[i].key, &found);
        if (rc < 0)
            return rc;
        if (found == NULL)
            return fault(r, root, header[i].key, "missing: it must be \"%s\"", header[i].wanted);
        if (!tg_streq(found, header[i].wanted))
            return fault(r, tg_json_get(root, header[i].key), header[i].key,
                         "\"%s\" is not known here: it must be \"%s\"", found, header[i].wanted);
    }
    return 0;
}

static int read_instance(struct reader *r, const struct tg_json *root, struct tg_configuration *c)
{
    int rc = read_string(r, root, "instance", "instance", &c->instance);
    if (rc < 0)
        return rc;
    if (!tg_syntax_is_dns_label(c->instance))
        return fault(r, tg_json_get(root, "instance"), "instance",
                     "\"%s\" must be a name of lower-case letters, digits and '-', at most 63 long",
                     c->instance);
    return 0;
}

/* -- placement --------------------------------------------------------------------------------- */

/* Those of controller/core/pack; its unit tests compare the lists. */
static const char *const policies[] = {"default", "fill",    "whole", "mig",
                                       "fgd",     "binpack", "spread"};

static int read_policy(struct reader *r, const struct tg_json *object, const char *field,
                       const char **ret)
{
    int rc = read_string(r, object, "policy", field, ret);
    for (size_t i = 0; rc == 0 && i < TG_ARRAY_SIZE(policies); i++)
        if (tg_streq(*ret, policies[i]))
            return 0;
    if (rc < 0)
        return rc;
    const struct tg_json *at = tg_json_get(object, "policy");
    return fault(r, at == NULL ? object : at, field,
                 "\"%s\" is not a policy: they are default (which is fill), fill, whole, mig, "
                 "fgd, binpack and spread",
                 tg_or(*ret, ""));
}

/* *ret is as many zeroed items as the list has; *ret_list is NULL without it. */
static int read_list(struct reader *r, const struct tg_json *object, const char *key,
                     const char *field, size_t limit, size_t size, struct tg_configuration *c,
                     const struct tg_json **ret_list, void *ret)
{
    const struct tg_json *v = tg_json_get(object, key);
    *ret_list = NULL;
    if (v == NULL || v->kind == TG_JSON_NULL)
        return 0;
    if (v->kind != TG_JSON_ARRAY)
        return fault(r, v, field, "expected a list, found %s", kind_name(v));
    if (v->n > limit)
        return fault(r, v, field, "%zu entries: at most %zu are supported", v->n, limit);
    *(void **)ret = tg_arena_alloc_array(c->arena, v->n, size);
    if (*(void **)ret == NULL && v->n > 0)
        return fault(r, v, field, "too large");
    *ret_list = v;
    return 0;
}

static int read_class_name(struct reader *r, const struct tg_json *v, const char *field,
                           const char **ret)
{
    int rc = read_string(r, v, "class", field, ret);
    if (rc == 0 && *ret == NULL)
        rc = fault(r, v, field, "class is missing: the name of a DeviceClass");
    return rc;
}

static int read_class_policies(struct reader *r, const struct tg_json *placement,
                               struct tg_configuration *c)
{
    static const char *const known[] = {"class", "policy", NULL};
    struct tg_class_policy *items = NULL;
    const struct tg_json *list;
    int rc = read_list(r, placement, "classes", "placement.classes", MAX_CLASSES, sizeof(*items), c,
                       &list, &items);
    for (size_t i = 0; rc == 0 && list != NULL && i < list->n; i++) {
        const struct tg_json *v = list->items[i];
        char field[64];
        snprintf(field, sizeof(field), "placement.classes[%zu]", i);
        if ((rc = check_mapping(r, v, field, known)) < 0 ||
            (rc = read_class_name(r, v, field, &items[i].class_name)) < 0 ||
            (rc = read_policy(r, v, field, &items[i].policy)) < 0)
            return rc;
        for (size_t k = 0; k < i; k++)
            if (tg_streq(items[k].class_name, items[i].class_name))
                return fault(r, v, field, "class \"%s\" stands in the list twice",
                             items[i].class_name);
    }
    c->policies.classes = items;
    c->policies.n_classes = list == NULL ? 0 : list->n;
    return rc;
}

static int read_number(struct reader *r, const struct tg_json *object, const char *key,
                       const char *field, int64_t *ret)
{
    const struct tg_json *v = tg_json_get(object, key);
    char *end = NULL;
    if (v == NULL || v->kind == TG_JSON_NULL)
        return 0;
    *ret = v->kind == TG_JSON_NUMBER ? strtoll(v->text, &end, 10) : 0;
    if (end == NULL || *end != '\0' || *ret < 1 || *ret > MAX_COUNT)
        return fault(r, v, field, "%s must be a whole number from 1 to %d", key, MAX_COUNT);
    return 0;
}

static int read_amount(struct reader *r, const struct tg_json *object, const char *key,
                       const char *field, const char **ret)
{
    const struct tg_json *v = tg_json_get(object, key);
    struct tg_quantity q;
    int rc = 0;
    if (v != NULL && v->kind == TG_JSON_NUMBER)
        *ret = v->text;
    else
        rc = read_string(r, object, key, field, ret);
    if (rc < 0 || *ret == NULL)
        return rc;
    if (tg_quantity_parse(*ret, &q, NULL) < 0 || tg_quantity_value(&q) < 0)
        return fault(r, tg_json_get(object, key), field,
                     "%s \"%s\" is not a quantity such as \"8\" or \"64Gi\"", key, *ret);
    return 0;
}

static int read_expected_item(struct reader *r, const struct tg_json *v, const char *field,
                              struct tg_expected *ret)
{
    static const char *const known[] = {"class",  "devices", "selector", "cpu",
                                        "memory", "count",   NULL};
    int rc = check_mapping(r, v, field, known);
    *ret = (struct tg_expected){.devices = 1, .count = 1};
    if (rc < 0 || (rc = read_class_name(r, v, field, &ret->class_name)) < 0 ||
        (rc = read_number(r, v, "devices", field, &ret->devices)) < 0 ||
        (rc = read_string(r, v, "selector", field, &ret->selector)) < 0 ||
        (rc = read_amount(r, v, "cpu", field, &ret->cpu)) < 0 ||
        (rc = read_amount(r, v, "memory", field, &ret->memory)) < 0)
        return rc;
    return read_number(r, v, "count", field, &ret->count);
}

static int read_expected(struct reader *r, const struct tg_json *placement,
                         struct tg_configuration *c)
{
    const struct tg_json *list;
    int rc = read_list(r, placement, "expect", "placement.expect", MAX_EXPECTED,
                       sizeof(*c->expected), c, &list, &c->expected);
    c->n_expected = rc < 0 || list == NULL ? 0 : list->n;
    for (size_t i = 0; rc == 0 && i < c->n_expected; i++) {
        char field[64];
        snprintf(field, sizeof(field), "placement.expect[%zu]", i);
        rc = read_expected_item(r, list->items[i], field, &c->expected[i]);
    }
    return rc;
}

static int read_placement(struct reader *r, const struct tg_json *root, struct tg_configuration *c)
{
    static const char *const known[] = {"policy", "classes", "expect", NULL};
    const struct tg_json *v = tg_json_get(root, "placement");
    if (v == NULL || v->kind == TG_JSON_NULL)
        return 0;
    int rc = check_mapping(r, v, "placement", known);
    if (rc == 0)
        rc = read_policy(r, v, "placement.policy", &c->policies.fleet);
    if (rc == 0)
        rc = read_class_policies(r, v, c);
    return rc < 0 ? rc : read_expected(r, v, c);
}

static int read_delay(struct reader *r, const struct tg_json *v, size_t i, int64_t *ret)
{
    char field[64];
    snprintf(field, sizeof(field), "delays.%s", delays[i].name);
    if (v->kind != TG_JSON_STRING)
        return fault(r, v, field, "expected a duration such as 15s or 2m30s, found %s",
                     kind_name(v));
    int64_t value;
    if (tg_parse_duration(v->text, &value) < 0)
        return fault(r, v, field, "\"%s\" is not a duration: write 15s or 2m30s", v->text);
    if (value < delays[i].minimum || value > MAX_DELAY)
        return fault(r, v, field, "%s is out of range: it must be %s to 168h", v->text,
                     delays[i].minimum == TG_SECOND ? "1s" : "1ms");
    /* A Lease says its duration in whole seconds. */
    if (delays[i].offset == offsetof(struct tg_delays, lease) && value % TG_SECOND != 0)
        return fault(r, v, field, "%s must be whole seconds", v->text);
    *ret = value;
    return 0;
}

static int read_delays(struct reader *r, const struct tg_json *root, struct tg_configuration *c)
{
    const char *known[TG_ARRAY_SIZE(delays) + 1] = {NULL};
    for (size_t i = 0; i < TG_ARRAY_SIZE(delays); i++)
        known[i] = delays[i].name;
    const struct tg_json *v = tg_json_get(root, "delays");
    if (v == NULL || v->kind == TG_JSON_NULL)
        return 0;
    int rc = check_mapping(r, v, "delays", known);
    for (size_t i = 0; rc == 0 && i < TG_ARRAY_SIZE(delays); i++) {
        const struct tg_json *delay = tg_json_get(v, delays[i].name);
        if (delay != NULL && delay->kind != TG_JSON_NULL)
            rc = read_delay(r, delay, i, delay_at(&c->delays, i));
    }
    return rc;
}

/* -- levels ------------------------------------------------------------------------------------ */

static int check_level(struct reader *r, const struct tg_json *v, const char *field,
                       const struct tg_level *level)
{
    if (!tg_syntax_is_dns_label(level->name))
        return fault(r, v, field,
                     "name \"%s\" must be lower-case letters, digits and '-', at most 63",
                     tg_or(level->name, ""));
    if (tg_streq(level->name, TG_LEVEL_HOST)) {
        if (level->device_attribute != NULL || !tg_streq(level->node_label, TG_LABEL_HOSTNAME))
            return fault(r, v, field, "the level \"host\" is the node itself: it takes no %s",
                         level->device_attribute != NULL ? "deviceAttribute" : "other nodeLabel");
        return 0;
    }
    if ((level->node_label == NULL) == (level->device_attribute == NULL))
        return fault(r, v, field, "exactly one of nodeLabel and deviceAttribute must be set");
    if (level->node_label != NULL && !tg_syntax_is_label_key(level->node_label))
        return fault(r, v, field, "nodeLabel \"%s\" is no label key", level->node_label);
    if (level->device_attribute != NULL && !tg_syntax_is_attribute(level->device_attribute))
        return fault(r, v, field,
                     "deviceAttribute \"%s\" must be a full name such as gpu.example.com/clique",
                     level->device_attribute);
    return 0;
}

static int check_distinct(struct reader *r, const struct tg_json *v, const char *field,
                          const struct tg_configuration *c, const struct tg_level *level)
{
    for (size_t i = 0; i < c->n_levels; i++) {
        const struct tg_level *other = &c->levels[i];
        if (tg_streq(other->name, TG_LEVEL_HOST))
            return fault(r, v, field, "\"%s\" stands after \"host\", which is the innermost level",
                         level->name);
        if (tg_streq(other->name, level->name))
            return fault(r, v, field, "two levels are named \"%s\"", level->name);
        if (level->node_label != NULL && tg_streq(other->node_label, level->node_label))
            return fault(r, v, field, "nodeLabel \"%s\" is already that of level \"%s\"",
                         level->node_label, other->name);
        if (level->device_attribute != NULL &&
            tg_streq(other->device_attribute, level->device_attribute))
            return fault(r, v, field, "deviceAttribute \"%s\" is already that of level \"%s\"",
                         level->device_attribute, other->name);
    }
    return 0;
}

static int read_level(struct reader *r, const struct tg_json *v, const char *field,
                      struct tg_configuration *c)
{
    static const char *const known[] = {"name", "nodeLabel", "deviceAttribute", NULL};
    struct tg_level level = {0};
    int rc = check_mapping(r, v, field, known);
    if (rc < 0 || (rc = read_string(r, v, "name", field, &level.name)) < 0 ||
        (rc = read_string(r, v, "nodeLabel", field, &level.node_label)) < 0 ||
        (rc = read_string(r, v, "deviceAttribute", field, &level.device_attribute)) < 0)
        return rc;
    if (tg_streq(level.name, TG_LEVEL_HOST) && level.node_label == NULL)
        level.node_label = TG_LABEL_HOSTNAME;
    if ((rc = check_level(r, v, field, &level)) < 0 ||
        (rc = check_distinct(r, v, field, c, &level)) < 0)
        return rc;
    level.rank = c->n_levels;
    c->levels[c->n_levels++] = level;
    return 0;
}

static void add_level(struct tg_configuration *c, const char *name, const char *node_label)
{
    c->levels[c->n_levels] =
        (struct tg_level){.name = name, .node_label = node_label, .rank = c->n_levels};
    c->n_levels++;
}

static int read_topology(struct reader *r, const struct tg_json *root, struct tg_configuration *c)
{
    const struct tg_json *v = tg_json_get(root, "topology");
    if (v == NULL || v->kind == TG_JSON_NULL)
        return 0;
    if (v->kind != TG_JSON_ARRAY)
        return fault(r, v, "topology", "expected a list of levels, found %s", kind_name(v));
    if (v->n > MAX_LEVELS)
        return fault(r, v, "topology", "%zu levels: at most %d are supported", v->n, MAX_LEVELS);
    c->n_levels = 0;
    for (size_t i = 0; i < v->n; i++) {
        char field[48];
        snprintf(field, sizeof(field), "topology[%zu]", i);
        int rc = read_level(r, v->items[i], field, c);
        if (rc < 0)
            return rc;
    }
    if (c->n_levels == 0 || !tg_streq(c->levels[c->n_levels - 1].name, TG_LEVEL_HOST))
        add_level(c, TG_LEVEL_HOST, TG_LABEL_HOSTNAME);
    return 0;
}

/* -- documents --------------------------------------------------------------------------------- */

static int read_root(struct reader *r, const struct tg_json *root, struct tg_configuration *c)
{
    static const char *const known[] = {"apiVersion", "kind",   "instance", "topology",
                                        "placement",  "delays", NULL};
    if (root == NULL || root->kind == TG_JSON_NULL)
        return fault(r, root, "", "the document is empty: it must have apiVersion and kind");
    if (root->kind != TG_JSON_OBJECT)
        return fault(r, root, "", "expected a mapping, found %s", kind_name(root));
    /* The kind first: a document of another kind has other fields. */
    int rc = read_header(r, root);
    if (rc < 0 || (rc = check_mapping(r, root, "", known)) < 0 ||
        (rc = read_instance(r, root, c)) < 0 || (rc = read_topology(r, root, c)) < 0 ||
        (rc = read_placement(r, root, c)) < 0)
        return rc;
    return read_delays(r, root, c);
}

struct tg_configuration *tg_configuration_new_default(void)
{
    struct tg_configuration *c = tg_xcalloc(1, sizeof(*c));
    c->arena = tg_arena_new(MAX_ARENA);
    c->instance = TG_INSTANCE_DEFAULT;
    c->policies.fleet = "default";
    add_level(c, "zone", "topology.kubernetes.io/zone");
    add_level(c, TG_LEVEL_HOST, TG_LABEL_HOSTNAME);
    for (size_t i = 0; i < TG_ARRAY_SIZE(delays); i++)
        *delay_at(&c->delays, i) = delays[i].fallback;
    return c;
}

int tg_configuration_parse(const char *file, const char *data, size_t n,
                           struct tg_configuration **ret, struct tg_error *err)
{
    struct tg_error local = TG_ERROR_INIT;
    struct reader r = {.file = file, .err = err != NULL ? err : &local};
    struct tg_configuration *c = tg_configuration_new_default();
    struct tg_json *root = NULL;
    int rc = tg_yaml_parse(data, n, c->arena, &root, r.err);
    if (rc < 0)
        rc = tg_error_wrap(r.err, "%s", file);
    else
        rc = read_root(&r, root, c);
    if (rc < 0) {
        tg_configuration_free(c);
        return rc;
    }
    *ret = c;
    return 0;
}

int tg_configuration_load(const char *file, struct tg_configuration **ret, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(MAX_FILE);
    int rc = tg_file_read(file, &text, err);
    return rc < 0 ? rc : tg_configuration_parse(file, tg_buf_str(&text), text.len, ret, err);
}

void tg_configuration_free(struct tg_configuration *configuration)
{
    if (configuration == NULL)
        return;
    tg_arena_free(configuration->arena);
    free(configuration);
}

/* -- asking ------------------------------------------------------------------------------------ */

const char *tg_configuration_instance(const struct tg_configuration *configuration)
{
    return configuration->instance;
}

const struct tg_policies *tg_configuration_policies(const struct tg_configuration *configuration)
{
    return &configuration->policies;
}

const struct tg_expected *tg_configuration_expected(const struct tg_configuration *configuration,
                                                    size_t *ret_n)
{
    *ret_n = configuration->n_expected;
    return configuration->expected;
}

const struct tg_delays *tg_configuration_delays(const struct tg_configuration *configuration)
{
    return &configuration->delays;
}

const struct tg_level *tg_configuration_levels(const struct tg_configuration *configuration,
                                               size_t *ret_n)
{
    *ret_n = configuration->n_levels;
    return configuration->levels;
}

int tg_configuration_find_level(const struct tg_configuration *configuration, const char *name,
                                struct tg_level *ret, struct tg_error *err)
{
    for (size_t i = 0; i < configuration->n_levels; i++)
        if (tg_streq(configuration->levels[i].name, name)) {
            *ret = configuration->levels[i];
            return 0;
        }
    /* A label that a level has already keeps that level's place in the order. */
    for (size_t i = 0; i < configuration->n_levels; i++)
        if (tg_streq(configuration->levels[i].node_label, name) && name != NULL) {
            *ret = configuration->levels[i];
            return 0;
        }
    if (name != NULL && strchr(name, '/') != NULL && tg_syntax_is_label_key(name)) {
        *ret = (struct tg_level){.name = name, .node_label = name, .rank = TG_LEVEL_UNRANKED};
        return 0;
    }
    char list[320] = "";
    for (size_t i = 0; i < configuration->n_levels; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ",
                 configuration->levels[i].name);
    }
    return tg_error_set(err, TG_NOT_FOUND,
                        "\"%s\" is no topology level; the known ones are %s, and a node label key "
                        "with a prefix is accepted",
                        tg_or(name, ""), list);
}
