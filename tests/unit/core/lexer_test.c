/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/lexer.h"
#include "tests/unit/core/world.h"

/* The tokens of a source as one text: kind letter and what was read. */
static void lex(const char *source, char *out, size_t size)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_cel_lexer lexer;
    struct tg_cel_token t = {.kind = TG_CEL_TOKEN_IDENT};
    size_t at = 0;

    out[0] = '\0';
    tg_cel_lexer_init(&lexer, source, strlen(source), arena);
    while (t.kind != TG_CEL_TOKEN_END) {
        struct tg_error err = TG_ERROR_INIT;

        if (tg_cel_lexer_next(&lexer, &t, &err) < 0) {
            snprintf(out + at, size - at, "!%s", err.message);
            return;
        }
        if (t.kind == TG_CEL_TOKEN_STRING)
            at += (size_t)snprintf(out + at, size - at, "s<%s> ", t.string);
        else if (t.kind == TG_CEL_TOKEN_INT || t.kind == TG_CEL_TOKEN_UINT)
            at += (size_t)snprintf(out + at, size - at, "%c%llu ",
                                   t.kind == TG_CEL_TOKEN_INT ? 'i' : 'u',
                                   (unsigned long long)t.number);
        else if (t.kind == TG_CEL_TOKEN_DOUBLE)
            at += (size_t)snprintf(out + at, size - at, "d%g ", t.real);
        else if (t.kind != TG_CEL_TOKEN_END)
            at += (size_t)snprintf(out + at, size - at, "%.*s ", (int)t.length, source + t.offset);
    }
}

static const struct {
    const char *source, *tokens;
} cases[] = {
    {"", ""},
    {" a.b[0]<=c // rest\n d", "a . b [ i0 ] <= c d "},
    {"a==b!=!c&&d||e", "a == b != ! c && d || e "},
    {"1 2u 0x1F 0Xau 1.5 .5 2e3 1.5e-2 7.x", "i1 u2 i31 u10 d1.5 d0.5 d2000 d0.015 i7 . x "},
    {"18446744073709551615u", "u18446744073709551615 "},
    {"'a' \"b\" '''c'd''' r'\\n' R\"\\\" x", "s<a> s<b> s<c'd> s<\\n> s<\\> x "},
    {"'\\a\\t\\\\\\'\\\"\\?\\`'", "s<\a\t\\'\"?`> "},
    {"'\\x41\\101\\u00e9\\U0001F600'", "s<AA\xc3\xa9\xf0\x9f\x98\x80> "},
    {"'\xc3\xa9'", "s<\xc3\xa9> "},
    {"rb in r.b", "rb in r . b "},
    {"\xc3\xa9", "!column 1: a character that CEL does not know"},
    {"'\xc3\xa9' #", "s<\xc3\xa9> !column 5: a character that CEL does not know"},
    {"'a\nb'", "!column 1: a string is not closed"},
    {"'a\\", "!column 3: unknown escape sequence"},
    {"'\\x4'", "!column 2: an escape sequence lacks digits"},
    {"'\\U00110000'", "!column 2: an escape sequence names no Unicode character"},
    {"0x", "!column 1: malformed number"},
    {"18446744073709551616", "!column 1: a number is out of range"},
    {"1a", "!column 1: malformed number"},
    {"&", "!column 1: a character that CEL does not know"},
};

static void tokens_are_those_of_the_language(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[512];

        lex(cases[i].source, out, sizeof(out));
        assert_string_equal(out, cases[i].tokens);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_those_of_the_language),
    };

    return cmocka_run_group_tests_name("lexer", tests, NULL, NULL);
}
