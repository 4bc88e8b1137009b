/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/kubelet/registration.h"
#include "api/runtime/base/cleanup.h"
#include "kubelet-plugin/registration.h"
#include "tests/unit/plugin/folder.h"
#include "tests/unit/plugin/kubelet.h"

struct bench {
    struct test_folder folder;
    struct tg_loop *loop;
    struct tg_registration *registration;
    struct kubelet kubelet;
    char socket[160];
    int told;
    bool registered;
    char why[100];
};

static void changed(void *data, bool registered, const char *why)
{
    struct bench *bench = data;
    bench->told++;
    bench->registered = registered;
    snprintf(bench->why, sizeof(bench->why), "%s", why);
}

static int setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    test_folder_init(&bench->folder);
    bench->loop = tg_loop_new(false);
    const struct tg_registration_config config = {.driver = TEST_DRIVER,
                                                  .registry_dir = bench->folder.registry,
                                                  .service_path = "/plugins/dra.sock",
                                                  .changed = changed,
                                                  .data = bench};
    assert_int_equal(tg_registration_new(bench->loop, &config, &bench->registration, NULL), 0);
    snprintf(bench->socket, sizeof(bench->socket), "%s/" TEST_DRIVER "-reg.sock",
             bench->folder.registry);
    kubelet_init(&bench->kubelet, bench->loop, bench->socket);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    kubelet_done(&bench->kubelet);
    tg_registration_free(bench->registration);
    tg_loop_free(bench->loop);
    test_folder_done(&bench->folder);
    free(bench);
    return 0;
}

static bool holds(const struct tg_buf *bytes, const char *text)
{
    return memmem(bytes->data, bytes->len, text, strlen(text)) != NULL;
}

static void get_info_names_driver_endpoint_and_services_best_first(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = kubelet_call(&bench->kubelet, TG_KUBELET_GET_INFO, NULL, 0);
    assert_string_equal(call->grpc_status, "0");
    assert_true(holds(&call->body, "\x0a\x09"
                                   "DRAPlugin"
                                   "\x12\x0f" TEST_DRIVER "\x1a\x11/plugins/dra.sock"
                                   "\x22\x0cv1.DRAPlugin"
                                   "\x22\x11v1beta1.DRAPlugin"));
    assert_true(holds(&call->body, "v1.DRAResourceHealth"));
    assert_true(holds(&call->body, "v1alpha1.DRAResourceHealth"));
}

static void the_kubelets_verdict_is_remembered_and_told(void **state)
{
    struct bench *bench = *state;
    assert_false(tg_registration_registered(bench->registration));
    struct client_call *call = kubelet_call(&bench->kubelet, TG_KUBELET_NOTIFY, "\x08\x01", 2);
    assert_string_equal(call->grpc_status, "0");
    assert_int_equal(call->body.len, 5);
    assert_true(tg_registration_registered(bench->registration));
    kubelet_call(&bench->kubelet, TG_KUBELET_NOTIFY,
                 "\x12\x06"
                 "no way",
                 8);
    assert_false(tg_registration_registered(bench->registration));
    assert_int_equal(bench->told, 2);
    assert_string_equal(bench->why, "no way");
}

static void a_message_that_is_none_is_refused(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = kubelet_call(&bench->kubelet, TG_KUBELET_NOTIFY, "\x12\x7f", 2);
    assert_string_equal(call->grpc_status, "3");
    assert_int_equal(bench->told, 0);
}

static void freeing_removes_the_socket_which_deregisters(void **state)
{
    struct bench *bench = *state;
    tg_registration_free(bench->registration);
    bench->registration = NULL;
    assert_int_equal(access(bench->socket, F_OK), -1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(get_info_names_driver_endpoint_and_services_best_first),
        TEST(the_kubelets_verdict_is_remembered_and_told),
        TEST(a_message_that_is_none_is_refused),
        TEST(freeing_removes_the_socket_which_deregisters),
    };
    return cmocka_run_group_tests_name("registration", tests, NULL, NULL);
}
