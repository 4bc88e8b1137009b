/* SPDX-License-Identifier: Apache-2.0 */
#include "api/mig/layout.h"

#include <stddef.h>

static const char *const engine_names[TG_CARD_ENGINES] = {
    [TG_CARD_COPY] = "copy", [TG_CARD_DECODER] = "decoder", [TG_CARD_ENCODER] = "encoder",
    [TG_CARD_JPEG] = "JPEG", [TG_CARD_OFA] = "OFA",
};

static int check_alone(const struct tg_card *card, const struct tg_layout_instance *one,
                       struct tg_error *err)
{
    if (one->profile < card->profiles || one->profile >= card->profiles + card->n_profiles)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "profile %s does not exist on %s",
                            one->profile->name, card->id);
    if (one->start >= 8 || ((one->profile->starts >> one->start) & 1) == 0)
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "profile %s cannot start at memory slice %u of %s", one->profile->name,
                            one->start, card->id);
    return 0;
}

static int check_windows(const struct tg_layout_instance *instances, size_t n, struct tg_error *err)
{
    for (size_t i = 1; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct tg_layout_instance *a = &instances[j], *b = &instances[i];
            if ((tg_layout_window(a->profile, a->start) & tg_layout_window(b->profile, b->start)) !=
                0)
                return tg_error_set(err, TG_FAILED_PRECONDITION, "%s at %u and %s at %u overlap",
                                    a->profile->name, a->start, b->profile->name, b->start);
        }
    }
    return 0;
}

static int check_counts(const struct tg_card *card, const struct tg_layout_instance *instances,
                        size_t n, struct tg_error *err)
{
    for (size_t p = 0; p < card->n_profiles; p++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            count += instances[i].profile == &card->profiles[p];
        if (count > card->profiles[p].max_instances)
            return tg_error_set(err, TG_FAILED_PRECONDITION,
                                "%zu instances of %s: %s takes at most %u", count,
                                card->profiles[p].name, card->id, card->profiles[p].max_instances);
    }
    return 0;
}

static const struct tg_card_profile *full_size(const struct tg_card *card)
{
    for (size_t p = 0; p < card->n_profiles; p++) {
        if (card->profiles[p].memory_slices == card->memory_slices && !card->profiles[p].graphics)
            return &card->profiles[p];
    }
    return NULL;
}

static int check_engines(const struct tg_card *card, const struct tg_layout_instance *instances,
                         size_t n, struct tg_error *err)
{
    const struct tg_card_profile *full = full_size(card);
    for (size_t e = 0; full != NULL && e < TG_CARD_ENGINES; e++) {
        int used = 0;
        for (size_t i = 0; i < n; i++)
            used += instances[i].profile->engines[e] > 0 ? instances[i].profile->engines[e] : 0;
        if (full->engines[e] != TG_CARD_UNKNOWN && used > full->engines[e])
            return tg_error_set(err, TG_FAILED_PRECONDITION, "%d %s engines: %s has %d", used,
                                engine_names[e], card->id, full->engines[e]);
    }
    return 0;
}

int tg_layout_check(const struct tg_card *card, const struct tg_layout_instance *instances,
                    size_t n, struct tg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        int rc = check_alone(card, &instances[i], err);
        if (rc < 0)
            return rc;
    }
    int rc = check_windows(instances, n, err);
    if (rc == 0)
        rc = check_counts(card, instances, n, err);
    if (rc == 0)
        rc = check_engines(card, instances, n, err);
    return rc;
}
