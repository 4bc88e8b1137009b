/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/objects/capacity.h"

#include <string.h>

#include "api/runtime/json/decode.h"

static const struct tg_field range_fields[] = {
    TG_FIELD_TEXT(struct tg_capacity_range, min, "min"),
    TG_FIELD_TEXT(struct tg_capacity_range, max, "max"),
    TG_FIELD_TEXT(struct tg_capacity_range, step, "step"),
};
static const struct tg_type range_type = TG_TYPE(struct tg_capacity_range, range_fields);

static const struct tg_field policy_fields[] = {
    TG_FIELD_TEXT(struct tg_capacity_policy, default_, "default"),
    {.name = "validValues",
     .kind = TG_FIELD_LIST,
     .item = TG_FIELD_SCALAR_TEXT,
     .offset = offsetof(struct tg_capacity_policy, valid_values)},
    TG_FIELD_OBJ(struct tg_capacity_policy, valid_range, "validRange", &range_type),
};
static const struct tg_type policy_type = TG_TYPE(struct tg_capacity_policy, policy_fields);

/* The decoder reads objects with named fields: the amounts become one. */
struct amounts {
    TG_LIST_OF(struct tg_string_pair) items;
};
static const struct tg_field amounts_fields[] = {
    TG_FIELD_TEXT_MAP(struct amounts, items, "items"),
};
static const struct tg_type amounts_type = TG_TYPE(struct amounts, amounts_fields);

static const struct tg_field requests_fields[] = {
    TG_FIELD_TEXT_MAP(struct amounts, items, "requests"),
};
static const struct tg_type requests_type = TG_TYPE(struct amounts, requests_fields);

static int read_amounts(const struct tg_type *type, const char *text, struct tg_arena *arena,
                        const struct tg_string_pair **ret, size_t *ret_n, struct tg_error *err)
{
    void *amounts = NULL;
    int rc = tg_json_decode_new(type, text, strlen(text), arena, &amounts, err);

    if (rc < 0)
        return rc;
    *ret = ((struct amounts *)amounts)->items.items;
    *ret_n = ((struct amounts *)amounts)->items.n;
    return 0;
}

int tg_capacity_requests_read(const char *text, struct tg_arena *arena,
                              const struct tg_string_pair **ret, size_t *ret_n,
                              struct tg_error *err)
{
    *ret = NULL;
    *ret_n = 0;
    return text == NULL ? 0 : read_amounts(&requests_type, text, arena, ret, ret_n, err);
}

int tg_capacity_policy_read(const char *text, struct tg_arena *arena,
                            struct tg_capacity_policy **ret, struct tg_error *err)
{
    void *policy = NULL;
    int rc = tg_json_decode_new(&policy_type, text, strlen(text), arena, &policy, err);

    if (rc == 0)
        *ret = policy;
    return rc;
}

int tg_capacity_amounts_read(const char *text, struct tg_arena *arena,
                             const struct tg_string_pair **ret, size_t *ret_n, struct tg_error *err)
{
    char *document = NULL;

    *ret = NULL;
    *ret_n = 0;
    if (text == NULL)
        return 0;
    document = tg_arena_printf(arena, "{\"items\":%s}", text);
    if (document == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory left to read capacities");
    return read_amounts(&amounts_type, document, arena, ret, ret_n, err);
}
