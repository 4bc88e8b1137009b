/* SPDX-License-Identifier: Apache-2.0 */
/* What a Gang wants of its topology beside pack of the whole, as placement takes it. */
#ifndef TG_CONTROLLER_COMMIT_RULES_H
#define TG_CONTROLLER_COMMIT_RULES_H

#include "api/tangram/gang.h"
#include "controller/core/gang/place.h"

/* The number of a role in rules and pieces: 0 for members without one, or without a Gang. */
size_t tg_commit_role(const struct tg_gang *gang, const char *role);
/* spread and pack of the whole and of roles, and deviceConstraints; gang may be NULL. Memory is the
 * arena's. TG_NOT_FOUND: an unknown level, with the known ones; TG_INVALID_ARGUMENT: an unknown
 * role; TG_RESOURCE_EXHAUSTED. */
int tg_commit_rules(const struct tg_configuration *configuration, const struct tg_gang *gang,
                    struct tg_arena *arena, const struct tg_place_rule **ret, size_t *ret_n,
                    struct tg_error *err);

#endif
