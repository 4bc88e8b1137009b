/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/sim_inventory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/kubernetes/values/quantity.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/duration.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/str.h"
#include "api/runtime/yaml/yaml.h"
#include "api/tangram/names.h"
#include "driver/provider/document.h"

#define KIND "SimInventory"
#define SUGGESTIONS 3

/* ---- attributes ---- */

static int decode_attributes(struct tg_document_place *at, const struct tg_json *value,
                             void *target, struct tg_error *err)
{
    static const char *const derived[] = {"uuid", "index", "minor",
                                          "resource.kubernetes.io/pciBusID", NULL};
    struct tg_sim_card *card = target;
    struct tg_document_attributes attributes = {0};
    int rc = tg_document_read_attributes(at, value, derived,
                                         "follows from the card's position and cannot be given",
                                         &attributes, err);
    card->attributes.items = attributes.list.items;
    card->attributes.n = attributes.list.n;
    return rc;
}

/* ---- cards ---- */

static int decode_count(struct tg_document_place *at, const struct tg_json *value, void *target,
                        struct tg_error *err)
{
    struct tg_sim_card *card = target;
    int64_t count;
    if (tg_json_i64(value, &count) != 0 || count < 1 || count > TG_SIM_CARDS_MAX)
        return tg_document_fail(at, value, "count", "expected a whole number from 1 to 1024", err);
    card->count = (size_t)count;
    return 0;
}

static int decode_product(struct tg_document_place *at, const struct tg_json *value, void *target,
                          struct tg_error *err)
{
    struct tg_sim_card *card = target;
    const char *near[SUGGESTIONS];
    TG_AUTOBUF struct tg_buf what = TG_BUF_INIT(400);
    int rc = tg_document_string(at, value, "product", &card->product_name, err);
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
    return tg_document_fail(at, value, "product", tg_buf_str(&what), err);
}

static int decode_name(struct tg_document_place *at, const struct tg_json *value, void *target,
                       struct tg_error *err)
{
    struct tg_sim_card *card = target;
    int rc = tg_document_string(at, value, "name", &card->product_name, err);
    if (rc == 0 && strlen(card->product_name) > 64)
        rc = tg_document_fail(at, value, "name", "at most 64 bytes are allowed", err);
    return rc;
}

static int decode_memory(struct tg_document_place *at, const struct tg_json *value, void *target,
                         struct tg_error *err)
{
    struct tg_sim_card *card = target;
    struct tg_quantity quantity;
    struct tg_error why = TG_ERROR_INIT;
    card->memory =
        value->kind == TG_JSON_STRING || value->kind == TG_JSON_NUMBER ? value->text : NULL;
    if (card->memory == NULL)
        return tg_document_fail(at, value, "memory", "expected a quantity such as 48Gi", err);
    if (tg_quantity_parse(card->memory, &quantity, &why) < 0)
        return tg_document_fail(at, value, "memory", why.message, err);
    return 0;
}

static int decode_mig(struct tg_document_place *at, const struct tg_json *value, void *target,
                      struct tg_error *err)
{
    (void)target;
    const char *text = tg_json_string(value);
    if (tg_streq(text, "off"))
        return 0;
    if (tg_streq(text, "dynamic"))
        return tg_document_fail(at, value, "mig",
                                "\"dynamic\" is not implemented in this version; only \"off\" is",
                                err);
    if (value->kind == TG_JSON_ARRAY || value->kind == TG_JSON_OBJECT)
        return tg_document_fail(
            at, value, "mig", "static layouts are not implemented in this version; only \"off\" is",
            err);
    return tg_document_fail(at, value, "mig", "unknown value; this version knows \"off\"", err);
}

static const struct tg_document_field card_fields[] = {
    {"count", false, decode_count}, {"product", false, decode_product},
    {"name", false, decode_name},   {"memory", false, decode_memory},
    {"mig", false, decode_mig},     {"attributes", false, decode_attributes},
};

/* What fields say about each other. */
static int check_card(const struct tg_document_place *at, const struct tg_json *object,
                      struct tg_sim_card *card, struct tg_error *err)
{
    const struct tg_json *name = tg_json_get(object, "name");
    if (card->card == NULL && name == NULL)
        return tg_document_fail(
            at, object, "",
            "product is missing (or name and memory, for a card that is not in the tables)", err);
    if (card->card != NULL && name != NULL)
        return tg_document_fail(at, name, "name", "product and name exclude each other", err);
    if (card->card != NULL && card->memory != NULL)
        return tg_document_fail(at, tg_json_get(object, "memory"), "memory",
                                "the memory of a known product cannot be given", err);
    if (card->card == NULL && card->memory == NULL)
        return tg_document_fail(at, object, "memory", "is missing", err);
    if (card->card == NULL)
        return 0;
    card->memory = tg_arena_printf(at->arena, "%" PRIu32 "Gi", card->card->memory_gib);
    return card->memory == NULL ? tg_document_exhausted(at, err) : 0;
}

static int decode_cards(struct tg_document_place *at, const struct tg_json *value, void *target,
                        struct tg_error *err)
{
    struct tg_sim_inventory *inventory = target;
    size_t total = 0;
    if (value->kind != TG_JSON_ARRAY)
        return tg_document_fail(at, value, "cards", "expected a list of cards", err);
    inventory->cards.items =
        tg_arena_alloc_array(at->arena, value->n, sizeof(*inventory->cards.items));
    if (inventory->cards.items == NULL)
        return tg_document_exhausted(at, err);
    for (size_t i = 0; i < value->n; i++) {
        struct tg_sim_card *card = &inventory->cards.items[inventory->cards.n++];
        struct tg_document_place inside = *at;
        snprintf(inside.path, sizeof(inside.path), "cards[%zu]", i);
        card->count = 1;
        card->line = value->items[i]->line;
        int rc = tg_document_object(&inside, value->items[i], card_fields,
                                    TG_ARRAY_SIZE(card_fields), card, err);
        if (rc == 0)
            rc = check_card(&inside, value->items[i], card, err);
        if (rc < 0)
            return rc;
        total += card->count;
        if (total > TG_SIM_CARDS_MAX)
            return tg_document_fail(&inside, value->items[i], "count",
                                    "a node has at most 1024 cards", err);
    }
    return 0;
}

/* ---- faults ---- */

static int decode_call(struct tg_document_place *at, const struct tg_json *value, void *target,
                       struct tg_error *err)
{
    static const char *const names[TG_SIM_CALLS] = {
        [TG_SIM_LIST] = "list", [TG_SIM_EDIT] = "edit", [TG_SIM_SET] = "set"};
    struct tg_sim_fault *fault = target;
    for (size_t i = 0; i < TG_SIM_CALLS; i++) {
        if (!tg_streq(tg_json_string(value), names[i]))
            continue;
        fault->call = (enum tg_sim_call)i;
        return 0;
    }
    return tg_document_fail(at, value, "call", "expected list, edit or set", err);
}

static int decode_device(struct tg_document_place *at, const struct tg_json *value, void *target,
                         struct tg_error *err)
{
    return tg_document_string(at, value, "device", &((struct tg_sim_fault *)target)->device, err);
}

static int decode_number(struct tg_document_place *at, const struct tg_json *value, const char *key,
                         int64_t *ret, struct tg_error *err)
{
    if (tg_json_i64(value, ret) == 0 && *ret >= 1)
        return 0;
    return tg_document_fail(at, value, key, "expected a whole number from 1", err);
}

static int decode_from(struct tg_document_place *at, const struct tg_json *value, void *target,
                       struct tg_error *err)
{
    return decode_number(at, value, "from", &((struct tg_sim_fault *)target)->from, err);
}

static int decode_to(struct tg_document_place *at, const struct tg_json *value, void *target,
                     struct tg_error *err)
{
    return decode_number(at, value, "to", &((struct tg_sim_fault *)target)->to, err);
}

static int decode_error(struct tg_document_place *at, const struct tg_json *value, void *target,
                        struct tg_error *err)
{
    return tg_document_string(at, value, "error", &((struct tg_sim_fault *)target)->error, err);
}

static int decode_delay(struct tg_document_place *at, const struct tg_json *value, void *target,
                        struct tg_error *err)
{
    struct tg_sim_fault *fault = target;
    const char *text = tg_json_string(value);
    if (text != NULL && tg_parse_duration(text, &fault->delay) == 0 && fault->delay > 0 &&
        fault->delay <= 24 * 3600 * TG_SECOND)
        return 0;
    return tg_document_fail(at, value, "delay", "expected a duration such as 10s", err);
}

static int decode_flag(struct tg_document_place *at, const struct tg_json *value, const char *key,
                       bool *ret, struct tg_error *err)
{
    *ret = value->boolean;
    return value->kind == TG_JSON_BOOL ? 0 : tg_document_fail(at, value, key, "expected true", err);
}

static int decode_hang(struct tg_document_place *at, const struct tg_json *value, void *target,
                       struct tg_error *err)
{
    return decode_flag(at, value, "hang", &((struct tg_sim_fault *)target)->hang, err);
}

static int decode_kill(struct tg_document_place *at, const struct tg_json *value, void *target,
                       struct tg_error *err)
{
    return decode_flag(at, value, "kill", &((struct tg_sim_fault *)target)->kill, err);
}

static const struct tg_document_field fault_fields[] = {
    {"call", true, decode_call},  {"device", false, decode_device}, {"from", false, decode_from},
    {"to", false, decode_to},     {"error", false, decode_error},   {"delay", false, decode_delay},
    {"hang", false, decode_hang}, {"kill", false, decode_kill},
};

static int check_fault(const struct tg_document_place *at, const struct tg_json *value,
                       const struct tg_sim_fault *fault, struct tg_error *err)
{
    if (fault->error == NULL && fault->delay == 0 && !fault->hang && !fault->kill)
        return tg_document_fail(at, value, "", "error, delay, hang or kill is missing", err);
    if (fault->to != 0 && fault->to < fault->from)
        return tg_document_fail(at, value, "to", "is before from", err);
    if (fault->call == TG_SIM_LIST && fault->device != NULL)
        return tg_document_fail(at, value, "device", "a listing is of all devices", err);
    return 0;
}

static int decode_faults(struct tg_document_place *at, const struct tg_json *value, void *target,
                         struct tg_error *err)
{
    struct tg_sim_inventory *inventory = target;
    if (value->kind != TG_JSON_ARRAY || value->n > TG_SIM_FAULTS_MAX)
        return tg_document_fail(at, value, "faults", "expected a list of at most 64 faults", err);
    inventory->faults.items =
        tg_arena_alloc_array(at->arena, value->n, sizeof(*inventory->faults.items));
    if (inventory->faults.items == NULL)
        return tg_document_exhausted(at, err);
    for (size_t i = 0; i < value->n; i++) {
        struct tg_sim_fault *fault = &inventory->faults.items[inventory->faults.n++];
        struct tg_document_place inside = *at;
        snprintf(inside.path, sizeof(inside.path), "faults[%zu]", i);
        fault->from = 1;
        int rc = tg_document_object(&inside, value->items[i], fault_fields,
                                    TG_ARRAY_SIZE(fault_fields), fault, err);
        if (rc == 0)
            rc = check_fault(&inside, value->items[i], fault, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- the document ---- */

static int decode_kind(struct tg_document_place *at, const struct tg_json *value, void *target,
                       struct tg_error *err)
{
    (void)target;
    return tg_document_kind(at, value, KIND, err);
}

static int decode_first_index(struct tg_document_place *at, const struct tg_json *value,
                              void *target, struct tg_error *err)
{
    struct tg_sim_inventory *inventory = target;
    int64_t index;
    if (tg_json_i64(value, &index) != 0 || index < 0 || index >= TG_SIM_CARDS_MAX)
        return tg_document_fail(at, value, "firstIndex", "expected a whole number from 0 to 1023",
                                err);
    inventory->first_index = (size_t)index;
    return 0;
}

/* What fields say about each other. */
static int check_document(const struct tg_document_place *at, const struct tg_json *document,
                          const struct tg_sim_inventory *inventory, struct tg_error *err)
{
    size_t total = inventory->first_index;
    for (size_t i = 0; i < inventory->cards.n; i++)
        total += inventory->cards.items[i].count;
    if (total > TG_SIM_CARDS_MAX)
        return tg_document_fail(at, tg_json_get(document, "firstIndex"), "firstIndex",
                                "with the cards that follow it passes 1024, and a node has no more",
                                err);
    return 0;
}

static const struct tg_document_field document_fields[] = {
    {"apiVersion", true, tg_document_api_version},
    {"kind", true, decode_kind},
    {"firstIndex", false, decode_first_index},
    {"cards", true, decode_cards},
    {"faults", false, decode_faults},
};

int tg_sim_inventory_decode(const char *file, const char *data, size_t n, struct tg_arena *arena,
                            struct tg_sim_inventory *ret, struct tg_error *err)
{
    struct tg_document_place at = {.file = file, .arena = arena};
    struct tg_json *document = NULL;
    *ret = (struct tg_sim_inventory){0};
    int rc = tg_yaml_parse(data, n, arena, &document, err);
    if (rc < 0)
        return err == NULL ? rc : tg_error_wrap(err, "%s", file);
    rc = tg_document_object(&at, document, document_fields, TG_ARRAY_SIZE(document_fields), ret,
                            err);
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
