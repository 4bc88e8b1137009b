/* SPDX-License-Identifier: Apache-2.0 */
/* Gangs: the members one after another, in the domain that the policy wants. */
#include <stdlib.h>

#include "api/runtime/base/mem.h"
#include "controller/core/pack/policy.h"

struct domain {
    int64_t places, free;
    uint32_t number;
};

static int compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_number(const void *pa, const void *pb)
{
    const struct domain *a = pa, *b = pb;

    return compare(a->number, b->number);
}

static int by_cards(const void *pa, const void *pb)
{
    const struct domain *a = pa, *b = pb;

    return a->free != b->free ? compare(a->free, b->free) : by_number(pa, pb);
}

static int by_places(const void *pa, const void *pb)
{
    const struct domain *a = pa, *b = pb;

    return a->places != b->places ? compare(a->places, b->places) : by_cards(pa, pb);
}

static int by_emptiness(const void *pa, const void *pb)
{
    const struct domain *a = pa, *b = pb;

    return a->free != b->free ? compare(b->free, a->free) : by_number(pa, pb);
}

static int (*const orders[])(const void *, const void *) = {
    [TG_PACK_TIGHTEST] = by_places,
    [TG_PACK_EMPTIEST] = by_emptiness,
    [TG_PACK_FEWEST_CARDS] = by_cards,
    [TG_PACK_FIRST] = by_number,
};

/* The domains that have places for all members, in the policy's order. */
static struct domain *find_domains(const struct tg_packer *packer, const struct tg_pack_gang *gang,
                                   uint32_t *ret_n)
{
    const struct tg_pack_request *request = &packer->mix.types[gang->type].request;
    struct domain *domains = tg_xcalloc(packer->n_domains, sizeof(*domains));

    for (uint32_t i = 0; i < packer->n_domains; i++)
        domains[i].number = i;
    for (uint32_t i = 0; i < packer->classes.n_live; i++) {
        const struct tg_pack_class *klass = &packer->classes.items[packer->classes.live[i]];
        struct domain *domain = &domains[klass->node.domain];

        domain->places += tg_pack_node_count(&klass->node, request) * klass->nodes;
        domain->free += tg_pack_node_free(&klass->node) * klass->nodes;
    }
    *ret_n = 0;
    for (uint32_t i = 0; i < packer->n_domains; i++) {
        if (domains[i].places >= gang->members)
            domains[(*ret_n)++] = domains[i];
    }
    qsort(domains, *ret_n, sizeof(*domains), orders[packer->policy->domains]);
    return domains;
}

static bool put_all(struct tg_packer *packer, const struct tg_pack_gang *gang,
                    struct tg_pack_choice *choices)
{
    uint32_t n = 0;

    while (n < gang->members && tg_packer_choose(packer, gang->type, &choices[n])) {
        tg_packer_put(packer, gang->type, &choices[n]);
        n++;
    }
    if (n == gang->members)
        return true;
    while (n > 0)
        tg_packer_take(packer, gang->type, &choices[--n]);
    return false;
}

bool tg_packer_put_gang(struct tg_packer *packer, const struct tg_pack_gang *gang,
                        struct tg_pack_choice *choices)
{
    struct domain *domains;
    uint32_t n = 0;
    bool placed = false;

    if (!gang->together)
        return put_all(packer, gang, choices);
    domains = find_domains(packer, gang, &n);
    for (uint32_t i = 0; i < n && !placed; i++) {
        packer->domain = domains[i].number;
        placed = put_all(packer, gang, choices);
    }
    packer->domain = TG_PACK_ANY_DOMAIN;
    free(domains);
    return placed;
}
