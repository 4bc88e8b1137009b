/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/check_scene.h"

#define FIRST(subs) "'requests':[{'name':'r','firstAvailable':[" subs "]}]"
#define SUB(name, more) "{'name':'" name "','deviceClassName':'c'" more "}"

static void every_request_gets_what_it_counts(void **state)
{
    static const struct scene scenes[] = {
        {.what = "one"},
        {.what = "two of two",
         .claims = CLAIM("x", "'requests':[" ASK("r", ",'count':2") "]",
                         GOT("r", "a", "") "," GOT("r", "b", ""))},
        {.what = "one of two",
         .rule = "Count",
         .claims = CLAIM("x", "'requests':[" ASK("r", ",'count':2") "]", GOT("r", "a", ""))},
        {.what = "two of one",
         .rule = "Count",
         .claims = CLAIM("x", ONE_ASK, GOT("r", "a", "") "," GOT("r", "b", ""))},
        {.what = "one request of two",
         .rule = "Count",
         .claims = CLAIM("x", "'requests':[" ASK("r", "") "," ASK("q", "") "]", GOT("r", "a", ""))},
        {.what = "a mode of the future",
         .rule = "Structure",
         .claims = CLAIM("x", "'requests':[" ASK("r", ",'allocationMode':'Some'") "]",
                         GOT("r", "a", ""))},
        {.what = "a class that is not there",
         .rule = "Unknown",
         .classes = "{'metadata':{'name':'other'},'spec':{}}"},
    };

    (void)state;
    PLAY(scenes);
}

static void results_belong_to_requests_of_the_claim(void **state)
{
    static const struct scene scenes[] = {
        {.what = "another's request",
         .rule = "Structure",
         .claims = CLAIM("x", ONE_ASK, GOT("q", "a", ""))},
        {.what = "a part of a request that has none",
         .rule = "Structure",
         .claims = CLAIM("x", ONE_ASK, GOT("r/s", "a", ""))},
        {.what = "no devices",
         .rule = "Structure",
         .claims = "{'metadata':{'name':'x'},'spec':{'devices':{" ONE_ASK "}},'status':{}}"},
        {.what = "a result without device",
         .rule = "Structure",
         .claims = CLAIM("x", ONE_ASK, "{'request':'r','driver':'d','pool':'p'}")},
    };

    (void)state;
    PLAY(scenes);
}

static void one_alternative_is_taken(void **state)
{
    static const struct scene scenes[] = {
        {.what = "the first",
         .claims =
             CLAIM("x", FIRST(SUB("one", "") "," SUB("two", ",'count':2")), GOT("r/one", "a", ""))},
        {.what = "the second",
         .claims = CLAIM("x", FIRST(SUB("one", "") "," SUB("two", ",'count':2")),
                         GOT("r/two", "a", "") "," GOT("r/two", "b", ""))},
        {.what = "a bit of both",
         .rule = "FirstAvailable",
         .claims = CLAIM("x", FIRST(SUB("one", "") "," SUB("two", ",'count':2")),
                         GOT("r/one", "a", "") "," GOT("r/two", "b", ""))},
        {.what = "none", .rule = "FirstAvailable", .claims = CLAIM("x", FIRST(SUB("one", "")), "")},
        {.what = "the request itself",
         .rule = "Structure",
         .claims = CLAIM("x", FIRST(SUB("one", "")), GOT("r", "a", ""))},
        {.what = "one that is not there",
         .rule = "Structure",
         .claims = CLAIM("x", FIRST(SUB("one", "")), GOT("r/two", "a", ""))},
        {.what = "the count of the alternative",
         .rule = "Count",
         .claims = CLAIM("x", FIRST(SUB("one", ",'count':2")), GOT("r/one", "a", ""))},
        {.what = "of two with one name any may be meant",
         .claims = CLAIM("x", FIRST(SUB("one", "") "," SUB("one", ",'count':2")),
                         GOT("r/one", "a", "") "," GOT("r/one", "b", ""))},
        {.what = "but one of them",
         .rule = "Count",
         .claims = CLAIM("x", FIRST(SUB("one", ",'count':3") "," SUB("one", ",'count':2")),
                         GOT("r/one", "a", ""))},
    };

    (void)state;
    PLAY(scenes);
}

static void what_is_not_switched_on_is_not_used(void **state)
{
    static const struct scene scenes[] = {
        {.what = "firstAvailable",
         .rule = "Feature",
         .off = TG_CHECK_PRIORITIZED_LIST,
         .claims = CLAIM("x", FIRST(SUB("one", "")), GOT("r/one", "a", ""))},
        {.what = "adminAccess, even if false",
         .rule = "Feature",
         .off = TG_CHECK_ADMIN_ACCESS,
         .claims =
             CLAIM("x", "'requests':[" ASK("r", ",'adminAccess':false") "]", GOT("r", "a", ""))},
        {.what = "capacity",
         .rule = "Feature",
         .off = TG_CHECK_CONSUMABLE_CAPACITY,
         .claims = CLAIM("x", "'requests':[" ASK("r", ",'capacity':{}") "]", GOT("r", "a", ""))},
        {.what = "capacity of an alternative that is not taken",
         .rule = "Feature",
         .off = TG_CHECK_CONSUMABLE_CAPACITY,
         .claims = CLAIM("x", FIRST(SUB("one", "") "," SUB("two", ",'capacity':{}")),
                         GOT("r/one", "a", ""))},
    };

    (void)state;
    PLAY(scenes);
}

static void a_claim_has_at_most_32_devices(void **state)
{
    char devices[2048], results[4096], claim[8192];
    struct scene scene = {.what = "many", .slices = devices, .claims = claim};

    (void)state;
    for (int n = 32; n <= 33; n++) {
        size_t at = 0, to = 0;
        struct tg_arena *arena = tg_arena_new((size_t)4 << 20);
        struct tg_error err = TG_ERROR_INIT;
        int rc;

        at += (size_t)snprintf(devices, sizeof(devices),
                               "{'metadata':{'name':'s'},'spec':{"
                               "'driver':'d','pool':{'name':'p','generation':1,"
                               "'resourceSliceCount':1}," HERE ",'devices':[");
        for (int i = 0; i < n; i++) {
            at += (size_t)snprintf(devices + at, sizeof(devices) - at, "%s{'name':'a%d'}",
                                   i == 0 ? "" : ",", i);
            to += (size_t)snprintf(results + to, sizeof(results) - to,
                                   "%s{'request':'r','driver':'d','pool':'p','device':'a%d'}",
                                   i == 0 ? "" : ",", i);
        }
        snprintf(devices + at, sizeof(devices) - at, "]}}");
        snprintf(
            claim, sizeof(claim),
            "{'metadata':{'name':'x'},'spec':{'devices':{'requests':[" ASK(
                "r", ",'count':%d") "]}},'status':{'allocation':{'devices':{'results':[%s]}," PINNED
                                    "}}}",
            n, results);
        rc = scene_judge(&scene, arena, &err);
        assert_int_equal(rc, n == 32 ? 0 : -TG_FAILED_PRECONDITION);
        assert_string_equal(err.reason, n == 32 ? "" : "Structure");
        tg_arena_free(arena);
    }
}

static void the_message_names_claim_request_and_device(void **state)
{
    static const struct scene scene = {.what = "taken",
                                       .held = "{'driver':'d','pool':'p','device':'a'}"};
    struct tg_arena *arena = tg_arena_new((size_t)4 << 20);
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    assert_int_equal(scene_judge(&scene, arena, &err), -TG_FAILED_PRECONDITION);
    assert_string_equal(err.message,
                        "claim x: request r: device d/p/a: another claim has the device");
    tg_arena_free(arena);
}

static void memory_that_runs_out_is_no_verdict(void **state)
{
    static const struct scene scene = {
        .what = "small",
        .classes = "{'metadata':{'name':'c'},'spec':{'selectors':[{'cel':{'expression':"
                   "'device.driver == \\'d\\''}}]}}",
        .claims = CLAIM("x",
                        "'requests':[" ASK(
                            "r", "") "],'constraints':[{'matchAttribute':"
                                     "'d/k'}],'config':[{'opaque':{'driver':'d','parameters':{}}}]",
                        GOT("r", "a", ""))};
    size_t refused = 0;

    (void)state;
    /* Decoding takes its part first, so the arena may fail there too. */
    for (size_t nth = 1; nth < 200; nth++) {
        struct scene_objects o;
        struct tg_arena *objects = tg_arena_new((size_t)4 << 20);
        struct tg_arena *arena = tg_arena_new((size_t)4 << 20);
        const struct tg_device_class *classes[1];
        const struct tg_resource_slice *slices[1];
        struct tg_check_claim claim;
        struct tg_check_input in = {.features = ~0U, .minor = 37};
        int rc;

        scene_read(&scene, objects, &o);
        classes[0] = o.classes.items;
        slices[0] = o.slices.items;
        claim = (struct tg_check_claim){.claim = o.claims.items};
        in.node = o.node;
        in.classes = classes;
        in.slices = slices;
        in.claims = &claim;
        in.n_classes = in.n_slices = in.n_claims = 1;
        tg_arena_fail_after(arena, nth);
        rc = tg_check_allocation(&in, arena, NULL);
        refused += rc == -TG_RESOURCE_EXHAUSTED;
        assert_true(rc == -TG_RESOURCE_EXHAUSTED || rc == -TG_FAILED_PRECONDITION);
        tg_arena_free(arena);
        tg_arena_free(objects);
    }
    assert_true(refused > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_gets_what_it_counts),
        cmocka_unit_test(results_belong_to_requests_of_the_claim),
        cmocka_unit_test(one_alternative_is_taken),
        cmocka_unit_test(what_is_not_switched_on_is_not_used),
        cmocka_unit_test(a_claim_has_at_most_32_devices),
        cmocka_unit_test(the_message_names_claim_request_and_device),
        cmocka_unit_test(memory_that_runs_out_is_no_verdict),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
