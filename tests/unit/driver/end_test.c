/* SPDX-License-Identifier: Apache-2.0 */
/* The end of an instance in order: what stays on the disk is what claims need. */
#include <sys/stat.h>

#include "api/runtime/base/str.h"
#include "tests/unit/driver/fixture.h"

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

/* The names in the state folder, sorted, each with a blank behind it. */
static void assert_stays(const struct fixture *f, const char *names)
{
    struct dirent **found = NULL;
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(4096);
    int n = scandir(f->state_folder, &found, NULL, alphasort);
    assert_true(n >= 2);
    for (int i = 0; i < n; i++) {
        if (!tg_streq(found[i]->d_name, ".") && !tg_streq(found[i]->d_name, ".."))
            (void)tg_buf_printf(&text, "%s ", found[i]->d_name);
        free(found[i]);
    }
    free(found);
    assert_string_equal(tg_buf_str(&text), names);
}

static void end(struct fixture *f)
{
    struct tg_error err = TG_ERROR_INIT;
    if (tg_prepare_end(TG_TAKE(f->prepare), &err) != 0)
        fail_msg("cannot end: %s", err.message);
}

static void leave(const struct fixture *f, const char *name)
{
    TG_AUTOFREE char *path = tg_xasprintf("%s/%s", f->state_folder, name);
    assert_int_equal(tg_file_write_atomic(path, "x", 1, 0600, NULL), 0);
}

static void nothing_stays_when_nothing_is_prepared(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_stays(f, "prepare.journal prepare.lock ");
    end(f);
    assert_stays(f, "");
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    assert_int_equal(tg_prepare_release(f->prepare, "uid-a", NULL), 0);
    end(f);
    assert_stays(f, "");
    assert_int_equal(fixture_count_files(f), 0);
}

static void the_journal_stays_as_long_as_a_claim_is_prepared(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    assert_int_equal(fixture_prepare(f, "uid-b", "gpu-2", NULL), 0);
    assert_int_equal(tg_prepare_release(f->prepare, "uid-b", NULL), 0);
    end(f);
    assert_stays(f, "prepare.journal ");
    assert_int_equal(fixture_count_files(f), 1);
    /* Its documents go with a reboot. */
    fixture_wipe_cdi(f);
    fixture_open(f);
    assert_non_null(tg_prepare_find(f->prepare, "uid-a"));
    assert_int_equal(tg_prepare_release(f->prepare, "uid-a", NULL), 0);
    end(f);
    assert_stays(f, "");
    assert_int_equal(fixture_count_files(f), 0);
}

/* What cannot be taken back yet is a claim's as well. */
static void the_journal_stays_while_a_claim_is_going(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_int_equal(fixture_prepare(f, "uid-a", "gpu-1", NULL), 0);
    TG_AUTOFREE char *document = fixture_document(f, "uid-a");
    assert_int_equal(unlink(document), 0);
    assert_int_equal(mkdir(document, 0700), 0);
    assert_true(tg_prepare_release(f->prepare, "uid-a", NULL) < 0);
    assert_int_equal(tg_prepare_count(f->prepare), 0);
    end(f);
    assert_stays(f, "prepare.journal ");
    assert_int_equal(rmdir(document), 0);
}

static void a_killed_instance_leaves_nothing_to_one_that_ends(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    fixture_close(f);
    leave(f, ".prepare.journal.tmp-abcdef");
    fixture_open(f);
    end(f);
    assert_stays(f, "");
}

static void a_journal_that_was_set_aside_stays_to_be_looked_at(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    fixture_close(f);
    leave(f, "prepare.journal");
    fixture_open(f);
    assert_string_not_equal(f->report.set_aside, "");
    end(f);
    assert_stays(f, "prepare.journal.corrupt-1 ");
}

/* Of another version, for example: it is not ours. */
static void a_start_that_failed_removes_no_journal(void **state)
{
    struct fixture *f = *state;
    static const char future[] = "tangram-journal 2\n";
    assert_int_equal(tg_file_make_folders(f->state_folder, 0700, NULL), 0);
    assert_int_equal(tg_file_write_atomic(f->journal, future, sizeof(future) - 1, 0600, NULL), 0);
    assert_int_equal(tg_prepare_open(&f->options, &f->devices, &f->prepare, NULL, NULL),
                     -TG_FAILED_PRECONDITION);
    end(f);
    assert_stays(f, "prepare.journal ");
}

static void what_cannot_be_removed_is_told_and_lets_go_of_the_lock(void **state)
{
    struct fixture *f = *state;
    struct tg_error err = TG_ERROR_INIT;
    fixture_open(f);
    assert_int_equal(unlink(f->journal), 0);
    assert_int_equal(mkdir(f->journal, 0700), 0);
    assert_true(tg_prepare_end(TG_TAKE(f->prepare), &err) < 0);
    assert_non_null(strstr(err.message, f->journal));
    assert_int_equal(rmdir(f->journal), 0);
    fixture_open(f);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(nothing_stays_when_nothing_is_prepared),
        IN_FOLDER(the_journal_stays_as_long_as_a_claim_is_prepared),
        IN_FOLDER(the_journal_stays_while_a_claim_is_going),
        IN_FOLDER(a_killed_instance_leaves_nothing_to_one_that_ends),
        IN_FOLDER(a_journal_that_was_set_aside_stays_to_be_looked_at),
        IN_FOLDER(a_start_that_failed_removes_no_journal),
        IN_FOLDER(what_cannot_be_removed_is_told_and_lets_go_of_the_lock),
    };
    return cmocka_run_group_tests_name("end", tests, NULL, NULL);
}
