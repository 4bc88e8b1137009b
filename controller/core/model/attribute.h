/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes by name. A key without a domain belongs to the domain of its driver (resource.k8s.io,
 * QualifiedName). */
#ifndef TG_CORE_MODEL_ATTRIBUTE_H
#define TG_CORE_MODEL_ATTRIBUTE_H

#include <stdbool.h>

#include "api/kubernetes/objects/resource.h"

/* The attribute in the driver's own domain: the qualified key wins over the bare one. NULL if there
 * is none. */
const struct tg_device_attribute *tg_attribute_own(const struct tg_device *device,
                                                   const char *driver, const char *name);
/* The attribute of that qualified name ("domain/name"). NULL if there is none. */
const struct tg_device_attribute *tg_attribute_find(const struct tg_device *device,
                                                    const char *driver, const char *name);
/* Does the device publish any attribute of that domain? */
bool tg_attribute_has_domain(const struct tg_device *device, const char *driver,
                             const char *domain);

#endif
