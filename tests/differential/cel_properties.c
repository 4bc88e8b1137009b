/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds for every selector, on generated ones (tests/differential/properties writes the
 * requests of tests/peers/cel to stdin): printed and parsed again it is the same tree; the order in
 * which a map literal is written is no part of what it means; nor is it, whether constants are made
 * when it is compiled or when it is evaluated. Ends with the line `N passed, N failed`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "controller/core/cel/device.h"
#include "controller/core/cel/parser.h"
#include "controller/core/cel/program.h"
#include "controller/core/cel/text.h"
#include "tests/differential/typed_value.h"
#include "tests/differential/unparse.h"

#define ARENA_BYTES ((size_t)256 << 20)
#define TEXT_BYTES ((size_t)1 << 20)
/* Hidden constants cost more than bare ones; whoever gets near it is left out. */
#define COST_LIMIT UINT64_C(3000000)
/* Parentheses count for the depth that the parser allows. */
#define MOST_HEIGHT 40

struct request {
    const char *id, *expression, *device;
};
static const struct tg_field request_fields[] = {
    TG_FIELD_RAWJSON(struct request, id, "id"),
    TG_FIELD_STR(struct request, expression, "expression"),
    TG_FIELD_RAWJSON(struct request, device, "device"),
};
static const struct tg_type request_type = TG_TYPE(struct request, request_fields);

struct driver {
    const char *driver;
};
static const struct tg_field driver_fields[] = {TG_FIELD_STR(struct driver, driver, "driver")};
static const struct tg_type driver_type = TG_TYPE(struct driver, driver_fields);

enum property { PRINTED, TURNED, HIDDEN, PROPERTIES };
static const char *const names[PROPERTIES] = {"parse, print, parse", "order of map literals",
                                              "constants made later"};

struct subject {
    struct request request;
    const char *driver;
    struct tg_device device;
    struct tg_arena *arena;
};

struct tally {
    size_t passed[PROPERTIES], failed[PROPERTIES], left_out[PROPERTIES];
};

static const struct tg_cel_environment newest = {.profile = TG_CEL_DRA,
                                                 .minor = TG_CEL_NEWEST_MINOR,
                                                 .consumable_capacity = true,
                                                 .list_type_attributes = true,
                                                 .any_result = true};

static void fail(struct tally *t, enum property property, const struct subject *s, const char *text,
                 const char *why)
{
    t->failed[property]++;
    printf("%s %s: %s\n    %s\n    %s\n", s->request.id, names[property], why,
           s->request.expression, text);
}

static struct tg_cel_node *parse(const struct subject *s, const char *text)
{
    struct tg_cel_source *source = tg_arena_alloc(s->arena, sizeof(*source));
    struct tg_cel_node *root = NULL;
    struct tg_error err = TG_ERROR_INIT;

    if (source == NULL || !tg_cel_text_valid(text, strlen(text)))
        return NULL;
    *source = (struct tg_cel_source){.text = tg_arena_strdup(s->arena, text), .n = strlen(text)};
    return tg_cel_parse(source, &newest, s->arena, &root, &err) < 0 ? NULL : root;
}

/* What came of an evaluation: nothing (it does not compile, or costs too much), an error, a value.
 */
enum end { NOTHING, AN_ERROR, A_VALUE };

static enum end evaluate(const struct subject *s, const char *text, struct tg_cel_value *ret,
                         struct tg_error *err)
{
    struct tg_cel_program *program = NULL;
    /* Values can be views of it, so that it lives as long as they do. */
    struct tg_cel_device *device = tg_arena_alloc(s->arena, sizeof(*device));
    struct tg_cel_input input = {.device = device, .cost_limit = COST_LIMIT};
    struct tg_cel_scratch scratch;
    uint64_t cost = 0;
    int rc = tg_cel_compile(text, strlen(text), &newest, s->arena, &program, err);

    if (rc < 0 || device == NULL)
        return NOTHING;
    tg_cel_scratch_on(&scratch, s->arena);
    rc = tg_cel_device_init(device, tg_cel_program_reads(program), &scratch, s->driver, &s->device,
                            TG_CEL_DEVICE_LISTS, err);
    if (rc == 0)
        rc = tg_cel_evaluate(program, &input, &scratch, ret, &cost, err);
    if (cost > COST_LIMIT / 2)
        return NOTHING;
    return rc < 0 ? AN_ERROR : A_VALUE;
}

static bool same_value(struct tg_cel_scratch *scratch, const struct tg_cel_value *a,
                       const struct tg_cel_value *b);

static bool same_text(struct tg_cel_scratch *scratch, const struct tg_cel_value *a,
                      const struct tg_cel_value *b)
{
    TG_AUTOBUF struct tg_buf left = TG_BUF_INIT(TEXT_BYTES), right = TG_BUF_INIT(TEXT_BYTES);

    typed_value_write(a, scratch, &left);
    typed_value_write(b, scratch, &right);
    return !left.failed && !right.failed && tg_streq(tg_buf_str(&left), tg_buf_str(&right));
}

static bool same_map(struct tg_cel_scratch *scratch, const struct tg_cel_map *a,
                     const struct tg_cel_map *b)
{
    struct tg_cel_value *keys, *values;
    size_t n;

    if (!tg_cel_map_entries(scratch, a, &keys, &values, &n) || tg_cel_map_count(b) != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct tg_cel_value storage;
        bool present = false, no_memory = false;
        const struct tg_cel_value *other =
            tg_cel_map_find(scratch, b, &keys[i], &storage, &present, &no_memory);

        if (other == NULL || !present || !same_value(scratch, &values[i], other))
            return false;
    }
    return true;
}

/* NaN is itself here, and the order of a map plays no part. */
static bool same_value(struct tg_cel_scratch *scratch, const struct tg_cel_value *a,
                       const struct tg_cel_value *b)
{
    if (a->tag != b->tag)
        return false;
    if (a->tag == TG_CEL_V_MAP)
        return same_map(scratch, a->map, b->map);
    if (a->tag == TG_CEL_V_OPTIONAL && a->inner != NULL && b->inner != NULL)
        return same_value(scratch, a->inner, b->inner);
    if (a->tag != TG_CEL_V_LIST)
        return tg_cel_equal(a, b) == TG_CEL_EQUAL || same_text(scratch, a, b);
    for (size_t i = 0; i < a->list->n && a->list->n == b->list->n; i++) {
        if (!same_value(scratch, &a->list->items[i], &b->list->items[i]))
            return false;
    }
    return a->list->n == b->list->n;
}

static void check_printed(struct tally *t, const struct subject *s, const struct tg_cel_node *root)
{
    static const struct unparse_options plain = {.turn_maps = false};
    TG_AUTOBUF struct tg_buf first = TG_BUF_INIT(TEXT_BYTES), second = TG_BUF_INIT(TEXT_BYTES);
    const struct tg_cel_node *again;

    if (!unparse(root, &plain, &first)) {
        t->left_out[PRINTED]++;
        return;
    }
    again = parse(s, tg_buf_str(&first));
    if (again == NULL || !unparse_same(root, again))
        fail(t, PRINTED, s, tg_buf_str(&first),
             again == NULL ? "it cannot be parsed again" : "another tree");
    else if (!unparse(again, &plain, &second) || !tg_streq(tg_buf_str(&first), tg_buf_str(&second)))
        fail(t, PRINTED, s, tg_buf_str(&first), "it is printed in another way");
    else
        t->passed[PRINTED]++;
}

static void check_same_result(struct tally *t, const struct subject *s,
                              const struct tg_cel_node *root, enum property property)
{
    const struct unparse_options options = {.turn_maps = property == TURNED,
                                            .hide_constants = property == HIDDEN};
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(TEXT_BYTES);
    struct tg_error ignored = TG_ERROR_INIT, err = TG_ERROR_INIT;
    struct tg_cel_value before = TG_CEL_NULL_VALUE, after = TG_CEL_NULL_VALUE;
    struct tg_cel_scratch scratch;
    enum end first = evaluate(s, s->request.expression, &before, &ignored), second;

    if (first == NOTHING || !unparse(root, &options, &text) || text.len > TG_CEL_MAX_BYTES) {
        t->left_out[property]++;
        return;
    }
    tg_cel_scratch_on(&scratch, s->arena);
    second = evaluate(s, tg_buf_str(&text), &after, &err);
    if (second == NOTHING && property == HIDDEN)
        t->left_out[property]++; /* too deep or too costly by what hides them */
    else if (first != second)
        fail(t, property, s, tg_buf_str(&text),
             err.code != TG_OK ? err.message : "an error no longer");
    else if (first == A_VALUE && !same_value(&scratch, &before, &after))
        fail(t, property, s, tg_buf_str(&text), "another value");
    else
        t->passed[property]++;
}

static int check(struct tally *t, const char *line, size_t n, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(ARENA_BYTES);
    struct subject s = {.arena = arena};
    struct driver driver = {0};
    const struct tg_cel_node *root;
    int rc = tg_json_decode(&request_type, line, n, &s.request, arena, err);

    if (rc < 0)
        return rc;
    if (s.request.id == NULL || s.request.expression == NULL || s.request.device == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "id, expression and device are wanted");
    n = strlen(s.request.device);
    rc = tg_json_decode(&driver_type, s.request.device, n, &driver, arena, err);
    if (rc == 0)
        rc = tg_json_decode(&tg_device_type, s.request.device, n, &s.device, arena, err);
    if (rc < 0)
        return rc;
    s.driver = tg_or(driver.driver, "");
    root = parse(&s, s.request.expression);
    if (root == NULL || unparse_height(root) > MOST_HEIGHT) {
        for (size_t i = 0; i < PROPERTIES; i++)
            t->left_out[i]++;
        return 0;
    }
    check_printed(t, &s, root);
    check_same_result(t, &s, root, TURNED);
    check_same_result(t, &s, root, HIDDEN);
    return 0;
}

int main(void)
{
    struct tg_error err = TG_ERROR_INIT;
    struct tally t = {{0}, {0}, {0}};
    size_t capacity = 0, passed = 0, failed = 0;
    char *line = NULL;
    ssize_t n;
    int rc = 0;

    while (rc == 0 && (n = getline(&line, &capacity, stdin)) > 0)
        rc = check(&t, line, (size_t)n, &err);
    free(line);
    for (size_t i = 0; i < PROPERTIES; i++) {
        printf("%s: %zu hold, %zu do not, %zu left out (what does not compile, costs or nests too "
               "much)\n",
               names[i], t.passed[i], t.failed[i], t.left_out[i]);
        passed += t.passed[i];
        failed += t.failed[i];
    }
    if (rc < 0)
        fprintf(stderr, "cel_properties: %s\n", err.message);
    printf("%zu passed, %zu failed\n", passed, failed);
    return rc < 0 || failed > 0 || passed == 0;
}
