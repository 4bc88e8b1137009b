/* SPDX-License-Identifier: Apache-2.0 */
/* The values of one attribute over the devices of a node, as sets of small
 * numbers: equal values have equal numbers, values of different types never
 * have. */
#ifndef TG_CORE_FIT_VALUES_H
#define TG_CORE_FIT_VALUES_H

#include "controller/core/model/node_view.h"

struct tg_fit_values {
    const size_t *ids; /* ascending */
    size_t n;
    /* has: the device has the attribute. n is 0 with it when the value is of no
     * type that can be compared (a list while lists are off). */
    bool has;
};

struct tg_fit_domain {
    const char *attribute;
    struct tg_fit_values *devices; /* one a device of the view */
    size_t longest;                /* the largest n */
    size_t n_values;               /* different ones */
};

/* The attribute by its fully qualified name; one of the device's driver may be
 * published without the domain, the qualified one wins. Lists count as sets if
 * DRAListTypeAttributes is on, a scalar as a set of one. */
int tg_fit_domain_read(const struct tg_view *view, const char *attribute, struct tg_arena *arena,
                       struct tg_fit_domain *ret, struct tg_error *err);
bool tg_fit_values_meet(const size_t *a, size_t n_a, const size_t *b, size_t n_b);
/* What is in both; ret has room for the shorter one. Returns how many. */
size_t tg_fit_values_intersect(const size_t *a, size_t n_a, const size_t *b, size_t n_b,
                               size_t *ret);

#endif
