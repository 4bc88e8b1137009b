/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which devices are tried, and which of them are alike. Devices
 * that draw on common counters form a part; two parts are alike if their
 * devices and counters are, one by one, in everything that the search can see.
 * Devices with one orbit are then interchangeable as long as nothing has been
 * taken from their parts. A device without counters is a part of its own.
 */
#ifndef TG_CORE_FIT_ORDER_H
#define TG_CORE_FIT_ORDER_H

#include "controller/core/fit/state.h"

#define TG_NO_DEVICE ((size_t)-1)

struct tg_fit_order {
    size_t *devices; /* of the view, in the order in which they are tried; n */
    size_t n;
    size_t *orbit, *part; /* one a device of the view */
    size_t *harm;         /* one an orbit: devices of its part that it keeps from being taken */
    /* One a part: */
    size_t *taken; /* takes in it, kept by the search */
    size_t *class; /* alike parts have one */
    size_t *head;  /* its first device, TG_NO_DEVICE: none */
    size_t *next;  /* one a device: the next of its part, ascending */
};

/* Devices that some choice of the claims may want (an answer that is an error
 * included). as_given: in the order of the view; else least harmful first,
 * alike ones side by side, else as given. */
int tg_fit_order_init(struct tg_fit_order *order, const struct tg_fit_state *state, bool as_given,
                      struct tg_error *err);

#endif
