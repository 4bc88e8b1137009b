/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/check_scene.h"

#define A(name, value) "{'name':'" name "','attributes':{'k':{" value "}}}"
#define TWO(a, b) POOL(A("a", a) "," A("b", b))
#define BOTH GOT("r", "a", "") "," GOT("r", "b", "")
#define WITH(constraint)                                                                           \
    CLAIM("x", "'requests':[" ASK("r", ",'count':2") "],'constraints':[" constraint "]", BOTH)
#define MATCH WITH("{'matchAttribute':'d/k'}")
#define DISTINCT WITH("{'distinctAttribute':'d/k'}")

static void matched_devices_have_one_value(void **state)
{
    static const struct scene scenes[] = {
        {.what = "integers", .slices = TWO("'int':1", "'int':1"), .claims = MATCH},
        {.what = "other integers",
         .rule = "MatchAttribute",
         .slices = TWO("'int':1", "'int':2"),
         .claims = MATCH},
        {.what = "strings", .slices = TWO("'string':'x'", "'string':'x'"), .claims = MATCH},
        {.what = "versions",
         .slices = TWO("'version':'1.0.0'", "'version':'1.0.0'"),
         .claims = MATCH},
        {.what = "versions compare as text",
         .rule = "MatchAttribute",
         .slices = TWO("'version':'1.0.0'", "'version':'1.0.0+a'"),
         .claims = MATCH},
        {.what = "booleans",
         .rule = "MatchAttribute",
         .slices = TWO("'bool':true", "'bool':false"),
         .claims = MATCH},
        {.what = "a string is no version",
         .rule = "MatchAttribute",
         .slices = TWO("'version':'1.0.0'", "'string':'1.0.0'"),
         .claims = MATCH},
        {.what = "missing",
         .rule = "MatchAttribute",
         .slices = POOL("{'name':'a'},{'name':'b'}"),
         .claims = MATCH},
        {.what = "no value", .rule = "MatchAttribute", .slices = TWO("", ""), .claims = MATCH},
        {.what = "of another domain",
         .rule = "MatchAttribute",
         .slices = TWO("'int':1", "'int':1"),
         .claims = WITH("{'matchAttribute':'e/k'}")},
        {.what = "the whole name wins",
         .rule = "MatchAttribute",
         .slices =
             POOL("{'name':'a','attributes':{'k':{'int':1},'d/k':{'int':2}}}," A("b", "'int':1")),
         .claims = MATCH},
        {.what = "neither kind", .rule = "Structure", .claims = WITH("{}")},
    };

    (void)state;
    PLAY(scenes);
}

static void distinct_devices_have_values_of_their_own(void **state)
{
    static const struct scene scenes[] = {
        {.what = "two values", .slices = TWO("'int':1", "'int':2"), .claims = DISTINCT},
        {.what = "one value",
         .rule = "DistinctAttribute",
         .slices = TWO("'int':1", "'int':1"),
         .claims = DISTINCT},
        {.what = "two kinds", .slices = TWO("'string':'1'", "'int':1"), .claims = DISTINCT},
        {.what = "missing",
         .rule = "DistinctAttribute",
         .slices = POOL(A("a", "'int':1") ",{'name':'b'}"),
         .claims = DISTINCT},
        {.what = "the first and the third",
         .rule = "DistinctAttribute",
         .slices = POOL(A("a", "'int':1") "," A("b", "'int':2") "," A("c", "'int':1")),
         .claims = CLAIM("x",
                         "'requests':[" ASK("r", ",'count':3") "],'constraints':[{"
                                                               "'distinctAttribute':'d/k'}]",
                         BOTH "," GOT("r", "c", ""))},
    };

    (void)state;
    PLAY(scenes);
}

#define OVER(requests, r, q)                                                                       \
    CLAIM("x",                                                                                     \
          "'requests':[" ASK("r", "") ",{'name':'q','firstAvailable':[{'name':'s',"                \
                                      "'deviceClassName':'c'},{'name':'t','deviceClassName':'c'}"  \
                                      "]}],'constraints':[{'requests':[" requests                  \
                                      "],'matchAttribute':'d/k'}]",                                \
          GOT("r", r, "") "," GOT("q/t", q, ""))

static void constraints_concern_the_requests_that_they_name(void **state)
{
    static const struct scene scenes[] = {
        {.what = "one of two",
         .slices = TWO("'int':1", "'int':2"),
         .claims = OVER("'r'", "a", "b")},
        {.what = "both",
         .rule = "MatchAttribute",
         .slices = TWO("'int':1", "'int':2"),
         .claims = OVER("'r','q'", "a", "b")},
        {.what = "the alternative that was taken",
         .rule = "MatchAttribute",
         .slices = TWO("'int':1", "'int':2"),
         .claims = OVER("'r','q/t'", "a", "b")},
        {.what = "the other alternative",
         .slices = TWO("'int':1", "'int':2"),
         .claims = OVER("'r','q/s'", "a", "b")},
        {.what = "another claim's devices",
         .slices = TWO("'int':1", "'int':2"),
         .claims = CLAIM("x", ONE_ASK ",'constraints':[{'matchAttribute':'d/k'}]",
                         GOT("r", "a", "")) "," CLAIM("y",
                                                      ONE_ASK ",'constraints':[{"
                                                              "'matchAttribute':'d/k'}]",
                                                      GOT("r", "b", ""))},
    };

    (void)state;
    PLAY(scenes);
}

static void lists_match_by_a_common_element(void **state)
{
    static const struct scene scenes[] = {
        {.what = "integers", .slices = TWO("'ints':[1,2]", "'ints':[2,3]"), .claims = MATCH},
        {.what = "a scalar among them", .slices = TWO("'ints':[1,2]", "'int':2"), .claims = MATCH},
        {.what = "nothing common",
         .rule = "MatchAttribute",
         .slices = TWO("'strings':['x']", "'strings':['y','z']"),
         .claims = MATCH},
        {.what = "pairs are not enough",
         .rule = "MatchAttribute",
         .slices =
             POOL(A("a", "'ints':[1,2]") "," A("b", "'ints':[2,3]") "," A("c", "'ints':[1,3]")),
         .claims = CLAIM("x",
                         "'requests':[" ASK("r", ",'count':3") "],'constraints':[{"
                                                               "'matchAttribute':'d/k'}]",
                         BOTH "," GOT("r", "c", ""))},
        {.what = "booleans",
         .slices = TWO("'bools':[true,false]", "'bool':false"),
         .claims = MATCH},
        {.what = "versions",
         .slices = TWO("'versions':['1.0.0']", "'version':'1.0.0'"),
         .claims = MATCH},
        {.what = "distinct lists", .slices = TWO("'ints':[1,2]", "'ints':[3]"), .claims = DISTINCT},
        {.what = "a common element is not distinct",
         .rule = "DistinctAttribute",
         .slices = TWO("'ints':[1,2]", "'int':2"),
         .claims = DISTINCT},
        {.what = "not switched on, of one device alone",
         .off = TG_CHECK_LIST_ATTRIBUTES,
         .slices = POOL(A("a", "'ints':[1]")),
         .claims =
             CLAIM("x", ONE_ASK ",'constraints':[{'matchAttribute':'d/k'}]", GOT("r", "a", ""))},
        {.what = "not switched on",
         .rule = "MatchAttribute",
         .off = TG_CHECK_LIST_ATTRIBUTES,
         .slices = TWO("'ints':[1]", "'ints':[1]"),
         .claims = MATCH},
    };

    (void)state;
    PLAY(scenes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matched_devices_have_one_value),
        cmocka_unit_test(distinct_devices_have_values_of_their_own),
        cmocka_unit_test(constraints_concern_the_requests_that_they_name),
        cmocka_unit_test(lists_match_by_a_common_element),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
