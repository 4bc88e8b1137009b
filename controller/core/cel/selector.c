/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/selector.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "controller/core/cel/device.h"
#include "controller/core/cel/program.h"

/* Enough for a device of 32 attributes and what selectors usually make of it. */
#define STACK_BYTES 8192

struct tg_selector {
    const struct tg_cel_program *program;
    bool lists; /* attributes that are lists are known */
};

static unsigned nearest_minor(unsigned minor)
{
    if (minor == 0 || minor > TG_CEL_NEWEST_MINOR)
        return TG_CEL_NEWEST_MINOR;
    return minor < TG_CEL_OLDEST_MINOR ? TG_CEL_OLDEST_MINOR : minor;
}

int tg_selector_compile_with(const char *expression, const struct tg_selector_options *options,
                             struct tg_arena *arena, struct tg_selector **ret, struct tg_error *err)
{
    struct tg_cel_environment env = {
        .profile = TG_CEL_DRA,
        .minor = nearest_minor(options == NULL ? 0 : options->minor),
        .zones = options == NULL ? NULL : options->zones,
        .consumable_capacity = true,
        .list_type_attributes = true,
    };
    struct tg_selector *selector = tg_arena_alloc(arena, sizeof(*selector));
    struct tg_cel_program *program = NULL;
    int rc;

    if (selector == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "the selector needs more memory than its budget");
    rc = tg_cel_compile(expression, strlen(expression), &env, arena, &program, err);
    if (rc < 0)
        return rc;
    if (tg_cel_program_cost(program) > TG_CEL_MAX_COST)
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "too complex, exceeds cost limit: up to %" PRIu64
                            " units, at most %" PRIu64 " are allowed",
                            tg_cel_program_cost(program), TG_CEL_MAX_COST);
    selector->program = program;
    selector->lists = tg_cel_has_list_attributes(&env);
    *ret = selector;
    return 0;
}

int tg_selector_compile(const char *expression, struct tg_arena *arena, struct tg_selector **ret,
                        struct tg_error *err)
{
    return tg_selector_compile_with(expression, NULL, arena, ret, err);
}

int tg_selector_compile_for(const char *expression, unsigned minor, struct tg_arena *arena,
                            struct tg_selector **ret, struct tg_error *err)
{
    return tg_selector_compile_with(expression, &(struct tg_selector_options){.minor = minor},
                                    arena, ret, err);
}

static int matches(const struct tg_selector *selector, const char *driver,
                   const struct tg_device *device, unsigned overlay, bool *ret,
                   struct tg_error *err)
{
    TG_CEL_UNCLEARED _Alignas(max_align_t) char buffer[STACK_BYTES];
    TG_CEL_UNCLEARED struct tg_cel_device view; /* written as a whole when the device is read */
    struct tg_cel_scratch scratch;
    struct tg_cel_input input = {.device = &view};
    int rc;

    tg_cel_scratch_init(&scratch, buffer, sizeof(buffer), TG_CEL_EVALUATION_MEMORY);
    rc = tg_cel_device_init(&view, tg_cel_program_reads(selector->program), &scratch, driver,
                            device, overlay | (selector->lists ? TG_CEL_DEVICE_LISTS : 0U), err);
    if (rc == 0)
        rc = tg_cel_evaluate_bool(selector->program, &input, &scratch, ret, NULL, err);
    tg_cel_scratch_done(&scratch);
    return rc;
}

int tg_selector_matches(const struct tg_selector *selector, const char *driver,
                        const struct tg_device *device, bool *ret, struct tg_error *err)
{
    return matches(selector, driver, device, TG_CEL_DEVICE_GUARD, ret, err);
}

int tg_selector_matches_published(const struct tg_selector *selector, const char *driver,
                                  const struct tg_device *device, bool *ret, struct tg_error *err)
{
    return matches(selector, driver, device, 0U, ret, err);
}

const struct tg_cel_reads *tg_selector_reads(const struct tg_selector *selector)
{
    return tg_cel_program_reads(selector->program);
}
