/* SPDX-License-Identifier: Apache-2.0 */
/* An explanation as a page and as JSON; the sentence is in situations_test. */
#include "tests/unit/core/world.h"

#include "api/runtime/base/buf.h"
#include "controller/core/explain/document.h"
#include "controller/core/explain/words.h"

static struct tg_explanation explain(struct world *w, size_t members, size_t gpus)
{
    const struct tg_place_request request = {
        .name = "gang ns/g", .pieces = new_gang(w, members, gpus), .n_pieces = members};
    const struct tg_explain_input input = {.request = &request, .max_steps = SIZE_MAX};
    struct tg_explanation ret;
    struct tg_error err = TG_ERROR_INIT;

    if (tg_explain_request(world_fleet(w), &input, w->arena, &ret, &err) < 0)
        fail_msg("%s", err.message);
    return ret;
}

static void build(struct world *w)
{
    world_init(w);
    add_class(w, "gpu", "");
    add_node(w, "a", "", "");
    add_gpus(w, "a", 2, "");
    add_node(w, "b", "", "\"unschedulable\":true");
    add_gpus(w, "b", 2, "");
    add_holder(w, "old", "a", "gpu-0");
}

static void a_page_tells_each_condition_that_changes_something(void **state)
{
    TG_AUTOBUF struct tg_buf page = TG_BUF_INIT(65536);
    struct world w;
    struct tg_explanation e;

    (void)state;
    build(&w);
    e = explain(&w, 1, 2);
    assert_int_equal(tg_explanation_page(&e, &page, NULL), 0);
    assert_string_equal(
        tg_buf_str(&page),
        "InsufficientDevices: 2 devices on one node are needed; 1 is free of the 2 that match, 1 "
        "is "
        "held by claim ns/old; left out: nodes 1 cordoned. It would fit now with 1 device in "
        "request r\n"
        "Request r of claim ns/m-00: 2 of DeviceClass gpu\n"
        "       4 devices published\n"
        "       3 held by nobody\n"
        "       2 on nodes whose devices meet all requests of one member\n"
        "       0 on such nodes that take the pod\n"
        "       0 left by the members before\n"
        "Best node: a, 1 of 2 devices\n"
        "Held by\n"
        "  claim ns/old: 1 on node a\n"
        "Nearly\n"
        "  1 more node with 2 free devices once uncordoned\n"
        "It would fit now\n"
        "  with 1 device in request r (FewerDevices)\n");
    world_done(&w);
}

static void a_document_has_the_same_numbers(void **state)
{
    TG_AUTOBUF struct tg_buf json = TG_BUF_INIT(65536);
    struct tg_json_writer writer;
    struct world w;
    struct tg_explanation e;

    (void)state;
    build(&w);
    e = explain(&w, 1, 2);
    tg_json_writer_init(&writer, &json);
    tg_explanation_write(&e, &writer);
    assert_int_equal(tg_jw_finish(&writer, NULL), 0);
    assert_string_equal(
        tg_buf_str(&json),
        "{\"reason\":\"InsufficientDevices\",\"message\":\"2 devices on one node are needed; 1 is "
        "free of the 2 that match, 1 is held by claim ns/old; left out: nodes 1 cordoned. It would "
        "fit now with 1 device in request r\",\"members\":1,\"placed\":0,\"member\":\"ns/m-00\","
        "\"devicesPerMember\":2,\"gaveUp\":false,\"neverFits\":false,\"nodes\":2,\"nodesFit\":1,"
        "\"nodesLeftOut\":[{\"rule\":\"NodeUnschedulable\",\"nodes\":1}],\"supply\":{\"matching\":"
        "2,"
        "\"held\":1,\"tainted\":0,\"usedUp\":0,\"taken\":0,\"free\":1,\"nodes\":1,"
        "\"mostOnOneNode\":1},\"requests\":[{\"claim\":\"ns/m-00\",\"request\":\"r\","
        "\"deviceClassName\":\"gpu\",\"allocationMode\":\"ExactCount\",\"count\":2,\"devices\":{"
        "\"seen\":4,\"class\":4,\"selected\":4,\"tolerated\":4,\"free\":3,\"uncontested\":3,"
        "\"capacity\":3,\"together\":2,\"nodeFit\":0,\"domain\":0,\"left\":0}}],\"bestNode\":{"
        "\"nodeName\":\"a\",\"free\":1,\"needed\":2},\"holders\":[{\"name\":\"claim ns/old\","
        "\"nodeName\":\"a\",\"devices\":1,\"onBestNode\":true}],\"nearMisses\":[{\"rule\":"
        "\"NodeUnschedulable\",\"nodes\":1,\"devices\":2}],\"helps\":[{\"code\":\"FewerDevices\","
        "\"request\":\"r\",\"count\":1}],\"helpsComplete\":false}");
    world_done(&w);
}

static void what_fits_is_said_to_fit(void **state)
{
    TG_AUTOBUF struct tg_buf page = TG_BUF_INIT(1024);
    struct world w;
    struct tg_explanation e;

    (void)state;
    build(&w);
    e = explain(&w, 1, 1);
    assert_int_equal(tg_explanation_page(&e, &page, NULL), 0);
    assert_string_equal(tg_buf_str(&page), "Fits: it fits\n");
    world_done(&w);
}

static void a_page_has_a_bound(void **state)
{
    TG_AUTOBUF struct tg_buf page = TG_BUF_INIT(64);
    struct world w;
    struct tg_explanation e;

    (void)state;
    build(&w);
    e = explain(&w, 1, 2);
    assert_int_equal(tg_explanation_page(&e, &page, NULL), -TG_RESOURCE_EXHAUSTED);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_tells_each_condition_that_changes_something),
        cmocka_unit_test(a_document_has_the_same_numbers),
        cmocka_unit_test(what_fits_is_said_to_fit),
        cmocka_unit_test(a_page_has_a_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
