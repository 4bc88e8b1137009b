/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/environment.h"

/* Before 1.34 no release matters, so "always" is written as the oldest. NEVER: not in Kubernetes.
 */
#define NEVER 1000U

static const struct {
    unsigned since; /* minor release */
    bool plain;     /* part of the language profile */
} libraries[TG_CEL_LIBRARIES] = {
    [TG_CEL_LIB_STANDARD] = {28, true},      [TG_CEL_LIB_CROSS_TYPE] = {28, true},
    [TG_CEL_LIB_OPTIONAL] = {28, true},      [TG_CEL_LIB_STRINGS] = {29, true},
    [TG_CEL_LIB_STRINGS_3] = {NEVER, true},  [TG_CEL_LIB_SETS] = {29, true},
    [TG_CEL_LIB_TWO_VARIABLES] = {32, true}, [TG_CEL_LIB_LISTS] = {34, true},
    [TG_CEL_LIB_BINDINGS] = {31, true},      [TG_CEL_LIB_URL] = {28, false},
    [TG_CEL_LIB_REGEX] = {28, false},        [TG_CEL_LIB_KUBE_LISTS] = {28, false},
    [TG_CEL_LIB_INCLUDES] = {37, false},     [TG_CEL_LIB_QUANTITY] = {28, false},
    [TG_CEL_LIB_IP] = {30, false},           [TG_CEL_LIB_CIDR] = {30, false},
    [TG_CEL_LIB_FORMAT] = {31, false},       [TG_CEL_LIB_SEMVER] = {33, false},
    [TG_CEL_LIB_AUTHORIZER] = {31, false},
};

unsigned tg_cel_library_since(enum tg_cel_library library)
{
    return libraries[library].since;
}

/* The newest release whose libraries count. */
static unsigned effective_minor(const struct tg_cel_environment *env)
{
    return env->new_expression ? env->minor - 1 : env->minor;
}

/* includes() came as an alpha feature in 1.36 and for all in 1.37. Stored expressions know it
 * whatever the gate says; new ones where the gate is on, which goes before the release. */
static bool has_includes(const struct tg_cel_environment *env)
{
    if (env->minor < 36)
        return false;
    return !env->new_expression || env->list_type_attributes;
}

bool tg_cel_has_library(const struct tg_cel_environment *env, enum tg_cel_library library)
{
    if (env->profile == TG_CEL_PLAIN)
        return libraries[library].plain;
    if (library == TG_CEL_LIB_INCLUDES)
        return has_includes(env);
    return libraries[library].since <= effective_minor(env);
}

bool tg_cel_has_escaped_names(const struct tg_cel_environment *env)
{
    return env->profile == TG_CEL_PLAIN || env->minor >= 37;
}

bool tg_cel_has_list_attributes(const struct tg_cel_environment *env)
{
    if (env->minor < 36)
        return false;
    if (env->minor == 36)
        return env->list_type_attributes;
    return !env->new_expression || env->list_type_attributes;
}

bool tg_cel_has_multiple_allocations(const struct tg_cel_environment *env)
{
    return !env->new_expression || env->consumable_capacity;
}
