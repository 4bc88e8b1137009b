// SPDX-License-Identifier: Apache-2.0
#include "controller/core/cel/regex.h"

#include <re2/re2.h>

#include <cstdio>
#include <new>
#include <string>

struct tg_cel_regex {
    explicit tg_cel_regex(const re2::StringPiece &pattern, const RE2::Options &options)
        : re(pattern, options), between_bytes(false)
    {
    }
    RE2 re;
    /* It asks for \B, which libre2 also finds between the bytes of one character. */
    bool between_bytes;
};

/* Behind the \Q at i: where its \E is, or the end. What is quoted is no syntax. */
static size_t end_of_quote(const char *pattern, size_t n, size_t i)
{
    for (i += 2; i + 1 < n; i++) {
        if (pattern[i] == '\\' && pattern[i + 1] == 'E')
            return i;
    }
    return n;
}

static bool has_escape(const char *pattern, size_t n, char which)
{
    for (size_t i = 0; i + 1 < n; i++) {
        if (pattern[i] != '\\')
            continue;
        if (pattern[i + 1] == which)
            return true;
        i = pattern[i + 1] == 'Q' ? end_of_quote(pattern, n, i) - 1 : i + 1;
    }
    return false;
}

/* Go writes a named group as (?P<name> or (?<name>; this version of libre2 knows the first. */
static std::string with_python_names(const char *pattern, size_t n)
{
    std::string out;
    bool in_class = false, in_name = false;

    for (size_t i = 0; i < n; i++) {
        out += pattern[i];
        if (pattern[i] == '\\' && i + 1 < n && pattern[i + 1] == 'Q' && !in_class) {
            size_t end = end_of_quote(pattern, n, i);

            out.append(pattern + i + 1, end - i - 1);
            i = end - 1;
        } else if (pattern[i] == '\\' && i + 1 < n) {
            out += pattern[++i];
        } else if (in_class && n - i > 1 && pattern[i] == '[' && pattern[i + 1] == ':') {
            out += pattern[++i]; /* [:name:], whose ] ends nothing else */
            in_name = true;
        } else if (in_class) {
            in_class = pattern[i] != ']' || in_name;
            in_name = in_name && pattern[i] != ']';
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
    /* libre2 knows one escape that Go does not: a single byte. */
    if (has_escape(pattern, n, 'C')) {
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
    regex->between_bytes = has_escape(pattern, n, 'B');
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
    const bool wanted = start != nullptr || regex->between_bytes;
    re2::StringPiece found;
    size_t at;

    do {
        if (!regex->re.Match(input, from, n, RE2::UNANCHORED, wanted ? &found : nullptr, wanted))
            return false;
        at = wanted ? static_cast<size_t>(found.data() - text) : 0;
        from = at + 1;
        /* What begins inside a character is empty, and no match in Go. */
    } while (wanted && at < n && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
    if (start != nullptr) {
        *start = at;
        *end = at + found.size();
    }
    return true;
}
