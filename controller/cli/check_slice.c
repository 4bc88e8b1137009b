/* SPDX-License-Identifier: Apache-2.0 */
/* Slices: what an API server would refuse of them (k/k pkg/apis/resource/validation), and what the
 * guard of managed classes forbids. */
#include "api/kubernetes/objects/resource.h"
#include "api/kubernetes/values/names.h"
#include "api/kubernetes/values/quantity.h"
#include "api/kubernetes/values/semver.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/cli/check.h"

/* From this release on devices and counters stand in slices of their own. */
#define SEPARATE_MINOR 35
#define KEYS_MAX 32     /* attributes and capacities of a device */
#define TEXT_MAX 64     /* bytes of an attribute */
#define COUNTERS_MAX 32 /* of a set; 1.34: of all sets of a slice, or of a device */
#define CONDITIONS_MAX 4
#define CONSUMED_SETS_MAX 2 /* of a device, from SEPARATE_MINOR on */

static bool separate(const struct tg_check_at *at)
{
    return at->run->minor >= SEPARATE_MINOR;
}

/* --- names and texts ------------------------------------------------------------------------- */

static void check_name(const struct tg_check_at *owner, const char *key, enum tg_name_kind kind)
{
    const struct tg_check_at name = tg_check_member(owner, key);
    struct tg_error err = TG_ERROR_INIT;

    if (tg_json_string(name.value) == NULL)
        tg_check_problem(owner, "%s is missing", key);
    else if (tg_name_check(kind, tg_json_string(name.value), &err) < 0)
        tg_check_problem(&name, "%s", err.message);
}

static void check_key(const struct tg_check_at *at, const char *key, enum tg_name_kind kind)
{
    struct tg_error err = TG_ERROR_INIT;

    if (tg_name_check(kind, key, &err) < 0)
        tg_check_problem(at, "%s", err.message);
}

static void check_quantity(const struct tg_check_at *owner)
{
    const struct tg_check_at value = tg_check_member(owner, "value");
    const char *text = value.value == NULL ? NULL : value.value->text;
    struct tg_quantity quantity;
    struct tg_error err = TG_ERROR_INIT;

    if (text == NULL)
        tg_check_problem(owner, "value is missing: a quantity, such as 80Gi");
    else if (tg_quantity_parse(text, &quantity, &err) < 0)
        tg_check_problem(&value, "%s", err.message);
}

static void refuse_twice(const struct tg_check_at *list, size_t index, const char *key)
{
    const struct tg_check_at item = tg_check_item(list, index);
    const struct tg_check_at name = tg_check_member(&item, key);

    if (tg_check_is_twice(list, index, key))
        tg_check_problem(&name, "there are two named \"%s\"", tg_json_string(name.value));
}

/* --- attributes and capacity ----------------------------------------------------------------- */

static void check_text(const struct tg_check_at *value, bool version)
{
    const char *text = tg_json_string(value->value);
    struct tg_semver parsed;
    struct tg_error err = TG_ERROR_INIT;

    if (text == NULL)
        return;
    if (strlen(text) > TEXT_MAX)
        tg_check_problem(value, "has %zu bytes: at most %d are allowed", strlen(text), TEXT_MAX);
    else if (version && tg_semver_parse(text, &parsed, &err) < 0)
        tg_check_problem(value, "%s", err.message);
}

static void check_attribute(const struct tg_check_at *attribute, const char *key)
{
    const struct tg_check_at string = tg_check_member(attribute, "string");
    const struct tg_check_at version = tg_check_member(attribute, "version");

    check_key(attribute, key, TG_NAME_ATTRIBUTE);
    if (tg_has_prefix(key, TG_GUARD_DOMAIN "/"))
        tg_check_problem(attribute, "no slice may publish attributes of domain " TG_GUARD_DOMAIN
                                    ": the guard of managed classes rests on it");
    if (attribute->value->kind == TG_JSON_OBJECT && attribute->value->n != 1)
        tg_check_problem(attribute, "exactly one value must be set: bool, int, string or version");
    check_text(&string, false);
    check_text(&version, true);
}

static void check_capacity(const struct tg_check_at *capacity, const char *key, bool shared)
{
    check_key(capacity, key, TG_NAME_ATTRIBUTE);
    check_quantity(capacity);
    if (!shared && tg_json_get(capacity->value, "requestPolicy") != NULL)
        tg_check_problem(capacity, "requestPolicy needs a device with allowMultipleAllocations: "
                                   "true");
}

static size_t members(const struct tg_check_at *at)
{
    return at->value != NULL && at->value->kind == TG_JSON_OBJECT ? at->value->n : 0;
}

static void check_keys(const struct tg_check_at *device)
{
    const struct tg_check_at attributes = tg_check_member(device, "attributes");
    const struct tg_check_at capacity = tg_check_member(device, "capacity");
    const struct tg_json *many = tg_json_get(device->value, "allowMultipleAllocations");
    bool shared = many != NULL && many->kind == TG_JSON_BOOL && many->boolean;

    if (members(&attributes) + members(&capacity) > KEYS_MAX)
        tg_check_problem(device, "has %zu attributes and capacities: at most %d are allowed",
                         members(&attributes) + members(&capacity), KEYS_MAX);
    for (size_t i = 0; i < members(&attributes); i++) {
        const struct tg_check_at one = tg_check_member(&attributes, attributes.value->keys[i]);

        check_attribute(&one, attributes.value->keys[i]);
    }
    for (size_t i = 0; i < members(&capacity); i++) {
        const struct tg_check_at one = tg_check_member(&capacity, capacity.value->keys[i]);

        check_capacity(&one, capacity.value->keys[i], shared);
    }
}

/* --- counters -------------------------------------------------------------------------------- */

/* How many there are. */
static size_t check_counters(const struct tg_check_at *set)
{
    const struct tg_check_at counters = tg_check_member(set, "counters");
    size_t n = members(&counters);

    if (n == 0)
        tg_check_problem(set, "counters is missing");
    else if (n > COUNTERS_MAX)
        tg_check_problem(&counters, "has %zu entries: at most %d are allowed", n, COUNTERS_MAX);
    for (size_t i = 0; i < n; i++) {
        const struct tg_check_at one = tg_check_member(&counters, counters.value->keys[i]);

        check_key(&one, counters.value->keys[i], TG_NAME_LABEL);
        check_quantity(&one);
    }
    return n;
}

static void check_shared_counters(const struct tg_check_at *list)
{
    size_t n = tg_check_most(list, separate(list) ? TG_SLICE_COUNTER_SETS_MAX : COUNTERS_MAX),
           all = 0;

    for (size_t i = 0; i < n; i++) {
        const struct tg_check_at set = tg_check_item(list, i);

        check_name(&set, "name", TG_NAME_LABEL);
        refuse_twice(list, i, "name");
        all += check_counters(&set);
    }
    if (!separate(list) && all > TG_SLICE_COUNTERS_MAX_TOGETHER)
        tg_check_problem(list, "has %zu counters: on Kubernetes 1.%u at most %d are allowed", all,
                         list->run->minor, TG_SLICE_COUNTERS_MAX_TOGETHER);
}

static bool has_set(const struct tg_json *sets, const char *name)
{
    for (size_t i = 0; sets != NULL && i < sets->n; i++)
        if (tg_streq(tg_json_string(tg_json_get(sets->items[i], "name")), name))
            return true;
    return false;
}

static void check_consumption(const struct tg_check_at *list, const struct tg_json *sets)
{
    size_t n = tg_check_most(list, separate(list) ? CONSUMED_SETS_MAX : COUNTERS_MAX);

    for (size_t i = 0; i < n; i++) {
        const struct tg_check_at one = tg_check_item(list, i);
        const char *set = tg_json_string(tg_json_get(one.value, "counterSet"));

        check_name(&one, "counterSet", TG_NAME_LABEL);
        refuse_twice(list, i, "counterSet");
        check_counters(&one);
        if (!separate(list) && set != NULL && !has_set(sets, set))
            tg_check_problem(&one,
                             "on Kubernetes 1.%u the counter set must stand in the same slice",
                             list->run->minor);
    }
}

/* --- taints and conditions ------------------------------------------------------------------- */

static void check_taints(const struct tg_check_at *list)
{
    size_t n = tg_check_most(list, separate(list) ? 16 : 4);

    for (size_t i = 0; i < n; i++) {
        const struct tg_check_at taint = tg_check_item(list, i);
        const struct tg_check_at effect = tg_check_member(&taint, "effect");
        const char *text = tg_json_string(effect.value);

        check_name(&taint, "key", TG_NAME_QUALIFIED);
        if (!tg_streq(text, "NoSchedule") && !tg_streq(text, "NoExecute") &&
            !(separate(list) && tg_streq(text, "None")))
            tg_check_problem(effect.value == NULL ? &taint : &effect,
                             "effect is NoSchedule, NoExecute or, from Kubernetes 1.35 on, None");
    }
}

static void check_conditions(const struct tg_check_at *device)
{
    static const char *const keys[] = {"bindingConditions", "bindingFailureConditions"};
    size_t n[TG_ARRAY_SIZE(keys)];

    for (size_t k = 0; k < TG_ARRAY_SIZE(keys); k++) {
        const struct tg_check_at list = tg_check_member(device, keys[k]);

        n[k] = tg_check_most(&list, CONDITIONS_MAX);
        for (size_t i = 0; i < n[k]; i++) {
            const struct tg_check_at one = tg_check_item(&list, i);

            check_key(&one, tg_or(tg_json_string(one.value), ""), TG_NAME_QUALIFIED);
        }
    }
    if ((n[0] == 0) != (n[1] == 0))
        tg_check_problem(device, "%s needs %s", keys[n[0] == 0], keys[n[0] != 0]);
}

/* --- where ----------------------------------------------------------------------------------- */

/* How many of the ways to say where are used. */
static unsigned count_where(const struct tg_check_at *at, bool slice)
{
    static const char *const ways[] = {"nodeName", "nodeSelector", "allNodes",
                                       "perDeviceNodeSelection"};
    unsigned n = 0;

    for (size_t i = 0; i < TG_ARRAY_SIZE(ways) - !slice; i++) {
        const struct tg_check_at way = tg_check_member(at, ways[i]);

        n += way.value != NULL;
        if (way.value != NULL && way.value->kind == TG_JSON_BOOL && !way.value->boolean)
            tg_check_problem(&way, "is true or absent");
    }
    return n;
}

static void check_where(const struct tg_check_at *at, bool slice)
{
    const struct tg_check_at node = tg_check_member(at, "nodeName");
    const struct tg_check_at selector = tg_check_member(at, "nodeSelector");
    const struct tg_json *terms = tg_json_get(selector.value, "nodeSelectorTerms");

    if (count_where(at, slice) != 1)
        tg_check_problem(at, "exactly one of nodeName, nodeSelector%s must be set",
                         slice ? ", allNodes and perDeviceNodeSelection" : " and allNodes");
    if (node.value != NULL)
        check_name(at, "nodeName", TG_NAME_SUBDOMAIN);
    if (selector.value != NULL && (terms == NULL || terms->n != 1))
        tg_check_problem(&selector, "must have exactly one term");
}

/* --- a slice --------------------------------------------------------------------------------- */

static void check_device(const struct tg_check_at *device, bool alone, const struct tg_json *sets)
{
    const struct tg_check_at taints = tg_check_member(device, "taints");
    const struct tg_check_at consumption = tg_check_member(device, "consumesCounters");

    check_name(device, "name", TG_NAME_LABEL);
    check_keys(device);
    check_consumption(&consumption, sets);
    check_taints(&taints);
    check_conditions(device);
    if (alone)
        check_where(device, false);
    else if (count_where(device, false) > 0)
        tg_check_problem(device, "nodeName, nodeSelector and allNodes of a device need "
                                 "perDeviceNodeSelection: true in the slice");
}

static bool is_advanced(const struct tg_json *device)
{
    return tg_json_get(device, "taints") != NULL || tg_json_get(device, "consumesCounters") != NULL;
}

static void check_devices(const struct tg_check_at *list, bool alone, const struct tg_json *sets)
{
    size_t n = tg_check_items(list), most = TG_SLICE_DEVICES_MAX;

    for (size_t i = 0; separate(list) && i < n; i++)
        if (is_advanced(list->value->items[i]))
            most = TG_SLICE_DEVICES_MAX_ADVANCED;
    if (n > most)
        tg_check_problem(list, "has %zu devices: at most %zu are allowed%s", n, most,
                         most < TG_SLICE_DEVICES_MAX ? " where one has taints or counters" : "");
    for (size_t i = 0; i < n && i < most; i++) {
        const struct tg_check_at device = tg_check_item(list, i);

        check_device(&device, alone, sets);
        refuse_twice(list, i, "name");
    }
}

static void check_number(const struct tg_check_at *pool, const char *key, int64_t least)
{
    const struct tg_check_at number = tg_check_member(pool, key);
    int64_t n = 0;

    if ((number.value != NULL && tg_json_i64(number.value, &n) != 0) || n < least)
        tg_check_problem(number.value == NULL ? pool : &number,
                         "%s must be a whole number, at least %d", key, (int)least);
}

static void check_pool(const struct tg_check_at *spec)
{
    const struct tg_check_at pool = tg_check_member(spec, "pool");

    if (pool.value == NULL) {
        tg_check_problem(spec, "pool is missing");
        return;
    }
    check_name(&pool, "name", TG_NAME_POOL);
    check_number(&pool, "generation", 0);
    check_number(&pool, "resourceSliceCount", 1);
}

void tg_check_slice(const struct tg_check_at *root)
{
    const struct tg_check_at spec = tg_check_member(root, "spec");
    const struct tg_check_at devices = tg_check_member(&spec, "devices");
    const struct tg_check_at sets = tg_check_member(&spec, "sharedCounters");
    bool alone = tg_json_get(spec.value, "perDeviceNodeSelection") != NULL;

    if (spec.value == NULL) {
        tg_check_problem(root, "spec is missing");
        return;
    }
    check_name(&spec, "driver", TG_NAME_DRIVER);
    check_pool(&spec);
    check_where(&spec, true);
    check_shared_counters(&sets);
    check_devices(&devices, alone, sets.value);
    if (separate(root) && tg_check_items(&sets) > 0 && tg_check_items(&devices) > 0)
        tg_check_problem(&sets,
                         "from Kubernetes 1.%d on devices and sharedCounters stand in "
                         "slices of their own",
                         SEPARATE_MINOR);
}
