/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/sim_inventory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/kubernetes/values/quantity.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/str.h"
#include "api/runtime/yaml/yaml.h"
#include "api/tangram/names.h"
#include "driver/provider/provider.h"

#define KIND "SimInventory"
#define SUGGESTIONS 3
#define PATH_MAX_BYTES 160

/* Where we are in the document. */
struct place {
    const char *file;
    struct tg_arena *arena;
    char path[PATH_MAX_BYTES]; /* "cards[1].attributes" */
};

static int fail(const struct place *at, const struct tg_json *value, const char *key,
                const char *what, struct tg_error *err)
{
    return tg_error_set(err, TG_INVALID_ARGUMENT, "%s:%d: %s%s%.80s: %s", at->file, value->line,
                        at->path, at->path[0] != '\0' && key[0] != '\0' ? "." : "", key, what);
}

static int exhausted(const struct place *at, struct tg_error *err)
{
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s: the inventory needs too much memory",
                        at->file);
}

/* ---- fields of an object ---- */

struct field {
    const char *name;
    bool required;
    int (*decode)(struct place *at, const struct tg_json *value, void *target,
                  struct tg_error *err);
};

static int unknown_field(const struct place *at, const struct tg_json *value, const char *key,
                         const struct field *fields, size_t n, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf what = TG_BUF_INIT(400);
    (void)tg_buf_append_str(&what, "unknown field; known here:");
    for (size_t i = 0; i < n; i++)
        (void)tg_buf_printf(&what, "%s %s", i == 0 ? "" : ",", fields[i].name);
    return fail(at, value, key, tg_buf_str(&what), err);
}

static int decode_object(struct place *at, const struct tg_json *object, const struct field *fields,
                         size_t n, void *target, struct tg_error *err)
{
    if (object->kind != TG_JSON_OBJECT)
        return fail(at, object, "", "expected fields (a mapping)", err);
    for (size_t i = 0; i < object->n; i++) {
        size_t f = 0;
        while (f < n && !tg_streq(fields[f].name, object->keys[i]))
            f++;
        if (f == n)
            return unknown_field(at, object->items[i], object->keys[i], fields, n, err);
        int rc = fields[f].decode(at, object->items[i], target, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int need_string(const struct place *at, const struct tg_json *value, const char *key,
                       const char **ret, struct tg_error *err)
{
    *ret = tg_json_string(value);
    if (*ret == NULL || (*ret)[0] == '\0')
        return fail(at, value, key, "expected a text", err);
    return 0;
}

/* ---- attributes ---- */

static const char *const derived[] = {"uuid", "index", "minor", "resource.kubernetes.io/pciBusID"};

static int decode_value(struct place *at, const struct tg_json *value, const char *key,
                        struct tg_keyed_attribute *ret, struct tg_error *err)
{
    if (value->kind != TG_JSON_OBJECT || value->n != 1)
        return fail(at, value, key,
                    "expected one of {string: S}, {int: N}, {bool: B}, {version: V}", err);
    const struct tg_json *inner = value->items[0];
    const char *kind = value->keys[0];
    bool fits = false;
    if (tg_streq(kind, "string")) {
        ret->value.string = tg_json_string(inner);
        fits = ret->value.string != NULL;
    } else if (tg_streq(kind, "version")) {
        ret->value.version = tg_json_string(inner);
        fits = ret->value.version != NULL;
    } else if (tg_streq(kind, "int")) {
        ret->value.int_.set = fits = tg_json_i64(inner, &ret->value.int_.value) == 0;
    } else if (tg_streq(kind, "bool")) {
        ret->value.bool_ = (struct tg_opt_bool){.set = true, .value = inner->boolean};
        fits = inner->kind == TG_JSON_BOOL;
    } else {
        return fail(at, inner, key, "unknown type; known: string, int, bool, version", err);
    }
    return fits ? 0
                : fail(at, inner, key,
                       "the value is not of the type before it (texts may need quotes)", err);
}

/* What the API server would refuse is refused here, where the line is known. */
static int check_attribute(const struct place *at, const struct tg_json *value,
                           const struct tg_keyed_attribute *attribute, struct tg_error *err)
{
    struct tg_keyed_attribute copy = *attribute;
    struct tg_device alone = {.name = "x", .attributes = {.items = &copy, .n = 1}};
    struct tg_error why = TG_ERROR_INIT;
    for (size_t i = 0; i < TG_ARRAY_SIZE(derived); i++) {
        if (tg_streq(attribute->key, derived[i]))
            return fail(at, value, attribute->key,
                        "follows from the card's position and cannot be given", err);
    }
    if (tg_device_validate(&alone, &why) < 0) {
        /* "device x: attribute "KEY": what is wrong" */
        const char *what = strstr(why.message, "\": ");
        return fail(at, value, attribute->key, what == NULL ? why.message : what + 3, err);
    }
    return 0;
}

static int decode_attributes(struct place *at, const struct tg_json *value, void *target,
                             struct tg_error *err)
{
    struct tg_sim_card *card = target;
    if (value->kind != TG_JSON_OBJECT)
        return fail(at, value, "attributes", "expected attributes by name", err);
    struct place inside = *at;
    snprintf(inside.path, sizeof(inside.path), "%.100s.attributes", at->path);
    card->attributes.items =
        tg_arena_alloc_array(at->arena, value->n, sizeof(*card->attributes.items));
    if (card->attributes.items == NULL)
        return exhausted(at, err);
    for (size_t i = 0; i < value->n; i++) {
        struct tg_keyed_attribute *one = &card->attributes.items[card->attributes.n++];
        one->key = value->keys[i];
        int rc = decode_value(&inside, value->items[i], one->key, one, err);
        if (rc == 0)
            rc = check_attribute(&inside, value->items[i], one, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- cards ---- */

static int decode_count(struct place *at, const struct tg_json *value, void *target,
                        struct tg_error *err)
{
    struct tg_sim_card *card = target;
    int64_t count;
    if (tg_json_i64(value, &count) != 0 || count < 1 || count > TG_SIM_CARDS_MAX)
        return fail(at, value, "count", "expected a whole number from 1 to 1024", err);
    card->count = (size_t)count;
    return 0;
}

static int decode_product(struct place *at, const struct tg_json *value, void *target,
                          struct tg_error *err)
{
    struct tg_sim_card *card = target;
    const char *near[SUGGESTIONS];
    TG_AUTOBUF struct tg_buf what = TG_BUF_INIT(400);
    int rc = need_string(at, value, "product", &card->product_name, err);
    if (rc < 0)
        return rc;
    card->card = tg_card_find(card->product_name);
    if (card->card != NULL)
        return 0;
    (void)tg_buf_printf(&what, "no card is known as \"%.80s\"", card->product_name);
    size_t n = tg_card_suggest(card->product_name, near, SUGGESTIONS);
    for (size_t i = 0; i < n; i++)
        (void)tg_buf_printf(&what, "%s \"%s\"", i == 0 ? "; the nearest:" : ",", near[i]);
    (void)tg_buf_append_str(&what, "; for any other card give name and memory instead");
    return fail(at, value, "product", tg_buf_str(&what), err);
}

static int decode_name(struct place *at, const struct tg_json *value, void *target,
                       struct tg_error *err)
{
    struct tg_sim_card *card = target;
    int rc = need_string(at, value, "name", &card->product_name, err);
    if (rc == 0 && strlen(card->product_name) > 64)
        rc = fail(at, value, "name", "at most 64 bytes are allowed", err);
    return rc;
}

static int decode_memory(struct place *at, const struct tg_json *value, void *target,
                         struct tg_error *err)
{
    struct tg_sim_card *card = target;
    struct tg_quantity quantity;
    struct tg_error why = TG_ERROR_INIT;
    card->memory =
        value->kind == TG_JSON_STRING || value->kind == TG_JSON_NUMBER ? value->text : NULL;
    if (card->memory == NULL)
        return fail(at, value, "memory", "expected a quantity such as 48Gi", err);
    if (tg_quantity_parse(card->memory, &quantity, &why) < 0)
        return fail(at, value, "memory", why.message, err);
    return 0;
}

static int decode_mig(struct place *at, const struct tg_json *value, void *target,
                      struct tg_error *err)
{
    (void)target;
    const char *text = tg_json_string(value);
    if (tg_streq(text, "off"))
        return 0;
    if (tg_streq(text, "dynamic"))
        return fail(at, value, "mig",
                    "\"dynamic\" is not implemented in this version; only \"off\" is", err);
    if (value->kind == TG_JSON_ARRAY || value->kind == TG_JSON_OBJECT)
        return fail(at, value, "mig",
                    "static layouts are not implemented in this version; only \"off\" is", err);
    return fail(at, value, "mig", "unknown value; this version knows \"off\"", err);
}

static const struct field card_fields[] = {
    {"count", false, decode_count}, {"product", false, decode_product},
    {"name", false, decode_name},   {"memory", false, decode_memory},
    {"mig", false, decode_mig},     {"attributes", false, decode_attributes},
};

/* What fields say about each other. */
static int check_card(const struct place *at, const struct tg_json *object,
                      struct tg_sim_card *card, struct tg_error *err)
{
    const struct tg_json *name = tg_json_get(object, "name");
    if (card->card == NULL && name == NULL)
        return fail(at, object, "",
                    "product is missing (or name and memory, for a card that is not in the tables)",
                    err);
    if (card->card != NULL && name != NULL)
        return fail(at, name, "name", "product and name exclude each other", err);
    if (card->card != NULL && card->memory != NULL)
        return fail(at, tg_json_get(object, "memory"), "memory",
                    "the memory of a known product cannot be given", err);
    if (card->card == NULL && card->memory == NULL)
        return fail(at, object, "memory", "is missing", err);
    if (card->card == NULL)
        return 0;
    card->memory = tg_arena_printf(at->arena, "%" PRIu32 "Gi", card->card->memory_gib);
    return card->memory == NULL ? exhausted(at, err) : 0;
}

static int decode_cards(struct place *at, const struct tg_json *value, void *target,
                        struct tg_error *err)
{
    struct tg_sim_inventory *inventory = target;
    size_t total = 0;
    if (value->kind != TG_JSON_ARRAY)
        return fail(at, value, "cards", "expected a list of cards", err);
    inventory->cards.items =
        tg_arena_alloc_array(at->arena, value->n, sizeof(*inventory->cards.items));
    if (inventory->cards.items == NULL)
        return exhausted(at, err);
    for (size_t i = 0; i < value->n; i++) {
        struct tg_sim_card *card = &inventory->cards.items[inventory->cards.n++];
        struct place inside = *at;
        snprintf(inside.path, sizeof(inside.path), "cards[%zu]", i);
        card->count = 1;
        card->line = value->items[i]->line;
        int rc = decode_object(&inside, value->items[i], card_fields, TG_ARRAY_SIZE(card_fields),
                               card, err);
        if (rc == 0)
            rc = check_card(&inside, value->items[i], card, err);
        if (rc < 0)
            return rc;
        total += card->count;
        if (total > TG_SIM_CARDS_MAX)
            return fail(&inside, value->items[i], "count", "a node has at most 1024 cards", err);
    }
    return 0;
}

/* ---- the document ---- */

static int decode_api_version(struct place *at, const struct tg_json *value, void *target,
                              struct tg_error *err)
{
    (void)target;
    if (tg_streq(tg_json_string(value), TG_API_VERSION))
        return 0;
    return fail(at, value, "apiVersion", "this version reads " TG_API_VERSION, err);
}

static int decode_kind(struct place *at, const struct tg_json *value, void *target,
                       struct tg_error *err)
{
    (void)target;
    if (tg_streq(tg_json_string(value), KIND))
        return 0;
    return fail(at, value, "kind", "expected " KIND, err);
}

static int decode_first_index(struct place *at, const struct tg_json *value, void *target,
                              struct tg_error *err)
{
    struct tg_sim_inventory *inventory = target;
    int64_t index;
    if (tg_json_i64(value, &index) != 0 || index < 0 || index >= TG_SIM_CARDS_MAX)
        return fail(at, value, "firstIndex", "expected a whole number from 0 to 1023", err);
    inventory->first_index = (size_t)index;
    return 0;
}

/* What fields say about each other. */
static int check_document(const struct place *at, const struct tg_json *document,
                          const struct tg_sim_inventory *inventory, struct tg_error *err)
{
    size_t total = inventory->first_index;
    for (size_t i = 0; i < inventory->cards.n; i++)
        total += inventory->cards.items[i].count;
    if (total > TG_SIM_CARDS_MAX)
        return fail(at, tg_json_get(document, "firstIndex"), "firstIndex",
                    "with the cards that follow it passes 1024, and a node has no more", err);
    return 0;
}

static const struct field document_fields[] = {
    {"apiVersion", true, decode_api_version},
    {"kind", true, decode_kind},
    {"firstIndex", false, decode_first_index},
    {"cards", true, decode_cards},
};

int tg_sim_inventory_decode(const char *file, const char *data, size_t n, struct tg_arena *arena,
                            struct tg_sim_inventory *ret, struct tg_error *err)
{
    struct place at = {.file = file, .arena = arena};
    struct tg_json *document = NULL;
    *ret = (struct tg_sim_inventory){0};
    int rc = tg_yaml_parse(data, n, arena, &document, err);
    if (rc < 0)
        return err == NULL ? rc : tg_error_wrap(err, "%s", file);
    rc = decode_object(&at, document, document_fields, TG_ARRAY_SIZE(document_fields), ret, err);
    for (size_t i = 0; rc == 0 && i < TG_ARRAY_SIZE(document_fields); i++) {
        if (document_fields[i].required && tg_json_get(document, document_fields[i].name) == NULL)
            rc = fail(&at, document, document_fields[i].name, "is missing", err);
    }
    return rc == 0 ? check_document(&at, document, ret, err) : rc;
}

int tg_sim_inventory_load(const char *file, struct tg_arena *arena, struct tg_sim_inventory *ret,
                          struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(TG_SIM_BYTES_MAX);
    int rc = tg_file_read(file, &content, err);
    if (rc < 0)
        return rc;
    return tg_sim_inventory_decode(file, tg_buf_str(&content), content.len, arena, ret, err);
}
