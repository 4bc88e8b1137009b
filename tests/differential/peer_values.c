/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our side of the comparison of values with the Go packages of Kubernetes: answers the questions of
 * tests/peers/values on stdin, in order, on stdout. A question and an answer are lists of strings:
 * their number, then length and bytes of each; numbers have 32 bits, little endian. The first
 * string of a question names a row of the table at the end; the first of an answer is "ok",
 * "invalid" or "out of range".
 */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/objects/core.h"
#include "api/kubernetes/values/labels.h"
#include "api/kubernetes/values/names.h"
#include "api/kubernetes/values/protobuf_splice.h"
#include "api/kubernetes/values/quantity.h"
#include "api/kubernetes/values/rfc3339.h"
#include "api/kubernetes/values/semver.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "controller/core/fit/rule.h"

#define ARENA_BYTES ((size_t)64 << 20)
#define MAX_PARTS 256

struct part {
    char *p; /* with a NUL behind it */
    size_t n;
};

struct question {
    struct part parts[MAX_PARTS];
    size_t n;
    struct tg_arena *arena;
};

struct answer {
    struct tg_buf bytes; /* the parts as they are sent */
    uint32_t n;
};

static const char *text_of(const struct question *q, size_t i)
{
    return i < q->n ? q->parts[i].p : "";
}

static void put_bytes(struct answer *answer, const void *data, size_t n)
{
    uint32_t size = htole32((uint32_t)n);

    tg_buf_append(&answer->bytes, &size, sizeof(size));
    tg_buf_append(&answer->bytes, data, n);
    answer->n++;
}

static void put(struct answer *answer, const char *text)
{
    put_bytes(answer, text, strlen(text));
}

static void put_integer(struct answer *answer, int64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRId64, number);
    put(answer, text);
}

static void put_boolean(struct answer *answer, bool value)
{
    put(answer, value ? "true" : "false");
}

static void put_refusal(struct answer *answer, int rc)
{
    put(answer, rc == -TG_OUT_OF_RANGE ? "out of range" : "invalid");
}

static void put_quantity(struct answer *answer, const struct tg_quantity *quantity)
{
    char text[TG_QUANTITY_TEXT] = "";

    tg_quantity_format(quantity, text, sizeof(text));
    put(answer, text);
    put_integer(answer, (int64_t)quantity->format);
}

static void answer_quantity(const struct question *q, struct answer *answer)
{
    struct tg_quantity quantity;
    int rc = tg_quantity_parse(text_of(q, 1), &quantity, NULL);

    if (rc < 0) {
        put_refusal(answer, rc);
        return;
    }
    put(answer, "ok");
    put_quantity(answer, &quantity);
    put_integer(answer, tg_quantity_value(&quantity));
    put_integer(answer, tg_quantity_milli_value(&quantity));
}

static void put_result(struct answer *answer, int rc, const struct tg_quantity *quantity)
{
    if (rc == 0) {
        put_quantity(answer, quantity);
        return;
    }
    put_refusal(answer, rc);
    put(answer, "");
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static void answer_quantities(const struct question *q, struct answer *answer)
{
    struct tg_quantity a, b, sum, difference;

    if (tg_quantity_parse(text_of(q, 1), &a, NULL) < 0 ||
        tg_quantity_parse(text_of(q, 2), &b, NULL) < 0) {
        put(answer, "invalid");
        return;
    }
    sum = difference = a;
    put(answer, "ok");
    put_integer(answer, sign(tg_quantity_cmp(&a, &b)));
    put_result(answer, tg_quantity_add(&sum, &b, NULL), &sum);
    put_result(answer, tg_quantity_sub(&difference, &b, NULL), &difference);
}

static void put_unsigned(struct answer *answer, uint64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    put(answer, text);
}

static void answer_version(const struct question *q, struct answer *answer)
{
    struct tg_semver version;

    if (tg_semver_parse(text_of(q, 1), &version, NULL) < 0) {
        put(answer, "invalid");
        return;
    }
    put(answer, "ok");
    put_unsigned(answer, version.major);
    put_unsigned(answer, version.minor);
    put_unsigned(answer, version.patch);
    put_bytes(answer, version.pre, version.pre_n);
    put(answer, tg_or(version.build, ""));
}

static void answer_versions(const struct question *q, struct answer *answer)
{
    struct tg_semver a, b;

    if (tg_semver_parse(text_of(q, 1), &a, NULL) < 0 ||
        tg_semver_parse(text_of(q, 2), &b, NULL) < 0) {
        put(answer, "invalid");
        return;
    }
    put(answer, "ok");
    put_integer(answer, sign(tg_semver_compare(&a, &b)));
}

static void answer_time(const struct question *q, struct answer *answer)
{
    int64_t unix_ns = 0;
    int rc = tg_time_parse(text_of(q, 1), &unix_ns, NULL);

    if (rc < 0) {
        put_refusal(answer, rc);
        return;
    }
    put(answer, "ok");
    put_integer(answer, unix_ns);
}

static void answer_write_time(const struct question *q, struct answer *answer)
{
    int64_t seconds = 0, unix_ns = 0;
    char whole[32], micro[32];

    if (tg_parse_i64(text_of(q, 1), strlen(text_of(q, 1)), &seconds) < 0 ||
        tg_parse_i64(text_of(q, 2), strlen(text_of(q, 2)), &unix_ns) < 0) {
        put(answer, "invalid");
        return;
    }
    tg_time_format_seconds(seconds, whole);
    tg_time_format_micro(unix_ns, micro);
    put(answer, "ok");
    put(answer, whole);
    put(answer, micro);
}

static void answer_name(const struct question *q, struct answer *answer)
{
    static const struct {
        const char *name;
        enum tg_name_kind kind;
    } kinds[] = {
        {"label", TG_NAME_LABEL},         {"subdomain", TG_NAME_SUBDOMAIN},
        {"qualified", TG_NAME_QUALIFIED}, {"label value", TG_NAME_LABEL_VALUE},
        {"driver", TG_NAME_DRIVER},       {"pool", TG_NAME_POOL},
    };

    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++) {
        if (strcmp(text_of(q, 1), kinds[i].name) == 0) {
            put(answer, tg_name_is(kinds[i].kind, text_of(q, 2)) ? "ok" : "invalid");
            return;
        }
    }
    put(answer, "unknown kind of name");
}

/* The labels are the parts from `first` on, keys and values in turn. */
struct label_set {
    const struct question *question;
    size_t first;
};

static const char *label(void *data, const char *key)
{
    const struct label_set *set = data;

    for (size_t i = set->first; i + 1 < set->question->n; i += 2) {
        if (strcmp(set->question->parts[i].p, key) == 0)
            return set->question->parts[i + 1].p;
    }
    return NULL;
}

static void answer_selector(const struct question *q, struct answer *answer)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(ARENA_BYTES);
    struct label_set set = {q, 2};
    struct tg_requirement *requirements;
    size_t n;

    if (tg_label_selector_parse(text_of(q, 1), q->arena, &requirements, &n, NULL) < 0) {
        put(answer, "invalid");
        return;
    }
    put(answer, "ok");
    put_boolean(answer, tg_requirements_match(requirements, n, label, &set));
    tg_label_selector_format(requirements, n, &text);
    put(answer, tg_buf_str(&text));
}

/* Operator, key, number of values, the values, then the labels. */
static void answer_requirement(const struct question *q, struct answer *answer)
{
    const char *values[MAX_PARTS];
    struct tg_requirement requirement = {
        .operator= text_of(q, 1), .key = text_of(q, 2), .values = values};
    struct label_set set;
    uint64_t n;

    if (tg_parse_u64(text_of(q, 3), strlen(text_of(q, 3)), &n) < 0 || n + 4 > q->n) {
        put(answer, "bad question");
        return;
    }
    for (size_t i = 0; i < n; i++)
        values[i] = q->parts[4 + i].p;
    requirement.n_values = n;
    set = (struct label_set){q, 4 + n};
    if (tg_requirement_check(&requirement, NULL) < 0) {
        put(answer, "invalid");
        return;
    }
    put(answer, "ok");
    put_boolean(answer, tg_requirement_matches(&requirement, label, &set));
}

/* The pod, then the node, in JSON. */
static int read_pod_and_node(const struct question *q, struct tg_pod **pod, struct tg_node **node)
{
    int rc = tg_json_decode_new(&tg_pod_type, q->parts[1].p, q->parts[1].n, q->arena, (void **)pod,
                                NULL);

    return rc < 0 ? rc
                  : tg_json_decode_new(&tg_node_type, q->parts[2].p, q->parts[2].n, q->arena,
                                       (void **)node, NULL);
}

typedef bool (*fit_rule)(const struct tg_fleet_node *node, const struct tg_fit_guest *guest);

static void answer_fit(const struct question *q, const fit_rule *rules, size_t n,
                       struct answer *answer)
{
    struct tg_fleet_node row = {0};
    struct tg_node *node;
    struct tg_pod *pod;
    bool passes = true;

    if (q->n < 3 || read_pod_and_node(q, &pod, &node) < 0) {
        put(answer, "invalid");
        return;
    }
    row.object = node;
    row.name = node->metadata->name;
    for (size_t i = 0; i < n; i++)
        passes = passes && rules[i](&row, &(struct tg_fit_guest){.pod = pod});
    put(answer, "ok");
    put_boolean(answer, passes);
}

static void answer_node_selector(const struct question *q, struct answer *answer)
{
    static const fit_rule rules[] = {tg_fit_node_selector, tg_fit_node_affinity};

    answer_fit(q, rules, TG_ARRAY_SIZE(rules), answer);
}

static void answer_taints(const struct question *q, struct answer *answer)
{
    static const fit_rule rules[] = {tg_fit_taints};

    answer_fit(q, rules, TG_ARRAY_SIZE(rules), answer);
}

static bool read_edit(const struct question *q, size_t i, struct tg_metadata_edit *ret)
{
    static const struct {
        const char *name;
        enum tg_metadata_edit_kind kind;
    } edits[] = {
        {"add finalizer", TG_METADATA_ADD_FINALIZER},
        {"remove finalizer", TG_METADATA_REMOVE_FINALIZER},
        {"set annotation", TG_METADATA_SET_ANNOTATION},
        {"remove annotation", TG_METADATA_REMOVE_ANNOTATION},
    };

    for (size_t e = 0; e < TG_ARRAY_SIZE(edits); e++) {
        if (strcmp(text_of(q, i), edits[e].name) == 0) {
            *ret = (struct tg_metadata_edit){edits[e].kind, text_of(q, i + 1), text_of(q, i + 2)};
            return true;
        }
    }
    return false;
}

/* The object, then for each edit its name, key and value. */
static void answer_splice(const struct question *q, struct answer *answer)
{
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(ARENA_BYTES);
    struct tg_metadata_edit edits[MAX_PARTS / 3];
    size_t n = 0;

    for (size_t i = 2; i + 2 < q->n; i += 3) {
        if (!read_edit(q, i, &edits[n++])) {
            put(answer, "bad question");
            return;
        }
    }
    if (q->n < 2 || tg_protobuf_splice_metadata((const uint8_t *)q->parts[1].p, q->parts[1].n,
                                                edits, n, &out, NULL) < 0) {
        put(answer, "invalid");
        return;
    }
    put(answer, "ok");
    put_bytes(answer, tg_buf_str(&out), out.len);
}

static const struct row {
    const char *name;
    void (*answer)(const struct question *question, struct answer *answer);
} rows[] = {
    {"quantity", answer_quantity},
    {"quantities", answer_quantities},
    {"version", answer_version},
    {"versions", answer_versions},
    {"time", answer_time},
    {"write time", answer_write_time},
    {"name", answer_name},
    {"selector", answer_selector},
    {"requirement", answer_requirement},
    {"node selector", answer_node_selector},
    {"taints", answer_taints},
    {"splice", answer_splice},
};

static const struct row *find_row(const char *name)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(rows); i++) {
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    }
    return NULL;
}

static bool read_number(uint32_t *ret)
{
    if (fread(ret, sizeof(*ret), 1, stdin) != 1)
        return false;
    *ret = le32toh(*ret);
    return true;
}

/* 1, 0 at the end of the input, negative on a bad question. */
static int read_question(struct question *q, struct tg_error *err)
{
    uint32_t n;

    if (!read_number(&n))
        return 0;
    if (n == 0 || n > MAX_PARTS)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "a question of %u parts", n);
    q->n = n;
    for (size_t i = 0; i < n; i++) {
        uint32_t size;

        if (!read_number(&size))
            return tg_error_set(err, TG_INVALID_ARGUMENT, "a question that is cut short");
        q->parts[i].n = size;
        q->parts[i].p = tg_arena_alloc(q->arena, (size_t)size + 1);
        if (q->parts[i].p == NULL)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "a part of %u bytes", size);
        if (fread(q->parts[i].p, 1, size, stdin) != size)
            return tg_error_set(err, TG_INVALID_ARGUMENT, "a question that is cut short");
    }
    return 1;
}

static int write_answer(const struct answer *answer, struct tg_error *err)
{
    uint32_t n = htole32(answer->n);

    if (answer->bytes.failed)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the answer is too large");
    if (fwrite(&n, sizeof(n), 1, stdout) != 1 ||
        fwrite(answer->bytes.data, 1, answer->bytes.len, stdout) != answer->bytes.len ||
        fflush(stdout) != 0)
        return tg_error_set(err, TG_UNAVAILABLE, "the answer cannot be written");
    return 0;
}

static int answer_next(struct question *q, struct answer *answer, struct tg_error *err)
{
    const struct row *row;
    int rc;

    tg_arena_reset(q->arena);
    tg_buf_clear(&answer->bytes);
    answer->n = 0;
    rc = read_question(q, err);
    if (rc <= 0)
        return rc;
    row = find_row(q->parts[0].p);
    if (row == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "an unknown question, %.40s", q->parts[0].p);
    row->answer(q, answer);
    rc = write_answer(answer, err);
    return rc < 0 ? rc : 1;
}

int main(int argc, char **argv)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(ARENA_BYTES);
    struct answer answer = {.bytes = TG_BUF_INIT(ARENA_BYTES)};
    static struct question question;
    struct tg_error err = TG_ERROR_INIT;
    int rc;

    if (argc != 1) {
        fprintf(stderr, "usage: %s < questions\n", argv[0]);
        return 2;
    }
    question.arena = arena;
    do
        rc = answer_next(&question, &answer, &err);
    while (rc > 0);
    tg_buf_done(&answer.bytes);
    if (rc < 0)
        fprintf(stderr, "%s: %s\n", argv[0], err.message);
    return rc < 0;
}
