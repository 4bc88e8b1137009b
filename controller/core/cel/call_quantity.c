/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities and semantic versions: pkg/cel/library/quantity.go and semverlib.go of the API server.
 */
#include <string.h>

#include "controller/core/cel/calls.h"
#include "controller/core/cel/quantity.h"

static int give_quantity(struct tg_cel_run *run, const struct tg_cel_node *call,
                         const struct tg_cel_quantity *q, bool computed, struct tg_cel_value *ret)
{
    struct tg_cel_quantity *copy = tg_cel_alloc(run->scratch, sizeof(*copy));

    if (copy == NULL)
        return tg_cel_fail_memory(run, call);
    *copy = *q;
    *ret = (struct tg_cel_value){.tag = TG_CEL_V_QUANTITY, .computed = computed, .quantity = copy};
    return 0;
}

static int fail(struct tg_cel_run *run, const struct tg_cel_node *call, enum tg_cel_quantity_rc rc)
{
    if (rc == TG_CEL_QUANTITY_MEMORY)
        return tg_cel_fail_memory(run, call);
    return tg_cel_fail(run, call, "quantity out of range");
}

int tg_cel_call_quantity(struct tg_cel_run *run, const struct tg_cel_node *call,
                         const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_quantity q;
    enum tg_cel_quantity_rc rc =
        tg_cel_quantity_parse(run->scratch, args[0].text, args[0].length, &q);

    if (rc == TG_CEL_QUANTITY_BAD)
        return tg_cel_fail_value(run, call, "not a quantity: ", &args[0]);
    return rc == TG_CEL_QUANTITY_OK ? give_quantity(run, call, &q, false, ret)
                                    : fail(run, call, rc);
}

int tg_cel_call_is_quantity(struct tg_cel_run *run, const struct tg_cel_node *call,
                            const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_quantity q;
    enum tg_cel_quantity_rc rc =
        tg_cel_quantity_parse(run->scratch, args[0].text, args[0].length, &q);

    *ret = tg_cel_bool(rc != TG_CEL_QUANTITY_BAD);
    return rc == TG_CEL_QUANTITY_MEMORY ? fail(run, call, rc) : 0;
}

int tg_cel_call_quantity_sign(struct tg_cel_run *run, const struct tg_cel_node *call,
                              const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_int(tg_cel_quantity_sign(args[0].quantity));
    return 0;
}

int tg_cel_call_quantity_integer(struct tg_cel_run *run, const struct tg_cel_node *call,
                                 const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int64_t value = 0;

    if (!tg_cel_quantity_integer(args[0].quantity, &value))
        return tg_cel_fail(run, call, "cannot convert value to integer");
    *ret = tg_cel_int(value);
    return 0;
}

int tg_cel_call_quantity_is_integer(struct tg_cel_run *run, const struct tg_cel_node *call,
                                    const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int64_t value = 0;

    (void)run;
    (void)call;
    *ret = tg_cel_bool(tg_cel_quantity_integer(args[0].quantity, &value));
    return 0;
}

int tg_cel_call_quantity_float(struct tg_cel_run *run, const struct tg_cel_node *call,
                               const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_double(tg_cel_quantity_double(args[0].quantity));
    return 0;
}

static int combine(struct tg_cel_run *run, const struct tg_cel_node *call,
                   const struct tg_cel_value *args, bool subtract, struct tg_cel_value *ret)
{
    struct tg_cel_quantity number = {.value = args[1].integer}, sum;
    const struct tg_cel_quantity *other = args[1].tag == TG_CEL_V_INT ? &number : args[1].quantity;
    enum tg_cel_quantity_rc rc = tg_cel_quantity_add(run->scratch, args[0].quantity, other,
                                                     subtract, run->minor <= 36, &sum);

    return rc == TG_CEL_QUANTITY_OK ? give_quantity(run, call, &sum, true, ret)
                                    : fail(run, call, rc);
}

int tg_cel_call_quantity_add(struct tg_cel_run *run, const struct tg_cel_node *call,
                             const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    return combine(run, call, args, false, ret);
}

int tg_cel_call_quantity_sub(struct tg_cel_run *run, const struct tg_cel_node *call,
                             const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    return combine(run, call, args, true, ret);
}

/* -1, 0, 1 of two quantities or two versions; -2: out of memory. */
static int order(struct tg_cel_run *run, const struct tg_cel_node *call,
                 const struct tg_cel_value *args)
{
    int rc;

    if (args[0].tag == TG_CEL_V_QUANTITY) {
        if (!tg_cel_quantity_settle(run->scratch, args[0].quantity, args[1].quantity))
            return tg_cel_fail_memory(run, call) - 1;
        return tg_cel_quantity_cmp(args[0].quantity, args[1].quantity);
    }
    rc = tg_semver_compare(args[0].semver, args[1].semver);
    return (rc > 0) - (rc < 0);
}

int tg_cel_call_compare_to(struct tg_cel_run *run, const struct tg_cel_node *call,
                           const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int rc = order(run, call, args);

    *ret = tg_cel_int(rc);
    return rc < -1 ? -1 : 0;
}

int tg_cel_call_is_greater_than(struct tg_cel_run *run, const struct tg_cel_node *call,
                                const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int rc = order(run, call, args);

    *ret = tg_cel_bool(rc > 0);
    return rc < -1 ? -1 : 0;
}

int tg_cel_call_is_less_than(struct tg_cel_run *run, const struct tg_cel_node *call,
                             const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int rc = order(run, call, args);

    *ret = tg_cel_bool(rc < 0);
    return rc < -1 ? -1 : 0;
}

/* One number of a lenient version without its leading zeros; at least one character stays. */
static const char *strip_zeros(const char *part, size_t *n, char **out)
{
    size_t zeros = 0;

    if (*n > 1) {
        while (zeros < *n && part[zeros] == '0')
            zeros++;
        if (zeros == *n || part[zeros] < '0' || part[zeros] > '9')
            *(*out)++ = '0';
        *n -= zeros;
    }
    return part + zeros;
}

/* Drops a leading v, fills up to three numbers, drops leading zeros. out: n + 8 bytes. */
static bool normalize(const char *text, size_t n, char *out)
{
    const char *end = text + n;
    size_t parts = 0;

    if (n > 0 && *text == 'v')
        text++;
    for (;;) {
        const char *dot = parts < 2 ? memchr(text, '.', (size_t)(end - text)) : NULL;
        size_t length = (size_t)((dot == NULL ? end : dot) - text);
        const char *part = strip_zeros(text, &length, &out);

        memcpy(out, part, length);
        out += length;
        parts++;
        if (dot == NULL) {
            if (parts < 3 && (memchr(part, '-', length) != NULL || memchr(part, '+', length)))
                return false;
            break;
        }
        *out++ = '.';
        text = dot + 1;
    }
    for (; parts < 3; parts++) {
        *out++ = '.';
        *out++ = '0';
    }
    *out = '\0';
    return true;
}

enum parsed { PARSED, NO_VERSION, NO_MEMORY };

static enum parsed parse_semver(struct tg_cel_run *run, const struct tg_cel_node *call,
                                const struct tg_cel_value *args, struct tg_semver *ret)
{
    size_t n = args[0].length;
    bool lenient = call->n_args > 1 && args[1].boolean;
    char *copy;

    if (n > 0 && memchr(args[0].text, '\0', n) != NULL)
        return NO_VERSION;
    copy = tg_cel_alloc(run->scratch, n + 16);
    if (copy == NULL)
        return NO_MEMORY;
    if (lenient) {
        if (!normalize(args[0].text, n, copy))
            return NO_VERSION;
    } else {
        memcpy(copy, args[0].text, n);
        copy[n] = '\0';
    }
    return tg_semver_parse(copy, ret, NULL) < 0 ? NO_VERSION : PARSED;
}

int tg_cel_call_semver(struct tg_cel_run *run, const struct tg_cel_node *call,
                       const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_semver *version = tg_cel_alloc(run->scratch, sizeof(*version));
    enum parsed rc = version == NULL ? NO_MEMORY : parse_semver(run, call, args, version);

    if (rc == NO_MEMORY)
        return tg_cel_fail_memory(run, call);
    if (rc == NO_VERSION)
        return tg_cel_fail_value(run, call, "not a semantic version: ", &args[0]);
    *ret = (struct tg_cel_value){.tag = TG_CEL_V_SEMVER, .semver = version};
    return 0;
}

int tg_cel_call_is_semver(struct tg_cel_run *run, const struct tg_cel_node *call,
                          const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_semver version;
    enum parsed rc = parse_semver(run, call, args, &version);

    *ret = tg_cel_bool(rc == PARSED);
    return rc == NO_MEMORY ? tg_cel_fail_memory(run, call) : 0;
}

#define NUMBER(part)                                                                               \
    int tg_cel_call_semver_##part(struct tg_cel_run *run, const struct tg_cel_node *call,          \
                                  const struct tg_cel_value *args, struct tg_cel_value *ret)       \
    {                                                                                              \
        (void)run;                                                                                 \
        (void)call;                                                                                \
        *ret = tg_cel_int((int64_t)args[0].semver->part);                                          \
        return 0;                                                                                  \
    }

NUMBER(major)
NUMBER(minor)
NUMBER(patch)
