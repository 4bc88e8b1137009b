/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An API server as far as the plugin sees one: the node, its slices, claims and events. Objects are
 * JSON that the test writes; watches stay open and get what the test pushes.
 */
#ifndef TG_TEST_PLUGIN_API_SERVER_H
#define TG_TEST_PLUGIN_API_SERVER_H

#include "api/kubernetes/client/client.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/str.h"
#include "tests/support/http_server.h"

#define API_LOG 32

struct api_server {
    struct test_server http;
    struct tg_kube_client *client;
    const char *nodes;   /* items of the list: "" or objects with commas */
    const char *slices;  /* the same */
    const char *foreign; /* the same, of other drivers */
    const char *claim;   /* the answer to every GET of a claim; NULL: 404 */
    struct test_connection *node_watch, *slice_watch, *foreign_watch;
    /* What was asked for, watches and lists left out. */
    struct {
        char method[16];
        char path[256];
        char *body;
    } log[API_LOG];
    size_t n;
    int fail;         /* HTTP status for the next write, 0: none */
    bool hold;        /* GETs of claims are not answered */
    bool no_counters; /* the feature is off: the server drops their fields */
};

static inline void api_list(struct test_connection *connection, const char *items)
{
    TG_AUTOFREE char *body =
        tg_xasprintf("{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[%s]}", items);
    test_reply(connection, 200, "Content-Type: application/json\r\n", body);
}

/* What a server adds to an object that it was given. */
static inline char *api_stored(const char *json)
{
    static const char metadata[] = "\"metadata\":{";
    const char *at = strstr(json, metadata);
    assert(at != NULL);
    at += sizeof(metadata) - 1;
    return tg_xasprintf("%.*s%s\"resourceVersion\":\"20\",%s", (int)(at - json), json,
                        strstr(json, "\"uid\":\"slice-") == NULL ? "\"uid\":\"slice-new\"," : "",
                        at);
}

static inline void api_write(struct api_server *api, struct test_connection *connection,
                             const struct test_request *request)
{
    if (api->fail != 0) {
        TG_AUTOFREE char *body = tg_xasprintf(
            "{\"kind\":\"Status\",\"code\":%d,\"reason\":\"Conflict\",\"message\":\"told to\"}",
            api->fail);
        test_reply(connection, api->fail, "Content-Type: application/json\r\n", body);
        api->fail = 0;
        return;
    }
    if (tg_streq(request->method, "DELETE")) {
        test_reply(connection, 200, "Content-Type: application/json\r\n", "{\"kind\":\"Status\"}");
        return;
    }
    /* The resourceVersion that a PUT carries is replaced by ours in front of it; a decoder that
     * refuses duplicates must not see it. */
    TG_AUTOFREE char *copy = tg_xstrdup(request->body);
    char *version = strstr(copy, ",\"resourceVersion\":\"");
    if (version != NULL) {
        char *end = strchr(version + 20, '"');
        memmove(version, end + 1, strlen(end + 1) + 1);
    }
    /* Under a name that nobody knows they are as good as dropped. */
    static const char *const fields[] = {"\"sharedCounters\"", "\"consumesCounters\""};
    for (size_t i = 0; api->no_counters && i < sizeof(fields) / sizeof(fields[0]); i++) {
        for (char *field = copy; (field = strstr(field, fields[i])) != NULL;)
            field[1] = 'x';
    }
    TG_AUTOFREE char *body = api_stored(copy);
    test_reply(connection, 201, "Content-Type: application/json\r\n", body);
}

static inline void api_handle(void *data, struct test_connection *connection,
                              const struct test_request *request)
{
    struct api_server *api = data;
    bool get = tg_streq(request->method, "GET");
    bool nodes = strstr(request->path, "/api/v1/nodes") != NULL;
    bool slices = strstr(request->path, "/resourceslices") != NULL;
    bool foreign = slices && strstr(request->path, "spec.driver%21%3D") != NULL;

    if (get && strstr(request->path, "watch=1") != NULL) {
        test_begin(connection, 200);
        *(nodes     ? &api->node_watch
          : foreign ? &api->foreign_watch
                    : &api->slice_watch) = connection;
        return;
    }
    if (get && (nodes || slices)) {
        api_list(connection, nodes ? api->nodes : foreign ? api->foreign : api->slices);
        return;
    }
    assert(api->n < API_LOG);
    snprintf(api->log[api->n].method, sizeof(api->log[0].method), "%s", request->method);
    snprintf(api->log[api->n].path, sizeof(api->log[0].path), "%.255s", request->path);
    api->log[api->n++].body = tg_xstrdup(request->body);
    if (get && api->hold)
        return;
    if (!get)
        api_write(api, connection, request);
    else if (api->claim != NULL)
        test_reply(connection, 200, "Content-Type: application/json\r\n", api->claim);
    else
        test_reply(connection, 404, "Content-Type: application/json\r\n",
                   "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\",\"message\":\"no "
                   "such claim\"}");
}

static inline void api_server_init(struct api_server *api, struct tg_loop *loop)
{
    memset(api, 0, sizeof(*api));
    api->nodes = api->slices = api->foreign = "";
    test_server_start(&api->http, loop, api_handle, api);
    const struct tg_kube_config config = {.server = api->http.url, .namespace_ = "default"};
    if (tg_kube_client_new(loop, tg_clock_system(), &config, "test", &api->client, NULL) != 0)
        abort();
}

static inline void api_server_done(struct api_server *api)
{
    tg_kube_client_free(api->client);
    test_server_stop(&api->http);
    for (size_t i = 0; i < api->n; i++)
        free(api->log[i].body);
}

/* How often `method` was asked of a path that holds `part`. */
static inline size_t api_count(const struct api_server *api, const char *method, const char *part)
{
    size_t n = 0;
    for (size_t i = 0; i < api->n; i++)
        n += tg_streq(api->log[i].method, method) && strstr(api->log[i].path, part) != NULL;
    return n;
}

/* The body of the last such request. */
static inline const char *api_last(const struct api_server *api, const char *method,
                                   const char *part)
{
    for (size_t i = api->n; i > 0; i--)
        if (tg_streq(api->log[i - 1].method, method) && strstr(api->log[i - 1].path, part) != NULL)
            return api->log[i - 1].body;
    return NULL;
}

/* {"type": TYPE, "object": OBJECT} */
static inline void api_push(struct test_connection *watch, const char *type, const char *object)
{
    TG_AUTOFREE char *line = tg_xasprintf("{\"type\":\"%s\",\"object\":%s}\n", type, object);
    assert(watch != NULL);
    test_chunk(watch, line);
}

/* A slice of another driver on node-a with one device, which has that attribute. */
static inline char *api_foreign_slice(const char *version, const char *key, const char *value)
{
    return tg_xasprintf(
        "{\"metadata\":{\"name\":\"foreign\",\"uid\":\"slice-foreign\",\"resourceVersion\":\"%s\"},"
        "\"spec\":{\"driver\":\"other.example.com\",\"nodeName\":\"node-a\",\"pool\":{\"name\":"
        "\"node-a\",\"generation\":1,\"resourceSliceCount\":1},\"devices\":[{\"name\":\"theirs\","
        "\"attributes\":{\"%s\":{\"string\":\"%s\"}}}]}}",
        version, key, value);
}

/* A Node with that much of nvidia.com/gpu ("" leaves the resource out). */
static inline char *api_node(const char *uid, const char *version, const char *gpus)
{
    return tg_xasprintf(
        "{\"metadata\":{\"name\":\"node-a\",\"uid\":\"%s\",\"resourceVersion\":\"%s\"},"
        "\"status\":{\"allocatable\":{\"cpu\":\"8\"%s%s%s}}}",
        uid, version, gpus[0] != '\0' ? ",\"nvidia.com/gpu\":\"" : "", gpus,
        gpus[0] != '\0' ? "\"" : "");
}

#endif
