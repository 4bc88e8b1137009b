/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GangMember: the opaque entry of a claim by which its pod joins a gang (design 4.2):
 *   {apiVersion, kind: GangMember, gang | gangFrom.podLabel, size, role,
 * topology.pack.{required,preferred}} Decoding is strict: what is not understood is an error with
 * the field's name, never a guess.
 */
#ifndef TG_TANGRAM_MEMBER_H
#define TG_TANGRAM_MEMBER_H

#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"

struct tg_member {
    const char *gang; /* name of the Gang in the claim's namespace; NULL with pod_label */
    const char
        *pod_label;   /* gangFrom.podLabel: each value of this label is its own gang; else NULL */
    int64_t size;     /* 0: not given, the Gang is written by a user; > 0: the controller owns it */
    const char *role; /* only with size == 0; NULL: the Gang's nameless role */
    const char *pack_required;  /* only with size > 0; NULL: none */
    const char *pack_preferred; /* only with size > 0; NULL: none */
};

/* Decodes the text of opaque.parameters, exactly as stored (spaces and escapes included). Errors:
 * TG_INVALID_ARGUMENT names the field: unknown field, wrong type, wrong apiVersion or kind, both or
 * neither of gang and gangFrom, size outside 1..TG_GANG_MAX_MEMBERS, size with role, gangFrom
 * without size, topology without size, names that are no valid object name or label. */
int tg_member_decode(const char *json, size_t n, struct tg_arena *arena, struct tg_member **ret,
                     struct tg_error *err);

#define TG_GANG_OBJECT_NAME_SIZE 64

/* The name of the gang object of one label value: the value in lower case, everything outside
 * [a-z0-9-] replaced by '-', trimmed, at most 54 bytes, "gang" if nothing is left, then '-' and the
 * low 32 bits of tg_hash64(value) as 8 hex digits. Never fails; at most 63 bytes. */
void tg_gang_object_name(const char *label_value, char ret[TG_GANG_OBJECT_NAME_SIZE]);

#endif
