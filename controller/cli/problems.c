/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/problems.h"

#include <string.h>

#include "api/runtime/base/str.h"

#define TEXT_MAX 1024

void tg_problems_init(struct tg_problems *problems, struct tg_arena *arena)
{
    *problems = (struct tg_problems){.arena = arena};
}

void tg_problems_done(struct tg_problems *problems)
{
    TG_VEC_DONE(&problems->items);
}

/* What files say is shown on terminals: nothing in it may steer them. */
static void tame(char *text)
{
    for (; *text != '\0'; text++)
        if (((unsigned char)*text < 0x20 && *text != '\n') || *text == 0x7f)
            *text = '?';
}

static void add(struct tg_problems *problems, const char *file, const struct tg_json *at,
                const char *text)
{
    char *copy;

    if (problems->n++ >= TG_PROBLEMS_MAX)
        return;
    copy = tg_arena_strdup(problems->arena, text);
    if (copy != NULL)
        tame(copy);
    *TG_VEC_PUSH(&problems->items) = (struct tg_problem){
        .file = file,
        .line = at == NULL ? 0 : at->line,
        .column = at == NULL ? 0 : at->column,
        .text = copy == NULL ? "something is wrong, and there is no memory to say what" : copy};
}

void tg_problems_add(struct tg_problems *problems, const char *file, const struct tg_json *at,
                     const char *field, const char *format, ...)
{
    char text[TEXT_MAX];
    size_t used = 0;
    va_list args;

    if (field[0] != '\0')
        used = (size_t)snprintf(text, sizeof(text), "%.200s: ", field);
    va_start(args, format);
    vsnprintf(text + used, sizeof(text) - used, format, args);
    va_end(args);
    tg_utf8_sanitize(text, strlen(text));
    add(problems, file, at, text);
}

/* Is the n bytes long key what the path goes on with? Its length, or 0. */
static size_t leads(const char *path, const char *key)
{
    size_t n = strlen(key);

    return n > 0 && strncmp(path, key, n) == 0 && strchr(".[: ", path[n]) != NULL ? n : 0;
}

/* One step down the path; NULL if it leads nowhere. Keys may hold dots: the longest wins. */
static const struct tg_json *step(const struct tg_json *at, const char **path)
{
    const struct tg_json *found = NULL;
    size_t longest = 0, index = 0, digits;

    if (at->kind == TG_JSON_ARRAY && **path == '[') {
        digits = strspn(*path + 1, "0123456789");
        for (size_t i = 0; i < digits && index <= at->n; i++)
            index = index * 10 + (size_t)((*path)[1 + i] - '0');
        if (digits == 0 || (*path)[1 + digits] != ']' || index >= at->n)
            return NULL;
        *path += digits + 2;
        return at->items[index];
    }
    if (**path == '.')
        ++*path;
    for (size_t i = 0; at->kind == TG_JSON_OBJECT && i < at->n; i++) {
        size_t n = leads(*path, at->keys[i]);

        if (n > longest) {
            longest = n;
            found = at->items[i];
        }
    }
    *path += longest;
    return found;
}

void tg_problems_locate(struct tg_problems *problems, const char *file, const struct tg_json *root,
                        const char *prefix, const char *message)
{
    char path[TEXT_MAX];
    const char *rest = path;
    const struct tg_json *at = root;
    bool joined = prefix[0] != '\0' && message[0] != '[';

    snprintf(path, sizeof(path), "%.300s%s%s", prefix, joined ? "." : "", message);
    tg_utf8_sanitize(path, strlen(path));
    for (const struct tg_json *next = root; next != NULL;) {
        at = next;
        next = step(at, &rest);
    }
    add(problems, file, at, path);
}

static int compare(const void *a, const void *b)
{
    const struct tg_problem *x = a, *y = b;
    int r = strcmp(x->file, y->file);

    if (r == 0 && x->line != y->line)
        r = x->line < y->line ? -1 : 1;
    if (r == 0 && x->column != y->column)
        r = x->column < y->column ? -1 : 1;
    return r != 0 ? r : strcmp(x->text, y->text);
}

void tg_problems_print(struct tg_problems *problems, FILE *out)
{
    if (problems->items.n > 0)
        qsort(problems->items.items, problems->items.n, sizeof(*problems->items.items), compare);
    for (size_t i = 0; i < problems->items.n; i++) {
        const struct tg_problem *p = &problems->items.items[i];

        /* Two users of one thing find the same. */
        if (i > 0 && compare(p - 1, p) == 0)
            continue;
        if (p->line > 0)
            fprintf(out, "%s:%d:%d: %s\n", p->file, p->line, p->column, p->text);
        else
            fprintf(out, "%s: %s\n", p->file, p->text);
    }
    if (problems->n > problems->items.n)
        fprintf(out, "... and %zu more\n", problems->n - problems->items.n);
}
