/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet as an SVG: cards as tiles, MIG slices as pieces of them, one colour a gang. */
#ifndef TG_CONTROLLER_CLI_PICTURE_SVG_H
#define TG_CONTROLLER_CLI_PICTURE_SVG_H

#include "controller/cli/picture.h"

/* Beyond so many nodes a picture shows nothing any more. */
#define TG_PICTURE_NODES_MAX 20000
/* Up to so many nodes their names are shown. */
#define TG_PICTURE_NAMES_MAX 3000

/* Appends to out (of at least TG_SVG_MAX). TG_RESOURCE_EXHAUSTED: too many nodes. */
int tg_picture_svg(const struct tg_simulation *simulation, const struct tg_picture *picture,
                   struct tg_buf *out, struct tg_error *err);

#endif
