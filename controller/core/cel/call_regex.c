/* SPDX-License-Identifier: Apache-2.0 */
/* matches(), find(), findAll(). A constant pattern was compiled with the expression. */
#include "controller/core/cel/calls.h"
#include "controller/core/cel/regex.h"
#include "controller/core/cel/text.h"

/* The pattern of the call; *owned: made now, to be freed by the caller. */
static struct tg_cel_regex *pattern(struct tg_cel_run *run, const struct tg_cel_node *call,
                                    const struct tg_cel_value *text, bool *owned)
{
    struct tg_cel_regex *regex = call->regex;
    char why[128];

    *owned = regex == NULL;
    if (regex == NULL)
        regex = tg_cel_regex_new(text->text, text->length, why, sizeof(why));
    if (regex == NULL)
        tg_cel_fail_value(run, call, "error parsing regexp: ", text);
    return regex;
}

int tg_cel_call_matches(struct tg_cel_run *run, const struct tg_cel_node *call,
                        const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    bool owned = false;
    struct tg_cel_regex *regex = pattern(run, call, &args[1], &owned);

    if (regex == NULL)
        return -1;
    *ret = tg_cel_bool(tg_cel_regex_find(regex, args[0].text, args[0].length, 0, NULL, NULL));
    if (owned)
        tg_cel_regex_free(regex);
    return 0;
}

int tg_cel_call_find(struct tg_cel_run *run, const struct tg_cel_node *call,
                     const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    bool owned = false;
    struct tg_cel_regex *regex = pattern(run, call, &args[1], &owned);
    size_t start = 0, end = 0;

    if (regex == NULL)
        return -1;
    *ret = tg_cel_text("", 0);
    if (tg_cel_regex_find(regex, args[0].text, args[0].length, 0, &start, &end))
        *ret = tg_cel_text(args[0].text + start, end - start);
    if (owned)
        tg_cel_regex_free(regex);
    return 0;
}

/* The next match as Go's FindAll gives them: none that is empty right behind another. */
static bool next_match(const struct tg_cel_regex *regex, const struct tg_cel_value *text,
                       size_t *position, size_t *previous_end, struct tg_cel_value *ret)
{
    size_t start = 0, end = 0;

    while (*position <= text->length &&
           tg_cel_regex_find(regex, text->text, text->length, *position, &start, &end)) {
        bool accept = true;

        if (end == *position) {
            accept = start != *previous_end;
            *position += *position < text->length ? tg_cel_character(text->text + *position) : 1;
        } else {
            *position = end;
        }
        *previous_end = end;
        if (accept) {
            *ret = tg_cel_text(text->text + start, end - start);
            return true;
        }
    }
    return false;
}

int tg_cel_call_find_all(struct tg_cel_run *run, const struct tg_cel_node *call,
                         const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int64_t limit = call->n_args > 2 ? args[2].integer : -1;
    size_t position = 0, previous_end = SIZE_MAX;
    struct tg_cel_value match, one;
    bool owned = false, made;
    struct tg_cel_regex *regex = pattern(run, call, &args[1], &owned);

    if (regex == NULL)
        return -1;
    made = tg_cel_list_make(run->scratch, NULL, 0, ret);
    for (int64_t i = 0; made && (limit < 0 || i < limit) &&
                        next_match(regex, &args[0], &position, &previous_end, &match);
         i++)
        made = tg_cel_list_make(run->scratch, &match, 1, &one) &&
               tg_cel_list_concat(run->scratch, ret, &one, ret);
    if (owned)
        tg_cel_regex_free(regex);
    return made ? 0 : tg_cel_fail_memory(run, call);
}
