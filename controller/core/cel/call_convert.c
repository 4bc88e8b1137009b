/* SPDX-License-Identifier: Apache-2.0 */
/* int(), string() and so on, type(), size(). */
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "controller/core/cel/calls.h"
#include "controller/core/cel/net.h"
#include "controller/core/cel/number.h"
#include "controller/core/cel/text.h"
#include "controller/core/cel/time.h"

static int no_conversion(struct tg_cel_run *run, const struct tg_cel_node *call,
                         const struct tg_cel_value *value)
{
    return tg_cel_fail_value(run, call, "type conversion error: cannot convert ", value);
}

int tg_cel_call_bool(struct tg_cel_run *run, const struct tg_cel_node *call,
                     const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    static const char *const words[] = {"1", "t", "T", "TRUE",  "true",  "True",
                                        "0", "f", "F", "FALSE", "false", "False"};

    *ret = args[0];
    if (args[0].tag == TG_CEL_V_BOOL)
        return 0;
    for (size_t i = 0; i < TG_ARRAY_SIZE(words); i++) {
        if (strlen(words[i]) == args[0].length &&
            memcmp(words[i], args[0].text, args[0].length) == 0) {
            *ret = tg_cel_bool(i < TG_ARRAY_SIZE(words) / 2);
            return 0;
        }
    }
    return no_conversion(run, call, &args[0]);
}

int tg_cel_call_bytes(struct tg_cel_run *run, const struct tg_cel_node *call,
                      const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = args[0];
    ret->tag = TG_CEL_V_BYTES;
    return 0;
}

int tg_cel_call_double(struct tg_cel_run *run, const struct tg_cel_node *call,
                       const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    double value = args[0].real;

    if (args[0].tag == TG_CEL_V_INT)
        value = (double)args[0].integer;
    else if (args[0].tag == TG_CEL_V_UINT)
        value = (double)args[0].uinteger;
    else if (args[0].tag == TG_CEL_V_STRING &&
             !tg_cel_parse_double(args[0].text, args[0].length, &value))
        return no_conversion(run, call, &args[0]);
    *ret = tg_cel_double(value);
    return 0;
}

int tg_cel_call_duration(struct tg_cel_run *run, const struct tg_cel_node *call,
                         const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int64_t nanoseconds = args[0].integer;

    if (args[0].tag == TG_CEL_V_STRING &&
        !tg_cel_duration_parse(args[0].text, args[0].length, &nanoseconds))
        return no_conversion(run, call, &args[0]);
    *ret = tg_cel_duration(nanoseconds);
    return 0;
}

int tg_cel_call_dyn(struct tg_cel_run *run, const struct tg_cel_node *call,
                    const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = args[0];
    return 0;
}

int tg_cel_call_int(struct tg_cel_run *run, const struct tg_cel_node *call,
                    const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int64_t value = args[0].integer;
    bool fits = true;

    if (args[0].tag == TG_CEL_V_DOUBLE)
        fits = tg_cel_double_to_int(args[0].real, &value);
    else if (args[0].tag == TG_CEL_V_UINT)
        fits = args[0].uinteger <= INT64_MAX;
    else if (args[0].tag == TG_CEL_V_STRING)
        fits = tg_cel_parse_int(args[0].text, args[0].length, &value);
    if (!fits)
        return no_conversion(run, call, &args[0]);
    *ret = tg_cel_int(value);
    return 0;
}

int tg_cel_call_uint(struct tg_cel_run *run, const struct tg_cel_node *call,
                     const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    uint64_t value = args[0].uinteger;
    bool fits = true;

    if (args[0].tag == TG_CEL_V_DOUBLE)
        fits = tg_cel_double_to_uint(args[0].real, &value);
    else if (args[0].tag == TG_CEL_V_INT)
        fits = args[0].integer >= 0;
    else if (args[0].tag == TG_CEL_V_STRING)
        fits = tg_cel_parse_uint(args[0].text, args[0].length, &value);
    if (!fits)
        return no_conversion(run, call, &args[0]);
    *ret = tg_cel_uint(value);
    return 0;
}

/* The text of a value that is no string, no bytes. */
static size_t value_text(const struct tg_cel_value *v, char *out)
{
    switch (v->tag) {
    case TG_CEL_V_BOOL:
        memcpy(out, v->boolean ? "true" : "false", 5);
        return v->boolean ? 4 : 5;
    case TG_CEL_V_DURATION:
        return tg_cel_duration_text(v->integer, out);
    case TG_CEL_V_TIMESTAMP:
        return tg_cel_time_text(v, out);
    case TG_CEL_V_IP:
    case TG_CEL_V_CIDR:
        return tg_cel_net_text(v->net, v->tag == TG_CEL_V_CIDR, out);
    default:
        return tg_cel_number_text(v, out);
    }
}

int tg_cel_call_string(struct tg_cel_run *run, const struct tg_cel_node *call,
                       const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    char *out;

    *ret = args[0];
    if (args[0].tag == TG_CEL_V_STRING)
        return 0;
    if (args[0].tag == TG_CEL_V_BYTES) {
        if (!tg_cel_text_valid(args[0].text, args[0].length))
            return tg_cel_fail(run, call, "invalid UTF-8 in bytes, cannot convert to string");
        ret->tag = TG_CEL_V_STRING;
        return 0;
    }
    out = tg_cel_alloc(run->scratch, TG_CEL_NUMBER_TEXT);
    if (out == NULL)
        return tg_cel_fail_memory(run, call);
    *ret = tg_cel_text(out, value_text(&args[0], out));
    return 0;
}

int tg_cel_call_timestamp(struct tg_cel_run *run, const struct tg_cel_node *call,
                          const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    *ret = args[0];
    if (args[0].tag == TG_CEL_V_TIMESTAMP)
        return 0;
    if (args[0].tag == TG_CEL_V_INT) {
        *ret = tg_cel_timestamp(args[0].integer, 0);
        if (args[0].integer < TG_CEL_TIME_MIN || args[0].integer > TG_CEL_TIME_MAX)
            return tg_cel_fail(run, call, "timestamp overflow");
        return 0;
    }
    if (!tg_cel_time_parse(args[0].text, args[0].length, ret))
        return no_conversion(run, call, &args[0]);
    return 0;
}

int tg_cel_call_type(struct tg_cel_run *run, const struct tg_cel_node *call,
                     const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = (struct tg_cel_value){.tag = TG_CEL_V_TYPE, .type = tg_cel_type_of(&args[0])};
    return 0;
}

int tg_cel_call_size(struct tg_cel_run *run, const struct tg_cel_node *call,
                     const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_int((int64_t)tg_cel_size(&args[0]));
    return 0;
}
