/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/check_scene.h"

#define SET(name, counters) "{'name':'" name "','counters':{" counters "}}"
#define COUNTERS(slice, sets) SLICE(slice, "p", "2", HERE, "'sharedCounters':[" sets "]")
#define USES(set, counters)                                                                        \
    "'consumesCounters':[{'counterSet':'" set "','counters':{" counters "}}]"
#define G(n) "'g':{'value':'" n "'}"
#define DEVICES(devices) SLICE("s", "p", "2", HERE, "'devices':[" devices "]")
#define PARTS                                                                                      \
    "{'name':'a'," USES("set", G("3")) "},{'name':'b'," USES("set", G("2")) "},{'name':'c'}"
#define TEST_POOL(g) COUNTERS("t", SET("set", G(g))) "," DEVICES(PARTS)
#define BOTH                                                                                       \
    CLAIM("x", "'requests':[" ASK("r", ",'count':2") "]", GOT("r", "a", "") "," GOT("r", "b", ""))
#define HELD(device) "{'driver':'d','pool':'p','device':'" device "'}"

static void counters_are_not_passed(void **state)
{
    static const struct scene scenes[] = {
        {.what = "exactly enough", .slices = TEST_POOL("5"), .claims = BOTH},
        {.what = "not enough for both",
         .rule = "Counters",
         .slices = TEST_POOL("4"),
         .claims = BOTH},
        {.what = "not enough for one", .rule = "Counters", .slices = TEST_POOL("2")},
        {.what = "beside what others have", .slices = TEST_POOL("5"), .held = HELD("b")},
        {.what = "not beside what others have",
         .rule = "Counters",
         .slices = TEST_POOL("4"),
         .held = HELD("b")},
        {.what = "on another node",
         .rule = "Counters",
         .slices =
             SLICE("t", "p", "3", HERE, "'sharedCounters':[" SET("set", G("4")) "]") "," SLICE(
                 "s", "p", "3", HERE,
                 "'devices':[{'name':'a'," USES(
                     "set", G("3")) "}]") "," SLICE("u", "p", "3", "'nodeName':'n2'",
                                                    "'devices':[{'name':'b'," USES("set",
                                                                                   G("2")) "}]"),
         .held = HELD("b")},
        {.what = "another pool has a set of the same name",
         .slices = TEST_POOL("3") "," SLICE("u", "q", "1", HERE, "'devices':[{'name':'b'}]"),
         .held = "{'driver':'d','pool':'q','device':'b'}"},
        {.what = "a set that is used up blocks every device with counters",
         .rule = "Counters",
         .slices = COUNTERS("t", SET("set", G("9")) "," SET("other", G("1"))) "," DEVICES(
             "{'name':'a'," USES("set", G("3")) "},{'name':'b'," USES("other", G("2")) "}"),
         .held = HELD("b")},
        {.what = "but none without",
         .slices = TEST_POOL("1"),
         .held = HELD("b"),
         .claims = CLAIM("x", ONE_ASK, GOT("r", "c", ""))},
        {.what = "no quantity", .rule = "Counters", .slices = TEST_POOL("many")},
        {.what = "not switched on",
         .rule = "Feature",
         .off = TG_CHECK_PARTITIONABLE_DEVICES,
         .slices = POOL("{'name':'a'," USES("set", G("3")) "}")},
    };

    (void)state;
    PLAY(scenes);
}

static void counter_sets_are_there_once(void **state)
{
    static const struct scene scenes[] = {
        {.what = "twice",
         .rule = "Pool",
         .slices = COUNTERS("t", SET("set", G("5")) "," SET("set", G("5"))) "," DEVICES(PARTS)},
        {.what = "a set that is not there",
         .rule = "Pool",
         .slices = COUNTERS("t", SET("other", G("5"))) "," DEVICES(PARTS)},
        {.what = "a counter that is not there",
         .rule = "Pool",
         .slices = COUNTERS("t", SET("set", "'h':{'value':'5'}")) "," DEVICES(PARTS)},
        {.what = "in another pool",
         .rule = "Pool",
         .slices = SLICE("t", "q", "1", HERE,
                         "'sharedCounters':[" SET("set", G("5")) "]") "," POOL(PARTS)},
        {.what = "a device on another node wants a set that is not there",
         .rule = "Pool",
         .slices = DEVICES("{'name':'a'}") "," SLICE(
             "u", "p", "2", "'nodeName':'n2'", "'devices':[{'name':'b'," USES("set", G("2")) "}]")},
    };

    (void)state;
    PLAY(scenes);
}

#define IN_SLICE(name, g, devices)                                                                 \
    SLICE(name, "p", "2", HERE, "'sharedCounters':[" SET("set", G(g)) "],'devices':[" devices "]")
#define OVERDRAWN IN_SLICE("s", "1", "{'name':'x'," USES("set", G("2")) "}")

static void in_1_34_counters_are_those_of_the_slice(void **state)
{
    static const struct scene scenes[] = {
        {.what = "two sets of one name",
         .minor = 34,
         .slices = SLICE(
             "s", "p", "2", HERE,
             "'sharedCounters':[" SET("set", G("3")) "],'devices':[{'name':'a'," USES(
                 "set",
                 G("3")) "}]") "," SLICE("t", "p", "2", HERE,
                                         "'sharedCounters':[" SET(
                                             "set",
                                             G("2")) "],'devices':[{'name':'b'," USES("set",
                                                                                      G("2")) "}]"),
         .claims = BOTH},
        {.what = "used up in its slice",
         .minor = 34,
         .rule = "Counters",
         .slices = SLICE("s", "p", "1", HERE,
                         "'sharedCounters':[" SET("set", G("4")) "],'devices':[" PARTS "]"),
         .claims = BOTH},
        {.what = "overdrawn in another slice, by others",
         .minor = 34,
         .slices = OVERDRAWN "," IN_SLICE("t", "3", "{'name':'a'," USES("set", G("3")) "}"),
         .held = HELD("x"),
         .claims = CLAIM("x", ONE_ASK, GOT("r", "a", ""))},
        {.what = "used up in the second of two slices",
         .minor = 34,
         .rule = "Counters",
         .slices = IN_SLICE("s", "3", "{'name':'a'," USES("set", G("3")) "}") "," IN_SLICE(
             "t", "1", "{'name':'b'," USES("set", G("2")) "}"),
         .claims = BOTH},
        {.what = "in another slice", .minor = 34, .rule = "Pool", .slices = TEST_POOL("5")},
    };

    (void)state;
    PLAY(scenes);
}

#define SHAREABLE(g)                                                                               \
    COUNTERS("t", SET("set", G(g)))                                                                \
    "," DEVICES("{'name':'a','allowMultipleAllocations':true," USES("set", G("3")) "}")
#define SHARE(request, id) GOT(request, "a", ",'shareID':'" id "'")

static void shares_of_a_device_cost_its_counters_once(void **state)
{
    static const struct scene scenes[] = {
        {.what = "two now",
         .slices = SHAREABLE("3"),
         .claims = CLAIM("x", "'requests':[" ASK("r", "") "," ASK("q", "") "]",
                         SHARE("r", "1") "," SHARE("q", "2"))},
        {.what = "one more",
         .slices = SHAREABLE("3"),
         .held = "{'driver':'d','pool':'p','device':'a','shareID':'0'}",
         .claims = CLAIM("x", ONE_ASK, SHARE("r", "1"))},
        {.what = "the first",
         .rule = "Counters",
         .slices = SHAREABLE("2"),
         .claims = CLAIM("x", ONE_ASK, SHARE("r", "1"))},
    };

    (void)state;
    PLAY(scenes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_not_passed),
        cmocka_unit_test(counter_sets_are_there_once),
        cmocka_unit_test(in_1_34_counters_are_those_of_the_slice),
        cmocka_unit_test(shares_of_a_device_cost_its_counters_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
