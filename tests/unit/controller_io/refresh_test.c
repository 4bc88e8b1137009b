/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/controller_io/fixture.h"

#define EPOCH 8

static uint64_t stored_version(const struct fixture *f, const char *name)
{
    const struct tg_stored *stored =
        tg_informer_get(f->controller->informers[TG_VIEW_CLAIM], "ns", name);

    return stored == NULL ? 0 : stored->version;
}

static void wait_done(struct fixture *f)
{
    while (f->controller->refresh.done != EPOCH)
        tg_loop_run_once(f->loop, true);
}

static void what_no_watch_has_told_yet_is_known_before_the_first_decision(void **state)
{
    struct fixture *f = *state;
    unsigned passes;

    f->claims = OBJECT("a", "500");
    fixture_start(f, "");
    fixture_settle(f);
    passes = f->passes;
    f->lists[0] = '\0';
    f->claims = OBJECT("a", "1700") "," OBJECT("b", "1701");
    assert_false(tg_controller_refreshed(f->controller, EPOCH));
    assert_false(tg_controller_refreshed(f->controller, EPOCH)); /* one list, not two */
    wait_done(f);
    assert_true(tg_controller_refreshed(f->controller, EPOCH));
    assert_int_equal(stored_version(f, "a"), 1700);
    assert_int_equal(stored_version(f, "b"), 1701);
    fixture_settle(f);
    assert_true(f->passes > passes);
    /* By quorum: without a resourceVersion. Pods on nodes have no gate to lose. */
    assert_string_equal(f->lists, "/apis/resource.k8s.io/v1/resourceclaims?limit=500\n"
                                  "/apis/tangram.dev/v1alpha1/gangs?limit=500\n"
                                  "/api/v1/pods?limit=500&fieldSelector=spec.nodeName%3D\n");
    assert_false(tg_controller_refreshed(f->controller, EPOCH + 1)); /* a new reign, new lists */
}

static void every_page_is_read(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    f->claims = OBJECT("a", "1700");
    f->second_page = OBJECT("b", "1701");
    assert_false(tg_controller_refreshed(f->controller, EPOCH));
    wait_done(f);
    assert_int_equal(stored_version(f, "a"), 1700);
    assert_int_equal(stored_version(f, "b"), 1701);
    assert_non_null(strstr(f->lists, "/resourceclaims?limit=500&continue=a%20b\n"));
}

static void a_list_that_fails_is_asked_for_again(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    f->claims = OBJECT("a", "1700");
    f->refuse_lists = 2;
    assert_false(tg_controller_refreshed(f->controller, EPOCH));
    wait_done(f);
    assert_int_equal(stored_version(f, "a"), 1700);
}

static void a_claim_that_cannot_be_read_does_not_stop_the_others(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    f->claims = "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"odd\",\"uid\":\"u\","
                "\"resourceVersion\":\"1699\",\"annotations\":{\"a\":\"\\u0000\"}},\"spec\":{}}"
                "," OBJECT("a", "1700");
    assert_false(tg_controller_refreshed(f->controller, EPOCH));
    wait_done(f);
    assert_int_equal(stored_version(f, "a"), 1700);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_no_watch_has_told_yet_is_known_before_the_first_decision),
        TEST(every_page_is_read),
        TEST(a_list_that_fails_is_asked_for_again),
        TEST(a_claim_that_cannot_be_read_does_not_stop_the_others),
    };
    return cmocka_run_group_tests_name("refresh", tests, NULL, NULL);
}
