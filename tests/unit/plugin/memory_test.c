/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the kubelet while memory runs out at any allocation: each is answered, an error says
 * why, nothing is half done, and the same call succeeds when there is memory again. */
#include "tests/unit/plugin/bench.h"

#include <dirent.h>

#include "tests/support/failing_arena.h"

#define DOCUMENT "k8s." TEST_DRIVER "-claim_" UID ".json"

static struct client_call *call(struct bench *bench, const char *path)
{
    /* Closed calls are kept by the client: a connection for each. */
    TG_AUTOFREE char *socket = tg_xasprintf("%s/dra.sock", bench->folder.plugin);

    kubelet_done(&bench->kubelet);
    kubelet_init(&bench->kubelet, bench->loop, socket);
    return kubelet_call(&bench->kubelet, path, REQUEST, sizeof(REQUEST) - 1);
}

static bool has_document(const struct bench *bench)
{
    TG_AUTOFREE char *path = tg_xasprintf("%s/" DOCUMENT, bench->folder.cdi);

    return access(path, F_OK) == 0;
}

/* Without memory for the call as a whole that is its status; else the claim has an error. */
static bool succeeded(const struct client_call *call)
{
    if (strcmp(call->grpc_status, "0") != 0) {
        assert_string_equal(call->grpc_status, "8"); /* RESOURCE_EXHAUSTED */
        assert_true(call->grpc_message[0] != '\0');
        return false;
    }
    assert_true(holds(call, UID));
    if (!holds(call, "claim ns/one: "))
        return true;
    assert_true(holds(call, "memory") || holds(call, "bytes"));
    return false;
}

/* One call, whose nth allocation fails, and the same again with memory. Returns whether the
 * allocation came. */
static bool try_twice(struct bench *bench, const char *path, size_t nth, size_t *failures)
{
    struct client_call *first;
    bool came, good;

    failing_arena_start(nth);
    first = call(bench, path);
    came = failing_arena_stop();
    good = succeeded(first);
    assert_true(came || good);
    *failures += !good;
    assert_true(succeeded(call(bench, path)));
    return came;
}

static void any_allocation_of_a_call_may_fail(void **state)
{
    struct bench *bench = *state;
    size_t failures = 0;
    bool came = true;

    for (size_t nth = 1; came; nth++) {
        came = try_twice(bench, TG_KUBELET_DRA_V1_PREPARE, nth, &failures);
        assert_true(has_document(bench));
        came |= try_twice(bench, TG_KUBELET_DRA_V1_UNPREPARE, nth, &failures);
        assert_false(has_document(bench));
    }
    assert_true(failures > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_allocation_of_a_call_may_fail, bench_setup,
                                        bench_teardown),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
