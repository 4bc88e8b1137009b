/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/search.h"
#include "tests/unit/core/fit_world.h"

static void expect(struct trial *t, enum tg_fit_outcome outcome, size_t max_steps)
{
    if (trial_search_in(t, max_steps) != outcome)
        fail_msg("outcome %d after %zu steps, expected %d", (int)t->answer.outcome, t->answer.steps,
                 (int)outcome);
}

static void one_device_too_many_is_proven_in_few_steps(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 64);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("a", "32", "") "]");
    trial_claim(&t, "\"requests\":[" REQUEST("a", "32", "") "]");
    expect(&t, TG_FIT_ALLOCATED, 2000);
    trial_claim(&t, "\"requests\":[" REQUEST("a", "1", "") "]");
    expect(&t, TG_FIT_UNALLOCATABLE, 2000);
    trial_done(&t);
}

#define BIG_OR_SMALL                                                                               \
    ",\"firstAvailable\":[" ALTERNATIVE("big", "32", "") "," ALTERNATIVE("small", "16", "") "]}"

static void alternatives_share_the_limit_of_results(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 64);
    trial_open(&t);
    trial_claim(&t,
                "\"requests\":[{\"name\":\"x\"" BIG_OR_SMALL ",{\"name\":\"y\"" BIG_OR_SMALL "]");
    expect(&t, TG_FIT_ALLOCATED, 500);
    assert_int_equal(t.answer.n_takes, 32);
    assert_string_equal(t.answer.takes[0].choice->name, "x/small");
    assert_string_equal(t.answer.takes[31].choice->name, "y/small");
    trial_done(&t);
}

static void a_choice_that_leaves_too_little_is_taken_back(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 3);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("two", "2", "") "," REQUEST(
                        "first", "1", SELECT(IS("index", "0"))) "]");
    expect(&t, TG_FIT_ALLOCATED, 0);
    assert_int_equal(t.answer.takes[0].device, 1);
    assert_int_equal(t.answer.takes[1].device, 2);
    assert_int_equal(t.answer.takes[2].device, 0);
    trial_done(&t);
}

static void earlier_alternatives_are_kept_when_another_device_helps(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 2);
    trial_open(&t);
    trial_claim(&t,
                "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[" ALTERNATIVE(
                    "any", "1",
                    "") "," ALTERNATIVE("last", "1",
                                        SELECT(IS("index", "1"))) "]}"
                                                                  "," REQUEST("z", "1",
                                                                              SELECT(IS("index",
                                                                                        "0"))) "]");
    expect(&t, TG_FIT_ALLOCATED, 0);
    assert_string_equal(t.answer.takes[0].choice->name, "r/any");
    assert_int_equal(t.answer.takes[0].device, 1);
    trial_done(&t);
}

/* All devices do not have one value in common: where nothing else is known that would be an error,
 * but there is a solution, and it is not the best one yet. */
static void a_better_alternative_is_looked_for_past_an_error_of_all(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 4);
    trial_open(&t);
    trial_claim(
        &t,
        "\"requests\":[" REQUEST("a", "2", "") ",{\"name\":\"r\",\"firstAvailable\":[" ALTERNATIVE(
            "low", "2",
            SELECT("device.attributes['d'].index < 2")) ",{\"name\":"
                                                        "\"every\",\"deviceClassName\":\"any\","
                                                        "\"allocationMode\":\"All\"}," ALTERNATIVE(
                                                            "one", "1",
                                                            "") "]}],\"constraints\":[{"
                                                                "\"requests\":[\"r\"],"
                                                                "\"matchAttribute\":\"d/half\"}]");
    expect(&t, TG_FIT_ALLOCATED, 0);
    assert_int_equal(t.answer.n_takes, 4);
    assert_string_equal(t.answer.takes[3].choice->name, "r/low");
    trial_done(&t);
}

/* The last device has no index: a selector that reads it fails there, and is never asked. */
static void a_better_alternative_is_looked_for_past_a_selector_that_fails(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_devices(&t, "{\"name\":\"a\",\"attributes\":{\"index\":{\"int\":0},\"n\":{\"int\":0}}},"
                    "{\"name\":\"b\",\"attributes\":{\"index\":{\"int\":1},\"n\":{\"int\":1}}},"
                    "{\"name\":\"c\",\"attributes\":{\"n\":{\"int\":2}}}");
    trial_open(&t);
    trial_claim(
        &t, "\"requests\":[" REQUEST("any", "1", "") "," REQUEST(
                "z", "1",
                SELECT(IS("index", "1"))) ",{\"name\":\"r\",\"firstAvailable\":"
                                          "[" ALTERNATIVE(
                                              "first", "1",
                                              SELECT(IS("n", "0"))) "," ALTERNATIVE("other", "1",
                                                                                    "") "]}"
                                                                                        "]");
    expect(&t, TG_FIT_ALLOCATED, 0);
    assert_string_equal(t.answer.takes[2].choice->name, "r/first");
    trial_done(&t);
}

static void alike_cards_are_tried_once(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_cards(&t, 8);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("h", "9", SELECT(IS("part", "'half'"))) "," REQUEST(
                        "w", "3", SELECT(IS("part", "'whole'"))) "]");
    expect(&t, TG_FIT_ALLOCATED, 3000);
    trial_claim(&t, "\"requests\":[" REQUEST("w", "1", SELECT(IS("part", "'whole'"))) "]");
    expect(&t, TG_FIT_UNALLOCATABLE, 3000);
    trial_done(&t);
}

/* In the order of requests the small ones would be spread over cards first. */
static void what_is_in_the_way_of_most_is_placed_first(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_cards(&t, 6);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("h", "6", SELECT(IS("part", "'half'"))) "," REQUEST(
                        "w", "3", SELECT(IS("part", "'whole'"))) "]");
    expect(&t, TG_FIT_ALLOCATED, 500);
    assert_string_equal(t.answer.takes[0].choice->name, "h");
    assert_string_equal(t.answer.takes[8].choice->name, "w");
    trial_done(&t);
}

/* All together, every way to serve the first two would be tried with the third. */
static void a_claim_that_fails_alone_is_found_so(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 20);
    trial_open(&t);
    for (size_t i = 0; i < 2; i++)
        trial_claim(
            &t,
            "\"requests\":[" REQUEST(
                "a", "3",
                SELECT(
                    "device.attributes['d'].index < 15")) "," REQUEST("b", "3",
                                                                      SELECT(
                                                                          "device.attributes['d']."
                                                                          "index > 5")) "],"
                                                                                        "\"constrai"
                                                                                        "nts\":[{"
                                                                                        "\"distinct"
                                                                                        "Attribute"
                                                                                        "\":\"d/"
                                                                                        "half\"}]");
    trial_claim(&t,
                "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[" ALTERNATIVE(
                    "s", "3", "") "," ALTERNATIVE("t", "4", "") "]}],\"constraints\":[{"
                                                                "\"matchAttribute\":\"d/half\"}]");
    expect(&t, TG_FIT_UNALLOCATABLE, 5000);
    trial_done(&t);
}

/* A constraint that forbids one of all devices is an error, so the built-in allocator's order would
 * have to be kept; of no devices none is forbidden. */
static void all_of_nothing_under_a_constraint_is_proven_like_anything_else(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 16);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("a", "5", "") "," REQUEST(
                        "b", "4", SELECT("device.attributes['d'].index < 12")) "]");
    trial_claim(&t,
                "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"any\","
                "\"allocationMode\":\"All\"" SELECT(
                    "device.driver == 'none'") "}}],"
                                               "\"constraints\":[{\"matchAttribute\":\"d/half\"}]");
    expect(&t, TG_FIT_UNALLOCATABLE, 5000);
    trial_done(&t);
}

static void without_steps_it_says_that_it_gave_up(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 8);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("a", "8", "") "]");
    expect(&t, TG_FIT_GAVE_UP, 3);
    assert_int_equal(t.answer.n_takes, 0);
    trial_done(&t);
}

/* The built-in allocator meets the failing selector only if no earlier device will do. */
static void a_failing_selector_counts_when_it_is_met(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_devices(&t, "{\"name\":\"a\",\"attributes\":{\"x\":{\"int\":1}}},{\"name\":\"b\"}");
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", SELECT(IS("x", "1"))) "]");
    expect(&t, TG_FIT_ALLOCATED, 0);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", SELECT(IS("x", "1"))) "]");
    expect(&t, TG_FIT_ERROR, 0);
    assert_int_equal(t.answer.problem.fault, TG_FAULT_CEL_RUNTIME);
    trial_done(&t);
}

static void all_that_a_constraint_forbids_is_an_error(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 4);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"any\","
                    "\"allocationMode\":\"All\"}}],\"constraints\":[{\"matchAttribute\":\"d/half\"}"
                    "]");
    expect(&t, TG_FIT_ERROR, 0);
    assert_int_equal(t.answer.problem.fault, TG_FAULT_CONSTRAINT_ALL);
    trial_done(&t);
}

static void admin_access_may_have_what_others_have_but_nothing_twice(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 1);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", "") "]");
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", ",\"adminAccess\":true") "]");
    expect(&t, TG_FIT_ALLOCATED, 0);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "2", ",\"adminAccess\":true") "]");
    expect(&t, TG_FIT_UNALLOCATABLE, 0);
    trial_done(&t);
}

static void shares_fill_a_device_before_the_next(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_devices(&t, "{\"name\":\"a\",\"allowMultipleAllocations\":true,\"capacity\":{\"m\":{"
                    "\"value\":\"10\"}}},{\"name\":\"b\",\"allowMultipleAllocations\":true,"
                    "\"capacity\":{\"m\":{\"value\":\"10\"}}}");
    trial_open(&t);
    for (size_t i = 0; i < 2; i++)
        trial_claim(&t, "\"requests\":[" REQUEST("r", "1",
                                                 ",\"capacity\":{\"requests\":{\"m\":\"4\"}}") "]");
    for (size_t i = 0; i < 2; i++)
        trial_claim(&t, "\"requests\":[" REQUEST("r", "1",
                                                 ",\"capacity\":{\"requests\":{\"m\":\"6\"}}") "]");
    expect(&t, TG_FIT_ALLOCATED, 0);
    trial_claim(
        &t, "\"requests\":[" REQUEST("r", "1", ",\"capacity\":{\"requests\":{\"m\":\"1\"}}") "]");
    expect(&t, TG_FIT_UNALLOCATABLE, 0);
    trial_done(&t);
}

/* Random instances against a search that leaves nothing out: same state, no bounds, no order, no
 * memory. */
struct naive {
    struct trial *t;
    unsigned vector; /* a bit a request: the alternative that it has to take */
};

static bool naive_pick(struct naive *n, size_t claim, size_t request,
                       const struct tg_fit_choice *choice, size_t found, size_t start);

static bool naive_request(struct naive *n, size_t claim, size_t request);

/* The first request has the highest bit, so that counting up goes from the best to the worst. */
static const struct tg_fit_choice *chosen(const struct naive *n, size_t claim, size_t request,
                                          const struct tg_fit_request *r)
{
    unsigned bit = 1U << (5 - claim * 3 - request);

    return &r->choices[r->n_choices > 1 && (n->vector & bit) != 0];
}

/* The best alternatives with which there is a solution. */
static bool naive_search(struct naive *n)
{
    for (n->vector = 0; n->vector < 64; n->vector++) {
        if (naive_request(n, 0, 0))
            return true;
    }
    return false;
}

static bool naive_request(struct naive *n, size_t claim, size_t request)
{
    const struct tg_fit_request *r;

    for (; claim < n->t->n_claims && request == n->t->claims[claim].n_requests; claim++)
        request = 0;
    if (claim == n->t->n_claims)
        return true;
    r = &n->t->claims[claim].requests[request];
    return naive_pick(n, claim, request, chosen(n, claim, request, r), 0, 0);
}

static bool naive_pick(struct naive *n, size_t claim, size_t request,
                       const struct tg_fit_choice *choice, size_t found, size_t start)
{
    struct trial *t = n->t;

    if (found == choice->count)
        return naive_request(n, claim, request + 1);
    for (size_t d = start; d < t->view.n_devices; d++) {
        if (tg_fit_table_cell(&t->table, choice->want, d) != TG_CELL_YES ||
            tg_fit_state_take(&t->state, claim, choice, d) != TG_TAKE_DONE)
            continue;
        if (naive_pick(n, claim, request, choice, found + 1, d + 1))
            return true;
        tg_fit_state_undo(&t->state);
    }
    return false;
}

static unsigned draw(uint64_t *seed, unsigned n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*seed >> 33) % n;
}

static void random_request(uint64_t *seed, char *json, size_t size, size_t name)
{
    static const char *const selectors[] = {
        "", SELECT(IS("part", "'half'")), SELECT(IS("part", "'whole'")),
        SELECT("device.attributes['d'].card < 2"), SELECT("device.attributes['d'].card != 1")};
    const char *a = selectors[draw(seed, TG_ARRAY_SIZE(selectors))];
    const char *b = selectors[draw(seed, TG_ARRAY_SIZE(selectors))];
    unsigned n = 1 + draw(seed, 3), m = 1 + draw(seed, 2);

    if (draw(seed, 3) > 0)
        snprintf(json, size,
                 "{\"name\":\"r%zu\",\"exactly\":{\"deviceClassName\":\"any\",\"count\":%u%s}}",
                 name, n, a);
    else
        snprintf(json, size,
                 "{\"name\":\"r%zu\",\"firstAvailable\":[{\"name\":\"s\",\"deviceClassName\":"
                 "\"any\",\"count\":%u%s},{\"name\":\"t\",\"deviceClassName\":\"any\",\"count\":%u"
                 "%s}]}",
                 name, n, a, m, b);
}

#define SPLIT_CONSTRAINTS                                                                          \
    ",\"constraints\":[{\"requests\":[\"r0\"],\"matchAttribute\":\"d/part\"},{\"requests\":["      \
    "\"r1\"],\"distinctAttribute\":\"d/card\"}]"

static void random_claim(struct trial *t, uint64_t *seed)
{
    static const char *const constraints[] = {
        "", ",\"constraints\":[{\"matchAttribute\":\"d/card\"}]",
        ",\"constraints\":[{\"distinctAttribute\":\"d/card\"}]", SPLIT_CONSTRAINTS};
    char one[1024], json[4096];
    size_t at = 0, n = 1 + draw(seed, 3);

    at += (size_t)snprintf(json, sizeof(json), "\"requests\":[");
    for (size_t i = 0; i < n; i++) {
        random_request(seed, one, sizeof(one), i);
        at += (size_t)snprintf(json + at, sizeof(json) - at, "%s%s", i == 0 ? "" : ",", one);
    }
    snprintf(json + at, sizeof(json) - at, "]%s",
             constraints[draw(seed, TG_ARRAY_SIZE(constraints))]);
    trial_claim(t, json);
}

static void pruning_never_changes_the_answer(void **state)
{
    size_t placed = 0;

    (void)state;
    for (uint64_t round = 1; round <= 300; round++) {
        uint64_t seed = round * UINT64_C(0x9e3779b97f4a7c15);
        struct naive naive = {.vector = 0};
        struct trial t;
        bool found;

        trial_init(&t);
        add_cards(&t, 2 + draw(&seed, 3));
        trial_open(&t);
        for (size_t i = 1 + draw(&seed, 2); i > 0; i--)
            random_claim(&t, &seed);
        trial_state(&t);
        naive.t = &t;
        found = naive_search(&naive);
        if (trial_search(&t) != (found ? TG_FIT_ALLOCATED : TG_FIT_UNALLOCATABLE))
            fail_msg("round %llu: outcome %d, %s by exhaustion", (unsigned long long)round,
                     (int)t.answer.outcome, found ? "there is one" : "there is none");
        for (size_t i = 0; found && i < t.answer.n_takes; i++)
            assert_ptr_equal(t.answer.takes[i].choice, t.state.takes[i].choice);
        placed += found;
        trial_done(&t);
    }
    assert_in_range(placed, 60, 240);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_device_too_many_is_proven_in_few_steps),
        cmocka_unit_test(alternatives_share_the_limit_of_results),
        cmocka_unit_test(a_choice_that_leaves_too_little_is_taken_back),
        cmocka_unit_test(earlier_alternatives_are_kept_when_another_device_helps),
        cmocka_unit_test(a_better_alternative_is_looked_for_past_an_error_of_all),
        cmocka_unit_test(a_better_alternative_is_looked_for_past_a_selector_that_fails),
        cmocka_unit_test(alike_cards_are_tried_once),
        cmocka_unit_test(what_is_in_the_way_of_most_is_placed_first),
        cmocka_unit_test(a_claim_that_fails_alone_is_found_so),
        cmocka_unit_test(all_of_nothing_under_a_constraint_is_proven_like_anything_else),
        cmocka_unit_test(without_steps_it_says_that_it_gave_up),
        cmocka_unit_test(a_failing_selector_counts_when_it_is_met),
        cmocka_unit_test(all_that_a_constraint_forbids_is_an_error),
        cmocka_unit_test(admin_access_may_have_what_others_have_but_nothing_twice),
        cmocka_unit_test(shares_fill_a_device_before_the_next),
        cmocka_unit_test(pruning_never_changes_the_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
