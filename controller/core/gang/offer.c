/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/offer.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/map.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "controller/core/fit/room.h"
#include "controller/core/fit/rule.h"
#include "controller/core/gang/admission.h"
#include "controller/core/gang/board.h"
#include "controller/core/gang/claim.h"
#include "controller/core/gang/groups.h"
#include "controller/core/gang/key.h"
#include "controller/core/gang/ledger.h"
#include "controller/core/gang/leeway.h"
#include "controller/core/gang/memory.h"
#include "controller/core/gang/piece.h"
#include "controller/core/model/news.h"

/* Kinds that are kept although they were not used of late, and bytes that they may take. */
#define KEPT 64
#define KEPT_BYTES ((size_t)32 << 20)
/* More pieces than this a node is never said to take. */
#define COPIES_MAX ((size_t)1 << 20)
/* Nodes looked ahead at. */
#define AHEAD 16

struct tg_offer {
    const struct tg_fleet *fleet;
    struct tg_arena *arena; /* of the piece */
    struct tg_piece piece;  /* a copy, not fixed */
    struct tg_demand demand;
    struct tg_demand rest; /* of it, without what is of every node's row */
    int64_t main[TG_MAIN_ROOMS];
    size_t devices; /* that a piece has at least */
    bool exact, admin;
    struct tg_admission admission;
    uint64_t used; /* in which decision last */

    struct tg_arena *work; /* of what follows, up to the nodes */
    struct tg_ask_book book;
    struct tg_offer_slot *slots;
    size_t n_slots;
    struct tg_need *needs, *scaled; /* slots merged by ask; the same times a number */
    size_t n_needs;
    struct tg_match match;

    struct tg_news_reader reader;
    uint64_t wide;             /* tg_news_wide when it was counted */
    struct tg_offer_node base; /* what devices of no node in particular are to each of them */
    struct tg_offer_node *nodes;
    size_t n_nodes, n_erred, capacity;

    struct tg_rank *rank;    /* by which policy */
    uint64_t rank_version;   /* of its classes, by which the nodes are in groups */
    struct tg_groups groups; /* of those that take one */
    struct tg_tallies tallies;
    uint64_t kinds_version; /* of the numbering that the request has */
    struct tg_pack_request request;
    unsigned char *answers; /* by shape, while everything is counted; else NULL */
};

enum { ANSWER_UNKNOWN, ANSWER_NO, ANSWER_YES, ANSWER_EACH /* ask for each device */ };

struct offers {
    struct tg_map *map; /* by key */
    uint64_t decision;
};

/* --- life ------------------------------------------------------------------------------------ */

static void release_selections(struct tg_offer *o)
{
    for (size_t i = 0; i < o->book.n_asks; i++) {
        for (size_t k = 0; k < o->book.asks[i].n_selectors; k++)
            tg_selection_release(o->book.asks[i].selectors[k]);
    }
    o->book.n_asks = 0;
}

static void free_offer(void *data)
{
    struct tg_offer *o = data;

    release_selections(o);
    tg_arena_free(o->work);
    tg_arena_free(o->arena);
    free(o->nodes);
    tg_groups_done(&o->groups);
    tg_tallies_done(&o->tallies);
    free(o);
}

static void free_offers(void *data)
{
    struct offers *offers = data;

    tg_map_free(offers->map);
    free(offers);
}

static struct offers *offers_of(const struct tg_fleet *fleet)
{
    void **kept = tg_memory_of(fleet, TG_MEMORY_OFFERS, free_offers);
    struct offers *offers = *kept;

    if (offers == NULL) {
        offers = tg_xcalloc(1, sizeof(*offers));
        offers->map = tg_map_new(free_offer);
        *kept = offers;
    }
    return offers;
}

static size_t bytes_of(const struct tg_offer *o)
{
    return o->n_nodes * (sizeof(*o->nodes) + 3 * sizeof(uint32_t)) + tg_tallies_bytes(&o->tallies);
}

/* The key of the one that was not used for longest, NULL: enough room for all of them. */
static const char *find_idle(const struct offers *offers)
{
    const struct tg_map_entry *oldest = NULL;
    size_t bytes = 0;

    for (struct tg_map_entry *e = tg_map_first(offers->map); e != NULL; e = tg_map_next(e)) {
        const struct tg_offer *o = tg_map_value(e);

        bytes += bytes_of(o);
        if (oldest == NULL || o->used < ((const struct tg_offer *)tg_map_value(oldest))->used)
            oldest = e;
    }
    return oldest != NULL && tg_map_count(offers->map) > 1 &&
                   (tg_map_count(offers->map) > KEPT || bytes > KEPT_BYTES)
               ? tg_map_key(oldest)
               : NULL;
}

void tg_offers_tick(const struct tg_fleet *fleet)
{
    struct offers *offers = offers_of(fleet);
    const char *idle;

    offers->decision++;
    while ((idle = find_idle(offers)) != NULL)
        tg_map_remove(offers->map, idle);
    tg_selections_tick(fleet);
}

size_t tg_offers_kept(const struct tg_fleet *fleet)
{
    return tg_map_count(offers_of(fleet)->map);
}

/* --- what is asked for ------------------------------------------------------------------------ */

static void *must(void *p)
{
    if (p == NULL)
        abort(); /* as tg_xmalloc: the arenas of an offer have no budget */
    return p;
}

/* The demand in two. */
static void split_demand(struct tg_offer *o)
{
    struct tg_amount *rest = must(tg_arena_alloc_array(o->arena, o->demand.n + 1, sizeof(*rest)));

    o->rest = (struct tg_demand){.items = rest};
    for (size_t i = 0; i < o->demand.n; i++) {
        size_t k = 0;

        while (k < TG_MAIN_ROOMS && strcmp(o->demand.items[i].name, tg_main_rooms[k]) != 0)
            k++;
        if (k < TG_MAIN_ROOMS)
            o->main[k] = o->demand.items[i].value;
        else
            rest[o->rest.n++] = o->demand.items[i];
    }
}

static int new_offer(const struct tg_fleet *fleet, const struct tg_piece *piece,
                     struct tg_offer **ret, struct tg_error *err)
{
    struct tg_offer *o = tg_xcalloc(1, sizeof(*o));
    int rc = 0;

    o->fleet = fleet;
    o->arena = tg_arena_new(TG_ARENA_UNLIMITED);
    o->work = tg_arena_new(TG_ARENA_UNLIMITED);
    o->piece = tg_piece_copy(piece, o->arena);
    rc = tg_demand_sum(o->piece.pods, o->piece.n_pods, o->arena, &o->demand, err);
    if (rc == 0)
        split_demand(o);
    tg_admission_init(&o->admission, fleet, &o->piece);
    for (size_t i = 0; rc == 0 && i < o->piece.n_claims; i++) {
        size_t devices = 0;

        rc = tg_claim_supported(o->piece.claims[i], &devices, err);
        o->devices += devices;
        o->exact = o->exact || tg_exact_needed(o->piece.claims[i]);
        o->admin = o->admin || tg_exact_is_admin(o->piece.claims[i]);
    }
    o->tallies = (struct tg_tallies){.fleet = fleet, .exact = o->exact};
    if (rc < 0)
        free_offer(o);
    else
        *ret = o;
    return rc;
}

static int add_slot(struct tg_offer *o, const struct tg_exact_request *request,
                    struct tg_error *err)
{
    struct tg_offer_slot *slot = &o->slots[o->n_slots];
    size_t known = o->book.n_asks, k = 0;
    int rc = tg_ask_book_add(&o->book, request, &slot->ask, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; slot->ask == known && i < o->book.asks[known].n_selectors; i++)
        tg_selection_hold(o->book.asks[known].selectors[i]);
    slot->count = tg_request_count(request);
    while (k < o->n_needs && o->needs[k].ask != slot->ask)
        k++;
    if (k == o->n_needs)
        o->needs[o->n_needs++] = (struct tg_need){.ask = slot->ask};
    o->needs[k].count += slot->count;
    o->n_slots++;
    return 0;
}

static int add_request(struct tg_offer *o, const struct tg_device_request *request,
                       struct tg_error *err)
{
    int rc = 0;

    if (request->first_available.n == 0)
        return add_slot(o, request->exactly, err);
    for (size_t i = 0; rc == 0 && i < request->first_available.n; i++)
        rc = add_slot(o, &request->first_available.items[i], err);
    return rc;
}

size_t tg_offer_count_slots(const struct tg_piece *piece)
{
    size_t n = 0;

    for (size_t i = 0; i < piece->n_claims; i++) {
        const struct tg_resource_claim_spec *spec = piece->claims[i]->spec;

        for (size_t k = 0; spec != NULL && spec->devices != NULL && k < spec->devices->requests.n;
             k++)
            n += 1 + spec->devices->requests.items[k].first_available.n;
    }
    return n;
}

/* Asks of the classes as they are now. */
static int open_book(struct tg_offer *o, struct tg_error *err)
{
    size_t n = tg_offer_count_slots(&o->piece);
    int rc = 0;

    release_selections(o);
    tg_arena_reset(o->work);
    o->match = (struct tg_match){.max_devices = 0};
    o->n_slots = o->n_needs = 0;
    tg_ask_book_init(&o->book, o->fleet, o->work);
    o->slots = must(tg_arena_alloc_array(o->work, n + 1, sizeof(*o->slots)));
    o->needs = must(tg_arena_alloc_array(o->work, n + 1, sizeof(*o->needs)));
    o->scaled = must(tg_arena_alloc_array(o->work, n + 1, sizeof(*o->scaled)));
    for (size_t i = 0; rc == 0 && i < o->piece.n_claims; i++) {
        const struct tg_resource_claim_spec *spec = o->piece.claims[i]->spec;

        for (size_t k = 0;
             rc == 0 && spec != NULL && spec->devices != NULL && k < spec->devices->requests.n; k++)
            rc = add_request(o, &spec->devices->requests.items[k], err);
    }
    return rc;
}

/* --- one node --------------------------------------------------------------------------------- */

static int wanted(const struct tg_offer *o, size_t device, bool *ret, struct tg_error *err)
{
    *ret = false;
    for (size_t i = 0; i < o->n_needs && !*ret; i++) {
        enum tg_ask_answer answer;
        int rc = tg_ask_answer(&o->book, o->needs[i].ask, device, &answer, err);

        if (rc < 0)
            return rc;
        *ret = answer == TG_ASK_YES;
    }
    return 0;
}

static int count_device(const struct tg_offer *o, size_t device, struct tg_offer_node *ret,
                        struct tg_error *err)
{
    const struct tg_fleet_device *row = &o->fleet->devices[device];
    bool want = false;
    int rc = 0;

    if (!tg_board_usable(row))
        return 0;
    ret->any++;
    if (ret->failed == tg_fit_rules_count)
        rc = wanted(o, device, &want, err);
    if (rc < 0)
        return rc;
    ret->free += want ? 1 : 0;
    ret->exact = ret->exact || (want && row->exact);
    return 0;
}

/* What all devices of the shape of this one are to the piece. */
static unsigned char ask_shape(const struct tg_offer *o, size_t device)
{
    struct tg_error ignored = TG_ERROR_INIT;
    bool is_known = true, yes = false;

    for (size_t i = 0; i < o->n_needs && is_known && !yes; i++) {
        if (tg_ask_shape(&o->book, o->needs[i].ask, device, &is_known, &yes, &ignored) < 0)
            is_known = false;
    }
    if (!is_known)
        return ANSWER_EACH;
    return yes ? ANSWER_YES : ANSWER_NO;
}

/* A device of which the shape tells everything, by its face alone. */
static bool count_face(const struct tg_offer *o, size_t device, uint32_t face,
                       struct tg_offer_node *ret)
{
    unsigned char *answer;

    if ((face & TG_FACE_PLAIN) == 0 || o->answers == NULL || ret->failed != tg_fit_rules_count)
        return false;
    answer = &o->answers[face >> TG_FACE_SHAPE];
    if (*answer == ANSWER_UNKNOWN)
        *answer = ask_shape(o, device);
    if (*answer == ANSWER_EACH)
        return false;
    /* Whether it is free is anybody's guess: no branch is taken on it. */
    ret->any += face & TG_FACE_FREE;
    ret->free += *answer == ANSWER_YES ? face & TG_FACE_FREE : 0;
    return true;
}

static int count_devices(const struct tg_offer *o, const struct tg_fleet_node *row,
                         struct tg_offer_node *ret, struct tg_error *err)
{
    const struct tg_fleet *fleet = o->fleet;
    int rc = 0;

    for (size_t d = 0; rc == 0 && d < row->n_devices; d++) {
        size_t device = row->first_device == TG_NO_ROW ? row->devices[d] : row->first_device + d;

        if (count_face(o, device, fleet->faces[device], ret))
            continue;
        ret->shared = ret->shared || fleet->devices[device].shared;
        rc = count_device(o, device, ret, err);
    }
    return rc;
}

/* Devices that no node owns: they may be there for each of them. */
static int count_wide(struct tg_offer *o, struct tg_error *err)
{
    const struct tg_fleet *fleet = o->fleet;
    struct tg_fleet_walk walk = {.next = 0};
    size_t d;
    int rc = 0;

    o->base = (struct tg_offer_node){.failed = (unsigned char)tg_fit_rules_count};
    while (rc == 0 && (d = tg_fleet_next_wide(fleet, &walk)) != TG_NO_INDEX) {
        o->base.shared =
            o->base.shared || (fleet->devices[d].shared && tg_board_usable(&fleet->devices[d]));
        rc = count_device(o, d, &o->base, err);
    }
    o->base.erred = rc < 0;
    return rc;
}

/* Room for the devices of the node, and for as many needs as a piece has devices. */
static void open_match(struct tg_offer *o, size_t devices)
{
    size_t needs = o->n_needs > o->devices ? o->n_needs : o->devices;

    if (o->match.book != NULL && devices <= o->match.max_devices)
        return;
    if (tg_match_init(&o->match, &o->book, 2 * devices + 8, needs + 1, o->work, NULL) < 0)
        abort();
}

/* The most times, up to high, that all needs can be met at once. What fits n times fits fewer
 * times: halve. */
static int most_matches(struct tg_offer *o, const struct tg_fleet_node *row, size_t high,
                        size_t *ret, struct tg_error *err)
{
    size_t low = 0;
    int rc = 0;

    open_match(o, row->n_devices);
    while (rc == 0 && low < high) {
        size_t middle = high - (high - low) / 2;
        bool fits = false;

        for (size_t i = 0; i < o->n_needs; i++)
            o->scaled[i] =
                (struct tg_need){.ask = o->needs[i].ask, .count = o->needs[i].count * middle};
        rc = tg_match_feasible(&o->match, row, o->scaled, o->n_needs, &fits, err);
        if (fits)
            low = middle;
        else
            high = middle - 1;
    }
    *ret = low;
    return rc;
}

static size_t at_most(size_t copies, size_t devices, size_t each)
{
    size_t n = each == 1 ? devices : devices / each;

    return n < copies ? n : copies;
}

static int count_copies(struct tg_offer *o, const struct tg_fleet_node *row,
                        struct tg_offer_node *ret, struct tg_error *err)
{
    bool counts = o->devices > 0 && !o->admin && !ret->shared, exact = o->exact || ret->exact;
    size_t copies = counts ? at_most(COPIES_MAX, ret->any, o->devices) : COPIES_MAX;
    int rc = 0;

    if (!exact && o->n_needs == 1)
        copies = at_most(copies, ret->free, o->needs[0].count);
    for (size_t i = 0; i < TG_MAIN_ROOMS; i++)
        copies = tg_room_share(row->left[i], o->main[i], copies);
    if (o->rest.n > 0)
        copies = tg_room_copies(row, NULL, 0, &o->rest, copies, NULL);
    if (exact)
        copies = copies > 0 ? 1 : 0;
    else if (o->n_needs > 1 && o->devices > 0)
        rc = most_matches(o, row, copies, &copies, err);
    ret->copies = (uint32_t)copies;
    return rc;
}

static int judge(struct tg_offer *o, size_t node, struct tg_offer_node *ret, struct tg_error *err)
{
    const struct tg_fleet_node *row = &o->fleet->nodes[node];
    int rc = 0;

    *ret = (struct tg_offer_node){.failed = tg_admission_failed(&o->admission, row)};
    ret->any = o->base.any;
    ret->shared = o->base.shared;
    if (ret->failed == tg_fit_rules_count) {
        ret->free = o->base.free;
        ret->exact = o->base.free > 0;
    }
    rc = count_devices(o, row, ret, err);
    if (rc == 0 && ret->failed == tg_fit_rules_count)
        rc = count_copies(o, row, ret, err);
    if (rc < 0) {
        ret->copies = 0;
        ret->erred = true;
    }
    return rc;
}

/* --- the best of all, by class -----------------------------------------------------------------
 */

static void group(struct tg_offer *o, size_t node)
{
    tg_groups_move(&o->groups, node,
                   o->nodes[node].copies > 0 ? tg_rank_class(o->rank, node) : TG_NO_GROUP);
}

static void open_groups(struct tg_offer *o)
{
    tg_groups_done(&o->groups);
    tg_groups_init(&o->groups, o->fleet);
    o->rank_version = tg_rank_version(o->rank);
}

static void group_all(struct tg_offer *o)
{
    open_groups(o);
    for (size_t i = 0; i < o->n_nodes; i++)
        group(o, i);
}

/* --- up to date ------------------------------------------------------------------------------- */

/* A selector that fails is a fact of the node; memory that was short for a moment is not. */
static int look_at(struct tg_offer *o, size_t node, struct tg_offer_node *ret, struct tg_error *err)
{
    return judge(o, node, ret, err) == -TG_RESOURCE_EXHAUSTED ? -TG_RESOURCE_EXHAUSTED : 0;
}

static int refresh(struct tg_offer *o, size_t node, struct tg_error *err)
{
    struct tg_offer_node *row = &o->nodes[node];
    struct tg_offer_node now;
    int rc = look_at(o, node, &now, err);

    if (rc < 0)
        return rc;
    o->n_erred += (size_t)now.erred - (size_t)row->erred;
    tg_tallies_move(&o->tallies, node, row, &now);
    *row = now;
    group(o, node);
    return 0;
}

/* Rows that are new to us are no nodes yet: each of them is news. */
static void make_room(struct tg_offer *o)
{
    size_t n = o->fleet->n_nodes;

    if (n > o->capacity) {
        o->capacity = n + n / 8 + 16;
        o->nodes = tg_xreallocarray(o->nodes, o->capacity, sizeof(*o->nodes));
    }
    for (; o->n_nodes < n; o->n_nodes++)
        o->nodes[o->n_nodes] = (struct tg_offer_node){.copies = 0};
    tg_groups_grow(&o->groups);
}

/* What the nodes after this one say lies here and there: it is on its way when they are looked at.
 */
static void look_ahead(const struct tg_offer *o, size_t node)
{
    const struct tg_fleet *fleet = o->fleet;
    const struct tg_fleet_node *row;

    if (node + 2 * AHEAD >= o->n_nodes || fleet->faces == NULL)
        return;
    __builtin_prefetch(&fleet->nodes[node + 2 * AHEAD]);
    __builtin_prefetch(&fleet->nodes[node + 2 * AHEAD].labels);
    row = &fleet->nodes[node + AHEAD];
    if (row->first_device != TG_NO_ROW)
        __builtin_prefetch(&fleet->faces[row->first_device]);
    else
        __builtin_prefetch(row->devices);
}

static int count_all(struct tg_offer *o, struct tg_error *err)
{
    int rc = open_book(o, err);

    if (rc == 0 && count_wide(o, err) == -TG_RESOURCE_EXHAUSTED)
        rc = -TG_RESOURCE_EXHAUSTED;
    if (rc < 0)
        return rc;
    make_room(o);
    o->n_nodes = o->fleet->n_nodes;
    o->n_erred = 0;
    o->answers = tg_xcalloc(tg_fleet_shapes(o->fleet), sizeof(*o->answers));
    tg_admission_remember(&o->admission);
    open_groups(o);
    for (size_t i = 0; rc == 0 && i < o->n_nodes; i++) {
        look_ahead(o, i);
        rc = look_at(o, i, &o->nodes[i], err);
        o->n_erred += o->nodes[i].erred ? 1 : 0;
        group(o, i);
    }
    free(o->answers);
    o->answers = NULL;
    tg_admission_forget(&o->admission);
    tg_tallies_count(&o->tallies, o->nodes, o->n_nodes);
    return rc;
}

static int bring_up_to_date(struct tg_offer *o, struct tg_rank *rank, struct tg_error *err)
{
    struct tg_error own = TG_ERROR_INIT;
    bool same = rank == o->rank;
    bool known = tg_news_open(o->fleet, &o->reader);
    uint64_t wide = tg_news_wide(o->fleet);
    size_t node;
    int rc = 0;

    err = err == NULL ? &own : err;
    known = known && wide == o->wide;
    o->wide = wide;
    if (known) {
        make_room(o);
        tg_tallies_open(&o->tallies, o->nodes, o->n_nodes, o->used);
    }
    o->rank = rank;
    while ((node = tg_news_next(o->fleet, &o->reader)) != TG_NO_INDEX) {
        if (known && rc == 0)
            rc = refresh(o, node, err);
    }
    if (!known)
        return count_all(o, err);
    if (!same || o->rank_version != tg_rank_version(rank))
        group_all(o);
    return rc;
}

/* What it asks for in the numbers of policies; kinds of cards may have got others. */
static int translate(struct tg_offer *o, struct tg_arena *arena, struct tg_error *err)
{
    uint64_t version;

    (void)tg_ledger_kinds(o->fleet, &version);
    if (version == o->kinds_version)
        return 0;
    o->kinds_version = version;
    return tg_ledger_request(o->fleet, &o->piece, arena, &o->request, err);
}

int tg_offer_get(const struct tg_fleet *fleet, const struct tg_piece *piece, const char *policy,
                 struct tg_arena *arena, struct tg_offer **ret, struct tg_error *err)
{
    struct offers *offers = offers_of(fleet);
    struct tg_piece kind = *piece;
    struct tg_demand demand = {.n = 0};
    struct tg_offer *o = NULL;
    const char *key = NULL;
    int rc = tg_demand_sum(piece->pods, piece->n_pods, arena, &demand, err);

    kind.fixed_node = NULL;
    if (rc == 0)
        rc = tg_piece_key(&kind, &demand, arena, &key, err);
    if (rc < 0)
        return rc;
    o = tg_map_get(offers->map, key);
    if (o == NULL) {
        rc = new_offer(fleet, &kind, &o, err);
        if (rc < 0)
            return rc;
        tg_map_set(offers->map, key, o);
    }
    o->used = offers->decision;
    rc = bring_up_to_date(o, tg_rank_get(fleet, policy), err);
    if (rc == 0)
        rc = translate(o, arena, err);
    if (rc < 0)
        tg_map_remove(offers->map, key);
    else
        *ret = o;
    return rc;
}

/* --- questions -------------------------------------------------------------------------------- */

const struct tg_offer_node *tg_offer_nodes(const struct tg_offer *offer)
{
    return offer->nodes;
}

int tg_offer_fault(struct tg_offer *offer, size_t node, struct tg_error *err)
{
    const struct tg_fleet_node *rows = offer->fleet->nodes;
    struct tg_offer_node ignored;

    size_t first = node;

    if (offer->base.erred)
        return count_wide(offer, err);
    if (offer->n_erred == 0 || (node != TG_NO_INDEX && !offer->nodes[node].erred))
        return 0;
    for (size_t i = 0; node == TG_NO_INDEX && i < offer->n_nodes; i++) {
        if (offer->nodes[i].erred && (first == TG_NO_INDEX || rows[i].order < rows[first].order))
            first = i;
    }
    return judge(offer, first, &ignored, err);
}

const struct tg_tally *tg_offer_tally(struct tg_offer *offer, const char *label, size_t cap)
{
    return tg_tallies_find(&offer->tallies, label, cap, offer->nodes, offer->n_nodes, offer->used);
}

size_t tg_offer_best(struct tg_offer *offer)
{
    unsigned type = tg_rank_type(offer->rank, &offer->request);
    struct tg_pack_rating best = {.value = 0};
    size_t node = TG_NO_INDEX;

    for (uint32_t i = 0; i < offer->groups.n_live; i++) {
        uint32_t klass = offer->groups.live[i];
        struct tg_pack_rating rating;
        size_t first;

        tg_rank_rate(offer->rank, type, klass, &rating);
        if (node != TG_NO_INDEX && tg_pack_rating_better(&best, &rating))
            continue;
        first = tg_groups_first(&offer->groups, klass);
        if (node != TG_NO_INDEX && !tg_pack_rating_better(&rating, &best) &&
            offer->fleet->nodes[first].order > offer->fleet->nodes[node].order)
            continue;
        best = rating;
        node = first;
    }
    return node;
}

int tg_offer_list(struct tg_offer *offer, size_t n, struct tg_arena *arena, size_t **ret,
                  size_t *ret_n, struct tg_error *err)
{
    return tg_groups_list_best(&offer->groups, offer->rank,
                               tg_rank_type(offer->rank, &offer->request), n, arena, ret, ret_n,
                               err);
}

struct tg_rank *tg_offer_rank(const struct tg_offer *offer, unsigned *ret_type)
{
    *ret_type = tg_rank_type(offer->rank, &offer->request);
    return offer->rank;
}

void tg_offer_rule_out(struct tg_offer *offer, size_t node)
{
    struct tg_offer_node now = offer->nodes[node];

    now.copies = 0;
    tg_tallies_move(&offer->tallies, node, &offer->nodes[node], &now);
    offer->nodes[node] = now;
    group(offer, node);
}

void tg_offer_recount(struct tg_offer *offer)
{
    offer->reader = (struct tg_news_reader){.at = 0};
}

bool tg_offer_needs_search(const struct tg_offer *offer, size_t node)
{
    return offer->exact || offer->nodes[node].exact;
}

bool tg_offer_lacks_counters(const struct tg_offer *offer, size_t node)
{
    const struct tg_offer_node *row = &offer->nodes[node];

    return offer->devices > 0 && !offer->admin && !row->shared &&
           row->free < offer->devices + tg_leeway_count_short(offer->fleet, &offer->book,
                                                              offer->needs, offer->n_needs, node);
}

const struct tg_offer_slot *tg_offer_slots(const struct tg_offer *offer, size_t *ret_n)
{
    *ret_n = offer->n_slots;
    return offer->slots;
}

int tg_offer_match(struct tg_offer *offer, size_t node, const struct tg_need *needs, size_t n,
                   size_t *devices, struct tg_error *err)
{
    const struct tg_fleet_node *row = &offer->fleet->nodes[node];

    open_match(offer, row->n_devices);
    return tg_match_lowest(&offer->match, row, needs, n, devices, err);
}
