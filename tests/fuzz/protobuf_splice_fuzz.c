/* SPDX-License-Identifier: Apache-2.0 */
/* Splicing twice is splicing once. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/values/protobuf_splice.h"

#define BUDGET (1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct tg_metadata_edit edits[] = {
        {.kind = TG_METADATA_ADD_FINALIZER, .key = "resource.kubernetes.io/delete-protection"},
        {.kind = TG_METADATA_SET_ANNOTATION, .key = "tangram.dev/epoch", .value = "7"},
    };
    TG_AUTOBUF struct tg_buf once = TG_BUF_INIT(BUDGET);
    TG_AUTOBUF struct tg_buf twice = TG_BUF_INIT(BUDGET);

    if (tg_protobuf_splice_metadata(data, n, edits, 2, &once, NULL) < 0)
        return 0;
    if (tg_protobuf_splice_metadata((const uint8_t *)once.data, once.len, edits, 2, &twice, NULL) <
            0 ||
        once.len != twice.len || memcmp(once.data, twice.data, once.len) != 0)
        abort();
    return 0;
}
