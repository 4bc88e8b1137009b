/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/arrivals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/map.h"
#include "api/runtime/base/str.h"
#include "api/tangram/plan.h"
#include "api/tangram/syntax.h"

#define FILE_MAX ((size_t)32 << 20)
#define FIELD_MAX 255
#define NAME_BYTES 40 /* pods and claims are named after it */
#define TIME_MAX 1e9  /* seconds */
#define GPUS_MAX 32   /* a claim has no more */

enum column {
    COLUMN_AT,
    COLUMN_NAME,
    COLUMN_MEMBERS,
    COLUMN_GPUS,
    COLUMN_PROFILE,
    COLUMN_DURATION,
    COLUMN_PRIORITY,
    COLUMN_PACK,
    COLUMNS,
};

static const struct {
    const char *name;
    bool required;
} columns[COLUMNS] = {
    [COLUMN_AT] = {"at_s", true},
    [COLUMN_NAME] = {"name", true},
    [COLUMN_MEMBERS] = {"members", false},
    [COLUMN_GPUS] = {"gpus_per_member", true},
    [COLUMN_PROFILE] = {"profile", false},
    [COLUMN_DURATION] = {"duration_s", false},
    [COLUMN_PRIORITY] = {"priority", false},
    [COLUMN_PACK] = {"pack_required", false},
};

struct reading {
    struct tg_arrivals *out;
    struct tg_problems *problems;
    const char *file;
    const char *rest, *end;
    int line;
    struct tg_json at;         /* the place of the field */
    size_t column_at[COLUMNS]; /* index of the field + 1; 0: not there */
    size_t n_fields;
    struct tg_map *names;
    int64_t members; /* of all rows */
    char fields[COLUMNS][FIELD_MAX + 1];
    int places[COLUMNS]; /* the columns where they begin, as editors count */
};

static void problem(struct reading *r, int column, const char *field, const char *text)
{
    r->at = (struct tg_json){.line = r->line, .column = column};
    tg_problems_add(r->problems, r->file, &r->at, field, "%s", text);
}

/* --- lines ----------------------------------------------------------------------------------- */

/* The next line without its end; false at the end of the file. */
static bool next_line(struct reading *r, const char **ret, size_t *ret_n)
{
    const char *end;

    if (r->rest >= r->end)
        return false;
    end = memchr(r->rest, '\n', (size_t)(r->end - r->rest));
    *ret = r->rest;
    *ret_n = (size_t)((end == NULL ? r->end : end) - r->rest);
    r->rest = end == NULL ? r->end : end + 1;
    r->line++;
    if (*ret_n > 0 && (*ret)[*ret_n - 1] == '\r')
        --*ret_n;
    return true;
}

/* Splits at commas; quotes are not needed, so they are refused. Returns how many there are, at most
 * COLUMNS + 1. */
static size_t split(struct reading *r, const char *line, size_t n,
                    bool (*take)(struct reading *r, size_t index, const char *text, size_t len,
                                 int column))
{
    size_t index = 0, start = 0;

    for (size_t i = 0; i <= n; i++) {
        if (i < n && line[i] != ',')
            continue;
        while (start < i && line[start] == ' ')
            start++;
        if (!take(r, index++, line + start, i - start, (int)start + 1) || index > COLUMNS)
            return index;
        start = i + 1;
    }
    return index;
}

static bool take_header(struct reading *r, size_t index, const char *text, size_t len, int column)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        if (strlen(columns[i].name) != len || strncmp(columns[i].name, text, len) != 0)
            continue;
        if (r->column_at[i] != 0)
            problem(r, column, columns[i].name, "this column is there twice");
        r->column_at[i] = index + 1;
        return true;
    }
    problem(r, column, "",
            "unknown column; known are at_s, name, members, gpus_per_member, profile, duration_s, "
            "priority, pack_required");
    return false;
}

static bool take_field(struct reading *r, size_t index, const char *text, size_t len, int column)
{
    if (index >= r->n_fields) {
        problem(r, column, "", "there are more fields than the header has columns");
        return false;
    }
    if (len > FIELD_MAX || memchr(text, '\0', len) != NULL || memchr(text, '"', len) != NULL) {
        problem(r, column, "", "the field is too long, or has a quote or NUL in it");
        return false;
    }
    memcpy(r->fields[index], text, len);
    r->fields[index][len] = '\0';
    r->places[index] = column;
    return true;
}

/* --- fields ---------------------------------------------------------------------------------- */

/* NULL: not given. */
static const char *field(const struct reading *r, enum column column)
{
    size_t at = r->column_at[column];

    return at == 0 ? NULL : tg_or(r->fields[at - 1], NULL);
}

static void wrong(struct reading *r, enum column column, const char *text)
{
    size_t at = r->column_at[column];

    problem(r, at == 0 ? 1 : r->places[at - 1], columns[column].name, text);
}

static double seconds(struct reading *r, enum column column)
{
    const char *text = field(r, column);
    char *end = NULL;
    double value = text == NULL ? 0 : strtod(text, &end);

    if (text == NULL && columns[column].required)
        wrong(r, column, "is missing");
    if (text == NULL || (*end == '\0' && isfinite(value) && value >= 0 && value <= TIME_MAX))
        return value;
    wrong(r, column, "expected seconds, such as 30 or 0.5");
    return 0;
}

static int64_t number(struct reading *r, enum column column, int64_t min, int64_t max,
                      int64_t fallback)
{
    const char *text = field(r, column);
    int64_t value = fallback;
    char what[96];

    if (text == NULL && !columns[column].required)
        return fallback;
    if (text != NULL && tg_parse_i64(text, strlen(text), &value) == 0 && value >= min &&
        value <= max)
        return value;
    snprintf(what, sizeof(what), "expected a whole number from %" PRId64 " to %" PRId64, min, max);
    wrong(r, column, what);
    return fallback;
}

static const char *keep(struct reading *r, enum column column)
{
    const char *text = field(r, column);

    return text == NULL ? NULL : tg_arena_strdup(r->problems->arena, text);
}

static void check_names(struct reading *r, const struct tg_arrival *a)
{
    if (a->name == NULL || !tg_syntax_is_dns_label(a->name) || strlen(a->name) > NAME_BYTES)
        wrong(r, COLUMN_NAME, "expected at most 40 lower-case letters, digits and '-'");
    else if (tg_map_has(r->names, a->name))
        wrong(r, COLUMN_NAME, "there are two rows of this name");
    else
        tg_map_set(r->names, a->name, r);
    if (a->profile != NULL &&
        strspn(a->profile, "0123456789abcdefghijklmnopqrstuvwxyz.+-") != strlen(a->profile))
        wrong(r, COLUMN_PROFILE, "expected a MIG profile such as 3g.40gb");
    if (a->pack_required != NULL && !tg_syntax_is_label_key(a->pack_required))
        wrong(r, COLUMN_PACK, "expected the name of a level");
}

static void take_row(struct reading *r)
{
    struct tg_arrival a = {.at = seconds(r, COLUMN_AT),
                           .duration = seconds(r, COLUMN_DURATION),
                           .name = keep(r, COLUMN_NAME),
                           .members = number(r, COLUMN_MEMBERS, 1, TG_GANG_MAX_MEMBERS, 1),
                           .gpus = number(r, COLUMN_GPUS, 1, GPUS_MAX, 1),
                           .priority = number(r, COLUMN_PRIORITY, INT32_MIN, INT32_MAX, 0),
                           .profile = keep(r, COLUMN_PROFILE),
                           .pack_required = keep(r, COLUMN_PACK)};

    check_names(r, &a);
    r->members += a.members;
    if (r->members > TG_ARRIVALS_MEMBERS_MAX && r->members - a.members <= TG_ARRIVALS_MEMBERS_MAX)
        problem(r, 1, "",
                "up to here there are more than 2000000 members: play fewer rows at a time");
    *TG_VEC_PUSH(&r->out->items) = a;
}

/* --- the file -------------------------------------------------------------------------------- */

static bool read_header(struct reading *r)
{
    const char *line;
    size_t n, before = r->problems->n;

    do {
        if (!next_line(r, &line, &n)) {
            problem(r, 1, "", "the file has no header: at_s,name,members,gpus_per_member,...");
            return false;
        }
    } while (n == 0 || line[0] == '#');
    r->n_fields = split(r, line, n, take_header);
    for (size_t i = 0; i < COLUMNS && r->problems->n == before; i++)
        if (columns[i].required && r->column_at[i] == 0)
            problem(r, 1, columns[i].name, "this column is missing");
    return r->problems->n == before;
}

static int compare(const void *a, const void *b)
{
    const struct tg_arrival *x = a, *y = b;

    if (x->at < y->at || x->at > y->at)
        return x->at < y->at ? -1 : 1;
    return strcmp(tg_or(x->name, ""), tg_or(y->name, ""));
}

void tg_arrivals_parse(struct tg_arrivals *arrivals, const char *file, const char *data, size_t n,
                       struct tg_problems *problems)
{
    TG_AUTOMAP struct tg_map *names = tg_map_new(NULL);
    struct reading r = {.out = arrivals,
                        .problems = problems,
                        .file = file,
                        .rest = data,
                        .end = data + n,
                        .names = names};
    const char *line;
    size_t len;

    if (!read_header(&r))
        return;
    while (next_line(&r, &line, &len) && problems->n < TG_PROBLEMS_MAX) {
        size_t before = problems->n;

        if (len == 0 || line[0] == '#')
            continue;
        if (arrivals->items.n == TG_ARRIVALS_MAX) {
            problem(&r, 1, "", "there are more than 100000 rows");
            return;
        }
        memset(r.fields, 0, sizeof(r.fields));
        split(&r, line, len, take_field);
        if (problems->n == before)
            take_row(&r);
    }
    if (arrivals->items.n > 0)
        qsort(arrivals->items.items, arrivals->items.n, sizeof(*arrivals->items.items), compare);
}

void tg_arrivals_read(struct tg_arrivals *arrivals, const char *file, struct tg_problems *problems)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(FILE_MAX);
    struct tg_error err = TG_ERROR_INIT;

    if (tg_file_read(file, &buf, &err) < 0)
        tg_problems_add(problems, file, NULL, "", "%s", err.message);
    else
        tg_arrivals_parse(arrivals, file, tg_buf_str(&buf), buf.len, problems);
}

void tg_arrivals_done(struct tg_arrivals *arrivals)
{
    TG_VEC_DONE(&arrivals->items);
}
