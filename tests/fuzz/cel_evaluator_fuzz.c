/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation of what compiles ends within its cost and memory, twice with the same result. */
#include <stdint.h>
#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "controller/core/cel/program.h"

#define DOMAIN "gpu.example.com"

static struct tg_cel_entry attribute(const char *name, size_t n, struct tg_cel_value value)
{
    return (struct tg_cel_entry){.domain = DOMAIN,
                                 .domain_n = sizeof(DOMAIN) - 1,
                                 .name = name,
                                 .name_n = n,
                                 .value = value};
}

static int evaluate(const struct tg_cel_program *program, struct tg_cel_value *ret, bool *ret_bool)
{
    struct tg_cel_entry attributes[] = {
        attribute("index", 5, tg_cel_int(3)),
        attribute("model", 5, tg_cel_text("H100", 4)),
        attribute("ecc", 3, tg_cel_bool(true)),
    };
    struct tg_cel_entry capacity[] = {attribute("memory", 6, TG_CEL_NULL_VALUE)};
    struct tg_cel_device device = {
        .driver = DOMAIN,
        .driver_n = sizeof(DOMAIN) - 1,
        .attributes = attributes,
        .n_attributes = TG_ARRAY_SIZE(attributes),
        .capacity = capacity,
        .n_capacity = TG_ARRAY_SIZE(capacity),
    };
    struct tg_cel_input input = {.device = &device, .cost_limit = 20000};
    _Alignas(16) char buffer[4096];
    struct tg_cel_scratch scratch;
    struct tg_error err = TG_ERROR_INIT;
    int rc;

    capacity[0].quantity = "80Gi";
    tg_cel_scratch_init(&scratch, buffer, sizeof(buffer), (size_t)16 * 1024 * 1024);
    rc = tg_cel_evaluate(program, &input, &scratch, ret, NULL, &err);
    *ret_bool = rc == 0 && ret->tag == TG_CEL_V_BOOL && ret->boolean;
    tg_cel_scratch_done(&scratch);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct tg_cel_environment env = {
        .profile = TG_CEL_DRA, .minor = TG_CEL_NEWEST_MINOR, .list_type_attributes = true};
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)16 * 1024 * 1024);
    struct tg_cel_program *program = NULL;
    struct tg_cel_value first, second;
    struct tg_error err = TG_ERROR_INIT;
    bool a = false, b = false;

    if (tg_cel_compile((const char *)data, n, &env, arena, &program, &err) < 0)
        return 0;
    if (evaluate(program, &first, &a) != evaluate(program, &second, &b) || a != b)
        abort();
    return 0;
}
