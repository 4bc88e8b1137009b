/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/check_scene.h"

#define NEED(key, operator_, values)                                                               \
    "{'key':'" key "','operator':'" operator_ "','values':[" values "]}"
#define TERM(expressions) "{'nodeSelectorTerms':[{'matchExpressions':[" expressions "]}]}"
#define IN_Z1 NEED("zone", "In", "'z1','z2'")
#define NOT_Y NEED("zone", "NotIn", "'y'")
#define BY(selector, devices)                                                                      \
    SLICE("s", "p", "1", "'nodeSelector':" selector, "'devices':[" devices "]")
#define SAYS(spec, results, selector)                                                              \
    CLAIM_WITH("x", spec, "", ",'nodeSelector':" selector, results)
#define SAYS_NOTHING CLAIM_WITH("x", ONE_ASK, "", "", GOT("r", "a", ""))

static void the_selector_of_a_result_is_that_of_its_devices(void **state)
{
    static const struct scene scenes[] = {
        {.what = "local, pinned"},
        {.what = "local, said to be anywhere", .rule = "NodeSelector", .claims = SAYS_NOTHING},
        {.what = "local, pinned elsewhere",
         .rule = "NodeSelector",
         .claims = SAYS(
             ONE_ASK, GOT("r", "a", ""),
             "{'nodeSelectorTerms':[{'matchFields':[" NEED("metadata.name", "In", "'n2'") "]}]}")},
        {.what = "on all nodes",
         .slices = SLICE("s", "p", "1", "'allNodes':true", "'devices':[{'name':'a'}]"),
         .claims = SAYS_NOTHING},
        {.what = "on all nodes, pinned",
         .slices = SLICE("s", "p", "1", "'allNodes':true", "'devices':[{'name':'a'}]")},
        {.what = "bound to the node by the device",
         .rule = "NodeSelector",
         .slices =
             SLICE("s", "p", "1", "'allNodes':true", "'devices':[{'name':'a','bindsToNode':true}]"),
         .claims = SAYS_NOTHING},
        {.what = "that of the slice",
         .slices = BY(TERM(IN_Z1), "{'name':'a'}"),
         .claims = SAYS(ONE_ASK, GOT("r", "a", ""), TERM(NEED("zone", "In", "'z2','z1'")))},
        {.what = "narrower, pinned", .slices = BY(TERM(IN_Z1), "{'name':'a'}")},
        {.what = "wider",
         .rule = "NodeSelector",
         .slices = BY(TERM(IN_Z1), "{'name':'a'}"),
         .claims = SAYS_NOTHING},
        {.what = "another",
         .rule = "NodeSelector",
         .slices = BY(TERM(IN_Z1), "{'name':'a'}"),
         .claims = SAYS(ONE_ASK, GOT("r", "a", ""), TERM(NEED("zone", "In", "'z1','z3'")))},
        {.what = "those of two devices in one term",
         .slices = BY(TERM(IN_Z1), "{'name':'a'}") "," SLICE(
             "t", "q", "1", "'nodeSelector':" TERM(IN_Z1 "," NOT_Y), "'devices':[{'name':'b'}]"),
         .claims = SAYS("'requests':[" ASK("r", ",'count':2") "]",
                        GOT("r", "a", "") ",{'request':'r','driver':'d','pool':'q','device':'b'}",
                        TERM(NOT_Y "," IN_Z1))},
        {.what = "one of the two",
         .rule = "NodeSelector",
         .slices = BY(TERM(IN_Z1), "{'name':'a'}") "," SLICE(
             "t", "q", "1", "'nodeSelector':" TERM(IN_Z1 "," NOT_Y), "'devices':[{'name':'b'}]"),
         .claims = SAYS("'requests':[" ASK("r", ",'count':2") "]",
                        GOT("r", "a", "") ",{'request':'r','driver':'d','pool':'q','device':'b'}",
                        TERM(IN_Z1))},
        {.what = "that of the device",
         .slices = SLICE("s", "p", "1", "'perDeviceNodeSelection':true",
                         "'devices':[{'name':'a','nodeSelector':" TERM(IN_Z1) "}]"),
         .claims = SAYS(ONE_ASK, GOT("r", "a", ""), TERM(IN_Z1))},
    };

    (void)state;
    PLAY(scenes);
}

static void selectors_of_slices_match_labels_and_the_name(void **state)
{
    static const struct scene scenes[] = {
        {.what = "one of several values", .slices = BY(TERM(IN_Z1), "{'name':'a'}")},
        {.what = "another zone",
         .rule = "Node",
         .slices = BY(TERM(NEED("zone", "In", "'z3'")), "{'name':'a'}")},
        {.what = "a label that is absent",
         .rule = "Node",
         .slices = BY(TERM(NEED("rack", "Exists", "")), "{'name':'a'}")},
        {.what = "all of a term",
         .rule = "Node",
         .slices = BY(TERM(IN_Z1 "," NEED("zone", "NotIn", "'z1'")), "{'name':'a'}")},
        {.what = "an empty term", .rule = "Node", .slices = BY(TERM(""), "{'name':'a'}")},
        {.what = "the name",
         .slices =
             BY("{'nodeSelectorTerms':[{'matchFields':[" NEED("metadata.name", "In", "'n1'") "]}]}",
                "{'name':'a'}")},
        {.what = "an operator of the future",
         .rule = "Node",
         .slices = BY(TERM(NEED("zone", "Like", "'z1'")), "{'name':'a'}")},
    };

    (void)state;
    PLAY(scenes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_selector_of_a_result_is_that_of_its_devices),
        cmocka_unit_test(selectors_of_slices_match_labels_and_the_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
