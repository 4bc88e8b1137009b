/* SPDX-License-Identifier: Apache-2.0 */
/* Seen by informer.c and watch.c only: the state of an informer. */
#ifndef TG_KUBERNETES_CLIENT_INFORMER_STATE_H
#define TG_KUBERNETES_CLIENT_INFORMER_STATE_H

#include "api/kubernetes/client/internal.h"
#include "api/kubernetes/client/measures.h"
#include "api/runtime/json/decode.h"

/* Of one object or one watch event as text. An object of 1.5 MiB, which etcd takes, can be nine as
 * JSON. */
enum { TG_INFORMER_MAX_TEXT = 64 << 20 };

struct tg_informer {
    struct tg_kube_client *client;
    const struct tg_clock *clock;
    struct tg_informer_config config;
    struct tg_store store;
    struct tg_backoff backoff;
    struct tg_timer retry;
    struct tg_rest_request *request; /* the page or the watch under way */
    struct tg_error error;           /* why we stopped the request, TG_OK if we did not */
    bool synced;
    bool token_renewed;   /* since it last worked */
    unsigned credentials; /* of the request under way */
    /* What the next watch resumes from; empty: a list comes first. */
    char resource_version[64];

    /* While a list is in the making. */
    struct tg_index *staged;
    struct tg_json_list_stream *stream;
    char list_version[64];
    char continue_token[4096];
    uint64_t highest_before; /* of the store, when the list was begun */
    bool whole_list;         /* without pages */

    /* While a watch is open. */
    struct tg_buf line; /* the beginning of a line whose end did not arrive yet */
    struct tg_timer deadline;
    bool watched; /* ever */
    int64_t watch_started;
    uint64_t watch_events; /* bookmarks included */

    struct tg_informer_counters counters;
    char *name; /* for the metrics */
    struct tg_metric *metric[TG_INFORMER_METRICS];
    int64_t heard_at;     /* of the server */
    int64_t list_began;   /* its first page was asked for */
    uint64_t awaited;     /* version of a write of ours that the watch is to show; 0: none */
    int64_t awaited_from; /* when the answer came */
};

/* Now, for what is measured. */
int64_t tg_informer_now(const struct tg_informer *informer);
/* Counts one, by its label. */
void tg_informer_count_one(struct tg_informer *informer, enum tg_informer_metric metric);
int tg_informer_on_watch_data(void *data, const char *bytes, size_t n);
/* Counts and reports an object that does not decode; changes err. about: NULL if it has no name. */
void tg_informer_report_object(struct tg_informer *informer, const struct tg_object_meta *about,
                               struct tg_error *err);
/* What the store is to hold of an object: as it was decoded, or reported and marked stale. NULL if
 * it is reported and not even its name is known. */
struct tg_stored *tg_informer_read_object(struct tg_informer *informer, const char *json, size_t n);

#endif
