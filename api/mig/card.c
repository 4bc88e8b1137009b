/* SPDX-License-Identifier: Apache-2.0 */
#include "api/mig/card.h"

#include <ctype.h>
#include <string.h>

#include "api/runtime/base/str.h"

#define TEXT_MAX 96 /* longer texts are compared by their beginning */

const struct tg_card *tg_card_find(const char *product_name)
{
    for (size_t i = 0; i < tg_cards_n; i++) {
        for (size_t j = 0; j < tg_cards[i].n_product_names; j++) {
            if (tg_streq(tg_cards[i].product_names[j], product_name))
                return &tg_cards[i];
        }
    }
    return NULL;
}

const struct tg_card *tg_card_find_pci(uint16_t device_id)
{
    for (size_t i = 0; i < tg_cards_n; i++) {
        for (size_t j = 0; j < tg_cards[i].n_pci_device_ids; j++) {
            if (tg_cards[i].pci_device_ids[j] == device_id)
                return &tg_cards[i];
        }
    }
    return NULL;
}

const struct tg_card_profile *tg_card_profile(const struct tg_card *card, const char *name)
{
    for (size_t i = 0; i < card->n_profiles; i++) {
        if (tg_streq(card->profiles[i].name, name))
            return &card->profiles[i];
    }
    return NULL;
}

const struct tg_card_profile *tg_card_profile_by_id(const struct tg_card *card, int gi_profile_id)
{
    for (size_t i = 0; i < card->n_profiles; i++) {
        if (gi_profile_id >= 0 && card->profiles[i].gi_profile_id == gi_profile_id)
            return &card->profiles[i];
    }
    return NULL;
}

static unsigned lesser(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edits that turn `text` into some part of `name`: what stands before and behind it in the name is
 * free, since people leave out "NVIDIA" and "Generation". */
static unsigned edits_to_part(const char *text, const char *name)
{
    size_t n = strnlen(text, TEXT_MAX), m = strnlen(name, TEXT_MAX);
    unsigned row[TEXT_MAX + 1] = {0};
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned above = row[j];
            unsigned replaced = diagonal + (same_letter(text[i - 1], name[j - 1]) ? 0 : 1);
            row[j] = lesser(replaced, lesser(above, row[j - 1]) + 1);
            diagonal = above;
        }
    }
    unsigned best = row[0];
    for (size_t j = 1; j <= m; j++)
        best = lesser(best, row[j]);
    return best;
}

struct suggestion {
    const char *name;
    unsigned edits;
    size_t rest; /* how much longer or shorter the name is */
};

static bool better(const struct suggestion *a, const struct suggestion *b)
{
    return a->edits != b->edits ? a->edits < b->edits : a->rest < b->rest;
}

/* Keeps the `max` best in order; of equals the one that came first. */
static size_t keep_best(struct suggestion *best, size_t n, size_t max, const struct suggestion *one)
{
    size_t at = n;
    while (at > 0 && better(one, &best[at - 1]))
        at--;
    if (at == max)
        return n;
    size_t kept = n < max ? n : max - 1;
    memmove(&best[at + 1], &best[at], (kept - at) * sizeof(*best));
    best[at] = *one;
    return kept + 1;
}

size_t tg_card_suggest(const char *text, const char **ret, size_t max)
{
    struct suggestion best[8];
    size_t length = strnlen(text, TEXT_MAX), n = 0;
    if (max > sizeof(best) / sizeof(best[0]))
        max = sizeof(best) / sizeof(best[0]);
    if (length == 0 || max == 0)
        return 0;
    for (size_t i = 0; i < tg_cards_n; i++) {
        for (size_t j = 0; j < tg_cards[i].n_product_names; j++) {
            const char *name = tg_cards[i].product_names[j];
            size_t other = strlen(name);
            struct suggestion one = {.name = name, .edits = edits_to_part(text, name)};
            one.rest = other > length ? other - length : length - other;
            if (one.edits <= length / 3)
                n = keep_best(best, n, max, &one);
        }
    }
    for (size_t i = 0; i < n; i++)
        ret[i] = best[i].name;
    return n;
}
