/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims made ready for a search: classes looked up, selectors compiled once each, capacity parsed,
 * constraints bound to requests. A book belongs to one decision; its claims may be searched for on
 * any number of nodes, in any combination.
 */
#ifndef TG_CORE_FIT_BOOK_H
#define TG_CORE_FIT_BOOK_H

#include "controller/core/cel/selector.h"
#include "controller/core/fit/fault.h"
#include "controller/core/model/features.h"

/* One distinct expression. It is compiled when it is first met; an error counts only when a device
 * is judged by it, as in the built-in allocator. */
struct tg_fit_selector {
    const char *expression;
    struct tg_selector *compiled; /* NULL: problem says why */
    const char *problem;
};

struct tg_fit_amount {
    const char *name;
    __int128 nanos;
};

/* What a request asks of each of its devices. Equal requests are one want. */
struct tg_fit_want {
    const struct tg_device_class *klass;
    const size_t *selectors; /* of the book: the class's, then the request's */
    size_t n_selectors, n_class_selectors;
    const struct tg_exact_request *request; /* the first of its kind: tolerations */
    bool all, admin;
    const struct tg_fit_amount *capacity;
    size_t n_capacity;
};

/* An exact request, or one alternative of firstAvailable. */
struct tg_fit_choice {
    const struct tg_exact_request *request;
    const char *name;  /* as results have it: "req" or "req/sub" */
    size_t want;       /* of the book */
    size_t count;      /* 0 for All */
    const bool *bound; /* which constraints of the claim cover it */
};

struct tg_fit_request {
    const char *name;
    const struct tg_fit_choice *choices; /* one, or the alternatives in order */
    size_t n_choices;
    bool listed; /* firstAvailable */
};

struct tg_fit_constraint {
    const char *attribute; /* fully qualified */
    bool distinct;
};

struct tg_fit_claim {
    const struct tg_resource_claim *object;
    struct tg_fit_request *requests;
    size_t n_requests;
    const struct tg_fit_constraint *constraints;
    size_t n_constraints;
    /* What is wrong with it, whatever the node: fault, else TG_FAULT_NONE. What stands before it in
     * the claim is judged on the node first: n_sound requests, and n_sound_choices of the next. */
    struct tg_fit_problem problem;
    size_t n_sound, n_sound_choices;
};

/* Where classes come from; NULL: there is none of that name. */
typedef const struct tg_device_class *tg_fit_find_class(const void *data, const char *name);

struct tg_fit_book {
    struct tg_rules rules;
    struct tg_selector_options options; /* of the release of the rules, unless it is changed */
    /* Parts of cards are to be chosen with care for what others lose (loss.h); it costs a look at
     * every device. Whether there is a solution does not depend on it. */
    bool sparing;
    tg_fit_find_class *find_class;
    const void *classes;
    struct tg_arena *arena;
    struct tg_fit_selector *selectors;
    size_t n_selectors, selectors_capacity;
    struct tg_fit_want *wants;
    size_t n_wants, wants_capacity;
};

void tg_fit_book_init(struct tg_fit_book *book, const struct tg_rules *rules,
                      tg_fit_find_class *find_class, const void *classes, struct tg_arena *arena);
/* The claim must outlive the book. What is wrong with it is said in ret->problem, not by the code:
 * TG_RESOURCE_EXHAUSTED is the only failure. */
int tg_fit_book_add(struct tg_fit_book *book, const struct tg_resource_claim *claim,
                    struct tg_fit_claim *ret, struct tg_error *err);

#endif
