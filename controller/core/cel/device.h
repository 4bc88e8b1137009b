/* SPDX-License-Identifier: Apache-2.0 */
/* A device as an expression sees it. */
#ifndef TG_CORE_CEL_DEVICE_H
#define TG_CORE_CEL_DEVICE_H

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/error.h"
#include "controller/core/cel/program.h"

/* The attribute tangram.dev/granted is true besides. */
#define TG_CEL_DEVICE_GUARD 1U
/* Attributes that are lists are known: in 1.36 with the feature gate, from 1.37 on. */
#define TG_CEL_DEVICE_LISTS 2U

/* Names without a domain get that of the driver; of two spellings of one name the one with the
 * domain wins. Versions are parsed: a device with one that is none, or with an attribute of a kind
 * that is not known, fails every selector (TG_FAILED_PRECONDITION), as it does in Kubernetes.
 * reads: what is not among it is checked, but left out; NULL: all is wanted. flags: above. */
int tg_cel_device_init(struct tg_cel_device *ret, const struct tg_cel_reads *reads,
                       struct tg_cel_scratch *scratch, const char *driver,
                       const struct tg_device *device, unsigned flags, struct tg_error *err);

#endif
