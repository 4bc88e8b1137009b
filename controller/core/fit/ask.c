/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/ask.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/model/sort.h"
#include "controller/core/model/taint.h"

void tg_ask_book_init(struct tg_ask_book *book, const struct tg_fleet *fleet,
                      struct tg_arena *arena)
{
    *book = (struct tg_ask_book){.fleet = fleet, .arena = arena};
}

/* Room for one more in a list of the arena: doubles. */
static int reserve(struct tg_arena *arena, void *list, size_t n, size_t *capacity, size_t size,
                   struct tg_error *err)
{
    void *old, *grown;
    int rc = 0;

    if (n < *capacity)
        return 0;
    *capacity = *capacity == 0 ? 8 : *capacity * 2;
    rc = tg_core_alloc(arena, *capacity, size, &grown, err);
    if (rc < 0)
        return rc;
    memcpy(&old, list, sizeof(old));
    if (n > 0)
        memcpy(grown, old, n * size);
    memcpy(list, &grown, sizeof(grown));
    return 0;
}

static int find_class(const struct tg_ask_book *book, const struct tg_exact_request *request,
                      const struct tg_fleet_class **ret, struct tg_error *err)
{
    const struct tg_fleet_class *klass =
        tg_fleet_find_class(book->fleet, request->device_class_name);
    const char *name = tg_or(request->device_class_name, "");

    if (klass == NULL)
        return tg_error_set(err, TG_NOT_FOUND, "there is no DeviceClass %s", name);
    if (klass->kind != TG_CLASS_MANAGED)
        return tg_error_set(err, TG_FAILED_PRECONDITION,
                            klass->kind == TG_CLASS_UNGUARDED
                                ? "DeviceClass %s lacks the guard"
                                : "DeviceClass %s is not managed by this controller",
                            name);
    if (klass->compile_code < 0)
        return tg_error_set(err, (enum tg_code) - klass->compile_code,
                            "DeviceClass %s: selector: %s", name, klass->compile_error);
    *ret = klass;
    return 0;
}

static const char *expression_of(const struct tg_device_selector *selector)
{
    return selector->cel == NULL ? NULL : selector->cel->expression;
}

static int add_selectors(struct tg_ask_book *book, const struct tg_fleet_class *klass,
                         const struct tg_exact_request *request, struct tg_ask *ask,
                         struct tg_error *err)
{
    struct tg_selection **selectors;
    size_t n = 0;
    int rc = tg_core_alloc(book->arena, klass->n_selectors + request->selectors.n,
                           sizeof(struct tg_selection *), &selectors, err);

    for (size_t i = 0; rc == 0 && i < klass->n_selectors; i++)
        rc = tg_selection_get(book->fleet, expression_of(&klass->object->spec->selectors.items[i]),
                              &selectors[n++], err);
    for (size_t i = 0; rc == 0 && i < request->selectors.n; i++) {
        const char *expression = expression_of(&request->selectors.items[i]);

        if (expression == NULL)
            return tg_error_set(
                err, TG_UNIMPLEMENTED,
                "selectors[%zu]: a kind of selector that this version does not know", i);
        rc = tg_selection_get(book->fleet, expression, &selectors[n++], err);
        if (rc < 0)
            return tg_error_wrap(err, "selectors[%zu]", i);
    }
    *ask = (struct tg_ask){
        .klass = klass, .selectors = selectors, .n_selectors = n, .request = request};
    return rc;
}

static bool same_toleration(const struct tg_toleration *a, const struct tg_toleration *b)
{
    return tg_streq(a->key, b->key) && tg_streq(a->operator_, b->operator_) &&
           tg_streq(a->value, b->value) && tg_streq(a->effect, b->effect);
}

static bool same_ask(const struct tg_ask *a, const struct tg_ask *b)
{
    if (a->klass != b->klass || a->n_selectors != b->n_selectors ||
        a->request->tolerations.n != b->request->tolerations.n)
        return false;
    for (size_t i = 0; i < a->n_selectors; i++) {
        if (a->selectors[i] != b->selectors[i])
            return false;
    }
    for (size_t i = 0; i < a->request->tolerations.n; i++) {
        if (!same_toleration(&a->request->tolerations.items[i], &b->request->tolerations.items[i]))
            return false;
    }
    return true;
}

int tg_ask_book_add(struct tg_ask_book *book, const struct tg_exact_request *request,
                    size_t *ret_ask, struct tg_error *err)
{
    const struct tg_fleet_class *klass = NULL;
    struct tg_ask ask;
    int rc = find_class(book, request, &klass, err);

    if (rc == 0)
        rc = add_selectors(book, klass, request, &ask, err);
    if (rc < 0)
        return rc;
    for (*ret_ask = 0; *ret_ask < book->n_asks; (*ret_ask)++) {
        if (same_ask(&book->asks[*ret_ask], &ask))
            return 0;
    }
    rc = reserve(book->arena, &book->asks, book->n_asks, &book->asks_capacity, sizeof(*book->asks),
                 err);
    if (rc == 0)
        book->asks[book->n_asks++] = ask;
    return rc;
}

int tg_ask_shape(const struct tg_ask_book *book, size_t ask, size_t device, bool *ret_known,
                 bool *ret, struct tg_error *err)
{
    const struct tg_ask *a = &book->asks[ask];
    int rc = 0;

    *ret_known = *ret = true;
    for (size_t i = 0; rc == 0 && *ret_known && *ret && i < a->n_selectors; i++)
        rc = tg_selection_of_shape(a->selectors[i], book->fleet, device, ret_known, ret, err);
    return rc;
}

int tg_ask_answer(const struct tg_ask_book *book, size_t ask, size_t device,
                  enum tg_ask_answer *ret, struct tg_error *err)
{
    const struct tg_ask *a = &book->asks[ask];
    const struct tg_fleet_device *row = &book->fleet->devices[device];
    bool match = true;

    *ret = TG_ASK_NO;
    for (size_t i = 0; i < a->n_selectors; i++) {
        int rc = tg_selection_matches(a->selectors[i], book->fleet, device, &match, err);

        if (rc < 0) {
            tg_error_wrap(err, "selector '%.120s' on device %s of pool %s (%s)",
                          tg_selection_expression(a->selectors[i]), row->name, row->pool,
                          row->driver);
            return rc;
        }
        if (!match)
            return 0;
    }
    *ret = TG_ASK_YES;
    for (size_t i = 0; i < row->n_taints; i++) {
        if (!tg_taint_tolerated(row->taints[i], a->request->tolerations.items,
                                a->request->tolerations.n))
            *ret = TG_ASK_TAINTED;
    }
    return 0;
}

int tg_ask_any(const struct tg_ask_book *book, size_t device, bool *ret, struct tg_error *err)
{
    *ret = false;
    for (size_t i = 0; i < book->n_asks && !*ret; i++) {
        enum tg_ask_answer answer;
        int rc = tg_ask_answer(book, i, device, &answer, err);

        if (rc < 0)
            return rc;
        *ret = answer == TG_ASK_YES;
    }
    return 0;
}
