/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kubelet-plugin/foreign_watch.h"
#include "tests/unit/plugin/api_server.h"

#define UUID "GPU-0a1b2c3d-1111-8222-9333-0123456789ab"
#define BUS "0000:1a:00.0"

/* --- our devices: a card, and a part of another card --- */

static struct tg_keyed_attribute card_attributes[] = {
    {.key = "resource.kubernetes.io/pciBusID", .value = {.string = BUS}},
    {.key = "index", .value = {.int_ = {true, 0}}},
};
static struct tg_keyed_attribute part_attributes[] = {
    {.key = "parentUUID", .value = {.string = "GPU-parent"}},
};
static struct tg_provider_device devices[] = {
    {.device = {.name = "gpu-0a1b2c3d1111", .attributes = {card_attributes, 2}}, .uuid = UUID},
    {.device = {.name = "gpu-part", .attributes = {part_attributes, 1}}, .uuid = "MIG-part"},
};
static const struct tg_device_set set = {.devices = {devices, 2}};

/* --- the comparison --- */

static bool conflict(const char *key, const char *value, struct tg_buf *why)
{
    struct tg_keyed_attribute attributes[] = {
        {.key = "other.example.com/model", .value = {.string = UUID}},
        {.key = key, .value = {.string = value}},
    };
    struct tg_device theirs = {.name = "theirs", .attributes = {attributes, 2}};
    struct tg_resource_slice_spec spec = {.driver = "other.example.com", .devices = {&theirs, 1}};
    const struct tg_resource_slice slice = {.spec = &spec};
    const struct tg_resource_slice *slices[] = {&slice};
    tg_buf_clear(why);
    return tg_foreign_conflict(&set, slices, 1, why);
}

static void the_same_card_is_known_by_uuid_and_address_in_any_domain(void **state)
{
    TG_AUTOBUF struct tg_buf why = TG_BUF_INIT(2000);
    static const struct {
        const char *key, *value;
    } same[] = {
        {"uuid", UUID},
        {"gpu.other.example.com/uuid", UUID},
        {"uuid", "gpu-0A1B2C3D-1111-8222-9333-0123456789AB"},
        {"parentUUID", UUID},   /* a part of our card */
        {"uuid", "GPU-parent"}, /* the card of which we have a part */
        {"other.example.com/parentUUID", "GPU-parent"},
        {"uuid", "MIG-part"},
        {"resource.kubernetes.io/pciBusID", BUS},
        {"other.example.com/pciBusID", "0000:1A:00.0"},
    };
    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(same); i++)
        if (!conflict(same[i].key, same[i].value, &why))
            fail_msg("%s=%s is not recognised", same[i].key, same[i].value);
    assert_true(conflict("uuid", UUID, &why));
    assert_non_null(strstr(tg_buf_str(&why),
                           "driver other.example.com publishes our card "
                           "gpu-0a1b2c3d1111 too, as its device theirs (uuid is " UUID ")"));
    assert_non_null(strstr(tg_buf_str(&why), "remove one of the two drivers"));
}

static void other_cards_and_other_attributes_are_no_conflict(void **state)
{
    TG_AUTOBUF struct tg_buf why = TG_BUF_INIT(2000);
    const struct tg_resource_slice unread = {0};
    const struct tg_resource_slice *slices[] = {&unread};
    (void)state;
    assert_false(conflict("uuid", "GPU-ffffffff-1111-8222-9333-0123456789ab", &why));
    assert_false(conflict("uuid", "", &why));
    assert_false(conflict("uuid", NULL, &why));
    assert_false(conflict("uuid", BUS, &why));
    assert_false(conflict("pciBusID", UUID, &why));
    assert_false(conflict("resource.kubernetes.io/pciBusID", "0000:1b:00.0", &why));
    assert_false(conflict("resource.kubernetes.io/pcieRoot", BUS, &why));
    assert_false(conflict("example.com/myuuid", UUID, &why));
    assert_false(tg_foreign_conflict(&set, slices, 1, &why));
    assert_false(tg_foreign_conflict(&set, NULL, 0, &why));
    assert_int_equal(why.len, 0);
}

static void what_is_told_does_not_depend_on_the_order(void **state)
{
    TG_AUTOBUF struct tg_buf forward = TG_BUF_INIT(2000), backward = TG_BUF_INIT(2000);
    struct tg_keyed_attribute uuid = {.key = "uuid", .value = {.string = UUID}};
    struct tg_device theirs[] = {{.name = "y", .attributes = {&uuid, 1}},
                                 {.name = "x", .attributes = {&uuid, 1}}};
    struct tg_resource_slice_spec b = {.driver = "b.example.com", .devices = {theirs, 1}};
    struct tg_resource_slice_spec a = {.driver = "a.example.com", .devices = {theirs, 2}};
    const struct tg_resource_slice one = {.spec = &b}, two = {.spec = &a};
    const struct tg_resource_slice *there[] = {&one, &two}, *back[] = {&two, &one};
    (void)state;
    assert_true(tg_foreign_conflict(&set, there, 2, &forward));
    assert_true(tg_foreign_conflict(&set, back, 2, &backward));
    assert_string_equal(tg_buf_str(&forward), tg_buf_str(&backward));
    assert_non_null(strstr(tg_buf_str(&forward), "driver a.example.com"));
    assert_non_null(strstr(tg_buf_str(&forward), "its device x"));
}

/* --- the watch --- */

struct bench {
    struct tg_loop *loop;
    struct api_server api;
    struct tg_foreign_watch *watch;
    char *slice;
    int told;
    char blocked[400];
};

static void changed(void *data, const char *blocked)
{
    struct bench *bench = data;
    bench->told++;
    snprintf(bench->blocked, sizeof(bench->blocked), "%s", tg_or(blocked, "nothing"));
}

static int setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    bench->loop = tg_loop_new(false);
    api_server_init(&bench->api, bench->loop);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    tg_foreign_watch_free(bench->watch);
    api_server_done(&bench->api);
    tg_loop_free(bench->loop);
    free(bench->slice);
    free(bench);
    return 0;
}

static void start(struct bench *bench, int64_t grace)
{
    const struct tg_foreign_watch_config config = {
        .driver = "d", .node_name = "node-a", .grace = grace, .changed = changed, .data = bench};
    bench->watch = tg_foreign_watch_new(bench->api.client, &config);
    while (bench->api.foreign_watch == NULL)
        tg_loop_run_once(bench->loop, true);
}

static void wait_told(struct bench *bench, int told)
{
    while (bench->told < told)
        tg_loop_run_once(bench->loop, true);
}

static void push(struct bench *bench, const char *type, const char *version, const char *uuid)
{
    TG_AUTOFREE char *slice = api_foreign_slice(version, "uuid", uuid);
    api_push(bench->api.foreign_watch, type, slice);
}

static void nothing_is_told_before_slices_and_devices_are_known(void **state)
{
    struct bench *bench = *state;
    bench->api.foreign = bench->slice = api_foreign_slice("7", "uuid", UUID);
    start(bench, TG_SECOND);
    assert_int_equal(bench->told, 0);
    tg_foreign_watch_set_devices(bench->watch, &set);
    assert_int_equal(bench->told, 1);
    assert_non_null(strstr(bench->blocked, "publishes our card"));
}

static void without_other_drivers_nothing_is_in_the_way(void **state)
{
    struct bench *bench = *state;
    start(bench, 3600 * TG_SECOND);
    tg_foreign_watch_set_devices(bench->watch, &set);
    assert_int_equal(bench->told, 1);
    assert_string_equal(bench->blocked, "nothing");
    push(bench, "ADDED", "11", "GPU-another");
    push(bench, "MODIFIED", "12", UUID);
    wait_told(bench, 2);
    assert_int_equal(bench->told, 2);
    assert_non_null(strstr(bench->blocked, "publishes our card"));
}

static void a_conflict_is_over_when_the_grace_has_passed(void **state)
{
    struct bench *bench = *state;
    bench->api.foreign = bench->slice = api_foreign_slice("7", "uuid", UUID);
    start(bench, TG_SECOND / 50);
    tg_foreign_watch_set_devices(bench->watch, &set);
    push(bench, "DELETED", "11", UUID);
    wait_told(bench, 2);
    assert_non_null(strstr(bench->blocked, "published again when it has stayed so"));
    wait_told(bench, 3);
    assert_string_equal(bench->blocked, "nothing");
}

static void a_conflict_that_comes_back_within_the_grace_was_never_over(void **state)
{
    struct bench *bench = *state;
    bench->api.foreign = bench->slice = api_foreign_slice("7", "uuid", UUID);
    start(bench, 3600 * TG_SECOND);
    tg_foreign_watch_set_devices(bench->watch, &set);
    /* So it looks when a kubelet starts: all slices go, and come back one by one. */
    push(bench, "DELETED", "11", UUID);
    wait_told(bench, 2);
    push(bench, "ADDED", "12", "GPU-another");
    push(bench, "MODIFIED", "13", UUID);
    wait_told(bench, 3);
    assert_non_null(strstr(bench->blocked, "publishes our card"));
    push(bench, "DELETED", "14", UUID);
    wait_told(bench, 4);
    assert_non_null(strstr(bench->blocked, "published again when it has stayed so"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_card_is_known_by_uuid_and_address_in_any_domain),
        cmocka_unit_test(other_cards_and_other_attributes_are_no_conflict),
        cmocka_unit_test(what_is_told_does_not_depend_on_the_order),
        TEST(nothing_is_told_before_slices_and_devices_are_known),
        TEST(without_other_drivers_nothing_is_in_the_way),
        TEST(a_conflict_is_over_when_the_grace_has_passed),
        TEST(a_conflict_that_comes_back_within_the_grace_was_never_over),
    };
    return cmocka_run_group_tests_name("foreign_watch", tests, NULL, NULL);
}
