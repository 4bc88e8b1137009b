/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/controller_io/fixture.h"

#define CLAIM(version, more, device)                                                               \
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"c\",\"uid\":\"u\",\"resourceVersion\":"        \
    "\"" version "\"" more "},\"spec\":{},\"status\":{\"allocation\":{\"devices\":{\"results\":[{" \
    "\"request\":\"r\",\"driver\":\"d\",\"pool\":\"p\",\"device\":\"" device "\"}]}}}}"
#define ODD ",\"annotations\":{\"a\":\"\\u0000\"}"

static const struct tg_resource_claim *fill(const struct fixture *f, struct tg_view *view)
{
    tg_view_init(view);
    tg_controller_fill_view(f->controller, view);
    return tg_view_claim(view, "ns", "c");
}

static const char *device(const struct tg_resource_claim *claim)
{
    return claim->status->allocation->devices->results.items[0].device;
}

static void wait_event(struct fixture *f)
{
    while (f->events == 0)
        tg_loop_run_once(f->loop, true);
}

/* Somebody can make a claim unreadable, and must not free its devices by that. */
static void a_claim_that_was_never_readable_is_told_and_goes_on_holding_its_devices(void **state)
{
    const struct tg_resource_claim *claim;
    struct fixture *f = *state;
    struct tg_view view;

    f->claims = CLAIM("500", ODD, "gpu-1");
    fixture_start(f, "");
    claim = fill(f, &view);
    assert_string_equal(device(claim), "gpu-1");
    assert_non_null(tg_view_unreadable(&view, TG_VIEW_CLAIM, claim->metadata));
    tg_view_done(&view);
    wait_event(f);
    assert_non_null(strstr(f->event, "\"reason\":\"Unreadable\""));
    assert_non_null(strstr(f->event, "\"type\":\"Warning\""));
    assert_non_null(strstr(f->event, "\"kind\":\"ResourceClaim\""));
    assert_non_null(strstr(f->event, "\"uid\":\"u\""));
    assert_non_null(strstr(f->event, "metadata.annotations.a: a string with a NUL character"));
}

static void a_claim_that_becomes_unreadable_shows_its_new_devices_until_it_is_mended(void **state)
{
    const struct tg_resource_claim *claim;
    struct fixture *f = *state;
    unsigned passes;
    struct tg_view view;

    f->claims = CLAIM("500", "", "gpu-1");
    fixture_start(f, "");
    claim = fill(f, &view);
    assert_null(tg_view_unreadable(&view, TG_VIEW_CLAIM, claim->metadata));
    tg_view_done(&view);
    fixture_settle(f);
    passes = f->passes;
    test_chunk(f->claim_watch,
               "{\"type\":\"MODIFIED\",\"object\":" CLAIM("1001", ODD, "gpu-2") "}\n");
    wait_event(f);
    assert_true(f->passes > passes); /* it is decided anew */
    claim = fill(f, &view);
    assert_string_equal(device(claim), "gpu-2");
    assert_non_null(tg_view_unreadable(&view, TG_VIEW_CLAIM, claim->metadata));
    tg_view_done(&view);
    test_chunk(f->claim_watch,
               "{\"type\":\"MODIFIED\",\"object\":" CLAIM("1002", "", "gpu-3") "}\n");
    while (tg_informer_get(f->controller->informers[TG_VIEW_CLAIM], "ns", "c")->version != 1002)
        tg_loop_run_once(f->loop, true);
    claim = fill(f, &view);
    assert_string_equal(device(claim), "gpu-3");
    assert_null(tg_view_unreadable(&view, TG_VIEW_CLAIM, claim->metadata));
    tg_view_done(&view);
}

static void a_kind_that_the_server_does_not_know_is_done_without(void **state)
{
    struct fixture *f = *state;

    f->no_taint_rules = true;
    fixture_start(f, "");
    assert_null(f->controller->informers[TG_VIEW_TAINT_RULE]);
    assert_non_null(f->controller->informers[TG_VIEW_CLAIM]);
    assert_true(tg_controller_synced(f->controller));
}

static void every_write_has_the_store_of_its_kind(void **state)
{
    static const struct {
        enum tg_write_kind write;
        const char *kind;
    } kinds[] = {
        {TG_WRITE_GANG_CREATE, "Gang"},
        {TG_WRITE_GANG_METADATA, "Gang"},
        {TG_WRITE_GANG_STATUS, "Gang"},
        {TG_WRITE_GANG_DELETE, "Gang"},
        {TG_WRITE_CLAIM_ALLOCATE, "ResourceClaim"},
        {TG_WRITE_CLAIM_CLEAR, "ResourceClaim"},
        {TG_WRITE_CLAIM_EPOCH, "ResourceClaim"},
        {TG_WRITE_POD, "Pod"},
        {TG_WRITE_POD_EVICT, "Pod"},
    };
    struct fixture *f = *state;

    fixture_start(f, "");
    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++) {
        const struct tg_informer *informer =
            tg_controller_informer_of(f->controller, kinds[i].write);

        assert_string_equal(tg_informer_kind(informer)->kind, kinds[i].kind);
        assert_string_equal(tg_controller_kind_of(kinds[i].write)->kind, kinds[i].kind);
    }
}

#define NAMED(version)                                                                             \
    "{\"metadata\":{\"name\":\"n\",\"uid\":\"n\",\"resourceVersion\":\"" version "\"}}"

static void apply(const struct fixture *f, enum tg_view_kind kind, const char *text)
{
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(tg_informer_apply(f->controller->informers[kind], text, strlen(text), &err),
                     0);
}

/* A class is listed; a node is not, but it is found. */
static void expect_view(const struct fixture *f, const char *version)
{
    const struct tg_view *view = tg_controller_view(f->controller);
    const struct tg_device_class *klass = tg_view_get(view, TG_VIEW_CLASS, NULL, "n");
    const struct tg_node *node = tg_view_get(view, TG_VIEW_NODE, NULL, "n");

    assert_int_equal(view->lists[TG_VIEW_CLASS].n, 1);
    assert_ptr_equal(view->lists[TG_VIEW_CLASS].items[0], klass);
    assert_string_equal(klass->metadata->resource_version, version);
    assert_int_equal(view->lists[TG_VIEW_NODE].n, 0);
    assert_string_equal(node->metadata->resource_version, version);
    assert_null(tg_view_get(view, TG_VIEW_NODE, NULL, "m"));
}

static void what_passes_look_at_is_filled_anew_where_something_has_changed(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    apply(f, TG_VIEW_NODE, NAMED("1400"));
    apply(f, TG_VIEW_CLASS, NAMED("1400"));
    for (size_t i = 0; i < 2; i++)
        expect_view(f, "1400");
    apply(f, TG_VIEW_NODE, NAMED("1401"));
    apply(f, TG_VIEW_CLASS, NAMED("1401"));
    for (size_t i = 0; i < 2; i++)
        expect_view(f, "1401");
}

static void a_pass_finds_a_claim_that_it_does_not_list(void **state)
{
    const struct tg_resource_claim *claim;
    const struct tg_view *view;
    struct fixture *f = *state;

    f->claims = CLAIM("500", ODD, "gpu-1");
    fixture_start(f, "");
    view = tg_controller_view(f->controller);
    assert_int_equal(view->lists[TG_VIEW_CLAIM].n, 0);
    claim = tg_view_claim(view, "ns", "c");
    assert_string_equal(device(claim), "gpu-1");
    assert_non_null(tg_view_unreadable(view, TG_VIEW_CLAIM, claim->metadata));
    assert_null(tg_view_claim(view, "ns", "d"));
    tg_controller_view_done(f->controller);
}

static void apply_claim(struct fixture *f, size_t i)
{
    TG_AUTOFREE char *text =
        tg_xasprintf("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"c%zu\",\"uid\":\"u%zu\","
                     "\"resourceVersion\":\"%zu\"},\"spec\":{},\"status\":{}}",
                     i, i, 2000 + i);
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(
        tg_informer_apply(f->controller->informers[TG_VIEW_CLAIM], text, strlen(text), &err), 0);
}

static void everything_comes_in_parts_each_object_once(void **state)
{
    enum { CLAIMS = 1200 };
    TG_AUTOMAP struct tg_map *seen = tg_map_new(NULL);
    struct tg_view_part part = {.place = 0};
    struct fixture *f = *state;
    struct tg_view view;
    size_t parts = 0;

    fixture_start(f, "");
    for (size_t i = 0; i < CLAIMS; i++)
        apply_claim(f, i);
    tg_view_init(&view);
    for (; tg_controller_fill_part(f->controller, &part, &view); parts++) {
        for (size_t i = 0; i < view.lists[TG_VIEW_CLAIM].n; i++) {
            const struct tg_resource_claim *claim = view.lists[TG_VIEW_CLAIM].items[i];

            assert_false(tg_map_has(seen, claim->metadata->name));
            tg_map_set(seen, claim->metadata->name, seen);
        }
        assert_non_null(tg_view_claim(&view, "ns", "c0"));
        assert_non_null(tg_view_claim(&view, "ns", "c1199"));
    }
    assert_int_equal(tg_map_count(seen), CLAIMS);
    assert_int_equal(parts, 3);
    tg_view_done(&view);
    tg_controller_parts_done(f->controller);
}

static void there_is_a_part_also_without_pods_and_claims(void **state)
{
    struct tg_view_part part = {.place = 0};
    struct fixture *f = *state;
    struct tg_view view;

    fixture_start(f, "");
    apply(f, TG_VIEW_CLASS, NAMED("1400"));
    tg_view_init(&view);
    assert_true(tg_controller_fill_part(f->controller, &part, &view));
    assert_int_equal(view.lists[TG_VIEW_CLASS].n, 1);
    assert_false(tg_controller_fill_part(f->controller, &part, &view));
    tg_view_done(&view);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_claim_that_was_never_readable_is_told_and_goes_on_holding_its_devices),
        TEST(a_claim_that_becomes_unreadable_shows_its_new_devices_until_it_is_mended),
        TEST(a_kind_that_the_server_does_not_know_is_done_without),
        TEST(every_write_has_the_store_of_its_kind),
        TEST(a_pass_finds_a_claim_that_it_does_not_list),
        TEST(everything_comes_in_parts_each_object_once),
        TEST(there_is_a_part_also_without_pods_and_claims),
        cmocka_unit_test_setup_teardown(
            what_passes_look_at_is_filled_anew_where_something_has_changed, fixture_setup,
            fixture_teardown),
    };
    return cmocka_run_group_tests_name("informers", tests, NULL, NULL);
}
