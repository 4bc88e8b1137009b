/* SPDX-License-Identifier: Apache-2.0 */
/* A packer whose fleet and mix change from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "controller/core/pack/policy.h"
#include "controller/core/pack/residents.h"

enum { NODES = 200 };

static size_t valued;

/* What is free, counted. */
static void score(struct tg_packer *packer, const struct tg_pack_class *klass,
                  const struct tg_pack_request *request, struct tg_pack_score *ret)
{
    (void)packer;
    (void)request;
    valued++;
    ret->value = tg_pack_node_free(&klass->node);
}
static const struct tg_pack_policy counting = {.name = "counting", .score = score};

static const struct tg_pack_request one = {
    .cards = 1, .share = TG_PACK_CARD, .kinds = TG_PACK_ANY_KIND};

static struct tg_pack_node node_of(int64_t cpu, unsigned free_cards)
{
    struct tg_pack_node node = {.cpu = cpu, .memory = 1000, .cards = 4};

    for (unsigned i = 0; i < 4; i++)
        node.free[i] = i < free_cards ? TG_PACK_CARD : 0;
    return node;
}

static struct tg_packer *new_packer(const struct tg_pack_policy *policy)
{
    struct tg_packer *packer = tg_packer_new(policy);

    tg_packer_be_patient(packer);
    for (unsigned i = 0; i < NODES; i++) {
        struct tg_pack_node node = node_of(i, 4);

        tg_packer_add_node(packer, &node);
    }
    return packer;
}

static size_t rate_all(struct tg_packer *packer, unsigned type)
{
    valued = 0;
    tg_packer_begin(packer);
    for (unsigned i = 0; i < NODES; i++) {
        struct tg_pack_rating rating;

        assert_true(tg_packer_rate(packer, type, tg_packer_class(packer, i), &rating));
        assert_int_equal(rating.value, 4 * TG_PACK_CARD);
    }
    return valued;
}

static void a_new_mix_is_taken_up_a_little_at_a_time(void **state)
{
    struct tg_packer *packer = new_packer(&counting);
    static struct tg_mix mix;
    unsigned type;
    size_t rounds = 0, n;

    (void)state;
    type = tg_mix_type(&mix, &one);
    tg_mix_arrive(&mix, type, 1);
    tg_packer_set_mix(packer, &mix, false);
    assert_int_equal(rate_all(packer, type), NODES); /* there was nothing before */
    assert_int_equal(rate_all(packer, type), 0);
    tg_mix_arrive(&mix, type, 10);
    tg_packer_set_mix(packer, &mix, false);
    for (n = rate_all(packer, type); n > 0; n = rate_all(packer, type)) {
        assert_true(n <= 48);
        rounds++;
    }
    assert_int_equal(rounds, (NODES + 47) / 48);
    tg_packer_free(packer);
}

static void types_keep_their_values_when_their_numbers_change(void **state)
{
    struct tg_packer *packer = new_packer(&counting);
    static struct tg_mix before, after;
    struct tg_pack_request two = one;

    (void)state;
    two.cards = 2;
    tg_mix_arrive(&before, tg_mix_type(&before, &one), 1);
    tg_mix_arrive(&after, tg_mix_type(&after, &two), 1);
    tg_mix_arrive(&after, tg_mix_type(&after, &one), 1);
    tg_packer_set_mix(packer, &before, false);
    assert_int_equal(rate_all(packer, 0), NODES);
    tg_packer_set_mix(packer, &after, false);
    assert_true(rate_all(packer, 1) <= 48);
    tg_packer_free(packer);
}

static void a_node_is_what_was_said_of_it_last(void **state)
{
    struct tg_packer *packer = new_packer(tg_pack_policy("binpack"));
    struct tg_pack_node full = node_of(3, 0), tight = node_of(3, 1);
    struct tg_pack_rating a, b;
    unsigned type = tg_packer_type(packer, &one);
    uint32_t klass;

    (void)state;
    tg_packer_set_node(packer, 3, &tight, 0);
    tg_packer_set_node(packer, 4, &full, 0);
    tg_packer_begin(packer);
    assert_true(tg_packer_rate(packer, type, tg_packer_class(packer, 3), &a));
    assert_true(tg_packer_rate(packer, type, tg_packer_class(packer, 5), &b));
    assert_true(tg_pack_rating_better(&a, &b));
    assert_false(tg_packer_rate(packer, type, tg_packer_class(packer, 4), &b));
    assert_true(tg_pack_rating_better(&a, &b));
    /* A class that is held keeps its number while it is empty. */
    klass = tg_packer_class(packer, 3);
    tg_packer_pin(packer, klass);
    tg_packer_set_node(packer, 3, &full, 0);
    tg_packer_set_node(packer, 6, &full, 0);
    assert_int_not_equal(tg_packer_class(packer, 3), klass);
    tg_packer_set_node(packer, 3, &tight, 0);
    assert_int_equal(tg_packer_class(packer, 3), klass);
    tg_packer_unpin(packer, klass);
    assert_int_equal(tg_packer_class(packer, 3), klass);
    tg_packer_free(packer);
}

/* Who is on a node tells nodes apart for policies that look at it, and only for them. */
static void residents_count_where_they_are_looked_at(void **state)
{
    static const char *const names[] = {"fill", "binpack"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct tg_packer *packer = new_packer(tg_pack_policy(names[i]));
        struct tg_pack_node node = node_of(1000, 2);
        struct tg_pack_request two = one;
        uint64_t pair, couple;

        two.cards = 2;
        pair = tg_residents_add(tg_residents_add(0, &one, 1), &one, 1);
        couple = tg_residents_add(0, &two, 1);
        tg_packer_set_node(packer, 1, &node, pair);
        tg_packer_set_node(packer, 2, &node, couple);
        assert_int_equal(tg_packer_class(packer, 1) == tg_packer_class(packer, 2), i == 1);
        assert_true(tg_packer_residents(packer, 2) == couple);
        tg_packer_free(packer);
    }
}

/* So do domains: for others nodes of different ones are alike, and are valued once. */
static void domains_count_where_they_are_looked_at(void **state)
{
    static const char *const names[] = {"fill", "whole", "binpack", "fgd", "mig", "spread"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct tg_packer *packer = new_packer(tg_pack_policy(names[i]));
        struct tg_pack_node node = node_of(1000, 2);

        tg_packer_set_node(packer, 1, &node, 0);
        node.domain = 1;
        tg_packer_set_node(packer, 2, &node, 0);
        assert_int_equal(tg_packer_class(packer, 1) == tg_packer_class(packer, 2), i > 1);
        tg_packer_free(packer);
    }
}

/* Of what nobody expects no policy knows a value: the tightest node. */
static void what_is_not_in_the_mix_goes_to_the_tightest_node(void **state)
{
    struct tg_packer *packer = new_packer(&counting);
    struct tg_pack_node tight = node_of(3, 1);
    struct tg_pack_rating a, b;

    (void)state;
    tg_packer_set_node(packer, 3, &tight, 0);
    tg_packer_begin(packer);
    (void)tg_packer_rate(packer, TG_MIX_NO_TYPE, tg_packer_class(packer, 3), &a);
    (void)tg_packer_rate(packer, TG_MIX_NO_TYPE, tg_packer_class(packer, 4), &b);
    assert_true(tg_pack_rating_better(&a, &b));
    tg_packer_free(packer);
}

/* A place for a partition is gone, and nothing else. */
static void a_node_is_another_when_its_places_are(void **state)
{
    struct tg_packer *packer = new_packer(tg_pack_policy("fill"));
    struct tg_pack_node node = node_of(3, 4);

    (void)state;
    node.open = 3;
    tg_packer_set_node(packer, 3, &node, 0);
    tg_packer_set_node(packer, 4, &node, 0);
    assert_int_equal(tg_packer_class(packer, 3), tg_packer_class(packer, 4));
    node.open = 1;
    tg_packer_set_node(packer, 3, &node, 0);
    assert_int_not_equal(tg_packer_class(packer, 3), tg_packer_class(packer, 4));
    tg_packer_free(packer);
}

/* What is moved from sum to sum is what it would be if it were counted anew. */
static void expect_sums(const struct tg_packer *packer)
{
    int64_t total = 0, together[3] = {0};

    for (uint32_t i = 0; i < NODES; i++) {
        const struct tg_pack_node *node = tg_packer_node(packer, i);
        int64_t left = tg_pack_node_free(node);

        total += node->cards * TG_PACK_CARD;
        together[node->domain] += left * left;
    }
    assert_int_equal(packer->fleet.total, total);
    assert_int_equal(packer->fleet.capacity[0], total);
    for (unsigned i = 0; i < packer->n_domains; i++)
        assert_int_equal(packer->together[i], together[i]);
    for (unsigned k = 0; k < packer->reserve.n; k++) {
        int64_t places = 0;

        for (uint32_t i = 0; i < NODES; i++)
            places +=
                tg_pack_node_count(tg_packer_node(packer, i), &packer->reserve.special[k].request);
        assert_int_equal(packer->reserve.special[k].places, places);
    }
}

static void sums_follow_the_nodes(void **state)
{
    struct tg_packer *packer = new_packer(tg_pack_policy("fill"));
    static struct tg_mix mix;
    struct tg_pack_request pair = one, part = one;
    uint64_t random = 1;

    (void)state;
    pair.cards = 2;
    part.share = 300;
    tg_mix_arrive(&mix, tg_mix_type(&mix, &pair), 10);
    tg_mix_arrive(&mix, tg_mix_type(&mix, &part), 10);
    tg_packer_set_mix(packer, &mix, true);
    tg_packer_begin(packer);
    assert_true(packer->reserve.n > 0);
    for (unsigned i = 0; i < 500; i++) {
        struct tg_pack_node node;

        random = random * 6364136223846793005U + 1442695040888963407U;
        node = node_of(1000, (unsigned)(random >> 33) % 5);
        node.cards = (uint8_t)((random >> 40) % 5);
        node.domain = (uint16_t)((random >> 45) % 3);
        tg_packer_set_node(packer, (uint32_t)(random >> 50) % NODES, &node, 0);
        if (i % 50 == 0)
            expect_sums(packer);
    }
    expect_sums(packer);
    tg_packer_free(packer);
}

/* Requests leave from the first day on: where nobody wants more than a card, large parts of cards
 * are kept as special ones. */
static void a_fleet_that_lives_is_priced_so(void **state)
{
    struct tg_packer *packer = new_packer(tg_pack_policy("fill"));
    static struct tg_mix mix;
    struct tg_pack_request half = one;

    (void)state;
    half.share = TG_PACK_CARD / 2;
    tg_mix_arrive(&mix, tg_mix_type(&mix, &half), 100);
    tg_packer_set_mix(packer, &mix, true);
    tg_packer_begin(packer);
    assert_int_equal(packer->reserve.n, 1);
    tg_packer_free(packer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_mix_is_taken_up_a_little_at_a_time),
        cmocka_unit_test(types_keep_their_values_when_their_numbers_change),
        cmocka_unit_test(a_node_is_what_was_said_of_it_last),
        cmocka_unit_test(a_fleet_that_lives_is_priced_so),
        cmocka_unit_test(what_is_not_in_the_mix_goes_to_the_tightest_node),
        cmocka_unit_test(a_node_is_another_when_its_places_are),
        cmocka_unit_test(sums_follow_the_nodes),
        cmocka_unit_test(residents_count_where_they_are_looked_at),
        cmocka_unit_test(domains_count_where_they_are_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
