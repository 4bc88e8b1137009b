/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/claim.h"
#include "tests/unit/core/world.h"

#define REQUEST(body) "\"requests\":[{\"name\":\"r\"," body "}]"
#define EXACTLY(more) REQUEST("\"exactly\":{\"deviceClassName\":\"gpu\"" more "}")

static const struct {
    const char *devices;
    bool managed;
    int rc;
    const char *text;
} cases[] = {
    {EXACTLY(""), true, 0, NULL},
    {EXACTLY(",\"count\":32,\"allocationMode\":\"ExactCount\",\"adminAccess\":false"), true, 0,
     NULL},
    {"", false, 0, NULL},
    {REQUEST("\"exactly\":{\"deviceClassName\":\"foreign\",\"allocationMode\":\"All\"}"), false, 0,
     NULL},
    {REQUEST("\"exactly\":{\"deviceClassName\":\"theirs\"}"), false, 0, NULL},
    {REQUEST("\"exactly\":{\"deviceClassName\":\"nope\"}"), false, 0, NULL},
    {REQUEST("\"exactly\":{\"deviceClassName\":\"nope\"}") ",\"config\":[{\"opaque\":{\"driver\":"
                                                           "\"tangram.dev\","
                                                           "\"parameters\":{}}}]",
     true, -TG_NOT_FOUND, "no DeviceClass nope"},
    {"\"requests\":[{\"name\":\"a\",\"exactly\":{\"deviceClassName\":\"gpu\"}},{\"name\":\"b\","
     "\"exactly\":{"
     "\"deviceClassName\":\"nope\"}}]",
     true, -TG_NOT_FOUND, "claim ns/c: there is no DeviceClass nope"},
    {"\"requests\":[{\"name\":\"a\",\"exactly\":{\"deviceClassName\":\"gpu\"}},{\"name\":\"b\","
     "\"exactly\":{"
     "\"deviceClassName\":\"foreign\"}}]",
     true, -TG_INVALID_ARGUMENT, "cannot mix"},
    {"\"requests\":[{\"name\":\"a\",\"exactly\":{\"deviceClassName\":\"gpu\"}},{\"name\":\"b\","
     "\"exactly\":{"
     "\"deviceClassName\":\"theirs\"}}]",
     true, -TG_INVALID_ARGUMENT, "cannot mix"},
    {REQUEST("\"exactly\":{\"deviceClassName\":\"bare\"}"), true, -TG_FAILED_PRECONDITION,
     "without the guard"},
    {EXACTLY(",\"allocationMode\":\"All\""), true, 0, NULL},
    {EXACTLY(",\"allocationMode\":\"Some\""), true, -TG_UNIMPLEMENTED, "allocationMode"},
    {EXACTLY(",\"adminAccess\":true"), true, 0, NULL},
    {EXACTLY(",\"capacity\":{\"requests\":{\"memory\":\"1Gi\"}}"), true, 0, NULL},
    {REQUEST("\"firstAvailable\":[{\"name\":\"s\",\"deviceClassName\":\"gpu\",\"count\":40},{"
             "\"name\":\"t\",\"deviceClassName\":\"gpu\",\"allocationMode\":\"All\"}]"),
     true, 0, NULL},
    {REQUEST("\"firstAvailable\":[{\"name\":\"s\",\"deviceClassName\":\"gpu\"},{\"name\":\"t\","
             "\"deviceClassName\":\"foreign\"}]"),
     true, -TG_INVALID_ARGUMENT, "cannot mix"},
    {REQUEST("\"firstAvailable\":[{\"name\":\"s\",\"deviceClassName\":\"gpu\"},{\"name\":\"t\","
             "\"deviceClassName\":\"gpu\",\"selectors\":[{\"cel\":{\"expression\":\"1\"}}]}]"),
     true, -TG_INVALID_ARGUMENT, "selectors[0]"},
    {REQUEST("\"firstAvailable\":[{\"name\":\"s\",\"deviceClassName\":\"gpu\",\"count\":33}]"),
     true, -TG_INVALID_ARGUMENT, "more than 32"},
    {"\"requests\":[{\"name\":\"a\",\"exactly\":{\"deviceClassName\":\"gpu\"}},{\"name\":\"b\"}]",
     true, -TG_UNIMPLEMENTED, "request b"},
    {EXACTLY("") ",\"constraints\":[{\"matchAttribute\":\"a/b\"}]", true, 0, NULL},
    {EXACTLY("") ",\"constraints\":[{\"distinctAttribute\":\"a/b\"},{}]", true, -TG_UNIMPLEMENTED,
     "spec.devices.constraints[1]"},
    {EXACTLY(",\"count\":0"), true, -TG_INVALID_ARGUMENT, "at least 1"},
    {EXACTLY(",\"count\":33"), true, -TG_INVALID_ARGUMENT, "more than 32"},
    {EXACTLY(",\"count\":9223372036854775807"), true, -TG_INVALID_ARGUMENT, "more than 32"},
    {"\"requests\":[{\"name\":\"a\",\"exactly\":{\"deviceClassName\":\"gpu\",\"count\":30}},{"
     "\"name\":\"b\",\"exactly\":"
     "{\"deviceClassName\":\"gpu\",\"count\":3}}]",
     true, -TG_INVALID_ARGUMENT, "request b"},
    {EXACTLY(",\"selectors\":[{\"cel\":{\"expression\":\"device.driver.beginsWith('x')\"}}]"), true,
     -TG_INVALID_ARGUMENT,
     "claim ns/c: request r: selectors[0]: 1:14: undeclared reference to 'beginsWith'"},
    {EXACTLY(",\"selectors\":[{\"cel\":{\"expression\":\"1\"}}]"), true, -TG_INVALID_ARGUMENT,
     "selectors[0]"},
    {EXACTLY(",\"selectors\":[{}]"), true, -TG_UNIMPLEMENTED, "only cel"},
    {REQUEST("\"exactly\":{\"deviceClassName\":\"fancy\"}"), true, -TG_INVALID_ARGUMENT,
     "DeviceClass fancy: selectors[1]"},
};

static void what_cannot_be_served_is_named_and_foreign_claims_are_left_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;
        struct tg_error err = TG_ERROR_INIT;
        bool managed = !cases[i].managed;
        int rc = 0;

        world_init(&w);
        add_class(&w, "gpu", "");
        add_class(&w, "fancy", ",{\"cel\":{\"expression\":\"device.driver > 1\"}}");
        add_raw_class(&w, "{\"metadata\":{\"name\":\"foreign\"},\"spec\":{}}");
        add_raw_class(&w, "{\"metadata\":{\"name\":\"theirs\",\"labels\":{\"tangram.dev/"
                          "controller\":\"b\"}},\"spec\":{}}");
        add_raw_class(&w, "{\"metadata\":{\"name\":\"bare\",\"labels\":{\"tangram.dev/"
                          "controller\":\"default\"}},\"spec\":{}}");
        rc = tg_claim_check(w.classes, w.n_classes, "default", NULL,
                            new_claim(&w, "c", cases[i].devices), &managed, &err);
        if (rc != cases[i].rc || managed != cases[i].managed)
            fail_msg("%s: %d, managed %d: %s", cases[i].devices, rc, managed, err.message);
        if (cases[i].text != NULL && strstr(err.message, cases[i].text) == NULL)
            fail_msg("'%s' lacks '%s'", err.message, cases[i].text);
        assert_int_equal(tg_claim_check(w.classes, w.n_classes, "default", NULL,
                                        new_claim(&w, "c", cases[i].devices), &managed, NULL),
                         cases[i].rc);
        world_done(&w);
    }
}

static void the_least_devices_of_all_requests_are_counted(void **state)
{
    struct world w;
    size_t n = 0;

    (void)state;
    world_init(&w);
    assert_int_equal(tg_claim_supported(
                         new_claim(&w, "c",
                                   "\"requests\":[{\"name\":\"a\",\"exactly\":{"
                                   "\"deviceClassName\":\"x\",\"count\":3}},{"
                                   "\"name\":\"b\",\"exactly\":{\"deviceClassName\":\"y\"}},{"
                                   "\"name\":\"c\",\"firstAvailable\":[{\"name\":\"s\",\"count\":5}"
                                   ",{\"name\":\"t\",\"count\":2}]},{\"name\":\"d\",\"exactly\":{"
                                   "\"allocationMode\":\"All\"}}]"),
                         &n, NULL),
                     0);
    assert_int_equal(n, 7);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_served_is_named_and_foreign_claims_are_left_alone),
        cmocka_unit_test(the_least_devices_of_all_requests_are_counted),
    };

    return cmocka_run_group_tests_name("claim", tests, NULL, NULL);
}
