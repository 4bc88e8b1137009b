/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/named_format.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "controller/core/cel/calls.h"
#include "controller/core/cel/time.h"
#include "controller/core/cel/url.h"

struct messages {
    const char **items;
    size_t n;
};

struct tg_cel_format {
    const char *name;
    uint64_t pattern;
    bool prefix; /* of generateName: a dash may end it */
    void (*check)(const char *text, size_t n, struct messages *m);
};

static void say(struct messages *m, const char *message)
{
    if (m->n < TG_CEL_FORMAT_MESSAGES)
        m->items[m->n++] = message;
}

static bool lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool alnum(char c)
{
    return lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/* [a-z0-9]([-a-z0-9]*[a-z0-9])? */
static bool is_label(const char *text, size_t n)
{
    if (n == 0 || !lower_alnum(text[0]) || !lower_alnum(text[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!lower_alnum(text[i]) && text[i] != '-')
            return false;
    }
    return true;
}

static void check_label(const char *text, size_t n, struct messages *m)
{
    if (n > 63)
        say(m, "must be no more than 63 characters");
    if (!is_label(text, n))
        say(m, "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "
               "'-', and must start and end with an alphanumeric character");
}

static void check_label_1035(const char *text, size_t n, struct messages *m)
{
    if (n > 63)
        say(m, "must be no more than 63 characters");
    if (!is_label(text, n) || isdigit((unsigned char)text[0]))
        say(m, "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start "
               "with an alphabetic character, and end with an alphanumeric character");
}

static bool is_subdomain(const char *text, size_t n)
{
    size_t from = 0;

    for (size_t i = 0; i <= n; i++) {
        if (i < n && text[i] != '.')
            continue;
        if (!is_label(text + from, i - from))
            return false;
        from = i + 1;
    }
    return true;
}

static void check_subdomain(const char *text, size_t n, struct messages *m)
{
    if (n > 253)
        say(m, "must be no more than 253 characters");
    if (!is_subdomain(text, n))
        say(m, "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
               "'-' or '.', and must start and end with an alphanumeric character");
}

/* ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9] */
static bool is_name(const char *text, size_t n)
{
    if (n == 0 || !alnum(text[0]) || !alnum(text[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!alnum(text[i]) && (text[i] == '\0' || strchr("-_.", text[i]) == NULL))
            return false;
    }
    return true;
}

static void check_label_value(const char *text, size_t n, struct messages *m)
{
    if (n > 63)
        say(m, "must be no more than 63 bytes");
    if (n > 0 && !is_name(text, n))
        say(m, "a valid label must be an empty string or consist of alphanumeric characters, '-', "
               "'_' or '.', and must start and end with an alphanumeric character");
}

static void check_qualified_name(const char *text, size_t n, struct messages *m)
{
    const char *slash = n == 0 ? NULL : memchr(text, '/', n);
    const char *name = slash == NULL ? text : slash + 1;
    size_t left = n - (size_t)(name - text);

    if (slash != NULL && memchr(name, '/', left) != NULL) {
        say(m, "a qualified name must consist of alphanumeric characters, '-', '_' or '.', with an "
               "optional DNS subdomain prefix and '/'");
        return;
    }
    if (slash == text)
        say(m, "prefix part must be non-empty");
    else if (slash != NULL)
        check_subdomain(text, (size_t)(slash - text), m);
    if (left == 0)
        say(m, "name part must be non-empty");
    else if (left > 63)
        say(m, "name part must be no more than 63 bytes");
    if (!is_name(name, left))
        say(m, "name part must consist of alphanumeric characters, '-', '_' or '.', and must start "
               "and end with an alphanumeric character");
}

static void check_uri(const char *text, size_t n, struct messages *m)
{
    if (!tg_cel_url_valid(text, n))
        say(m, "invalid URI");
}

static bool hex_digits(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isxdigit((unsigned char)text[i]))
            return false;
    }
    return true;
}

/* 8-4-4-4-12 hexadecimal digits, with or without the dashes */
static void check_uuid(const char *text, size_t n, struct messages *m)
{
    bool dashed = n == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' &&
                  text[23] == '-' && hex_digits(text, 8) && hex_digits(text + 9, 4) &&
                  hex_digits(text + 14, 4) && hex_digits(text + 19, 4) && hex_digits(text + 24, 12);

    if (!dashed && !(n == 32 && hex_digits(text, 32)))
        say(m, "does not match the UUID format");
}

static void check_byte(const char *text, size_t n, struct messages *m)
{
    size_t end = n;

    while (end > 0 && n - end < 2 && text[end - 1] == '=')
        end--;
    for (size_t i = 0; i < end; i++) {
        if (!alnum(text[i]) && text[i] != '+' && text[i] != '/') {
            say(m, "invalid base64");
            return;
        }
    }
    if (n == 0 || n % 4 != 0)
        say(m, "invalid base64");
}

/* A date and a time of day, put together so that the timestamp parser judges them. */
static bool is_moment(const char *date, const char *time, size_t n)
{
    struct tg_cel_value value;
    char text[80];

    if (n > sizeof(text) - 12)
        return false;
    memcpy(text, date, 10);
    text[10] = 'T';
    memcpy(text + 11, time, n);
    for (size_t i = 0; i < n; i++)
        text[11 + i] = (char)toupper((unsigned char)text[11 + i]);
    return tg_cel_time_parse(text, 11 + n, &value);
}

static void check_date(const char *text, size_t n, struct messages *m)
{
    if (n != 10 || !is_moment(text, "00:00:00Z", 9))
        say(m, "invalid date");
}

static void check_datetime(const char *text, size_t n, struct messages *m)
{
    if (n < 20 || (text[10] != 'T' && text[10] != 't') || !is_moment(text, text + 11, n - 11))
        say(m, "invalid datetime");
}

/* Lengths of strfmt's and govalidator's patterns where those are what is tested. */
static const struct tg_cel_format formats[] = {
    {"byte", 84, false, check_byte},
    {"date", 156, false, check_date},
    {"datetime", 156, false, check_datetime},
    {"dns1035Label", 30, false, check_label_1035},
    {"dns1035LabelPrefix", 30, true, check_label_1035},
    {"dns1123Label", 30, false, check_label},
    {"dns1123LabelPrefix", 30, true, check_label},
    {"dns1123Subdomain", 60, false, check_subdomain},
    {"dns1123SubdomainPrefix", 60, true, check_subdomain},
    {"labelValue", 40, false, check_label_value},
    {"qualifiedName", 60, false, check_qualified_name},
    {"uri", 1103, false, check_uri},
    {"uuid", 95, false, check_uuid},
};

const struct tg_cel_format *tg_cel_named_format_find(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strlen(formats[i].name) == n && memcmp(formats[i].name, name, n) == 0)
            return &formats[i];
    }
    return NULL;
}

uint64_t tg_cel_named_format_pattern(const struct tg_cel_format *format)
{
    return format->pattern;
}

size_t tg_cel_named_format_check(const struct tg_cel_format *format, const char *text, size_t n,
                                 const char *messages[TG_CEL_FORMAT_MESSAGES])
{
    struct messages m = {.items = messages};
    char masked[256];

    /* A generated suffix will follow the dash: the prefix is judged with a letter in its place. */
    if (format->prefix && n > 1 && n < sizeof(masked) && text[n - 1] == '-') {
        memcpy(masked, text, n - 2);
        masked[n - 2] = 'a';
        text = masked;
        n--;
    }
    format->check(text, n, &m);
    return m.n;
}

int tg_cel_call_named_format(struct tg_cel_run *run, const struct tg_cel_node *call,
                             const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    const char *name = call->name + strlen("format.");

    (void)run;
    (void)args;
    *ret = (struct tg_cel_value){.tag = TG_CEL_V_FORMAT,
                                 .format = tg_cel_named_format_find(name, strlen(name))};
    return 0;
}

int tg_cel_call_format_named(struct tg_cel_run *run, const struct tg_cel_node *call,
                             const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_value format = {.tag = TG_CEL_V_FORMAT,
                                  .format = tg_cel_named_format_find(args[0].text, args[0].length)};

    *ret = tg_cel_none();
    if (format.format == NULL)
        return 0;
    return tg_cel_optional(run->scratch, &format, ret) ? 0 : tg_cel_fail_memory(run, call);
}

int tg_cel_call_validate(struct tg_cel_run *run, const struct tg_cel_node *call,
                         const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    const char *messages[TG_CEL_FORMAT_MESSAGES];
    size_t n = tg_cel_named_format_check(args[0].format, args[1].text, args[1].length, messages);
    struct tg_cel_value items[TG_CEL_FORMAT_MESSAGES], list;

    *ret = tg_cel_none();
    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        items[i] = tg_cel_text(messages[i], strlen(messages[i]));
    return tg_cel_list_make(run->scratch, items, n, &list) &&
                   tg_cel_optional(run->scratch, &list, ret)
               ? 0
               : tg_cel_fail_memory(run, call);
}
