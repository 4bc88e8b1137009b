/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/str.h"
#include "kubelet-plugin/options.h"

static int parse(struct tg_arena *arena, struct tg_plugin_options *options, struct tg_error *err,
                 const char *const *arguments)
{
    enum tg_options_result result;
    char *argv[16] = {0};
    int argc = 0;
    for (; arguments[argc] != NULL; argc++)
        argv[argc] = (char *)(uintptr_t)arguments[argc]; /* only read */
    *options = (struct tg_plugin_options){0};
    int rc = tg_options_parse(&tg_plugin_option_set, argc, argv, options, &result, err);
    return rc != 0 ? rc : tg_plugin_options_complete(options, arena, err);
}
#define PARSE(...)                                                                                 \
    parse(arena, &options, &err, (const char *const[]){"tangram-kubelet-plugin", __VA_ARGS__, NULL})

static void defaults_are_those_of_a_node(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(65536);
    struct tg_plugin_options options;
    struct tg_error err = TG_ERROR_INIT;
    (void)state;
    assert_int_equal(PARSE("--node-name", "a", "--inventory", "/i"), 0);
    assert_string_equal(options.driver_name, "gpu.tangram.dev");
    assert_string_equal(options.plugin_dir, "/var/lib/kubelet/plugins/gpu.tangram.dev");
    assert_string_equal(options.registry_dir, "/var/lib/kubelet/plugins_registry");
    assert_string_equal(options.cdi_dir, "/var/run/cdi");
    assert_string_equal(options.provider, "sim");
    assert_string_equal(options.kubeconfig, "");
    assert_string_equal(options.health_addr, "");
    /* Longer than other drivers take to put back slices that the kubelet has removed. */
    assert_true(options.conflict_grace > 30 * TG_SECOND);
}

static void the_environment_stands_in_for_missing_options(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(65536);
    struct tg_plugin_options options;
    struct tg_error err = TG_ERROR_INIT;
    (void)state;
    setenv("TANGRAM_NODE_NAME", "from-env", 1);
    setenv("TANGRAM_DRIVER_NAME", "env.example.com", 1);
    int rc = PARSE("--inventory=/i", "--driver-name", "arg.example.com");
    unsetenv("TANGRAM_NODE_NAME");
    unsetenv("TANGRAM_DRIVER_NAME");
    assert_int_equal(rc, 0);
    assert_string_equal(options.node_name, "from-env");
    assert_string_equal(options.plugin_dir, "/var/lib/kubelet/plugins/arg.example.com");
}

static void every_option_has_an_environment_fallback_and_a_help_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < tg_plugin_option_set.n; i++) {
        const struct tg_option *option = &tg_plugin_option_set.options[i];
        assert_true(tg_has_prefix(option->env, "TANGRAM_"));
        assert_non_null(option->help);
    }
}

static void wrong_values_are_refused_by_name(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(65536);
    struct tg_plugin_options options;
    struct tg_error err = TG_ERROR_INIT;
    char folder[200];
    (void)state;

    assert_int_equal(PARSE("--node-name", "a"), -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "--inventory"));
    assert_int_equal(PARSE("--node-name", "A_b", "--inventory", "/i"), -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "--node-name"));
    static const char *const names[] = {"-a", "a-", "a..b", ".a", "a.", "a.-b", "a_b", ""};
    for (size_t i = 0; i < TG_ARRAY_SIZE(names); i++) {
        assert_int_equal(PARSE("--node-name", "a", "--inventory", "/i", "--driver-name", names[i]),
                         -TG_INVALID_ARGUMENT);
        assert_non_null(strstr(err.message, "--driver-name"));
    }
    memset(folder, 'f', sizeof(folder));
    folder[0] = '/';
    folder[110] = '\0';
    assert_int_equal(PARSE("--node-name", "a", "--inventory", "/i", "--plugin-dir", folder),
                     -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "119 bytes"));
    assert_int_equal(PARSE("--node-name", "a", "--inventory", "/i", "--registry-dir", "relative"),
                     -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "absolute"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_a_node),
        cmocka_unit_test(the_environment_stands_in_for_missing_options),
        cmocka_unit_test(every_option_has_an_environment_fallback_and_a_help_text),
        cmocka_unit_test(wrong_values_are_refused_by_name),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
