/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/selector.h"

#include "controller/core/cel/check.h"
#include "controller/core/cel/eval.h"
#include "controller/core/cel/parser.h"

struct tg_selector {
    const struct tg_cel_node *root;
};

int tg_selector_compile(const char *expression, struct tg_arena *arena, struct tg_selector **ret,
                        struct tg_error *err)
{
    struct tg_selector *selector = tg_arena_alloc(arena, sizeof(*selector));
    struct tg_cel_node *root = NULL;
    int rc = 0;

    if (selector == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "the selector needs more memory than its budget");
    rc = tg_cel_parse(expression, arena, &root, err);
    if (rc == 0)
        rc = tg_cel_check(root, err);
    if (rc < 0)
        return rc;
    selector->root = root;
    *ret = selector;
    return 0;
}

int tg_selector_matches(const struct tg_selector *selector, const char *driver,
                        const struct tg_device *device, bool *ret, struct tg_error *err)
{
    struct tg_cel_value value = {.type = TG_CEL_DYN};
    int rc = tg_cel_eval(selector->root, driver, device, &value, err);

    if (rc < 0)
        return rc;
    if (value.type != TG_CEL_BOOL)
        return tg_error_set(err, TG_FAILED_PRECONDITION, "the expression gave %s, not bool",
                            tg_cel_type_name(value.type));
    *ret = value.boolean;
    return 0;
}
