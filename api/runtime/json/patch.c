/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/json/patch.h"

#include <stdarg.h>
#include <string.h>

/* RFC 6901. */
static void append_segment(struct tg_buf *pointer, const char *segment)
{
    tg_buf_append_char(pointer, '/');
    for (const char *c = segment; *c != '\0'; c++) {
        if (*c == '~')
            tg_buf_append_str(pointer, "~0");
        else if (*c == '/')
            tg_buf_append_str(pointer, "~1");
        else
            tg_buf_append_char(pointer, *c);
    }
}

static void write_operation(struct tg_json_patch *p, const char *op, const char *value,
                            const char *segment, va_list more)
{
    struct tg_buf pointer TG_AUTOBUF = TG_BUF_INIT(p->w.out->max);

    for (const char *s = segment; s != NULL; s = va_arg(more, const char *))
        append_segment(&pointer, s);
    tg_jw_begin_object(&p->w);
    tg_jw_kv_string(&p->w, "op", op);
    tg_jw_kv_string(&p->w, "path", tg_buf_str(&pointer));
    tg_jw_kv_raw(&p->w, "value", value);
    tg_jw_end_object(&p->w);
    if (pointer.failed) {
        tg_buf_done(p->w.out);
        p->w.out->failed = true;
    }
}

void tg_json_patch_init(struct tg_json_patch *p, struct tg_buf *out)
{
    tg_json_writer_init(&p->w, out);
    tg_jw_begin_array(&p->w);
}

void tg_json_patch_test(struct tg_json_patch *p, const char *value, const char *segment, ...)
{
    va_list more;

    va_start(more, segment);
    write_operation(p, "test", value, segment, more);
    va_end(more);
}

void tg_json_patch_add(struct tg_json_patch *p, const char *value, const char *segment, ...)
{
    va_list more;

    va_start(more, segment);
    write_operation(p, "add", value, segment, more);
    va_end(more);
}

void tg_json_patch_replace(struct tg_json_patch *p, const char *value, const char *segment, ...)
{
    va_list more;

    va_start(more, segment);
    write_operation(p, "replace", value, segment, more);
    va_end(more);
}

void tg_json_patch_remove(struct tg_json_patch *p, const char *segment, ...)
{
    va_list more;

    va_start(more, segment);
    write_operation(p, "remove", NULL, segment, more);
    va_end(more);
}

int tg_json_patch_finish(struct tg_json_patch *p, struct tg_error *err)
{
    tg_jw_end_array(&p->w);
    return tg_jw_finish(&p->w, err);
}
