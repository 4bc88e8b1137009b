/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/check_scene.h"

#define SELECT(expression) "'selectors':[{'cel':{'expression':'" expression "'}}]"
#define HELD(device) "{'driver':'d','pool':'p','device':'" device "'}"
#define TAINT "{'key':'k','value':'v','effect':'NoSchedule'}"
#define TAINTED POOL("{'name':'a','taints':[" TAINT "]}")
#define ADMIN ",'adminAccess':true"

static void class_and_request_select_the_device(void **state)
{
    static const struct scene scenes[] = {
        {.what = "both do",
         .classes =
             "{'metadata':{'name':'c'},'spec':{" SELECT("device.driver == \\u0027d\\u0027") "}}",
         .slices = POOL("{'name':'a','attributes':{'n':{'int':1}}}"),
         .claims = CLAIM(
             "x",
             "'requests':[" ASK("r", "," SELECT("device.attributes[\\u0027d\\u0027].n == 1")) "]",
             GOT("r", "a", ""))},
        {.what = "the class does not",
         .rule = "Selector",
         .classes =
             "{'metadata':{'name':'c'},'spec':{" SELECT("device.driver == \\u0027e\\u0027") "}}"},
        {.what = "the request does not",
         .rule = "Selector",
         .claims = CLAIM("x", "'requests':[" ASK("r", "," SELECT("false")) "]", GOT("r", "a", ""))},
        {.what = "an attribute that is not there",
         .rule = "Selector",
         .claims = CLAIM(
             "x",
             "'requests':[" ASK("r", "," SELECT("device.attributes[\\u0027d\\u0027].n == 1")) "]",
             GOT("r", "a", ""))},
        {.what = "no expression",
         .rule = "Selector",
         .claims = CLAIM("x", "'requests':[" ASK("r", "," SELECT("1 +")) "]", GOT("r", "a", ""))},
        {.what = "another kind of selector",
         .rule = "Selector",
         .claims = CLAIM("x", "'requests':[" ASK("r", ",'selectors':[{}]") "]", GOT("r", "a", ""))},
        {.what = "managed classes see the guard",
         .classes = "{'metadata':{'name':'c'},'spec':{" SELECT(
             "\\u0022granted\\u0022 in device.attributes[\\u0022tangram.dev\\u0022]") "}}"},
    };

    (void)state;
    PLAY(scenes);
}

/* A zone that is one hour ahead. */
static const void *find_zone(void *context, const char *name, size_t *ret_n)
{
    static const unsigned char file[] = "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\1"
                                        "\0\0\0\0\0\0\0"
                                        "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\2"
                                        "\0\0\x0e\x10\0\0"
                                        "X\0"
                                        "\n\n";

    (void)context;
    *ret_n = sizeof(file) - 1;
    return strcmp(name, "Test/Zone") == 0 ? file : NULL;
}

static void selectors_know_the_zones_of_the_caller(void **state)
{
    static const struct tg_cel_zones zones = {.find = find_zone};
#define AT_ONE                                                                                     \
    CLAIM("x",                                                                                     \
          "'requests':[" ASK("r", "," SELECT("timestamp(\\u00272024-01-01T00:00:00Z\\u0027)"       \
                                             ".getHours(\\u0027Test/Zone\\u0027) == 1")) "]",      \
          GOT("r", "a", ""))
    static const struct scene scenes[] = {
        {.what = "a zone that the caller has", .zones = &zones, .claims = AT_ONE},
        {.what = "a zone that nobody has", .rule = "Selector", .claims = AT_ONE},
    };

    (void)state;
    PLAY(scenes);
}

static void a_device_has_one_owner(void **state)
{
    static const struct scene scenes[] = {
        {.what = "another device is held", .held = HELD("b")},
        {.what = "held", .rule = "InUse", .held = HELD("a")},
        {.what = "held by a share",
         .rule = "InUse",
         .held = "{'driver':'d','pool':'p','device':'a','shareID':'1'}"},
        {.what = "same name, other pool",
         .held = "{'driver':'d','pool':'q','device':'a'},{'driver':'e','pool':'p','device':'a'}"},
        {.what = "two claims, two devices",
         .claims =
             CLAIM("x", ONE_ASK, GOT("r", "a", "")) "," CLAIM("y", ONE_ASK, GOT("r", "b", ""))},
        {.what = "two claims",
         .rule = "InUse",
         .claims =
             CLAIM("x", ONE_ASK, GOT("r", "a", "")) "," CLAIM("y", ONE_ASK, GOT("r", "a", ""))},
        {.what = "twice in a request",
         .rule = "InUse",
         .claims = CLAIM("x", "'requests':[" ASK("r", ",'count':2") "]",
                         GOT("r", "a", "") "," GOT("r", "a", ""))},
        {.what = "two requests",
         .rule = "InUse",
         .claims = CLAIM("x", "'requests':[" ASK("r", "") "," ASK("q", "") "]",
                         GOT("r", "a", "") "," GOT("q", "a", ""))},
    };

    (void)state;
    PLAY(scenes);
}

static void admin_access_shares_with_everybody_but_itself(void **state)
{
    static const struct scene scenes[] = {
        {.what = "a held device",
         .held = HELD("a"),
         .claims = CLAIM("x", "'requests':[" ASK("r", ADMIN) "]", GOT("r", "a", ADMIN))},
        {.what = "with another claim",
         .claims = CLAIM("x", "'requests':[" ASK("r", ADMIN) "]",
                         GOT("r", "a", ADMIN)) "," CLAIM("y", ONE_ASK, GOT("r", "a", ""))},
        {.what = "within one claim",
         .rule = "InUse",
         .claims = CLAIM("x", "'requests':[" ASK("r", ADMIN) "," ASK("q", ADMIN) "]",
                         GOT("r", "a", ADMIN) "," GOT("q", "a", ADMIN))},
        {.what = "asked for and not given",
         .rule = "AdminAccess",
         .claims = CLAIM("x", "'requests':[" ASK("r", ADMIN) "]", GOT("r", "a", ""))},
        {.what = "given and not asked for",
         .rule = "AdminAccess",
         .claims = CLAIM("x", ONE_ASK, GOT("r", "a", ADMIN))},
        {.what = "taints count",
         .rule = "Taint",
         .slices = TAINTED,
         .claims = CLAIM("x", "'requests':[" ASK("r", ADMIN) "]", GOT("r", "a", ADMIN))},
    };

    (void)state;
    PLAY(scenes);
}

#define TOLERATE(t) ",'tolerations':[" t "]"
#define TOLERANT(t) CLAIM("x", "'requests':[" ASK("r", TOLERATE(t)) "]", GOT("r", "a", TOLERATE(t)))

static void taints_are_tolerated(void **state)
{
    static const struct scene scenes[] = {
        {.what = "not at all", .rule = "Taint", .slices = TAINTED},
        {.what = "not switched on", .slices = TAINTED, .off = TG_CHECK_DEVICE_TAINTS},
        {.what = "exactly", .slices = TAINTED, .claims = TOLERANT(TAINT)},
        {.what = "by any value",
         .slices = TAINTED,
         .claims = TOLERANT("{'key':'k','operator':'Exists'}")},
        {.what = "by anything", .slices = TAINTED, .claims = TOLERANT("{'operator':'Exists'}")},
        {.what = "by its value alone", .slices = TAINTED, .claims = TOLERANT("{'value':'v'}")},
        {.what = "another key",
         .rule = "Taint",
         .slices = TAINTED,
         .claims = TOLERANT("{'key':'l','operator':'Exists'}")},
        {.what = "another value",
         .rule = "Taint",
         .slices = TAINTED,
         .claims = TOLERANT("{'key':'k','value':'w'}")},
        {.what = "another effect",
         .rule = "Taint",
         .slices = TAINTED,
         .claims = TOLERANT("{'key':'k','operator':'Exists','effect':'NoExecute'}")},
        {.what = "an operator of the future",
         .rule = "Taint",
         .slices = TAINTED,
         .claims = TOLERANT("{'key':'k','operator':'Like','value':'v'}")},
        {.what = "one of two",
         .rule = "Taint",
         .slices = POOL("{'name':'a','taints':[" TAINT ",{'key':'l','effect':'NoExecute'}]}"),
         .claims = TOLERANT("{'key':'k','operator':'Exists'}")},
        {.what = "without effect",
         .slices = POOL("{'name':'a','taints':[{'key':'k','effect':'None'}]}")},
        {.what = "in 1.34 every effect counts",
         .rule = "Taint",
         .minor = 34,
         .slices = POOL("{'name':'a','taints':[{'key':'k','effect':'None'}]}")},
        {.what = "of a rule",
         .rule = "Taint",
         .taint_rules = "{'spec':{'deviceSelector':{'pool':'p'},'taint':" TAINT "}}"},
        {.what = "of a rule for others",
         .taint_rules = "{'spec':{'deviceSelector':{'device':'b'},'taint':" TAINT "}},{'spec':{"
                        "'taint':" TAINT "}}"},
        {.what = "the result forgets them",
         .rule = "Tolerations",
         .slices = TAINTED,
         .claims = CLAIM("x", "'requests':[" ASK("r", TOLERATE(TAINT)) "]", GOT("r", "a", ""))},
        {.what = "the result invents some",
         .rule = "Tolerations",
         .claims = CLAIM("x", ONE_ASK, GOT("r", "a", TOLERATE(TAINT)))},
    };

    (void)state;
    PLAY(scenes);
}

#define BINDING "'bindingConditions':['Ready'],'bindingFailureConditions':['Failed']"
#define BOUND POOL("{'name':'a'," BINDING "}")

static void binding_conditions_are_copied(void **state)
{
    static const struct scene scenes[] = {
        {.what = "copied",
         .slices = BOUND,
         .claims = CLAIM("x", ONE_ASK, GOT("r", "a", "," BINDING))},
        {.what = "forgotten", .rule = "BindingConditions", .slices = BOUND},
        {.what = "half of them",
         .rule = "BindingConditions",
         .slices = BOUND,
         .claims = CLAIM("x", ONE_ASK, GOT("r", "a", ",'bindingConditions':['Ready']"))},
        {.what = "invented",
         .rule = "BindingConditions",
         .claims = CLAIM("x", ONE_ASK, GOT("r", "a", "," BINDING))},
        {.what = "not switched on",
         .rule = "Feature",
         .slices = BOUND,
         .off = TG_CHECK_BINDING_CONDITIONS,
         .claims = CLAIM("x", ONE_ASK, GOT("r", "a", "," BINDING))},
    };

    (void)state;
    PLAY(scenes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(class_and_request_select_the_device),
        cmocka_unit_test(selectors_know_the_zones_of_the_caller),
        cmocka_unit_test(a_device_has_one_owner),
        cmocka_unit_test(admin_access_shares_with_everybody_but_itself),
        cmocka_unit_test(taints_are_tolerated),
        cmocka_unit_test(binding_conditions_are_copied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
