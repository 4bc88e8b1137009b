/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of CEL: the whole lexical grammar. */
#ifndef TG_CORE_CEL_LEXER_H
#define TG_CORE_CEL_LEXER_H

#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/arena.h"
#include "controller/core/cel/report.h"

enum tg_cel_token_kind {
    TG_CEL_TOKEN_END,
    TG_CEL_TOKEN_IDENT,
    TG_CEL_TOKEN_ESCAPED_IDENT, /* `a-b` */
    TG_CEL_TOKEN_STRING,
    TG_CEL_TOKEN_BYTES,
    TG_CEL_TOKEN_INT, /* magnitude: the sign is a token of its own */
    TG_CEL_TOKEN_UINT,
    TG_CEL_TOKEN_DOUBLE,
    TG_CEL_TOKEN_TRUE,
    TG_CEL_TOKEN_FALSE,
    TG_CEL_TOKEN_NULL,
    /* Operators, two characters first. */
    TG_CEL_TOKEN_EQUAL,
    TG_CEL_TOKEN_NOT_EQUAL,
    TG_CEL_TOKEN_LESS_EQUAL,
    TG_CEL_TOKEN_GREATER_EQUAL,
    TG_CEL_TOKEN_AND,
    TG_CEL_TOKEN_OR,
    TG_CEL_TOKEN_IN,
    TG_CEL_TOKEN_LESS,
    TG_CEL_TOKEN_GREATER,
    TG_CEL_TOKEN_LEFT_BRACKET,
    TG_CEL_TOKEN_RIGHT_BRACKET,
    TG_CEL_TOKEN_LEFT_BRACE,
    TG_CEL_TOKEN_RIGHT_BRACE,
    TG_CEL_TOKEN_LEFT_PAREN,
    TG_CEL_TOKEN_RIGHT_PAREN,
    TG_CEL_TOKEN_DOT,
    TG_CEL_TOKEN_COMMA,
    TG_CEL_TOKEN_MINUS,
    TG_CEL_TOKEN_NOT,
    TG_CEL_TOKEN_QUESTION,
    TG_CEL_TOKEN_COLON,
    TG_CEL_TOKEN_PLUS,
    TG_CEL_TOKEN_STAR,
    TG_CEL_TOKEN_SLASH,
    TG_CEL_TOKEN_PERCENT,
};

struct tg_cel_token {
    enum tg_cel_token_kind kind;
    size_t offset, length; /* bytes of the source */
    const char *text;      /* STRING, BYTES: decoded, in the arena */
    size_t text_n;
};

struct tg_cel_lexer {
    const struct tg_cel_source *source;
    size_t at; /* next unread byte */
    struct tg_arena *arena;
};

/* TG_INVALID_ARGUMENT: no token of CEL; TG_RESOURCE_EXHAUSTED. */
int tg_cel_lexer_next(struct tg_cel_lexer *lexer, struct tg_cel_token *ret, struct tg_error *err);

#endif
