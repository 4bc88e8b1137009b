/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kube_objects/tables.h"

#include "api/kubernetes/objects/coordination.h"

static void a_lease_is_read_as_the_api_server_writes_it(void **state)
{
    const struct tg_lease *lease;
    struct document d;

    (void)state;
    document_read(&d, "Lease", &tg_lease_type);
    document_check(&d, &tg_lease_type, "");
    lease = d.object;
    assert_string_equal(lease->metadata->name, "tangram-controller-default");
    assert_string_equal(lease->spec->holder_identity, "c-0_12_34");
    assert_string_equal(lease->spec->acquire_time, "2026-11-02T08:15:31.123456Z");
    assert_string_equal(lease->spec->renew_time, "2026-11-02T08:25:31.654321Z");
    assert_opt_int(lease->spec->lease_duration_seconds, 15);
    assert_opt_int(lease->spec->lease_transitions, 4);
    document_done(&d);
}

static void a_lease_that_nobody_holds_yet_has_no_spec_fields(void **state)
{
    static const char text[] = "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"holderIdentity\":null}}";
    struct tg_arena *arena = tg_arena_new(1 << 16);
    void *object = NULL;
    const struct tg_lease *lease;

    (void)state;
    assert_int_equal(tg_json_decode_new(&tg_lease_type, text, strlen(text), arena, &object, NULL),
                     0);
    lease = object;
    assert_null(lease->spec->holder_identity);
    assert_false(lease->spec->lease_duration_seconds.set);
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_is_read_as_the_api_server_writes_it),
        cmocka_unit_test(a_lease_that_nobody_holds_yet_has_no_spec_fields),
    };
    return cmocka_run_group_tests_name("coordination", tests, NULL, NULL);
}
