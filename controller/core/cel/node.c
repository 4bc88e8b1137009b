/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/node.h"

static const char *const type_names[] = {
    [TG_CEL_BOOL] = "bool",     [TG_CEL_INT] = "int",
    [TG_CEL_UINT] = "uint",     [TG_CEL_DOUBLE] = "double",
    [TG_CEL_STRING] = "string", [TG_CEL_QUANTITY] = "quantity",
    [TG_CEL_SEMVER] = "semver", [TG_CEL_DYN] = "attribute value",
};

static const char *const op_names[] = {
    [TG_CEL_LITERAL] = "literal",
    [TG_CEL_DRIVER] = "device.driver",
    [TG_CEL_ATTRIBUTE] = "device.attributes",
    [TG_CEL_CAPACITY] = "device.capacity",
    [TG_CEL_HAS_ATTRIBUTE] = "in",
    [TG_CEL_HAS_CAPACITY] = "in",
    [TG_CEL_HAS_ATTRIBUTE_DOMAIN] = "in",
    [TG_CEL_HAS_CAPACITY_DOMAIN] = "in",
    [TG_CEL_NOT] = "!",
    [TG_CEL_AND] = "&&",
    [TG_CEL_OR] = "||",
    [TG_CEL_EQUAL] = "==",
    [TG_CEL_NOT_EQUAL] = "!=",
    [TG_CEL_LESS] = "<",
    [TG_CEL_LESS_EQUAL] = "<=",
    [TG_CEL_GREATER] = ">",
    [TG_CEL_GREATER_EQUAL] = ">=",
    [TG_CEL_IS_GREATER_THAN] = "isGreaterThan",
    [TG_CEL_IS_LESS_THAN] = "isLessThan",
    [TG_CEL_COMPARE_TO] = "compareTo",
};

const char *tg_cel_type_name(enum tg_cel_type type)
{
    return type_names[type];
}

const char *tg_cel_op_name(enum tg_cel_op op)
{
    return op_names[op];
}
