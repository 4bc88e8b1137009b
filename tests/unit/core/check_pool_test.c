/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/check_scene.h"

#define DEVICE(name) "'devices':[{'name':'" name "'}]"
#define OLD(name, where, content)                                                                  \
    "{'metadata':{'name':'" name "'},'spec':{'driver':'d','pool':{'name':'p','generation':0,"      \
    "'resourceSliceCount':1}," where "," content "}}"
#define NEW(name, count, where, content)                                                           \
    "{'metadata':{'name':'" name "'},'spec':{'driver':'d','pool':{'name':'p','generation':2,"      \
    "'resourceSliceCount':" count "}," where "," content "}}"
#define THERE "'nodeName':'n2'"

static void devices_come_from_the_newest_complete_pool(void **state)
{
    static const struct scene scenes[] = {
        {.what = "two slices of two",
         .slices =
             SLICE("s", "p", "2", HERE, DEVICE("a")) "," SLICE("t", "p", "2", HERE, DEVICE("b"))},
        {.what = "one of two", .rule = "Pool", .slices = SLICE("s", "p", "2", HERE, DEVICE("a"))},
        {.what = "one of two in 1.34",
         .minor = 34,
         .slices = SLICE("s", "p", "2", HERE, DEVICE("a"))},
        {.what = "all of one of two in 1.34",
         .minor = 34,
         .rule = "All",
         .slices = SLICE("s", "p", "2", HERE, DEVICE("a")),
         .claims =
             CLAIM("x", "'requests':[" ASK("r", ",'allocationMode':'All'") "]", GOT("r", "a", ""))},
        {.what = "short here, newer there, in 1.34",
         .minor = 34,
         .slices = SLICE("s", "p", "2", HERE, DEVICE("a")) "," NEW("t", "1", THERE, DEVICE("b"))},
        {.what = "two of one",
         .rule = "Pool",
         .slices =
             SLICE("s", "p", "1", HERE, DEVICE("a")) "," SLICE("t", "p", "1", HERE, DEVICE("b"))},
        {.what = "two that say two and three",
         .rule = "Pool",
         .slices =
             SLICE("s", "p", "2", HERE, DEVICE("a")) "," SLICE("t", "p", "3", HERE, DEVICE("b"))},
        {.what = "the second is another node's and says three",
         .slices =
             SLICE("s", "p", "2", HERE, DEVICE("a")) "," SLICE("t", "p", "3", THERE, DEVICE("b"))},
        {.what = "the second is another node's",
         .slices =
             SLICE("s", "p", "2", HERE, DEVICE("a")) "," SLICE("t", "p", "2", THERE, DEVICE("b"))},
        {.what = "an old slice beside the new one",
         .slices = OLD("o", HERE, DEVICE("b")) "," SLICE("s", "p", "1", HERE, DEVICE("a"))},
        {.what = "a device of the old slice",
         .rule = "Unknown",
         .slices = OLD("o", HERE, DEVICE("a")) "," SLICE("s", "p", "1", HERE, DEVICE("b"))},
        {.what = "a newer generation that is not complete",
         .rule = "Pool",
         .slices = SLICE("s", "p", "1", HERE, DEVICE("a")) "," NEW("t", "2", HERE, DEVICE("a"))},
        {.what = "short here, newer there",
         .rule = "Pool",
         .slices = SLICE("s", "p", "2", HERE, DEVICE("a")) "," NEW("t", "1", THERE, DEVICE("b"))},
        {.what = "complete here, newer there",
         .slices = SLICE("s", "p", "1", HERE, DEVICE("a")) "," NEW("t", "1", THERE, DEVICE("b"))},
    };

    (void)state;
    PLAY(scenes);
}

#define GROUPED                                                                                    \
    "'devices':[{'name':'a','consumesCounters':[{'counterSet':'c','counters':{'m':{'value':'1'}}," \
    "'compatibilityGroups':['g']}]}]"
#define SETS "'sharedCounters':[{'name':'c','counters':{'m':{'value':'1'}}}]"

/* The built-in allocator of 1.37 leaves such pools alone unless an alpha gate is on; older ones do
 * not know the field. */
static void a_pool_with_rules_that_are_not_known_gives_nothing(void **state)
{
    static const struct scene scenes[] = {
        {.what = "groups in 1.37",
         .minor = 37,
         .rule = "Pool",
         .slices = SLICE("s", "p", "2", HERE, GROUPED) "," SLICE("t", "p", "2", HERE, SETS)},
        {.what = "groups in 1.36",
         .minor = 36,
         .slices = SLICE("s", "p", "2", HERE, GROUPED) "," SLICE("t", "p", "2", HERE, SETS)},
    };

    (void)state;
    PLAY(scenes);
}

static void a_pool_does_not_contradict_itself(void **state)
{
    static const struct scene scenes[] = {
        {.what = "two devices of one name in a slice",
         .rule = "Pool",
         .slices = POOL("{'name':'a'},{'name':'b'},{'name':'b'}")},
        {.what = "in two slices",
         .rule = "Pool",
         .slices =
             SLICE("s", "p", "2", HERE, DEVICE("a")) "," SLICE("t", "p", "2", HERE, DEVICE("a"))},
        {.what = "on two nodes",
         .slices =
             SLICE("s", "p", "2", HERE, DEVICE("a")) "," SLICE("t", "p", "2", THERE, DEVICE("a"))},
        {.what = "in two pools",
         .slices = POOL("{'name':'a'}") "," SLICE("t", "q", "1", HERE, DEVICE("a"))},
    };

    (void)state;
    PLAY(scenes);
}

static void the_device_is_within_reach(void **state)
{
    static const struct scene scenes[] = {
        {.what = "on all nodes", .slices = SLICE("s", "p", "1", "'allNodes':true", DEVICE("a"))},
        {.what = "on another", .rule = "Node", .slices = SLICE("s", "p", "1", THERE, DEVICE("a"))},
        {.what = "no such pool", .rule = "Node", .slices = SLICE("s", "q", "1", HERE, DEVICE("a"))},
        {.what = "no such device", .rule = "Unknown", .slices = POOL("{'name':'b'}")},
        {.what = "by itself",
         .slices = SLICE("s", "p", "1", "'perDeviceNodeSelection':true",
                         "'devices':[{'name':'a','nodeName':'n1'},{'name':'b','nodeName':'n2'}]")},
        {.what = "by itself on another",
         .rule = "Node",
         .slices = SLICE("s", "p", "1", "'perDeviceNodeSelection':true",
                         "'devices':[{'name':'a','nodeName':'n2'},{'name':'b','allNodes':true}]")},
        {.what = "each by itself, not switched on",
         .rule = "Node",
         .off = TG_CHECK_PARTITIONABLE_DEVICES,
         .slices = SLICE("s", "p", "1", "'perDeviceNodeSelection':true",
                         "'devices':[{'name':'a','nodeName':'n1'}]")},
        {.what = "selection of a kind that is not known",
         .rule = "Node",
         .slices = SLICE("s", "p", "1", "'someNodes':true", DEVICE("a"))},
    };

    (void)state;
    PLAY(scenes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_come_from_the_newest_complete_pool),
        cmocka_unit_test(a_pool_does_not_contradict_itself),
        cmocka_unit_test(a_pool_with_rules_that_are_not_known_gives_nothing),
        cmocka_unit_test(the_device_is_within_reach),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
