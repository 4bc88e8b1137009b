/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/check.h"

static int mismatch(const struct tg_cel_node *node, enum tg_cel_type left, enum tg_cel_type right,
                    struct tg_error *err)
{
    return tg_error_set(err, TG_INVALID_ARGUMENT,
                        "column %zu: '%s' has no meaning between %s and %s", node->column,
                        tg_cel_op_name(node->op), tg_cel_type_name(left), tg_cel_type_name(right));
}

static bool is_number(enum tg_cel_type type)
{
    return type == TG_CEL_INT || type == TG_CEL_UINT || type == TG_CEL_DOUBLE;
}

/* == and != take two of one type; an attribute goes with everything. */
static bool equal_types(enum tg_cel_type left, enum tg_cel_type right)
{
    return left == right || left == TG_CEL_DYN || right == TG_CEL_DYN;
}

/* < <= > >= are there for bool, string and the numbers, among which they may be mixed. */
static bool ordered_types(enum tg_cel_type left, enum tg_cel_type right)
{
    if (left == TG_CEL_QUANTITY || left == TG_CEL_SEMVER || right == TG_CEL_QUANTITY ||
        right == TG_CEL_SEMVER)
        return false;
    return equal_types(left, right) || (is_number(left) && is_number(right));
}

/* isGreaterThan, isLessThan and compareTo are there for two quantities and for two versions. */
static bool method_types(enum tg_cel_type left, enum tg_cel_type right)
{
    if (left != TG_CEL_DYN && left != TG_CEL_QUANTITY && left != TG_CEL_SEMVER)
        return false;
    if (right != TG_CEL_DYN && right != TG_CEL_QUANTITY && right != TG_CEL_SEMVER)
        return false;
    return equal_types(left, right);
}

static int check_pair(struct tg_cel_node *node, bool (*allowed)(enum tg_cel_type, enum tg_cel_type),
                      enum tg_cel_type result, struct tg_error *err)
{
    enum tg_cel_type left = node->first->type, right = node->first->next->type;

    node->type = result;
    return allowed(left, right) ? 0 : mismatch(node, left, right, err);
}

static int check_truth(struct tg_cel_node *node, struct tg_error *err)
{
    node->type = TG_CEL_BOOL;
    for (const struct tg_cel_node *c = node->first; c != NULL; c = c->next) {
        if (c->type != TG_CEL_BOOL && c->type != TG_CEL_DYN)
            return tg_error_set(err, TG_INVALID_ARGUMENT, "column %zu: '%s' takes bool, not %s",
                                c->column, tg_cel_op_name(node->op), tg_cel_type_name(c->type));
    }
    return 0;
}

static int check_leaf(struct tg_cel_node *node)
{
    node->type = TG_CEL_BOOL;
    if (node->op == TG_CEL_LITERAL)
        node->type = node->value.type;
    else if (node->op == TG_CEL_DRIVER)
        node->type = TG_CEL_STRING;
    else if (node->op == TG_CEL_ATTRIBUTE)
        node->type = TG_CEL_DYN;
    else if (node->op == TG_CEL_CAPACITY)
        node->type = TG_CEL_QUANTITY;
    return 0;
}

/* Recursion is bounded by TG_CEL_MAX_DEPTH. */
static int check_node(struct tg_cel_node *node, struct tg_error *err)
{
    for (struct tg_cel_node *c = node->first; c != NULL; c = c->next) {
        int rc = check_node(c, err);

        if (rc < 0)
            return rc;
    }
    if (node->op < TG_CEL_NOT)
        return check_leaf(node);
    if (node->op <= TG_CEL_OR)
        return check_truth(node, err);
    if (node->op <= TG_CEL_NOT_EQUAL)
        return check_pair(node, equal_types, TG_CEL_BOOL, err);
    if (node->op <= TG_CEL_GREATER_EQUAL)
        return check_pair(node, ordered_types, TG_CEL_BOOL, err);
    return check_pair(node, method_types, node->op == TG_CEL_COMPARE_TO ? TG_CEL_INT : TG_CEL_BOOL,
                      err);
}

int tg_cel_check(struct tg_cel_node *root, struct tg_error *err)
{
    int rc = check_node(root, err);

    if (rc < 0)
        return rc;
    if (root->type != TG_CEL_BOOL && root->type != TG_CEL_DYN)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "the expression must give bool, not %s",
                            tg_cel_type_name(root->type));
    return 0;
}
