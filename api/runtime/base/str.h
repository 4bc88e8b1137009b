/* SPDX-License-Identifier: Apache-2.0 */
/* Strings: NULL-tolerant comparison, prefixes, strict numbers, UTF-8, hashing. */
#ifndef TG_RUNTIME_BASE_STR_H
#define TG_RUNTIME_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Pointer and length; p may lack a NUL. */
struct tg_str {
    const char *p;
    size_t n;
};

/* Equal strings; two NULLs are equal, NULL and "" are not. */
bool tg_streq(const char *a, const char *b);
/* strcmp with NULL before everything. */
int tg_strcmp(const char *a, const char *b);
bool tg_has_prefix(const char *s, const char *prefix);
bool tg_has_suffix(const char *s, const char *suffix);
/* s or fallback when s is NULL or empty. */
const char *tg_or(const char *s, const char *fallback);

/* Whole-string decimal numbers, no blanks, no sign for unsigned, range checked. 0 or -1. */
int tg_parse_i64(const char *s, size_t n, int64_t *ret);
int tg_parse_u64(const char *s, size_t n, uint64_t *ret);

/* True if the n bytes are valid UTF-8 (no surrogates, no overlong forms, <= U+10FFFF). */
bool tg_utf8_valid(const char *s, size_t n);
/* Length of the valid UTF-8 sequence at the start of s and its code point; 0 if there is none. */
size_t tg_utf8_next(const char *s, size_t n, uint32_t *ret);
/* Replaces invalid bytes by '?' in place. */
void tg_utf8_sanitize(char *s, size_t n);

/* FNV-1a, 64 bits: stable over machines and releases (object names are made of it). */
uint64_t tg_hash64(const void *data, size_t n);

#endif
