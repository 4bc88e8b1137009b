/* SPDX-License-Identifier: Apache-2.0 */
/* Required node affinity as JSON (a NodeSelector): a selector matches if and only if one of its
 * terms does alone, and a term only if each of its requirements does alone. */
#include <stdint.h>
#include <stdlib.h>

#include "api/kubernetes/objects/core.h"
#include "api/runtime/json/decode.h"
#include "controller/core/fit/rule.h"

#define BUDGET (1024 * 1024)

static bool matches(const struct tg_node_selector *selector)
{
    static struct tg_string_pair labels[] = {{"zone", "a"}, {"x.io/rack", "7"}};
    static struct tg_object_meta meta = {.name = "n1", .labels = {labels, 2}};
    static const struct tg_node object = {.metadata = &meta};
    static const struct tg_fleet_node node = {.object = &object, .name = "n1"};
    struct tg_node_affinity node_affinity = {.required = (struct tg_node_selector *)selector};
    struct tg_affinity affinity = {.node_affinity = &node_affinity};
    struct tg_pod_spec spec = {.affinity = &affinity};
    const struct tg_pod pod = {.spec = &spec};

    return tg_fit_node_affinity(&node, &(struct tg_fit_guest){.pod = &pod});
}

static bool term_matches(struct tg_selector_term term)
{
    const struct tg_node_selector selector = {.terms = {&term, 1}};

    return matches(&selector);
}

/* Every requirement as a term of its own. */
static bool all_match(const struct tg_selector_term *term)
{
    bool all = term->match_expressions.n + term->match_fields.n > 0;

    for (size_t i = 0; i < term->match_expressions.n; i++)
        all = all && term_matches((struct tg_selector_term){
                         .match_expressions = {&term->match_expressions.items[i], 1}});
    for (size_t i = 0; i < term->match_fields.n; i++)
        all = all && term_matches((struct tg_selector_term){
                         .match_fields = {&term->match_fields.items[i], 1}});
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(BUDGET);
    struct tg_node_selector selector = {0};
    bool any = false;

    if (tg_json_decode(&tg_node_selector_type, (const char *)data, n, &selector, arena, NULL) < 0)
        return 0;
    for (size_t i = 0; i < selector.terms.n; i++) {
        if (term_matches(selector.terms.items[i]) != all_match(&selector.terms.items[i]))
            abort();
        any = any || term_matches(selector.terms.items[i]);
    }
    if (matches(&selector) != any)
        abort();
    return 0;
}
