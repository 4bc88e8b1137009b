/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/eval.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"

/* What the tree is evaluated on. */
struct context {
    const char *driver;
    const struct tg_device *device;
};

static int eval(const struct tg_cel_node *node, const struct context *on, struct tg_cel_value *ret,
                struct tg_error *err);

static struct tg_cel_value truth(bool value)
{
    return (struct tg_cel_value){.type = TG_CEL_BOOL, .boolean = value};
}

static int no_overload(const struct tg_cel_node *node, const struct tg_cel_value *value,
                       struct tg_error *err)
{
    return tg_error_set(err, TG_FAILED_PRECONDITION, "column %zu: no such overload: '%s' on %s",
                        node->column, tg_cel_op_name(node->op), tg_cel_type_name(value->type));
}

static int no_key(const struct tg_cel_node *node, struct tg_error *err)
{
    return tg_error_set(err, TG_FAILED_PRECONDITION,
                        "column %zu: no such key: %s; guard it with '\"%s\" in %s[\"%s\"] && ...'",
                        node->column, node->name, node->name, tg_cel_op_name(node->op),
                        node->domain);
}

/* Is this key domain/name? A key without a domain belongs to the driver's. */
static bool key_is(const char *key, const char *driver, const char *domain, const char *name)
{
    const char *slash = strchr(key, '/');
    size_t n = slash == NULL ? 0 : (size_t)(slash - key);

    if (slash == NULL)
        return tg_streq(driver, domain) && (name == NULL || strcmp(key, name) == 0);
    return strlen(domain) == n && memcmp(key, domain, n) == 0 &&
           (name == NULL || strcmp(slash + 1, name) == 0);
}

/* name NULL: any of the domain. The qualified spelling wins over the short one. */
static const struct tg_device_attribute *find_attribute(const struct context *on,
                                                        const char *domain, const char *name)
{
    const struct tg_device_attribute *found = NULL;

    for (size_t i = 0; i < on->device->attributes.n; i++) {
        const struct tg_keyed_attribute *a = &on->device->attributes.items[i];

        if (!key_is(a->key, on->driver, domain, name))
            continue;
        if (found == NULL || strchr(a->key, '/') != NULL)
            found = &a->value;
    }
    return found;
}

static const struct tg_device_capacity *find_capacity(const struct context *on, const char *domain,
                                                      const char *name)
{
    const struct tg_device_capacity *found = NULL;

    for (size_t i = 0; i < on->device->capacity.n; i++) {
        const struct tg_keyed_capacity *c = &on->device->capacity.items[i];

        if (!key_is(c->key, on->driver, domain, name))
            continue;
        if (found == NULL || strchr(c->key, '/') != NULL)
            found = &c->value;
    }
    return found;
}

/* The attribute that every device has under Tangram, and that no slice can publish. */
static bool granted(const char *domain, const char *name)
{
    return strcmp(domain, TG_GUARD_DOMAIN) == 0 &&
           (name == NULL || strcmp(name, TG_GUARD_ATTRIBUTE) == 0);
}

static int eval_attribute(const struct tg_cel_node *node, const struct context *on,
                          struct tg_cel_value *ret, struct tg_error *err)
{
    const struct tg_device_attribute *a;
    struct tg_error cause = TG_ERROR_INIT;

    if (granted(node->domain, node->name)) {
        *ret = truth(true);
        return 0;
    }
    a = find_attribute(on, node->domain, node->name);
    if (a == NULL)
        return no_key(node, err);
    if (a->int_.set) {
        *ret = (struct tg_cel_value){.type = TG_CEL_INT, .integer = a->int_.value};
    } else if (a->bool_.set) {
        *ret = truth(a->bool_.value);
    } else if (a->string != NULL) {
        *ret = (struct tg_cel_value){.type = TG_CEL_STRING, .string = a->string};
    } else {
        ret->type = TG_CEL_SEMVER;
        if (a->version == NULL || tg_semver_parse(a->version, &ret->semver, &cause) < 0)
            return tg_error_set(
                err, TG_FAILED_PRECONDITION,
                "column %zu: %s has a value of a kind that this version does not read "
                "(a list?)",
                node->column, node->name);
    }
    return 0;
}

static int eval_capacity(const struct tg_cel_node *node, const struct context *on,
                         struct tg_cel_value *ret, struct tg_error *err)
{
    const struct tg_device_capacity *c = find_capacity(on, node->domain, node->name);
    struct tg_error cause = TG_ERROR_INIT;

    if (c == NULL)
        return no_key(node, err);
    ret->type = TG_CEL_QUANTITY;
    if (c->value == NULL || tg_quantity_parse(c->value, &ret->quantity, &cause) < 0)
        return tg_error_set(err, TG_FAILED_PRECONDITION, "column %zu: %s is no quantity",
                            node->column, node->name);
    return 0;
}

static int eval_presence(const struct tg_cel_node *node, const struct context *on,
                         struct tg_cel_value *ret)
{
    bool capacity = node->op == TG_CEL_HAS_CAPACITY || node->op == TG_CEL_HAS_CAPACITY_DOMAIN;

    if (capacity)
        *ret = truth(find_capacity(on, node->domain, node->name) != NULL);
    else
        *ret = truth(granted(node->domain, node->name) ||
                     find_attribute(on, node->domain, node->name) != NULL);
    return 0;
}

static int eval_not(const struct tg_cel_node *node, const struct context *on,
                    struct tg_cel_value *ret, struct tg_error *err)
{
    int rc = eval(node->first, on, ret, err);

    if (rc < 0)
        return rc;
    if (ret->type != TG_CEL_BOOL)
        return no_overload(node, ret, err);
    ret->boolean = ret->boolean != node->value.boolean;
    return 0;
}

/* One operand that decides (false for &&, true for ||) decides, whatever errors stand beside it;
 * else the first error. */
static int eval_chain(const struct tg_cel_node *node, const struct context *on,
                      struct tg_cel_value *ret, struct tg_error *err)
{
    bool deciding = node->op == TG_CEL_OR;
    struct tg_error first = TG_ERROR_INIT;
    int failed = 0;

    for (const struct tg_cel_node *c = node->first; c != NULL; c = c->next) {
        struct tg_error own = TG_ERROR_INIT;
        struct tg_cel_value value = {.type = TG_CEL_DYN};
        int rc = eval(c, on, &value, &own);

        if (rc == 0 && value.type != TG_CEL_BOOL)
            rc = no_overload(node, &value, &own);
        if (rc == 0 && value.boolean == deciding) {
            *ret = truth(deciding);
            return 0;
        }
        if (rc < 0 && failed == 0) {
            failed = rc;
            first = own;
        }
    }
    if (failed < 0 && err != NULL)
        *err = first;
    *ret = truth(!deciding);
    return failed;
}

static bool is_number(const struct tg_cel_value *v)
{
    return v->type == TG_CEL_INT || v->type == TG_CEL_UINT || v->type == TG_CEL_DOUBLE;
}

/* Values of different types are unequal, but a quantity or a version on the left knows only its own
 * kind. */
static int eval_equal(const struct tg_cel_node *node, const struct tg_cel_value *a,
                      const struct tg_cel_value *b, bool *ret, struct tg_error *err)
{
    bool unordered = false;

    *ret = false;
    if (is_number(a) && is_number(b)) {
        *ret = tg_cel_compare_numbers(a, b, &unordered) == 0 && !unordered;
        return 0;
    }
    if (a->type != b->type)
        return a->type == TG_CEL_QUANTITY || a->type == TG_CEL_SEMVER ? no_overload(node, b, err)
                                                                      : 0;
    if (a->type == TG_CEL_BOOL)
        *ret = a->boolean == b->boolean;
    else if (a->type == TG_CEL_STRING)
        *ret = strcmp(a->string, b->string) == 0;
    else if (a->type == TG_CEL_QUANTITY)
        *ret = tg_quantity_cmp(&a->quantity, &b->quantity) == 0;
    else
        *ret = tg_semver_compare(&a->semver, &b->semver) == 0;
    return 0;
}

static int eval_order(const struct tg_cel_node *node, const struct tg_cel_value *a,
                      const struct tg_cel_value *b, bool *ret, struct tg_error *err)
{
    bool unordered = false;
    int order = 0;

    if (is_number(a) && is_number(b))
        order = tg_cel_compare_numbers(a, b, &unordered);
    else if (a->type == TG_CEL_STRING && b->type == TG_CEL_STRING)
        order = strcmp(a->string, b->string);
    else if (a->type == TG_CEL_BOOL && b->type == TG_CEL_BOOL)
        order = (int)a->boolean - (int)b->boolean;
    else
        return no_overload(node, a->type == TG_CEL_DYN ? b : a, err);
    if (node->op == TG_CEL_LESS)
        *ret = order < 0;
    else if (node->op == TG_CEL_LESS_EQUAL)
        *ret = order <= 0;
    else if (node->op == TG_CEL_GREATER)
        *ret = order > 0;
    else
        *ret = order >= 0;
    *ret = *ret && !unordered;
    return 0;
}

static int eval_method(const struct tg_cel_node *node, const struct tg_cel_value *a,
                       const struct tg_cel_value *b, struct tg_cel_value *ret, struct tg_error *err)
{
    int order = 0;

    if (a->type != b->type || (a->type != TG_CEL_QUANTITY && a->type != TG_CEL_SEMVER))
        return no_overload(node, a, err);
    if (a->type == TG_CEL_QUANTITY)
        order = tg_quantity_cmp(&a->quantity, &b->quantity);
    else
        order = tg_semver_compare(&a->semver, &b->semver);
    if (node->op == TG_CEL_COMPARE_TO)
        *ret = (struct tg_cel_value){.type = TG_CEL_INT, .integer = (order > 0) - (order < 0)};
    else
        *ret = truth(node->op == TG_CEL_IS_GREATER_THAN ? order > 0 : order < 0);
    return 0;
}

static int eval_pair(const struct tg_cel_node *node, const struct context *on,
                     struct tg_cel_value *ret, struct tg_error *err)
{
    struct tg_cel_value a, b;
    bool result = false;
    int rc = eval(node->first, on, &a, err);

    if (rc == 0)
        rc = eval(node->first->next, on, &b, err);
    if (rc < 0)
        return rc;
    if (node->op >= TG_CEL_IS_GREATER_THAN)
        return eval_method(node, &a, &b, ret, err);
    if (node->op >= TG_CEL_LESS)
        rc = eval_order(node, &a, &b, &result, err);
    else
        rc = eval_equal(node, &a, &b, &result, err);
    *ret = truth(node->op == TG_CEL_NOT_EQUAL ? !result : result);
    return rc;
}

/* Recursion is bounded by TG_CEL_MAX_DEPTH. */
static int eval(const struct tg_cel_node *node, const struct context *on, struct tg_cel_value *ret,
                struct tg_error *err)
{
    if (node->op == TG_CEL_LITERAL) {
        *ret = node->value;
        return 0;
    }
    if (node->op == TG_CEL_DRIVER) {
        *ret = (struct tg_cel_value){.type = TG_CEL_STRING, .string = tg_or(on->driver, "")};
        return 0;
    }
    if (node->op == TG_CEL_ATTRIBUTE)
        return eval_attribute(node, on, ret, err);
    if (node->op == TG_CEL_CAPACITY)
        return eval_capacity(node, on, ret, err);
    if (node->op < TG_CEL_NOT)
        return eval_presence(node, on, ret);
    if (node->op == TG_CEL_NOT)
        return eval_not(node, on, ret, err);
    if (node->op <= TG_CEL_OR)
        return eval_chain(node, on, ret, err);
    return eval_pair(node, on, ret, err);
}

int tg_cel_eval(const struct tg_cel_node *node, const char *driver, const struct tg_device *device,
                struct tg_cel_value *ret, struct tg_error *err)
{
    struct context on = {.driver = driver, .device = device};

    return eval(node, &on, ret, err);
}
