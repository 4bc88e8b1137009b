/* SPDX-License-Identifier: Apache-2.0 */
/* An informer whose memory runs out at any allocation, from the first page to the last event:
 * nothing is lost or invented, the error says what, and the next version of an object is read
 * again. */
#include "tests/unit/kube_client/fixture.h"

#include "tests/support/failing_arena.h"

#include "api/kubernetes/client/informer_state.h"
#include "api/kubernetes/objects/resource.h"

#define CLAIM(name, version, device)                                                               \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ns\",\"uid\":\"u-" name                  \
    "\",\"resourceVersion\":\"" version                                                            \
    "\",\"annotations\":{\"a\":\"b\"}},\"spec\":{\"devices\":{"                                    \
    "\"requests\":[{\"name\":\"gpu\",\"exactly\":{\"deviceClassName\":\"gpu\",\"count\":1}}]}},"   \
    "\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"gpu\",\"driver\":\"d\"," \
    "\"pool\":\"n\",\"device\":\"" device "\"}]}},\"reservedFor\":[{\"resource\":\"pods\"}]}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define LIST(version, items)                                                                       \
    "{\"metadata\":{\"resourceVersion\":\"" version "\"},\"items\":[" items "]}"
#define BOOKMARK(version) EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"" version "\"}}")

struct run {
    struct fixture f;
    struct tg_informer *informer;
    struct test_connection *watch;
    const char *list;
    size_t added, deleted, errors;
    struct tg_error error;
};

static void on_change(void *data, struct tg_informer *informer, const struct tg_stored *before,
                      const struct tg_stored *after)
{
    struct run *r = data;

    (void)informer;
    r->added += before == NULL;
    r->deleted += after == NULL;
}

static void on_error(void *data, struct tg_informer *informer, const struct tg_object_meta *about,
                     const struct tg_error *err)
{
    struct run *r = data;

    (void)informer;
    (void)about;
    if (r->errors++ == 0)
        r->error = *err;
}

/* Lists are answered, watches are kept open, until the informer has come to that place. */
static void wait_for_place(struct run *r, uint64_t version)
{
    while (r->informer->store.position < version || r->watch == NULL) {
        tg_loop_run_once(r->f.loop, true);
        while (r->f.n > 0) {
            struct test_connection *connection = fixture_next(&r->f);

            if (strstr(r->f.last.path, "watch=1") == NULL) {
                test_reply(connection, 200, "", r->list);
                r->watch = NULL;
            } else {
                test_begin(connection, 200);
                r->watch = connection;
            }
        }
    }
}

static const struct tg_stored *get(const struct run *r, const char *name)
{
    return tg_informer_get(r->informer, "ns", name);
}

static void expect_readable(const struct run *r, const char *name, const char *device)
{
    const struct tg_stored *stored = get(r, name);
    const struct tg_resource_claim *claim;

    assert_non_null(stored);
    assert_null(stored->stale);
    claim = (const void *)stored->object;
    assert_string_equal(claim->status->allocation->devices->results.items[0].device, device);
}

/* The course: two claims are listed, one changes, one comes, one goes. nth: the allocation that
 * fails. Returns whether it came. */
static bool run(size_t nth)
{
    struct run r = {.list = LIST("10", CLAIM("a", "5", "gpu-0") "," CLAIM("b", "6", "gpu-1"))};
    bool came;

    fixture_init(&r.f, NULL);
    r.informer = tg_informer_new(r.f.client,
                                 &(struct tg_informer_config){.kind = &tg_kind_resource_claim,
                                                              .salvage = tg_resource_claim_salvage,
                                                              .backoff = TG_MILLISECOND,
                                                              .hot_bytes = 1,
                                                              .on_change = on_change,
                                                              .on_error = on_error,
                                                              .data = &r});
    failing_arena_start(nth);
    wait_for_place(&r, 10);
    assert_non_null(get(&r, "a")); /* there, readable or not */
    assert_non_null(get(&r, "b"));

    r.list = LIST("20", CLAIM("a", "11", "gpu-2") "," CLAIM("c", "12", "gpu-3"));
    test_chunk(r.watch, EVENT("MODIFIED", CLAIM("a", "11", "gpu-2"))
                            EVENT("ADDED", CLAIM("c", "12", "gpu-3"))
                                EVENT("DELETED", CLAIM("b", "13", "gpu-1")) BOOKMARK("20"));
    wait_for_place(&r, 20);
    assert_non_null(get(&r, "a"));
    assert_null(get(&r, "b"));
    assert_non_null(get(&r, "c"));
    came = failing_arena_stop();

    test_chunk(r.watch, EVENT("MODIFIED", CLAIM("a", "21", "gpu-2"))
                            EVENT("MODIFIED", CLAIM("c", "22", "gpu-3")) BOOKMARK("30"));
    wait_for_place(&r, 30);
    expect_readable(&r, "a", "gpu-2");
    expect_readable(&r, "c", "gpu-3");
    assert_int_equal(tg_informer_count(r.informer), 2);
    assert_int_equal(r.added, 3);
    assert_int_equal(r.deleted, 1);
    if (r.errors > 0) {
        assert_true(came);
        assert_int_equal(r.error.code, TG_RESOURCE_EXHAUSTED);
        assert_non_null(strcasestr(r.error.message, "resourceclaim"));
    }
    tg_informer_free(r.informer);
    fixture_done(&r.f);
    return came;
}

static void any_allocation_of_a_list_or_a_watch_may_fail(void **state)
{
    size_t nth = 1;

    (void)state;
    assert_false(run(0));
    while (run(nth))
        nth++;
    assert_true(nth > 100); /* five objects of more than twenty allocations each */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_allocation_of_a_list_or_a_watch_may_fail),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
