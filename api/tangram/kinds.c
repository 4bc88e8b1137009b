/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tangram/kinds.h"

#include "api/tangram/gang.h"
#include "api/tangram/names.h"

const struct tg_kind tg_kind_gang = {TG_KIND_GANG, TG_GROUP,      TG_VERSION, TG_PLURAL_GANG,
                                     true,         &tg_gang_type, NULL};
