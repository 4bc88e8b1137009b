/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a watch: in one piece and in pieces (byte 0: their length) it leaves the same
 * objects, the same place to resume from, and the same error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/client/informer_state.h"
#include "api/kubernetes/objects/kinds.h"

static void on_change(void *data, const struct tg_stored *before, const struct tg_stored *after)
{
    (void)data;
    /* Only real changes are told, and only those that lead on. */
    if (before == NULL && after == NULL)
        abort();
    if (before != NULL && after != NULL && strcmp(before->key, after->key) != 0)
        abort();
}

static void on_error(void *data, struct tg_informer *informer, const struct tg_object_meta *about,
                     const struct tg_error *err)
{
    (void)data;
    (void)informer;
    (void)about;
    if (err->code == TG_OK)
        abort();
}

static void init(struct tg_informer *informer)
{
    *informer = (struct tg_informer){
        .config = {.kind = &tg_kind_resource_claim, .on_error = on_error},
        .clock = tg_clock_system(),
        .line = TG_BUF_INIT((size_t)1 << 20),
    };
    tg_store_init(&informer->store, informer->config.kind, (size_t)1 << 20);
    informer->store.on_change = on_change;
}

static void done(struct tg_informer *informer)
{
    tg_buf_done(&informer->line);
    tg_store_done(&informer->store);
}

static void feed(struct tg_informer *informer, const char *data, size_t n, size_t piece)
{
    for (size_t i = 0; i < n; i += piece) {
        if (tg_informer_on_watch_data(informer, data + i, n - i < piece ? n - i : piece) != 0)
            return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct tg_informer whole, pieces;

    if (n == 0)
        return 0;
    init(&whole);
    init(&pieces);
    feed(&whole, (const char *)data + 1, n - 1, n);
    feed(&pieces, (const char *)data + 1, n - 1, data[0] == 0 ? 1 : data[0]);
    if (whole.error.code != pieces.error.code || whole.store.position != pieces.store.position ||
        strcmp(whole.resource_version, pieces.resource_version) != 0 ||
        tg_index_count(whole.store.objects) != tg_index_count(pieces.store.objects) ||
        whole.counters.events != pieces.counters.events)
        abort();
    done(&whole);
    done(&pieces);
    return 0;
}
