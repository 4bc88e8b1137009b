/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "controller/core/gang/racks.h"
#include "controller/core/model/make.h"
#include "controller/core/model/news.h"
#include "controller/core/pack/residents.h"

#define UNSEEN UINT8_MAX
#define SAMPLES 256
/* Room of nodes is counted in steps of at least 1/64 of what a node has, so that nodes that differ
 * by a trifle are alike. */
#define STEPS 64
#define CPU_STEP 250 /* milli */
#define MIB ((int64_t)1 << 20)

struct sample { /* the first device by name of its kind and size */
    size_t device;
    uint8_t kind;
    uint16_t share;
};

struct tg_kinds {
    const struct tg_fleet *fleet;
    struct tg_news_reader reader;
    uint64_t version;
    /* By tg_make.kind: */
    uint8_t number[TG_MAKE_KINDS + 2], before[TG_MAKE_KINDS + 2];
    uint8_t slices[TG_MAKE_KINDS + 2]; /* memory slices of a card, as far as windows reach */
    unsigned n, n_before;
    struct sample samples[SAMPLES];
    size_t n_samples;
    struct tg_racks *racks;
};

struct tg_kinds *tg_kinds_new(const struct tg_fleet *fleet)
{
    struct tg_kinds *kinds = tg_xcalloc(1, sizeof(*kinds));

    kinds->fleet = fleet;
    kinds->racks = tg_racks_new(fleet);
    memset(kinds->number, UNSEEN, sizeof(kinds->number));
    return kinds;
}

void tg_kinds_free(struct tg_kinds *kinds)
{
    if (kinds != NULL)
        tg_racks_free(kinds->racks);
    free(kinds);
}

void tg_kinds_set_levels(struct tg_kinds *kinds, const struct tg_level *levels, size_t n)
{
    tg_racks_set_levels(kinds->racks, levels, n);
    kinds->reader = (struct tg_news_reader){.at = 0};
}

/* --- numbers ---------------------------------------------------------------------------------- */

static void find_makes(struct tg_kinds *kinds, bool *seen)
{
    const struct tg_fleet *fleet = kinds->fleet;

    memset(kinds->slices, 0, sizeof(kinds->slices));
    for (size_t d = 0; d < fleet->device_rows; d++) {
        struct tg_make make =
            fleet->devices[d].slot == NULL ? (struct tg_make){.kind = 0} : tg_make_of(fleet, d);
        unsigned end = (unsigned)make.start + make.size;

        if (make.kind == 0)
            continue;
        seen[make.kind] = true;
        if (make.size > 0 && end > kinds->slices[make.kind])
            kinds->slices[make.kind] = (uint8_t)end;
    }
}

struct named {
    const char *name;
    uint16_t kind;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static void number_kinds(struct tg_kinds *kinds, const bool *seen)
{
    struct named list[TG_MAKE_KINDS + 2];
    unsigned n = 0;

    for (unsigned i = 0; i < TG_MAKE_KINDS + 2; i++) {
        if (seen[i])
            list[n++] = (struct named){.name = tg_make_kind_name(kinds->fleet, (uint16_t)i),
                                       .kind = (uint16_t)i};
    }
    qsort(list, n, sizeof(list[0]), by_name);
    memcpy(kinds->before, kinds->number, sizeof(kinds->before));
    kinds->n_before = kinds->n;
    memset(kinds->number, UNSEEN, sizeof(kinds->number));
    /* The last number is for all that are too many. */
    for (unsigned i = 0; i < n; i++)
        kinds->number[list[i].kind] = (uint8_t)(i < TG_PACK_KINDS_MAX ? i : TG_PACK_KINDS_MAX - 1);
    kinds->n = n < TG_PACK_KINDS_MAX ? n : TG_PACK_KINDS_MAX;
}

static uint16_t share_of(const struct tg_kinds *kinds, struct tg_make make)
{
    unsigned slices = kinds->slices[make.kind];

    return make.size == 0 || slices == 0 ? TG_PACK_CARD
                                         : (uint16_t)(make.size * TG_PACK_CARD / slices);
}

static bool has_sample(const struct tg_kinds *kinds, struct tg_make make)
{
    for (size_t i = 0; i < kinds->n_samples; i++) {
        if (kinds->samples[i].kind == kinds->number[make.kind] &&
            kinds->samples[i].share == share_of(kinds, make))
            return true;
    }
    return kinds->n_samples == SAMPLES;
}

/* False: of a kind that has no number yet. */
static bool add_sample(struct tg_kinds *kinds, size_t device)
{
    struct tg_make make = tg_make_of(kinds->fleet, device);

    if (kinds->number[make.kind] == UNSEEN)
        return false;
    if (!has_sample(kinds, make))
        kinds->samples[kinds->n_samples++] = (struct sample){
            .device = device, .kind = kinds->number[make.kind], .share = share_of(kinds, make)};
    return true;
}

/* False: there is a device of a kind without a number. Devices that belong to no node are no news
 * of any, so that theirs may be new. */
static bool find_samples(struct tg_kinds *kinds)
{
    struct tg_fleet_walk walk = {.next = 0};
    bool numbered = true;
    size_t device;

    kinds->n_samples = 0;
    while ((device = tg_fleet_next_device(kinds->fleet, &walk)) != TG_NO_INDEX)
        numbered = add_sample(kinds, device) && numbered;
    return numbered;
}

/* A device may have gone, and its row be another's. */
static bool samples_stand(const struct tg_kinds *kinds)
{
    for (size_t i = 0; i < kinds->n_samples; i++) {
        const struct sample *sample = &kinds->samples[i];
        struct tg_make make;

        if (kinds->fleet->devices[sample->device].slot == NULL)
            return false;
        make = tg_make_of(kinds->fleet, sample->device);
        if (kinds->number[make.kind] != sample->kind || share_of(kinds, make) != sample->share)
            return false;
    }
    return true;
}

static void count_all(struct tg_kinds *kinds)
{
    bool seen[TG_MAKE_KINDS + 2] = {false};

    find_makes(kinds, seen);
    number_kinds(kinds, seen);
    find_samples(kinds);
    for (size_t i = 0; i < kinds->fleet->n_nodes; i++)
        tg_racks_look(kinds->racks, i);
    (void)tg_racks_settle(kinds->racks);
    kinds->version++;
}

static bool knows(const struct tg_kinds *kinds, size_t node)
{
    const struct tg_fleet_node *row = &kinds->fleet->nodes[node];

    for (size_t i = 0; i < row->n_devices; i++) {
        struct tg_make make = tg_make_of(kinds->fleet, row->devices[i]);

        if (kinds->number[make.kind] == UNSEEN || !has_sample(kinds, make) ||
            (make.size > 0 && make.start + make.size > kinds->slices[make.kind]))
            return false;
    }
    return true;
}

uint64_t tg_kinds_update(struct tg_kinds *kinds)
{
    bool known = tg_news_open(kinds->fleet, &kinds->reader);
    size_t node;

    while ((node = tg_news_next(kinds->fleet, &kinds->reader)) != TG_NO_INDEX) {
        known = known && knows(kinds, node);
        if (known)
            tg_racks_look(kinds->racks, node);
    }
    known = known && !tg_racks_settle(kinds->racks);
    if (!known || (!samples_stand(kinds) && !find_samples(kinds)))
        count_all(kinds);
    return kinds->version;
}

uint64_t tg_kinds_renumbered(const struct tg_kinds *kinds, uint64_t set)
{
    uint64_t now = 0;

    if (set == TG_PACK_ANY_KIND)
        return set;
    for (unsigned i = 0; i < TG_MAKE_KINDS + 2; i++) {
        if (kinds->before[i] != UNSEEN && kinds->number[i] != UNSEEN &&
            (set >> kinds->before[i] & 1) != 0)
            now |= (uint64_t)1 << kinds->number[i];
    }
    return now == 0 ? TG_PACK_ANY_KIND : now;
}

/* --- nodes ------------------------------------------------------------------------------------ */

struct card { /* of a node, while its devices are gone through */
    uint32_t card;
    uint16_t kind; /* of tg_make */
    uint16_t free;
    uint64_t taken; /* memory slices */
    unsigned open;  /* sizes of partitions that have a place, a bit each (tg_pack_node.open) */
};
struct reading {
    const struct tg_kinds *kinds;
    struct card cards[TG_PACK_CARDS_MAX];
    unsigned n;
    const char *holders[TG_PACK_CARDS_MAX]; /* of whole cards */
    unsigned held[TG_PACK_CARDS_MAX], n_holders;
};

static struct card *card_of(struct reading *r, struct tg_make make)
{
    for (unsigned i = 0; make.card != 0 && i < r->n; i++) {
        if (r->cards[i].card == make.card && r->cards[i].kind == make.kind)
            return &r->cards[i];
    }
    if (r->n == TG_PACK_CARDS_MAX)
        return NULL;
    r->cards[r->n] = (struct card){.card = make.card, .kind = make.kind, .free = TG_PACK_CARD};
    return &r->cards[r->n++];
}

static void note_holder(struct reading *r, const char *holder)
{
    unsigned i = 0;

    while (i < r->n_holders && r->holders[i] != holder)
        i++;
    if (i == TG_PACK_CARDS_MAX)
        return;
    if (i == r->n_holders)
        r->holders[r->n_holders++] = holder;
    r->held[i]++;
}

static uint64_t window_of(struct tg_make make)
{
    return (make.size >= 64 ? UINT64_MAX : ((uint64_t)1 << make.size) - 1) << make.start % 64;
}

static void read_device(struct reading *r, size_t device)
{
    const struct tg_fleet_device *row = &r->kinds->fleet->devices[device];
    struct tg_make make = tg_make_of(r->kinds->fleet, device);
    struct card *card = card_of(r, make);

    if (card == NULL)
        return;
    if (row->shared) {
        unsigned left = tg_make_left(r->kinds->fleet, device);

        card->free = left < card->free ? (uint16_t)left : card->free;
        return;
    }
    if (row->holder == NULL && row->unsupported == NULL && row->contested == NULL)
        return;
    if (make.size > 0) {
        card->taken |= window_of(make);
        return;
    }
    card->free = 0;
    if (row->holder != NULL)
        note_holder(r, row->holder);
}

/* Which place a partition of so many memory slices needs; 0: of a size that is not counted. */
static unsigned place_of(unsigned size)
{
    for (unsigned place = 0; place < TG_PACK_PLACES; place++) {
        if (size == 1U << place)
            return place + 1;
    }
    return 0;
}

/* When it is known what is taken of each card. */
static void read_place(struct reading *r, size_t device)
{
    const struct tg_fleet_device *row = &r->kinds->fleet->devices[device];
    struct tg_make make = tg_make_of(r->kinds->fleet, device);
    unsigned place = place_of(make.size);
    struct card *card = place == 0 ? NULL : card_of(r, make);

    if (card == NULL || row->holder != NULL || row->unsupported != NULL || row->contested != NULL)
        return;
    if (card->free > 0 && (card->taken & window_of(make)) == 0)
        card->open |= 1U << (place - 1);
}

/* Of a resource that the node offers: `room` of what is left or all, in steps. */
static int64_t room_of(const struct tg_fleet_node *row, const char *name, int64_t unit,
                       int64_t least, bool empty)
{
    for (size_t i = 0; i < row->n_rooms; i++) {
        const struct tg_fleet_room *room = &row->rooms[i];
        int64_t all = room->allocatable / unit, step = least, left;

        if (strcmp(room->name, name) != 0)
            continue;
        while (step <= all / STEPS / 2)
            step *= 2;
        left = empty ? all : (room->allocatable - room->used) / unit;
        return left <= 0 ? 0 : left - left % step;
    }
    return 0;
}

static void read_room(const struct tg_kinds *kinds, size_t row, bool empty,
                      struct tg_pack_node *ret)
{
    const struct tg_fleet_node *node = &kinds->fleet->nodes[row];

    *ret = (struct tg_pack_node){
        .cpu = room_of(node, TG_RESOURCE_CPU, 1, CPU_STEP, empty),
        .memory = room_of(node, TG_RESOURCE_MEMORY, MIB, 1, empty),
        .domain = tg_racks_of(kinds->racks, row),
    };
}

void tg_kinds_node(const struct tg_kinds *kinds, size_t row, struct tg_pack_node *ret,
                   uint64_t *ret_residents)
{
    const struct tg_fleet_node *node = &kinds->fleet->nodes[row];
    struct reading r = {.kinds = kinds, .n = 0};

    for (size_t i = 0; i < node->n_devices; i++)
        read_device(&r, node->devices[i]);
    for (size_t i = 0; i < node->n_devices; i++)
        read_place(&r, node->devices[i]);
    read_room(kinds, row, false, ret);
    for (unsigned i = 0; i < r.n; i++) {
        unsigned slices = kinds->slices[r.cards[i].kind];
        unsigned taken = (unsigned)__builtin_popcountll(r.cards[i].taken);
        unsigned left = slices == 0 || taken > slices ? (taken == 0 ? TG_PACK_CARD : 0)
                                                      : (slices - taken) * TG_PACK_CARD / slices;

        ret->open |= (uint64_t)r.cards[i].open << (TG_PACK_PLACES * i);
        ret->kind[i] = kinds->number[r.cards[i].kind];
        ret->free[i] = left < r.cards[i].free ? (uint16_t)left : r.cards[i].free;
    }
    ret->cards = (uint8_t)r.n;
    if (ret_residents == NULL)
        return;
    *ret_residents = 0;
    for (unsigned i = 0; i < r.n_holders; i++)
        *ret_residents = tg_residents_add(
            *ret_residents,
            &(struct tg_pack_request){.cards = (uint16_t)r.held[i], .share = TG_PACK_CARD}, 1);
}

void tg_kinds_empty(const struct tg_kinds *kinds, size_t row, struct tg_pack_node *ret)
{
    struct tg_pack_node now;

    tg_kinds_node(kinds, row, &now, NULL);
    read_room(kinds, row, true, ret);
    ret->cards = now.cards;
    for (unsigned i = 0; i < now.cards; i++) {
        ret->kind[i] = now.kind[i];
        ret->free[i] = TG_PACK_CARD;
    }
}

/* --- requests --------------------------------------------------------------------------------- */

/* Of one need: which kinds would do, the least that one device takes of its card, and the place
 * that this one needs there. */
static void accept(const struct tg_kinds *kinds, const struct tg_ask_book *book, size_t ask,
                   uint64_t *ret_kinds, unsigned *ret_share, unsigned *ret_place)
{
    *ret_kinds = 0;
    *ret_share = TG_PACK_CARD;
    *ret_place = 0;
    for (size_t i = 0; i < kinds->n_samples; i++) {
        const struct sample *sample = &kinds->samples[i];
        enum tg_ask_answer answer = TG_ASK_NO;
        unsigned share = sample->share;

        if (tg_ask_answer(book, ask, sample->device, &answer, NULL) < 0 || answer == TG_ASK_NO)
            continue;
        if (share == TG_PACK_CARD)
            share = tg_make_part(kinds->fleet, sample->device, book->asks[ask].request->capacity);
        *ret_kinds |= (uint64_t)1 << sample->kind;
        if (share >= *ret_share)
            continue;
        *ret_share = share;
        *ret_place = place_of(tg_make_of(kinds->fleet, sample->device).size);
    }
}

static uint64_t every_kind(const struct tg_kinds *kinds)
{
    return kinds->n == TG_PACK_KINDS_MAX ? UINT64_MAX : ((uint64_t)1 << kinds->n) - 1;
}

static int64_t demanded(const struct tg_demand *demand, const char *name, int64_t unit)
{
    for (size_t i = 0; i < demand->n; i++) {
        if (strcmp(demand->items[i].name, name) == 0)
            return demand->items[i].value / unit + (demand->items[i].value % unit != 0);
    }
    return 0;
}

void tg_kinds_request(const struct tg_kinds *kinds, const struct tg_ask_book *book,
                      const struct tg_need *needs, size_t n_needs, const struct tg_demand *demand,
                      struct tg_pack_request *ret)
{
    uint64_t size = 0, cards;
    unsigned place = 0;

    *ret = (struct tg_pack_request){.cpu = demanded(demand, TG_RESOURCE_CPU, 1),
                                    .memory = demanded(demand, TG_RESOURCE_MEMORY, MIB)};
    for (size_t i = 0; i < n_needs; i++) {
        uint64_t accepted;
        unsigned share;

        accept(kinds, book, needs[i].ask, &accepted, &share, &place);
        ret->kinds |= accepted;
        size += (uint64_t)share * (needs[i].count < SAMPLES ? needs[i].count : SAMPLES);
    }
    if (ret->kinds == 0 || ret->kinds == every_kind(kinds))
        ret->kinds = TG_PACK_ANY_KIND;
    if (size == 0)
        return;
    cards = (size + TG_PACK_CARD - 1) / TG_PACK_CARD;
    ret->cards = (uint16_t)(cards < TG_PACK_CARDS_MAX ? cards : TG_PACK_CARDS_MAX);
    ret->share = cards == 1 ? (uint16_t)size : TG_PACK_CARD;
    if (n_needs == 1 && needs[0].count == 1)
        ret->place = (uint8_t)place;
}
