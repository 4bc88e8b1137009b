/* SPDX-License-Identifier: Apache-2.0 */
/* Semantic versions 2.0.0 (semver.org), as strict as github.com/blang/semver/v4, by which the API
 * server checks `version` attributes of devices: three numbers, no leading "v", no leading zeros,
 * numbers fit 64 bits. */
#ifndef TG_KUBERNETES_VALUES_SEMVER_H
#define TG_KUBERNETES_VALUES_SEMVER_H

#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/error.h"

struct tg_semver {
    uint64_t major, minor, patch;
    const char *pre; /* text between - and +, inside the parsed string, not terminated; NULL if
                        there is none */
    size_t pre_n;
    const char *build; /* text behind the +, to the end of the string; NULL if there is none */
};

/* ret points into s. TG_INVALID_ARGUMENT says what is wrong. */
int tg_semver_parse(const char *s, struct tg_semver *ret, struct tg_error *err);
/* < 0, 0, > 0 by precedence (semver.org, item 11): build metadata plays no part. */
int tg_semver_compare(const struct tg_semver *a, const struct tg_semver *b);

#endif
