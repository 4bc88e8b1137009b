/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/runtime/base/log.h"
#include "api/runtime/base/str.h"
#include "api/runtime/http/http.h"

#define VERBOSITY_MAX 10

static int get(void *data, struct tg_buf *body, const char **content_type)
{
    (void)data;
    (void)content_type;
    tg_buf_printf(body, "%d\n", tg_log_verbosity());
    return 200;
}

static int put(void *data, const char *text, struct tg_buf *body)
{
    uint64_t level;

    (void)data;
    if (tg_parse_u64(text, strcspn(text, "\r\n"), &level) != 0 || level > VERBOSITY_MAX) {
        tg_buf_printf(body, "the verbosity is a number from 0 to %d\n", VERBOSITY_MAX);
        return 400;
    }
    tg_log_set_verbosity((int)level);
    TG_INFO("The verbosity of the log has been changed", TG_I("v", level));
    tg_buf_printf(body, "the verbosity is %d now\n", (int)level);
    return 200;
}

struct tg_http_route tg_http_verbosity_route(void)
{
    return (struct tg_http_route){
        .path = "/debug/flags/v", .handle = get, .put = put, .local = true};
}
