/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of requests that write slices. Pure. */
#ifndef TG_PLUGIN_SLICE_BODY_H
#define TG_PLUGIN_SLICE_BODY_H

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"

/* For POST and PUT: apiVersion, kind, metadata, spec. TG_RESOURCE_EXHAUSTED: the buffer's cap. */
int tg_slice_body_write(const struct tg_resource_slice *slice, struct tg_buf *out,
                        struct tg_error *err);
/* DeleteOptions by which exactly the object that was looked at is deleted (uid and
 * resourceVersion). */
int tg_slice_body_delete(const struct tg_resource_slice *slice, struct tg_buf *out,
                         struct tg_error *err);

#endif
