/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/prepare/prepare.h"

#include <sys/stat.h>

#include "tests/unit/driver/fixture.h"

static int set_up(void **state)
{
    struct fixture *f = fixture_new();
    fixture_open(f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture_free(*state);
    return 0;
}

static void the_answer_names_devices_requests_and_cdi_ids(void **state)
{
    struct fixture *f = *state;
    struct tg_allocation_device results[] = {result("big/one", "gpu-1"), result("small", "gpu-2"),
                                             result("big/one", "gpu-0")};
    const struct tg_prepared_claim *claim = NULL;
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-a", "ns", "a", results, 3, &claim, NULL), 0);
    assert_string_equal(claim->uid, "uid-a");
    assert_string_equal(claim->namespace_, "ns");
    assert_string_equal(claim->name, "a");
    assert_int_equal(claim->n, 3);
    assert_string_equal(claim->devices[0].request, "big"); /* the kubelet wants base names */
    assert_string_equal(claim->devices[0].pool, NODE);
    assert_string_equal(claim->devices[0].device, "gpu-1");
    assert_string_equal(claim->devices[0].cdi_id, "k8s.gpu.tangram.dev/claim=uid-a_big_gpu-1");
    assert_string_equal(claim->devices[1].cdi_id, "k8s.gpu.tangram.dev/claim=uid-a_small_gpu-2");
    assert_string_equal(claim->devices[2].cdi_id, "k8s.gpu.tangram.dev/claim=uid-a_big_gpu-0");
    assert_null(claim->devices[0].share_id);
    assert_true(fixture_has_document(f, "uid-a"));
}

static void results_of_other_drivers_are_not_ours(void **state)
{
    struct fixture *f = *state;
    struct tg_allocation_device results[] = {result("nic", "nic-0"), result("gpu", "gpu-1")};
    const struct tg_prepared_claim *claim = NULL;
    results[0].driver = "nic.example.com";
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-a", "ns", "a", results, 2, &claim, NULL), 0);
    assert_int_equal(claim->n, 1);
    assert_string_equal(claim->devices[0].device, "gpu-1");
}

static void a_claim_without_devices_of_ours_is_answered_and_not_remembered(void **state)
{
    struct fixture *f = *state;
    struct tg_allocation_device other = result("nic", "nic-0");
    const struct tg_prepared_claim *claim = NULL;
    other.driver = "nic.example.com";
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-a", "ns", "a", &other, 1, &claim, NULL), 0);
    assert_int_equal(claim->n, 0);
    assert_int_equal(tg_prepare_count(f->prepare), 0);
    assert_int_equal(fixture_count_files(f), 0);
}

static void the_same_claim_again_gets_the_same_answer(void **state)
{
    struct fixture *f = *state;
    struct tg_allocation_device one = result("gpus", "gpu-1");
    const struct tg_prepared_claim *first = NULL, *second = NULL;
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-a", "ns", "a", &one, 1, &first, NULL), 0);
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-a", "ns", "a", &one, 1, &second, NULL), 0);
    assert_ptr_equal(first, second);
    assert_int_equal(tg_prepare_count(f->prepare), 1);
}

static void the_same_claim_again_restores_its_lost_document(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    TG_AUTOFREE char *path = fixture_document(f, "uid-a");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    assert_true(fixture_has_document(f, "uid-a"));
}

static void the_same_claim_with_other_devices_is_refused(void **state)
{
    struct fixture *f = *state;
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-2", &err), -TG_FAILED_PRECONDITION);
    assert_true(err.retry);
    assert_non_null(strstr(err.message, "uid-a"));
    assert_held_by(f, "uid-a", "gpu-1");
}

static void a_device_of_another_claim_is_refused_retriably_and_its_holder_named(void **state)
{
    struct fixture *f = *state;
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    assert_int_equal(fixture_prepare(f, "uid-b", "gpu-1", &err), -TG_FAILED_PRECONDITION);
    assert_true(err.retry);
    assert_non_null(strstr(err.message, "gpu-1"));
    assert_non_null(strstr(err.message, "ns/uid-a"));
    assert_null(tg_prepare_find(f->prepare, "uid-b"));
    assert_false(fixture_has_document(f, "uid-b"));
}

static void of_a_claim_with_one_held_device_nothing_is_prepared(void **state)
{
    struct fixture *f = *state;
    struct tg_allocation_device both[] = {result("gpus", "gpu-2"), result("gpus", "gpu-1")};
    const struct tg_prepared_claim *claim = NULL;
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-b", "ns", "b", both, 2, &claim, NULL),
                     -TG_FAILED_PRECONDITION);
    assert_int_equal(fixture_prepare(f, "uid-c", "gpu-2", NULL), 0);
}

static void a_released_device_can_be_had_again(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    assert_int_equal(tg_prepare_release(f->prepare, "uid-a", NULL), 0);
    assert_false(fixture_has_document(f, "uid-a"));
    assert_null(tg_prepare_find(f->prepare, "uid-a"));
    assert_int_equal(fixture_prepare(f, "uid-b", "gpu-1", NULL), 0);
}

static void admin_access_is_no_owner(void **state)
{
    struct fixture *f = *state;
    struct tg_allocation_device admin = result("look", "gpu-1");
    const struct tg_prepared_claim *claim = NULL;
    admin.admin_access = (struct tg_opt_bool){.set = true, .value = true};
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-b", "ns", "b", &admin, 1, &claim, NULL), 0);
    assert_true(claim->devices[0].admin_access);
    assert_int_equal(tg_prepare_release(f->prepare, "uid-a", NULL), 0);
    assert_int_equal(fixture_prepare(f, "uid-c", "gpu-1", NULL), 0); /* beside the admin's */
}

static void admin_access_that_is_false_is_an_owner(void **state)
{
    struct fixture *f = *state;
    struct tg_allocation_device plain = result("look", "gpu-1");
    const struct tg_prepared_claim *claim = NULL;
    plain.admin_access = (struct tg_opt_bool){.set = true, .value = false};
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-b", "ns", "b", &plain, 1, &claim, NULL),
                     -TG_FAILED_PRECONDITION);
}

static void different_shares_of_one_device_are_different_devices(void **state)
{
    struct fixture *f = *state;
    struct tg_allocation_device share = result("gpus", "gpu-1");
    const struct tg_prepared_claim *claim = NULL;
    share.share_id = "11111111-2222-3333-4444-555555555555";
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-a", "ns", "a", &share, 1, &claim, NULL), 0);
    assert_string_equal(claim->devices[0].share_id, share.share_id);
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-b", "ns", "b", &share, 1, &claim, NULL),
                     -TG_FAILED_PRECONDITION);
    share.share_id = "11111111-2222-3333-4444-666666666666";
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-c", "ns", "c", &share, 1, &claim, NULL), 0);
    assert_int_equal(fixture_prepare(f, "uid-d", "gpu-1", NULL),
                     -TG_FAILED_PRECONDITION); /* all of it */
}

static void a_claim_that_counts_one_device_twice_is_refused(void **state)
{
    struct fixture *f = *state;
    struct tg_allocation_device twice[] = {result("a", "gpu-1"), result("b", "gpu-1")};
    const struct tg_prepared_claim *claim = NULL;
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-a", "ns", "a", twice, 2, &claim, &err),
                     -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "gpu-1"));
}

static void a_device_that_is_not_there_is_retriable(void **state)
{
    struct fixture *f = *state;
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-77", &err), -TG_NOT_FOUND);
    assert_true(err.retry);
    assert_non_null(strstr(err.message, "gpu-77"));
}

static void a_device_of_another_pool_is_not_ours(void **state)
{
    struct fixture *f = *state;
    struct tg_allocation_device one = result("gpus", "gpu-1");
    const struct tg_prepared_claim *claim = NULL;
    struct tg_error err = TG_ERROR_INIT;
    one.pool = "node-2";
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-a", "ns", "a", &one, 1, &claim, &err),
                     -TG_NOT_FOUND);
    assert_non_null(strstr(err.message, "node-2"));
}

static void names_that_would_leave_the_folder_are_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const uids[] = {"", "../x", "a/b", "a b", ".", "a\nb", "-a", "a-"};
    struct tg_allocation_device one = result("gpus", "gpu-1");
    const struct tg_prepared_claim *claim = NULL;
    for (size_t i = 0; i < TG_ARRAY_SIZE(uids); i++)
        assert_int_equal(tg_prepare_claim(f->prepare, uids[i], "ns", "a", &one, 1, &claim, NULL),
                         -TG_INVALID_ARGUMENT);
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-a", "../ns", "a", &one, 1, &claim, NULL),
                     -TG_INVALID_ARGUMENT);
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-a", "ns", "", &one, 1, &claim, NULL),
                     -TG_INVALID_ARGUMENT);
    one.request = "../x";
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-a", "ns", "a", &one, 1, &claim, NULL),
                     -TG_INVALID_ARGUMENT);
    one.request = NULL;
    assert_int_equal(tg_prepare_claim(f->prepare, "uid-a", "ns", "a", &one, 1, &claim, NULL),
                     -TG_INVALID_ARGUMENT);
    assert_int_equal(fixture_count_files(f), 0);
}

static void more_results_than_the_api_allows_are_refused(void **state)
{
    struct fixture *f = *state;
    struct tg_allocation_device many[TG_RESULTS_MAX + 1];
    const struct tg_prepared_claim *claim = NULL;
    for (size_t i = 0; i < TG_ARRAY_SIZE(many); i++)
        many[i] = result("gpus", "gpu-1");
    assert_int_equal(
        tg_prepare_claim(f->prepare, "uid-a", "ns", "a", many, TG_ARRAY_SIZE(many), &claim, NULL),
        -TG_INVALID_ARGUMENT);
}

static void unpreparing_an_unknown_claim_is_success(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(tg_prepare_release(f->prepare, "uid-a", NULL), 0);
    assert_int_equal(tg_prepare_release(f->prepare, "../../etc/passwd", NULL), 0);
}

static void claims_are_listed_in_the_order_of_their_preparation(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(fixture_prepare(f, "uid-c", "gpu-1", NULL), 0);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-2", NULL), 0);
    assert_int_equal(fixture_prepare(f, "uid-b", "gpu-3", NULL), 0);
    assert_int_equal(tg_prepare_release(f->prepare, "uid-a", NULL), 0);
    assert_int_equal(tg_prepare_count(f->prepare), 2);
    assert_string_equal(tg_prepare_at(f->prepare, 0)->uid, "uid-c");
    assert_string_equal(tg_prepare_at(f->prepare, 1)->uid, "uid-b");
    assert_null(tg_prepare_at(f->prepare, 2));
}

static void a_second_instance_waits_for_the_first(void **state)
{
    struct fixture *f = *state;
    struct tg_prepare *second = NULL;
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_prepare_open(&f->options, &f->devices, &second, NULL, &err),
                     -TG_UNAVAILABLE);
    assert_true(err.retry);
    assert_non_null(strstr(err.message, "another instance"));
    fixture_close(f);
    assert_int_equal(tg_prepare_open(&f->options, &f->devices, &second, NULL, NULL), 0);
    tg_prepare_close(second);
}

/* A CDI folder that cannot be written to stands for a full or broken disk. */
static void replace_cdi_folder_by_file(struct fixture *f)
{
    fixture_wipe_cdi(f);
    assert_int_equal(tg_file_write_atomic(f->cdi_folder, "x", 1, 0644, NULL), 0);
}

static void a_prepare_that_cannot_write_leaves_nothing_behind(void **state)
{
    struct fixture *f = *state;
    replace_cdi_folder_by_file(f);
    assert_true(fixture_prepare(f, "uid-a", "gpu-1", NULL) < 0);
    assert_null(tg_prepare_find(f->prepare, "uid-a"));
    assert_int_equal(unlink(f->cdi_folder), 0);
    assert_int_equal(mkdir(f->cdi_folder, 0755), 0);
    /* The failure could not be undone on the disk, so the claim still counts until it is asked for
     * again. */
    assert_int_equal(tg_prepare_release(f->prepare, "uid-a", NULL), 0);
    assert_int_equal(fixture_prepare(f, "uid-b", "gpu-1", NULL), 0);
    fixture_open(f);
    assert_int_equal(f->report.claims, 1);
    assert_held_by(f, "uid-b", "gpu-1");
}

static void a_prepare_that_failed_halfway_succeeds_when_repeated(void **state)
{
    struct fixture *f = *state;
    replace_cdi_folder_by_file(f);
    assert_true(fixture_prepare(f, "uid-a", "gpu-1", NULL) < 0);
    assert_int_equal(unlink(f->cdi_folder), 0);
    assert_int_equal(mkdir(f->cdi_folder, 0755), 0);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    assert_held_by(f, "uid-a", "gpu-1");
}

static void an_unprepare_that_cannot_write_keeps_the_device_and_can_be_repeated(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    replace_cdi_folder_by_file(f);
    assert_true(tg_prepare_release(f->prepare, "uid-a", NULL) < 0);
    assert_int_equal(fixture_prepare(f, "uid-b", "gpu-1", NULL), -TG_FAILED_PRECONDITION);
    assert_int_equal(unlink(f->cdi_folder), 0);
    assert_int_equal(mkdir(f->cdi_folder, 0755), 0);
    assert_int_equal(tg_prepare_release(f->prepare, "uid-a", NULL), 0);
    assert_int_equal(fixture_prepare(f, "uid-b", "gpu-1", NULL), 0);
}

static void a_journal_that_cannot_be_written_is_made_whole_before_the_next_record(void **state)
{
    struct fixture *f = *state;
    TG_AUTOFREE char *moved = tg_xasprintf("%s.moved", f->state_folder);
    f->options.compact_after = 1; /* every record wants a rewrite, which needs the folder */
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    assert_int_equal(rename(f->state_folder, moved), 0);
    assert_true(fixture_prepare(f, "uid-b", "gpu-2", NULL) < 0);
    assert_int_equal(rename(moved, f->state_folder), 0);
    assert_int_equal(fixture_prepare(f, "uid-b", "gpu-2", NULL), 0);
    fixture_open(f);
    assert_int_equal(f->report.claims, 2);
    assert_string_equal(f->report.damage, "");
}

/* Wherever the disk is full: no claim is half there, and with room everything goes on. */
static void a_full_disk_loses_nothing(void **state)
{
    struct fixture *f = *state;
    struct stat status;
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    assert_int_equal(stat(f->journal, &status), 0);
    for (rlim_t room = 0; room < 300; room += 7) {
        sandbox_limit_files((rlim_t)status.st_size + room);
        int rc = fixture_prepare(f, "uid-b", "gpu-2", NULL);
        sandbox_limit_files(RLIM_INFINITY);
        assert_int_equal(rc == 0, tg_prepare_find(f->prepare, "uid-b") != NULL);
        fixture_open(f);
        assert_string_equal(f->report.damage, "");
        assert_held_by(f, "uid-a", "gpu-1");
        assert_int_equal(fixture_prepare(f, "uid-b", "gpu-2", NULL), 0);
        assert_int_equal(tg_prepare_release(f->prepare, "uid-b", NULL), 0);
        fixture_open(f);
        assert_int_equal(f->report.claims, 1);
        assert_int_equal(stat(f->journal, &status), 0);
    }
}

static void the_journal_stays_short(void **state)
{
    struct fixture *f = *state;
    struct stat status;
    f->options.compact_after = 8;
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(fixture_prepare(f, "uid-b", "gpu-2", NULL), 0);
        assert_int_equal(tg_prepare_release(f->prepare, "uid-b", NULL), 0);
    }
    assert_int_equal(stat(f->journal, &status), 0);
    assert_in_range(status.st_size, 1, 4096);
    fixture_open(f);
    assert_int_equal(f->report.claims, 1);
    assert_held_by(f, "uid-a", "gpu-1");
}

static void devices_that_are_listed_again_are_found(void **state)
{
    struct fixture *f = *state;
    struct tg_device_set more = {0};
    fixture_make_devices(&more, DEVICES + 1);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-6", NULL), -TG_NOT_FOUND);
    tg_prepare_set_devices(f->prepare, &more);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-6", NULL), 0);
    tg_device_set_done(&more);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest prepare[] = {
        WITH(the_answer_names_devices_requests_and_cdi_ids),
        WITH(results_of_other_drivers_are_not_ours),
        WITH(a_claim_without_devices_of_ours_is_answered_and_not_remembered),
        WITH(the_same_claim_again_gets_the_same_answer),
        WITH(the_same_claim_again_restores_its_lost_document),
        WITH(the_same_claim_with_other_devices_is_refused),
        WITH(a_device_of_another_claim_is_refused_retriably_and_its_holder_named),
        WITH(of_a_claim_with_one_held_device_nothing_is_prepared),
        WITH(a_released_device_can_be_had_again),
        WITH(admin_access_is_no_owner),
        WITH(admin_access_that_is_false_is_an_owner),
        WITH(different_shares_of_one_device_are_different_devices),
        WITH(a_claim_that_counts_one_device_twice_is_refused),
        WITH(a_device_that_is_not_there_is_retriable),
        WITH(a_device_of_another_pool_is_not_ours),
        WITH(names_that_would_leave_the_folder_are_refused),
        WITH(more_results_than_the_api_allows_are_refused),
        WITH(unpreparing_an_unknown_claim_is_success),
        WITH(claims_are_listed_in_the_order_of_their_preparation),
        WITH(a_second_instance_waits_for_the_first),
        WITH(a_prepare_that_cannot_write_leaves_nothing_behind),
        WITH(a_prepare_that_failed_halfway_succeeds_when_repeated),
        WITH(an_unprepare_that_cannot_write_keeps_the_device_and_can_be_repeated),
        WITH(a_journal_that_cannot_be_written_is_made_whole_before_the_next_record),
        WITH(a_full_disk_loses_nothing),
        WITH(the_journal_stays_short),
        WITH(devices_that_are_listed_again_are_found),
    };
    return cmocka_run_group_tests(prepare, NULL, NULL);
}
