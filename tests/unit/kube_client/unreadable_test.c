/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubernetes/client/internal.h"
#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/str.h"

static void on_change(void *data, const struct tg_stored *before, const struct tg_stored *after)
{
    (void)data;
    (void)before;
    (void)after;
}

static void start(struct tg_store *store)
{
    tg_store_init(store, &tg_kind_resource_claim, 64 << 10);
    store->salvage = tg_resource_claim_salvage;
    store->on_change = on_change;
}

#define ODD_ANNOTATION ",\"annotations\":{\"a\":\"\\u0000\"}"
#define SPEC(class)                                                                                \
    "\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":"       \
    "\"" class "\"}}]}}"
#define RESULT(device, more)                                                                       \
    "{\"request\":\"r\",\"driver\":\"d\",\"pool\":\"p\",\"device\":\"" device "\"" more "}"
#define STATUS(results) "\"status\":{\"allocation\":{\"devices\":{\"results\":[" results "]}}}"

/* A version of claim ns/c as a watch shows it. */
static const struct tg_resource_claim *show(struct tg_store *store, const char *uid, int version,
                                            const char *meta, const char *rest, bool readable)
{
    struct tg_store_identity identity;
    struct tg_buf json = TG_BUF_INIT(1 << 20);
    struct tg_stored *stored = NULL;
    struct tg_error why = TG_ERROR_INIT;

    tg_buf_printf(&json,
                  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"c\",\"uid\":\"%s\","
                  "\"resourceVersion\":\"%d\"%s},%s}",
                  uid, version, meta, rest);
    assert_int_equal(tg_store_decode(store, json.data, json.len, &stored, &why) == 0, readable);
    if (!readable) {
        assert_int_equal(tg_store_identify(store, json.data, json.len, &identity, NULL), 0);
        stored = tg_store_unreadable(store, json.data, json.len, &identity, why.message);
    }
    assert_true(tg_store_put(store, stored));
    tg_buf_done(&json);
    stored = tg_index_get(store->objects, "ns/c");
    assert_int_equal(stored->version, version);
    assert_int_equal(stored->stale == NULL, readable);
    return (const struct tg_resource_claim *)(const void *)stored->object;
}

static const char *device(const struct tg_resource_claim *claim)
{
    if (claim->status == NULL || claim->status->allocation == NULL)
        return "none";
    return claim->status->allocation->devices->results.items[0].device;
}

static const char *class_of(const struct tg_resource_claim *claim)
{
    return claim->spec->devices->requests.items[0].exactly->device_class_name;
}

static void a_claim_that_becomes_unreadable_keeps_its_spec_and_shows_its_new_devices(void **state)
{
    const struct tg_resource_claim *claim;
    struct tg_store store;

    (void)state;
    start(&store);
    show(&store, "u", 5, "", SPEC("k"), true);
    claim = show(&store, "u", 6, ODD_ANNOTATION, SPEC("k") "," STATUS(RESULT("gpu", "")), false);
    assert_string_equal(device(claim), "gpu");
    assert_string_equal(class_of(claim), "k");
    /* Whoever writes on top of what was read is refused by the server. */
    assert_string_equal(claim->metadata->resource_version, "5");
    claim = show(&store, "u", 7, ODD_ANNOTATION, SPEC("k"), false);
    assert_string_equal(device(claim), "none");
    assert_string_equal(class_of(claim), "k");
    assert_string_equal(
        device(show(&store, "u", 8, "", SPEC("k") "," STATUS(RESULT("b", "")), true)), "b");
    tg_store_done(&store);
}

static void a_claim_that_was_never_readable_shows_its_devices(void **state)
{
    const struct tg_resource_claim *claim;
    struct tg_store store;

    (void)state;
    start(&store);
    claim = show(&store, "u", 6, ODD_ANNOTATION, SPEC("k") "," STATUS(RESULT("gpu", "")), false);
    assert_string_equal(device(claim), "gpu");
    assert_null(claim->spec);
    assert_string_equal(claim->metadata->namespace_, "ns");
    assert_string_equal(claim->metadata->name, "c");
    assert_string_equal(claim->metadata->uid, "u");
    assert_string_equal(claim->metadata->resource_version, "6");
    tg_store_done(&store);
}

static void devices_are_known_when_the_rest_of_the_status_is_unreadable(void **state)
{
    const struct tg_resource_claim *claim;
    struct tg_store store;

    (void)state;
    start(&store);
    claim = show(&store, "u", 6, "",
                 SPEC("k") "," STATUS(RESULT(
                     "gpu", ",\"adminAccess\":true,\"shareID\":\"s\",\"tolerations\":[{\"value\":"
                            "\"\\u0000\"}]")),
                 false);
    assert_string_equal(device(claim), "gpu");
    assert_string_equal(claim->status->allocation->devices->results.items[0].driver, "d");
    assert_string_equal(claim->status->allocation->devices->results.items[0].pool, "p");
    assert_string_equal(claim->status->allocation->devices->results.items[0].share_id, "s");
    assert_true(claim->status->allocation->devices->results.items[0].admin_access.value);
    tg_store_done(&store);
}

static void devices_are_known_of_a_claim_that_is_too_large(void **state)
{
    const struct tg_resource_claim *claim;
    struct tg_store store;
    struct tg_buf meta = TG_BUF_INIT(1 << 20);

    (void)state;
    start(&store);
    tg_buf_append_str(&meta, ",\"annotations\":{\"a\":\"");
    for (int i = 0; i < 10000; i++)
        tg_buf_append_str(&meta, "0123456789");
    tg_buf_append_str(&meta, "\"}");
    claim = show(&store, "u", 6, tg_buf_str(&meta), STATUS(RESULT("gpu", "")), false);
    assert_string_equal(device(claim), "gpu");
    tg_buf_done(&meta);
    tg_store_done(&store);
}

static void what_was_known_last_stays_when_nothing_can_be_salvaged(void **state)
{
    const struct tg_resource_claim *claim = NULL;
    struct tg_store store;
    const struct tg_stored *stored;
    unsigned chain = 0;

    (void)state;
    start(&store);
    show(&store, "u", 5, "", SPEC("k"), true);
    show(&store, "u", 6, ODD_ANNOTATION, SPEC("k") "," STATUS(RESULT("gpu", "")), false);
    for (int version = 7; version < 50; version++)
        claim = show(&store, "u", version, "", "\"status\":\"odd\"", false);
    assert_string_equal(device(claim), "gpu");
    assert_string_equal(class_of(claim), "k");
    /* However often it changes, not every version is kept. */
    for (stored = tg_index_get(store.objects, "ns/c"); stored != NULL; stored = stored->base)
        chain++;
    assert_int_equal(chain, 3);
    claim = show(&store, "u", 50, ODD_ANNOTATION, SPEC("k"), false);
    assert_string_equal(device(claim), "none");
    tg_store_done(&store);
}

static void nothing_of_one_object_becomes_another_of_the_same_name(void **state)
{
    const struct tg_resource_claim *claim;
    struct tg_store store;

    (void)state;
    start(&store);
    show(&store, "u", 5, "", SPEC("k") "," STATUS(RESULT("gpu", "")), true);
    claim = show(&store, "x", 6, "", "\"status\":\"odd\"", false);
    assert_string_equal(device(claim), "none");
    assert_null(claim->spec);
    assert_string_equal(claim->metadata->uid, "x");
    tg_store_done(&store);
}

static void a_text_that_names_no_object_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"metadata\":{\"name\":\"c\",\"namespace\":\"n\",\"uid\":\"u\"}}",
        "{\"metadata\":{\"name\":\"c\",\"namespace\":\"n\",\"resourceVersion\":\"1\"}}",
        "{\"metadata\":{\"name\":\"c\",\"uid\":\"u\",\"resourceVersion\":\"1\"}}",
        "{\"metadata\":{\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"1\"}}",
        "{\"metadata\":{\"name\":\"c\",\"uid\":\"u\"}",
    };
    struct tg_store store;

    (void)state;
    start(&store);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct tg_store_identity identity;
        struct tg_error err = TG_ERROR_INIT;

        assert_int_equal(tg_store_identify(&store, texts[i], strlen(texts[i]), &identity, &err),
                         -TG_INVALID_ARGUMENT);
        assert_true(err.message[0] != '\0');
    }
    tg_store_done(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_that_becomes_unreadable_keeps_its_spec_and_shows_its_new_devices),
        cmocka_unit_test(a_claim_that_was_never_readable_shows_its_devices),
        cmocka_unit_test(devices_are_known_when_the_rest_of_the_status_is_unreadable),
        cmocka_unit_test(devices_are_known_of_a_claim_that_is_too_large),
        cmocka_unit_test(what_was_known_last_stays_when_nothing_can_be_salvaged),
        cmocka_unit_test(nothing_of_one_object_becomes_another_of_the_same_name),
        cmocka_unit_test(a_text_that_names_no_object_is_refused),
    };
    return cmocka_run_group_tests_name("unreadable", tests, NULL, NULL);
}
