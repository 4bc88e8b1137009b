/* SPDX-License-Identifier: Apache-2.0 */
/* Starts: after a crash at every step, after a reboot, with damaged and lost files. */
#include <sys/stat.h>

#include "driver/prepare/journal.h"
#include "tests/unit/driver/course.h"

static int set_up(void **state)
{
    *state = fixture_new();
    return 0;
}

static int tear_down(void **state)
{
    fixture_free(*state);
    return 0;
}

/* ---- the crash matrix ---- */

/* Runs the scenario until the crash. Returns how many operations were acknowledged. */
static size_t run_until_crash(struct fixture *f, struct tg_prepare_crash *crash)
{
    size_t done = 0;
    f->options.crash = crash;
    f->options.compact_after = 5;
    if (tg_prepare_open(&f->options, &f->devices, &f->prepare, &f->report, NULL) == 0) {
        while (done < OPERATIONS && perform(f, &scenario[done], NULL) == 0)
            done++;
    }
    fixture_close(f);
    f->options.crash = NULL;
    return done;
}

static unsigned count_steps(void)
{
    struct fixture *f = fixture_new();
    struct tg_prepare_crash crash = {.after = 0};
    assert_int_equal(run_until_crash(f, &crash), OPERATIONS);
    fixture_free(f);
    return crash.steps;
}

static void a_crash_after_any_step_loses_nothing_and_gives_nothing_twice(void **state)
{
    (void)state;
    unsigned steps = count_steps();
    assert_true(steps > 3 * OPERATIONS / 2);
    for (unsigned after = 1; after <= steps; after++) {
        struct fixture *f = fixture_new();
        struct tg_prepare_crash crash = {.after = after};
        size_t acknowledged = run_until_crash(f, &crash);
        assert_true(crash.crashed);
        fixture_open(f);
        assert_invariants(f, acknowledged);
        finish_scenario(f, acknowledged);
        fixture_free(f);
    }
}

static void a_crash_after_any_step_and_a_reboot_lose_nothing(void **state)
{
    (void)state;
    unsigned steps = count_steps();
    for (unsigned after = 1; after <= steps; after++) {
        struct fixture *f = fixture_new();
        struct tg_prepare_crash crash = {.after = after};
        size_t acknowledged = run_until_crash(f, &crash);
        fixture_wipe_cdi(f); /* it is on a tmpfs */
        fixture_boot(f, BOOT_2);
        fixture_open(f);
        assert_invariants(f, acknowledged);
        finish_scenario(f, acknowledged);
        fixture_free(f);
    }
}

/* A start that crashes is started again, as often as it takes. */
static void a_crash_during_recovery_is_recovered_from(void **state)
{
    (void)state;
    unsigned steps = count_steps();
    for (unsigned after = 1; after <= steps; after++) {
        struct fixture *f = fixture_new();
        struct tg_prepare_crash crash = {.after = after};
        size_t acknowledged = run_until_crash(f, &crash);
        for (unsigned again = 1;; again++) {
            struct tg_prepare_crash second = {.after = again};
            f->options.crash = &second;
            int rc = tg_prepare_open(&f->options, &f->devices, &f->prepare, &f->report, NULL);
            fixture_close(f);
            f->options.crash = NULL;
            if (rc == 0)
                break;
        }
        fixture_open(f);
        assert_invariants(f, acknowledged);
        finish_scenario(f, acknowledged);
        fixture_free(f);
    }
}

static void after_a_clean_stop_nothing_is_left_to_do(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(run_until_crash(f, NULL), OPERATIONS);
    fixture_open(f);
    assert_int_equal(f->report.claims, 1);
    assert_int_equal(f->report.completed + f->report.undone + f->report.finished, 0);
    assert_int_equal(
        f->report.regenerated + f->report.adopted + f->report.missing + f->report.orphans, 0);
    assert_false(f->report.rebooted || f->report.torn);
}

/* Prepare, release, and a crash `steps` steps into the release. */
static void crash_in_release(struct fixture *f, unsigned steps)
{
    struct tg_prepare_crash crash = {.after = 0};
    f->options.crash = &crash;
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-0", NULL), 0);
    crash.after = crash.steps + steps;
    assert_int_equal(tg_prepare_release(f->prepare, "uid-a", NULL), -TG_UNAVAILABLE);
    f->options.crash = NULL;
}

static void an_unprepare_that_was_begun_is_finished(void **state)
{
    struct fixture *f = *state;
    for (unsigned steps = 1; steps <= 2; steps++) {
        crash_in_release(f, steps);
        fixture_open(f);
        assert_int_equal(f->report.finished, 1);
        assert_int_equal(f->report.claims, 0);
        assert_int_equal(fixture_count_files(f), 0);
    }
}

/* Prepare, and a crash `steps` steps into it. */
static void crash_in_prepare(struct fixture *f, unsigned steps)
{
    struct tg_prepare_crash crash = {.after = 0};
    f->options.crash = &crash;
    fixture_open(f);
    crash.after = crash.steps + steps;
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-0", NULL), -TG_UNAVAILABLE);
    f->options.crash = NULL;
}

static void
a_prepare_that_got_as_far_as_its_document_is_completed_and_any_other_undone(void **state)
{
    struct fixture *f = *state;
    crash_in_prepare(f, 1); /* the intent */
    fixture_open(f);
    assert_int_equal(f->report.undone, 1);
    assert_int_equal(f->report.claims, 0);
    crash_in_prepare(f, 2); /* the document */
    fixture_open(f);
    assert_int_equal(f->report.completed, 1);
    assert_held_by(f, "uid-a", "gpu-0");
}

/* ---- a journal whose end is missing ---- */

static void a_journal_that_lost_its_end_loses_no_claim(void **state)
{
    struct fixture *f = *state;
    TG_AUTOBUF struct tg_buf whole = TG_BUF_INIT(1 << 20);
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-0", NULL), 0);
    assert_int_equal(fixture_prepare(f, "uid-b", "gpu-1", NULL), 0);
    fixture_close(f);
    assert_int_equal(tg_file_read(f->journal, &whole, NULL), 0);
    size_t header = (size_t)(strchr(whole.data, '\n') - whole.data) + 1;
    for (size_t cut = header; cut <= whole.len; cut++) {
        assert_int_equal(tg_file_write_atomic(f->journal, whole.data, cut, 0600, NULL), 0);
        fixture_open(f);
        assert_int_equal(f->report.claims, 2);
        assert_held_by(f, "uid-a", "gpu-0");
        assert_held_by(f, "uid-b", "gpu-1");
        assert_string_equal(f->report.damage, "");
        fixture_close(f);
    }
}

static void half_a_last_record_and_a_reboot_lose_no_claim(void **state)
{
    struct fixture *f = *state;
    struct stat status;
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-0", NULL), 0);
    fixture_close(f);
    assert_int_equal(stat(f->journal, &status), 0);
    assert_int_equal(truncate(f->journal, status.st_size - 1), 0);
    fixture_wipe_cdi(f);
    fixture_boot(f, BOOT_2);
    fixture_open(f);
    assert_true(f->report.torn);
    assert_held_by(f, "uid-a", "gpu-0");
}

/* ---- damage ---- */

static void change_byte(const char *path, const char *where)
{
    TG_AUTOBUF struct tg_buf whole = TG_BUF_INIT(1 << 20);
    assert_int_equal(tg_file_read(path, &whole, NULL), 0);
    char *found = strstr(whole.data, where);
    assert_non_null(found);
    found[1] = (char)(found[1] ^ 1);
    assert_int_equal(tg_file_write_atomic(path, whole.data, whole.len, 0600, NULL), 0);
}

static void a_damaged_journal_is_set_aside_reported_and_rebuilt(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-0", NULL), 0);
    assert_int_equal(fixture_prepare(f, "uid-b", "gpu-1", NULL), 0);
    fixture_close(f);
    change_byte(f->journal, "uid-a"); /* the intent: nothing else names the device */
    fixture_open(f);
    assert_non_null(strstr(f->report.damage, "checksum"));
    assert_non_null(strstr(f->report.set_aside, "prepare.journal.corrupt-1"));
    assert_int_equal(access(f->report.set_aside, F_OK), 0);
    assert_int_equal(f->report.adopted, 1);
    assert_held_by(f, "uid-a", "gpu-0");
    assert_held_by(f, "uid-b", "gpu-1");
    assert_int_equal(fixture_prepare(f, "uid-c", "gpu-0", NULL), -TG_FAILED_PRECONDITION);
    fixture_open(f); /* the new journal is sound */
    assert_string_equal(f->report.damage, "");
    assert_int_equal(f->report.claims, 2);
}

static void where_a_record_is_lost_an_intent_keeps_its_device(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-0", NULL), 0);
    assert_int_equal(fixture_prepare(f, "uid-b", "gpu-1", NULL), 0);
    fixture_close(f);
    change_byte(f->journal, "\"done\",\"uid\":\"uid-a\"");
    fixture_wipe_cdi(f);
    fixture_boot(f, BOOT_2);
    fixture_open(f);
    assert_true(f->report.rebooted);
    assert_held_by(f, "uid-a", "gpu-0");
    assert_held_by(f, "uid-b", "gpu-1");
}

static void a_lost_journal_is_rebuilt_from_the_documents(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-0", NULL), 0);
    assert_int_equal(fixture_prepare(f, "uid-b", "gpu-1", NULL), 0);
    fixture_close(f);
    assert_int_equal(unlink(f->journal), 0);
    fixture_open(f);
    assert_int_equal(f->report.adopted, 2);
    assert_held_by(f, "uid-a", "gpu-0");
    assert_held_by(f, "uid-b", "gpu-1");
}

static void rubbish_in_place_of_the_journal_is_no_reason_to_stop(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-0", NULL), 0);
    fixture_close(f);
    assert_int_equal(tg_file_write_atomic(f->journal, "\0\0\0\0", 4, 0600, NULL), 0);
    fixture_open(f);
    assert_string_not_equal(f->report.set_aside, "");
    assert_held_by(f, "uid-a", "gpu-0");
}

static void a_journal_of_a_newer_release_is_left_alone(void **state)
{
    struct fixture *f = *state;
    TG_AUTOBUF struct tg_buf after = TG_BUF_INIT(1024);
    struct tg_prepare *prepare = NULL;
    fixture_open(f);
    fixture_close(f);
    assert_int_equal(tg_file_write_atomic(f->journal, "tangram-journal 9\n", 18, 0600, NULL), 0);
    assert_int_equal(tg_prepare_open(&f->options, &f->devices, &prepare, NULL, NULL),
                     -TG_FAILED_PRECONDITION);
    assert_int_equal(tg_file_read(f->journal, &after, NULL), 0);
    assert_string_equal(tg_buf_str(&after), "tangram-journal 9\n");
}

static void operations_and_fields_of_a_newer_release_are_skipped(void **state)
{
    struct fixture *f = *state;
    static const char newer[] = "{\"op\":\"shine\",\"uid\":\"uid-a\",\"how\":[1,2]}";
    TG_AUTOBUF struct tg_buf whole = TG_BUF_INIT(1 << 20);
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-0", NULL), 0);
    fixture_close(f);
    assert_int_equal(tg_file_read(f->journal, &whole, NULL), 0);
    (void)tg_buf_printf(&whole, "%08x %s\n", tg_journal_checksum(newer, sizeof(newer) - 1), newer);
    assert_int_equal(tg_file_write_atomic(f->journal, whole.data, whole.len, 0600, NULL), 0);
    fixture_open(f);
    assert_string_equal(f->report.damage, "");
    assert_held_by(f, "uid-a", "gpu-0");
}

/* ---- documents ---- */

static void a_reboot_writes_the_documents_again(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_false(f->report.rebooted);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-0", NULL), 0);
    fixture_close(f);
    fixture_wipe_cdi(f);
    fixture_boot(f, BOOT_2);
    fixture_open(f);
    assert_true(f->report.rebooted);
    assert_int_equal(f->report.regenerated, 1);
    assert_held_by(f, "uid-a", "gpu-0");
    fixture_open(f);
    assert_false(f->report.rebooted);
    assert_int_equal(f->report.regenerated, 0);
}

static void a_damaged_document_is_written_again(void **state)
{
    struct fixture *f = *state;
    TG_AUTOBUF struct tg_buf before = TG_BUF_INIT(1 << 20);
    TG_AUTOBUF struct tg_buf after = TG_BUF_INIT(1 << 20);
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-0", NULL), 0);
    fixture_close(f);
    TG_AUTOFREE char *path = fixture_document(f, "uid-a");
    assert_int_equal(tg_file_read(path, &before, NULL), 0);
    assert_int_equal(truncate(path, 20), 0);
    fixture_open(f);
    assert_int_equal(f->report.regenerated, 1);
    assert_int_equal(tg_file_read(path, &after, NULL), 0);
    assert_string_equal(tg_buf_str(&after), tg_buf_str(&before));
}

static void
documents_that_nobody_can_read_and_leftovers_are_removed_and_others_left_alone(void **state)
{
    struct fixture *f = *state;
    static const char *const ours[] = {"k8s." DRIVER "-claim_uid-x.json",
                                       ".k8s." DRIVER "-claim_uid-a.json.tmp-A1B2C3"};
    static const char *const foreign[] = {"k8s.other.example.com-claim_uid-x.json", "nvidia.yaml",
                                          ".hidden"};
    fixture_open(f);
    fixture_close(f);
    for (size_t i = 0; i < TG_ARRAY_SIZE(ours); i++) {
        TG_AUTOFREE char *path = tg_xasprintf("%s/%s", f->cdi_folder, ours[i]);
        assert_int_equal(tg_file_write_atomic(path, "{", 1, 0644, NULL), 0);
    }
    for (size_t i = 0; i < TG_ARRAY_SIZE(foreign); i++) {
        TG_AUTOFREE char *path = tg_xasprintf("%s/%s", f->cdi_folder, foreign[i]);
        assert_int_equal(tg_file_write_atomic(path, "{", 1, 0644, NULL), 0);
    }
    fixture_open(f);
    assert_int_equal(f->report.orphans, 1);
    assert_int_equal(fixture_count_files(f), TG_ARRAY_SIZE(foreign));
}

static void a_claim_whose_device_is_gone_keeps_it_until_released(void **state)
{
    struct fixture *f = *state;
    struct tg_device_set fewer = {0};
    struct tg_prepare *prepare = NULL;
    fixture_make_devices(&fewer, 1);
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-3", NULL), 0);
    fixture_close(f);
    assert_int_equal(tg_prepare_open(&f->options, &fewer, &prepare, &f->report, NULL), 0);
    assert_int_equal(f->report.missing, 1);
    assert_non_null(tg_prepare_find(prepare, "uid-a"));
    assert_true(fixture_has_document(f, "uid-a"));
    assert_int_equal(tg_prepare_release(prepare, "uid-a", NULL), 0);
    assert_false(fixture_has_document(f, "uid-a"));
    tg_prepare_close(prepare);
    tg_device_set_done(&fewer);
}

static void a_boot_id_that_cannot_be_read_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct tg_prepare *prepare = NULL;
    struct tg_error err = TG_ERROR_INIT;
    fixture_boot(f, "\n");
    assert_int_equal(tg_prepare_open(&f->options, &f->devices, &prepare, NULL, &err), -TG_INTERNAL);
    assert_int_equal(unlink(f->boot_id_file), 0);
    assert_int_equal(tg_prepare_open(&f->options, &f->devices, &prepare, NULL, &err),
                     -TG_NOT_FOUND);
    assert_non_null(strstr(err.message, f->boot_id_file));
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest recover[] = {
        cmocka_unit_test(a_crash_after_any_step_loses_nothing_and_gives_nothing_twice),
        cmocka_unit_test(a_crash_after_any_step_and_a_reboot_lose_nothing),
        cmocka_unit_test(a_crash_during_recovery_is_recovered_from),
        WITH(after_a_clean_stop_nothing_is_left_to_do),
        WITH(an_unprepare_that_was_begun_is_finished),
        WITH(a_prepare_that_got_as_far_as_its_document_is_completed_and_any_other_undone),
        WITH(a_journal_that_lost_its_end_loses_no_claim),
        WITH(half_a_last_record_and_a_reboot_lose_no_claim),
        WITH(a_damaged_journal_is_set_aside_reported_and_rebuilt),
        WITH(where_a_record_is_lost_an_intent_keeps_its_device),
        WITH(a_lost_journal_is_rebuilt_from_the_documents),
        WITH(rubbish_in_place_of_the_journal_is_no_reason_to_stop),
        WITH(a_journal_of_a_newer_release_is_left_alone),
        WITH(operations_and_fields_of_a_newer_release_are_skipped),
        WITH(a_reboot_writes_the_documents_again),
        WITH(a_damaged_document_is_written_again),
        WITH(documents_that_nobody_can_read_and_leftovers_are_removed_and_others_left_alone),
        WITH(a_claim_whose_device_is_gone_keeps_it_until_released),
        WITH(a_boot_id_that_cannot_be_read_is_an_error),
    };
    return cmocka_run_group_tests(recover, NULL, NULL);
}
