/* SPDX-License-Identifier: Apache-2.0 */
/* A list in two pieces, cut where the first byte says: the same items as in one piece. */
#include <stdint.h>
#include <stdlib.h>

#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"

struct seen {
    size_t items;
    uint64_t hash;
};

static int on_item(void *data, const char *json, size_t n, struct tg_error *err)
{
    struct seen *seen = data;

    (void)err;
    seen->items++;
    seen->hash = seen->hash * 31 + tg_hash64(json, n);
    return 0;
}

static int read_list(const char *text, size_t cut, size_t n, struct seen *seen)
{
    struct tg_json_list_stream *stream = tg_json_list_stream_new(on_item, seen, 65536);
    struct tg_json_list_meta meta;
    int r = tg_json_list_stream_feed(stream, text, cut, NULL);

    if (r == 0)
        r = tg_json_list_stream_feed(stream, text + cut, n - cut, NULL);
    if (r == 0)
        r = tg_json_list_stream_end(stream, &meta, NULL);
    tg_json_list_stream_free(stream);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct seen whole = {0}, pieces = {0};
    const char *text = (const char *)data + 1;
    int a, b;

    if (n < 2)
        return 0;
    a = read_list(text, 0, n - 1, &whole);
    b = read_list(text, data[0] % n, n - 1, &pieces);
    if ((a < 0) != (b < 0) ||
        (a == 0 && (whole.items != pieces.items || whole.hash != pieces.hash)))
        abort();
    return 0;
}
