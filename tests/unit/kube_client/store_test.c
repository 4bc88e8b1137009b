/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubernetes/client/internal.h"

/* Every test is run with objects kept as structs and with all packed. */
static size_t hot = SIZE_MAX;

struct recorder {
    struct tg_store store;
    char log[512];
    const char *answer_on_change; /* put into the store from inside the first callback */
};

static struct tg_stored *decode(struct tg_store *store, const char *name, const char *uid,
                                int version)
{
    struct tg_stored *stored = NULL;
    char json[256];

    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\",\"resourceVersion\":\"%d\"}}", name,
             uid, version);
    assert_int_equal(tg_store_decode(store, json, strlen(json), &stored, NULL), 0);
    return stored;
}

static void on_change(void *data, const struct tg_stored *before, const struct tg_stored *after)
{
    struct recorder *r = data;
    const struct tg_stored *one = after != NULL ? after : before;
    const char *answer = r->answer_on_change;
    size_t n = strlen(r->log);

    snprintf(r->log + n, sizeof(r->log) - n, "%c%s:%s ",
             before == NULL  ? '+'
             : after == NULL ? '-'
                             : '~',
             one->key, one->object->metadata->resource_version);
    assert_ptr_equal(tg_index_get(r->store.objects, one->key), after);
    r->answer_on_change = NULL;
    if (answer != NULL)
        tg_store_put_answer(&r->store, decode(&r->store, answer, "u", 99));
}

static void start(struct recorder *r)
{
    memset(r, 0, sizeof(*r));
    tg_store_init(&r->store, &tg_kind_node, 1 << 20);
    tg_store_keep_hot(&r->store, hot);
    r->store.on_change = on_change;
    r->store.data = r;
}

static void finish(struct recorder *r)
{
    tg_store_done(&r->store);
}

static void expect(struct recorder *r, const char *log)
{
    assert_string_equal(r->log, log);
    r->log[0] = '\0';
}

static bool put(struct recorder *r, const char *name, const char *uid, int version)
{
    return tg_store_put(&r->store, decode(&r->store, name, uid, version));
}

static void replace(struct recorder *r, uint64_t version, uint64_t highest_before, const char *name,
                    int object_version)
{
    struct tg_index *list = tg_store_new_list(&r->store);

    if (name != NULL)
        tg_store_list(&r->store, list, decode(&r->store, name, "u", object_version));
    tg_store_replace(&r->store, list, version, highest_before);
    tg_index_free(list);
}

static void only_newer_versions_are_changes(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    assert_true(put(&r, "a", "u", 5));
    assert_false(put(&r, "a", "u", 5));
    assert_false(put(&r, "a", "u", 4));
    assert_true(put(&r, "a", "u", 10)); /* a number, not a text: "10" > "5" */
    expect(&r, "+a:5 ~a:10 ");
    finish(&r);
}

static void another_uid_is_another_object(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    put(&r, "a", "u1", 5);
    put(&r, "a", "u2", 6);
    assert_false(put(&r, "a", "u1", 5)); /* late news of the first */
    expect(&r, "+a:5 -a:5 +a:6 ");
    finish(&r);
}

static void an_older_deletion_does_not_delete_a_newer_object(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    put(&r, "a", "u1", 9);
    assert_false(tg_store_delete(&r.store, "a", 8));
    assert_false(tg_store_delete(&r.store, "b", 8));
    assert_true(tg_store_delete(&r.store, "a", 9));
    expect(&r, "+a:9 -a:9 ");
    finish(&r);
}

static void a_version_that_is_no_number_is_always_a_change(void **state)
{
    static const char json[] =
        "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"resourceVersion\":\"x1\"}}";
    struct recorder r;
    struct tg_stored *stored = NULL;

    (void)state;
    start(&r);
    put(&r, "a", "u", 5);
    assert_int_equal(tg_store_decode(&r.store, json, strlen(json), &stored, NULL), 0);
    assert_true(tg_store_put(&r.store, stored));
    expect(&r, "+a:5 ~a:x1 ");
    finish(&r);
}

static void an_answer_older_than_the_place_of_the_watch_brings_nothing_back(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    r.store.position = 20;
    assert_false(tg_store_put_answer(&r.store, decode(&r.store, "a", "u", 20)));
    assert_true(tg_store_put_answer(&r.store, decode(&r.store, "a", "u", 21)));
    assert_true(tg_store_put_answer(&r.store, decode(&r.store, "a", "u", 22)));
    expect(&r, "+a:21 ~a:22 ");
    finish(&r);
}

static void a_list_deletes_what_it_lacks_unless_that_is_newer(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    put(&r, "old", "u", 5);
    put(&r, "kept", "u", 6);
    put(&r, "new", "u", 31);
    expect(&r, "+old:5 +kept:6 +new:31 ");
    replace(&r, 30, 6, "kept", 6);
    expect(&r, "-old:5 ");
    assert_int_equal(r.store.position, 30);
    finish(&r);
}

static void a_list_holds_no_second_copy_of_what_is_unchanged(void **state)
{
    struct tg_index *list;
    struct recorder r;

    (void)state;
    start(&r);
    put(&r, "a", "u", 5);
    put(&r, "b", "u", 6);
    list = tg_store_new_list(&r.store);
    tg_store_list(&r.store, list, decode(&r.store, "a", "u", 5));
    tg_store_list(&r.store, list, decode(&r.store, "b", "u", 7));
    if (hot == SIZE_MAX) /* of packed objects the list has copies, which are small */
        assert_ptr_equal(tg_index_get(list, "a"), tg_index_get(r.store.objects, "a"));
    assert_ptr_not_equal(tg_index_get(list, "b"), tg_index_get(r.store.objects, "b"));
    expect(&r, "+a:5 +b:6 ");
    put(&r, "a", "u", 8); /* while the list is made: it holds its own */
    tg_store_replace(&r.store, list, 7, 6);
    tg_index_free(list);
    expect(&r, "~a:8 ~b:7 ");
    finish(&r);
}

static void a_list_of_a_restored_server_counts_although_it_is_older(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    put(&r, "a", "u", 50);
    put(&r, "b", "u", 60);
    expect(&r, "+a:50 +b:60 ");
    replace(&r, 30, r.store.highest, "a", 20);
    expect(&r, "-b:60 ~a:20 ");
    /* and its numbers count from there on */
    assert_int_equal(r.store.highest, 30);
    assert_true(put(&r, "a", "u", 31));
    finish(&r);
}

static void a_callback_may_put_an_answer_while_a_list_is_applied(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    put(&r, "gone", "u", 5);
    expect(&r, "+gone:5 ");
    r.answer_on_change = "a"; /* at 99: newer than what the list says of it */
    replace(&r, 30, 5, "a", 20);
    expect(&r, "-gone:5 +a:99 ");
    finish(&r);
}

static void a_callback_may_replace_what_is_about_to_be_deleted(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    put(&r, "x", "u", 5);
    put(&r, "y", "u", 6);
    expect(&r, "+x:5 +y:6 ");
    r.answer_on_change = "y"; /* in the deletion of x */
    replace(&r, 30, 6, NULL, 0);
    expect(&r, "-x:5 ~y:99 ");
    finish(&r);
}

static void what_lacks_identity_is_refused_by_name(void **state)
{
    static const struct {
        const char *json, *part;
    } cases[] = {
        {"{}", "metadata.name"},
        {"{\"metadata\":{}}", "metadata.name"},
        {"{\"metadata\":{\"name\":\"a\",\"uid\":\"u\"}}", "Node \"a\": metadata.uid or"},
        {"{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}}",
         "Node \"a\": metadata.uid or"},
    };
    struct recorder r;

    (void)state;
    start(&r);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tg_stored *stored = NULL;
        struct tg_error err = TG_ERROR_INIT;
        assert_int_equal(
            tg_store_decode(&r.store, cases[i].json, strlen(cases[i].json), &stored, &err),
            -TG_INVALID_ARGUMENT);
        assert_non_null(strstr(err.message, cases[i].part));
    }
    finish(&r);
}

static void an_object_that_unfolds_beyond_its_budget_is_refused(void **state)
{
    struct recorder r;
    struct tg_buf json = TG_BUF_INIT(1 << 20);
    struct tg_stored *stored = NULL;
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    start(&r);
    r.store.max_object = 32 << 10;
    tg_buf_append_str(&json, "{\"metadata\":{\"ownerReferences\":[{}");
    for (int i = 0; i < 10000; i++)
        tg_buf_append_str(&json, ",{}");
    tg_buf_append_str(&json, "]}}");
    assert_int_equal(tg_store_decode(&r.store, tg_buf_str(&json), json.len, &stored, &err),
                     -TG_RESOURCE_EXHAUSTED);
    r.store.max_object = 100;
    assert_int_equal(tg_store_decode(&r.store, tg_buf_str(&json), json.len, &stored, &err),
                     -TG_RESOURCE_EXHAUSTED);
    tg_buf_done(&json);
    finish(&r);
}

static void keys_that_do_not_fit_are_none(void **state)
{
    char key[TG_STORE_KEY];
    char name[1000];

    (void)state;
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_true(tg_store_key("ns", "a", key));
    assert_string_equal(key, "ns/a");
    assert_true(tg_store_key(NULL, "a", key));
    assert_string_equal(key, "a");
    assert_false(tg_store_key("ns", name, key));
    assert_false(tg_store_key(NULL, "", key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_newer_versions_are_changes),
        cmocka_unit_test(another_uid_is_another_object),
        cmocka_unit_test(an_older_deletion_does_not_delete_a_newer_object),
        cmocka_unit_test(a_version_that_is_no_number_is_always_a_change),
        cmocka_unit_test(an_answer_older_than_the_place_of_the_watch_brings_nothing_back),
        cmocka_unit_test(a_list_deletes_what_it_lacks_unless_that_is_newer),
        cmocka_unit_test(a_list_holds_no_second_copy_of_what_is_unchanged),
        cmocka_unit_test(a_list_of_a_restored_server_counts_although_it_is_older),
        cmocka_unit_test(a_callback_may_put_an_answer_while_a_list_is_applied),
        cmocka_unit_test(a_callback_may_replace_what_is_about_to_be_deleted),
        cmocka_unit_test(what_lacks_identity_is_refused_by_name),
        cmocka_unit_test(an_object_that_unfolds_beyond_its_budget_is_refused),
        cmocka_unit_test(keys_that_do_not_fit_are_none),
    };
    int failed = cmocka_run_group_tests_name("store", tests, NULL, NULL);

    hot = 1;
    return failed + cmocka_run_group_tests_name("store, packed", tests, NULL, NULL);
}
