/* SPDX-License-Identifier: Apache-2.0 */
/* Names that the API server would accept (apimachinery pkg/util/validation, k/k
 * pkg/apis/resource/validation). */
#ifndef TG_KUBERNETES_VALUES_NAMES_H
#define TG_KUBERNETES_VALUES_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "api/runtime/base/error.h"

enum tg_name_kind {
    TG_NAME_LABEL,          /* DNS-1123 label, <= 63: device, request, counter, counter set */
    TG_NAME_SUBDOMAIN,      /* DNS-1123 subdomain, <= 253: most object names */
    TG_NAME_QUALIFIED,      /* [subdomain/]name: label and annotation keys, taint keys, binding
                               conditions */
    TG_NAME_LABEL_VALUE,    /* <= 63, may be empty: label and taint values */
    TG_NAME_C_IDENTIFIER,   /* <= 32: the ID of an attribute or capacity */
    TG_NAME_ATTRIBUTE,      /* [driver/]C identifier: QualifiedName of the DRA API */
    TG_NAME_FULL_ATTRIBUTE, /* driver/C identifier: FullyQualifiedName */
    TG_NAME_DRIVER,         /* subdomain, <= 63, in any case */
    TG_NAME_POOL,           /* subdomains separated by /, <= 253 in all */
};

/* TG_INVALID_ARGUMENT with the name, the kind and its rule in words. */
int tg_name_check(enum tg_name_kind kind, const char *s, struct tg_error *err);
bool tg_name_is(enum tg_name_kind kind, const char *s);

#endif
