/* SPDX-License-Identifier: Apache-2.0 */
/* A selector that parses is written as text that parses to the same requirements, each of them
 * valid, and both texts match the same labels. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/values/labels.h"
#include "api/runtime/base/str.h"

#define BUDGET (1024 * 1024)

/* Labels: one that selectors of the corpus name, with a number, and one without. */
static const char *label(void *data, const char *key)
{
    (void)data;
    if (strcmp(key, "a") == 0)
        return "5";
    return strcmp(key, "x.io/b") == 0 ? "value" : NULL;
}

static bool equal(const struct tg_requirement *a, const struct tg_requirement *b)
{
    if (!tg_streq(a->key, b->key) || !tg_streq(a->operator, b->operator) ||
        a->n_values != b->n_values)
        return false;
    for (size_t i = 0; i < a->n_values; i++) {
        if (!tg_streq(a->values[i], b->values[i]))
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(BUDGET);
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(BUDGET);
    char *text = tg_arena_strndup(arena, (const char *)data, n);
    struct tg_requirement *first, *again;
    size_t n_first, n_again;

    if (text == NULL || tg_label_selector_parse(text, arena, &first, &n_first, NULL) < 0)
        return 0;
    for (size_t i = 0; i < n_first; i++) {
        if (tg_requirement_check(&first[i], NULL) < 0)
            abort();
    }
    if (tg_label_selector_format(first, n_first, &out) < 0)
        return 0;
    if (tg_label_selector_parse(tg_buf_str(&out), arena, &again, &n_again, NULL) < 0) {
        if (!tg_arena_exhausted(arena))
            abort();
        return 0;
    }
    if (n_first != n_again)
        abort();
    for (size_t i = 0; i < n_first; i++) {
        if (!equal(&first[i], &again[i]))
            abort();
    }
    if (tg_requirements_match(first, n_first, label, NULL) !=
        tg_requirements_match(again, n_again, label, NULL))
        abort();
    return 0;
}
