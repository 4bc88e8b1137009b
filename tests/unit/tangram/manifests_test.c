/* SPDX-License-Identifier: Apache-2.0 */
/* The manifests repeat names and limits of this API in another language; here they are compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/str.h"
#include "api/runtime/yaml/yaml.h"
#include "api/tangram/names.h"
#include "api/tangram/plan.h"

#define MANIFESTS TEST_SOURCE_DIR "/deploy/manifests/"
static const char *const folders[] = {"base", "1.34", "1.36"};

static const char *kind_of(const struct tg_json *document)
{
    return tg_or(tg_json_string(tg_json_get(document, "kind")), "");
}

static const char *name_of(const struct tg_json *document)
{
    return tg_or(tg_json_string(tg_json_get(tg_json_get(document, "metadata"), "name")), "");
}

static const struct tg_json *spec_of(const struct tg_json *document, const char *field)
{
    return tg_json_get(tg_json_get(document, "spec"), field);
}

/* All documents of one file. */
static size_t parse(struct tg_arena *arena, const char *path, struct tg_json ***ret)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(1 << 20);
    struct tg_error err = TG_ERROR_INIT;
    size_t n = 0;
    if (tg_file_read(path, &text, &err) < 0 ||
        tg_yaml_parse_all(tg_buf_str(&text), text.len, 64, arena, ret, &n, &err) < 0)
        fail_msg("%s: %s", path, err.message);
    return n;
}

/* Calls visit for every document of every manifest; returns how many there were. */
static size_t for_each(struct tg_arena *arena,
                       void (*visit)(const struct tg_json *document, const char *path, void *data),
                       void *data)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char folder[512];
        snprintf(folder, sizeof(folder), "%s%s", MANIFESTS, folders[i]);
        DIR *dir = opendir(folder);
        assert_non_null(dir);
        for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
            if (!tg_has_suffix(entry->d_name, ".yaml"))
                continue;
            char path[1024];
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            struct tg_json **documents;
            size_t n = parse(arena, path, &documents);
            for (size_t j = 0; j < n; j++, count++)
                visit(documents[j], path, data);
        }
        closedir(dir);
    }
    return count;
}

static void check_policy(const struct tg_json *document, const char *path, void *data)
{
    bool mutating = strcmp(kind_of(document), "MutatingAdmissionPolicy") == 0;
    if (!mutating && strcmp(kind_of(document), "ValidatingAdmissionPolicy") != 0)
        return;
    (*(size_t *)data)++;
    const char *name = name_of(document);
    if (!tg_has_prefix(name, "tangram-"))
        fail_msg("%s: policy %s: the name does not say whose it is", path, name);
    if (!tg_streq(tg_json_string(spec_of(document, "failurePolicy")), "Fail"))
        fail_msg("%s: policy %s does not fail closed", path, name);
    const struct tg_json *validations = spec_of(document, "validations");
    if (!mutating && (validations == NULL || validations->n == 0))
        fail_msg("%s: policy %s validates nothing", path, name);
    for (size_t i = 0; validations != NULL && i < validations->n; i++) {
        const char *message =
            tg_json_string(tg_json_get(validations->items[i], "messageExpression"));
        if (!tg_has_prefix(tg_or(message, ""), "'tangram: ") &&
            !tg_has_prefix(tg_or(message, ""), "variables.say + "))
            fail_msg("%s: policy %s: a refusal does not begin with \"tangram:\"", path, name);
    }
}

static void policies_fail_closed_and_say_whose_they_are(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(16 << 20);
    size_t policies = 0;
    assert_true(for_each(arena, check_policy, &policies) > 20);
    assert_int_equal(policies, 17);
}

struct names {
    const char *items[64];
    size_t n;
};

static void collect(const struct tg_json *document, const char *path, void *data)
{
    struct names *names = data;
    if (!tg_has_suffix(kind_of(document), "AdmissionPolicyBinding"))
        return;
    if (!tg_streq(tg_json_string(spec_of(document, "policyName")), name_of(document)))
        fail_msg("%s: binding %s is of another policy", path, name_of(document));
    names->items[names->n++] = name_of(document);
}

static void check_bound(const struct tg_json *document, const char *path, void *data)
{
    const struct names *names = data;
    if (!tg_has_suffix(kind_of(document), "AdmissionPolicy"))
        return;
    for (size_t i = 0; i < names->n; i++)
        if (tg_streq(names->items[i], name_of(document)))
            return;
    fail_msg("%s: policy %s has no binding and does nothing", path, name_of(document));
}

static void every_policy_is_bound(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(16 << 20);
    struct names names = {.n = 0};
    for_each(arena, collect, &names);
    for_each(arena, check_bound, &names);
}

static void check_class(const struct tg_json *document, const char *path, void *data)
{
    if (strcmp(kind_of(document), "DeviceClass") != 0)
        return;
    (*(size_t *)data)++;
    const struct tg_json *labels = tg_json_get(tg_json_get(document, "metadata"), "labels");
    if (!tg_streq(tg_json_string(tg_json_get(labels, TG_LABEL_CONTROLLER)), TG_INSTANCE_DEFAULT))
        fail_msg("%s: class %s is not managed by the default instance", path, name_of(document));
    const struct tg_json *selectors = spec_of(document, "selectors");
    assert_non_null(selectors);
    const struct tg_json *cel = tg_json_get(selectors->items[0], "cel");
    assert_string_equal(tg_json_string(tg_json_get(cel, "expression")), TG_GUARD_EXPRESSION);
}

static void every_class_carries_the_guard_byte_for_byte(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(16 << 20);
    size_t classes = 0;
    for_each(arena, check_class, &classes);
    assert_int_equal(classes, 6);
}

static void check_account(const struct tg_json *document, const char *path, void *data)
{
    (void)data;
    const struct tg_json *subjects = tg_json_get(document, "subjects");
    for (size_t i = 0; subjects != NULL && i < subjects->n; i++) {
        const struct tg_json *role = tg_json_get(document, "roleRef");
        const char *name = tg_json_string(tg_json_get(role, "name"));
        if (tg_streq(name, "cluster-admin") || tg_streq(name, "admin"))
            fail_msg("%s: a program runs as %s", path, name);
        assert_string_equal(tg_json_string(tg_json_get(subjects->items[i], "namespace")),
                            TG_NAMESPACE_SYSTEM);
    }
    const struct tg_json *rules = tg_json_get(document, "rules");
    for (size_t i = 0; rules != NULL && i < rules->n; i++) {
        const struct tg_json *lists[] = {tg_json_get(rules->items[i], "verbs"),
                                         tg_json_get(rules->items[i], "resources"),
                                         tg_json_get(rules->items[i], "apiGroups")};
        for (size_t l = 0; l < 3; l++)
            for (size_t j = 0; lists[l] != NULL && j < lists[l]->n; j++)
                if (tg_streq(tg_json_string(lists[l]->items[j]), "*"))
                    fail_msg("%s: role %s grants everything of something", path, name_of(document));
    }
}

static void no_role_uses_a_wildcard(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(16 << 20);
    for_each(arena, check_account, NULL);
}

/* What the programs send, and nothing else: a request that is not here would be refused, a right
 * that is not here would be given to whoever gets hold of the account. */
static const char *const rights[] = {
    /* controller/informers.c lists and watches; controller/operation.c writes, and reads again
     * (get) what became of a write without an answer. */
    "tangram-controller resource.k8s.io/resourceclaims get,list,watch,update,patch",
    "tangram-controller resource.k8s.io/resourceclaims/status patch",
    "tangram-controller resource.k8s.io/resourceclaims/binding patch", /* checked with the former */
    "tangram-controller resource.k8s.io/resourceslices list,watch",
    "tangram-controller resource.k8s.io/deviceclasses list,watch",
    "tangram-controller resource.k8s.io/devicetaintrules list,watch",
    "tangram-controller /pods get,list,watch,patch",
    "tangram-controller /pods/eviction create", /* onMemberLoss: Recreate */
    "tangram-controller /nodes list,watch",
    "tangram-controller /namespaces list,watch",
    "tangram-controller /persistentvolumes list,watch",
    "tangram-controller /persistentvolumeclaims list,watch",
    "tangram-controller storage.k8s.io/storageclasses list,watch",
    "tangram-controller /events create,patch",
    "tangram-controller tangram.dev/gangs get,list,watch,create,patch,delete",
    "tangram-controller tangram.dev/gangs/status patch",
    /* controller/owners.c */
    "tangram-controller apps/statefulsets get",
    "tangram-controller apps/replicasets get",
    "tangram-controller apps/deployments get",
    "tangram-controller batch/jobs get",
    "tangram-controller leaderworkerset.x-k8s.io/leaderworkersets get",
    "tangram-controller jobset.x-k8s.io/jobsets get",
    "tangram-controller coordination.k8s.io/leases get,create,patch",
    /* kubelet-plugin/claim_api.c, slice_api.c, node_watch.c */
    "tangram-kubelet-plugin resource.k8s.io/resourceclaims get",
    "tangram-kubelet-plugin resource.k8s.io/resourceslices list,watch,create,update,delete",
    "tangram-kubelet-plugin /nodes list,watch",
    "tangram-kubelet-plugin /events create,patch",
};

static void check_right(const struct tg_json *document, const char *path, void *data)
{
    const struct tg_json *rules = tg_json_get(document, "rules");
    if (!tg_streq(name_of(document), "tangram-controller") &&
        !tg_streq(name_of(document), "tangram-kubelet-plugin"))
        return;
    for (size_t i = 0; rules != NULL && i < rules->n; i++) {
        const struct tg_json *resources = tg_json_get(rules->items[i], "resources");
        const struct tg_json *verbs = tg_json_get(rules->items[i], "verbs");
        const struct tg_json *groups = tg_json_get(rules->items[i], "apiGroups");
        assert_int_equal(groups->n, 1);
        for (size_t r = 0; r < resources->n; r++) {
            TG_AUTOBUF struct tg_buf right = TG_BUF_INIT(1000);
            size_t k = 0;
            tg_buf_printf(&right, "%s %s/%s ", name_of(document), tg_json_string(groups->items[0]),
                          tg_json_string(resources->items[r]));
            for (size_t v = 0; v < verbs->n; v++)
                tg_buf_printf(&right, "%s%s", v == 0 ? "" : ",", tg_json_string(verbs->items[v]));
            while (k < TG_ARRAY_SIZE(rights) && !tg_streq(rights[k], tg_buf_str(&right)))
                k++;
            if (k == TG_ARRAY_SIZE(rights))
                fail_msg("%s: no program needs \"%s\"", path, tg_buf_str(&right));
            (*(size_t *)data)++;
        }
    }
}

static void roles_grant_what_the_programs_send_and_nothing_else(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(16 << 20);
    size_t granted = 0;
    for_each(arena, check_right, &granted);
    assert_int_equal(granted, TG_ARRAY_SIZE(rights));
}

static void names_and_limits_are_those_of_the_api(void **state)
{
    (void)state;
    char maximum[64];
    snprintf(maximum, sizeof(maximum), "variables.p.size <= %d", TG_GANG_MAX_MEMBERS);
    const struct {
        const char *file;
        const char *text;
    } expected[] = {
        {"base/42-policy-members.yaml", maximum},
        {"base/42-policy-members.yaml", "'" TG_MARKER_DRIVER "'"},
        {"base/42-policy-members.yaml", "'" TG_API_VERSION "'"},
        {"base/42-policy-members.yaml", "'" TG_KIND_MEMBER "'"},
        {"base/41-policy-slices.yaml", "'" TG_DRIVER_DEFAULT "'"},
        {"base/41-policy-slices.yaml", "startsWith('" TG_GUARD_DOMAIN "/')"},
        {"base/40-policy-claim-status.yaml", "key: " TG_LABEL_CONTROLLER},
        {"base/43-policy-gate-removal.yaml", "'" TG_GATE "'"},
        {"base/43-policy-gate-removal.yaml",
         "group('" TG_GROUP "').resource('" TG_PLURAL_GANG "')"},
        {"base/44-policy-records.yaml",
         "['" TG_ANNOTATION_PLAN "', '" TG_ANNOTATION_EPOCH "'].exists("},
        {"base/44-policy-records.yaml", "'" TG_FINALIZER_PLAN "' in oldObject.metadata"},
        {"base/44-policy-records.yaml", "group('" TG_GROUP "').resource('" TG_PLURAL_GANG "')"},
        {"1.36/50-gate.yaml", "name: \"" TG_GATE "\""},
        {"1.36/50-gate.yaml", "key: " TG_LABEL_GANG},
        {"1.36/51-managed-label.yaml", "\"" TG_LABEL_MANAGED "\": \"" TG_LABEL_TRUE "\""},
        {"1.34/50-gate.yaml", "'" TG_GATE "'"},
        {"1.34/51-managed-label.yaml", "'" TG_LABEL_MANAGED "'"},
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(1 << 20);
        struct tg_error err = TG_ERROR_INIT;
        char path[512];
        snprintf(path, sizeof(path), "%s%s", MANIFESTS, expected[i].file);
        assert_int_equal(tg_file_read(path, &text, &err), 0);
        if (strstr(tg_buf_str(&text), expected[i].text) == NULL)
            fail_msg("%s does not say %s", expected[i].file, expected[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_fail_closed_and_say_whose_they_are),
        cmocka_unit_test(every_policy_is_bound),
        cmocka_unit_test(every_class_carries_the_guard_byte_for_byte),
        cmocka_unit_test(no_role_uses_a_wildcard),
        cmocka_unit_test(roles_grant_what_the_programs_send_and_nothing_else),
        cmocka_unit_test(names_and_limits_are_those_of_the_api),
    };
    return cmocka_run_group_tests_name("manifests", tests, NULL, NULL);
}
