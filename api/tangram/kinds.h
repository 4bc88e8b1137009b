/* SPDX-License-Identifier: Apache-2.0 */
/* Where the kinds of our own group live in the API. */
#ifndef TG_TANGRAM_KINDS_H
#define TG_TANGRAM_KINDS_H

#include "api/kubernetes/objects/kinds.h"

extern const struct tg_kind tg_kind_gang;

#endif
