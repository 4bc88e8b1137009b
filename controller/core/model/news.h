/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has changed in the rows of a fleet since somebody looked last: nodes, one by one, of which
 * what they say, what is left on them, their devices or who holds those is another. What is
 * computed out of a node's rows (gang/offer.h) is kept up to date by it, whoever computes it, and
 * what was assumed and taken back is told as any other change. Private to controller/core.
 */
#ifndef TG_CORE_MODEL_NEWS_H
#define TG_CORE_MODEL_NEWS_H

#include "controller/core/model/view.h"

/* How far somebody has read; zeroed at first. */
struct tg_news_reader {
    uint64_t at, epoch;
};

/* false: too much has changed, everything is to be looked at again (the first time, too). true: the
 * nodes that tg_news_next gives. Either way the reader is up to date when it has read them all. */
bool tg_news_open(const struct tg_fleet *fleet, struct tg_news_reader *reader);
/* The row of the next node, perhaps one that is no more; TG_NO_INDEX: that was all. */
size_t tg_news_next(const struct tg_fleet *fleet, struct tg_news_reader *reader);

/* Counts what reaches more nodes than the rows tell: devices that are not of one node. What was
 * found out by the search for devices (fit/search.h) counts only while it is the same. */
uint64_t tg_news_wide(const struct tg_fleet *fleet);

#endif
