/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/run.h"

#include <stdio.h>

#include "controller/core/cel/number.h"

int tg_cel_fail(struct tg_cel_run *run, const struct tg_cel_node *at, const char *what)
{
    run->fault = (struct tg_cel_fault){.what = what, .offset = at->offset};
    return -1;
}

int tg_cel_fail_text(struct tg_cel_run *run, const struct tg_cel_node *at, const char *what,
                     const char *text, size_t n)
{
    run->fault = (struct tg_cel_fault){.what = what, .text = text, .n = n, .offset = at->offset};
    return -1;
}

int tg_cel_fail_memory(struct tg_cel_run *run, const struct tg_cel_node *at)
{
    run->fault = (struct tg_cel_fault){
        .what = "the evaluation needs more memory than its budget",
        .offset = at->offset,
        .fatal = true,
    };
    return -1;
}

int tg_cel_fail_overload(struct tg_cel_run *run, const struct tg_cel_node *at)
{
    return tg_cel_fail_text(run, at, "no such overload", NULL, 0);
}

int tg_cel_fail_value(struct tg_cel_run *run, const struct tg_cel_node *at, const char *what,
                      const struct tg_cel_value *value)
{
    char *text;
    int n = 0;

    if (value->tag == TG_CEL_V_STRING)
        return tg_cel_fail_text(run, at, what, value->text, value->length);
    text = tg_cel_alloc(run->scratch, TG_CEL_NUMBER_TEXT);
    if (text == NULL)
        return tg_cel_fail_memory(run, at);
    if (tg_cel_is_number(value)) {
        n = (int)tg_cel_number_text(value, text);
    } else {
        n = snprintf(text, TG_CEL_NUMBER_TEXT, "a value of type %s", tg_cel_type_of(value)->name);
        n = n >= TG_CEL_NUMBER_TEXT ? TG_CEL_NUMBER_TEXT - 1 : n;
    }
    return tg_cel_fail_text(run, at, what, text, (size_t)n);
}
