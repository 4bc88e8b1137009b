/* SPDX-License-Identifier: Apache-2.0 */
/* URLs as Go's net/url.ParseRequestURI takes them. */
#ifndef TG_CORE_CEL_URL_H
#define TG_CORE_CEL_URL_H

#include <stdbool.h>
#include <stddef.h>

struct tg_cel_span {
    const char *text;
    size_t n;
};

/* The parts, as written but for the scheme (lower case) and percent signs in the host (decoded). */
struct tg_cel_url {
    struct tg_cel_span scheme, user, host, path, query, fragment;
};

bool tg_cel_url_valid(const char *text, size_t n);
bool tg_cel_url_equal(const struct tg_cel_url *a, const struct tg_cel_url *b);

#endif
