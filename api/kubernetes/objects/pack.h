/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects as bytes, by their field tables: a tenth of the size of the struct, and equal bytes for
 * equal content (members of maps in the order in which they stand). For those who keep many objects
 * or compare them as a whole. The bytes are for this process only: they have no version.
 */
#ifndef TG_KUBERNETES_OBJECTS_PACK_H
#define TG_KUBERNETES_OBJECTS_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/json/field.h"

/* Where strings live. put gives a number above 0 for a string, get the string of a number. */
struct tg_pack_strings {
    uint32_t (*put)(void *data, const char *s);
    const char *(*get)(void *data, uint32_t number);
    void *data;
};

/* Writes the object of that type into the n bytes at out and returns how many it takes, which may
 * be more than n: then only a part is there (and put was called for all the same). strings NULL:
 * they stand in the bytes themselves. */
size_t tg_pack(const struct tg_type *type, const void *object,
               const struct tg_pack_strings *strings, unsigned char *out, size_t n);
/* The object again, in the arena; its strings are those of get, or copies. NULL: the arena is
 * exhausted. bytes come from tg_pack with a table of strings of the same kind. */
void *tg_unpack(const struct tg_type *type, const unsigned char *bytes,
                const struct tg_pack_strings *strings, struct tg_arena *arena);
/* The same into a struct of the caller, which need not be zeroed: 0, or -1 if the arena is
 * exhausted.
 */
int tg_unpack_into(const struct tg_type *type, const unsigned char *bytes,
                   const struct tg_pack_strings *strings, struct tg_arena *arena, void *ret);
/* Calls visit for the number of each string, as often as put was. */
void tg_pack_each_string(const struct tg_type *type, const unsigned char *bytes,
                         void (*visit)(void *data, uint32_t number), void *data);

#endif
