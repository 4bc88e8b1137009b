/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/tangram/configuration.h"

#define AUTOCONFIGURATION TG_CLEANUP(tg_cleanup_configuration)
#define HEAD "apiVersion: tangram.dev/v1alpha1\nkind: TangramConfiguration\n"

static int parse(const char *yaml, struct tg_configuration **ret, struct tg_error *err)
{
    return tg_configuration_parse("t.yaml", yaml, strlen(yaml), ret, err);
}

static void an_almost_empty_document_gives_the_defaults(void **state)
{
    (void)state;
    AUTOCONFIGURATION struct tg_configuration *c = NULL;
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(parse(HEAD, &c, &err), 0);
    assert_string_equal(tg_configuration_instance(c), "default");
    assert_string_equal(tg_configuration_policies(c)->fleet, "default");
    assert_int_equal(tg_configuration_policies(c)->n_classes, 0);
    const struct tg_delays *d = tg_configuration_delays(c);
    assert_int_equal(d->lease, 15 * TG_SECOND);
    assert_int_equal(d->stall, 120 * TG_SECOND);
    assert_int_equal(d->bind, 60 * TG_SECOND);
    assert_int_equal(d->hold, 300 * TG_SECOND);
    assert_int_equal(d->linger, 60 * TG_SECOND);
    assert_int_equal(d->request, 10 * TG_SECOND);
    assert_int_equal(d->watch, 300 * TG_SECOND);
    assert_int_equal(d->watch_idle, 180 * TG_SECOND);
    size_t n;
    const struct tg_level *levels = tg_configuration_levels(c, &n);
    assert_int_equal(n, 2);
    assert_string_equal(levels[0].node_label, "topology.kubernetes.io/zone");
    assert_string_equal(levels[1].name, "host");
    assert_string_equal(levels[1].node_label, "kubernetes.io/hostname");
}

static void every_field_is_read(void **state)
{
    (void)state;
    AUTOCONFIGURATION struct tg_configuration *c = NULL;
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(parse(HEAD "instance: blue\n"
                                "topology:\n"
                                "- {name: zone, nodeLabel: topology.kubernetes.io/zone}\n"
                                "- {name: rack, nodeLabel: example.com/rack}\n"
                                "- {name: clique, deviceAttribute: gpu.example.com/clique}\n"
                                "- {name: host}\n"
                                "placement:\n"
                                "  policy: spread\n"
                                "  classes: [{class: mig, policy: fill}]\n"
                                "  expect:\n"
                                "  - {class: gpu, devices: 8, cpu: 96, memory: 1Ti, count: 3}\n"
                                "  - {class: gpu, selector: 'true'}\n"
                                "delays: {lease: 2s, stall: 3s, bind: 4s, hold: 5s, linger: 6s, "
                                "request: 7s, watch: 8s, drainAfter: 9s, drain: 10s, "
                                "watchIdle: 900ms}\n",
                           &c, &err),
                     0);
    assert_string_equal(tg_configuration_instance(c), "blue");
    const struct tg_policies *policies = tg_configuration_policies(c);
    assert_string_equal(policies->fleet, "spread");
    assert_int_equal(policies->n_classes, 1);
    assert_string_equal(policies->classes[0].class_name, "mig");
    assert_string_equal(policies->classes[0].policy, "fill");
    size_t n_expected;
    const struct tg_expected *expected = tg_configuration_expected(c, &n_expected);
    assert_int_equal(n_expected, 2);
    assert_int_equal(expected[0].devices, 8);
    assert_string_equal(expected[0].cpu, "96");
    assert_string_equal(expected[0].memory, "1Ti");
    assert_int_equal(expected[0].count, 3);
    assert_int_equal(expected[1].devices, 1);
    assert_string_equal(expected[1].selector, "true");
    assert_int_equal(expected[1].count, 1);
    const struct tg_delays *d = tg_configuration_delays(c);
    assert_int_equal(d->lease, 2 * TG_SECOND);
    assert_int_equal(d->stall, 3 * TG_SECOND);
    assert_int_equal(d->bind, 4 * TG_SECOND);
    assert_int_equal(d->hold, 5 * TG_SECOND);
    assert_int_equal(d->linger, 6 * TG_SECOND);
    assert_int_equal(d->request, 7 * TG_SECOND);
    assert_int_equal(d->watch, 8 * TG_SECOND);
    assert_int_equal(d->watch_idle, 900 * TG_MILLISECOND);
    size_t n;
    const struct tg_level *levels = tg_configuration_levels(c, &n);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(levels[i].rank, i);
    assert_string_equal(levels[2].device_attribute, "gpu.example.com/clique");
    assert_null(levels[2].node_label);
}

static void host_is_always_the_innermost_level(void **state)
{
    (void)state;
    AUTOCONFIGURATION struct tg_configuration *c = NULL;
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(parse(HEAD "topology: [{name: rack, nodeLabel: r}]\n", &c, &err), 0);
    size_t n;
    const struct tg_level *levels = tg_configuration_levels(c, &n);
    assert_int_equal(n, 2);
    assert_string_equal(levels[1].name, "host");
}

static void levels_are_found_by_name_and_by_label(void **state)
{
    (void)state;
    AUTOCONFIGURATION struct tg_configuration *c = NULL;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_level level;
    assert_int_equal(
        parse(HEAD "topology: [{name: rack, nodeLabel: example.com/rack}]\n", &c, &err), 0);
    assert_int_equal(tg_configuration_find_level(c, "rack", &level, &err), 0);
    assert_string_equal(level.node_label, "example.com/rack");
    assert_int_equal(level.rank, 0);
    assert_int_equal(tg_configuration_find_level(c, "example.com/rack", &level, &err), 0);
    assert_string_equal(level.name, "rack");
    assert_int_equal(tg_configuration_find_level(c, "example.com/row", &level, &err), 0);
    assert_string_equal(level.node_label, "example.com/row");
    assert_true(level.rank == TG_LEVEL_UNRANKED);
}

static void an_unknown_level_is_an_error_that_lists_the_known_ones(void **state)
{
    (void)state;
    AUTOCONFIGURATION struct tg_configuration *c = tg_configuration_new_default();
    struct tg_level level;
    static const char *const unknown[] = {"rack", "", "a b/c", NULL};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        struct tg_error err = TG_ERROR_INIT;
        assert_int_equal(tg_configuration_find_level(c, unknown[i], &level, &err), -TG_NOT_FOUND);
        assert_non_null(strstr(err.message, "zone, host"));
    }
}

static const struct {
    const char *yaml;
    const char *where; /* file:line, then what the message must name */
    const char *named;
} refused[] = {
    {"", "t.yaml", ""},
    {"[]\n", "t.yaml:1", "mapping"},
    {"kind: TangramConfiguration\n", "t.yaml:1", "apiVersion"},
    {"apiVersion: tangram.dev/v2\nkind: TangramConfiguration\n", "t.yaml:1", "tangram.dev/v2"},
    {"apiVersion: tangram.dev/v1alpha1\nkind: Fleet\n", "t.yaml:2", "Fleet"},
    {HEAD "instanze: a\n", "t.yaml:3", "instanze"},
    {HEAD "instance: 7\n", "t.yaml:3", "instance"},
    {HEAD "instance: A\n", "t.yaml:3", "instance"},
    {HEAD "placement: default\n", "t.yaml:3", "placement"},
    {HEAD "placement: {policy: bestfit}\n", "t.yaml:3", "bestfit"},
    {HEAD "placement:\n  policy: 7\n", "t.yaml:4", "placement.policy"},
    {HEAD "placement: {classes: {}}\n", "t.yaml:3", "placement.classes"},
    {HEAD "placement: {classes: [{policy: fill}]}\n", "t.yaml:3", "class is missing"},
    {HEAD "placement: {classes: [{class: a}]}\n", "t.yaml:3", "placement.classes[0]"},
    {HEAD "placement: {classes: [{class: a, policy: x}]}\n", "t.yaml:3", "placement.classes[0]"},
    {HEAD "placement: {classes: [{class: a, policy: fgd}, {class: a, policy: fgd}]}\n", "t.yaml:3",
     "twice"},
    {HEAD "placement: {expect: [{devices: 1}]}\n", "t.yaml:3", "class is missing"},
    {HEAD "placement: {expect: [{class: a, devices: 0}]}\n", "t.yaml:3", "devices"},
    {HEAD "placement: {expect: [{class: a, count: 1.5}]}\n", "t.yaml:3", "count"},
    {HEAD "placement: {expect: [{class: a, cpu: lots}]}\n", "t.yaml:3", "cpu"},
    {HEAD "placement: {expect: [{class: a, memory: -1}]}\n", "t.yaml:3", "memory"},
    {HEAD "placement: {expect: [{class: a, gpus: 1}]}\n", "t.yaml:3", "gpus"},
    {HEAD "placement: {polizy: default}\n", "t.yaml:3", "polizy"},
    {HEAD "delays: {lease: 15}\n", "t.yaml:3", "delays.lease"},
    {HEAD "delays: {lease: soon}\n", "t.yaml:3", "delays.lease"},
    {HEAD "delays: {lease: 1500ms}\n", "t.yaml:3", "whole seconds"},
    {HEAD "delays: {lease: 0s}\n", "t.yaml:3", "delays.lease"},
    {HEAD "delays: {bind: -1s}\n", "t.yaml:3", "delays.bind"},
    {HEAD "delays: {bind: 169h}\n", "t.yaml:3", "delays.bind"},
    {HEAD "delays:\n  lease: 15s\n  leese: 15s\n", "t.yaml:5", "leese"},
    {HEAD "delays: []\n", "t.yaml:3", "delays"},
    {HEAD "topology: {}\n", "t.yaml:3", "topology"},
    {HEAD "topology: [rack]\n", "t.yaml:3", "topology[0]"},
    {HEAD "topology:\n- {name: rack, nodeLabel: r}\n- {name: rack, nodeLabel: q}\n", "t.yaml:5",
     "rack"},
    {HEAD "topology:\n- {name: rack, nodeLabel: r}\n- {name: row, nodeLabel: r}\n", "t.yaml:5",
     "rack"},
    {HEAD "topology:\n- {name: a, deviceAttribute: a/b}\n- {name: b, deviceAttribute: a/b}\n",
     "t.yaml:5", "a/b"},
    {HEAD "topology:\n- {name: host}\n- {name: rack, nodeLabel: r}\n", "t.yaml:5", "innermost"},
    {HEAD "topology: [{name: rack}]\n", "t.yaml:3", "nodeLabel"},
    {HEAD "topology: [{nodeLabel: r}]\n", "t.yaml:3", "name"},
    {HEAD "topology: [{name: rack, nodeLabel: r, deviceAttribute: a/b}]\n", "t.yaml:3",
     "exactly one"},
    {HEAD "topology: [{name: rack, nodeLabel: a b}]\n", "t.yaml:3", "a b"},
    {HEAD "topology: [{name: rack, deviceAttribute: clique}]\n", "t.yaml:3", "clique"},
    {HEAD "topology: [{name: host, nodeLabel: example.com/host}]\n", "t.yaml:3", "host"},
    {HEAD "topology: [{name: host, deviceAttribute: a/b}]\n", "t.yaml:3", "deviceAttribute"},
    {HEAD "topology: [{name: rack, lable: r}]\n", "t.yaml:3", "lable"},
    {HEAD "topology: [{name: [], nodeLabel: r}]\n", "t.yaml:3", "topology[0]"},
};

static void errors_name_file_line_and_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        AUTOCONFIGURATION struct tg_configuration *c = NULL;
        struct tg_error err = TG_ERROR_INIT;
        if (parse(refused[i].yaml, &c, &err) != -TG_INVALID_ARGUMENT)
            fail_msg("accepted: %s", refused[i].yaml);
        if (strstr(err.message, refused[i].where) != err.message ||
            strstr(err.message, refused[i].named) == NULL)
            fail_msg("\"%s\" for %s", err.message, refused[i].yaml);
    }
}

static void more_levels_than_supported_are_refused(void **state)
{
    (void)state;
    char yaml[2048] = HEAD "topology:\n";
    for (int i = 0; i < 17; i++) {
        size_t used = strlen(yaml);
        snprintf(yaml + used, sizeof(yaml) - used, "- {name: l%d, nodeLabel: k%d}\n", i, i);
    }
    AUTOCONFIGURATION struct tg_configuration *c = NULL;
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(parse(yaml, &c, &err), -TG_INVALID_ARGUMENT);
    /* The most that is allowed leaves room for host. */
    *strstr(yaml, "- {name: l16") = '\0';
    assert_int_equal(parse(yaml, &c, &err), 0);
    size_t n;
    tg_configuration_levels(c, &n);
    assert_int_equal(n, 17);
}

static void a_missing_file_is_reported_with_its_name(void **state)
{
    (void)state;
    struct tg_configuration *c = NULL;
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_configuration_load("/nonexistent/t.yaml", &c, &err), -TG_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nonexistent/t.yaml"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_almost_empty_document_gives_the_defaults),
        cmocka_unit_test(every_field_is_read),
        cmocka_unit_test(host_is_always_the_innermost_level),
        cmocka_unit_test(levels_are_found_by_name_and_by_label),
        cmocka_unit_test(an_unknown_level_is_an_error_that_lists_the_known_ones),
        cmocka_unit_test(errors_name_file_line_and_field),
        cmocka_unit_test(more_levels_than_supported_are_refused),
        cmocka_unit_test(a_missing_file_is_reported_with_its_name),
    };
    return cmocka_run_group_tests_name("configuration", tests, NULL, NULL);
}
