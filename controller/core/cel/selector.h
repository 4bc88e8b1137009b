/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device selectors: in this version an honest subset of CEL; everything else is refused at compile
 * time by name, never guessed. Accepted: comparisons (== != < <= > >=) of device.driver,
 * device.attributes[D].N, device.capacity[D].N.compareTo(quantity(S)) with literals;
 * attribute.isGreaterThan/isLessThan/compareTo(semver(S)); bool attributes alone; "N" in
 * device.attributes[D], "D" in device.attributes, has(device.attributes[D].N); [N] for .N; && || !
 * and parentheses. Meaning as in Kubernetes: a missing domain is an empty map, a missing attribute
 * is a run-time error absorbed by && and || as CEL does. Two differences, both to the user's
 * advantage or earlier: an attribute of a kind that we do not read (a list) fails only where it is
 * used, and a malformed literal of quantity() or semver() fails at compile time.
 */
#ifndef TG_CORE_CEL_SELECTOR_H
#define TG_CORE_CEL_SELECTOR_H

#include <stdbool.h>

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"

struct tg_selector;

/* TG_UNIMPLEMENTED: valid CEL perhaps, outside the subset (the message quotes what);
 * TG_INVALID_ARGUMENT: a syntax or type error. */
int tg_selector_compile(const char *expression, struct tg_arena *arena, struct tg_selector **ret,
                        struct tg_error *err);
/* The device with the virtual attribute tangram.dev/granted overlaid. A run-time error (no such
 * key, wrong type) is TG_FAILED_PRECONDITION. */
int tg_selector_matches(const struct tg_selector *selector, const char *driver,
                        const struct tg_device *device, bool *ret, struct tg_error *err);

#endif
