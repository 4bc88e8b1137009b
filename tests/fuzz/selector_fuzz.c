/* SPDX-License-Identifier: Apache-2.0 */
/* A selector that compiles means the same in parentheses, and `|| true` absorbs whatever it does.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/core/cel/selector.h"

static const struct tg_device *device(void)
{
    static struct tg_keyed_attribute attributes[] = {
        {"index", {.int_ = {true, 3}}},
        {"ecc", {.bool_ = {true, true}}},
        {"model", {.string = "H100"}},
        {"x.com/version", {.version = "550.90.7"}},
    };
    static struct tg_keyed_capacity capacity[] = {{"memory", {.value = "80Gi"}}};
    static const struct tg_device d = {
        .name = "d", .attributes = {attributes, 4}, .capacity = {capacity, 1}};

    return &d;
}

/* 1 true, 0 false, negative an error of compiling or evaluating. */
static int outcome(const char *expression)
{
    struct tg_arena *arena = tg_arena_new((size_t)16 * 1024 * 1024);
    struct tg_selector *selector = NULL;
    bool match = false;
    int rc = tg_selector_compile(expression, arena, &selector, NULL);

    if (rc == 0)
        rc = tg_selector_matches(selector, "gpu.example.com", device(), &match, NULL);
    tg_arena_free(arena);
    return rc < 0 ? rc : match;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static char text[8192], wrapped[8300];
    int plain, inside, absorbed;

    if (n >= sizeof(text))
        return 0;
    memcpy(text, data, n);
    text[n] = '\0';
    plain = outcome(text);
    if (plain == -TG_INVALID_ARGUMENT || plain == -TG_UNIMPLEMENTED)
        return 0;
    /* A newline ends a comment. */
    snprintf(wrapped, sizeof(wrapped), "(%s\n)", text);
    inside = outcome(wrapped);
    snprintf(wrapped, sizeof(wrapped), "(%s\n) || true", text);
    absorbed = outcome(wrapped);
    /* Parentheses may be one level too many. */
    if (inside != plain && inside != -TG_UNIMPLEMENTED)
        abort();
    if (absorbed != 1 && absorbed != -TG_UNIMPLEMENTED)
        abort();
    return 0;
}
