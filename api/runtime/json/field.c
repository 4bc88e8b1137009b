/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/json/field.h"

#include <assert.h>

struct bool_item {
    const char *key;
    struct tg_opt_bool value;
};
struct int_item {
    const char *key;
    struct tg_opt_int value;
};

static struct tg_field_layout map_layout(const struct tg_field *field)
{
    if (field->item == TG_FIELD_BOOL)
        return (struct tg_field_layout){sizeof(struct bool_item),
                                        offsetof(struct bool_item, value)};
    if (field->item == TG_FIELD_INT)
        return (struct tg_field_layout){sizeof(struct int_item), offsetof(struct int_item, value)};
    if (field->item == TG_FIELD_OBJECT)
        return (struct tg_field_layout){field->keyed_size, field->keyed_offset};
    return (struct tg_field_layout){sizeof(struct tg_string_pair),
                                    offsetof(struct tg_string_pair, value)};
}

struct tg_field_layout tg_field_item_layout(const struct tg_field *field)
{
    /* A list or map cannot be the item of another one. */
    assert(field->item != TG_FIELD_LIST && field->item != TG_FIELD_MAP);
    if (field->kind == TG_FIELD_MAP)
        return map_layout(field);
    if (field->item == TG_FIELD_BOOL)
        return (struct tg_field_layout){sizeof(struct tg_opt_bool), 0};
    if (field->item == TG_FIELD_INT)
        return (struct tg_field_layout){sizeof(struct tg_opt_int), 0};
    if (field->item == TG_FIELD_OBJECT)
        return (struct tg_field_layout){field->type->size, 0};
    return (struct tg_field_layout){sizeof(const char *), 0};
}
