/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/gather/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/hash.h"
#include "api/runtime/base/mem.h"

enum { LEAST_SLOTS = 16 };

void tg_names_done(struct tg_names *names)
{
    TG_VEC_DONE(&names->texts);
    TG_VEC_DONE(&names->places);
    free(names->slots);
    *names = (struct tg_names){.n = 0};
}

static const char *text_at(const struct tg_names *names, size_t place)
{
    return names->places.items[place] == 0 ? NULL
                                           : names->texts.items + names->places.items[place] - 1;
}

/* The slot of the name, or the empty one where it would be. A slot whose name is gone stays in use
 * until the table is made anew, so that what was put behind it is found. */
static uint32_t *find_slot(const struct tg_names *names, const char *name)
{
    size_t at = tg_hash_secret(name, strlen(name)) & (names->n_slots - 1);

    for (; names->slots[at] != 0; at = (at + 1) & (names->n_slots - 1)) {
        const char *text = text_at(names, names->slots[at] - 1);

        if (text != NULL && strcmp(text, name) == 0)
            break;
    }
    return &names->slots[at];
}

static void append(struct tg_names *names, const char *name)
{
    size_t n = strlen(name) + 1;

    assert(names->texts.n + n < UINT32_MAX && names->places.n < UINT32_MAX - 1);
    /* By a quarter: half of twice as much would be for nothing. */
    if (names->texts.n + n > names->texts.capacity)
        TG_VEC_RESERVE_EXACTLY(&names->texts, names->texts.n + names->texts.n / 4 + n);
    if (names->places.n == names->places.capacity)
        TG_VEC_RESERVE_EXACTLY(&names->places, names->places.n + names->places.n / 4 + LEAST_SLOTS);
    *TG_VEC_PUSH(&names->places) = (uint32_t)names->texts.n + 1;
    memcpy(names->texts.items + names->texts.n, name, n);
    names->texts.n += n;
    names->n++;
    *find_slot(names, name) = (uint32_t)names->places.n;
}

/* Without those that have gone, and with room for one more. */
static void rebuild(struct tg_names *names)
{
    struct tg_names old = *names;

    *names = (struct tg_names){.n_slots = LEAST_SLOTS};
    while (3 * names->n_slots < 4 * (old.n + 1))
        names->n_slots *= 2;
    names->slots = tg_xcalloc(names->n_slots, sizeof(*names->slots));
    for (size_t i = 0; i < old.places.n; i++) {
        if (old.places.items[i] != 0)
            append(names, text_at(&old, i));
    }
    tg_names_done(&old);
}

void tg_names_add(struct tg_names *names, const char *name)
{
    if (names->n_slots > 0 && *find_slot(names, name) != 0)
        return;
    if (4 * (names->places.n + 1) > 3 * names->n_slots)
        rebuild(names);
    append(names, name);
}

void tg_names_remove(struct tg_names *names, const char *name)
{
    const uint32_t *slot = names->n == 0 ? NULL : find_slot(names, name);

    if (slot == NULL || *slot == 0)
        return;
    names->places.items[*slot - 1] = 0;
    names->n--;
}

const char *tg_names_next(const struct tg_names *names, size_t *at)
{
    while (*at < names->places.n && names->places.items[*at] == 0)
        (*at)++;
    return *at < names->places.n ? text_at(names, (*at)++) : NULL;
}

void tg_names_tidy(struct tg_names *names)
{
    if (names->n == 0)
        tg_names_done(names);
    else if (names->places.n > LEAST_SLOTS && 2 * names->n < names->places.n)
        rebuild(names);
}
