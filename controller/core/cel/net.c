/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/net.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static bool is_ipv4_in_ipv6(const uint8_t *bytes)
{
    static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    return memcmp(bytes, prefix, sizeof(prefix)) == 0;
}

bool tg_cel_net_parse_ip(const char *text, size_t n, struct tg_cel_net *ret)
{
    char copy[INET6_ADDRSTRLEN];

    if (n == 0 || n >= sizeof(copy) || memchr(text, '\0', n) != NULL)
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    *ret = (struct tg_cel_net){.n = strchr(copy, ':') != NULL ? 16 : 4};
    if (inet_pton(ret->n == 16 ? AF_INET6 : AF_INET, copy, ret->bytes) != 1)
        return false;
    ret->bits = (uint8_t)(ret->n * 8);
    return ret->n == 4 || !is_ipv4_in_ipv6(ret->bytes);
}

bool tg_cel_net_parse_cidr(const char *text, size_t n, struct tg_cel_net *ret)
{
    const char *slash = n == 0 ? NULL : memrchr(text, '/', n);
    const char *digits = slash == NULL ? NULL : slash + 1;
    size_t length = slash == NULL ? 0 : (size_t)(text + n - digits);
    unsigned bits = 0;

    if (length == 0 || length > 3 || (length > 1 && *digits == '0') ||
        !tg_cel_net_parse_ip(text, (size_t)(slash - text), ret))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return false;
        bits = bits * 10 + (unsigned)(digits[i] - '0');
    }
    if (bits > ret->n * 8U)
        return false;
    ret->bits = (uint8_t)bits;
    return true;
}

bool tg_cel_net_equal(const struct tg_cel_net *a, const struct tg_cel_net *b)
{
    return a->n == b->n && a->bits == b->bits && memcmp(a->bytes, b->bytes, a->n) == 0;
}

uint64_t tg_cel_net_size(const struct tg_cel_net *net, bool cidr)
{
    return cidr ? (net->bits + 7U) / 8U : net->n;
}

/* The longest run of at least two zero groups, the first of equals: [*start, *end). */
static void longest_zeros(const uint16_t *groups, int *start, int *end)
{
    *start = *end = -1;
    for (int i = 0; i < 8; i++) {
        int j = i;

        while (j < 8 && groups[j] == 0)
            j++;
        if (j - i >= 2 && j - i > *end - *start) {
            *start = i;
            *end = j;
        }
        i = j > i ? j - 1 : i;
    }
}

static size_t ipv6_text(const struct tg_cel_net *net, char *out, size_t n)
{
    uint16_t groups[8];
    int start, end;
    size_t used = 0;

    for (int i = 0; i < 8; i++)
        groups[i] = (uint16_t)(net->bytes[2 * i] << 8 | net->bytes[2 * i + 1]);
    longest_zeros(groups, &start, &end);
    for (int i = 0; i < 8; i++) {
        if (i == start) {
            used += (size_t)snprintf(out + used, n - used, "::");
            i = end - 1;
            continue;
        }
        used +=
            (size_t)snprintf(out + used, n - used, "%s%x", i > 0 && i != end ? ":" : "", groups[i]);
    }
    return used;
}

size_t tg_cel_net_text(const struct tg_cel_net *net, bool cidr, char *out)
{
    const uint8_t *b = net->bytes;
    size_t n = net->n == 16
                   ? ipv6_text(net, out, TG_CEL_NET_TEXT)
                   : (size_t)snprintf(out, TG_CEL_NET_TEXT, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);

    if (cidr)
        n += (size_t)snprintf(out + n, TG_CEL_NET_TEXT - n, "/%u", net->bits);
    return n;
}
