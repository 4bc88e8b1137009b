/* SPDX-License-Identifier: Apache-2.0 */
/* ip() and cidr(): pkg/cel/library/ip.go and cidr.go of the API server. */
#include <string.h>

#include "controller/core/cel/calls.h"
#include "controller/core/cel/net.h"

static int give_net(struct tg_cel_run *run, const struct tg_cel_node *call, uint8_t tag,
                    const struct tg_cel_net *net, struct tg_cel_value *ret)
{
    struct tg_cel_net *copy = tg_cel_alloc(run->scratch, sizeof(*copy));

    if (copy == NULL)
        return tg_cel_fail_memory(run, call);
    *copy = *net;
    *ret = (struct tg_cel_value){.tag = tag, .net = copy};
    return 0;
}

int tg_cel_call_ip(struct tg_cel_run *run, const struct tg_cel_node *call,
                   const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_net net;

    if (!tg_cel_net_parse_ip(args[0].text, args[0].length, &net))
        return tg_cel_fail_value(run, call, "not an IP address: ", &args[0]);
    return give_net(run, call, TG_CEL_V_IP, &net, ret);
}

int tg_cel_call_is_ip(struct tg_cel_run *run, const struct tg_cel_node *call,
                      const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_net net;

    (void)run;
    (void)call;
    *ret = tg_cel_bool(tg_cel_net_parse_ip(args[0].text, args[0].length, &net));
    return 0;
}

int tg_cel_call_ip_is_canonical(struct tg_cel_run *run, const struct tg_cel_node *call,
                                const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    char text[TG_CEL_NET_TEXT];
    struct tg_cel_net net;
    size_t n;

    if (!tg_cel_net_parse_ip(args[0].text, args[0].length, &net))
        return tg_cel_fail_value(run, call, "not an IP address: ", &args[0]);
    n = tg_cel_net_text(&net, false, text);
    *ret = tg_cel_bool(n == args[0].length && memcmp(text, args[0].text, n) == 0);
    return 0;
}

int tg_cel_call_ip_family(struct tg_cel_run *run, const struct tg_cel_node *call,
                          const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_int(args[0].net->n == 4 ? 4 : 6);
    return 0;
}

static bool all_zero(const struct tg_cel_net *net, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (net->bytes[i] != 0)
            return false;
    }
    return true;
}

static bool is_unspecified(const struct tg_cel_net *net)
{
    return all_zero(net, net->n);
}

static bool is_loopback(const struct tg_cel_net *net)
{
    return net->n == 4 ? net->bytes[0] == 127 : all_zero(net, 15) && net->bytes[15] == 1;
}

static bool is_link_local_multicast(const struct tg_cel_net *net)
{
    return net->n == 4 ? net->bytes[0] == 224 && net->bytes[1] == 0 && net->bytes[2] == 0
                       : net->bytes[0] == 0xff && (net->bytes[1] & 0x0f) == 2;
}

static bool is_link_local_unicast(const struct tg_cel_net *net)
{
    return net->n == 4 ? net->bytes[0] == 169 && net->bytes[1] == 254
                       : net->bytes[0] == 0xfe && (net->bytes[1] & 0xc0) == 0x80;
}

static bool is_global_unicast(const struct tg_cel_net *net)
{
    static const uint8_t broadcast[4] = {255, 255, 255, 255};
    bool multicast = net->n == 4 ? (net->bytes[0] & 0xf0) == 0xe0 : net->bytes[0] == 0xff;

    if (net->n == 4 && memcmp(net->bytes, broadcast, 4) == 0)
        return false;
    return !is_unspecified(net) && !is_loopback(net) && !multicast && !is_link_local_unicast(net);
}

#define PREDICATE(name)                                                                            \
    int tg_cel_call_ip_##name(struct tg_cel_run *run, const struct tg_cel_node *call,              \
                              const struct tg_cel_value *args, struct tg_cel_value *ret)           \
    {                                                                                              \
        (void)run;                                                                                 \
        (void)call;                                                                                \
        *ret = tg_cel_bool(name(args[0].net));                                                     \
        return 0;                                                                                  \
    }

PREDICATE(is_unspecified)
PREDICATE(is_loopback)
PREDICATE(is_link_local_multicast)
PREDICATE(is_link_local_unicast)
PREDICATE(is_global_unicast)

int tg_cel_call_cidr(struct tg_cel_run *run, const struct tg_cel_node *call,
                     const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_net net;

    if (!tg_cel_net_parse_cidr(args[0].text, args[0].length, &net))
        return tg_cel_fail_value(run, call, "not a CIDR: ", &args[0]);
    return give_net(run, call, TG_CEL_V_CIDR, &net, ret);
}

int tg_cel_call_is_cidr(struct tg_cel_run *run, const struct tg_cel_node *call,
                        const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_net net;

    (void)run;
    (void)call;
    *ret = tg_cel_bool(tg_cel_net_parse_cidr(args[0].text, args[0].length, &net));
    return 0;
}

int tg_cel_call_cidr_ip(struct tg_cel_run *run, const struct tg_cel_node *call,
                        const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_net net = *args[0].net;

    net.bits = (uint8_t)(net.n * 8);
    return give_net(run, call, TG_CEL_V_IP, &net, ret);
}

int tg_cel_call_cidr_prefix_length(struct tg_cel_run *run, const struct tg_cel_node *call,
                                   const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_int(args[0].net->bits);
    return 0;
}

static void mask(struct tg_cel_net *net, unsigned bits)
{
    for (unsigned i = 0; i < net->n; i++) {
        unsigned left = bits > 8 * i ? bits - 8 * i : 0;

        if (left < 8)
            net->bytes[i] &= (uint8_t)(0xff00U >> left);
    }
}

int tg_cel_call_cidr_masked(struct tg_cel_run *run, const struct tg_cel_node *call,
                            const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_net net = *args[0].net;

    mask(&net, net.bits);
    return give_net(run, call, TG_CEL_V_CIDR, &net, ret);
}

static bool contains(const struct tg_cel_net *cidr, const struct tg_cel_net *other)
{
    struct tg_cel_net a = *cidr, b = *other;

    if (a.n != b.n)
        return false;
    mask(&a, cidr->bits);
    mask(&b, cidr->bits);
    return memcmp(a.bytes, b.bytes, a.n) == 0;
}

int tg_cel_call_contains_ip(struct tg_cel_run *run, const struct tg_cel_node *call,
                            const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_net net;

    if (args[1].tag == TG_CEL_V_IP)
        net = *args[1].net;
    else if (!tg_cel_net_parse_ip(args[1].text, args[1].length, &net))
        return tg_cel_fail_value(run, call, "not an IP address: ", &args[1]);
    *ret = tg_cel_bool(contains(args[0].net, &net));
    return 0;
}

int tg_cel_call_contains_cidr(struct tg_cel_run *run, const struct tg_cel_node *call,
                              const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_net net;

    if (args[1].tag == TG_CEL_V_CIDR)
        net = *args[1].net;
    else if (!tg_cel_net_parse_cidr(args[1].text, args[1].length, &net))
        return tg_cel_fail_value(run, call, "not a CIDR: ", &args[1]);
    *ret = tg_cel_bool(args[0].net->bits <= net.bits && contains(args[0].net, &net));
    return 0;
}
