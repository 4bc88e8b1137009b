/* SPDX-License-Identifier: Apache-2.0 */
/* An informer of nodes on the fixture's API server, and a log of what it tells. */
#ifndef TG_TESTS_UNIT_KUBE_CLIENT_WATCHED_H
#define TG_TESTS_UNIT_KUBE_CLIENT_WATCHED_H

#include "tests/unit/kube_client/fixture.h"

#include "api/kubernetes/objects/core.h"

struct watched {
    struct fixture f;
    struct tg_informer *informer;
    char log[1024]; /* "+name:version " added, "~" changed, "-" deleted, "= " synced, "! " error */
    struct tg_error error;
    char about[128]; /* uid and version of the object that the last error was about, "" if none */
    const char *apply_on_delete; /* applied inside the callback of a deletion */
};

static inline void note(struct watched *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void note(struct watched *w, const char *format, ...)
{
    size_t n = strlen(w->log);
    va_list args;

    va_start(args, format);
    vsnprintf(w->log + n, sizeof(w->log) - n, format, args);
    va_end(args);
}

static inline void on_change(void *data, struct tg_informer *informer,
                             const struct tg_stored *before, const struct tg_stored *after)
{
    struct watched *w = data;
    const struct tg_stored *one = after != NULL ? after : before;
    const struct tg_stored *stored =
        tg_informer_get(informer, one->object->metadata->namespace_, one->object->metadata->name);

    assert_ptr_equal(stored, after); /* the store already holds what is after */
    note(w, "%c%s:%s ",
         before == NULL  ? '+'
         : after == NULL ? '-'
                         : '~',
         one->key, one->object->metadata->resource_version);
    if (after == NULL && w->apply_on_delete != NULL)
        assert_int_equal(
            tg_informer_apply(informer, w->apply_on_delete, strlen(w->apply_on_delete), NULL), 0);
}

static inline void on_synced(void *data, struct tg_informer *informer)
{
    assert_true(tg_informer_synced(informer));
    note(data, "= ");
}

static inline void on_error(void *data, struct tg_informer *informer,
                            const struct tg_object_meta *about, const struct tg_error *err)
{
    struct watched *w = data;

    (void)informer;
    w->error = *err;
    snprintf(w->about, sizeof(w->about), "%s %s:%s", about == NULL ? "" : about->name,
             about == NULL ? "" : about->uid, about == NULL ? "" : about->resource_version);
    note(w, "! ");
}

static inline void start_with(struct watched *w, const struct tg_informer_config *config,
                              struct tg_kube_config server)
{
    struct tg_informer_config c = *config;

    fixture_init_with(&w->f, server);
    w->log[0] = '\0';
    w->apply_on_delete = NULL;
    c.on_change = on_change;
    c.on_synced = on_synced;
    c.on_error = on_error;
    c.data = w;
    if (c.kind == NULL)
        c.kind = &tg_kind_node;
    if (c.backoff == 0)
        c.backoff = 2 * TG_MILLISECOND;
    if (c.watch_timeout == 0)
        c.watch_timeout = 300 * TG_SECOND;
    w->informer = tg_informer_new(w->f.client, &c);
}

static inline void start(struct watched *w, const struct tg_informer_config *config)
{
    start_with(w, config, (struct tg_kube_config){0});
}

static inline void finish(struct watched *w)
{
    tg_informer_free(w->informer);
    fixture_done(&w->f);
}

static inline void expect_log(struct watched *w, const char *text)
{
    while (strlen(w->log) < strlen(text))
        tg_loop_run_once(w->f.loop, true);
    fixture_settle(&w->f);
    assert_string_equal(w->log, text);
    w->log[0] = '\0';
}

#define NODE(name, uid, version)                                                                   \
    "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"" uid "\",\"resourceVersion\":\"" version "\"" \
    "}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define LIST(version, more, items)                                                                 \
    "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"" version "\",\"continue\":\"" more    \
    "\"},\"items\":[" items "]}"
#define LIST_PATH "/api/v1/nodes?limit=500"
#define WATCH_PATH(version)                                                                        \
    "/api/v1/nodes?watch=1&allowWatchBookmarks=true&resourceVersion=" version "&timeoutSeconds="   \
    "300"
#define STATUS(code, reason)                                                                       \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"because\",\"reason\":\"" reason     \
    "\",\"code\":" #code "}"

/* Lists `items` at `version` and opens the watch. */
static inline struct test_connection *sync_to(struct watched *w, const char *list,
                                              const char *watch_path)
{
    struct test_connection *watch;

    test_reply(fixture_expect(&w->f, "GET", LIST_PATH), 200, "", list);
    watch = fixture_expect(&w->f, "GET", watch_path);
    test_begin(watch, 200);
    return watch;
}

#endif
