/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tangram/syntax.h"

#include <string.h>

enum { LABEL_MAX = 63, SUBDOMAIN_MAX = 253, ATTRIBUTE_DOMAIN_MAX = 63, IDENTIFIER_MAX = 32 };

/* By hand: isalnum() and friends depend on the locale. */
static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static bool is_dns_label(const char *s, size_t n)
{
    if (n == 0 || n > LABEL_MAX || !is_lower_alnum(s[0]) || !is_lower_alnum(s[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_lower_alnum(s[i]) && s[i] != '-')
            return false;
    return true;
}

/* Unlike a lone DNS label the parts may be longer than 63 bytes: the API checks only the whole. */
static bool is_subdomain(const char *s, size_t n, size_t max)
{
    if (n == 0 || n > max)
        return false;
    for (size_t i = 0; i < n; i++) {
        bool edge = i == 0 || i == n - 1 || s[i - 1] == '.' || s[i + 1] == '.';
        if (s[i] == '.' ? edge : !is_lower_alnum(s[i]) && (edge || s[i] != '-'))
            return false;
    }
    return true;
}

static bool is_name_part(const char *s, size_t n)
{
    if (n == 0 || n > LABEL_MAX || !is_alnum(s[0]) || !is_alnum(s[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_alnum(s[i]) && s[i] != '-' && s[i] != '_' && s[i] != '.')
            return false;
    return true;
}

static bool is_identifier(const char *s, size_t n)
{
    if (n == 0 || n > IDENTIFIER_MAX || (s[0] >= '0' && s[0] <= '9'))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_alnum(s[i]) && s[i] != '_')
            return false;
    return true;
}

bool tg_syntax_is_dns_label(const char *s)
{
    return s != NULL && is_dns_label(s, strlen(s));
}

bool tg_syntax_is_dns_subdomain(const char *s, size_t max)
{
    return s != NULL && is_subdomain(s, strlen(s), max);
}

bool tg_syntax_is_label_key(const char *s)
{
    if (s == NULL)
        return false;
    const char *slash = strchr(s, '/');
    if (slash == NULL)
        return is_name_part(s, strlen(s));
    return is_subdomain(s, (size_t)(slash - s), SUBDOMAIN_MAX) &&
           is_name_part(slash + 1, strlen(slash + 1));
}

bool tg_syntax_is_attribute(const char *s)
{
    const char *slash = s == NULL ? NULL : strchr(s, '/');
    return slash != NULL && is_subdomain(s, (size_t)(slash - s), ATTRIBUTE_DOMAIN_MAX) &&
           is_identifier(slash + 1, strlen(slash + 1));
}
