/* SPDX-License-Identifier: Apache-2.0 */
/* Methods of strings. Indexes count characters. */
#include <string.h>

#include "controller/core/cel/calls.h"
#include "controller/core/cel/text.h"

static bool starts(const struct tg_cel_value *a, size_t at, const struct tg_cel_value *b)
{
    return a->length - at >= b->length && memcmp(a->text + at, b->text, b->length) == 0;
}

int tg_cel_call_contains(struct tg_cel_run *run, const struct tg_cel_node *call,
                         const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_bool(args[1].length == 0 ||
                       memmem(args[0].text, args[0].length, args[1].text, args[1].length) != NULL);
    return 0;
}

int tg_cel_call_starts_with(struct tg_cel_run *run, const struct tg_cel_node *call,
                            const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_bool(starts(&args[0], 0, &args[1]));
    return 0;
}

int tg_cel_call_ends_with(struct tg_cel_run *run, const struct tg_cel_node *call,
                          const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_bool(args[0].length >= args[1].length &&
                       starts(&args[0], args[0].length - args[1].length, &args[1]));
    return 0;
}

static int out_of_range(struct tg_cel_run *run, const struct tg_cel_node *call,
                        const struct tg_cel_value *index)
{
    return tg_cel_fail_value(run, call, "index out of range: ", index);
}

int tg_cel_call_char_at(struct tg_cel_run *run, const struct tg_cel_node *call,
                        const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    uint64_t n = tg_cel_size(&args[0]);
    size_t at;

    if (args[1].integer < 0 || args[1].uinteger > n)
        return out_of_range(run, call, &args[1]);
    at = tg_cel_text_offset(args[0].text, args[0].length, args[1].uinteger);
    *ret = tg_cel_text(args[0].text + at,
                       at == args[0].length ? 0 : tg_cel_character(args[0].text + at));
    return 0;
}

/* What indexOf("", from) gives: the place where the search begins, from 1.37 on within the string.
 */
static int index_of_nothing(struct tg_cel_run *run, const struct tg_cel_node *call,
                            const struct tg_cel_value *text, const struct tg_cel_value *from,
                            struct tg_cel_value *ret)
{
    bool bounded = run->minor >= 37 || run->plain;
    int64_t n = bounded ? (int64_t)tg_cel_size(text) : INT64_MAX;

    if (bounded && from->integer < 0)
        return out_of_range(run, call, from);
    *ret = tg_cel_int(from->integer < n ? from->integer : n);
    return 0;
}

int tg_cel_call_index_of(struct tg_cel_run *run, const struct tg_cel_node *call,
                         const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_value from = call->n_args > 2 ? args[2] : tg_cel_int(0);
    const char *found;
    size_t at;

    if (args[1].length == 0)
        return index_of_nothing(run, call, &args[0], &from, ret);
    if (from.integer < 0)
        return out_of_range(run, call, &from);
    at = tg_cel_text_offset(args[0].text, args[0].length, from.uinteger);
    found = memmem(args[0].text + at, args[0].length - at, args[1].text, args[1].length);
    *ret = tg_cel_int(-1);
    if (found != NULL)
        *ret = tg_cel_int((int64_t)tg_cel_characters(args[0].text, (size_t)(found - args[0].text)));
    return 0;
}

int tg_cel_call_last_index_of(struct tg_cel_run *run, const struct tg_cel_node *call,
                              const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int64_t n = (int64_t)tg_cel_size(&args[0]);
    int64_t from = call->n_args > 2 ? args[2].integer : n - 1;
    size_t at;

    *ret = tg_cel_int(args[1].length == 0 ? n : -1);
    if (args[1].length == 0)
        return call->n_args > 2 ? index_of_nothing(run, call, &args[0], &args[2], ret) : 0;
    if (call->n_args == 2 && args[0].length < args[1].length)
        return 0;
    if (from < 0)
        return out_of_range(run, call, &args[2]);
    if (from >= n || args[1].length > args[0].length)
        return 0;
    at = tg_cel_text_offset(args[0].text, args[0].length, (uint64_t)from);
    for (size_t i = at + 1; i > 0; i--) {
        if (((unsigned char)args[0].text[i - 1] & 0xc0) != 0x80 &&
            starts(&args[0], i - 1, &args[1])) {
            *ret = tg_cel_int((int64_t)tg_cel_characters(args[0].text, i - 1));
            return 0;
        }
    }
    return 0;
}

/* The string with its ASCII letters in the other case. */
static int change_case(struct tg_cel_run *run, const struct tg_cel_node *call,
                       const struct tg_cel_value *args, char first, char last,
                       struct tg_cel_value *ret)
{
    char *out = tg_cel_alloc(run->scratch, args[0].length + 1);

    if (out == NULL)
        return tg_cel_fail_memory(run, call);
    for (size_t i = 0; i < args[0].length; i++) {
        char c = args[0].text[i];

        out[i] = c >= first && c <= last ? (char)(c ^ 0x20) : c;
    }
    *ret = tg_cel_text(out, args[0].length);
    return 0;
}

int tg_cel_call_lower_ascii(struct tg_cel_run *run, const struct tg_cel_node *call,
                            const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    return change_case(run, call, args, 'A', 'Z', ret);
}

int tg_cel_call_upper_ascii(struct tg_cel_run *run, const struct tg_cel_node *call,
                            const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    return change_case(run, call, args, 'a', 'z', ret);
}

/* Where the next piece to replace, or separator, begins at or behind `from`; an empty one stands
 * before each character, and (when replacing) at the end. */
static const char *next_piece(const struct tg_cel_value *text, const struct tg_cel_value *piece,
                              size_t from)
{
    if (piece->length == 0)
        return text->text + from;
    return memmem(text->text + from, text->length - from, piece->text, piece->length);
}

int tg_cel_call_replace(struct tg_cel_run *run, const struct tg_cel_node *call,
                        const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_builder_text b = {.scratch = run->scratch};
    int64_t left = call->n_args > 3 ? args[3].integer : -1;
    size_t at = 0;

    while (left != 0 && !b.no_memory) {
        const char *found = next_piece(&args[0], &args[1], at);
        size_t to;

        if (found == NULL)
            break;
        to = (size_t)(found - args[0].text);
        tg_cel_put(&b, args[0].text + at, to - at);
        tg_cel_put(&b, args[2].text, args[2].length);
        at = to + args[1].length;
        left--;
        if (args[1].length > 0)
            continue;
        if (at == args[0].length)
            break;
        to = at + tg_cel_character(args[0].text + at);
        tg_cel_put(&b, args[0].text + at, to - at);
        at = to;
    }
    tg_cel_put(&b, args[0].text + at, args[0].length - at);
    if (b.no_memory)
        return tg_cel_fail_memory(run, call);
    *ret = tg_cel_text(b.data == NULL ? "" : b.data, b.n);
    return 0;
}

/* How many pieces: at most `limit` (-1: all). */
static size_t count_pieces(const struct tg_cel_value *text, const struct tg_cel_value *separator,
                           int64_t limit)
{
    size_t n = 1;

    if (separator->length == 0) {
        n = (size_t)tg_cel_size(text);
    } else {
        for (const char *p = next_piece(text, separator, 0); p != NULL;
             p = next_piece(text, separator, (size_t)(p - text->text) + separator->length))
            n++;
    }
    return limit >= 0 && (uint64_t)limit < n ? (size_t)limit : n;
}

int tg_cel_call_split(struct tg_cel_run *run, const struct tg_cel_node *call,
                      const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int64_t limit = call->n_args > 2 ? args[2].integer : -1;
    size_t n = count_pieces(&args[0], &args[1], limit), at = 0;
    struct tg_cel_value *pieces = tg_cel_list_reserve(run->scratch, n, ret);

    if (pieces == NULL)
        return tg_cel_fail_memory(run, call);
    for (size_t i = 0; i < n; i++) {
        size_t end = args[0].length;

        if (i + 1 < n)
            end = args[1].length == 0 ? at + tg_cel_character(args[0].text + at)
                                      : (size_t)(next_piece(&args[0], &args[1], at) - args[0].text);
        pieces[i] = tg_cel_text(args[0].text + at, end - at);
        at = end + args[1].length;
    }
    return 0;
}

int tg_cel_call_substring(struct tg_cel_run *run, const struct tg_cel_node *call,
                          const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int64_t n = (int64_t)tg_cel_size(&args[0]);
    int64_t end = call->n_args > 2 ? args[2].integer : n;
    size_t from, to;

    if (args[1].integer < 0 || args[1].integer > n)
        return out_of_range(run, call, &args[1]);
    if (args[1].integer > end || end > n)
        return out_of_range(run, call, &args[2]);
    from = tg_cel_text_offset(args[0].text, args[0].length, args[1].uinteger);
    to = tg_cel_text_offset(args[0].text, args[0].length, (uint64_t)end);
    *ret = tg_cel_text(args[0].text + from, to - from);
    return 0;
}

/* Unicode's White_Space, as strings.TrimSpace takes it away. */
static size_t space_at(const char *text, size_t n)
{
    static const char *const spaces[] = {
        "\t",           "\n",           "\v",
        "\f",           "\r",           " ",
        "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80",
        "\xe2\x80\x80", "\xe2\x80\x81", "\xe2\x80\x82",
        "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85",
        "\xe2\x80\x86", "\xe2\x80\x87", "\xe2\x80\x88",
        "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
        "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f",
        "\xe3\x80\x80",
    };

    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
        size_t length = strlen(spaces[i]);

        if (length <= n && memcmp(text, spaces[i], length) == 0)
            return length;
    }
    return 0;
}

int tg_cel_call_trim(struct tg_cel_run *run, const struct tg_cel_node *call,
                     const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    const char *text = args[0].text;
    size_t from = 0, to = args[0].length, n;

    (void)run;
    (void)call;
    while (from < to && (n = space_at(text + from, to - from)) > 0)
        from += n;
    for (size_t last = to; from < to; to = last) {
        do {
            last--;
        } while (last > from && ((unsigned char)text[last] & 0xc0) == 0x80);
        if (space_at(text + last, to - last) != to - last)
            break;
    }
    *ret = tg_cel_text(text + from, to - from);
    return 0;
}

int tg_cel_call_string_reverse(struct tg_cel_run *run, const struct tg_cel_node *call,
                               const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    char *out = tg_cel_alloc(run->scratch, args[0].length + 1);

    if (out == NULL)
        return tg_cel_fail_memory(run, call);
    for (size_t i = 0; i < args[0].length;) {
        size_t n = tg_cel_character(args[0].text + i);

        memcpy(out + args[0].length - i - n, args[0].text + i, n);
        i += n;
    }
    *ret = tg_cel_text(out, args[0].length);
    return 0;
}

int tg_cel_call_join(struct tg_cel_run *run, const struct tg_cel_node *call,
                     const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_builder_text b = {.scratch = run->scratch};
    const struct tg_cel_list *list = args[0].list;

    for (size_t i = 0; i < list->n; i++) {
        if (i > 0 && call->n_args > 1)
            tg_cel_put(&b, args[1].text, args[1].length);
        if (list->items[i].tag != TG_CEL_V_STRING)
            return tg_cel_fail_value(run, call, "join: invalid input: ", &list->items[i]);
        tg_cel_put(&b, list->items[i].text, list->items[i].length);
    }
    if (b.no_memory)
        return tg_cel_fail_memory(run, call);
    *ret = tg_cel_text(b.data == NULL ? "" : b.data, b.n);
    return 0;
}

int tg_cel_call_quote(struct tg_cel_run *run, const struct tg_cel_node *call,
                      const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    static const char plain[] = "\a\b\f\n\r\t\v\\\"", letters[] = "abfnrtv\\\"";
    struct tg_cel_builder_text b = {.scratch = run->scratch};

    tg_cel_puts(&b, "\"");
    for (size_t i = 0; i < args[0].length; i++) {
        const char *c = args[0].text + i, *special = *c == '\0' ? NULL : strchr(plain, *c);
        char escaped[2] = {'\\', special == NULL ? '\0' : letters[special - plain]};

        tg_cel_put(&b, special == NULL ? c : escaped, special == NULL ? 1 : 2);
    }
    tg_cel_puts(&b, "\"");
    if (b.no_memory)
        return tg_cel_fail_memory(run, call);
    *ret = tg_cel_text(b.data, b.n);
    return 0;
}
