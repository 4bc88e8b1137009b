/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/check_scene.h"

#define CAPACITY(value, policy) "'capacity':{'m':{'value':'" value "'" policy "}}"
#define SHARED(value, policy)                                                                      \
    POOL("{'name':'a','allowMultipleAllocations':true," CAPACITY(value, policy) "}")
#define RANGE(range) ",'requestPolicy':{'default':'2','validRange':{" range "}}"
#define VALUES(values) ",'requestPolicy':{'default':'2','validValues':[" values "]}"
#define WANT(amount) ",'capacity':{'requests':{'m':'" amount "'}}"
#define SHARE(id, amount) ",'shareID':'" id "','consumedCapacity':{'m':'" amount "'}"
/* Asks for one amount and records another. */
#define TAKES(want, amount)                                                                        \
    CLAIM("x", "'requests':[" ASK("r", want) "]", GOT("r", "a", SHARE("1", amount)))
#define USED(quantity)                                                                             \
    "{'driver':'d','pool':'p','device':'a','capacity':'m','quantity':'" quantity "'}"

static void what_is_consumed_follows_the_policy(void **state)
{
    static const struct scene scenes[] = {
        {.what = "no policy, asked", .slices = SHARED("10", ""), .claims = TAKES(WANT("3"), "3")},
        {.what = "no policy, not asked: all of it",
         .slices = SHARED("10", ""),
         .claims = TAKES("", "10")},
        {.what = "not all of it",
         .rule = "Capacity",
         .slices = SHARED("10", ""),
         .claims = TAKES("", "3")},
        {.what = "the default",
         .slices = SHARED("10", RANGE("'min':'1'")),
         .claims = TAKES("", "2")},
        {.what = "raised to the least",
         .slices = SHARED("10", RANGE("'min':'2'")),
         .claims = TAKES(WANT("1"), "2")},
        {.what = "not raised",
         .rule = "Capacity",
         .slices = SHARED("10", RANGE("'min':'2'")),
         .claims = TAKES(WANT("1"), "1")},
        {.what = "to the next step",
         .slices = SHARED("10", RANGE("'min':'2','step':'3'")),
         .claims = TAKES(WANT("6"), "8")},
        {.what = "on a step",
         .slices = SHARED("10", RANGE("'min':'2','step':'3'")),
         .claims = TAKES(WANT("5"), "5")},
        {.what = "above the most",
         .rule = "Capacity",
         .slices = SHARED("10", RANGE("'min':'2','max':'4'")),
         .claims = TAKES(WANT("5"), "5")},
        {.what = "the next value",
         .slices = SHARED("10", VALUES("'2','4','8'")),
         .claims = TAKES(WANT("5"), "8")},
        {.what = "above all values",
         .rule = "Capacity",
         .slices = SHARED("10", VALUES("'2','4'")),
         .claims = TAKES(WANT("5"), "5")},
        {.what = "thousandths",
         .slices = SHARED("10", RANGE("'min':'500m','step':'250m'")),
         .claims = TAKES(WANT("600m"), "750m")},
        {.what = "where steps are whole numbers",
         .rule = "Capacity",
         .off = TG_CHECK_FRACTIONAL_CAPACITY,
         .slices = SHARED("10", RANGE("'min':'500m','step':'250m'")),
         .claims = TAKES(WANT("600m"), "750m")},
        {.what = "what nobody asked about",
         .rule = "Capacity",
         .slices = SHARED("10", ""),
         .claims = CLAIM("x", "'requests':[" ASK("r", WANT("3")) "]",
                         GOT("r", "a", ",'shareID':'1','consumedCapacity':{'m':'3','n':'1'}"))},
        {.what = "nothing recorded",
         .rule = "Capacity",
         .slices = SHARED("10", ""),
         .claims =
             CLAIM("x", "'requests':[" ASK("r", WANT("3")) "]", GOT("r", "a", ",'shareID':'1'"))},
        {.what = "no quantity",
         .rule = "Capacity",
         .slices = SHARED("10", ""),
         .claims = TAKES(WANT("many"), "3")},
        {.what = "a capacity that the device lacks",
         .rule = "Capacity",
         .slices = SHARED("10", ""),
         .claims = CLAIM("x", "'requests':[" ASK("r", ",'capacity':{'requests':{'n':'1'}}") "]",
                         GOT("r", "a", SHARE("1", "10")))},
    };

    (void)state;
    PLAY(scenes);
}

#define TWO(first, second)                                                                         \
    CLAIM("x", "'requests':[" ASK("r", WANT(first)) "]", GOT("r", "a", SHARE("1", first)))         \
    "," CLAIM("y", "'requests':[" ASK("r", WANT(second)) "]", GOT("r", "a", SHARE("2", second)))

static void all_shares_together_fit(void **state)
{
    static const struct scene scenes[] = {
        {.what = "two", .slices = SHARED("10", ""), .claims = TWO("3", "7")},
        {.what = "two that do not",
         .rule = "Capacity",
         .slices = SHARED("10", ""),
         .claims = TWO("3", "8")},
        {.what = "beside others",
         .slices = SHARED("10", ""),
         .consumed = USED("2") "," USED("1"),
         .claims = TWO("3", "4")},
        {.what = "not beside others",
         .rule = "Capacity",
         .slices = SHARED("10", ""),
         .consumed = USED("2") "," USED("2"),
         .claims = TWO("3", "4")},
        {.what = "alone and too large",
         .rule = "Capacity",
         .slices = SHARED("2", ""),
         .claims = TAKES(WANT("3"), "3")},
        {.what = "nothing of nothing",
         .slices = POOL("{'name':'a','allowMultipleAllocations':true}"),
         .claims = CLAIM("x", ONE_ASK, GOT("r", "a", ",'shareID':'1'")) "," CLAIM(
             "y", ONE_ASK, GOT("r", "a", ",'shareID':'2'"))},
        {.what = "two requests of a claim",
         .slices = SHARED("10", ""),
         .claims = CLAIM("x", "'requests':[" ASK("r", WANT("3")) "," ASK("q", WANT("3")) "]",
                         GOT("r", "a", SHARE("1", "3")) "," GOT("q", "a", SHARE("2", "3")))},
        {.what = "one request twice",
         .rule = "InUse",
         .slices = SHARED("10", ""),
         .claims = CLAIM("x", "'requests':[" ASK("r", ",'count':2" WANT("3")) "]",
                         GOT("r", "a", SHARE("1", "3")) "," GOT("r", "a", SHARE("2", "3")))},
        {.what = "one request twice, up to 1.35",
         .minor = 35,
         .slices = SHARED("10", ""),
         .claims = CLAIM("x", "'requests':[" ASK("r", ",'count':2" WANT("3")) "]",
                         GOT("r", "a", SHARE("1", "3")) "," GOT("r", "a", SHARE("2", "3")))},
    };

    (void)state;
    PLAY(scenes);
}

static void each_share_has_an_id_of_its_own(void **state)
{
    static const struct scene scenes[] = {
        {.what = "none",
         .rule = "Share",
         .slices = SHARED("10", ""),
         .claims = CLAIM("x", "'requests':[" ASK("r", WANT("3")) "]",
                         GOT("r", "a", ",'consumedCapacity':{'m':'3'}"))},
        {.what = "one for two",
         .rule = "Share",
         .slices = SHARED("10", ""),
         .claims = CLAIM("x", "'requests':[" ASK("r", WANT("3")) "," ASK("q", WANT("3")) "]",
                         GOT("r", "a", SHARE("1", "3")) "," GOT("q", "a", SHARE("1", "3")))},
        {.what = "another's",
         .rule = "Share",
         .slices = SHARED("10", ""),
         .held = "{'driver':'d','pool':'p','device':'a','shareID':'1'}",
         .claims = TAKES(WANT("3"), "3")},
        {.what = "beside another's",
         .slices = SHARED("10", ""),
         .held = "{'driver':'d','pool':'p','device':'a','shareID':'2'}",
         .claims = TAKES(WANT("3"), "3")},
        {.what = "held as a whole",
         .rule = "InUse",
         .slices = SHARED("10", ""),
         .held = "{'driver':'d','pool':'p','device':'a'}",
         .claims = TAKES(WANT("3"), "3")},
    };

    (void)state;
    PLAY(scenes);
}

#define WHOLE POOL("{'name':'a'," CAPACITY("10", "") "}")

static void a_device_with_one_owner_is_only_filtered_by_capacity(void **state)
{
    static const struct scene scenes[] = {
        {.what = "enough",
         .slices = WHOLE,
         .claims = CLAIM("x", "'requests':[" ASK("r", WANT("3")) "]", GOT("r", "a", ""))},
        {.what = "not enough",
         .rule = "Capacity",
         .slices = WHOLE,
         .claims = CLAIM("x", "'requests':[" ASK("r", WANT("11")) "]", GOT("r", "a", ""))},
        {.what = "recorded as a share",
         .rule = "Share",
         .slices = WHOLE,
         .claims = TAKES(WANT("3"), "3")},
        {.what = "not switched on",
         .slices = SHARED("10", ""),
         .off = TG_CHECK_CONSUMABLE_CAPACITY},
    };

    (void)state;
    PLAY(scenes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_consumed_follows_the_policy),
        cmocka_unit_test(all_shares_together_fit),
        cmocka_unit_test(each_share_has_an_id_of_its_own),
        cmocka_unit_test(a_device_with_one_owner_is_only_filtered_by_capacity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
