/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/rest/rest.h"

/* RFC 3986, 2.3; not the locale's idea of letters. */
static bool is_unreserved(unsigned char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void tg_url_escape(struct tg_buf *out, const char *s)
{
    for (; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;
        if (is_unreserved(c))
            tg_buf_append_char(out, (char)c);
        else
            tg_buf_printf(out, "%%%02X", c);
    }
}
