/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubernetes/client/internal.h"
#include "api/runtime/base/str.h"

struct fixture {
    struct tg_store store; /* for its decoder and its pool */
    struct tg_index *index;
};

/* hot: as of tg_index_new; 1 packs everything. */
static void begin(struct fixture *f, const struct tg_kind *kind, size_t hot)
{
    tg_store_init(&f->store, kind, 1 << 20);
    tg_store_keep_hot(&f->store, hot);
    f->index = tg_store_new_list(&f->store);
}

static void end(struct fixture *f)
{
    tg_index_free(f->index);
    assert_int_equal(tg_pool_count(f->store.pool), 0); /* everything was given back */
    tg_store_done(&f->store);
}

static struct tg_stored *decode(const struct fixture *f, const char *json)
{
    struct tg_stored *stored = NULL;

    assert_int_equal(tg_store_decode(&f->store, json, strlen(json), &stored, NULL), 0);
    return stored;
}

static struct tg_stored *make(const struct fixture *f, const char *name, int version)
{
    char json[512];

    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"u-%s\","
             "\"resourceVersion\":\"%d\",\"labels\":{\"app\":\"web\"}}}",
             name, name, version);
    return decode(f, json);
}

static void put(struct fixture *f, const char *json)
{
    tg_index_set(f->index, decode(f, json));
    tg_index_cool(f->index);
}

static void a_packed_object_is_what_it_was(void **state)
{
    static const struct {
        const char *key, *name, *generate_name, *version;
    } cases[] = {
        {"ns/web-7d9c-x2x9z", "web-7d9c-x2x9z", "web-7d9c-", "15"},
        {"ns/web-7d9c-x2x9z", "web-7d9c-x2x9z", "web-", "15"},
        {"ns/web-7d9c-x2x9z", "web-7d9c-x2x9z", NULL, "15"},
        {"ns/db-0", "db-0", NULL, "015"},
        {"ns/db-", "db-", "db-", "x15"},
        {"ns/plain", "plain", "", "0"},
        {"ns/a-name-whose-last-part-is-too-longtobetail",
         "a-name-whose-last-part-is-too-longtobetail", NULL, "18446744073709551615"},
        {"ns/-", "-", "-", "18446744073709551616"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture f;
        const struct tg_stored *stored;
        char json[512];
        int n = snprintf(json, sizeof(json),
                         "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"u\","
                         "\"resourceVersion\":\"%s\"",
                         cases[i].name, cases[i].version);

        if (cases[i].generate_name != NULL)
            n += snprintf(json + n, sizeof(json) - (size_t)n, ",\"generateName\":\"%s\"",
                          cases[i].generate_name);
        snprintf(json + n, sizeof(json) - (size_t)n, "}}");
        begin(&f, &tg_kind_pod, 1);
        put(&f, json);
        assert_int_equal(tg_index_hot_count(f.index), 0);
        assert_true(tg_index_has(f.index, cases[i].key));
        stored = tg_index_get(f.index, cases[i].key);
        assert_string_equal(stored->key, cases[i].key);
        assert_string_equal(stored->object->metadata->name, cases[i].name);
        assert_string_equal(stored->object->metadata->namespace_, "ns");
        assert_string_equal(stored->object->metadata->uid, "u");
        assert_string_equal(stored->object->metadata->resource_version, cases[i].version);
        assert_int_equal(tg_strcmp(stored->object->metadata->generate_name, cases[i].generate_name),
                         0);
        end(&f);
    }
}

static void an_object_of_the_cluster_has_no_namespace(void **state)
{
    struct fixture f;
    const struct tg_stored *stored;

    (void)state;
    begin(&f, &tg_kind_node, 1);
    put(&f, "{\"metadata\":{\"name\":\"node-1\",\"uid\":\"u\",\"resourceVersion\":\"3\"}}");
    stored = tg_index_get(f.index, "node-1");
    assert_string_equal(stored->object->metadata->name, "node-1");
    assert_null(stored->object->metadata->namespace_);
    assert_int_equal(stored->version, 3);
    end(&f);
}

static void what_somebody_refers_to_or_cannot_be_read_is_not_packed(void **state)
{
    struct fixture f;
    struct tg_stored *held;
    struct tg_stored *stale;

    (void)state;
    begin(&f, &tg_kind_pod, 1);
    held = make(&f, "held", 1);
    tg_index_set(f.index, tg_stored_ref(held));
    stale = make(&f, "stale", 2);
    stale->stale = "a reason";
    tg_index_set(f.index, stale);
    tg_index_set(f.index, make(&f, "other", 3));
    tg_index_cool(f.index);
    assert_int_equal(tg_index_hot_count(f.index), 2);
    assert_ptr_equal(tg_index_get(f.index, "ns/held"), held);
    assert_ptr_equal(tg_index_get(f.index, "ns/stale"), stale);
    tg_stored_unref(held);
    tg_index_cool(f.index);
    assert_int_equal(tg_index_hot_count(f.index), 1);
    end(&f);
}

static void a_lower_limit_is_kept_from_the_next_cooling_on(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, &tg_kind_pod, (size_t)64 << 20);
    for (int i = 0; i < 9; i++) {
        char name[16];
        snprintf(name, sizeof(name), "p-%d", i);
        tg_index_set(f.index, make(&f, name, i + 1));
    }
    tg_index_cool(f.index);
    assert_int_equal(tg_index_hot_count(f.index), 9);
    tg_index_limit(f.index, 1);
    assert_int_equal(tg_index_hot_count(f.index), 9);
    tg_index_cool(f.index);
    assert_int_equal(tg_index_hot_count(f.index), 0);
    assert_non_null(tg_index_get(f.index, "ns/p-3"));
    end(&f);
}

static void what_is_read_stays_whole_within_the_limit(void **state)
{
    struct fixture f;
    const struct tg_stored *first;

    (void)state;
    begin(&f, &tg_kind_pod, 64 << 10);
    for (int i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof(name), "p-%d", i);
        tg_index_set(f.index, make(&f, name, i + 1));
        tg_index_cool(f.index);
    }
    assert_in_range(tg_index_hot_count(f.index), 1, 64);
    assert_int_equal(tg_index_count(f.index), 200);
    first = tg_index_get(f.index, "ns/p-0");
    assert_ptr_equal(tg_index_get(f.index, "ns/p-0"), first); /* made whole once */
    end(&f);
}

static void a_walk_over_all_leaves_them_packed_and_lends_until_the_next_change(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, &tg_kind_pod, 1);
    for (int i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof(name), "p-%d", i);
        tg_index_set(f.index, make(&f, name, i + 1));
        tg_index_cool(f.index);
    }
    tg_stored_unref(tg_index_take(f.index, "ns/p-4"));
    for (size_t i = 0; i < tg_index_end(f.index); i++) {
        const struct tg_stored *stored = tg_index_at(f.index, i);

        if (i == 4)
            assert_null(stored);
        else
            assert_int_equal(stored->version, i + 1); /* in the order of arrival */
    }
    assert_int_equal(tg_index_hot_count(f.index), 0);
    tg_index_cool(f.index);
    end(&f);
}

static void what_is_pulled_is_handed_over(void **state)
{
    struct fixture f;
    struct tg_stored *hot;
    struct tg_stored *packed;

    (void)state;
    begin(&f, &tg_kind_pod, 1);
    tg_index_set(f.index, make(&f, "p-0", 1));
    tg_index_cool(f.index);
    tg_index_set(f.index, make(&f, "p-1", 2));
    packed = tg_index_pull(f.index, 0);
    hot = tg_index_pull(f.index, 1);
    assert_null(tg_index_pull(f.index, 0));
    assert_int_equal(tg_index_count(f.index), 0);
    assert_string_equal(packed->key, "ns/p-0");
    assert_string_equal(hot->key, "ns/p-1");
    tg_stored_unref(hot);
    tg_stored_unref(packed);
    end(&f);
}

/* The same operations on a map of versions must tell the same. */
static void thousands_of_changes_are_as_on_a_plain_map(void **state)
{
    enum { KEYS = 300, STEPS = 20000 };
    struct fixture f;
    static int versions[KEYS]; /* 0: not there */
    uint64_t seed = 7;
    size_t count = 0;

    (void)state;
    memset(versions, 0, sizeof(versions));
    begin(&f, &tg_kind_pod, 16 << 10);
    for (int step = 1; step <= STEPS; step++) {
        char name[32];
        char key[40];
        struct tg_stored *stored;

        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        size_t i = (size_t)(seed >> 33) % KEYS;
        unsigned what = (unsigned)(seed >> 20) % 4;

        snprintf(name, sizeof(name), "set-%zu-%zu", i % 7, i);
        snprintf(key, sizeof(key), "ns/%s", name);
        if (what < 2) {
            count += versions[i] == 0;
            versions[i] = step;
            tg_index_set(f.index, make(&f, name, step));
            tg_index_cool(f.index);
        } else if (what == 2) {
            stored = tg_index_get(f.index, key);
            assert_int_equal(stored == NULL ? 0 : stored->version, versions[i]);
        } else {
            stored = tg_index_take(f.index, key);
            assert_int_equal(stored == NULL ? 0 : stored->version, versions[i]);
            tg_stored_unref(stored);
            count -= versions[i] != 0;
            versions[i] = 0;
        }
        assert_int_equal(tg_index_count(f.index), count);
    }
    for (size_t i = 0; i < tg_index_end(f.index); i++)
        count -= tg_index_at(f.index, i) != NULL;
    assert_int_equal(count, 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packed_object_is_what_it_was),
        cmocka_unit_test(an_object_of_the_cluster_has_no_namespace),
        cmocka_unit_test(what_somebody_refers_to_or_cannot_be_read_is_not_packed),
        cmocka_unit_test(a_lower_limit_is_kept_from_the_next_cooling_on),
        cmocka_unit_test(what_is_read_stays_whole_within_the_limit),
        cmocka_unit_test(a_walk_over_all_leaves_them_packed_and_lends_until_the_next_change),
        cmocka_unit_test(what_is_pulled_is_handed_over),
        cmocka_unit_test(thousands_of_changes_are_as_on_a_plain_map),
    };
    tg_index_free(NULL);
    return cmocka_run_group_tests_name("index", tests, NULL, NULL);
}
