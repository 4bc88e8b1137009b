/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What devices a request accepts. An ask is a request without its name and count: class, selectors
 * and tolerations; equal requests are one ask. What selectors say of devices is known from one
 * decision to the next (model/selection.h).
 */
#ifndef TG_CORE_FIT_ASK_H
#define TG_CORE_FIT_ASK_H

#include "controller/core/model/selection.h"

struct tg_ask {
    const struct tg_fleet_class *klass;
    struct tg_selection *const *selectors; /* the class's, then the request's */
    size_t n_selectors;
    const struct tg_exact_request *request; /* the first one of the kind, for its tolerations */
};

struct tg_ask_book {
    const struct tg_fleet *fleet;
    struct tg_arena *arena;
    struct tg_ask *asks;
    size_t n_asks, asks_capacity;
};

enum tg_ask_answer { TG_ASK_YES, TG_ASK_NO, TG_ASK_TAINTED };

void tg_ask_book_init(struct tg_ask_book *book, const struct tg_fleet *fleet,
                      struct tg_arena *arena);
/* The ask of a request (exactly). TG_NOT_FOUND, TG_FAILED_PRECONDITION: the class is not there, or
 * not one that we may serve; TG_UNIMPLEMENTED, TG_INVALID_ARGUMENT: a selector. */
int tg_ask_book_add(struct tg_ask_book *book, const struct tg_exact_request *request,
                    size_t *ret_ask, struct tg_error *err);
/* What selectors say of all devices that have the shape of that one, taints aside; *ret_known is
 * false where they are to be asked one by one. TG_RESOURCE_EXHAUSTED only. */
int tg_ask_shape(const struct tg_ask_book *book, size_t ask, size_t device, bool *ret_known,
                 bool *ret, struct tg_error *err);
/* Selectors first, then taints, as the built-in allocator. TG_FAILED_PRECONDITION: a selector
 * failed on the device, which ends the whole placement there as well. Who holds the device plays no
 * part here. */
int tg_ask_answer(const struct tg_ask_book *book, size_t ask, size_t device,
                  enum tg_ask_answer *ret, struct tg_error *err);
/* Whether one of the asks at least is answered by yes. Errors as tg_ask_answer. */
int tg_ask_any(const struct tg_ask_book *book, size_t device, bool *ret, struct tg_error *err);

#endif
