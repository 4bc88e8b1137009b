/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/news.h"

#include "controller/core/model/model.h"

/* Changes that are remembered. A reader that lags behind by more looks at everything. */
#define REMEMBERED ((size_t)1 << 16)

bool tg_news_open(const struct tg_fleet *fleet, struct tg_news_reader *reader)
{
    struct tg_news *news = &fleet->model->news;
    bool known = reader->epoch == news->epoch && reader->at >= news->first;

    if (!known) {
        reader->epoch = news->epoch;
        reader->at = news->first + news->nodes.n;
        news->read = reader->at;
    }
    return known;
}

size_t tg_news_next(const struct tg_fleet *fleet, struct tg_news_reader *reader)
{
    struct tg_news *news = &fleet->model->news;

    if (reader->at == news->first + news->nodes.n) {
        news->read = reader->at;
        return TG_NO_INDEX;
    }
    return news->nodes.items[reader->at++ - news->first];
}

uint64_t tg_news_wide(const struct tg_fleet *fleet)
{
    return fleet->model->news.wide;
}

void tg_news_node(struct tg_model *model, size_t node)
{
    struct tg_news *news = &model->news;

    if (node == TG_NO_INDEX)
        return;
    /* Told already, and nobody has read it since. */
    if (news->nodes.n > 0 && news->nodes.items[news->nodes.n - 1] == node &&
        news->read < news->first + news->nodes.n)
        return;
    if (news->nodes.n == REMEMBERED) {
        news->first += news->nodes.n;
        TG_VEC_CLEAR(&news->nodes);
    }
    *TG_VEC_PUSH(&news->nodes) = (uint32_t)node;
}

void tg_news_pool(struct tg_model *model, const struct tg_fleet_pool *pool)
{
    const struct tg_place *told = NULL;

    for (size_t i = 0; i < pool->slices.n; i++) {
        const struct tg_place *place = pool->slices.items[i]->place;

        if (place != NULL && place != told)
            tg_news_node(model, place->index);
        told = place;
    }
    model->news.wide += pool->n_wide > 0 ? 1 : 0;
}

void tg_news_all(struct tg_model *model)
{
    struct tg_news *news = &model->news;

    news->epoch++;
    news->first += news->nodes.n;
    TG_VEC_CLEAR(&news->nodes);
}
