/* SPDX-License-Identifier: Apache-2.0 */
/* string.format(). Kubernetes has the second version of the library, which prints numbers as
 * English text does (1,234.5 and 1.5 x 10^3); the language profile has the newest, which does not.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/core/cel/calls.h"
#include "controller/core/cel/map.h"
#include "controller/core/cel/number.h"
#include "controller/core/cel/text.h"
#include "controller/core/cel/time.h"

#define PRECISION 6
#define PRECISION_MAX 1000

struct formatter {
    struct tg_cel_run *run;
    const struct tg_cel_node *call;
    struct tg_cel_builder_text out;
};

static int put_string(struct formatter *f, const struct tg_cel_value *v);

static int refuse(struct formatter *f, const char *why, const struct tg_cel_value *v)
{
    return tg_cel_fail_value(f->run, f->call, why, v);
}

static void put_digits(struct formatter *f, uint64_t value, bool negative, const char *format)
{
    char text[80];

    if (negative)
        tg_cel_puts(&f->out, "-");
    if (*format == 'b') {
        char *at = text + sizeof(text) - 1;

        *at = '\0';
        do {
            *--at = (char)('0' + (value & 1));
            value >>= 1;
        } while (value != 0);
        tg_cel_puts(&f->out, at);
        return;
    }
    if (*format == 'd')
        snprintf(text, sizeof(text), "%" PRIu64, value);
    else if (*format == 'o')
        snprintf(text, sizeof(text), "%" PRIo64, value);
    else if (*format == 'x')
        snprintf(text, sizeof(text), "%" PRIx64, value);
    else
        snprintf(text, sizeof(text), "%" PRIX64, value);
    tg_cel_puts(&f->out, text);
}

static void put_integer(struct formatter *f, const struct tg_cel_value *v, const char *format)
{
    bool negative = v->tag == TG_CEL_V_INT && v->integer < 0;

    put_digits(f, negative ? 0 - v->uinteger : v->uinteger, negative, format);
}

static void put_quoted(struct formatter *f, const struct tg_cel_value *v)
{
    tg_cel_puts(&f->out, "\"");
    for (size_t i = 0; i < v->length; i++) {
        char c = v->text[i];

        if (c == '"' || c == '\\')
            tg_cel_puts(&f->out, "\\");
        if (c == '\n' || c == '\t' || c == '\r') {
            tg_cel_puts(&f->out, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
            continue;
        }
        tg_cel_put(&f->out, &v->text[i], 1);
    }
    tg_cel_puts(&f->out, "\"");
}

/* A number inside a list or map. */
static void put_plain_double(struct formatter *f, double value)
{
    char text[400];

    if (isnan(value) || isinf(value)) {
        tg_cel_puts(&f->out, isnan(value) ? "\"NaN\"" : value > 0 ? "\"+Inf\"" : "\"-Inf\"");
        return;
    }
    snprintf(text, sizeof(text), "%.6f", value);
    tg_cel_puts(&f->out, text);
}

/* An element of a list or map: strings quoted, times as the calls that make them. */
static int put_element(struct formatter *f, const struct tg_cel_value *v)
{
    char text[TG_CEL_TIME_TEXT + 1];

    if (f->run->plain)
        return put_string(f, v);
    switch (v->tag) {
    case TG_CEL_V_STRING:
        put_quoted(f, v);
        return 0;
    case TG_CEL_V_BYTES:
        tg_cel_puts(&f->out, "b");
        put_quoted(f, v);
        return 0;
    case TG_CEL_V_DOUBLE:
        put_plain_double(f, v->real);
        return 0;
    case TG_CEL_V_TIMESTAMP:
    case TG_CEL_V_DURATION:
        text[v->tag == TG_CEL_V_TIMESTAMP ? tg_cel_time_text(v, text)
                                          : tg_cel_duration_text(v->integer, text)] = '\0';
        tg_cel_puts(&f->out, v->tag == TG_CEL_V_TIMESTAMP ? "timestamp(\"" : "duration(\"");
        tg_cel_puts(&f->out, text);
        tg_cel_puts(&f->out, "\")");
        return 0;
    default:
        return put_string(f, v);
    }
}

static int put_list(struct formatter *f, const struct tg_cel_list *list)
{
    tg_cel_puts(&f->out, "[");
    for (size_t i = 0; i < list->n; i++) {
        if (i > 0)
            tg_cel_puts(&f->out, ", ");
        if (put_element(f, &list->items[i]) < 0)
            return -1;
    }
    tg_cel_puts(&f->out, "]");
    return 0;
}

struct pair {
    const char *key;
    size_t n;
    const struct tg_cel_value *value;
};

static int by_key(const void *pa, const void *pb)
{
    const struct pair *a = pa, *b = pb;
    int rc = memcmp(a->key, b->key, a->n < b->n ? a->n : b->n);

    return rc != 0 ? rc : (a->n > b->n) - (a->n < b->n);
}

static int put_map(struct formatter *f, const struct tg_cel_map *map)
{
    struct formatter inner = {.run = f->run, .call = f->call, .out = {.scratch = f->out.scratch}};
    struct tg_cel_value *keys = NULL, *values = NULL;
    struct pair *pairs;
    size_t n = 0;

    if (!tg_cel_map_entries(f->run->scratch, map, &keys, &values, &n))
        return tg_cel_fail_memory(f->run, f->call);
    pairs = tg_cel_alloc(f->run->scratch, (n + 1) * sizeof(*pairs));
    if (pairs == NULL)
        return tg_cel_fail_memory(f->run, f->call);
    for (size_t i = 0; i < n; i++) {
        inner.out = (struct tg_cel_builder_text){.scratch = f->out.scratch};
        if (keys[i].tag == TG_CEL_V_DOUBLE || keys[i].tag == TG_CEL_V_NULL)
            return refuse(f, "no formatting function for map key ", &keys[i]);
        if (put_element(&inner, &keys[i]) < 0)
            return -1;
        if (inner.out.no_memory)
            return tg_cel_fail_memory(f->run, f->call);
        pairs[i] =
            (struct pair){inner.out.data == NULL ? "" : inner.out.data, inner.out.n, &values[i]};
    }
    qsort(pairs, n, sizeof(*pairs), by_key);
    tg_cel_puts(&f->out, "{");
    for (size_t i = 0; i < n; i++) {
        tg_cel_puts(&f->out, i == 0 ? "" : ", ");
        tg_cel_put(&f->out, pairs[i].key, pairs[i].n);
        tg_cel_puts(&f->out, f->run->plain ? ": " : ":");
        if (put_element(f, pairs[i].value) < 0)
            return -1;
    }
    tg_cel_puts(&f->out, "}");
    return 0;
}

static void put_double(struct formatter *f, double value)
{
    char text[TG_CEL_NUMBER_TEXT];
    struct tg_cel_value v = tg_cel_double(value);

    if (isinf(value) && f->run->plain)
        tg_cel_puts(&f->out, value > 0 ? "Infinity" : "-Infinity");
    else
        tg_cel_put(&f->out, text, tg_cel_number_text(&v, text));
}

/* %s */
static int put_string(struct formatter *f, const struct tg_cel_value *v)
{
    struct tg_cel_value text = TG_CEL_NULL_VALUE;

    switch (v->tag) {
    case TG_CEL_V_NULL:
        tg_cel_puts(&f->out, "null");
        return 0;
    case TG_CEL_V_LIST:
        return put_list(f, v->list);
    case TG_CEL_V_MAP:
        return put_map(f, v->map);
    case TG_CEL_V_DOUBLE:
        put_double(f, v->real);
        return 0;
    case TG_CEL_V_TYPE:
        tg_cel_puts(&f->out, v->type->name);
        return 0;
    case TG_CEL_V_BOOL:
    case TG_CEL_V_INT:
    case TG_CEL_V_UINT:
    case TG_CEL_V_STRING:
    case TG_CEL_V_BYTES:
    case TG_CEL_V_TIMESTAMP:
    case TG_CEL_V_DURATION:
        if (tg_cel_call_string(f->run, f->call, v, &text) < 0)
            return -1;
        tg_cel_put(&f->out, text.text, text.length);
        return 0;
    default:
        return refuse(f,
                      "string clause can only be used on strings, bools, bytes, ints, doubles, "
                      "maps, lists, types, durations, and timestamps, was given ",
                      v);
    }
}

/* The double of a %f or %e, which takes "NaN" and "Infinity" as well. */
static bool double_of(const struct formatter *f, const struct tg_cel_value *v, double *ret)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};

    *ret = v->real;
    if (v->tag == TG_CEL_V_INT && f->run->plain)
        *ret = (double)v->integer;
    else if (v->tag == TG_CEL_V_UINT && f->run->plain)
        *ret = (double)v->uinteger;
    else if (v->tag == TG_CEL_V_STRING) {
        for (size_t i = 0; i < 3; i++) {
            if (v->length == strlen(words[i]) && memcmp(v->text, words[i], v->length) == 0) {
                *ret = i == 0 ? (double)NAN : i == 1 ? (double)INFINITY : -(double)INFINITY;
                return true;
            }
        }
        return false;
    } else if (v->tag != TG_CEL_V_DOUBLE) {
        return false;
    }
    return true;
}

/* 1234567.5 -> 1,234,567.5 */
static void put_grouped(struct formatter *f, const char *text)
{
    size_t sign = *text == '-' ? 1 : 0, digits = strspn(text + sign, "0123456789");

    for (size_t i = 0; text[i] != '\0'; i++) {
        if (i > sign && i < sign + digits && (sign + digits - i) % 3 == 0)
            tg_cel_puts(&f->out, ",");
        tg_cel_put(&f->out, &text[i], 1);
    }
}

/* 1.5e+03 -> 1.5 x 10 to the 03, in superscript digits */
static void put_power(struct formatter *f, char *text)
{
    static const char *const superscript[] = {
        "\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
        "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
    char *e = strchr(text, 'e');

    tg_cel_put(&f->out, text, (size_t)(e - text));
    tg_cel_puts(&f->out, "\xc3\x97"
                         "10");
    if (e[1] == '-')
        tg_cel_puts(&f->out, "\xe2\x81\xbb");
    for (e += 2; *e != '\0'; e++)
        tg_cel_puts(&f->out, superscript[*e - '0']);
}

/* NaN and the infinities. The English printer has a sign for infinity, and fills up before it in
 * the scientific form. */
static void put_no_number(struct formatter *f, double value, bool scientific, int precision)
{
    const char *word = isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
    int width = value > 0 ? 1 : 2;

    if (!f->run->plain && isinf(value)) {
        word = value > 0 ? "\xe2\x88\x9e" : "-\xe2\x88\x9e";
        for (; scientific && width < precision; width++)
            tg_cel_puts(&f->out, " ");
    }
    tg_cel_puts(&f->out, word);
}

static int put_real(struct formatter *f, const struct tg_cel_value *v, bool scientific,
                    int precision)
{
    char *text = tg_cel_alloc(f->run->scratch, 400 + PRECISION_MAX);
    double value = 0;

    if (text == NULL)
        return tg_cel_fail_memory(f->run, f->call);
    if (!double_of(f, v, &value))
        return refuse(f,
                      scientific ? "scientific clause can only be used on doubles, was given "
                                 : "fixed-point clause can only be used on doubles, was given ",
                      v);
    if (isnan(value) || isinf(value)) {
        put_no_number(f, value, scientific, precision);
        return 0;
    }
    if (value == 0 && !f->run->plain)
        value = 0; /* the English printer writes no minus before it */
    if (scientific)
        snprintf(text, 400 + PRECISION_MAX, "%.*e", precision, value);
    else
        snprintf(text, 400 + PRECISION_MAX, "%.*f", precision, value);
    if (f->run->plain)
        tg_cel_puts(&f->out, text);
    else if (scientific)
        put_power(f, text);
    else
        put_grouped(f, text);
    return 0;
}

static int put_hex(struct formatter *f, const struct tg_cel_value *v, const char *format)
{
    char byte[3];

    if (v->tag == TG_CEL_V_INT || v->tag == TG_CEL_V_UINT) {
        put_integer(f, v, format);
        return 0;
    }
    if (v->tag != TG_CEL_V_STRING && v->tag != TG_CEL_V_BYTES)
        return refuse(f,
                      "hex clause can only be used on integers, byte buffers, and strings, was "
                      "given ",
                      v);
    for (size_t i = 0; i < v->length; i++) {
        snprintf(byte, sizeof(byte), *format == 'x' ? "%02x" : "%02X", (unsigned char)v->text[i]);
        tg_cel_puts(&f->out, byte);
    }
    return 0;
}

static int put_clause(struct formatter *f, const char *clause, int precision,
                      const struct tg_cel_value *v)
{
    bool integer = v->tag == TG_CEL_V_INT || v->tag == TG_CEL_V_UINT;

    switch (*clause) {
    case 's':
        return put_string(f, v);
    case 'd':
        if (f->run->plain && v->tag == TG_CEL_V_DOUBLE) {
            put_double(f, v->real);
            return 0;
        }
        if (!integer)
            return refuse(f, "decimal clause can only be used on integers, was given ", v);
        put_integer(f, v, clause);
        return 0;
    case 'f':
    case 'e':
        return put_real(f, v, *clause == 'e', precision);
    case 'b':
        if (v->tag == TG_CEL_V_BOOL) {
            tg_cel_puts(&f->out, v->boolean ? "1" : "0");
            return 0;
        }
        if (!integer)
            return refuse(f, "only integers and bools can be formatted as binary, was given ", v);
        put_integer(f, v, clause);
        return 0;
    case 'o':
        if (!integer)
            return refuse(f, "octal clause can only be used on integers, was given ", v);
        put_integer(f, v, clause);
        return 0;
    case 'x':
    case 'X':
        return put_hex(f, v, clause);
    default:
        return tg_cel_fail_text(f->run, f->call, "could not parse formatting clause: unrecognized ",
                                clause, tg_cel_character(clause));
    }
}

/* .digits behind the '%'; -1: malformed. */
static int take_precision(const struct tg_cel_value *format, size_t *at)
{
    int precision = 0;
    size_t start;

    if (*at >= format->length || format->text[*at] != '.')
        return PRECISION;
    start = ++*at;
    while (*at < format->length && format->text[*at] >= '0' && format->text[*at] <= '9') {
        precision = precision * 10 + (format->text[*at] - '0');
        if (precision > PRECISION_MAX)
            return -1;
        (*at)++;
    }
    return *at == start ? -1 : precision;
}

int tg_cel_call_format(struct tg_cel_run *run, const struct tg_cel_node *call,
                       const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct formatter f = {.run = run, .call = call, .out = {.scratch = run->scratch}};
    const struct tg_cel_value *format = &args[0];
    size_t next = 0;

    for (size_t i = 0; i < format->length; i++) {
        int precision;

        if (format->text[i] != '%') {
            tg_cel_put(&f.out, &format->text[i], 1);
            continue;
        }
        i++;
        if (i < format->length && format->text[i] == '%') {
            tg_cel_puts(&f.out, "%");
            continue;
        }
        if (i >= format->length)
            return tg_cel_fail(run, call, "unexpected end of string");
        if (next >= args[1].list->n)
            return tg_cel_fail(run, call, "string.format: index out of range: too few arguments");
        precision = take_precision(format, &i);
        if (precision < 0 || i >= format->length)
            return tg_cel_fail(run, call, "string.format: malformed precision");
        if (put_clause(&f, format->text + i, precision, &args[1].list->items[next++]) < 0)
            return -1;
        i += tg_cel_character(format->text + i) - 1;
    }
    if (f.out.no_memory)
        return tg_cel_fail_memory(run, call);
    *ret = tg_cel_text(f.out.data == NULL ? "" : f.out.data, f.out.n);
    return 0;
}
