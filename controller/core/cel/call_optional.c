/* SPDX-License-Identifier: Apache-2.0 */
/* Optionals, and the maps that transformMap() builds. */
#include "controller/core/cel/calls.h"
#include "controller/core/cel/map.h"
#include "controller/core/cel/time.h"

int tg_cel_call_optional_none(struct tg_cel_run *run, const struct tg_cel_node *call,
                              const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    (void)args;
    *ret = tg_cel_none();
    return 0;
}

int tg_cel_call_optional_of(struct tg_cel_run *run, const struct tg_cel_node *call,
                            const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    return tg_cel_optional(run->scratch, &args[0], ret) ? 0 : tg_cel_fail_memory(run, call);
}

static bool is_zero(const struct tg_cel_value *v)
{
    switch (v->tag) {
    case TG_CEL_V_NULL:
        return true;
    case TG_CEL_V_BOOL:
        return !v->boolean;
    case TG_CEL_V_INT:
    case TG_CEL_V_UINT:
    case TG_CEL_V_DURATION:
        return v->integer == 0;
    case TG_CEL_V_DOUBLE:
        return v->real == 0;
    case TG_CEL_V_STRING:
    case TG_CEL_V_BYTES:
        return v->length == 0;
    case TG_CEL_V_TIMESTAMP:
        return v->integer == TG_CEL_TIME_MIN && v->nanos == 0;
    case TG_CEL_V_LIST:
    case TG_CEL_V_MAP:
        return tg_cel_size(v) == 0;
    default:
        return false;
    }
}

int tg_cel_call_optional_of_non_zero(struct tg_cel_run *run, const struct tg_cel_node *call,
                                     const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    *ret = tg_cel_none();
    if (is_zero(&args[0]))
        return 0;
    return tg_cel_call_optional_of(run, call, args, ret);
}

int tg_cel_call_has_value(struct tg_cel_run *run, const struct tg_cel_node *call,
                          const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_bool(args[0].inner != NULL);
    return 0;
}

int tg_cel_call_value(struct tg_cel_run *run, const struct tg_cel_node *call,
                      const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    if (args[0].inner == NULL)
        return tg_cel_fail(run, call, "optional.none() dereference");
    *ret = *args[0].inner;
    return 0;
}

static int insert(struct tg_cel_run *run, const struct tg_cel_node *call,
                  const struct tg_cel_value *key, const struct tg_cel_value *value,
                  struct tg_cel_value *map)
{
    enum tg_cel_put rc = tg_cel_map_put(run->scratch, map->map, key, value, false, map);

    if (rc == TG_CEL_PUT_REPEATED)
        return tg_cel_fail_value(run, call, "insert failed: key already exists: ", key);
    return rc == TG_CEL_PUT ? 0 : tg_cel_fail_memory(run, call);
}

int tg_cel_call_map_insert(struct tg_cel_run *run, const struct tg_cel_node *call,
                           const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_value map = args[0], *keys = NULL, *values = NULL;
    size_t n = 0;
    int rc = 0;

    if (map.map->kind != TG_CEL_MAP_ENTRIES)
        return tg_cel_fail_overload(run, call);
    if (call->n_args == 3)
        rc = insert(run, call, &args[1], &args[2], &map);
    else if (!tg_cel_map_entries(run->scratch, args[1].map, &keys, &values, &n))
        rc = tg_cel_fail_memory(run, call);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = insert(run, call, &keys[i], &values[i], &map);
    *ret = map;
    return rc;
}
