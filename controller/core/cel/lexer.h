/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of CEL: the whole lexical grammar, so that what the parser refuses is quoted as it stands.
 */
#ifndef TG_CORE_CEL_LEXER_H
#define TG_CORE_CEL_LEXER_H

#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"

enum tg_cel_token_kind {
    TG_CEL_TOKEN_END,
    TG_CEL_TOKEN_IDENT, /* keywords included: in, true, false, null */
    TG_CEL_TOKEN_STRING,
    TG_CEL_TOKEN_INT, /* magnitude: the sign is a token of its own */
    TG_CEL_TOKEN_UINT,
    TG_CEL_TOKEN_DOUBLE,
    TG_CEL_TOKEN_PUNCTUATION, /* one of ( ) [ ] { } . , ! ? : + - * / % == != < <= > >= && || */
};

struct tg_cel_token {
    enum tg_cel_token_kind kind;
    size_t offset, length; /* bytes of the source */
    const char *string;    /* STRING: decoded, in the arena */
    uint64_t number;       /* INT, UINT */
    double real;           /* DOUBLE */
};

struct tg_cel_lexer {
    const char *source;
    size_t length;
    size_t at; /* next unread byte */
    struct tg_arena *arena;
    char *pool; /* where decoded strings go */
    size_t pool_used;
};

/* source must be valid UTF-8. */
void tg_cel_lexer_init(struct tg_cel_lexer *lexer, const char *source, size_t length,
                       struct tg_arena *arena);
/* TG_INVALID_ARGUMENT: no token of CEL; TG_UNIMPLEMENTED: one outside the subset (bytes, NUL in
 * strings). */
int tg_cel_lexer_next(struct tg_cel_lexer *lexer, struct tg_cel_token *ret, struct tg_error *err);
/* The column (in characters, from 1) of a byte offset. */
size_t tg_cel_column(const char *source, size_t offset);

#endif
