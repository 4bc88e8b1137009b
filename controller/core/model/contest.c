/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/contest.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/model/model.h"
#include "controller/core/model/projection.h"
#include "controller/core/model/sort.h"

/* Fleets consist of few kinds of devices, told apart by what the selectors read. */
#define SLOTS 64

struct slot {
    unsigned char key[TG_PROJECTION_MAX];
    size_t n; /* 0: empty */
    struct tg_fleet_class *by;
};

struct reader {
    struct tg_fleet_class *row;
    struct tg_selector **selectors; /* NULL where it is not understood */
    size_t n;
};

struct tg_contest {
    struct reader *managed, *others;
    size_t n_managed, n_others;
    struct slot slots[SLOTS];
};

static void add_readers(struct tg_projection *p, const struct reader *readers, size_t n,
                        const struct tg_device *device)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < readers[i].n; j++) {
            if (readers[i].selectors[j] != NULL)
                tg_projection_add(p, readers[i].selectors[j], device);
        }
}

/* --- who reaches a device --------------------------------------------------------------------- */

static bool matches(const struct reader *reader, const char *driver, const struct tg_device *device)
{
    bool published =
        reader->row->kind == TG_CLASS_UNMANAGED || reader->row->kind == TG_CLASS_UNGUARDED;

    for (size_t i = 0; i < reader->n; i++) {
        bool match = false;
        int rc = 0;

        if (reader->selectors[i] == NULL)
            match = true;
        else if (published)
            rc = tg_selector_matches_published(reader->selectors[i], driver, device, &match, NULL);
        else
            rc = tg_selector_matches(reader->selectors[i], driver, device, &match, NULL);
        if (rc < 0 || !match)
            return false;
    }
    return true;
}

static struct tg_fleet_class *find(const struct reader *readers, size_t n, const char *driver,
                                   const struct tg_device *device)
{
    for (size_t i = 0; i < n; i++)
        if (matches(&readers[i], driver, device))
            return readers[i].row;
    return NULL;
}

static struct tg_fleet_class *look(const struct tg_contest *contest, const char *driver,
                                   const struct tg_device *device)
{
    if (find(contest->managed, contest->n_managed, driver, device) == NULL)
        return NULL;
    return find(contest->others, contest->n_others, driver, device);
}

struct tg_fleet_class *tg_contest_by(struct tg_contest *contest, const char *driver,
                                     const struct tg_device *device)
{
    struct tg_projection key;
    struct slot *slot;

    if (contest->n_managed == 0 || contest->n_others == 0)
        return NULL;
    tg_projection_init(&key, driver, device);
    add_readers(&key, contest->managed, contest->n_managed, device);
    add_readers(&key, contest->others, contest->n_others, device);
    if (!key.fits)
        return look(contest, driver, device);
    slot = &contest->slots[tg_hash64(key.bytes, key.n) % SLOTS];
    if (slot->n != key.n || memcmp(slot->key, key.bytes, key.n) != 0) {
        memcpy(slot->key, key.bytes, key.n);
        slot->n = key.n;
        slot->by = look(contest, driver, device);
    }
    return slot->by;
}

/* --- classes ---------------------------------------------------------------------------------- */

static int compile(const struct tg_fleet *fleet, const struct tg_device_class *klass,
                   struct tg_arena *arena, struct reader *reader, struct tg_error *err)
{
    const struct tg_device_class_spec *spec = klass->spec;
    size_t n = spec == NULL ? 0 : spec->selectors.n;
    int rc = tg_core_alloc(arena, n, sizeof(struct tg_selector *), &reader->selectors, err);

    reader->n = n;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct tg_cel_selector *cel = spec->selectors.items[i].cel;
        struct tg_error why = TG_ERROR_INIT;

        if (cel != NULL && cel->expression != NULL &&
            tg_selector_compile_with(cel->expression, fleet->selectors, arena,
                                     &reader->selectors[i], &why) < 0) {
            reader->selectors[i] = NULL;
            if (why.code == TG_RESOURCE_EXHAUSTED)
                rc = tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s", why.message);
        }
    }
    return rc;
}

/* A managed class that does not compile serves nothing. */
static bool serves(const struct tg_fleet_class *row)
{
    return row->kind == TG_CLASS_MANAGED && row->compile_code == 0;
}

int tg_contest_new(const struct tg_fleet *fleet, struct tg_arena *arena, struct tg_contest **ret,
                   struct tg_error *err)
{
    struct tg_contest *contest;
    int rc = tg_core_alloc(arena, 1, sizeof(*contest), &contest, err);

    if (rc == 0)
        rc = tg_core_alloc(arena, fleet->n_classes, sizeof(*contest->managed), &contest->managed,
                           err);
    if (rc == 0)
        rc =
            tg_core_alloc(arena, fleet->n_classes, sizeof(*contest->others), &contest->others, err);
    for (size_t i = 0; rc == 0 && i < fleet->n_classes; i++) {
        struct tg_fleet_class *row = &fleet->classes[i];
        struct reader *reader = serves(row) ? &contest->managed[contest->n_managed]
                                            : &contest->others[contest->n_others];

        if (serves(row)) {
            *reader =
                (struct reader){.row = row, .selectors = row->selectors, .n = row->n_selectors};
            contest->n_managed++;
        } else if (row->kind != TG_CLASS_MANAGED) {
            *reader = (struct reader){.row = row};
            rc = compile(fleet, row->object, arena, reader, err);
            contest->n_others++;
        }
    }
    if (rc == 0)
        *ret = contest;
    return rc;
}

static size_t first_contested(const struct tg_fleet *fleet, struct tg_fleet_class *row)
{
    struct tg_fleet_walk walk = {.next = 0};
    size_t i = row->contests_first;

    while (i == TG_NO_INDEX && (i = tg_fleet_next_device(fleet, &walk)) != TG_NO_INDEX) {
        if (fleet->devices[i].contested != row->name)
            i = TG_NO_INDEX;
    }
    row->contests_first = i;
    return i;
}

bool tg_fleet_contest(const struct tg_fleet *fleet, size_t i, struct tg_fleet_contest *ret)
{
    for (size_t k = 0; k < fleet->n_classes; k++) {
        const struct tg_fleet_class *row = &fleet->classes[k];
        const struct tg_fleet_device *device;

        if (row->contests == 0 || i-- > 0)
            continue;
        device = &fleet->devices[first_contested(fleet, &fleet->classes[k])];
        *ret = (struct tg_fleet_contest){.klass = row->object,
                                         .devices = row->contests,
                                         .driver = device->driver,
                                         .pool = device->pool,
                                         .device = device->name};
        return true;
    }
    return false;
}

/* What was found out of a content stands until classes change: 0 nothing yet, 1 nobody, else the
 * class's place plus 2. */
static uint32_t *note_of(struct tg_model *model, uint32_t content)
{
    if (content >= model->contests.n) {
        size_t n = model->contests.n;

        TG_VEC_RESERVE(&model->contests, (size_t)content + 1);
        model->contests.n = model->contests.capacity;
        memset(model->contests.items + n, 0,
               (model->contests.n - n) * sizeof(*model->contests.items));
    }
    return &model->contests.items[content];
}

static struct tg_fleet_class *contested_by(struct tg_model *model, struct tg_contest *contest,
                                           const struct tg_fleet_device *row)
{
    struct tg_fleet_class *classes = model->fleet->classes, *by;
    uint32_t *note = note_of(model, row->slot->content);
    struct tg_device device;

    if (*note != 0)
        return *note == 1 ? NULL : &classes[*note - 2];
    tg_arena_reset(model->scratch);
    if (tg_slot_device(model, row->slot, model->scratch, &device, NULL) < 0)
        abort(); /* as tg_xmalloc */
    by = tg_contest_by(contest, row->driver, &device);
    *note = by == NULL ? 1 : (uint32_t)(by - classes) + 2;
    return by;
}

void tg_contests_forget(struct tg_model *model, uint32_t content)
{
    if (content < model->contests.n)
        model->contests.items[content] = 0;
}

void tg_contests_open(struct tg_model *model)
{
    TG_VEC_CLEAR(&model->contests);
    tg_arena_free(model->contest_arena);
    model->contest_arena = tg_arena_new(TG_ARENA_UNLIMITED);
    if (tg_contest_new(model->fleet, model->contest_arena, &model->contest, NULL) < 0)
        abort();
}

void tg_contest_add(struct tg_model *model, struct tg_fleet_device *row)
{
    const struct tg_contest *contest = model->contest;
    struct tg_fleet_class *by;

    if (contest == NULL || contest->n_managed == 0 || contest->n_others == 0)
        return;
    by = contested_by(model, model->contest, row);
    if (by == NULL)
        return;
    row->contested = by->name;
    by->contests++;
    by->contests_first = TG_NO_INDEX;
}

void tg_contest_remove(struct tg_model *model, const struct tg_fleet_device *row)
{
    /* Classes that are no more are forgotten as a whole. */
    if (row->contested == NULL || model->kept_changed)
        return;
    for (size_t i = 0; i < model->fleet->n_classes; i++) {
        struct tg_fleet_class *by = &model->fleet->classes[i];

        if (by->name != row->contested)
            continue;
        by->contests--;
        by->contests_first = TG_NO_INDEX;
    }
}
