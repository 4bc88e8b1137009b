/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing: the few elements of SVG that our pictures need. Text is monospaced, so that its width is
 * known; it is cut where it would pass its room, and never smaller than TG_SVG_FONT_MIN. */
#ifndef TG_CONTROLLER_CLI_SVG_H
#define TG_CONTROLLER_CLI_SVG_H

#include "api/runtime/base/buf.h"

#define TG_SVG_FONT_MIN 8 /* px */
#define TG_SVG_MAX ((size_t)2 << 20)

/* How wide so many characters are, in px, rounded up: fonts differ a little. */
int tg_svg_text_width(size_t characters, int font);

void tg_svg_begin(struct tg_buf *out, int width, int height, const char *title);
void tg_svg_end(struct tg_buf *out);
/* y: of the base line. room: px that the text may take. */
void tg_svg_text(struct tg_buf *out, int x, int y, int font, int room, const char *text);
/* fill: "#rrggbb" or "none"; tip: what a pointer sees, or NULL. */
void tg_svg_rect(struct tg_buf *out, int x, int y, int width, int height, const char *fill,
                 const char *tip);
/* XML text of any bytes. */
void tg_svg_escape(struct tg_buf *out, const char *text);

/* The colour of the i-th thing: neighbours differ. */
#define TG_SVG_COLOUR 8
const char *tg_svg_colour(size_t i, char out[TG_SVG_COLOUR]);

#endif
