/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/ask.h"
#include "tests/unit/core/world.h"

static const struct tg_exact_request *request(struct world *w, const char *more)
{
    char devices[1024];

    snprintf(devices, sizeof(devices),
             "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\"%s}}]", more);
    return new_claim(w, "c", devices)->spec->devices->requests.items[0].exactly;
}

#define SELECT(e) ",\"selectors\":[{\"cel\":{\"expression\":\"" e "\"}}]"
#define INDEX "device.attributes[\\\"" GPU_DRIVER "\\\"].index"
#define TOLERATE ",\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}]"

static void equal_requests_are_one_ask_and_equal_selectors_one_cache(void **state)
{
    struct world w;
    struct tg_ask_book book;
    size_t a = 9, b = 9, c = 9, d = 9, e = 9;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    tg_ask_book_init(&book, world_fleet(&w), w.arena);
    assert_int_equal(tg_ask_book_add(&book, request(&w, ""), &a, NULL), 0);
    assert_int_equal(tg_ask_book_add(&book, request(&w, ",\"count\":3"), &b, NULL), 0);
    assert_int_equal(tg_ask_book_add(&book, request(&w, SELECT("true")), &c, NULL), 0);
    assert_int_equal(tg_ask_book_add(&book, request(&w, SELECT("true") TOLERATE), &d, NULL), 0);
    assert_int_equal(tg_ask_book_add(&book, request(&w, SELECT("true")), &e, NULL), 0);
    assert_int_equal(a, b);
    assert_int_equal(c, e);
    assert_int_not_equal(a, c);
    assert_int_not_equal(c, d);
    assert_int_equal(book.n_asks, 3);
    assert_ptr_equal(book.asks[c].selectors[1], book.asks[d].selectors[1]);
    world_done(&w);
}

static void class_request_and_taints_all_have_a_say(void **state)
{
    struct world w;
    struct tg_ask_book book;
    struct tg_fleet *fleet;
    enum tg_ask_answer answer;
    size_t ask = 0, tolerant = 0;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", ",{\"cel\":{\"expression\":\"" INDEX " >= 1\"}}");
    add_slice(
        &w,
        "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
        "\",\"nodeName\":\"n\",\"pool\":{\"name\":\"p\",\"generation\":1,\"resourceSliceCount\":1},"
        "\"devices\":[{"
        "\"name\":\"d0\",\"attributes\":{\"index\":{\"int\":0}}},{\"name\":\"d1\",\"attributes\":{"
        "\"index\":{"
        "\"int\":1}}},{\"name\":\"d2\",\"attributes\":{\"index\":{\"int\":2}},\"taints\":[{\"key\":"
        "\"k\","
        "\"effect\":\"NoSchedule\"}]},{\"name\":\"d3\",\"attributes\":{\"index\":{\"int\":3}}}]}}");
    fleet = world_fleet(&w);
    tg_ask_book_init(&book, fleet, w.arena);
    assert_int_equal(tg_ask_book_add(&book, request(&w, SELECT(INDEX " < 3")), &ask, NULL), 0);
    assert_int_equal(
        tg_ask_book_add(&book, request(&w, SELECT(INDEX " < 3") TOLERATE), &tolerant, NULL), 0);
    for (size_t twice = 0; twice < 2; twice++) {
        static const enum tg_ask_answer wanted[] = {TG_ASK_NO, TG_ASK_YES, TG_ASK_TAINTED,
                                                    TG_ASK_NO};

        for (size_t d = 0; d < 4; d++) {
            assert_int_equal(tg_ask_answer(&book, ask, d, &answer, NULL), 0);
            assert_int_equal(answer, wanted[d]);
        }
    }
    assert_int_equal(tg_ask_answer(&book, tolerant, 2, &answer, NULL), 0);
    assert_int_equal(answer, TG_ASK_YES);
    world_done(&w);
}

/* A class selector that says no keeps the request's selector from being asked, as in the built-in
 * allocator. */
static void selectors_are_asked_in_order_and_a_failing_one_is_an_error(void **state)
{
    struct world w;
    struct tg_ask_book book;
    enum tg_ask_answer answer;
    struct tg_error err = TG_ERROR_INIT;
    size_t ask = 0;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", ",{\"cel\":{\"expression\":\"" INDEX " == 1\"}}");
    add_gpus(&w, "n", 2, "");
    tg_ask_book_init(&book, world_fleet(&w), w.arena);
    assert_int_equal(tg_ask_book_add(&book,
                                     request(&w, SELECT("device.attributes[\\\"d\\\"].nope == 1")),
                                     &ask, NULL),
                     0);
    assert_int_equal(tg_ask_answer(&book, ask, 0, &answer, &err), 0);
    assert_int_equal(answer, TG_ASK_NO);
    assert_int_equal(tg_ask_answer(&book, ask, 1, &answer, &err), -TG_FAILED_PRECONDITION);
    assert_non_null(strstr(err.message, "device gpu-1 of pool n"));
    assert_non_null(strstr(err.message, "no such key: nope"));
    world_done(&w);
}

static void a_class_must_be_there_ours_and_readable(void **state)
{
    struct world w;
    struct tg_ask_book book;
    size_t ask = 0;

    (void)state;
    world_init(&w);
    add_raw_class(&w, "{\"metadata\":{\"name\":\"gpu\",\"labels\":{\"tangram.dev/"
                      "controller\":\"default\"}},\"spec\":{}}");
    tg_ask_book_init(&book, world_fleet(&w), w.arena);
    assert_int_equal(tg_ask_book_add(&book, request(&w, ""), &ask, NULL), -TG_FAILED_PRECONDITION);
    w.n_classes = 0;
    tg_ask_book_init(&book, world_fleet(&w), w.arena);
    assert_int_equal(tg_ask_book_add(&book, request(&w, ""), &ask, NULL), -TG_NOT_FOUND);
    add_class(&w, "gpu", ",{\"cel\":{\"expression\":\"[1]\"}}");
    tg_ask_book_init(&book, world_fleet(&w), w.arena);
    assert_int_equal(tg_ask_book_add(&book, request(&w, ""), &ask, NULL), -TG_INVALID_ARGUMENT);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_requests_are_one_ask_and_equal_selectors_one_cache),
        cmocka_unit_test(class_request_and_taints_all_have_a_say),
        cmocka_unit_test(selectors_are_asked_in_order_and_a_failing_one_is_an_error),
        cmocka_unit_test(a_class_must_be_there_ours_and_readable),
    };

    return cmocka_run_group_tests_name("ask", tests, NULL, NULL);
}
