/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/picture.h"

#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

struct taking {
    const struct tg_world *world;
    const struct tg_simulation *simulation;
    struct tg_picture *out;
    struct tg_map *by_name; /* node -> index + 1 */
    struct tg_map *gangs;   /* "claim ns/name" -> what is shown as its holder */
    struct tg_map *given;   /* the same, of what this simulation gives */
};

/* --- names ----------------------------------------------------------------------------------- */

/* h-2 before h-10: runs of digits count as numbers. */
static int compare_names(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0') {
        size_t x = strspn(a, "0123456789"), y = strspn(b, "0123456789");

        if (x > 0 && y > 0 && (x != y || strncmp(a, b, x) != 0)) {
            a += strspn(a, "0");
            b += strspn(b, "0");
            x = strspn(a, "0123456789");
            y = strspn(b, "0123456789");
            return x != y ? (x < y ? -1 : 1) : strncmp(a, b, x);
        }
        if (*a != *b)
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        a++;
        b++;
    }
    return (*a != '\0') - (*b != '\0');
}

static int compare_nodes(const void *a, const void *b)
{
    const struct tg_node_shown *x = a, *y = b;
    int r = x->domain == NULL || y->domain == NULL ? tg_strcmp(x->domain, y->domain)
                                                   : compare_names(x->domain, y->domain);

    return r != 0 ? r : compare_names(x->name, y->name);
}

static int compare_cards(const void *a, const void *b)
{
    return compare_names(((const struct tg_card_shown *)a)->name,
                         ((const struct tg_card_shown *)b)->name);
}

/* --- holders --------------------------------------------------------------------------------- */

/* "gang/ns/name" as "gang ns/name": a key of a unit reads like a name. */
static const char *unit_name(struct taking *t, const struct tg_outcome *o)
{
    return tg_outcome_name(o, t->out->arena);
}

static void note_holders(struct taking *t)
{
    for (size_t i = 0; i < t->simulation->n; i++) {
        const struct tg_outcome *o = &t->simulation->items[i];
        const char *name = unit_name(t, o);

        if (name == NULL)
            return;
        tg_map_set(t->gangs, o->unit->key, (void *)(uintptr_t)name);
        if (o->plan != NULL)
            tg_map_set(t->given, name, t);
        for (size_t k = 0; k < o->unit->n_members; k++) {
            const struct tg_unit_member *member = &o->unit->members[k];

            for (size_t c = 0; c < member->n_claims; c++) {
                const struct tg_object_meta *meta = member->claims[c]->metadata;
                const char *key =
                    tg_arena_printf(t->out->arena, "claim %s/%s", meta->namespace_, meta->name);

                if (key != NULL)
                    tg_map_set(t->gangs, key, (void *)(uintptr_t)name);
            }
        }
    }
}

/* --- cards ----------------------------------------------------------------------------------- */

static struct tg_card_shown *card_of(struct tg_node_shown *node, const char *name)
{
    struct tg_card_shown *card;

    /* Devices of one card come one after the other. */
    for (size_t i = node->cards.n; i > 0; i--)
        if (tg_streq(node->cards.items[i - 1].name, name))
            return &node->cards.items[i - 1];
    card = TG_VEC_PUSH(&node->cards);
    card->name = name;
    return card;
}

static const struct tg_device_attribute *attribute(const struct tg_device *device, const char *key)
{
    for (size_t i = 0; i < device->attributes.n; i++)
        if (tg_streq(device->attributes.items[i].key, key))
            return &device->attributes.items[i].value;
    return NULL;
}

static int64_t number(const struct tg_device *device, const char *key, int64_t fallback)
{
    const struct tg_device_attribute *value = attribute(device, key);

    return value != NULL && value->int_.set ? value->int_.value : fallback;
}

static void add_device(struct taking *t, struct tg_node_shown *node,
                       const struct tg_resource_slice_spec *slice, const struct tg_device *device)
{
    bool part = device->consumes_counters.n > 0;
    const struct tg_device_attribute *profile = attribute(device, "profile");
    struct tg_card_shown *card =
        card_of(node, part ? device->consumes_counters.items[0].name : device->name);
    const char *holder = tg_fleet_device_holder(t->simulation->fleet, slice->driver,
                                                slice->pool->name, device->name);
    const char *shown = holder == NULL ? NULL : tg_or(tg_map_get(t->gangs, holder), holder);
    int64_t start = number(device, "memorySliceStart", 0);
    int64_t size = number(device, "memorySliceSize", 1);

    if (part && card->slices < (size_t)(start + size))
        card->slices = (size_t)(start + size);
    if (shown == NULL)
        return;
    *TG_VEC_PUSH(&card->pieces) =
        (struct tg_piece_shown){.device = device->name,
                                .profile = !part             ? NULL
                                           : profile == NULL ? device->name
                                                             : tg_or(profile->string, device->name),
                                .start = start,
                                .size = size,
                                .holder = shown,
                                .given = tg_map_has(t->given, shown)};
}

static void add_slice(struct taking *t, const struct tg_resource_slice *slice)
{
    const struct tg_resource_slice_spec *spec = slice->spec;
    uintptr_t index;

    if (spec == NULL || spec->node_name == NULL || spec->pool == NULL || spec->driver == NULL)
        return;
    index = (uintptr_t)tg_map_get(t->by_name, spec->node_name);
    for (size_t i = 0; index > 0 && i < spec->devices.n; i++)
        add_device(t, &t->out->nodes.items[index - 1], spec, &spec->devices.items[i]);
}

/* --- nodes ----------------------------------------------------------------------------------- */

static void add_nodes(struct taking *t)
{
    const struct tg_view_list *list = &t->world->view.lists[TG_VIEW_NODE];
    size_t n_levels;
    const struct tg_level *levels = tg_configuration_levels(t->world->configuration, &n_levels);

    for (size_t i = 0; i < list->n; i++) {
        const struct tg_node *node = list->items[i];
        struct tg_node_shown *shown = TG_VEC_PUSH(&t->out->nodes);

        shown->name = node->metadata->name;
        for (size_t k = n_levels; k > 0; k--)
            if (levels[k - 1].node_label != NULL && !tg_streq(levels[k - 1].name, TG_LEVEL_HOST) &&
                shown->domain == NULL)
                shown->domain = tg_meta_label(node->metadata, levels[k - 1].node_label);
    }
    if (t->out->nodes.n > 0)
        qsort(t->out->nodes.items, t->out->nodes.n, sizeof(*t->out->nodes.items), compare_nodes);
    for (size_t i = 0; i < t->out->nodes.n; i++)
        tg_map_set(t->by_name, t->out->nodes.items[i].name, (void *)(uintptr_t)(i + 1));
}

static void count(struct tg_picture *picture)
{
    for (size_t i = 0; i < picture->nodes.n; i++) {
        struct tg_node_shown *node = &picture->nodes.items[i];

        if (node->cards.n > 0)
            qsort(node->cards.items, node->cards.n, sizeof(*node->cards.items), compare_cards);
        picture->cards += node->cards.n;
        for (size_t k = 0; k < node->cards.n; k++) {
            const struct tg_card_shown *card = &node->cards.items[k];
            size_t taken = 0, given = 0;

            for (size_t p = 0; p < card->pieces.n; p++) {
                taken += !card->pieces.items[p].given;
                given += card->pieces.items[p].given;
                if (card->slices > 0)
                    picture->slices_taken += (size_t)card->pieces.items[p].size;
            }
            picture->slices += card->slices;
            picture->taken += taken > 0;
            picture->given += given > 0;
        }
    }
}

void tg_picture_take(const struct tg_world *world, const struct tg_simulation *simulation,
                     struct tg_picture *ret)
{
    TG_AUTOMAP struct tg_map *by_name = tg_map_new(NULL);
    TG_AUTOMAP struct tg_map *gangs = tg_map_new(NULL);
    TG_AUTOMAP struct tg_map *given = tg_map_new(NULL);
    struct taking t = {.world = world,
                       .simulation = simulation,
                       .out = ret,
                       .by_name = by_name,
                       .gangs = gangs,
                       .given = given};
    const struct tg_view_list *slices = &world->view.lists[TG_VIEW_SLICE];

    *ret = (struct tg_picture){.arena = world->arena};
    note_holders(&t);
    add_nodes(&t);
    for (size_t i = 0; i < slices->n; i++)
        add_slice(&t, slices->items[i]);
    count(ret);
}

void tg_picture_done(struct tg_picture *picture)
{
    for (size_t i = 0; i < picture->nodes.n; i++) {
        for (size_t k = 0; k < picture->nodes.items[i].cards.n; k++)
            TG_VEC_DONE(&picture->nodes.items[i].cards.items[k].pieces);
        TG_VEC_DONE(&picture->nodes.items[i].cards);
    }
    TG_VEC_DONE(&picture->nodes);
}
