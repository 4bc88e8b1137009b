/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text, byte for byte as Go's encoding/json writes it: yajl's generator escapes less (<, >, &,
 * U+2028, U+2029), and the API server compares raw bytes of what is immutable. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"
#include "api/runtime/json/patch.h"
#include "api/runtime/json/reader.h"

/* How c is escaped: "" for the \u form, NULL if it stands for itself. */
static const char *escape_of(unsigned char c)
{
    static const char *const escapes[] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['\b'] = "\\b", ['\f'] = "\\f", ['\n'] = "\\n",
        ['\r'] = "\\r", ['\t'] = "\\t",  ['<'] = "",     ['>'] = "",     ['&'] = "",
    };

    if (c < TG_ARRAY_SIZE(escapes) && escapes[c] != NULL)
        return escapes[c];
    return c < 0x20 ? "" : NULL;
}

/* Bytes at the start of s that stand for themselves. */
static size_t plain_prefix(const char *s, size_t n)
{
    size_t i = 0;

    while (i < n) {
        unsigned char c = (unsigned char)s[i];
        size_t length = 1;
        uint32_t code;

        if (c < 0x80) {
            if (escape_of(c) != NULL)
                break;
        } else {
            length = tg_utf8_next(s + i, n - i, &code);
            if (length == 0 || code == 0x2028 || code == 0x2029)
                break;
        }
        i += length;
    }
    return i;
}

/* Writes the character at s, which does not stand for itself; returns its length. */
static size_t write_escaped(struct tg_buf *out, const char *s, size_t n)
{
    unsigned char c = (unsigned char)s[0];
    uint32_t code = c;
    size_t length = c < 0x80 ? 1 : tg_utf8_next(s, n, &code);

    if (length == 0) {
        tg_buf_append_char(out, '?');
        return 1;
    }
    if (c < 0x80 && escape_of(c)[0] != '\0')
        tg_buf_append_str(out, escape_of(c));
    else
        tg_buf_printf(out, "\\u%04x", (unsigned)code);
    return length;
}

void tg_json_quote(struct tg_buf *out, const char *s)
{
    size_t n = strlen(s);
    size_t i = 0;

    tg_buf_append_char(out, '"');
    while (i < n && !out->failed) {
        size_t plain = plain_prefix(s + i, n - i);

        tg_buf_append(out, s + i, plain);
        i += plain;
        if (i < n)
            i += write_escaped(out, s + i, n - i);
    }
    tg_buf_append_char(out, '"');
}

void tg_json_writer_init(struct tg_json_writer *w, struct tg_buf *out)
{
    *w = (struct tg_json_writer){.out = out};
}

static void begin_value(struct tg_json_writer *w)
{
    if (w->need_comma[w->depth])
        tg_buf_append_char(w->out, ',');
    w->need_comma[w->depth] = true;
}

static void begin_container(struct tg_json_writer *w, char c)
{
    assert(w->depth < TG_ARRAY_SIZE(w->need_comma) - 1);
    begin_value(w);
    tg_buf_append_char(w->out, c);
    w->need_comma[++w->depth] = false;
}

static void end_container(struct tg_json_writer *w, char c)
{
    assert(w->depth > 0);
    w->depth--;
    tg_buf_append_char(w->out, c);
}

void tg_jw_begin_object(struct tg_json_writer *w)
{
    begin_container(w, '{');
}

void tg_jw_end_object(struct tg_json_writer *w)
{
    end_container(w, '}');
}

void tg_jw_begin_array(struct tg_json_writer *w)
{
    begin_container(w, '[');
}

void tg_jw_end_array(struct tg_json_writer *w)
{
    end_container(w, ']');
}

void tg_jw_key(struct tg_json_writer *w, const char *key)
{
    begin_value(w);
    tg_json_quote(w->out, key);
    tg_buf_append_char(w->out, ':');
    w->need_comma[w->depth] = false; /* the value follows; it sets this again */
}

void tg_jw_string(struct tg_json_writer *w, const char *s)
{
    if (s == NULL) {
        tg_jw_null(w);
        return;
    }
    begin_value(w);
    tg_json_quote(w->out, s);
}

void tg_jw_int(struct tg_json_writer *w, int64_t v)
{
    begin_value(w);
    tg_buf_printf(w->out, "%" PRId64, v);
}

void tg_jw_bool(struct tg_json_writer *w, bool v)
{
    begin_value(w);
    tg_buf_append_str(w->out, v ? "true" : "false");
}

void tg_jw_null(struct tg_json_writer *w)
{
    begin_value(w);
    tg_buf_append_str(w->out, "null");
}

void tg_jw_raw(struct tg_json_writer *w, const char *json)
{
    begin_value(w);
    tg_buf_append_str(w->out, json);
}

void tg_jw_kv_string(struct tg_json_writer *w, const char *key, const char *s)
{
    if (s == NULL)
        return;
    tg_jw_key(w, key);
    tg_jw_string(w, s);
}

void tg_jw_kv_int(struct tg_json_writer *w, const char *key, int64_t v)
{
    tg_jw_key(w, key);
    tg_jw_int(w, v);
}

void tg_jw_kv_bool(struct tg_json_writer *w, const char *key, bool v)
{
    tg_jw_key(w, key);
    tg_jw_bool(w, v);
}

void tg_jw_kv_raw(struct tg_json_writer *w, const char *key, const char *json)
{
    if (json == NULL)
        return;
    tg_jw_key(w, key);
    tg_jw_raw(w, json);
}

int tg_jw_finish(struct tg_json_writer *w, struct tg_error *err)
{
    assert(w->depth == 0);
    if (w->invalid)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "a raw value of the object is not JSON");
    if (!w->out->failed)
        return 0;
    return tg_json_too_large(err,
                             tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                          "the JSON text is larger than %zu bytes", w->out->max));
}
