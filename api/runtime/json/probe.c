/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/json/probe.h"

#include <assert.h>
#include <string.h>

#include "api/runtime/json/reader.h"

enum { MAX_PLACES = 16 };

struct probe {
    const char *data;
    const struct tg_json_place *places;
    size_t count;
    /* How many keys of its path lead to where the reader is. */
    unsigned level[MAX_PLACES];
};

static unsigned path_length(const struct tg_json_place *place)
{
    unsigned n = 0;

    while (place->path[n] != NULL)
        n++;
    return n;
}

static void on_key(struct probe *probe, unsigned depth, const struct tg_json_event *event)
{
    for (size_t i = 0; i < probe->count; i++) {
        const struct tg_json_place *place = &probe->places[i];
        const char *key;

        if (probe->level[i] + 1 < depth || depth > path_length(place))
            continue; /* this is inside something else */
        key = place->path[depth - 1];
        if (strlen(key) == event->n && memcmp(key, event->text, event->n) == 0)
            probe->level[i] = depth;
        else
            probe->level[i] = depth - 1;
    }
}

/* depth: of what the value stands in. */
static void on_value(const struct probe *probe, unsigned depth, const struct tg_json_event *event)
{
    for (size_t i = 0; i < probe->count; i++) {
        const struct tg_json_place *place = &probe->places[i];
        bool string = event->kind == TG_JSON_EVENT_STRING && !event->has_nul;

        if (probe->level[i] != depth || depth != path_length(place))
            continue;
        if (place->text != NULL && string && event->n < place->size) {
            memcpy(place->text, event->text, event->n);
            place->text[event->n] = '\0';
        }
        if (place->raw != NULL &&
            (event->kind == TG_JSON_EVENT_BEGIN_OBJECT || event->kind == TG_JSON_EVENT_BEGIN_ARRAY))
            *place->raw = (struct tg_str){probe->data + event->start, 0};
    }
}

static void on_end(struct probe *probe, unsigned depth, const struct tg_json_event *event)
{
    for (size_t i = 0; i < probe->count; i++) {
        const struct tg_json_place *place = &probe->places[i];

        if (place->raw != NULL && place->raw->p != NULL && place->raw->n == 0 &&
            probe->level[i] == depth && depth == path_length(place))
            place->raw->n = event->end - (size_t)(place->raw->p - probe->data);
        if (probe->level[i] > depth)
            probe->level[i] = depth;
    }
}

static int on_event(void *data, const struct tg_json_reader *reader,
                    const struct tg_json_event *event, struct tg_error *err)
{
    struct probe *probe = data;
    unsigned depth = tg_json_reader_depth(reader);

    (void)err;
    switch (event->kind) {
    case TG_JSON_EVENT_KEY:
        on_key(probe, depth, event);
        break;
    case TG_JSON_EVENT_END_OBJECT:
    case TG_JSON_EVENT_END_ARRAY:
        on_end(probe, depth, event);
        break;
    case TG_JSON_EVENT_BEGIN_OBJECT:
    case TG_JSON_EVENT_BEGIN_ARRAY:
        on_value(probe, depth - 1, event);
        break;
    case TG_JSON_EVENT_NULL:
    case TG_JSON_EVENT_BOOL:
    case TG_JSON_EVENT_NUMBER:
    case TG_JSON_EVENT_STRING:
        on_value(probe, depth, event);
        break;
    }
    return 0;
}

int tg_json_probe(const char *data, size_t n, const struct tg_json_place *places, size_t count,
                  struct tg_error *err)
{
    struct probe probe = {.data = data, .places = places, .count = count};
    struct tg_json_reader *reader;
    int rc;

    assert(count <= MAX_PLACES);
    for (size_t i = 0; i < count; i++) {
        if (places[i].text != NULL)
            places[i].text[0] = '\0';
        if (places[i].raw != NULL)
            *places[i].raw = (struct tg_str){0};
    }
    reader = tg_json_reader_new(on_event, &probe, TG_JSON_PROBE_DEPTH);
    rc = tg_json_reader_feed(reader, data, n, err);
    if (rc == 0)
        rc = tg_json_reader_end(reader, err);
    tg_json_reader_free(reader);
    return rc;
}
