/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/svg.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/runtime/base/str.h"

#define ELLIPSIS "\xe2\x80\xa6"
/* Thousandths of the font size: monospaced fonts are 0.6 wide, some a little more. */
#define ADVANCE 620

int tg_svg_text_width(size_t characters, int font)
{
    return (int)((characters * (size_t)font * ADVANCE + 999) / 1000);
}

void tg_svg_escape(struct tg_buf *out, const char *text)
{
    static const struct {
        char c;
        const char *as;
    } special[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};

    for (size_t n = strlen(text), used; n > 0; text += used, n -= used) {
        const char *as = NULL;
        uint32_t code;

        used = tg_utf8_next(text, n, &code);
        if (used == 0 || code < 0x20 || code == 0xfffe || code == 0xffff)
            as = "?";
        for (size_t i = 0; i < sizeof(special) / sizeof(special[0]) && as == NULL; i++)
            if (*text == special[i].c)
                as = special[i].as;
        used = used == 0 ? 1 : used;
        if (as != NULL)
            tg_buf_append_str(out, as);
        else
            tg_buf_append(out, text, used);
    }
}

void tg_svg_begin(struct tg_buf *out, int width, int height, const char *title)
{
    tg_buf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "viewBox=\"0 0 %d %d\" role=\"img\" font-family=\"DejaVu Sans Mono, Liberation "
                  "Mono, monospace\">\n<title>",
                  width, height, width, height);
    tg_svg_escape(out, title);
    tg_buf_append_str(out, "</title>\n");
    tg_svg_rect(out, 0, 0, width, height, "#ffffff", NULL);
}

void tg_svg_end(struct tg_buf *out)
{
    tg_buf_append_str(out, "</svg>\n");
}

/* The first n characters. */
static size_t bytes_of(const char *text, size_t n)
{
    size_t bytes = 0, left = strlen(text);
    uint32_t code;

    for (size_t i = 0; i < n && left > 0; i++) {
        size_t used = tg_utf8_next(text + bytes, left, &code);

        used = used == 0 ? 1 : used;
        bytes += used;
        left -= used;
    }
    return bytes;
}

static size_t characters_of(const char *text)
{
    size_t n = 0;

    while (*text != '\0') {
        text += bytes_of(text, 1);
        n++;
    }
    return n;
}

void tg_svg_text(struct tg_buf *out, int x, int y, int font, int room, const char *text)
{
    size_t fits = room <= 0 ? 0 : (size_t)room * 1000 / ((size_t)font * ADVANCE);
    char cut[512];
    size_t n;

    if (fits == 0 || text[0] == '\0')
        return;
    if (characters_of(text) > fits) {
        n = bytes_of(text, fits - 1);
        if (n > sizeof(cut) - sizeof(ELLIPSIS))
            n = bytes_of(text, 100);
        memcpy(cut, text, n);
        memcpy(cut + n, ELLIPSIS, sizeof(ELLIPSIS));
        text = cut;
    }
    tg_buf_printf(out, "<text x=\"%d\" y=\"%d\" font-size=\"%d\">", x, y, font);
    tg_svg_escape(out, text);
    tg_buf_append_str(out, "</text>\n");
}

void tg_svg_rect(struct tg_buf *out, int x, int y, int width, int height, const char *fill,
                 const char *tip)
{
    tg_buf_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"", x, y,
                  width, height, fill);
    if (tip == NULL) {
        tg_buf_append_str(out, "/>\n");
        return;
    }
    tg_buf_append_str(out, "><title>");
    tg_svg_escape(out, tip);
    tg_buf_append_str(out, "</title></rect>\n");
}

/* Hue in degrees, lightness in percent, saturation 65 %, to 0..255. */
static int channel(int hue, int lightness, int offset)
{
    int at = (hue + offset) % 360, amplitude = 65 * (lightness < 50 ? lightness : 100 - lightness);
    int level = at < 60 ? at : at < 180 ? 60 : at < 240 ? 240 - at : 0;

    return (lightness * 100 - amplitude + amplitude * 2 * level / 60) * 255 / 10000;
}

const char *tg_svg_colour(size_t i, char out[TG_SVG_COLOUR])
{
    static const int lightness[] = {55, 42, 68};
    /* The golden angle: each is far from those before it. */
    int hue = (int)((i * 137508 / 1000 + 210) % 360), l = lightness[i / 12 % 3];

    snprintf(out, TG_SVG_COLOUR, "#%02x%02x%02x", channel(hue, l, 120) & 0xff,
             channel(hue, l, 0) & 0xff, channel(hue, l, 240) & 0xff);
    return out;
}
