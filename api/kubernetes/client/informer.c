/* SPDX-License-Identifier: Apache-2.0 */
/* The life of an informer: list in pages, watch, resume, list again when the server has forgotten
 * our place. */
#include "api/kubernetes/client/informer.h"

#include <assert.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/client/informer_state.h"
#include "api/kubernetes/client/internal.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

enum { MAX_QUERY = 16 << 10, MAX_OBJECT = 4 << 20, PAGE = 500 };
/* The API server gives up on an ordinary request after a minute; a page that goes on for longer is
 * not its. */
static const int64_t list_timeout = 60 * TG_SECOND;
static const int64_t page_timeout = 90 * TG_SECOND;
/* Bookmarks come about once a minute; three of them missing is a connection that hangs. */
static const int64_t watch_silence = 180 * TG_SECOND;
static const int64_t watch_slack = 30 * TG_SECOND;
/* A watch that lived this long was no failure, however it ended. */
static const int64_t healthy_age = 5 * TG_SECOND;
/* glibc keeps freed memory of a list for ever unless told; small lists are not worth the walk. */
static const size_t trim_above = 1000;

static void start_list(struct tg_informer *informer);
static void start_watch(struct tg_informer *informer);

int64_t tg_informer_now(const struct tg_informer *informer)
{
    return tg_now_monotonic(informer->clock);
}

void tg_informer_count_one(struct tg_informer *informer, enum tg_informer_metric metric)
{
    tg_metric_add(informer->metric[metric], TG_LABELS(informer->name), 1);
}

static double seconds_since(const struct tg_informer *informer, int64_t then)
{
    return (double)(tg_informer_now(informer) - then) / (double)TG_SECOND;
}

static void report(struct tg_informer *informer, const struct tg_object_meta *about,
                   const struct tg_error *err)
{
    TG_V(4, "List or watch failed", TG_S("kind", informer->config.kind->kind),
         TG_S("error", err->message));
    if (informer->config.on_error != NULL)
        informer->config.on_error(informer->config.data, informer, about, err);
}

void tg_informer_report_object(struct tg_informer *informer, const struct tg_object_meta *about,
                               struct tg_error *err)
{
    informer->counters.decode_errors++;
    tg_informer_count_one(informer, TG_INFORMER_UNREADABLE);
    if (about == NULL)
        tg_error_wrap(err, "an object of kind %s cannot be read, not even its name",
                      informer->config.kind->kind);
    else
        tg_error_wrap(err, "%s %s%s%s, resourceVersion %s, cannot be read",
                      informer->config.kind->kind, tg_or(about->namespace_, ""),
                      about->namespace_ == NULL ? "" : "/", about->name, about->resource_version);
    report(informer, about, err);
}

struct tg_stored *tg_informer_read_object(struct tg_informer *informer, const char *json, size_t n)
{
    struct tg_store_identity identity;
    struct tg_error why = TG_ERROR_INIT;
    struct tg_error nameless = TG_ERROR_INIT;
    struct tg_stored *stored = NULL;

    if (tg_store_decode(&informer->store, json, n, &stored, &why) == 0)
        return stored;
    if (tg_store_identify(&informer->store, json, n, &identity, &nameless) != 0) {
        tg_informer_report_object(informer, NULL, &why);
        return NULL;
    }
    stored = tg_store_unreadable(&informer->store, json, n, &identity, why.message);
    tg_informer_report_object(informer, &identity.meta, &why);
    return stored;
}

static void on_retry(struct tg_timer *timer)
{
    struct tg_informer *informer = timer->data;

    if (informer->resource_version[0] == '\0')
        start_list(informer);
    else
        start_watch(informer);
}

/* resource_version decides what is tried again: empty means from the beginning. */
static void retry_after(struct tg_informer *informer, int64_t delay)
{
    tg_timer_start(tg_kube_client_loop(informer->client), &informer->retry, delay);
}

static void fail(struct tg_informer *informer, const struct tg_rest_response *response,
                 const struct tg_error *err)
{
    int64_t delay = tg_backoff_next(&informer->backoff);

    tg_informer_count_one(informer, TG_INFORMER_FAILURES);
    report(informer, NULL, err);
    if (err->http_status == 401 &&
        tg_kube_client_refused(informer->client, informer->credentials) &&
        !informer->token_renewed) {
        informer->token_renewed = true;
        delay = 0;
    }
    if (response != NULL && response->retry_after > delay)
        delay = response->retry_after;
    retry_after(informer, delay);
}

static void add_selectors(const struct tg_informer *informer, struct tg_buf *query)
{
    if (informer->config.field_selector != NULL) {
        tg_buf_append_str(query, "&fieldSelector=");
        tg_url_escape(query, informer->config.field_selector);
    }
    if (informer->config.label_selector != NULL) {
        tg_buf_append_str(query, "&labelSelector=");
        tg_url_escape(query, informer->config.label_selector);
    }
}

static void send(struct tg_informer *informer, const struct tg_buf *query,
                 const struct tg_rest_call *how)
{
    TG_AUTOBUF struct tg_buf path = TG_BUF_INIT(2 * MAX_QUERY);
    const struct tg_kube_target target = {.kind = informer->config.kind,
                                          .namespace_ = informer->config.namespace_,
                                          .query = tg_buf_str(query)};
    struct tg_rest_call call = *how;

    tg_kube_path(&target, &path);
    assert(!path.failed); /* selectors are ours, and a continue token is bounded by its decoder */
    call.path = tg_buf_str(&path);
    call.data = informer;
    informer->error = TG_ERROR_INIT;
    informer->credentials = tg_kube_client_credentials(informer->client);
    informer->request = tg_rest_send(tg_kube_client_rest(informer->client), &call);
}

/* The error of an answer that is not what was asked for; TG_OK if it is. */
static struct tg_error error_of(const struct tg_informer *informer, const char *verb,
                                const struct tg_rest_response *response, const struct tg_error *err)
{
    TG_AUTOFREE char *what = tg_xasprintf("%s %s", verb, informer->config.kind->resource);
    struct tg_error error = informer->error;

    if (error.code != TG_OK)
        return error; /* we stopped it ourselves */
    if (err->code != TG_OK)
        tg_kube_error_from_transport(err, &error);
    else if (response->status < 200 || response->status >= 300)
        tg_kube_error_from_answer(response, what, &error);
    return error;
}

/* List. */

/* A list, whole or not, leaves holes as large as itself. */
static void trim(bool large)
{
    if (large)
        malloc_trim(0);
}

static bool is_large(const struct tg_index *list)
{
    return list != NULL && tg_index_count(list) > trim_above;
}

static void end_list(struct tg_informer *informer)
{
    bool large = is_large(informer->staged);

    tg_json_list_stream_free(informer->stream);
    tg_index_free(informer->staged);
    informer->stream = NULL;
    informer->staged = NULL;
    trim(large);
}

static int on_item(void *data, const char *json, size_t n, struct tg_error *err)
{
    struct tg_informer *informer = data;
    struct tg_stored *stored = tg_informer_read_object(informer, json, n);

    (void)err;
    if (stored != NULL)
        tg_store_list(&informer->store, informer->staged, stored);
    return 0;
}

static int on_list_data(void *data, const char *bytes, size_t n)
{
    struct tg_informer *informer = data;

    informer->heard_at = tg_informer_now(informer);
    return tg_json_list_stream_feed(informer->stream, bytes, n, &informer->error) == 0 ? 0 : -1;
}

static void on_page_done(void *data, const struct tg_rest_response *response,
                         const struct tg_error *err);

static void request_page(struct tg_informer *informer)
{
    TG_AUTOBUF struct tg_buf query = TG_BUF_INIT(MAX_QUERY);
    int64_t timeout = informer->config.page_timeout;
    const struct tg_rest_call call = {.verb = "LIST",
                                      .timeout = list_timeout,
                                      .idle_timeout = list_timeout,
                                      .total_timeout = timeout > 0 ? timeout : page_timeout,
                                      .on_data = on_list_data,
                                      .done = on_page_done};

    tg_json_list_stream_free(informer->stream);
    /* The size of an object is checked when it is decoded: one that is too large must not hide the
     * others. */
    informer->stream = tg_json_list_stream_new(on_item, informer, TG_INFORMER_MAX_TEXT);
    /* No resourceVersion: what a quorum knows now. */
    tg_buf_printf(&query, "limit=%d", informer->whole_list ? 0 : PAGE);
    add_selectors(informer, &query);
    if (informer->continue_token[0] != '\0') {
        tg_buf_append_str(&query, "&continue=");
        tg_url_escape(&query, informer->continue_token);
    }
    send(informer, &query, &call);
}

static void start_list(struct tg_informer *informer)
{
    end_list(informer);
    informer->staged = tg_store_new_list(&informer->store);
    informer->continue_token[0] = '\0';
    informer->list_version[0] = '\0';
    informer->highest_before = informer->store.highest;
    informer->list_began = tg_informer_now(informer);
    if (informer->synced) {
        informer->counters.relists++;
        tg_informer_count_one(informer, TG_INFORMER_RELISTS);
    }
    request_page(informer);
}

static void finish_list(struct tg_informer *informer)
{
    uint64_t version = 0;
    struct tg_index *list = TG_TAKE(informer->staged);
    bool large = is_large(list);

    end_list(informer);
    (void)tg_parse_u64(informer->list_version, strlen(informer->list_version), &version);
    snprintf(informer->resource_version, sizeof(informer->resource_version), "%s",
             informer->list_version);
    tg_metric_observe(informer->metric[TG_INFORMER_LIST_DURATION], TG_LABELS(informer->name),
                      seconds_since(informer, informer->list_began));
    informer->awaited = 0; /* a list is no watch */
    tg_store_replace(&informer->store, list, version, informer->highest_before);
    tg_index_free(list);
    trim(large);
    informer->whole_list = false;
    informer->token_renewed = false;
    if (!informer->synced) {
        informer->synced = true;
        if (informer->config.on_synced != NULL)
            informer->config.on_synced(informer->config.data, informer);
    }
    /* Not reset: a server that takes lists and refuses every watch must not be asked without end.
     */
    start_watch(informer);
}

static void on_page_done(void *data, const struct tg_rest_response *response,
                         const struct tg_error *err)
{
    struct tg_informer *informer = data;
    struct tg_json_list_meta meta = {0};
    struct tg_error error = error_of(informer, "list", response, err);

    informer->request = NULL;
    if (error.code == TG_OK)
        (void)tg_json_list_stream_end(informer->stream, &meta, &error);
    if (error.code == TG_OK && meta.resource_version[0] == '\0')
        tg_error_set(&error, TG_DATA_LOSS, "list %s: metadata.resourceVersion is missing",
                     informer->config.kind->resource);
    if (error.code != TG_OK) {
        /* Our snapshot was compacted while we read its pages: next time in one piece. */
        if (error.code == TG_OUT_OF_RANGE && informer->continue_token[0] != '\0')
            informer->whole_list = true;
        end_list(informer);
        fail(informer, response, &error);
        return;
    }
    if (informer->list_version[0] == '\0')
        snprintf(informer->list_version, sizeof(informer->list_version), "%s",
                 meta.resource_version);
    snprintf(informer->continue_token, sizeof(informer->continue_token), "%s", meta.continue_token);
    if (informer->continue_token[0] != '\0')
        request_page(informer);
    else
        finish_list(informer);
}

/* Watch. */

/* The watch ended, whoever ended it. err: why it was no clean end, TG_OK otherwise. */
static void end_watch(struct tg_informer *informer, const struct tg_rest_response *response,
                      const struct tg_error *err)
{
    int64_t age =
        tg_now_monotonic(tg_kube_client_clock(informer->client)) - informer->watch_started;
    bool healthy = informer->watch_events > 0 || age >= healthy_age;
    bool refused = err->code != TG_OK && (response == NULL || response->status != 200);

    TG_V(4, "Watch ended", TG_S("kind", informer->config.kind->kind), TG_D("age", age),
         TG_I("events", informer->watch_events),
         TG_S("error", err->code == TG_OK ? NULL : err->message));
    informer->request = NULL;
    tg_timer_stop(&informer->deadline);
    tg_buf_done(&informer->line); /* half a line is nothing */
    if (err->code == TG_OUT_OF_RANGE)
        informer->resource_version[0] = '\0';
    if (healthy) {
        tg_backoff_reset(&informer->backoff);
        informer->token_renewed = false;
    }
    if (refused || informer->error.code != TG_OK)
        fail(informer, response, err);
    else /* cut or over: ordinary, and resumed */
        retry_after(informer,
                    healthy && err->code == TG_OK ? 0 : tg_backoff_next(&informer->backoff));
}

static void on_watch_done(void *data, const struct tg_rest_response *response,
                          const struct tg_error *err)
{
    struct tg_informer *informer = data;
    struct tg_error error = error_of(informer, "watch", response, err);

    /* Restored from a backup, the server does not know our place yet and never will. */
    if (strstr(error.message, "Too large resource version") != NULL)
        error.code = TG_OUT_OF_RANGE;
    end_watch(informer, response, &error);
}

static void on_deadline(struct tg_timer *timer)
{
    struct tg_informer *informer = timer->data;
    const struct tg_rest_response response = {.status = 200, .body = ""};
    struct tg_error error = TG_ERROR_INIT;

    tg_rest_cancel(informer->request);
    informer->error = TG_ERROR_INIT;
    tg_error_set(&error, TG_DEADLINE_EXCEEDED, "watch %s: open longer than asked for",
                 informer->config.kind->resource);
    end_watch(informer, &response, &error);
}

static void start_watch(struct tg_informer *informer)
{
    TG_AUTOBUF struct tg_buf query = TG_BUF_INIT(MAX_QUERY);
    int64_t timeout = informer->config.watch_timeout;
    int64_t idle = informer->config.watch_idle;
    int64_t slack;
    const struct tg_rest_call call = {.verb = "WATCH",
                                      .timeout = list_timeout,
                                      .idle_timeout = idle > 0 ? idle : watch_silence,
                                      .on_data = tg_informer_on_watch_data,
                                      .done = on_watch_done};

    if (timeout <= 0)
        timeout = tg_backoff_spread(300 * TG_SECOND, 600 * TG_SECOND);
    slack = timeout < watch_slack ? timeout : watch_slack;
    tg_buf_append_str(&query, "watch=1&allowWatchBookmarks=true&resourceVersion=");
    tg_url_escape(&query, informer->resource_version);
    tg_buf_printf(&query, "&timeoutSeconds=%lld",
                  (long long)((timeout + TG_SECOND - 1) / TG_SECOND));
    add_selectors(informer, &query);
    informer->counters.reconnects += informer->watched;
    if (informer->watched)
        tg_informer_count_one(informer, TG_INFORMER_RECONNECTS);
    informer->watched = true;
    informer->watch_started = tg_now_monotonic(tg_kube_client_clock(informer->client));
    informer->watch_events = 0;
    tg_buf_init(&informer->line, TG_INFORMER_MAX_TEXT);
    tg_timer_start(tg_kube_client_loop(informer->client), &informer->deadline, timeout + slack);
    send(informer, &query, &call);
}

/* Interface. */

static void on_store_change(void *data, const struct tg_stored *before,
                            const struct tg_stored *after)
{
    struct tg_informer *informer = data;

    if (informer->config.on_change != NULL)
        informer->config.on_change(informer->config.data, informer, before, after);
}

static char *copy(const char *s)
{
    return s == NULL ? NULL : tg_xstrdup(s);
}

static void collect(void *data)
{
    const struct tg_informer *informer = data;
    const char *const *labels = TG_LABELS(informer->name);

    tg_metric_set(informer->metric[TG_INFORMER_OBJECTS], labels,
                  (double)tg_informer_count(informer));
    tg_metric_set(informer->metric[TG_INFORMER_SYNCED], labels, informer->synced);
    tg_metric_set(informer->metric[TG_INFORMER_SILENCE], labels,
                  seconds_since(informer, informer->heard_at));
}

static void start_measuring(struct tg_informer *informer)
{
    static const enum tg_informer_metric counters[] = {TG_INFORMER_EVENTS, TG_INFORMER_RELISTS,
                                                       TG_INFORMER_RECONNECTS, TG_INFORMER_FAILURES,
                                                       TG_INFORMER_UNREADABLE};
    struct tg_metrics *metrics = tg_kube_client_metrics(informer->client);

    informer->name = tg_xstrdup(tg_or(informer->config.name, informer->config.kind->resource));
    informer->heard_at = tg_informer_now(informer);
    tg_metrics_add(metrics, tg_informer_metric_table, TG_INFORMER_METRICS, informer->metric);
    tg_metrics_on_collect(metrics, collect, informer);
    /* A rate needs the zero before the first one. */
    for (size_t i = 0; i < TG_ARRAY_SIZE(counters); i++)
        tg_metric_add(informer->metric[counters[i]], TG_LABELS(informer->name), 0);
}

struct tg_informer *tg_informer_new(struct tg_kube_client *client,
                                    const struct tg_informer_config *config)
{
    struct tg_informer *informer = tg_xcalloc(1, sizeof(*informer));

    informer->client = client;
    informer->clock = tg_kube_client_clock(client);
    informer->config = *config;
    informer->config.namespace_ = copy(config->namespace_);
    informer->config.field_selector = copy(config->field_selector);
    informer->config.label_selector = copy(config->label_selector);
    informer->backoff = (struct tg_backoff){
        .first = config->backoff > 0 ? config->backoff : 800 * TG_MILLISECOND,
        .most = 30 * TG_SECOND,
    };
    informer->error = TG_ERROR_INIT;
    tg_store_init(&informer->store, config->kind,
                  config->max_object > 0 ? config->max_object : MAX_OBJECT);
    informer->store.salvage = config->salvage;
    if (config->hot_bytes > 0)
        tg_store_keep_hot(&informer->store, config->hot_bytes);
    informer->store.on_change = on_store_change;
    informer->store.data = informer;
    informer->retry.callback = on_retry;
    informer->retry.data = informer;
    informer->deadline.callback = on_deadline;
    informer->deadline.data = informer;
    start_measuring(informer);
    start_list(informer);
    return informer;
}

void tg_informer_free(struct tg_informer *informer)
{
    if (informer == NULL)
        return;
    tg_metrics_forget(tg_kube_client_metrics(informer->client), informer);
    free(informer->name);
    tg_rest_cancel(informer->request);
    tg_timer_stop(&informer->retry);
    tg_timer_stop(&informer->deadline);
    end_list(informer);
    tg_store_done(&informer->store);
    tg_buf_done(&informer->line);
    free((void *)(uintptr_t)informer->config.namespace_);
    free((void *)(uintptr_t)informer->config.field_selector);
    free((void *)(uintptr_t)informer->config.label_selector);
    free(informer);
}

bool tg_informer_synced(const struct tg_informer *informer)
{
    return informer->synced;
}

const struct tg_stored *tg_informer_get(const struct tg_informer *informer, const char *namespace_,
                                        const char *name)
{
    char key[TG_STORE_KEY];

    if (name == NULL || !tg_store_key(namespace_, name, key))
        return NULL;
    return tg_index_get(informer->store.objects, key);
}

size_t tg_informer_count(const struct tg_informer *informer)
{
    return tg_index_count(informer->store.objects);
}

void tg_informer_each(const struct tg_informer *informer,
                      bool (*visit)(void *data, const struct tg_stored *stored), void *data)
{
    for (size_t i = 0; i < tg_index_end(informer->store.objects); i++) {
        const struct tg_stored *stored = tg_index_at(informer->store.objects, i);

        if (stored != NULL && !visit(data, stored))
            return;
    }
}

bool tg_informer_walk(const struct tg_informer *informer, size_t *place, size_t most,
                      bool (*visit)(void *data, const struct tg_stored *stored), void *data)
{
    size_t end = tg_index_end(informer->store.objects);

    while (*place < end && most > 0) {
        const struct tg_stored *stored = tg_index_at(informer->store.objects, (*place)++);

        if (stored == NULL)
            continue;
        most--;
        if (!visit(data, stored))
            break;
    }
    return *place < end;
}

void tg_informer_scan(const struct tg_informer *informer,
                      bool (*visit)(void *data, const struct tg_stored *stored), void *data)
{
    size_t end = tg_index_end(informer->store.objects);

    for (size_t i = 0; i < end; i++)
        if (!tg_index_show(informer->store.objects, i, visit, data))
            return;
}

void tg_informer_peek(const struct tg_informer *informer, const char *namespace_, const char *name,
                      bool (*visit)(void *data, const struct tg_stored *stored), void *data)
{
    char key[TG_STORE_KEY];

    if (name != NULL && tg_store_key(namespace_, name, key))
        (void)tg_index_show_key(informer->store.objects, key, visit, data);
}

void tg_informer_keep_hot(struct tg_informer *informer, size_t hot_bytes)
{
    if (informer->store.hot == SIZE_MAX)
        return;
    informer->store.hot = hot_bytes;
    tg_index_limit(informer->store.objects, hot_bytes);
}

void tg_informer_cool(const struct tg_informer *informer)
{
    tg_index_cool(informer->store.objects);
}

int tg_informer_apply(struct tg_informer *informer, const char *json, size_t n,
                      struct tg_error *err)
{
    struct tg_error why = TG_ERROR_INIT;
    struct tg_store_identity identity;
    struct tg_stored *stored = NULL;
    int rc = tg_store_decode(&informer->store, json, n, &stored, &why);

    if (rc != 0 && tg_store_identify(&informer->store, json, n, &identity, NULL) == 0)
        stored = tg_store_unreadable(&informer->store, json, n, &identity, why.message);
    /* One write at a time is followed until the watch shows it. */
    if (stored != NULL && informer->awaited == 0 && stored->version > informer->store.position) {
        informer->awaited = stored->version;
        informer->awaited_from = tg_informer_now(informer);
    }
    if (stored != NULL)
        (void)tg_store_put_answer(&informer->store, stored);
    if (rc != 0 && err != NULL)
        *err = why;
    return rc;
}

const struct tg_kind *tg_informer_kind(const struct tg_informer *informer)
{
    return informer->config.kind;
}

struct tg_informer_counters tg_informer_counters(const struct tg_informer *informer)
{
    return informer->counters;
}
