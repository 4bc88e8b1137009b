// SPDX-License-Identifier: Apache-2.0
#include "controller/core/cel/regex.h"

#include <re2/re2.h>

#include <cstdio>
#include <new>
#include <string>

struct tg_cel_regex {
    explicit tg_cel_regex(const re2::StringPiece &pattern, const RE2::Options &options)
        : re(pattern, options)
    {
    }
    RE2 re;
};

/* libre2 knows one escape that Go does not: \C, a single byte. */
static bool has_byte_escape(const char *pattern, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        if (pattern[i] != '\\')
            continue;
        if (pattern[i + 1] == 'C')
            return true;
        i++;
    }
    return false;
}

/* Go writes a named group as (?P<name> or (?<name>; this version of libre2 knows the first. */
static std::string with_python_names(const char *pattern, size_t n)
{
    std::string out;
    bool in_class = false;

    for (size_t i = 0; i < n; i++) {
        out += pattern[i];
        if (pattern[i] == '\\' && i + 1 < n) {
            out += pattern[++i];
        } else if (in_class) {
            in_class = pattern[i] != ']';
        } else if (pattern[i] == '[') {
            in_class = true;
            if (i + 1 < n && pattern[i + 1] == '^')
                out += pattern[++i];
            if (i + 1 < n && pattern[i + 1] == ']')
                out += pattern[++i];
        } else if (n - i > 3 && pattern[i] == '(' && pattern[i + 1] == '?' &&
                   pattern[i + 2] == '<' && pattern[i + 3] != '=' && pattern[i + 3] != '!') {
            out += "?P";
            i++;
        }
    }
    return out;
}

struct tg_cel_regex *tg_cel_regex_new(const char *pattern, size_t n, char *why, size_t why_n)
{
    RE2::Options options;

    options.set_log_errors(false);
    options.set_max_mem(TG_CEL_REGEX_MEMORY);
    if (has_byte_escape(pattern, n)) {
        std::snprintf(why, why_n, "invalid escape sequence: \\C");
        return nullptr;
    }
    auto *regex = new (std::nothrow) tg_cel_regex(with_python_names(pattern, n), options);
    if (regex == nullptr) {
        std::snprintf(why, why_n, "out of memory");
        return nullptr;
    }
    if (!regex->re.ok()) {
        std::snprintf(why, why_n, "%s", regex->re.error().c_str());
        delete regex;
        return nullptr;
    }
    return regex;
}

void tg_cel_regex_free(void *regex)
{
    delete static_cast<tg_cel_regex *>(regex);
}

bool tg_cel_regex_find(const struct tg_cel_regex *regex, const char *text, size_t n, size_t from,
                       size_t *start, size_t *end)
{
    const re2::StringPiece input(text, n);
    re2::StringPiece found;

    if (!regex->re.Match(input, from, n, RE2::UNANCHORED, start == nullptr ? nullptr : &found,
                         start == nullptr ? 0 : 1))
        return false;
    if (start != nullptr) {
        *start = static_cast<size_t>(found.data() - text);
        *end = *start + found.size();
    }
    return true;
}
