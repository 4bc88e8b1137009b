/* SPDX-License-Identifier: Apache-2.0 */
/* cases_allocator [--version NAME] [--steps N] (--stdin | PATH...): see README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "tests/cases/alloc_compare.h"
#include "tests/cases/case_files.h"

#define ANSWER_MAX_BYTES ((size_t)64 * 1024 * 1024)

struct options {
    const struct alloc_version *version; /* NULL: by the name of the file */
    size_t max_steps;
    bool from_stdin;
    size_t passed, failed;
};

static void on_case(void *data, const char *path, const struct tg_json *root,
                    const struct tg_json *json)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct options *o = data;
    const char *format = tg_json_string(tg_json_get(root, "format"));
    const struct alloc_version *version =
        o->version != NULL ? o->version : alloc_version_of_path(path);
    const char *expected = "a case of dra-alloc-case/1", *got = tg_or(format, "no format");
    struct tg_error err = TG_ERROR_INIT;
    struct alloc_answer answer;
    struct alloc_case c = {.name = "?"};
    bool passed = false;

    if (tg_streq(format, "dra-alloc-case/1")) {
        if (alloc_case_read(json, version, arena, &c, &err) < 0 ||
            alloc_case_run(&c, o->max_steps, &answer, &err) < 0)
            got = err.message;
        else
            passed = alloc_compare(&c, &answer, &expected, &got);
    }
    if (passed) {
        o->passed++;
        return;
    }
    o->failed++;
    printf("%s: %s\n    expected: %s\n    got: %s\n", version->name, c.name, expected, got);
}

/* One line, one answer. -1: it is no case. */
static int answer_line(const struct options *o, const char *line, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(ANSWER_MAX_BYTES);
    const struct alloc_version *version =
        o->version != NULL ? o->version : alloc_version_named("head");
    struct tg_error err = TG_ERROR_INIT;
    struct tg_json *json = NULL;
    struct alloc_answer answer;
    struct alloc_case c;

    if (tg_json_parse(line, n, arena, &json, &err) < 0 ||
        alloc_case_read(json, version, arena, &c, &err) < 0 ||
        alloc_case_run(&c, o->max_steps, &answer, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return -1;
    }
    if (alloc_write(&c, &answer, &out) < 0)
        return -1;
    printf("%s\n", out.data);
    fflush(stdout);
    return 0;
}

static int answer_stdin(const struct options *o)
{
    TG_AUTOFREE char *line = NULL;
    size_t capacity = 0;
    ssize_t n;

    while ((n = getline(&line, &capacity, stdin)) > 0) {
        if (line[n - 1] == '\n')
            n--;
        if (n > 0 && answer_line(o, line, (size_t)n) < 0)
            return 2;
    }
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: cases_allocator [--version head|0.37.2|0.36.2|0.35.6|0.34] [--steps N] "
                    "(--stdin | PATH...)\n");
    return 2;
}

/* The index of the first argument that is no option, or -1. */
static int read_options(int argc, char **argv, struct options *o)
{
    int i = 1;

    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--stdin") == 0) {
            o->from_stdin = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--version") == 0) {
            o->version = alloc_version_named(argv[++i]);
            if (o->version == NULL)
                return -1;
        } else if (i + 1 < argc && strcmp(argv[i], "--steps") == 0) {
            o->max_steps = strtoul(argv[++i], NULL, 10);
        } else {
            return -1;
        }
    }
    return i;
}

int main(int argc, char **argv)
{
    struct options o = {.version = NULL};
    const struct case_files files = {.on_case = on_case, .data = &o};
    int i = read_options(argc, argv, &o), rc = 0;

    if (i < 0 || (i == argc) != o.from_stdin)
        return usage();
    if (o.from_stdin)
        return answer_stdin(&o);
    for (; i < argc && rc == 0; i++)
        rc = case_files_run(&files, argv[i]);
    printf("%zu passed, %zu failed\n", o.passed, o.failed);
    return rc != 0 ? rc : o.failed > 0 ? 1 : 0;
}
