/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/lexer.h"
#include "tests/unit/core/world.h"

/* The tokens of a source as one text: kind letter and what was read. */
static void lex(const char *source, char *out, size_t size)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_cel_source text = {.text = source, .n = strlen(source)};
    struct tg_cel_lexer lexer = {.source = &text, .arena = arena};
    struct tg_cel_token t = {.kind = TG_CEL_TOKEN_IDENT};
    size_t at = 0;

    out[0] = '\0';
    while (t.kind != TG_CEL_TOKEN_END) {
        struct tg_error err = TG_ERROR_INIT;

        if (tg_cel_lexer_next(&lexer, &t, &err) < 0) {
            snprintf(out + at, size - at, "!%s", err.message);
            return;
        }
        if (t.kind == TG_CEL_TOKEN_STRING || t.kind == TG_CEL_TOKEN_BYTES)
            at += (size_t)snprintf(out + at, size - at, "%c<%s> ",
                                   t.kind == TG_CEL_TOKEN_STRING ? 's' : 'b', t.text);
        else if (t.kind == TG_CEL_TOKEN_INT || t.kind == TG_CEL_TOKEN_UINT ||
                 t.kind == TG_CEL_TOKEN_DOUBLE)
            at += (size_t)snprintf(out + at, size - at, "%c%.*s ",
                                   t.kind == TG_CEL_TOKEN_INT    ? 'i'
                                   : t.kind == TG_CEL_TOKEN_UINT ? 'u'
                                                                 : 'd',
                                   (int)t.length, source + t.offset);
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
    {"1 2u 0x1F 0xau 1.5 .5 2e3 1.5e-2 7.x", "i1 u2u i0x1F u0xau d1.5 d.5 d2e3 d1.5e-2 i7 . x "},
    {"1a 0X1 1e 1.e5", "i1 a i0 X1 i1 e i1 . e5 "},
    {"'a' \"b\" '''c'd''' r'\\n' R\"\\\" x", "s<a> s<b> s<c'd> s<\\n> s<\\> x "},
    {"b'a' B\"b\" br'\\x' ''", "b<a> b<b> b<\\x> s<> "},
    {"'\\a\\t\\\\\\'\\\"\\?\\`'", "s<\a\t\\'\"?`> "},
    {"'\\x41\\101\\u00e9\\U0001F600'", "s<AA\xc3\xa9\xf0\x9f\x98\x80> "},
    {"b'\\xff\\377'", "b<\xff\xff> "},
    {"'''a\r\nb\rc'''", "s<a\nb\nc> "},
    {"'\xc3\xa9'", "s<\xc3\xa9> "},
    {"rb in r.b", "rb in r . b "},
    {"`a-b/c`", "`a-b/c` "},
    {"\xc3\xa9", "!1:1: '\xc3\xa9' is no token of CEL"},
    {"'\xc3\xa9' #", "s<\xc3\xa9> !1:5: '#' is no token of CEL"},
    {"'a\nb'", "!1:1: a string that is not closed"},
    {"\n 'a\\'", "!2:2: a string that is not closed"},
    {"'\\x4'", "!1:2: an escape with too few digits"},
    {"'\\U00110000'", "!1:2: an escape that is no Unicode character"},
    {"b'\\u0041'", "!1:3: bytes know no \\u"},
    {"a & b", "a !1:3: '&' is no token of CEL; and is '&&'"},
};

static void tokens_are_those_of_the_language(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[512];

        lex(cases[i].source, out, sizeof(out));
        assert_memory_equal(out, cases[i].tokens, strlen(cases[i].tokens));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_those_of_the_language),
    };

    return cmocka_run_group_tests_name("lexer", tests, NULL, NULL);
}
