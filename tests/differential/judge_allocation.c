/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the checker says of allocations that somebody else made: reads {"case": a case of
 * dra-alloc-case/1, "allocations": [one a claim, as in its status]} a line, and answers with a line
 * each: {"rule": null} if it is accepted, else the rule that is broken and why.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/patch.h"
#include "tests/cases/alloc_case.h"

#define LINE_BYTES ((size_t)16 << 20)

static int read_allocations(const struct tg_json *list, struct tg_arena *arena,
                            struct alloc_answer *ret, struct tg_error *err)
{
    size_t n = list == NULL ? 0 : list->n;
    int rc = 0;

    ret->allocations = tg_arena_alloc_array(arena, n, sizeof(*ret->allocations));
    if (ret->allocations == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory");
    for (size_t i = 0; rc == 0 && i < n; i++) {
        TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(LINE_BYTES);

        if (tg_json_write(list->items[i], &text) < 0)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "an allocation is too large");
        rc = tg_json_decode(&tg_allocation_type, text.data, text.len, &ret->allocations[i], arena,
                            err);
    }
    return rc;
}

static int answer(const char *line, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    TG_AUTOBUF struct tg_buf why = TG_BUF_INIT(LINE_BYTES);
    struct alloc_answer made = {.allocations = NULL};
    struct tg_error err = TG_ERROR_INIT;
    struct tg_json *json = NULL;
    struct alloc_case c;

    if (tg_json_parse(line, n, arena, &json, &err) < 0 ||
        alloc_case_read(tg_json_get(json, "case"), NULL, arena, &c, &err) < 0 ||
        read_allocations(tg_json_get(json, "allocations"), arena, &made, &err) < 0) {
        fprintf(stderr, "judge_allocation: %s\n", err.message);
        return -1;
    }
    if (alloc_case_check(&c, &made, &err) == 0) {
        puts("{\"rule\":null}");
        return 0;
    }
    tg_json_quote(&why, err.message);
    printf("{\"rule\":\"%s\",\"why\":%s}\n", err.reason, why.data);
    return 0;
}

int main(void)
{
    TG_AUTOFREE char *line = NULL;
    size_t capacity = 0;
    ssize_t n;

    while ((n = getline(&line, &capacity, stdin)) > 0) {
        if (answer(line, (size_t)n) < 0)
            return 2;
    }
    return 0;
}
