/* SPDX-License-Identifier: Apache-2.0 */
/* A disk that is full, read-only or failing, from every one of its calls on: what was acknowledged
 * stays, the error says what and where, and when the disk is well again so is everything. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tests/unit/driver/course.h"

enum call { CALL_WRITE = 1, CALL_MAKE = 2, CALL_SYNC = 4, CALL_CHANGE = 8 };

static const struct mode {
    const char *name;
    int number;     /* errno */
    unsigned calls; /* those that fail */
    bool once;      /* only one call fails */
} modes[] = {
    {"full", ENOSPC, CALL_WRITE | CALL_MAKE | CALL_SYNC, false},
    {"read-only", EROFS, CALL_WRITE | CALL_MAKE | CALL_CHANGE, false},
    {"failing once", EIO, CALL_WRITE | CALL_MAKE | CALL_SYNC | CALL_CHANGE, true},
};

/* The linker leads the calls of everything that is linked into this test here (--wrap). */
static struct {
    const struct mode *mode; /* NULL: the disk is well */
    size_t calls;            /* so far */
    size_t first;            /* that fails, counted from 1 */
} disk;

static bool fails(enum call call)
{
    bool now;

    if (disk.mode == NULL || (disk.mode->calls & call) == 0)
        return false;
    disk.calls++;
    now = disk.mode->once ? disk.calls == disk.first : disk.calls >= disk.first;
    if (now)
        errno = disk.mode->number;
    return now;
}

ssize_t __real_write(int fd, const void *data, size_t n);
ssize_t __wrap_write(int fd, const void *data, size_t n);
ssize_t __wrap_write(int fd, const void *data, size_t n)
{
    if (!fails(CALL_WRITE))
        return __real_write(fd, data, n);
    /* The last block takes half of it. */
    if (disk.calls == disk.first && !disk.mode->once && n > 1)
        return __real_write(fd, data, n / 2);
    return -1;
}

int __real_mkostemp(char *path, int flags);
int __wrap_mkostemp(char *path, int flags);
int __wrap_mkostemp(char *path, int flags)
{
    return fails(CALL_MAKE) ? -1 : __real_mkostemp(path, flags);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    return fails(CALL_SYNC) ? -1 : __real_fsync(fd);
}

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
    return fails(CALL_SYNC) ? -1 : __real_fdatasync(fd);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    return fails(CALL_CHANGE) ? -1 : __real_rename(from, to);
}

int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path)
{
    return fails(CALL_CHANGE) ? -1 : __real_unlink(path);
}

/* Runs the course with the disk failing from that call on. Returns how many operations were
 * acknowledged. */
static size_t run_until_failure(struct fixture *f, const struct mode *mode, size_t first,
                                struct tg_error *err)
{
    size_t done = 0;

    f->options.compact_after = 5;
    fixture_open(f);
    disk.mode = mode;
    disk.calls = 0;
    disk.first = first;
    while (done < OPERATIONS && perform(f, &scenario[done], err) == 0)
        done++;
    return done;
}

static void mend(void)
{
    disk.mode = NULL;
}

/* What was acknowledged holds, and can be asked for again, while the disk is as it is. */
static void assert_others_unharmed(struct fixture *f, size_t acknowledged)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(uids); i++) {
        const char *device = device_after(acknowledged, uids[i]);

        if (acknowledged < OPERATIONS && strcmp(uids[i], scenario[acknowledged].uid) == 0)
            continue;
        if (device != NULL) {
            assert_held_by(f, uids[i], device);
            assert_int_equal(fixture_prepare(f, uids[i], device, NULL), 0);
        } else {
            assert_null(tg_prepare_find(f->prepare, uids[i]));
        }
    }
}

static void assert_clear(const struct fixture *f, const struct mode *mode,
                         const struct tg_error *err)
{
    assert_int_not_equal(err->code, TG_OK);
    if (mode->number == ENOSPC)
        assert_int_equal(err->code, TG_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(err->message, strerrordesc_np(mode->number)));
    assert_non_null(strstr(err->message, f->sandbox->folder)); /* which file */
}

static void the_disk_gets_well_while_the_plugin_runs(void **state)
{
    (void)state;
    for (size_t m = 0; m < TG_ARRAY_SIZE(modes); m++) {
        size_t failures = 0;

        for (size_t first = 1;; first++) {
            struct fixture *f = fixture_new();
            struct tg_error err = TG_ERROR_INIT;
            size_t done = run_until_failure(f, &modes[m], first, &err);
            bool reached = disk.calls >= first;

            if (done < OPERATIONS) {
                failures++;
                assert_clear(f, &modes[m], &err);
                assert_others_unharmed(f, done);
            }
            mend();
            finish_scenario(f, done);
            fixture_free(f);
            if (!reached)
                break;
        }
        assert_true(failures > 2 * OPERATIONS); /* every operation has several calls */
    }
}

static void the_plugin_is_started_again_before_the_disk_gets_well(void **state)
{
    (void)state;
    for (size_t m = 0; m < TG_ARRAY_SIZE(modes); m++) {
        for (size_t first = 1;; first++) {
            struct fixture *f = fixture_new();
            struct tg_error err = TG_ERROR_INIT;
            size_t done = run_until_failure(f, &modes[m], first, &err);
            bool reached = disk.calls >= first;

            fixture_close(f);
            /* It may come up or say why not; it must not make anything worse. */
            if (tg_prepare_open(&f->options, &f->devices, &f->prepare, &f->report, &err) == 0)
                assert_others_unharmed(f, done);
            mend();
            fixture_open(f);
            assert_invariants(f, done);
            finish_scenario(f, done);
            fixture_free(f);
            if (!reached)
                break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_disk_gets_well_while_the_plugin_runs),
        cmocka_unit_test(the_plugin_is_started_again_before_the_disk_gets_well),
    };
    return cmocka_run_group_tests_name("disk", tests, NULL, NULL);
}
