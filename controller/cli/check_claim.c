/* SPDX-License-Identifier: Apache-2.0 */
/* Claims and classes: requests, selectors, constraints, opaque configuration. */
#include <inttypes.h>

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/gpu_config.h"
#include "api/tangram/member.h"
#include "api/tangram/names.h"
#include "api/tangram/syntax.h"
#include "controller/cli/check.h"

#define CEL_MEMORY ((size_t)16 << 20)
#define PARAMETERS_MAX ((size_t)10 << 10) /* OpaqueParametersMaxLength */
#define LIST_MAX 32                       /* requests, constraints, configurations, selectors */
#define ALTERNATIVES_MAX 8

/* --- selectors ------------------------------------------------------------------------------- */

static void check_selector(const struct tg_check_at *selector)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(CEL_MEMORY);
    const struct tg_check_at cel = tg_check_member(selector, "cel");
    const struct tg_check_at expression = tg_check_member(&cel, "expression");
    const char *text = tg_json_string(expression.value);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_selector *compiled;

    if (text == NULL)
        tg_check_problem(selector, "a selector is {cel: {expression: ...}}");
    else if (tg_selector_compile_with(text, &selector->run->selectors, arena, &compiled, &err) < 0)
        tg_check_problem(&expression, "%s", err.message);
}

static void check_selectors(const struct tg_check_at *list)
{
    size_t n = tg_check_most(list, LIST_MAX);

    for (size_t i = 0; i < n; i++) {
        const struct tg_check_at selector = tg_check_item(list, i);

        check_selector(&selector);
    }
}

/* --- opaque configuration -------------------------------------------------------------------- */

/* The decoders of those who read them. */
static int decode_member(const char *json, size_t n, struct tg_arena *arena, struct tg_error *err)
{
    struct tg_member *member = NULL;

    return tg_member_decode(json, n, arena, &member, err);
}

static int decode_gpu_config(const char *json, size_t n, struct tg_arena *arena,
                             struct tg_error *err)
{
    struct tg_gpu_config config;

    return tg_gpu_config_decode(json, n, arena, &config, err);
}

/* What is said of them as a whole begins with the kind, which is none of their fields. */
static const char *without_kind(const char *message)
{
    static const char *const kinds[] = {TG_KIND_MEMBER ": ", TG_KIND_GPU_CONFIG ": ",
                                        TG_KIND_MIG_CONFIG ": "};

    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++) {
        if (tg_has_prefix(message, kinds[i]))
            return message + strlen(kinds[i]);
    }
    return message;
}

/* decode NULL: those of another driver, which nobody here can read. */
static void check_parameters(const struct tg_check_at *parameters,
                             int (*decode)(const char *json, size_t n, struct tg_arena *arena,
                                           struct tg_error *err))
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(PARAMETERS_MAX);
    struct tg_error err = TG_ERROR_INIT;

    if (tg_json_write(parameters->value, &text) < 0) {
        tg_check_problem(parameters, "is longer than %zu bytes", PARAMETERS_MAX);
        return;
    }
    if (decode != NULL && decode(tg_buf_str(&text), text.len, parameters->run->arena, &err) < 0)
        tg_problems_locate(parameters->run->problems, parameters->document->file,
                           parameters->document->root, parameters->path, without_kind(err.message));
}

/* For the driver of the devices, whatever name it was given. */
static bool is_for_devices(const char *driver, const struct tg_json *parameters)
{
    const char *version = tg_json_string(tg_json_at(parameters, "apiVersion", NULL));
    const char *kind = tg_json_string(tg_json_at(parameters, "kind", NULL));

    return tg_streq(driver, TG_DRIVER_DEFAULT) ||
           (tg_has_prefix(tg_or(version, ""), TG_GROUP "/") &&
            (tg_streq(kind, TG_KIND_GPU_CONFIG) || tg_streq(kind, TG_KIND_MIG_CONFIG)));
}

/* The right parameters under the wrong name. */
static bool is_misplaced(const char *driver, const char *kind, const char **ret_right)
{
    bool member = tg_streq(kind, TG_KIND_MEMBER), marker = tg_streq(driver, TG_MARKER_DRIVER);

    *ret_right = member ? TG_MARKER_DRIVER : TG_DRIVER_DEFAULT;
    return (member && tg_streq(driver, TG_DRIVER_DEFAULT)) ||
           (marker && (tg_streq(kind, TG_KIND_GPU_CONFIG) || tg_streq(kind, TG_KIND_MIG_CONFIG)));
}

static void check_config(const struct tg_check_at *config)
{
    const struct tg_check_at opaque = tg_check_member(config, "opaque");
    const struct tg_check_at driver = tg_check_member(&opaque, "driver");
    const struct tg_check_at parameters = tg_check_member(&opaque, "parameters");
    const char *kind = tg_json_string(tg_json_at(parameters.value, "kind", NULL)), *right;

    if (opaque.value == NULL) {
        tg_check_problem(config, "opaque is missing: {driver, parameters}");
        return;
    }
    if (tg_or(tg_json_string(driver.value), "")[0] == '\0')
        tg_check_problem(&opaque, "driver is missing: whose configuration this is");
    if (parameters.value == NULL || parameters.value->kind != TG_JSON_OBJECT)
        tg_check_problem(&opaque, "parameters is missing: an object");
    else if (is_misplaced(tg_json_string(driver.value), kind, &right))
        tg_check_problem(&driver, "a %s is read by driver %s", kind, right);
    else if (tg_streq(tg_json_string(driver.value), TG_MARKER_DRIVER))
        check_parameters(&parameters, decode_member);
    else if (is_for_devices(tg_json_string(driver.value), parameters.value))
        check_parameters(&parameters, decode_gpu_config);
    else
        check_parameters(&parameters, NULL);
}

static void check_configs(const struct tg_check_at *list)
{
    size_t n = tg_check_most(list, LIST_MAX);

    for (size_t i = 0; i < n; i++) {
        const struct tg_check_at config = tg_check_item(list, i);

        check_config(&config);
    }
}

/* --- requests -------------------------------------------------------------------------------- */

/* Of the release's API: "ExactCount" is the default. */
static size_t check_count(const struct tg_check_at *exact)
{
    const struct tg_check_at mode = tg_check_member(exact, "allocationMode");
    const struct tg_check_at count = tg_check_member(exact, "count");
    const char *text = tg_json_string(mode.value);
    int64_t n = 1;

    if (mode.value != NULL && !tg_streq(text, "ExactCount") && !tg_streq(text, "All"))
        tg_check_problem(&mode, "allocationMode is ExactCount (with count) or All");
    if (count.value != NULL && tg_streq(text, "All"))
        tg_check_problem(&count, "count and allocationMode All exclude each other");
    if (count.value != NULL && (tg_json_i64(count.value, &n) != 0 || n < 0))
        tg_check_problem(&count, "count must be a whole number; 0 stands for 1");
    else if (n > TG_RESULTS_MAX)
        tg_check_problem(&count,
                         "a claim cannot have more than %d devices; use several claims, or a gang",
                         TG_RESULTS_MAX);
    return n < 1 || n > TG_RESULTS_MAX ? 1 : (size_t)n;
}

/* Rules of DeviceToleration. */
static void check_toleration(const struct tg_check_at *toleration)
{
    const struct tg_check_at operator_ = tg_check_member(toleration, "operator");
    const struct tg_check_at value = tg_check_member(toleration, "value");
    const struct tg_check_at effect = tg_check_member(toleration, "effect");
    const char *how = tg_or(tg_json_string(operator_.value), "Equal");
    const char *what = tg_or(tg_json_string(effect.value), "");

    if (!tg_streq(how, "Equal") && !tg_streq(how, "Exists"))
        tg_check_problem(&operator_, "operator is Equal or Exists");
    if (tg_streq(how, "Exists") && tg_or(tg_json_string(value.value), "")[0] != '\0')
        tg_check_problem(&value, "value and operator Exists exclude each other");
    if (what[0] != '\0' && !tg_streq(what, "NoSchedule") && !tg_streq(what, "NoExecute") &&
        !tg_streq(what, "None"))
        tg_check_problem(&effect, "effect is NoSchedule, NoExecute, None or absent");
}

static void check_tolerations(const struct tg_check_at *exact)
{
    const struct tg_check_at list = tg_check_member(exact, "tolerations");
    size_t n = tg_check_items(&list);

    for (size_t i = 0; i < n; i++) {
        const struct tg_check_at one = tg_check_item(&list, i);

        check_toleration(&one);
    }
}

static size_t check_exact(const struct tg_check_at *exact)
{
    const struct tg_check_at class = tg_check_member(exact, "deviceClassName");
    const struct tg_check_at selectors = tg_check_member(exact, "selectors");

    if (!tg_syntax_is_dns_subdomain(tg_json_string(class.value), 253))
        tg_check_problem(class.value == NULL ? exact : &class,
                         "deviceClassName must name a DeviceClass");
    check_selectors(&selectors);
    check_tolerations(exact);
    return check_count(exact);
}

static size_t check_alternatives(const struct tg_check_at *list)
{
    size_t n = tg_check_most(list, ALTERNATIVES_MAX), least = TG_RESULTS_MAX;

    for (size_t i = 0; i < n; i++) {
        const struct tg_check_at one = tg_check_item(list, i);
        const struct tg_check_at name = tg_check_member(&one, "name");
        size_t count = check_exact(&one);

        if (!tg_syntax_is_dns_label(tg_json_string(name.value)))
            tg_check_problem(&one, "an alternative needs a name");
        else if (tg_check_is_twice(list, i, "name"))
            tg_check_problem(&name, "there are two alternatives named \"%s\"",
                             tg_json_string(name.value));
        least = count < least ? count : least;
    }
    return least;
}

/* Is there a request of that name before the one at index `before`? */
static bool has_request(const struct tg_json *requests, const char *name, size_t before)
{
    size_t n = strcspn(name, "/");

    for (size_t i = 0; requests != NULL && i < requests->n && i < before && i < LIST_MAX; i++) {
        const char *own = tg_json_string(tg_json_get(requests->items[i], "name"));

        if (own != NULL && strlen(own) == n && strncmp(own, name, n) == 0)
            return true;
    }
    return false;
}

static size_t check_request(const struct tg_check_at *list, size_t index)
{
    const struct tg_check_at request = tg_check_item(list, index);
    const struct tg_check_at name = tg_check_member(&request, "name");
    const struct tg_check_at exactly = tg_check_member(&request, "exactly");
    const struct tg_check_at first = tg_check_member(&request, "firstAvailable");
    const char *text = tg_json_string(name.value);

    if (!tg_syntax_is_dns_label(text))
        tg_check_problem(name.value == NULL ? &request : &name, "a request needs a name of "
                                                                "lower-case letters, digits and "
                                                                "'-'");
    else if (has_request(list->value, text, index))
        tg_check_problem(&name, "there are two requests named \"%s\"", text);
    if ((exactly.value == NULL) == (first.value == NULL)) {
        tg_check_problem(&request, "exactly one of exactly and firstAvailable must be set");
        return 1;
    }
    return exactly.value != NULL ? check_exact(&exactly) : check_alternatives(&first);
}

/* --- constraints ----------------------------------------------------------------------------- */

static void check_references(const struct tg_check_at *list, const struct tg_json *requests)
{
    size_t n = tg_check_most(list, LIST_MAX);

    for (size_t i = 0; i < n; i++) {
        const struct tg_check_at one = tg_check_item(list, i);
        const char *name = tg_json_string(one.value);

        if (name == NULL || !has_request(requests, name, SIZE_MAX))
            tg_check_problem(&one, "there is no request \"%s\" in this claim", tg_or(name, ""));
    }
}

static void check_constraint(const struct tg_check_at *constraint, const struct tg_json *requests)
{
    static const char *const kinds[] = {"matchAttribute", "distinctAttribute"};
    const struct tg_check_at names = tg_check_member(constraint, "requests");
    size_t set = 0;

    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++) {
        const struct tg_check_at attribute = tg_check_member(constraint, kinds[i]);

        set += attribute.value != NULL;
        if (attribute.value != NULL && !tg_syntax_is_attribute(tg_json_string(attribute.value)))
            tg_check_problem(&attribute,
                             "must be the full name of an attribute, such as " TG_DRIVER_DEFAULT
                             "/productName");
    }
    if (set != 1)
        tg_check_problem(constraint, "exactly one of matchAttribute and distinctAttribute must be "
                                     "set");
    check_references(&names, requests);
}

static void check_constraints(const struct tg_check_at *list, const struct tg_json *requests)
{
    size_t n = tg_check_most(list, LIST_MAX);

    for (size_t i = 0; i < n; i++) {
        const struct tg_check_at one = tg_check_item(list, i);

        check_constraint(&one, requests);
    }
}

void tg_check_claim_spec(const struct tg_check_at *spec)
{
    const struct tg_check_at devices = tg_check_member(spec, "devices");
    const struct tg_check_at requests = tg_check_member(&devices, "requests");
    const struct tg_check_at constraints = tg_check_member(&devices, "constraints");
    const struct tg_check_at config = tg_check_member(&devices, "config");
    size_t n = tg_check_most(&requests, LIST_MAX), total = 0;

    if (n == 0)
        tg_check_problem(spec, "devices.requests is missing: what the claim is for");
    for (size_t i = 0; i < n; i++)
        total += check_request(&requests, i);
    if (total > TG_RESULTS_MAX)
        tg_check_problem(&requests,
                         "the requests add up to %zu devices, and a claim has at most %d; use "
                         "several claims",
                         total, TG_RESULTS_MAX);
    check_constraints(&constraints, requests.value);
    check_configs(&config);
    for (size_t i = 0, k = tg_check_items(&config); i < k && i < LIST_MAX; i++) {
        const struct tg_check_at one = tg_check_item(&config, i);
        const struct tg_check_at names = tg_check_member(&one, "requests");

        check_references(&names, requests.value);
    }
}

/* --- classes --------------------------------------------------------------------------------- */

static bool has_guard(const struct tg_json *selectors)
{
    for (size_t i = 0; selectors != NULL && i < selectors->n; i++)
        if (tg_streq(tg_json_string(tg_json_at(selectors->items[i], "cel", "expression", NULL)),
                     TG_GUARD_EXPRESSION))
            return true;
    return false;
}

void tg_check_class(const struct tg_check_at *root)
{
    const struct tg_check_at spec = tg_check_member(root, "spec");
    const struct tg_check_at selectors = tg_check_member(&spec, "selectors");
    const struct tg_check_at config = tg_check_member(&spec, "config");
    const struct tg_json *label =
        tg_json_at(root->value, "metadata", "labels", TG_LABEL_CONTROLLER, NULL);
    bool guarded = has_guard(selectors.value);

    if (label != NULL && !guarded)
        tg_check_problem(selectors.value == NULL ? root : &selectors,
                         "the class is labelled " TG_LABEL_CONTROLLER
                         " and has no guard: add an entry whose expression is " TG_GUARD_EXPRESSION
                         ", exactly so");
    if (label == NULL && guarded)
        tg_check_problem(root, "the class has the guard and is not labelled " TG_LABEL_CONTROLLER
                               ": nobody allocates from it");
    check_selectors(&selectors);
    check_configs(&config);
}
