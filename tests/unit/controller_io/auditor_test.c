/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/controller_io/fixture.h"

/* Allocated devices; the second and third of c1 and c2 are the same. */
#define CLAIM(name, users, device)                                                                 \
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name "\",\"uid\":\"" name                    \
    "\",\"resourceVersion\":\"500\"},\"spec\":{},\"status\":{\"allocation\":{\"devices\":{"        \
    "\"results\":[{\"request\":\"r\",\"driver\":\"d\",\"pool\":\"p\",\"device\":\"" device         \
    "\"}],\"config\":[{\"source\":\"FromClass\",\"opaque\":{\"driver\":\"tangram.dev\","           \
    "\"parameters\":{\"apiVersion\":\"tangram.dev/v1alpha1\",\"kind\":\"Plan\",\"gangUID\":\"\","  \
    "\"epoch\":1}}}]}}" users "}}"
#define LATE ",\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"gone\",\"uid\":\"gone\"}]"
#define QUICK "delays: {audit: 20ms, stall: 40ms}\n"

static void wait_event(struct fixture *f, const char *reason)
{
    while (f->event == NULL || strstr(f->event, reason) == NULL)
        tg_loop_run_once(f->loop, true);
}

static const char *page(struct fixture *f, struct tg_buf *body, int status)
{
    const char *type = NULL;

    tg_buf_clear(body);
    assert_int_equal(tg_auditor_page(f->controller->auditor, body, &type), status);
    return tg_buf_str(body);
}

static void what_two_claims_hold_is_told_at_the_first_audit(void **state)
{
    struct tg_buf body = TG_BUF_INIT(1 << 16);
    struct fixture *f = *state;

    f->claims = CLAIM("c1", LATE, "gpu") "," CLAIM("c2", LATE, "gpu");
    fixture_start(f, "delays: {audit: 20ms, stall: 1h}\n");
    wait_event(f, "\"reason\":\"DeviceHeldTwice\"");
    assert_non_null(strstr(f->event, "device d/p/gpu is held by claim ns/c1 too"));
    assert_non_null(strstr(f->event, "\"name\":\"c2\""));
    assert_int_equal(tg_auditor_lasting(f->controller->auditor, TG_FOUND_DEVICE_HELD_TWICE), 1);
    /* What may pass is on the page, and not told. */
    assert_non_null(strstr(page(f, &body, 200), "\"reason\":\"ReservationWithoutPod\""));
    assert_non_null(strstr(tg_buf_str(&body), "\"invariant\":\"I1\""));
    assert_int_equal(tg_auditor_lasting(f->controller->auditor, TG_FOUND_RESERVATION_WITHOUT_POD),
                     0);
    tg_buf_done(&body);
}

static void what_may_pass_is_told_once_when_it_has_lasted(void **state)
{
    struct fixture *f = *state;
    unsigned events;

    f->claims = CLAIM("c1", LATE, "gpu");
    fixture_start(f, QUICK);
    wait_event(f, "\"reason\":\"ReservationWithoutPod\"");
    assert_int_equal(tg_auditor_lasting(f->controller->auditor, TG_FOUND_RESERVATION_WITHOUT_POD),
                     1);
    events = f->events;
    fixture_run_for(f, 200 * TG_MILLISECOND);
    assert_int_equal(f->events, events);
}

static void what_is_gone_is_forgotten(void **state)
{
    struct tg_buf body = TG_BUF_INIT(1 << 16);
    struct fixture *f = *state;

    f->claims = CLAIM("c1", LATE, "gpu");
    fixture_start(f, QUICK);
    wait_event(f, "\"reason\":\"ReservationWithoutPod\"");
    test_chunk(f->claim_watch, "{\"type\":\"DELETED\",\"object\":" CLAIM("c1", LATE, "gpu") "}\n");
    while (tg_auditor_lasting(f->controller->auditor, TG_FOUND_RESERVATION_WITHOUT_POD) > 0)
        tg_loop_run_once(f->loop, true);
    assert_non_null(strstr(page(f, &body, 200), "\"total\":0,\"findings\":[]"));
    tg_buf_done(&body);
}

static void a_cluster_in_order_has_an_empty_page_that_is_not_made_anew_at_each_request(void **state)
{
    struct tg_buf body = TG_BUF_INIT(1 << 16);
    struct fixture *f = *state;

    fixture_start(f, "");
    fixture_freeze(f, 14 * TG_SECOND);
    assert_non_null(strstr(page(f, &body, 200), "\"ageSeconds\":0,\"total\":0,\"findings\":[]"));
    f->clock.monotonic_now += 9 * TG_SECOND;
    assert_non_null(strstr(page(f, &body, 200), "\"ageSeconds\":9"));
    f->clock.monotonic_now += TG_SECOND;
    assert_non_null(strstr(page(f, &body, 200), "\"ageSeconds\":0"));
    assert_int_equal(f->events, 0);
    tg_buf_done(&body);
}

/* Turn by turn: more claims than one turn looks at. */
static void an_allocation_that_its_claim_does_not_ask_for_is_told_when_all_were_judged(void **state)
{
    struct tg_buf claims = TG_BUF_INIT(1 << 20), body = TG_BUF_INIT(1 << 16);
    struct fixture *f = *state;

    for (size_t i = 0; i < 601; i++)
        tg_buf_printf(
            &claims,
            "%s{\"metadata\":{\"namespace\":\"ns\",\"name\":\"c%zu\",\"uid\":\"c%zu\","
            "\"resourceVersion\":\"500\"},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\","
            "\"exactly\":{\"deviceClassName\":\"gpu\"}}]}},\"status\":{\"allocation\":{\"devices\":"
            "{\"results\":[{\"request\":\"another\",\"driver\":\"d\",\"pool\":\"p\",\"device\":"
            "\"g%zu\"}],\"config\":[%s]},\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchFields\":"
            "[{"
            "\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n\"]}]}]}},"
            "\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"gone\",\"uid\":\"gone\"}]}}",
            i > 0 ? "," : "", i, i, i,
            i < 600
                ? ""
                : "{\"source\":\"FromClass\",\"opaque\":{\"driver\":\"tangram.dev\",\"parameters\":"
                  "{\"apiVersion\":\"tangram.dev/v1alpha1\",\"kind\":\"Plan\",\"gangUID\":\"\","
                  "\"epoch\":1}}}");
    f->claims = tg_buf_str(&claims);
    f->nodes = "{\"metadata\":{\"name\":\"n\",\"uid\":\"n\",\"resourceVersion\":\"400\"}}";
    fixture_start(f, QUICK);
    wait_event(f, "\"reason\":\"InvalidAllocation\"");
    assert_non_null(strstr(f->event, "\"name\":\"c600\""));
    assert_non_null(strstr(f->event, "is not what it asks for (Structure)"));
    assert_non_null(strstr(page(f, &body, 200), "\"judged\":{\"claims\":601,"));
    tg_buf_done(&claims);
    tg_buf_done(&body);
}

static void there_is_no_page_before_the_lists_are_complete(void **state)
{
    struct tg_buf body = TG_BUF_INIT(1 << 16);
    struct fixture *f = *state;

    fixture_start(f, "");
    f->controller->probed = false;
    assert_non_null(strstr(page(f, &body, 503), "not complete"));
    tg_buf_done(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_two_claims_hold_is_told_at_the_first_audit,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(what_may_pass_is_told_once_when_it_has_lasted,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(what_is_gone_is_forgotten, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(
            a_cluster_in_order_has_an_empty_page_that_is_not_made_anew_at_each_request,
            fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(
            an_allocation_that_its_claim_does_not_ask_for_is_told_when_all_were_judged,
            fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(there_is_no_page_before_the_lists_are_complete,
                                        fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
