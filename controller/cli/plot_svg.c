/* SPDX-License-Identifier: Apache-2.0 */
/* Three panels over one axis of time: what is in use, who waits, what is fragmented. Each pixel
 * shows all values that fall into it, from the lowest to the highest. */
#include <math.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/cli/playback.h"
#include "controller/cli/svg.h"

#define WIDTH 1000
#define LEFT 90
#define RIGHT 20
#define TOP 50
#define PANEL 130
#define BETWEEN 44
#define FONT 11
#define TICKS 5
#define AXIS "#868e96"
#define PLOT (WIDTH - LEFT - RIGHT)

struct panel {
    const char *title, *unit;
    double (*value)(const struct tg_playback_point *point);
    double most; /* 0: the highest value */
};

static double used(const struct tg_playback_point *p)
{
    return 100 * p->used;
}

static double waiting(const struct tg_playback_point *p)
{
    return (double)p->waiting;
}

static double fragmented(const struct tg_playback_point *p)
{
    return 100 * p->fragmented;
}

static const struct panel panels[] = {
    {"cards in use", "%", used, 100},
    {"gangs that wait", "", waiting, 0},
    {"free cards on nodes that are in use (fragmented)", "%", fragmented, 100},
};

static int x_of(const struct tg_playback *playback, double at)
{
    return playback->end <= 0 ? 0 : (int)(at / playback->end * (PLOT - 1));
}

/* The lowest and the highest value in each pixel. */
static void fill_columns(const struct tg_playback *playback, const struct panel *panel,
                         double low[PLOT], double high[PLOT])
{
    double last = playback->points.n == 0 ? 0 : panel->value(playback->points.items);
    int x = 0;

    for (int i = 0; i < PLOT; i++) {
        low[i] = HUGE_VAL;
        high[i] = -HUGE_VAL;
    }
    for (size_t i = 0; i < playback->points.n; i++) {
        double value = panel->value(&playback->points.items[i]);
        int to = x_of(playback, playback->points.items[i].at);

        for (; x <= to; x++) {
            low[x] = fmin(low[x], last);
            high[x] = fmax(high[x], last);
        }
        x = to;
        low[x] = fmin(low[x], value);
        high[x] = fmax(high[x], value);
        last = value;
        x++;
        if (x > PLOT - 1)
            x = PLOT - 1;
    }
}

static double highest(const struct tg_playback *playback, const struct panel *panel)
{
    double most = panel->most;

    for (size_t i = 0; panel->most <= 0 && i < playback->points.n; i++)
        most = fmax(most, panel->value(&playback->points.items[i]));
    return most <= 0 ? 1 : most;
}

static void draw_axes(struct tg_buf *out, const struct panel *panel, double most, int top)
{
    char text[64];

    tg_svg_text(out, LEFT, top - 8, FONT + 1, PLOT, panel->title);
    snprintf(text, sizeof(text), "%.0f%s", most, panel->unit);
    tg_svg_text(out, 10, top + FONT, FONT, LEFT - 16, text);
    snprintf(text, sizeof(text), "0%s", panel->unit);
    tg_svg_text(out, 10, top + PANEL, FONT, LEFT - 16, text);
    tg_buf_printf(out, "<path fill=\"none\" stroke=\"" AXIS "\" d=\"M%d %dv%dh%d\"/>\n", LEFT, top,
                  PANEL, PLOT);
}

static void draw_panel(struct tg_buf *out, const struct tg_playback *playback,
                       const struct panel *panel, size_t index, int top)
{
    double low[PLOT], high[PLOT], most = highest(playback, panel);
    char colour[TG_SVG_COLOUR];

    draw_axes(out, panel, most, top);
    fill_columns(playback, panel, low, high);
    tg_buf_printf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"",
                  tg_svg_colour(index, colour));
    for (int x = 0; x < PLOT; x++) {
        double from = top + PANEL - high[x] / most * PANEL,
               to = top + PANEL - low[x] / most * PANEL;

        if (isfinite(from) && isfinite(to))
            tg_buf_printf(out, "%s%d %.1fV%.1f", x == 0 ? "M" : "L", LEFT + x, from, to);
    }
    tg_buf_append_str(out, "\"/>\n");
}

static void draw_times(struct tg_buf *out, const struct tg_playback *playback, int y)
{
    for (int i = 0; i <= TICKS; i++) {
        double at = playback->end * i / TICKS;
        int x = LEFT + i * (PLOT - 1) / TICKS, half;
        char text[64];

        if (playback->end < 7200)
            snprintf(text, sizeof(text), "%.0f s", at);
        else
            snprintf(text, sizeof(text), "%.1f h", at / 3600);
        half = tg_svg_text_width(strlen(text), FONT) / 2;
        tg_buf_printf(out, "<path stroke=\"" AXIS "\" d=\"M%d %dv-4\"/>\n", x, y - FONT - 1);
        tg_svg_text(out, x + half > WIDTH - 4 ? WIDTH - 4 - 2 * half : x - half, y, FONT, 100,
                    text);
    }
}

int tg_playback_svg(const struct tg_playback *playback, struct tg_buf *out, struct tg_error *err)
{
    int height = TOP + (int)TG_ARRAY_SIZE(panels) * (PANEL + BETWEEN) + 10;
    char title[200];

    snprintf(
        title, sizeof(title),
        "%zu gangs on %zu nodes with %zu cards: %.1f%% in use, mean wait %.1f s, %zu never ran",
        playback->jobs.n, playback->nodes, playback->cards, 100 * playback->used,
        playback->wait_mean, playback->never);
    tg_svg_begin(out, WIDTH, height, title);
    tg_svg_text(out, 10, 22, 14, WIDTH - 20, title);
    for (size_t i = 0; i < TG_ARRAY_SIZE(panels); i++)
        draw_panel(out, playback, &panels[i], i, TOP + 10 + (int)i * (PANEL + BETWEEN));
    draw_times(out, playback,
               TOP + 10 + (int)TG_ARRAY_SIZE(panels) * (PANEL + BETWEEN) - BETWEEN + 18);
    tg_svg_end(out);
    return out->failed ? tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                      "the plot would be larger than %zu MiB", TG_SVG_MAX >> 20)
                       : 0;
}
