/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nothing here may allocate, so the message is written as it is. */
static _Noreturn void out_of_memory(void)
{
    static const char text[] = "out of memory\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);

    (void)ignored;
    abort();
}

void *tg_xmalloc(size_t size)
{
    void *p = malloc(size == 0 ? 1 : size);

    if (p == NULL)
        out_of_memory();
    return p;
}

void *tg_xcalloc(size_t count, size_t size)
{
    void *p = count == 0 || size == 0 ? calloc(1, 1) : calloc(count, size);

    if (p == NULL)
        out_of_memory();
    return p;
}

void *tg_xrealloc(void *p, size_t size)
{
    void *grown = realloc(p, size == 0 ? 1 : size);

    if (grown == NULL)
        out_of_memory();
    return grown;
}

void *tg_xreallocarray(void *p, size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total))
        out_of_memory();
    return tg_xrealloc(p, total);
}

char *tg_xstrdup(const char *s)
{
    return tg_xstrndup(s, strlen(s));
}

char *tg_xstrndup(const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *copy = tg_xmalloc(len + 1);

    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *tg_xasprintf(const char *format, ...)
{
    va_list args;
    char *text = NULL;
    int n;

    va_start(args, format);
    n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0 || text == NULL)
        out_of_memory();
    return text;
}
