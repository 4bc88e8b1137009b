/* SPDX-License-Identifier: Apache-2.0 */
/* One instance a folder, whenever one ends while another begins. */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "driver/prepare/lock.h"
#include "tests/unit/driver/fixture.h"

static struct {
    const char *ends; /* the file of an instance that ends between the opening and the locking */
    int fd;
} other = {.fd = -1};

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __wrap_flock(int fd, int operation)
{
    if (other.ends != NULL)
        tg_lock_give(TG_TAKE(other.ends), other.fd);
    return __real_flock(fd, operation);
}

static int set_up(void **state)
{
    *state = fixture_new();
    return tg_file_make_folders(((struct fixture *)*state)->state_folder, 0700, NULL);
}

static int tear_down(void **state)
{
    fixture_free(*state);
    return 0;
}

static void assert_refused(const char *path, const char *why)
{
    struct tg_error err = TG_ERROR_INIT;
    int fd = -1;
    assert_int_equal(tg_lock_take(path, &fd, &err), -TG_UNAVAILABLE);
    assert_true(err.retry);
    assert_non_null(strstr(err.message, why));
    assert_int_equal(fd, -1);
}

static void one_has_it_and_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    int fd = -1;
    TG_AUTOFREE char *path = tg_xasprintf("%s/lock", f->state_folder);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tg_lock_take(path, &fd, NULL), 0);
        assert_refused(path, "another instance of the plugin is running");
        tg_lock_give(path, fd);
        assert_int_equal(access(path, F_OK), -1);
    }
}

static void the_file_of_one_that_was_killed_is_no_lock(void **state)
{
    struct fixture *f = *state;
    int fd = -1;
    TG_AUTOFREE char *path = tg_xasprintf("%s/lock", f->state_folder);
    assert_int_equal(tg_lock_take(path, &fd, NULL), 0);
    close(fd);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(tg_lock_take(path, &fd, NULL), 0);
    tg_lock_give(path, fd);
}

/* An earlier version locks what it opens, and removes nothing. */
static void an_instance_of_an_earlier_version_is_respected_and_respects(void **state)
{
    struct fixture *f = *state;
    int fd = -1;
    TG_AUTOFREE char *path = tg_xasprintf("%s/lock", f->state_folder);
    int former = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(__real_flock(former, LOCK_EX | LOCK_NB), 0);
    assert_refused(path, "is running");
    close(former);
    assert_int_equal(tg_lock_take(path, &fd, NULL), 0);
    former = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(__real_flock(former, LOCK_EX | LOCK_NB), -1);
    close(former);
    tg_lock_give(path, fd);
}

/* It would have a lock that nobody after it can see. */
static void a_file_that_was_removed_after_it_was_opened_is_no_lock(void **state)
{
    struct fixture *f = *state;
    int fd = -1;
    TG_AUTOFREE char *path = tg_xasprintf("%s/lock", f->state_folder);
    assert_int_equal(tg_lock_take(path, &other.fd, NULL), 0);
    other.ends = path;
    assert_refused(path, "has just ended");
    assert_null(other.ends);
    assert_int_equal(tg_lock_take(path, &fd, NULL), 0);
    tg_lock_give(path, fd);
}

static void a_file_that_cannot_be_opened_is_told_by_name(void **state)
{
    struct fixture *f = *state;
    struct tg_error err = TG_ERROR_INIT;
    int fd = -1;
    assert_true(tg_lock_take(f->state_folder, &fd, &err) < 0);
    assert_non_null(strstr(err.message, f->state_folder));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(one_has_it_and_leaves_nothing),
        IN_FOLDER(the_file_of_one_that_was_killed_is_no_lock),
        IN_FOLDER(an_instance_of_an_earlier_version_is_respected_and_respects),
        IN_FOLDER(a_file_that_was_removed_after_it_was_opened_is_no_lock),
        IN_FOLDER(a_file_that_cannot_be_opened_is_told_by_name),
    };
    return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
