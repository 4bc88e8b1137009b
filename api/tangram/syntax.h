/* SPDX-License-Identifier: Apache-2.0 */
/* The syntax of names that users write, as the Kubernetes API defines it. NULL is never valid. */
#ifndef TG_TANGRAM_SYNTAX_H
#define TG_TANGRAM_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>

/* [a-z0-9] and '-', no '-' at the ends, 1..63 bytes (RFC 1123 label). */
bool tg_syntax_is_dns_label(const char *s);
/* DNS labels joined by '.', at most max bytes (253 for object names). */
bool tg_syntax_is_dns_subdomain(const char *s, size_t max);
/* [prefix/]name: a subdomain of at most 253 bytes, and 1..63 of [A-Za-z0-9._-] that begin and end
 * with a letter or digit. */
bool tg_syntax_is_label_key(const char *s);
/* domain/identifier: a subdomain of at most 63 bytes and a C identifier of at most 32
 * (resource.k8s.io FullyQualifiedName). */
bool tg_syntax_is_attribute(const char *s);

#endif
