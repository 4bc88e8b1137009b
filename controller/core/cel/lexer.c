/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/lexer.h"

#include <stdbool.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "controller/core/cel/unescape.h"

static char peek(const struct tg_cel_lexer *lexer, size_t ahead)
{
    return lexer->at + ahead < lexer->source->n ? lexer->source->text[lexer->at + ahead] : '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void skip_space(struct tg_cel_lexer *lexer)
{
    const char *text = lexer->source->text;
    size_t n = lexer->source->n;

    while (lexer->at < n) {
        char c = text[lexer->at];

        if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f') {
            lexer->at++;
        } else if (c == '/' && peek(lexer, 1) == '/') {
            while (lexer->at < n && text[lexer->at] != '\n')
                lexer->at++;
        } else {
            return;
        }
    }
}

static size_t digits(const struct tg_cel_lexer *lexer, size_t ahead)
{
    size_t n = 0;

    while (is_digit(peek(lexer, ahead + n)))
        n++;
    return n;
}

/* The length of an exponent at `ahead`, 0 if there is none. */
static size_t exponent(const struct tg_cel_lexer *lexer, size_t ahead)
{
    size_t sign = 0, n = 0;

    if (peek(lexer, ahead) != 'e' && peek(lexer, ahead) != 'E')
        return 0;
    if (peek(lexer, ahead + 1) == '+' || peek(lexer, ahead + 1) == '-')
        sign = 1;
    n = digits(lexer, ahead + 1 + sign);
    return n == 0 ? 0 : 1 + sign + n;
}

static void scan_number(struct tg_cel_lexer *lexer, struct tg_cel_token *token)
{
    size_t n = digits(lexer, 0), fraction = 0, e = 0;

    token->kind = TG_CEL_TOKEN_INT;
    if (peek(lexer, 0) == '0' && peek(lexer, 1) == 'x' && is_hex(peek(lexer, 2))) {
        n = 2;
        while (is_hex(peek(lexer, n)))
            n++;
    } else {
        if (peek(lexer, n) == '.')
            fraction = digits(lexer, n + 1);
        if (fraction > 0)
            n += 1 + fraction;
        e = exponent(lexer, n);
        n += e;
    }
    if (fraction > 0 || e > 0) {
        token->kind = TG_CEL_TOKEN_DOUBLE;
    } else if (peek(lexer, n) == 'u' || peek(lexer, n) == 'U') {
        token->kind = TG_CEL_TOKEN_UINT;
        n++;
    }
    token->length = n;
    lexer->at += n;
}

static void scan_ident(struct tg_cel_lexer *lexer, struct tg_cel_token *token)
{
    static const struct {
        const char *word;
        enum tg_cel_token_kind kind;
    } words[] = {
        {"in", TG_CEL_TOKEN_IN},
        {"true", TG_CEL_TOKEN_TRUE},
        {"false", TG_CEL_TOKEN_FALSE},
        {"null", TG_CEL_TOKEN_NULL},
    };
    const char *start = lexer->source->text + lexer->at;
    size_t n = 0;

    while (is_letter(peek(lexer, n)) || is_digit(peek(lexer, n)))
        n++;
    token->kind = TG_CEL_TOKEN_IDENT;
    for (size_t i = 0; i < TG_ARRAY_SIZE(words); i++) {
        if (strlen(words[i].word) == n && memcmp(words[i].word, start, n) == 0)
            token->kind = words[i].kind;
    }
    token->length = n;
    lexer->at += n;
}

static int scan_escaped_ident(struct tg_cel_lexer *lexer, struct tg_cel_token *token,
                              struct tg_error *err)
{
    size_t n = 1;

    while (is_letter(peek(lexer, n)) || is_digit(peek(lexer, n)) ||
           (peek(lexer, n) != '\0' && strchr(".-/ ", peek(lexer, n)) != NULL))
        n++;
    if (n == 1 || peek(lexer, n) != '`')
        return tg_cel_report(err, TG_INVALID_ARGUMENT, lexer->source, lexer->at,
                             "a quoted name takes letters, digits, '_', '.', '-', '/' and spaces "
                             "between two backticks");
    token->kind = TG_CEL_TOKEN_ESCAPED_IDENT;
    token->length = n + 1;
    lexer->at += n + 1;
    return 0;
}

/* Bytes up to the closing quote, or -1. Escapes are stepped over, not judged. */
static long string_end(const struct tg_cel_lexer *lexer, size_t start, char quote, bool triple,
                       bool raw)
{
    const char *text = lexer->source->text;

    for (size_t i = start; i < lexer->source->n; i++) {
        if (text[i] == '\\' && !raw) {
            i++;
        } else if (text[i] == quote) {
            if (!triple)
                return (long)(i - start);
            if (i + 2 < lexer->source->n && text[i + 1] == quote && text[i + 2] == quote)
                return (long)(i - start);
        } else if (!triple && (text[i] == '\n' || text[i] == '\r')) {
            return -1;
        }
    }
    return -1;
}

static int scan_string(struct tg_cel_lexer *lexer, size_t prefix, bool raw, bool bytes,
                       struct tg_cel_token *token, struct tg_error *err)
{
    char quote = peek(lexer, prefix);
    bool triple = peek(lexer, prefix + 1) == quote && peek(lexer, prefix + 2) == quote;
    size_t open = triple ? 3 : 1;
    const char *why = NULL;
    size_t wrong = 0, start = lexer->at + prefix + open;
    long n = string_end(lexer, start, quote, triple, raw);
    char *decoded;

    if (n < 0 && triple) { /* an empty string, and another quote after it */
        triple = false;
        open = 1;
        start = lexer->at + prefix + 1;
        n = 0;
    }
    if (n < 0)
        return tg_cel_report(err, TG_INVALID_ARGUMENT, lexer->source, lexer->at,
                             "a string that is not closed");
    decoded = tg_arena_alloc(lexer->arena, (size_t)n + 1);
    if (decoded == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "the selector needs more memory than its budget");
    why = tg_cel_unescape(lexer->source->text + start, (size_t)n, raw, bytes, decoded,
                          &token->text_n, &wrong);
    if (why != NULL)
        return tg_cel_report(err, TG_INVALID_ARGUMENT, lexer->source, start + wrong, "%s", why);
    token->kind = bytes ? TG_CEL_TOKEN_BYTES : TG_CEL_TOKEN_STRING;
    token->text = decoded;
    token->length = prefix + 2 * open + (size_t)n;
    lexer->at += token->length;
    return 0;
}

/* Is there a string at the lexer, and with how many letters before it? */
static bool string_starts(const struct tg_cel_lexer *lexer, size_t *prefix, bool *raw, bool *bytes)
{
    size_t n = 0;

    *bytes = peek(lexer, n) == 'b' || peek(lexer, n) == 'B';
    n += *bytes ? 1 : 0;
    *raw = peek(lexer, n) == 'r' || peek(lexer, n) == 'R';
    n += *raw ? 1 : 0;
    *prefix = n;
    return peek(lexer, n) == '"' || peek(lexer, n) == '\'';
}

static int scan_operator(struct tg_cel_lexer *lexer, struct tg_cel_token *token,
                         struct tg_error *err)
{
    static const struct {
        char text[3];
        enum tg_cel_token_kind kind;
    } operators[] = {
        {"==", TG_CEL_TOKEN_EQUAL},       {"!=", TG_CEL_TOKEN_NOT_EQUAL},
        {"<=", TG_CEL_TOKEN_LESS_EQUAL},  {">=", TG_CEL_TOKEN_GREATER_EQUAL},
        {"&&", TG_CEL_TOKEN_AND},         {"||", TG_CEL_TOKEN_OR},
        {"<", TG_CEL_TOKEN_LESS},         {">", TG_CEL_TOKEN_GREATER},
        {"[", TG_CEL_TOKEN_LEFT_BRACKET}, {"]", TG_CEL_TOKEN_RIGHT_BRACKET},
        {"{", TG_CEL_TOKEN_LEFT_BRACE},   {"}", TG_CEL_TOKEN_RIGHT_BRACE},
        {"(", TG_CEL_TOKEN_LEFT_PAREN},   {")", TG_CEL_TOKEN_RIGHT_PAREN},
        {".", TG_CEL_TOKEN_DOT},          {",", TG_CEL_TOKEN_COMMA},
        {"-", TG_CEL_TOKEN_MINUS},        {"!", TG_CEL_TOKEN_NOT},
        {"?", TG_CEL_TOKEN_QUESTION},     {":", TG_CEL_TOKEN_COLON},
        {"+", TG_CEL_TOKEN_PLUS},         {"*", TG_CEL_TOKEN_STAR},
        {"/", TG_CEL_TOKEN_SLASH},        {"%", TG_CEL_TOKEN_PERCENT},
    };
    const char *start = lexer->source->text + lexer->at;
    size_t left = lexer->source->n - lexer->at, n = 0;

    for (size_t i = 0; i < TG_ARRAY_SIZE(operators); i++) {
        n = strlen(operators[i].text);
        if (n <= left && memcmp(start, operators[i].text, n) == 0) {
            token->kind = operators[i].kind;
            token->length = n;
            lexer->at += n;
            return 0;
        }
    }
    for (n = 1; n < left && ((unsigned char)start[n] & 0xc0) == 0x80; n++) {
    }
    return tg_cel_report(err, TG_INVALID_ARGUMENT, lexer->source, lexer->at,
                         "'%.*s' is no token of CEL%s", (int)n, start,
                         *start == '='   ? "; equality is '=='"
                         : *start == '&' ? "; and is '&&'"
                         : *start == '|' ? "; or is '||'"
                                         : "");
}

int tg_cel_lexer_next(struct tg_cel_lexer *lexer, struct tg_cel_token *ret, struct tg_error *err)
{
    size_t prefix = 0;
    bool raw = false, bytes = false;
    char c;

    skip_space(lexer);
    *ret = (struct tg_cel_token){.kind = TG_CEL_TOKEN_END, .offset = lexer->at};
    if (lexer->at >= lexer->source->n)
        return 0;
    if (string_starts(lexer, &prefix, &raw, &bytes))
        return scan_string(lexer, prefix, raw, bytes, ret, err);
    c = peek(lexer, 0);
    if (is_letter(c)) {
        scan_ident(lexer, ret);
        return 0;
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1)))) {
        scan_number(lexer, ret);
        return 0;
    }
    if (c == '`')
        return scan_escaped_ident(lexer, ret, err);
    return scan_operator(lexer, ret, err);
}
