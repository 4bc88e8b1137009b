/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/lexer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

size_t tg_cel_column(const char *source, size_t offset)
{
    size_t column = 1;

    for (size_t i = 0; i < offset; i++) {
        if (((unsigned char)source[i] & 0xC0U) != 0x80U)
            column++;
    }
    return column;
}

void tg_cel_lexer_init(struct tg_cel_lexer *lexer, const char *source, size_t length,
                       struct tg_arena *arena)
{
    *lexer = (struct tg_cel_lexer){.source = source, .length = length, .arena = arena};
}

static int fail(const struct tg_cel_lexer *lexer, size_t offset, const char *what,
                struct tg_error *err)
{
    return tg_error_set(err, TG_INVALID_ARGUMENT, "column %zu: %s",
                        tg_cel_column(lexer->source, offset), what);
}

static char peek(const struct tg_cel_lexer *lexer, size_t ahead)
{
    return lexer->at + ahead < lexer->length ? lexer->source[lexer->at + ahead] : '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static void skip_blanks(struct tg_cel_lexer *lexer)
{
    while (lexer->at < lexer->length) {
        char c = peek(lexer, 0);

        if (c == '/' && peek(lexer, 1) == '/') {
            while (lexer->at < lexer->length && peek(lexer, 0) != '\n')
                lexer->at++;
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
            lexer->at++;
        } else {
            return;
        }
    }
}

static size_t put_code_point(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0U | (c >> 6));
        out[1] = (char)(0x80U | (c & 0x3FU));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0U | (c >> 12));
        out[1] = (char)(0x80U | ((c >> 6) & 0x3FU));
        out[2] = (char)(0x80U | (c & 0x3FU));
        return 3;
    }
    out[0] = (char)(0xF0U | (c >> 18));
    out[1] = (char)(0x80U | ((c >> 12) & 0x3FU));
    out[2] = (char)(0x80U | ((c >> 6) & 0x3FU));
    out[3] = (char)(0x80U | (c & 0x3FU));
    return 4;
}

static const struct {
    char escape, meaning;
} simple_escapes[] = {
    {'a', '\a'}, {'b', '\b'},  {'f', '\f'}, {'n', '\n'}, {'r', '\r'},  {'t', '\t'},
    {'v', '\v'}, {'\\', '\\'}, {'?', '?'},  {'"', '"'},  {'\'', '\''}, {'`', '`'},
};

/* How many digits of which base follow \x \u \U and \0..\3. */
static const struct {
    const char *leads;
    int base;
    size_t digits;
    bool lead_is_digit;
} numeric_escapes[] = {
    {"xX", 16, 2, false},
    {"u", 16, 4, false},
    {"U", 16, 8, false},
    {"0123", 8, 3, true},
};

static int numeric_escape(struct tg_cel_lexer *lexer, size_t start, char *out, size_t *used,
                          struct tg_error *err)
{
    char lead = peek(lexer, 0);

    for (size_t k = 0; k < TG_ARRAY_SIZE(numeric_escapes); k++) {
        uint32_t code = 0;

        if (lead == '\0' || strchr(numeric_escapes[k].leads, lead) == NULL)
            continue;
        if (!numeric_escapes[k].lead_is_digit)
            lexer->at++;
        for (size_t i = 0; i < numeric_escapes[k].digits; i++) {
            int digit = digit_value(peek(lexer, 0));

            if (digit < 0 || digit >= numeric_escapes[k].base)
                return fail(lexer, start, "an escape sequence lacks digits", err);
            code = code * (uint32_t)numeric_escapes[k].base + (uint32_t)digit;
            lexer->at++;
        }
        if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
            return fail(lexer, start, "an escape sequence names no Unicode character", err);
        if (code == 0)
            return tg_error_set(
                err, TG_UNIMPLEMENTED,
                "column %zu: NUL characters in strings are not supported in this version",
                tg_cel_column(lexer->source, start));
        *used += put_code_point(out + *used, code);
        return 0;
    }
    return fail(lexer, start, "unknown escape sequence", err);
}

static int escape(struct tg_cel_lexer *lexer, char *out, size_t *used, struct tg_error *err)
{
    size_t start = lexer->at++;
    char c = peek(lexer, 0);

    for (size_t i = 0; i < TG_ARRAY_SIZE(simple_escapes); i++) {
        if (c == simple_escapes[i].escape && lexer->at < lexer->length) {
            out[(*used)++] = simple_escapes[i].meaning;
            lexer->at++;
            return 0;
        }
    }
    return numeric_escape(lexer, start, out, used, err);
}

/* Room for a decoded string and its NUL. An escape is never shorter than what it stands for, and
 * the quotes make room for the NUL: all strings of a source together fit into its length. */
static char *string_room(struct tg_cel_lexer *lexer)
{
    if (lexer->pool == NULL)
        lexer->pool = tg_arena_alloc(lexer->arena, lexer->length + 1);
    return lexer->pool == NULL ? NULL : lexer->pool + lexer->pool_used;
}

/* at stands on the opening quote. */
static int lex_string(struct tg_cel_lexer *lexer, bool raw, struct tg_cel_token *ret,
                      struct tg_error *err)
{
    size_t start = lexer->at;
    char quote = peek(lexer, 0);
    size_t quotes = peek(lexer, 1) == quote && peek(lexer, 2) == quote ? 3 : 1;
    char *out = string_room(lexer);
    size_t used = 0;

    if (out == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "the selector needs more memory than its budget");
    lexer->at += quotes;
    while (lexer->at < lexer->length) {
        char c = peek(lexer, 0);

        if (c == quote && (quotes == 1 || (peek(lexer, 1) == quote && peek(lexer, 2) == quote))) {
            lexer->at += quotes;
            lexer->pool_used += used + 1;
            ret->kind = TG_CEL_TOKEN_STRING;
            ret->string = out;
            return 0;
        }
        if (quotes == 1 && (c == '\n' || c == '\r'))
            break;
        if (c == '\\' && !raw) {
            int rc = escape(lexer, out, &used, err);

            if (rc < 0)
                return rc;
        } else {
            out[used++] = c;
            lexer->at++;
        }
    }
    return fail(lexer, start, "a string is not closed", err);
}

static int lex_double(struct tg_cel_lexer *lexer, size_t start, struct tg_cel_token *ret,
                      struct tg_error *err)
{
    char copy[64];
    size_t n = lexer->at - start;
    char *end = NULL;

    if (n >= sizeof(copy))
        return fail(lexer, start, "a number has too many digits", err);
    memcpy(copy, lexer->source + start, n);
    copy[n] = '\0';
    ret->kind = TG_CEL_TOKEN_DOUBLE;
    ret->real = strtod(copy, &end);
    if (end != copy + n)
        return fail(lexer, start, "malformed number", err);
    return 0;
}

static int lex_hex(struct tg_cel_lexer *lexer, size_t start, struct tg_cel_token *ret,
                   struct tg_error *err)
{
    size_t digits = 0;

    lexer->at += 2;
    for (; digit_value(peek(lexer, 0)) >= 0; lexer->at++, digits++) {
        if (ret->number >> 60 != 0)
            return fail(lexer, start, "a number is out of range", err);
        ret->number = ret->number * 16 + (uint64_t)digit_value(peek(lexer, 0));
    }
    return digits == 0 ? fail(lexer, start, "malformed number", err) : 0;
}

static bool exponent_follows(const struct tg_cel_lexer *lexer)
{
    char c = peek(lexer, 0);
    char sign = peek(lexer, 1);

    if (c != 'e' && c != 'E')
        return false;
    return is_digit(sign) || ((sign == '+' || sign == '-') && is_digit(peek(lexer, 2)));
}

static void skip_digits(struct tg_cel_lexer *lexer)
{
    while (is_digit(peek(lexer, 0)))
        lexer->at++;
}

/* Decimal digits, then perhaps a fraction and an exponent; true if it is a double. */
static bool skip_decimal(struct tg_cel_lexer *lexer)
{
    bool real = false;

    skip_digits(lexer);
    if (peek(lexer, 0) == '.' && is_digit(peek(lexer, 1))) {
        real = true;
        lexer->at++;
        skip_digits(lexer);
    }
    if (exponent_follows(lexer)) {
        real = true;
        lexer->at += 2;
        skip_digits(lexer);
    }
    return real;
}

static int lex_number(struct tg_cel_lexer *lexer, struct tg_cel_token *ret, struct tg_error *err)
{
    size_t start = lexer->at;

    if (peek(lexer, 0) == '0' && (peek(lexer, 1) == 'x' || peek(lexer, 1) == 'X')) {
        if (lex_hex(lexer, start, ret, err) < 0)
            return -TG_INVALID_ARGUMENT;
    } else if (skip_decimal(lexer)) {
        return lex_double(lexer, start, ret, err);
    } else if (tg_parse_u64(lexer->source + start, lexer->at - start, &ret->number) < 0) {
        return fail(lexer, start, "a number is out of range", err);
    }
    ret->kind = TG_CEL_TOKEN_INT;
    if (peek(lexer, 0) == 'u' || peek(lexer, 0) == 'U') {
        ret->kind = TG_CEL_TOKEN_UINT;
        lexer->at++;
    }
    if (is_letter(peek(lexer, 0)) || is_digit(peek(lexer, 0)))
        return fail(lexer, start, "malformed number", err);
    return 0;
}

static bool quote_at(const struct tg_cel_lexer *lexer, size_t ahead)
{
    return peek(lexer, ahead) == '"' || peek(lexer, ahead) == '\'';
}

/* String prefixes: r or R raw, b or B bytes, both in any order. */
static size_t string_prefix(const struct tg_cel_lexer *lexer, bool *ret_raw, bool *ret_bytes)
{
    size_t n = 0;

    *ret_raw = *ret_bytes = false;
    for (; n < 2; n++) {
        char c = peek(lexer, n);

        if ((c == 'r' || c == 'R') && !*ret_raw)
            *ret_raw = true;
        else if ((c == 'b' || c == 'B') && !*ret_bytes)
            *ret_bytes = true;
        else
            break;
    }
    return n;
}

static int lex_word(struct tg_cel_lexer *lexer, struct tg_cel_token *ret, struct tg_error *err)
{
    bool raw, bytes;
    size_t prefix = string_prefix(lexer, &raw, &bytes);

    if (quote_at(lexer, prefix)) {
        if (bytes)
            return tg_error_set(err, TG_UNIMPLEMENTED,
                                "column %zu: bytes literals are not supported in this version",
                                tg_cel_column(lexer->source, lexer->at));
        lexer->at += prefix;
        return lex_string(lexer, raw, ret, err);
    }
    ret->kind = TG_CEL_TOKEN_IDENT;
    while (is_letter(peek(lexer, 0)) || is_digit(peek(lexer, 0)))
        lexer->at++;
    return 0;
}

/* Longer ones first. */
static const char *const punctuation[] = {"==", "!=", "<=", ">=", "&&", "||", "(", ")",
                                          "[",  "]",  "{",  "}",  ".",  ",",  "!", "?",
                                          ":",  "+",  "-",  "*",  "/",  "%",  "<", ">"};

static int lex_punctuation(struct tg_cel_lexer *lexer, struct tg_cel_token *ret,
                           struct tg_error *err)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(punctuation); i++) {
        size_t n = strlen(punctuation[i]);

        if (lexer->length - lexer->at >= n &&
            memcmp(lexer->source + lexer->at, punctuation[i], n) == 0) {
            ret->kind = TG_CEL_TOKEN_PUNCTUATION;
            lexer->at += n;
            return 0;
        }
    }
    return fail(lexer, lexer->at, "a character that CEL does not know", err);
}

int tg_cel_lexer_next(struct tg_cel_lexer *lexer, struct tg_cel_token *ret, struct tg_error *err)
{
    int rc = 0;
    char c;

    skip_blanks(lexer);
    c = peek(lexer, 0);
    *ret = (struct tg_cel_token){.kind = TG_CEL_TOKEN_END, .offset = lexer->at};
    if (lexer->at == lexer->length)
        return 0;
    if (is_letter(c))
        rc = lex_word(lexer, ret, err);
    else if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1))))
        rc = lex_number(lexer, ret, err);
    else if (quote_at(lexer, 0))
        rc = lex_string(lexer, false, ret, err);
    else
        rc = lex_punctuation(lexer, ret, err);
    ret->length = lexer->at - ret->offset;
    return rc;
}
