/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses and CIDRs, as Go's net/netip: no zones, no IPv4 in IPv6. */
#ifndef TG_CORE_CEL_NET_H
#define TG_CORE_CEL_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tg_cel_net {
    uint8_t bytes[16]; /* IPv4: the first 4 */
    uint8_t n;         /* 4 or 16 */
    uint8_t bits;      /* CIDR: of the prefix */
};

/* NUL included. */
#define TG_CEL_NET_TEXT 64

bool tg_cel_net_parse_ip(const char *text, size_t n, struct tg_cel_net *ret);
bool tg_cel_net_parse_cidr(const char *text, size_t n, struct tg_cel_net *ret);
bool tg_cel_net_equal(const struct tg_cel_net *a, const struct tg_cel_net *b);
/* Bytes: of the address, or of the prefix rounded up. */
uint64_t tg_cel_net_size(const struct tg_cel_net *net, bool cidr);
/* The canonical text; its length. */
size_t tg_cel_net_text(const struct tg_cel_net *net, bool cidr, char *out);

#endif
