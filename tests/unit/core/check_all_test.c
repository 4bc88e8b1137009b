/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/check_scene.h"

#define EVERY ",'allocationMode':'All'"
#define ALL(results) CLAIM("x", "'requests':[" ASK("r", EVERY) "]", results)
#define A_AND_B GOT("r", "a", "") "," GOT("r", "b", "")
#define ONLY_A "'selectors':[{'cel':{'expression':'device.attributes[\\'d\\'].k == 1'}}]"
#define K(n) "'attributes':{'k':{'int':" n "}}"

static void all_devices_means_every_one(void **state)
{
    static const struct scene scenes[] = {
        {.what = "both", .claims = ALL(A_AND_B)},
        {.what = "one of both", .rule = "All", .claims = ALL(GOT("r", "a", ""))},
        {.what = "of two pools",
         .rule = "All",
         .slices = POOL("{'name':'a'},{'name':'b'}") "," SLICE("t", "q", "1", HERE,
                                                               "'devices':[{'name':'c'}]"),
         .claims = ALL(A_AND_B)},
        {.what = "not those of another node",
         .slices = SLICE("s", "p", "2", HERE, "'devices':[{'name':'a'},{'name':'b'}]") "," SLICE(
             "t", "p", "2", "'nodeName':'n2'", "'devices':[{'name':'c'}]"),
         .claims = ALL(A_AND_B)},
        {.what = "those that are selected",
         .slices = POOL("{'name':'a'," K("1") "},{'name':'b'," K("2") "}"),
         .claims = CLAIM("x", "'requests':[" ASK("r", EVERY "," ONLY_A) "]", GOT("r", "a", ""))},
        {.what = "none of none", .rule = "All", .slices = POOL(""), .claims = ALL("")},
        {.what = "what is held as well",
         .rule = "InUse",
         .held = "{'driver':'d','pool':'p','device':'b'}",
         .claims = ALL(A_AND_B)},
        {.what = "a selector that fails on a device that is not taken",
         .rule = "Selector",
         .slices = POOL("{'name':'a'," K("1") "},{'name':'b'}"),
         .claims = CLAIM("x", "'requests':[" ASK("r", EVERY "," ONLY_A) "]", GOT("r", "a", ""))},
    };

    (void)state;
    PLAY(scenes);
}

static void where_a_pool_is_unclear_all_is_unclear(void **state)
{
    static const struct scene scenes[] = {
        {.what = "another pool is incomplete",
         .rule = "All",
         .slices = POOL("{'name':'a'},{'name':'b'}") "," SLICE("t", "q", "2", HERE,
                                                               "'devices':[{'name':'c'}]"),
         .claims = ALL(A_AND_B)},
        {.what = "another pool contradicts itself",
         .rule = "All",
         .slices = POOL("{'name':'a'},{'name':'b'}") "," SLICE(
             "t", "q", "1", HERE, "'devices':[{'name':'c'},{'name':'c'}]"),
         .claims = ALL(A_AND_B)},
        {.what = "that does not matter to a count",
         .slices = POOL("{'name':'a'},{'name':'b'}") "," SLICE("t", "q", "2", HERE,
                                                               "'devices':[{'name':'c'}]")},
    };

    (void)state;
    PLAY(scenes);
}

#define SIZED(name, more) "{'name':'" name "','capacity':{'m':{'value':'2'}}" more "}"
#define WANT EVERY ",'capacity':{'requests':{'m':'2'}}"
#define SIZED_ALL(results) CLAIM("x", "'requests':[" ASK("r", WANT) "]", results)

static void devices_without_the_capacity_are_left_out(void **state)
{
    static const struct scene scenes[] = {
        {.what = "without it",
         .slices = POOL(SIZED("a", "") ",{'name':'b'}"),
         .claims = SIZED_ALL(GOT("r", "a", ""))},
        {.what = "with it",
         .rule = "All",
         .slices = POOL(SIZED("a", "") "," SIZED("b", "")),
         .claims = SIZED_ALL(GOT("r", "a", ""))},
        {.what = "used up by others",
         .slices = POOL(SIZED("a", "") "," SIZED("b", ",'allowMultipleAllocations':true")),
         .consumed = "{'driver':'d','pool':'p','device':'b','capacity':'m','quantity':'1'}",
         .claims = SIZED_ALL(GOT("r", "a", ""))},
    };

    (void)state;
    PLAY(scenes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_devices_means_every_one),
        cmocka_unit_test(where_a_pool_is_unclear_all_is_unclear),
        cmocka_unit_test(devices_without_the_capacity_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
