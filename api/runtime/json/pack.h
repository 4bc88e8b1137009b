/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoded structs in few bytes, to keep hundreds of thousands of them. By the field table: what is
 * flagged TG_FIELD_OWN or TG_FIELD_COMMON goes into the bytes of the object, everything else is
 * packed apart and kept once, in a pool, for all objects that have it equal. Whole again, an object
 * is equal to what it was: nothing is dropped here.
 */
#ifndef TG_RUNTIME_JSON_PACK_H
#define TG_RUNTIME_JSON_PACK_H

#include "api/runtime/base/arena.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/json/field.h"
#include "api/runtime/json/pool.h"

/* Appends; what is in the pool then has a reference of these bytes. The cap of the buffer must be
 * large enough for the object, whose size its decoder bounded. */
void tg_json_pack(const struct tg_type *type, const void *object, struct tg_pool *pool,
                  struct tg_buf *out);
/* bytes: what tg_json_pack appended. Fills *target (type->size, zeroed), everything in the arena.
 * -1 if the arena is exhausted. */
int tg_json_unpack(const struct tg_type *type, const void *bytes, const struct tg_pool *pool,
                   struct tg_arena *arena, void *target);
/* Gives back the references of the bytes, which are not unpacked any more. */
void tg_json_pack_release(const struct tg_type *type, const void *bytes, struct tg_pool *pool);

#endif
