/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/selection.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "controller/core/model/model.h"
#include "controller/core/model/projection.h"

/* Selectors that are kept although nobody has used them of late. */
#define KEPT 64
/* Of one compiled selector: far more than the API's limits allow it to need. */
#define BUDGET ((size_t)16 << 20)
/* Tuples that a selector may tell apart before they are forgotten: some ask for the UUID. */
#define TUPLES ((size_t)1 << 16)

enum verdict { VERDICT_UNKNOWN, VERDICT_YES, VERDICT_NO, VERDICT_FAILS };

struct verdicts { /* by number: two bits each */
    unsigned char *items;
    size_t n; /* numbers that there is room for */
};

struct tg_selection {
    struct tg_record record;
    struct tg_arena *arena;
    const char *expression;
    struct tg_selector *selector;
    struct verdicts of_shapes, of_contents, of_tuples; /* FAILS of a shape: look at its contents */
    struct tg_blobs tuples;
    size_t holders;
    uint64_t used; /* in which decision last */
    size_t evaluations;
};

static bool is_selection(const struct tg_record *record, const void *key)
{
    return strcmp(((const struct tg_selection *)record)->expression, key) == 0;
}

static void forget_tuples(struct tg_selection *s)
{
    tg_blobs_done(&s->tuples);
    free(s->of_tuples.items);
    s->of_tuples = (struct verdicts){.n = 0};
}

static void free_selection(struct tg_selection *s)
{
    forget_tuples(s);
    free(s->of_shapes.items);
    free(s->of_contents.items);
    tg_arena_free(s->arena);
    free(s);
}

void tg_selections_free(struct tg_model *model)
{
    struct tg_record *record;

    for (size_t at = 0; (record = tg_table_next(&model->selections, &at)) != NULL;)
        free_selection((struct tg_selection *)record);
    tg_table_done(&model->selections);
}

/* The one that nobody holds and that was not used for longest. */
static struct tg_selection *find_idle(const struct tg_model *model)
{
    struct tg_selection *oldest = NULL;
    struct tg_record *record;

    for (size_t at = 0; (record = tg_table_next(&model->selections, &at)) != NULL;) {
        struct tg_selection *s = (struct tg_selection *)record;

        if (s->holders == 0 && (oldest == NULL || s->used < oldest->used))
            oldest = s;
    }
    return oldest;
}

void tg_selections_tick(const struct tg_fleet *fleet)
{
    struct tg_model *model = fleet->model;

    model->decisions++;
    while (model->selections.n > KEPT) {
        struct tg_selection *idle = find_idle(model);

        if (idle == NULL)
            return;
        tg_table_remove(&model->selections, &idle->record);
        free_selection(idle);
    }
}

static int compile(const struct tg_model *model, const char *expression, struct tg_selection *s,
                   struct tg_error *err)
{
    int rc;

    s->arena = tg_arena_new(BUDGET);
    s->expression = tg_arena_strdup(s->arena, expression);
    s->record.hash = (uint32_t)tg_hash_text(TG_HASH_SEED, expression);
    if (s->expression == NULL)
        rc = tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                          "the selector needs more memory than its budget");
    else
        rc = tg_selector_compile_with(expression, &model->selectors, s->arena, &s->selector, err);
    if (rc < 0)
        tg_arena_free(s->arena);
    return rc;
}

int tg_selection_get(const struct tg_fleet *fleet, const char *expression,
                     struct tg_selection **ret, struct tg_error *err)
{
    struct tg_model *model = fleet->model;
    struct tg_selection *s = (struct tg_selection *)tg_table_find(
        &model->selections, tg_hash_text(TG_HASH_SEED, expression), is_selection, expression);

    if (s == NULL) {
        struct tg_selection fresh = {.holders = 0};
        int rc = compile(model, expression, &fresh, err);

        if (rc < 0)
            return rc;
        s = tg_xmalloc(sizeof(*s));
        *s = fresh;
        tg_table_add(&model->selections, &s->record);
    }
    s->used = model->decisions;
    *ret = s;
    return 0;
}

void tg_selection_hold(struct tg_selection *selection)
{
    selection->holders++;
}

void tg_selection_release(struct tg_selection *selection)
{
    selection->holders--;
}

const char *tg_selection_expression(const struct tg_selection *selection)
{
    return selection->expression;
}

static enum verdict known(const struct verdicts *verdicts, uint32_t number)
{
    if (number >= verdicts->n)
        return VERDICT_UNKNOWN;
    return (enum verdict)(verdicts->items[number / 4] >> number % 4 * 2 & 3);
}

static void learn(struct verdicts *verdicts, uint32_t number, enum verdict verdict)
{
    unsigned char *item;

    if (number >= verdicts->n) {
        size_t old = verdicts->n / 4, n = (number / 4 + 16) * 3 / 2;

        verdicts->items = tg_xrealloc(verdicts->items, n);
        memset(verdicts->items + old, 0, n - old);
        verdicts->n = 4 * n;
    }
    item = &verdicts->items[number / 4];
    *item =
        (unsigned char)((*item & ~(3U << number % 4 * 2)) | (unsigned)verdict << number % 4 * 2);
}

static void forget(struct verdicts *verdicts, uint32_t number)
{
    if (known(verdicts, number) != VERDICT_UNKNOWN)
        learn(verdicts, number, VERDICT_UNKNOWN);
}

void tg_selections_forget(struct tg_model *model, uint32_t content)
{
    struct tg_record *record;

    for (size_t at = 0; (record = tg_table_next(&model->selections, &at)) != NULL;)
        forget(&((struct tg_selection *)record)->of_contents, content);
}

void tg_selections_forget_shape(struct tg_model *model, uint32_t shape)
{
    struct tg_record *record;

    for (size_t at = 0; (record = tg_table_next(&model->selections, &at)) != NULL;)
        forget(&((struct tg_selection *)record)->of_shapes, shape);
}

static void learn_tuple(struct tg_selection *s, const struct tg_projection *tuple,
                        enum verdict verdict)
{
    if (s->tuples.n >= TUPLES)
        forget_tuples(s);
    learn(&s->of_tuples, tg_blobs_use(&s->tuples, tuple->bytes, tuple->n), verdict);
}

/* What the device's tuple says, else the selector itself. */
static int evaluate(struct tg_selection *s, const char *driver, const struct tg_device *device,
                    enum verdict *ret, struct tg_error *err)
{
    struct tg_projection tuple;
    bool match = false;
    int rc;

    tg_projection_init(&tuple, driver, device);
    tg_projection_add(&tuple, s->selector, device);
    if (tuple.fits)
        *ret = known(&s->of_tuples, tg_blobs_find(&s->tuples, tuple.bytes, tuple.n));
    if (tuple.fits && (*ret == VERDICT_YES || *ret == VERDICT_NO))
        return 0;
    s->evaluations++;
    rc = tg_selector_matches(s->selector, driver, device, &match, err);
    if (rc < 0 && rc != -TG_FAILED_PRECONDITION)
        return rc;
    *ret = rc < 0 ? VERDICT_FAILS : match ? VERDICT_YES : VERDICT_NO;
    if (tuple.fits)
        learn_tuple(s, &tuple, *ret);
    return rc;
}

static bool reads_key(const void *data, const char *driver, const char *key)
{
    return tg_projection_reads(((const struct tg_selection *)data)->selector, driver, key);
}

/* Of a shape: once for all its devices, if the selector reads nothing that tells them apart and
 * does not fail. */
static int ask_shape(struct tg_selection *s, struct tg_model *model, uint32_t shape,
                     const char *driver, enum verdict *ret, struct tg_error *err)
{
    struct tg_error ignored = TG_ERROR_INIT;
    struct tg_device device;
    int rc = 0;

    *ret = known(&s->of_shapes, shape);
    if (*ret != VERDICT_UNKNOWN)
        return 0;
    *ret = VERDICT_FAILS;
    tg_arena_reset(model->scratch);
    if (!tg_shape_tells(model, shape, reads_key, s)) {
        rc = tg_shape_device(model, shape, model->scratch, &device, err);
        if (rc == 0)
            rc = evaluate(s, driver, &device, ret, &ignored);
    }
    if (rc < 0 && rc != -TG_FAILED_PRECONDITION)
        return ignored.code == TG_OK ? rc : tg_error_set(err, ignored.code, "%s", ignored.message);
    learn(&s->of_shapes, shape, *ret);
    return 0;
}

static int ask_content(struct tg_selection *s, struct tg_model *model, const struct tg_slot *slot,
                       const char *driver, enum verdict *ret, struct tg_error *err)
{
    struct tg_device object;
    int rc = 0;

    *ret = known(&s->of_contents, slot->content);
    if (*ret == VERDICT_YES || *ret == VERDICT_NO)
        return 0;
    tg_arena_reset(model->scratch);
    rc = tg_slot_device(model, slot, model->scratch, &object, err);
    if (rc == 0)
        rc = evaluate(s, driver, &object, ret, err);
    if (rc == 0 || rc == -TG_FAILED_PRECONDITION)
        learn(&s->of_contents, slot->content, *ret);
    return rc;
}

/* Apart from what is known already: that is asked for far more often and needs no room. */
static int find_out(struct tg_selection *selection, const struct tg_fleet *fleet, size_t device,
                    bool *ret, struct tg_error *err)
{
    struct tg_model *model = fleet->model;
    const struct tg_fleet_device *row = &fleet->devices[device];
    struct tg_error own = TG_ERROR_INIT;
    enum verdict verdict = VERDICT_UNKNOWN;
    int rc = ask_shape(selection, model, tg_fleet_shape(fleet, device), row->driver, &verdict,
                       err == NULL ? &own : err);

    if (rc == 0 && verdict == VERDICT_FAILS)
        rc = ask_content(selection, model, row->slot, row->driver, &verdict,
                         err == NULL ? &own : err);
    *ret = verdict == VERDICT_YES;
    return rc;
}

int tg_selection_matches(struct tg_selection *selection, const struct tg_fleet *fleet,
                         size_t device, bool *ret, struct tg_error *err)
{
    enum verdict verdict = known(&selection->of_shapes, tg_fleet_shape(fleet, device));

    if (verdict == VERDICT_UNKNOWN || verdict == VERDICT_FAILS)
        return find_out(selection, fleet, device, ret, err);
    *ret = verdict == VERDICT_YES;
    return 0;
}

int tg_selection_of_shape(struct tg_selection *selection, const struct tg_fleet *fleet,
                          size_t device, bool *ret_known, bool *ret, struct tg_error *err)
{
    enum verdict verdict = VERDICT_UNKNOWN;
    int rc = ask_shape(selection, fleet->model, tg_fleet_shape(fleet, device),
                       fleet->devices[device].driver, &verdict, err);

    *ret_known = verdict == VERDICT_YES || verdict == VERDICT_NO;
    *ret = verdict == VERDICT_YES;
    return rc;
}

size_t tg_selection_evaluations(const struct tg_selection *selection)
{
    return selection->evaluations;
}
