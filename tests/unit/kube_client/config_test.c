/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/kubernetes/client/config.h"

struct fixture {
    char folder[64];
    char path[128];
    struct tg_arena *arena;
    struct tg_kube_config config;
    struct tg_error err;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    snprintf(f->folder, sizeof(f->folder), "/tmp/tangram-config-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof(f->path), "%s/config", f->folder);
    f->arena = tg_arena_new(4 << 20);
    *state = f;
    return 0;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    static const char *const files[] = {
        "/config",
        "/var/run/secrets/kubernetes.io/serviceaccount/token",
        "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt",
        "/var/run/secrets/kubernetes.io/serviceaccount/namespace",
        "/var/run/secrets/kubernetes.io/serviceaccount",
        "/var/run/secrets/kubernetes.io",
        "/var/run/secrets",
        "/var/run",
        "/var",
        "",
    };
    char path[256];

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", f->folder, files[i]);
        (void)remove(path);
    }
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
    tg_arena_free(f->arena);
    free(f);
    return 0;
}

static int load(struct fixture *f, const char *text)
{
    write_file(f->path, text);
    f->err = TG_ERROR_INIT;
    return tg_kube_config_load(f->path, f->arena, &f->config, &f->err);
}

#define HEAD                                                                                       \
    "apiVersion: v1\n"                                                                             \
    "kind: Config\n"                                                                               \
    "current-context: here\n"                                                                      \
    "contexts:\n"                                                                                  \
    "- name: there\n"                                                                              \
    "  context: {cluster: other, user: other}\n"                                                   \
    "- name: here\n"                                                                               \
    "  context: {cluster: c, user: u, namespace: team-a}\n"                                        \
    "clusters:\n"                                                                                  \
    "- name: other\n"                                                                              \
    "  cluster: {server: 'https://other'}\n"                                                       \
    "- name: c\n"                                                                                  \
    "  cluster:\n"                                                                                 \
    "    server: https://10.0.0.1:6443\n"
#define USER                                                                                       \
    "users:\n"                                                                                     \
    "- name: u\n"                                                                                  \
    "  user:\n"

static void the_current_context_decides(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(load(f, HEAD "    tls-server-name: kubernetes\n"
                                  "    certificate-authority-data: |\n"
                                  "      aGVs\n"
                                  "      bG8=\n" USER "    token: abc\n"),
                     0);
    assert_string_equal(f->config.server, "https://10.0.0.1:6443");
    assert_string_equal(f->config.namespace_, "team-a");
    assert_string_equal(f->config.token, "abc");
    assert_null(f->config.token_file);
    assert_string_equal(f->config.tls.server_name, "kubernetes");
    assert_string_equal(f->config.tls.ca_data, "hello");
    assert_null(f->config.tls.ca_file);
    assert_false(f->config.tls.insecure);
}

static void relative_files_are_relative_to_the_kubeconfig(void **state)
{
    struct fixture *f = *state;
    char expected[128];

    assert_int_equal(load(f, HEAD "    certificate-authority: pki/ca.crt\n" USER
                                  "    client-certificate: /abs/u.crt\n"
                                  "    client-key: u.key\n"
                                  "    tokenFile: token\n"),
                     0);
    snprintf(expected, sizeof(expected), "%s/pki/ca.crt", f->folder);
    assert_string_equal(f->config.tls.ca_file, expected);
    assert_string_equal(f->config.tls.cert_file, "/abs/u.crt");
    snprintf(expected, sizeof(expected), "%s/u.key", f->folder);
    assert_string_equal(f->config.tls.key_file, expected);
    snprintf(expected, sizeof(expected), "%s/token", f->folder);
    assert_string_equal(f->config.token_file, expected);
}

static void inline_data_win_over_files_and_a_token_file_over_a_token(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(load(f, HEAD "    insecure-skip-tls-verify: true\n" USER
                                  "    client-certificate: u.crt\n"
                                  "    client-certificate-data: Yw==\n"
                                  "    client-key-data: aw==\n"
                                  "    token: abc\n"
                                  "    tokenFile: /t\n"),
                     0);
    assert_string_equal(f->config.tls.cert_data, "c");
    assert_null(f->config.tls.cert_file);
    assert_string_equal(f->config.tls.key_data, "k");
    assert_true(f->config.tls.insecure);
    assert_null(f->config.token);
    assert_string_equal(f->config.token_file, "/t");
}

static void a_json_kubeconfig_is_read_too_and_the_namespace_has_a_default(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(
        load(f, "{\"current-context\":\"x\",\"contexts\":[{\"name\":\"x\",\"context\":"
                "{\"cluster\":\"c\"}}],\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":"
                "\"https://h\"}}]}"),
        0);
    assert_string_equal(f->config.server, "https://h");
    assert_string_equal(f->config.namespace_, "default");
    assert_null(f->config.token);
}

static void an_exec_credential_names_program_arguments_and_environment(void **state)
{
    struct fixture *f = *state;
    char expected[128];

    assert_int_equal(load(f, HEAD "    proxy-url: http://proxy:3128\n" USER "    exec:\n"
                                  "      apiVersion: client.authentication.k8s.io/v1beta1\n"
                                  "      command: ./bin/login\n"
                                  "      args: [get, token]\n"
                                  "      env: [{name: A, value: b}, {name: EMPTY}]\n"
                                  "      installHint: apt install login\n"
                                  "      interactiveMode: IfAvailable\n"),
                     0);
    snprintf(expected, sizeof(expected), "%s/./bin/login", f->folder);
    assert_string_equal(f->config.exec->argv[0], expected);
    assert_string_equal(f->config.exec->argv[1], "get");
    assert_string_equal(f->config.exec->argv[2], "token");
    assert_null(f->config.exec->argv[3]);
    assert_string_equal(f->config.exec->env[0], "A=b");
    assert_string_equal(f->config.exec->env[1], "EMPTY=");
    assert_string_equal(
        f->config.exec->env[2],
        "KUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\",\"apiVersion\":"
        "\"client.authentication.k8s.io/v1beta1\",\"spec\":{\"interactive\":false}}");
    assert_null(f->config.exec->env[3]);
    assert_string_equal(f->config.exec->install_hint, "apt install login");
    assert_string_equal(f->config.proxy_url, "http://proxy:3128");
}

static void a_program_that_asks_for_it_is_told_about_the_cluster(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(
        load(f,
             HEAD "    tls-server-name: kubernetes\n"
                  "    certificate-authority-data: aGVsbG8=\n"
                  "    extensions:\n"
                  "    - {name: other, extension: {b: 1}}\n"
                  "    - {name: client.authentication.k8s.io/exec, extension: {audience: x}}\n" USER
                  "    exec:\n"
                  "      apiVersion: client.authentication.k8s.io/v1\n"
                  "      command: login\n"
                  "      provideClusterInfo: true\n"),
        0);
    assert_string_equal(f->config.exec->argv[0], "login"); /* from PATH */
    assert_string_equal(
        f->config.exec->env[0],
        "KUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\",\"apiVersion\":"
        "\"client.authentication.k8s.io/v1\",\"spec\":{\"cluster\":{\"server\":"
        "\"https://10.0.0.1:6443\",\"tls-server-name\":\"kubernetes\","
        "\"certificate-authority-data\":\"aGVsbG8=\",\"config\":{\"audience\":\"x\"}},"
        "\"interactive\":false}}");
}

static void what_is_wrong_is_said_with_file_and_field(void **state)
{
    static const struct {
        const char *text;
        enum tg_code code;
        const char *part;
    } cases[] = {
        {"", TG_INVALID_ARGUMENT, "/config"},
        {"current-context: [", TG_INVALID_ARGUMENT, "/config"},
        {"current-context: 7\n", TG_INVALID_ARGUMENT, "current-context: expected a string"},
        {"kind: Config\n", TG_INVALID_ARGUMENT, "current-context is not set"},
        {"current-context: x\n", TG_NOT_FOUND, "no entry \"x\" in contexts"},
        {"current-context: x\ncontexts: [{name: x, context: {cluster: y}}]\n", TG_NOT_FOUND,
         "no entry \"y\" in clusters"},
        {"current-context: x\ncontexts: [{name: x, context: {cluster: y}}]\n"
         "clusters: [{name: y, cluster: {}}]\n",
         TG_INVALID_ARGUMENT, "cluster.server is missing"},
        {HEAD, TG_NOT_FOUND, "no entry \"u\" in users"},
        {HEAD "    proxy-url: {a: b}\n" USER "    token: a\n", TG_INVALID_ARGUMENT,
         "cluster.proxy-url: expected a string"},
        {HEAD USER "    exec: {command: aws}\n", TG_UNIMPLEMENTED, "user.exec.apiVersion"},
        {HEAD USER "    exec: {command: a, apiVersion: client.authentication.k8s.io/v1alpha1}\n",
         TG_UNIMPLEMENTED, "v1alpha1"},
        {HEAD USER "    exec: {apiVersion: client.authentication.k8s.io/v1}\n", TG_INVALID_ARGUMENT,
         "user.exec.command is missing"},
        {HEAD USER "    exec: {apiVersion: client.authentication.k8s.io/v1, command: a, args: b}\n",
         TG_INVALID_ARGUMENT, "user.exec.args: expected a list of strings"},
        {HEAD USER
         "    exec: {apiVersion: client.authentication.k8s.io/v1, command: a, args: [[]]}\n",
         TG_INVALID_ARGUMENT, "user.exec.args: expected a list of strings"},
        {HEAD USER
         "    exec: {apiVersion: client.authentication.k8s.io/v1, command: a, env: [{value: b}]}\n",
         TG_INVALID_ARGUMENT, "user.exec.env"},
        {HEAD USER "    exec: {apiVersion: client.authentication.k8s.io/v1, command: a, "
                   "interactiveMode: Always}\n",
         TG_UNIMPLEMENTED, "nobody is there to answer"},
        {HEAD USER "    auth-provider: {name: gcp}\n", TG_UNIMPLEMENTED, "auth-provider"},
        {HEAD USER "    username: admin\n", TG_UNIMPLEMENTED, "user.username"},
        {HEAD USER "    as: root\n", TG_UNIMPLEMENTED, "user.as"},
        {HEAD USER "    client-key-data: '***'\n", TG_INVALID_ARGUMENT, "user.client-key-data"},
        {HEAD USER "    client-key-data: YWE\n", TG_INVALID_ARGUMENT, "user.client-key-data"},
        {HEAD USER "    client-key-data: YQ==YQ==\n", TG_INVALID_ARGUMENT, "user.client-key-data"},
        {HEAD USER "    client-key-data: AA==\n", TG_INVALID_ARGUMENT, "user.client-key-data"},
        {HEAD USER "    token: {a: b}\n", TG_INVALID_ARGUMENT, "user.token: expected a string"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(load(f, cases[i].text), -(int)cases[i].code);
        assert_non_null(strstr(f->err.message, cases[i].part));
        assert_non_null(strstr(f->err.message, f->path));
    }
}

static void a_missing_kubeconfig_is_told_with_its_path(void **state)
{
    struct fixture *f = *state;
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(tg_kube_config_load(f->path, f->arena, &f->config, &err), -TG_NOT_FOUND);
    assert_non_null(strstr(err.message, f->path));
}

static void make_service_account(struct fixture *f)
{
    static const char *const folders[] = {"/var", "/var/run", "/var/run/secrets",
                                          "/var/run/secrets/kubernetes.io",
                                          "/var/run/secrets/kubernetes.io/serviceaccount"};
    char path[256];

    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof(path), "%s%s", f->folder, folders[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    snprintf(path, sizeof(path), "%s%s/token", f->folder, folders[4]);
    write_file(path, "t");
    snprintf(path, sizeof(path), "%s%s/ca.crt", f->folder, folders[4]);
    write_file(path, "c");
    snprintf(path, sizeof(path), "%s%s/namespace", f->folder, folders[4]);
    write_file(path, "tangram-system");
}

static void a_pod_finds_server_token_and_namespace(void **state)
{
    struct fixture *f = *state;

    make_service_account(f);
    setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    assert_int_equal(tg_kube_config_in_cluster(f->folder, f->arena, &f->config, NULL), 0);
    assert_string_equal(f->config.server, "https://[fd00::1]:443");
    assert_string_equal(f->config.namespace_, "tangram-system");
    assert_non_null(strstr(f->config.token_file, "serviceaccount/token"));
    assert_non_null(strstr(f->config.tls.ca_file, "serviceaccount/ca.crt"));
    setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1", 1);
    assert_int_equal(tg_kube_config_in_cluster(f->folder, f->arena, &f->config, NULL), 0);
    assert_string_equal(f->config.server, "https://10.96.0.1:443");
}

static void outside_a_pod_it_says_what_is_missing(void **state)
{
    struct fixture *f = *state;
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(tg_kube_config_in_cluster(f->folder, f->arena, &f->config, &err),
                     -TG_FAILED_PRECONDITION);
    assert_non_null(strstr(err.message, "KUBERNETES_SERVICE_HOST"));
    setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    assert_int_equal(tg_kube_config_in_cluster(f->folder, f->arena, &f->config, &err),
                     -TG_NOT_FOUND);
    assert_non_null(strstr(err.message, "serviceaccount/token"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_current_context_decides),
        TEST(relative_files_are_relative_to_the_kubeconfig),
        TEST(inline_data_win_over_files_and_a_token_file_over_a_token),
        TEST(a_json_kubeconfig_is_read_too_and_the_namespace_has_a_default),
        TEST(an_exec_credential_names_program_arguments_and_environment),
        TEST(a_program_that_asks_for_it_is_told_about_the_cluster),
        TEST(what_is_wrong_is_said_with_file_and_field),
        TEST(a_missing_kubeconfig_is_told_with_its_path),
        TEST(a_pod_finds_server_token_and_namespace),
        TEST(outside_a_pod_it_says_what_is_missing),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
