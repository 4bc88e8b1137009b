/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/check_scene.h"

#define OPAQUE(n) "'opaque':{'driver':'d','parameters':{'n':" n "}}"
#define CLASSES "{'metadata':{'name':'c'},'spec':{'config':[{" OPAQUE("1") "},{" OPAQUE("2") "}]}}"
#define CLASS(requests, n) "{'source':'FromClass','requests':[" requests "]," OPAQUE(n) "}"
#define OWN(requests, n) "{'source':'FromClaim','requests':[" requests "]," OPAQUE(n) "}"
#define TWO "'requests':[" ASK("r", "") "," ASK("q", "") "]"
#define CLAIMS(spec, config)                                                                       \
    CLAIM_WITH("x", spec, config, "," PINNED, GOT("r", "a", "") "," GOT("q", "b", ""))
#define FOR(requests) ",'config':[{'requests':[" requests "]," OPAQUE("5") "}]"

static void entries_of_classes_come_once_with_all_requests(void **state)
{
    static const struct scene scenes[] = {
        {.what = "for both",
         .classes = CLASSES,
         .claims = CLAIMS(TWO, CLASS("'r','q'", "1") "," CLASS("'r','q'", "2"))},
        {.what = "for all",
         .classes = CLASSES,
         .claims = CLAIMS(TWO, CLASS("", "1") "," CLASS("", "2"))},
        {.what = "missing", .rule = "Config", .classes = CLASSES, .claims = CLAIMS(TWO, "")},
        {.what = "one of two",
         .rule = "Config",
         .classes = CLASSES,
         .claims = CLAIMS(TWO, CLASS("'r','q'", "1"))},
        {.what = "for one request only",
         .rule = "Config",
         .classes = CLASSES,
         .claims = CLAIMS(TWO, CLASS("'r'", "1") "," CLASS("'r'", "2"))},
        {.what = "in another order",
         .rule = "Config",
         .classes = CLASSES,
         .claims = CLAIMS(TWO, CLASS("", "2") "," CLASS("", "1"))},
        {.what = "other parameters",
         .rule = "Config",
         .classes = CLASSES,
         .claims = CLAIMS(TWO, CLASS("", "1") "," CLASS("", "3"))},
        {.what = "as if the claim had it",
         .rule = "Config",
         .classes = CLASSES,
         .claims = CLAIMS(TWO, OWN("", "1") "," OWN("", "2"))},
    };

    (void)state;
    PLAY(scenes);
}

static void entries_of_the_claim_follow_if_they_concern_it(void **state)
{
    static const struct scene scenes[] = {
        {.what = "for all", .claims = CLAIMS(TWO FOR(""), OWN("", "5"))},
        {.what = "for one", .claims = CLAIMS(TWO FOR("'q'"), OWN("'q'", "5"))},
        {.what = "for one, said to be for all",
         .rule = "Config",
         .claims = CLAIMS(TWO FOR("'q'"), OWN("", "5"))},
        {.what = "for both by name", .claims = CLAIMS(TWO FOR("'q','r'"), OWN("'q','r'", "5"))},
        {.what = "for both, so for all", .claims = CLAIMS(TWO FOR("'q','r'"), OWN("", "5"))},
        {.what = "after those of the class",
         .classes = CLASSES,
         .claims = CLAIMS(TWO FOR(""), CLASS("", "1") "," CLASS("", "2") "," OWN("", "5"))},
        {.what = "before those of the class",
         .rule = "Config",
         .classes = CLASSES,
         .claims = CLAIMS(TWO FOR(""), OWN("", "5") "," CLASS("", "1") "," CLASS("", "2"))},
        {.what = "repeated, up to 1.36",
         .minor = 36,
         .claims = CLAIMS(TWO FOR("'q','r'"), OWN("'q','r'", "5") "," OWN("'q','r'", "5"))},
        {.what = "repeated",
         .rule = "Config",
         .claims = CLAIMS(TWO FOR("'q','r'"), OWN("'q','r'", "5") "," OWN("'q','r'", "5"))},
        {.what = "what nobody wrote", .rule = "Config", .claims = CLAIMS(TWO, OWN("", "5"))},
        {.what = "members of a gang are ours to read",
         .claims =
             CLAIMS(TWO ",'config':[{'opaque':{'driver':'tangram.dev','parameters':{}}}]", "")},
        {.what = "and so is the marker",
         .claims = CLAIMS(TWO, "{'source':'FromClass','opaque':{'driver':'tangram.dev',"
                               "'parameters':{}}}")},
    };

    (void)state;
    PLAY(scenes);
}

#define CHOICE                                                                                     \
    "'requests':[" ASK("r", "") ",{'name':'q','firstAvailable':[{'name':'s','deviceClassName':"    \
                                "'c'},{'name':'t','deviceClassName':'c'}]}]"
#define CHOSEN(spec, config)                                                                       \
    CLAIM_WITH("x", spec, config, "," PINNED, GOT("r", "a", "") "," GOT("q/t", "b", ""))

static void entries_of_alternatives_come_with_the_one_that_was_taken(void **state)
{
    static const struct scene scenes[] = {
        {.what = "of the request", .claims = CHOSEN(CHOICE FOR("'q'"), OWN("'q'", "5"))},
        {.what = "of the one that was taken",
         .claims = CHOSEN(CHOICE FOR("'q/t'"), OWN("'q/t'", "5"))},
        {.what = "forgotten", .rule = "Config", .claims = CHOSEN(CHOICE FOR("'q/t'"), "")},
        {.what = "of the other one", .claims = CHOSEN(CHOICE FOR("'q/s'"), "")},
        {.what = "of the other one nevertheless",
         .rule = "Config",
         .claims = CHOSEN(CHOICE FOR("'q/s'"), OWN("'q/s'", "5"))},
        {.what = "of the class, by the names of the results",
         .classes = CLASSES,
         .claims = CHOSEN(CHOICE, CLASS("'r','q/t'", "1") "," CLASS("'r','q/t'", "2"))},
    };

    (void)state;
    PLAY(scenes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_of_classes_come_once_with_all_requests),
        cmocka_unit_test(entries_of_the_claim_follow_if_they_concern_it),
        cmocka_unit_test(entries_of_alternatives_come_with_the_one_that_was_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
