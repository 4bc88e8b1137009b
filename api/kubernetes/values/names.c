/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/values/names.h"

#include <string.h>

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGIT "0123456789"

/* Characters of a name: any at both ends, and some more in between. */
struct alphabet {
    const char *ends;
    const char *middle;
};

static const struct alphabet dns = {LOWER DIGIT, LOWER DIGIT "-"};
static const struct alphabet dns_any_case = {LOWER UPPER DIGIT, LOWER UPPER DIGIT "-"};
static const struct alphabet label_text = {LOWER UPPER DIGIT, LOWER UPPER DIGIT "-_."};

static bool is_word(const struct alphabet *alphabet, const char *s, size_t n)
{
    return n > 0 && strspn(s, alphabet->middle) >= n && strchr(alphabet->ends, s[0]) != NULL &&
           strchr(alphabet->ends, s[n - 1]) != NULL;
}

/* Words separated by dots; only the whole is limited in length. */
static bool is_subdomain(const struct alphabet *alphabet, const char *s, size_t n, size_t max)
{
    size_t from = 0;

    if (n > max)
        return false;
    while (from <= n) {
        const char *dot = memchr(s + from, '.', n - from);
        size_t length = dot == NULL ? n - from : (size_t)(dot - s) - from;

        if (!is_word(alphabet, s + from, length))
            return false;
        from += length + 1;
    }
    return true;
}

static bool check_label(const char *s, size_t n)
{
    return n <= 63 && is_word(&dns, s, n);
}

static bool check_subdomain(const char *s, size_t n)
{
    return is_subdomain(&dns, s, n, 253);
}

static bool check_driver(const char *s, size_t n)
{
    return is_subdomain(&dns_any_case, s, n, 63);
}

static bool check_label_name(const char *s, size_t n)
{
    return n <= 63 && is_word(&label_text, s, n);
}

static bool check_label_value(const char *s, size_t n)
{
    return n == 0 || check_label_name(s, n);
}

static bool check_identifier(const char *s, size_t n)
{
    return n > 0 && n <= 32 && strspn(s, LOWER UPPER DIGIT "_") >= n && strchr(DIGIT, s[0]) == NULL;
}

static bool check_qualified(const char *s, size_t n)
{
    const char *slash = memchr(s, '/', n);
    size_t prefix;

    if (slash == NULL)
        return check_label_name(s, n);
    prefix = (size_t)(slash - s);
    return check_subdomain(s, prefix) && check_label_name(slash + 1, n - prefix - 1);
}

static bool check_full_attribute(const char *s, size_t n)
{
    const char *slash = memchr(s, '/', n);
    size_t domain = slash == NULL ? 0 : (size_t)(slash - s);

    return slash != NULL && check_driver(s, domain) && check_identifier(slash + 1, n - domain - 1);
}

static bool check_attribute(const char *s, size_t n)
{
    return check_identifier(s, n) || check_full_attribute(s, n);
}

static bool check_pool(const char *s, size_t n)
{
    size_t from = 0;

    if (n > 253)
        return false;
    while (from <= n) {
        const char *slash = memchr(s + from, '/', n - from);
        size_t length = slash == NULL ? n - from : (size_t)(slash - s) - from;

        if (!check_subdomain(s + from, length))
            return false;
        from += length + 1;
    }
    return true;
}

static const struct rule {
    bool (*check)(const char *s, size_t n);
    const char *kind;
    const char *words;
} rules[] = {
    [TG_NAME_LABEL] = {check_label, "DNS label",
                       "at most 63 of a-z, 0-9 and -, beginning and ending with a letter or digit"},
    [TG_NAME_SUBDOMAIN] =
        {check_subdomain, "DNS subdomain",
         "at most 253 of a-z, 0-9, - and ., each part beginning and ending with a letter or digit"},
    [TG_NAME_QUALIFIED] =
        {check_qualified, "qualified name",
         "[DNS subdomain/]name, the name at most 63 of letters, digits, -, _ and ., beginning and "
         "ending with a letter or digit"},
    [TG_NAME_LABEL_VALUE] =
        {check_label_value, "label value",
         "empty, or at most 63 of letters, digits, -, _ and ., beginning and ending with a letter "
         "or digit"},
    [TG_NAME_C_IDENTIFIER] = {check_identifier, "C identifier",
                              "at most 32 of letters, digits and _, not beginning with a digit"},
    [TG_NAME_ATTRIBUTE] = {check_attribute, "attribute name",
                           "[domain/]identifier, the domain a DNS subdomain of at most 63, the "
                           "identifier at most 32 of "
                           "letters, digits and _, not beginning with a digit"},
    [TG_NAME_FULL_ATTRIBUTE] =
        {check_full_attribute, "fully qualified attribute name",
         "domain/identifier, the domain a DNS subdomain of at most 63, the identifier at most 32 "
         "of letters, digits and _, not beginning with a digit"},
    [TG_NAME_DRIVER] = {check_driver, "driver name", "a DNS subdomain of at most 63 characters"},
    [TG_NAME_POOL] = {check_pool, "pool name",
                      "DNS subdomains separated by /, at most 253 characters in all"},
};

bool tg_name_is(enum tg_name_kind kind, const char *s)
{
    return s != NULL && rules[kind].check(s, strlen(s));
}

int tg_name_check(enum tg_name_kind kind, const char *s, struct tg_error *err)
{
    if (tg_name_is(kind, s))
        return 0;
    return tg_error_set(err, TG_INVALID_ARGUMENT, "\"%.64s\" is not a valid %s: %s",
                        s == NULL ? "" : s, rules[kind].kind, rules[kind].words);
}
