/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All nodes take the same room, in a grid; domains of the innermost level begin a new row with a
 * heading. In large fleets all tiles of one colour are one path: a few bytes a tile.
 */
#include "controller/cli/picture_svg.h"

#include <inttypes.h>
#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/cli/svg.h"

#define MARGIN 16
#define LEGEND_MAX 36 /* entries; further ones are counted */
#define LEGEND_COLUMNS 3
#define LEGEND_LINE 16
#define LEGEND_FONT 11
#define WAITING_MAX 12
#define CARDS_A_ROW 8
#define PATH_MAX_BYTES TG_SVG_MAX
#define FREE_COLOUR "#e9ecef"
#define OTHER_COLOUR "#9aa3ab" /* taken before, by nobody that is decided here */

/* Sizes in px. */
struct scale {
    size_t nodes; /* up to so many */
    int width, tile, gap, font, heading, spacing;
};

static const struct scale scales[] = {
    {40, 1200, 34, 4, 12, 13, 14},
    {200, 1200, 20, 3, 10, 11, 10},
    {SIZE_MAX, 1640, 10, 2, 8, 9, 6},
};

struct drawing {
    const struct tg_picture *picture;
    const struct tg_simulation *simulation;
    struct tg_buf *out;
    const struct scale *scale;
    bool tips;    /* each tile says what it is */
    bool names;   /* nodes have theirs */
    bool domains; /* have headings */
    int card_width, node_width, node_height, columns, rows_a_node;
    struct tg_map *colours; /* holder -> index + 1; those that are not in it are OTHER_COLOUR */
    struct tg_map *paths;   /* colour -> struct tg_buf */
};

/* --- layout ---------------------------------------------------------------------------------- */

/* Between the margins. */
static int inner(const struct drawing *d)
{
    return d->scale->width - 2 * MARGIN;
}

/* Rows of about the same length for the largest domain. */
static void balance(struct drawing *d)
{
    size_t run = 0, longest = 0, columns = (size_t)d->columns, rows;

    for (size_t i = 0; d->domains && i < d->picture->nodes.n; i++) {
        const struct tg_node_shown *node = &d->picture->nodes.items[i];

        run = i > 0 && tg_streq(node->domain, node[-1].domain) ? run + 1 : 1;
        longest = run > longest ? run : longest;
    }
    rows = (longest + columns - 1) / columns;
    if (rows > 1)
        d->columns = (int)((longest + rows - 1) / rows);
}

static void measure(struct drawing *d)
{
    const struct scale *s = d->scale;
    size_t most = 1, parts = 0;

    for (size_t i = 0; i < d->picture->nodes.n; i++) {
        const struct tg_node_shown *node = &d->picture->nodes.items[i];

        most = node->cards.n > most ? node->cards.n : most;
        for (size_t k = 0; k < node->cards.n; k++)
            parts = node->cards.items[k].slices > parts ? node->cards.items[k].slices : parts;
    }
    /* A memory slice is a third of a tile wide: the smallest piece can still be seen. */
    d->card_width = parts == 0 ? s->tile : (int)parts * (s->tile / 3 + 1);
    d->rows_a_node = (int)((most + CARDS_A_ROW - 1) / CARDS_A_ROW);
    most = most < CARDS_A_ROW ? most : CARDS_A_ROW;
    while (most > 1 && (int)most * (d->card_width + s->gap) > inner(d)) {
        most = (most + 1) / 2;
        d->rows_a_node *= 2;
    }
    d->node_width = (int)most * (d->card_width + s->gap) - s->gap;
    if (d->names && d->node_width < tg_svg_text_width(8, s->font))
        d->node_width = tg_svg_text_width(8, s->font);
    d->node_height = d->rows_a_node * (s->tile + s->gap) + (d->names ? s->font + 4 : 0);
    d->columns = (inner(d) + s->spacing) / (d->node_width + s->spacing);
    d->columns = d->columns < 1 ? 1 : d->columns;
    balance(d);
}

/* Headings that would stand over every single node say nothing. */
static bool has_domains(const struct tg_picture *picture)
{
    size_t changes = 0;

    for (size_t i = 0; i < picture->nodes.n; i++)
        changes += picture->nodes.items[i].domain != NULL &&
                   (i == 0 ||
                    !tg_streq(picture->nodes.items[i].domain, picture->nodes.items[i - 1].domain));
    return changes > 0 && changes * 2 <= picture->nodes.n;
}

/* --- colours --------------------------------------------------------------------------------- */

static void choose_colours(struct drawing *d)
{
    for (size_t i = 0; i < d->simulation->n; i++) {
        const char *name = tg_outcome_name(&d->simulation->items[i], d->picture->arena);

        if ((d->simulation->items[i].plan != NULL || d->simulation->items[i].standing) &&
            name != NULL && !tg_map_has(d->colours, name))
            tg_map_set(d->colours, name, (void *)(uintptr_t)(tg_map_count(d->colours) + 1));
    }
}

static const char *colour_of(const struct drawing *d, const char *holder, char out[TG_SVG_COLOUR])
{
    uintptr_t index = (uintptr_t)tg_map_get(d->colours, holder);

    return index == 0 ? OTHER_COLOUR : tg_svg_colour(index - 1, out);
}

/* --- tiles ----------------------------------------------------------------------------------- */

static void free_path(void *value)
{
    struct tg_buf *path = value;

    tg_buf_done(path);
    free(path);
}

static void add_tile(struct drawing *d, int x, int y, int width, const char *colour,
                     const char *tip)
{
    struct tg_buf *path;

    if (d->tips) {
        tg_svg_rect(d->out, x, y, width, d->scale->tile, colour, tip);
        return;
    }
    path = tg_map_get(d->paths, colour);
    if (path == NULL) {
        path = malloc(sizeof(*path));
        if (path == NULL)
            return;
        tg_buf_init(path, PATH_MAX_BYTES);
        tg_map_set(d->paths, colour, path);
    }
    tg_buf_printf(path, "M%d %dh%dv%dh-%dz", x, y, width, d->scale->tile, width);
}

static void draw_paths(struct drawing *d)
{
    for (struct tg_map_entry *e = tg_map_first(d->paths); e != NULL; e = tg_map_next(e))
        tg_buf_printf(d->out, "<path fill=\"%s\" d=\"%s\"/>\n", tg_map_key(e),
                      tg_buf_str(tg_map_value(e)));
}

static void draw_piece(struct drawing *d, const struct tg_card_shown *card,
                       const struct tg_piece_shown *piece, int x, int y)
{
    char colour[TG_SVG_COLOUR], tip[512];
    int slices = (int)card->slices, width = d->card_width, start = 0;

    if (piece->profile != NULL && slices > 0) {
        start = (int)piece->start * d->card_width / slices;
        width = ((int)piece->start + (int)piece->size) * d->card_width / slices - start - 1;
    }
    snprintf(tip, sizeof(tip), "%.120s: %.300s", piece->device, piece->holder);
    add_tile(d, x + start, y, width, colour_of(d, piece->holder, colour), tip);
    if (d->tips && piece->profile != NULL &&
        width > tg_svg_text_width(strlen(piece->profile), TG_SVG_FONT_MIN) + 2)
        tg_svg_text(d->out, x + start + 2, y + d->scale->tile / 2 + 3, TG_SVG_FONT_MIN, width - 2,
                    piece->profile);
}

static void draw_card(struct drawing *d, const struct tg_card_shown *card, int x, int y)
{
    char tip[300];

    snprintf(tip, sizeof(tip), "%.200s: free", card->name);
    if (card->slices > 0 || card->pieces.n == 0)
        add_tile(d, x, y, d->card_width, FREE_COLOUR, tip);
    for (size_t i = 0; i < card->pieces.n; i++)
        draw_piece(d, card, &card->pieces.items[i], x, y);
}

/* Names of nodes differ at their ends. */
static void draw_name(struct drawing *d, const char *name, int x, int y)
{
    int font = d->scale->font;
    char text[300];
    size_t n;

    snprintf(text, sizeof(text), "%.250s", name);
    n = strspn(text, "0123456789.") == strlen(text) ? strlen(text) : strcspn(text, ".");
    text[n] = '\0';
    if (tg_svg_text_width(n, font) > d->node_width) {
        size_t fits = (size_t)(d->node_width / tg_svg_text_width(1, font));

        n = fits < 2 || fits > n ? 0 : n - (fits - 2);
        snprintf(text, sizeof(text), "\xe2\x80\xa6%.250s", name + n);
        text[3 + strcspn(text + 3, ".")] = '\0';
    }
    tg_svg_text(d->out, x, y, font, d->node_width, text);
}

static void draw_node(struct drawing *d, const struct tg_node_shown *node, int x, int y)
{
    const struct scale *s = d->scale;
    int per_row = (d->node_width + s->gap) / (d->card_width + s->gap);

    if (d->names) {
        draw_name(d, node->name, x, y + s->font);
        y += s->font + 4;
    }
    for (size_t i = 0; i < node->cards.n; i++)
        draw_card(d, &node->cards.items[i], x + (int)i % per_row * (d->card_width + s->gap),
                  y + (int)i / per_row * (s->tile + s->gap));
}

/* Returns where the drawing ends. draw: false only measures. */
static int draw_nodes(struct drawing *d, int y, bool draw)
{
    const struct scale *s = d->scale;
    const char *domain = NULL;
    int column = 0;

    for (size_t i = 0; i < d->picture->nodes.n; i++) {
        const struct tg_node_shown *node = &d->picture->nodes.items[i];
        bool begins = d->domains && (i == 0 || !tg_streq(domain, node->domain));

        if (column == d->columns || (begins && column > 0)) {
            y += d->node_height + s->spacing;
            column = 0;
        }
        if (begins) {
            domain = node->domain;
            if (draw)
                tg_svg_text(d->out, MARGIN, y + s->heading, s->heading, inner(d),
                            tg_or(domain, "no domain"));
            y += s->heading + s->heading / 2;
        }
        if (draw)
            draw_node(d, node, MARGIN + column * (d->node_width + s->spacing), y);
        column++;
    }
    return column > 0 ? y + d->node_height + s->spacing : y;
}

/* --- legend ---------------------------------------------------------------------------------- */

static void draw_entry(struct drawing *d, size_t index, int top, const char *colour,
                       const char *text)
{
    int width = (inner(d)) / LEGEND_COLUMNS;
    int x = MARGIN + (int)(index % LEGEND_COLUMNS) * width;
    int y = top + (int)(index / LEGEND_COLUMNS) * LEGEND_LINE;

    tg_svg_rect(d->out, x, y, 10, 10, colour, NULL);
    tg_svg_text(d->out, x + 16, y + 10, LEGEND_FONT, width - 24, text);
}

static size_t legend_entries(const struct drawing *d)
{
    size_t n = tg_map_count(d->colours);

    return (n > LEGEND_MAX ? LEGEND_MAX + 1 : n) + 2;
}

static void draw_legend(struct drawing *d, int top)
{
    char colour[TG_SVG_COLOUR], more[64];
    size_t n = 2;

    draw_entry(d, 0, top, FREE_COLOUR, "free");
    draw_entry(d, 1, top, OTHER_COLOUR, "in use before, by others");
    for (struct tg_map_entry *e = tg_map_first(d->colours); e != NULL && n < LEGEND_MAX + 2;
         e = tg_map_next(e), n++)
        draw_entry(d, n, top, colour_of(d, tg_map_key(e), colour), tg_map_key(e));
    if (tg_map_count(d->colours) > LEGEND_MAX) {
        snprintf(more, sizeof(more), "and %zu more", tg_map_count(d->colours) - LEGEND_MAX);
        draw_entry(d, n, top, "none", more);
    }
}

static size_t waiting_lines(const struct tg_simulation *simulation)
{
    return simulation->waiting > WAITING_MAX ? WAITING_MAX + 1 : simulation->waiting;
}

static void draw_waiting(struct drawing *d, int y)
{
    size_t shown = 0;
    char text[1200];

    for (size_t i = 0; i < d->simulation->n && shown < WAITING_MAX; i++) {
        const struct tg_outcome *o = &d->simulation->items[i];

        if (o->plan != NULL || o->standing)
            continue;
        snprintf(text, sizeof(text), "%.200s waits: %.900s",
                 tg_or(tg_outcome_name(o, d->picture->arena), "?"),
                 tg_or(o->text, tg_or(o->reason, "")));
        tg_svg_text(d->out, MARGIN, y + LEGEND_FONT, LEGEND_FONT, inner(d), text);
        y += LEGEND_LINE;
        shown++;
    }
    if (d->simulation->waiting > WAITING_MAX) {
        snprintf(text, sizeof(text), "and %zu more wait", d->simulation->waiting - WAITING_MAX);
        tg_svg_text(d->out, MARGIN, y + LEGEND_FONT, LEGEND_FONT, inner(d), text);
    }
}

/* --- the picture ----------------------------------------------------------------------------- */

static void draw(struct drawing *d)
{
    const struct tg_picture *p = d->picture;
    int legend = MARGIN + 30, waiting, nodes;
    char title[200];

    snprintf(title, sizeof(title),
             "%zu nodes, %zu cards: %zu in use before, %zu used here; %zu placed, %zu wait",
             p->nodes.n, p->cards, p->taken, p->given, d->simulation->placed,
             d->simulation->waiting);
    waiting =
        legend + (int)((legend_entries(d) + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS) * LEGEND_LINE + 6;
    nodes = waiting + (int)waiting_lines(d->simulation) * LEGEND_LINE + 10;
    tg_svg_begin(d->out, d->scale->width, draw_nodes(d, nodes, false) + MARGIN, title);
    tg_svg_text(d->out, MARGIN, MARGIN + 14, 14, inner(d), title);
    draw_legend(d, legend);
    draw_waiting(d, waiting);
    draw_nodes(d, nodes, true);
    draw_paths(d);
    tg_svg_end(d->out);
}

int tg_picture_svg(const struct tg_simulation *simulation, const struct tg_picture *picture,
                   struct tg_buf *out, struct tg_error *err)
{
    TG_AUTOMAP struct tg_map *colours = tg_map_new(NULL);
    TG_AUTOMAP struct tg_map *paths = tg_map_new(free_path);
    struct drawing d = {.picture = picture,
                        .simulation = simulation,
                        .out = out,
                        .scale = scales,
                        .colours = colours,
                        .paths = paths};

    if (picture->nodes.n > TG_PICTURE_NODES_MAX)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "a picture of %zu nodes shows nothing: at most %d", picture->nodes.n,
                            TG_PICTURE_NODES_MAX);
    while (picture->nodes.n > d.scale->nodes)
        d.scale++;
    d.tips = picture->cards <= 2000;
    d.names = picture->nodes.n <= TG_PICTURE_NAMES_MAX;
    d.domains = has_domains(picture);
    choose_colours(&d);
    measure(&d);
    draw(&d);
    return out->failed ? tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                      "the picture would be larger than %zu MiB", TG_SVG_MAX >> 20)
                       : 0;
}
