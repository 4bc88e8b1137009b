/* SPDX-License-Identifier: Apache-2.0 */
/* A journal file as anyone may have left it. What is delivered, written down again, is delivered
 * again, without damage. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/json/decode.h"
#include "driver/prepare/journal.h"
#include "driver/prepare/record.h"
#include "tests/fuzz/memory_file.h"

struct reading {
    struct tg_buf content; /* of a sound journal with the same records */
    size_t n;
};

static int on_record(void *data, const char *payload, size_t n, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_RECORD_CLAIM_BYTES_MAX);
    struct tg_journal_record record = {0};
    struct reading *reading = data;
    int rc;

    if (payload[n] != '\0' || memchr(payload, '\n', n) != NULL || n > TG_JOURNAL_RECORD_MAX)
        abort();
    tg_journal_format(&reading->content, payload, n);
    reading->n++;
    rc = tg_json_decode(&tg_journal_record_type, payload, n, &record, arena, err);
    if (rc == 0 && record.claim != NULL)
        rc = tg_claim_record_validate(record.claim, err);
    return rc;
}

static void read_bytes(const void *data, size_t n, struct reading *reading,
                       struct tg_journal_state *state)
{
    struct memory_file file;

    memory_file_init(&file, data, n);
    tg_journal_format_header(&reading->content);
    if (tg_journal_read(file.path, on_record, reading, state, NULL) < 0)
        memset(state, 0, sizeof(*state));
    memory_file_done(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct reading first = {.content = TG_BUF_INIT(TG_JOURNAL_BYTES_MAX)};
    struct reading second = {.content = TG_BUF_INIT(TG_JOURNAL_BYTES_MAX)};
    struct tg_journal_state state = {0};

    read_bytes(data, n, &first, &state);
    if (state.records > first.n)
        abort();
    read_bytes(first.content.data, first.content.len, &second, &state);
    if (second.n != first.n || state.torn || second.content.len != first.content.len ||
        memcmp(second.content.data, first.content.data, first.content.len) != 0)
        abort();
    tg_buf_done(&first.content);
    tg_buf_done(&second.content);
    return 0;
}
