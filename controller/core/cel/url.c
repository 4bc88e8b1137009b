/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/url.h"

#include <ctype.h>
#include <string.h>

#include "controller/core/cel/calls.h"
#include "controller/core/cel/map.h"
#include "controller/core/cel/text.h"

static int hex(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Every '%' is followed by two hexadecimal digits. */
static bool escapes_valid(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '%' && (i + 2 >= n || !isxdigit((unsigned char)text[i + 1]) ||
                               !isxdigit((unsigned char)text[i + 2])))
            return false;
    }
    return true;
}

static bool one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* [a-zA-Z][a-zA-Z0-9+-.]* before a colon: its length; 0: there is none; -1: ':' comes first. */
static long scheme_length(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = text[i];

        if (isalpha((unsigned char)c))
            continue;
        if (c == ':')
            return i == 0 ? -1 : (long)i;
        if (i == 0 || (!isdigit((unsigned char)c) && !one_of(c, "+-.")))
            return 0;
    }
    return 0;
}

static bool valid_port(const char *text, size_t n)
{
    if (n == 0)
        return true;
    if (text[0] != ':')
        return false;
    for (size_t i = 1; i < n; i++) {
        if (!isdigit((unsigned char)text[i]))
            return false;
    }
    return true;
}

static bool valid_host(const char *text, size_t n)
{
    if (!escapes_valid(text, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '%') { /* only what is beyond ASCII may be escaped, and a zone's '%25' */
            if (hex(text[i + 1]) < 8 && memcmp(text + i, "%25", 3) != 0)
                return false;
            i += 2;
        } else if (c < 0x80 && !isalnum(c) && !one_of((char)c, "-_.~!$&'()*+,;=:[]<>\"")) {
            return false;
        }
    }
    return true;
}

static bool valid_user(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isalnum((unsigned char)text[i]) && !one_of(text[i], "-._:~!$&'()*+,;=%@"))
            return false;
    }
    return escapes_valid(text, n);
}

/* What stands behind the host: nothing, or a port. */
static bool ends_in_port(const char *host, size_t n)
{
    const char *bracket, *colon;

    if (n == 0)
        return true;
    if (*host == '[') {
        bracket = memrchr(host, ']', n);
        return bracket != NULL && valid_port(bracket + 1, (size_t)(host + n - bracket - 1));
    }
    colon = memrchr(host, ':', n);
    return colon == NULL || valid_port(colon, (size_t)(host + n - colon));
}

static bool split_authority(const char *text, size_t n, struct tg_cel_url *url)
{
    const char *at = n == 0 ? NULL : memrchr(text, '@', n), *host = at == NULL ? text : at + 1;

    url->host = (struct tg_cel_span){host, n - (size_t)(host - text)};
    if (at != NULL)
        url->user = (struct tg_cel_span){text, (size_t)(at - text)};
    return valid_user(url->user.text, url->user.n) && ends_in_port(host, url->host.n) &&
           valid_host(host, url->host.n);
}

static bool has_control(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return true;
    }
    return false;
}

/* [//authority]/path, or what is opaque behind a scheme. */
static bool parse_rest(const char *text, const char *end, bool scheme, bool request,
                       struct tg_cel_url *url)
{
    const char *slash;

    url->path = (struct tg_cel_span){text, 0};
    if (text == end || *text != '/')
        return scheme;
    if (end - text >= 2 && text[1] == '/' &&
        (scheme || (!request && (end - text == 2 || text[2] != '/')))) {
        slash = memchr(text + 2, '/', (size_t)(end - text - 2));
        if (slash == NULL)
            slash = end;
        if (!split_authority(text + 2, (size_t)(slash - text - 2), url))
            return false;
        text = slash;
    }
    url->path = (struct tg_cel_span){text, (size_t)(end - text)};
    return escapes_valid(text, url->path.n);
}

/* scheme:rest; an absolute path or a scheme is wanted. request: "//host" without a scheme is a
 * path. */
static bool parse(const char *text, size_t n, bool request, struct tg_cel_url *url)
{
    const char *end = text + n, *question;
    long scheme;

    *url = (struct tg_cel_url){.path = {text, 0}};
    if (n == 0 || has_control(text, n))
        return false;
    if (n == 1 && *text == '*') {
        url->path.n = 1;
        return true;
    }
    scheme = scheme_length(text, n);
    if (scheme < 0)
        return false;
    if (scheme > 0) {
        url->scheme = (struct tg_cel_span){text, (size_t)scheme};
        text += scheme + 1;
    }
    question = text == end ? NULL : memchr(text, '?', (size_t)(end - text));
    if (question != NULL) {
        url->query = (struct tg_cel_span){question + 1, (size_t)(end - question - 1)};
        end = question;
    }
    return parse_rest(text, end, scheme > 0, request, url);
}

bool tg_cel_url_valid(const char *text, size_t n)
{
    struct tg_cel_url url;

    return parse(text, n, true, &url);
}

static bool span_equal(struct tg_cel_span a, struct tg_cel_span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.text, b.text, a.n) == 0);
}

bool tg_cel_url_equal(const struct tg_cel_url *a, const struct tg_cel_url *b)
{
    return span_equal(a->scheme, b->scheme) && span_equal(a->user, b->user) &&
           span_equal(a->host, b->host) && span_equal(a->path, b->path) &&
           span_equal(a->query, b->query) && span_equal(a->fragment, b->fragment);
}

/* Percent escapes decoded; plus: '+' is a space. out: n bytes. */
static size_t decode(const char *text, size_t n, bool plus, char *out)
{
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        if (text[i] == '%') {
            out[used++] = (char)(hex(text[i + 1]) << 4 | hex(text[i + 2]));
            i += 2;
        } else {
            out[used++] = plus && text[i] == '+' ? ' ' : text[i];
        }
    }
    return used;
}

static bool decode_span(struct tg_cel_run *run, struct tg_cel_span *span, bool lower)
{
    char *out = tg_cel_alloc(run->scratch, span->n + 1);

    if (out == NULL)
        return false;
    span->n = decode(span->text, span->n, false, out);
    for (size_t i = 0; lower && i < span->n; i++)
        out[i] = (char)tolower((unsigned char)out[i]);
    span->text = out;
    return true;
}

int tg_cel_call_url(struct tg_cel_run *run, const struct tg_cel_node *call,
                    const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_url *url = tg_cel_alloc(run->scratch, sizeof(*url));
    const char *fragment = args[0].length == 0 ? NULL : memchr(args[0].text, '#', args[0].length);
    size_t n = fragment == NULL ? args[0].length : (size_t)(fragment - args[0].text);

    if (url == NULL)
        return tg_cel_fail_memory(run, call);
    /* First with the '#' as a part of path or query, as ParseRequestURI does, then without. */
    if (!tg_cel_url_valid(args[0].text, args[0].length) || !parse(args[0].text, n, false, url))
        return tg_cel_fail_value(run, call,
                                 "URL parse error during conversion from string: ", &args[0]);
    if (fragment != NULL)
        url->fragment = (struct tg_cel_span){fragment + 1, args[0].length - n - 1};
    if (!escapes_valid(url->fragment.text, url->fragment.n))
        return tg_cel_fail_value(run, call,
                                 "URL parse error during conversion from string: ", &args[0]);
    if (!decode_span(run, &url->scheme, true) || !decode_span(run, &url->host, false))
        return tg_cel_fail_memory(run, call);
    *ret = (struct tg_cel_value){.tag = TG_CEL_V_URL, .url = url};
    return 0;
}

int tg_cel_call_is_url(struct tg_cel_run *run, const struct tg_cel_node *call,
                       const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_bool(tg_cel_url_valid(args[0].text, args[0].length));
    return 0;
}

static struct tg_cel_value text_of(struct tg_cel_span span)
{
    return tg_cel_text(span.n == 0 ? "" : span.text, span.n);
}

int tg_cel_call_url_scheme(struct tg_cel_run *run, const struct tg_cel_node *call,
                           const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = text_of(args[0].url->scheme);
    return 0;
}

int tg_cel_call_url_host(struct tg_cel_run *run, const struct tg_cel_node *call,
                         const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = text_of(args[0].url->host);
    return 0;
}

/* The host without and the port behind its colon. */
static void split_port(struct tg_cel_span host, struct tg_cel_span *name, struct tg_cel_span *port)
{
    const char *colon = host.n == 0 ? NULL : memrchr(host.text, ':', host.n);

    *name = host;
    *port = (struct tg_cel_span){host.text, 0};
    if (colon != NULL && valid_port(colon, (size_t)(host.text + host.n - colon))) {
        name->n = (size_t)(colon - host.text);
        *port = (struct tg_cel_span){colon + 1, host.n - name->n - 1};
    }
    if (name->n >= 2 && name->text[0] == '[' && name->text[name->n - 1] == ']') {
        name->text++;
        name->n -= 2;
    }
}

int tg_cel_call_url_hostname(struct tg_cel_run *run, const struct tg_cel_node *call,
                             const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_span name, port;

    (void)run;
    (void)call;
    split_port(args[0].url->host, &name, &port);
    *ret = text_of(name);
    return 0;
}

int tg_cel_call_url_port(struct tg_cel_run *run, const struct tg_cel_node *call,
                         const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_span name, port;

    (void)run;
    (void)call;
    split_port(args[0].url->host, &name, &port);
    *ret = text_of(port);
    return 0;
}

/* Go keeps a path that needs no escaping as it is written, and escapes a decoded one anew. */
int tg_cel_call_url_escaped_path(struct tg_cel_run *run, const struct tg_cel_node *call,
                                 const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_builder_text b = {.scratch = run->scratch};
    struct tg_cel_span path = args[0].url->path;
    bool as_written = true;

    *ret = text_of(path);
    for (size_t i = 0; i < path.n && as_written; i++)
        as_written =
            isalnum((unsigned char)path.text[i]) || one_of(path.text[i], "-_.~!$&'()*+,;=:@[]%/");
    if (as_written)
        return 0;
    if (!decode_span(run, &path, false))
        return tg_cel_fail_memory(run, call);
    for (size_t i = 0; i < path.n; i++) {
        static const char digits[] = "0123456789ABCDEF";
        unsigned char c = (unsigned char)path.text[i];
        char escaped[3] = {'%', digits[c >> 4], digits[c & 15]};

        if (isalnum(c) || one_of((char)c, "-_.~$&+,/:;=@"))
            tg_cel_put(&b, (const char *)&path.text[i], 1);
        else
            tg_cel_put(&b, escaped, 3);
    }
    if (b.no_memory)
        return tg_cel_fail_memory(run, call);
    *ret = tg_cel_text(b.data, b.n);
    return 0;
}

static bool decode_value(struct tg_cel_run *run, const char *text, size_t n,
                         struct tg_cel_value *ret)
{
    char *out = tg_cel_alloc(run->scratch, n + 1);

    if (out == NULL)
        return false;
    *ret = tg_cel_text(out, decode(text, n, true, out));
    return true;
}

/* Adds one key=value; what Go's ParseQuery reports as an error is left out, as Query() does. */
static bool add_pair(struct tg_cel_run *run, const char *text, size_t n, struct tg_cel_value *map)
{
    const char *equals = n == 0 ? NULL : memchr(text, '=', n);
    size_t key_n = equals == NULL ? n : (size_t)(equals - text);
    size_t value_n = equals == NULL ? 0 : n - key_n - 1;
    struct tg_cel_value key, value, list, storage;
    const struct tg_cel_value *old;
    bool present = false, no_memory = false;

    if (n == 0 || memchr(text, ';', n) != NULL || !escapes_valid(text, key_n) ||
        (equals != NULL && !escapes_valid(equals + 1, value_n)))
        return true;
    if (!decode_value(run, text, key_n, &key) ||
        !decode_value(run, equals == NULL ? "" : equals + 1, value_n, &value) ||
        !tg_cel_list_make(run->scratch, &value, 1, &list))
        return false;
    old = tg_cel_map_find(run->scratch, map->map, &key, &storage, &present, &no_memory);
    if (old != NULL && !tg_cel_list_concat(run->scratch, old, &list, &list))
        return false;
    return tg_cel_map_put(run->scratch, map->map, &key, &list, true, map) == TG_CEL_PUT;
}

int tg_cel_call_url_query(struct tg_cel_run *run, const struct tg_cel_node *call,
                          const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_span query = args[0].url->query;
    bool made = tg_cel_map_make(run->scratch, TG_CEL_MAP_ENTRIES, NULL, ret);

    for (size_t from = 0, i = 0; made && query.n > 0 && i <= query.n; i++) {
        if (i < query.n && query.text[i] != '&')
            continue;
        made = add_pair(run, query.text + from, i - from, ret);
        from = i + 1;
    }
    return made ? 0 : tg_cel_fail_memory(run, call);
}
