/* SPDX-License-Identifier: Apache-2.0 */
/* A disk that is full, read-only or failing, or a process without descriptors, from every one of
 * its calls on: what was acknowledged stays, the error says what and where, and when the disk is
 * well again so is everything. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tests/unit/driver/course.h"

enum call {
    CALL_WRITE = 1,
    CALL_MAKE = 2, /* a file or a folder that is not there yet */
    CALL_SYNC = 4,
    CALL_CHANGE = 8,  /* of names */
    CALL_OPEN = 16,   /* anything */
    CALL_READ = 32,   /* a file or a folder */
    CALL_ENTER = 64,  /* to write into what is there */
    CALL_FOLDER = 128 /* made; no other kind, for it takes no descriptor */
};

static const struct mode {
    const char *name;
    int number;     /* errno */
    unsigned calls; /* those that fail */
    bool once;      /* only one call fails */
} modes[] = {
    {"full", ENOSPC, CALL_WRITE | CALL_MAKE | CALL_FOLDER | CALL_SYNC, false},
    {"read-only", EROFS, CALL_WRITE | CALL_MAKE | CALL_FOLDER | CALL_CHANGE | CALL_ENTER, false},
    {"failing once", EIO,
     CALL_WRITE | CALL_MAKE | CALL_FOLDER | CALL_SYNC | CALL_CHANGE | CALL_OPEN | CALL_READ, true},
    {"without descriptors", EMFILE, CALL_MAKE | CALL_OPEN, false},
};

/* The linker leads the calls of everything that is linked into this test here (--wrap). */
static struct {
    const struct mode *mode; /* NULL: the disk is well */
    size_t calls;            /* so far */
    size_t first;            /* that fails, counted from 1 */
} disk;

/* Whether a call of one of these kinds fails now. */
static bool fails(unsigned calls)
{
    bool now;

    if (disk.mode == NULL || (disk.mode->calls & calls) == 0)
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
    return fails(CALL_MAKE | CALL_OPEN) ? -1 : __real_mkostemp(path, flags);
}

int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode)
{
    struct stat status;

    /* What is there already is there, on any disk. */
    if (stat(path, &status) != 0 && fails(CALL_FOLDER))
        return -1;
    return __real_mkdir(path, mode);
}

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    struct stat status;
    bool there = stat(path, &status) == 0;
    unsigned calls = CALL_OPEN;
    mode_t mode = 0;

    if ((flags & O_CREAT) != 0) {
        va_list args;

        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
    }
    if (!there && (flags & O_CREAT) != 0)
        calls |= CALL_MAKE;
    if (there && (flags & O_ACCMODE) != O_RDONLY)
        calls |= CALL_ENTER;
    return fails(calls) ? -1 : __real_open(path, flags, mode);
}

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
    return fails(CALL_OPEN) ? NULL : __real_opendir(path);
}

struct dirent *__real_readdir(DIR *folder);
struct dirent *__wrap_readdir(DIR *folder);
struct dirent *__wrap_readdir(DIR *folder)
{
    return fails(CALL_READ) ? NULL : __real_readdir(folder);
}

ssize_t __real_read(int fd, void *data, size_t n);
ssize_t __wrap_read(int fd, void *data, size_t n);
ssize_t __wrap_read(int fd, void *data, size_t n)
{
    return fails(CALL_READ) ? -1 : __real_read(fd, data, n);
}

int __real_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to)
{
    return fails(CALL_MAKE | CALL_CHANGE) ? -1 : __real_link(from, to);
}

/* Nothing here outlives the machine: no disk has to wait. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    (void)fd;
    return fails(CALL_SYNC) ? -1 : 0;
}

int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
    (void)fd;
    return fails(CALL_SYNC) ? -1 : 0;
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

/* The answer to a claim that is prepared already: the same, or that its document cannot be seen to
 * be there. */
static void ask_again(struct fixture *f, const char *uid, const char *device)
{
    const bool blind =
        disk.mode != NULL && !disk.mode->once && (disk.mode->calls & (CALL_OPEN | CALL_READ)) != 0;
    struct tg_error err = TG_ERROR_INIT;

    if (fixture_prepare(f, uid, device, &err) == 0)
        return;
    assert_true(blind);
    assert_non_null(strstr(err.message, strerrordesc_np(disk.mode->number)));
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
            ask_again(f, uids[i], device);
        } else {
            assert_null(tg_prepare_find(f->prepare, uids[i]));
        }
    }
}

static void assert_clear(const struct fixture *f, const struct mode *mode,
                         const struct tg_error *err)
{
    assert_int_not_equal(err->code, TG_OK);
    if (mode->number == ENOSPC || mode->number == EMFILE)
        assert_int_equal(err->code, TG_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(err->message, strerrordesc_np(mode->number)));
    assert_non_null(strstr(err->message, f->sandbox->folder)); /* which file */
}

/* A start on the disk as it is. Returns whether the plugin came up; else the error is clear. */
static bool start(struct fixture *f, const struct mode *mode)
{
    struct tg_error err = TG_ERROR_INIT;

    if (tg_prepare_open(&f->options, &f->devices, &f->prepare, &f->report, &err) == 0)
        return true;
    assert_clear(f, mode, &err);
    return false;
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
            bool reached;

            fixture_close(f);
            /* It may come up or say why not; it must not make anything worse. */
            if (start(f, &modes[m]))
                assert_others_unharmed(f, done);
            reached = disk.calls >= first; /* in the course or in the start */
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

static void the_first_start_finds_a_disk_that_fails(void **state)
{
    (void)state;
    for (size_t m = 0; m < TG_ARRAY_SIZE(modes); m++) {
        size_t failures = 0;
        bool reached = true;

        for (size_t first = 1; reached; first++) {
            struct fixture *f = fixture_new(); /* no folder of ours is there */

            disk.mode = &modes[m];
            disk.calls = 0;
            disk.first = first;
            failures += !start(f, &modes[m]);
            reached = disk.calls >= first;
            mend();
            fixture_open(f);
            finish_scenario(f, 0);
            fixture_free(f);
        }
        assert_true(failures > 2); /* the folders, the lock, the journal */
    }
}

/* In the middle of the journal, one byte: what follows may have been lost. */
static void damage_journal(const struct fixture *f)
{
    FILE *file = fopen(f->journal, "r+e");

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_int_equal(fseek(file, ftell(file) / 2, SEEK_SET), 0);
    assert_int_equal(fputc('\1', file), '\1');
    assert_int_equal(fclose(file), 0);
}

static void prepare_all(struct fixture *f)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(uids); i++)
        assert_int_equal(fixture_prepare(f, uids[i], f->devices.devices.items[i].device.name, NULL),
                         0);
}

static void assert_all_held(struct fixture *f)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(uids); i++)
        assert_held_by(f, uids[i], f->devices.devices.items[i].device.name);
}

/* A start that does not see all that is left of a claim gives its device away. */
static void a_damaged_journal_on_a_disk_that_fails_loses_no_claim(void **state)
{
    (void)state;
    for (size_t m = 0; m < TG_ARRAY_SIZE(modes); m++) {
        size_t failures = 0;
        bool reached = true;

        for (size_t first = 1; reached; first++) {
            struct fixture *f = fixture_new();
            TG_AUTOFREE char *aside = tg_xasprintf("%s.corrupt-1", f->journal);

            fixture_open(f);
            prepare_all(f);
            fixture_close(f);
            damage_journal(f);
            disk.mode = &modes[m];
            disk.calls = 0;
            disk.first = first;
            if (start(f, &modes[m]))
                assert_all_held(f);
            else
                failures++;
            reached = disk.calls >= first;
            mend();
            fixture_open(f);
            assert_all_held(f);
            assert_int_equal(access(aside, F_OK), 0); /* for whoever wants to know what happened */
            fixture_free(f);
        }
        assert_true(failures > 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_disk_gets_well_while_the_plugin_runs),
        cmocka_unit_test(the_plugin_is_started_again_before_the_disk_gets_well),
        cmocka_unit_test(the_first_start_finds_a_disk_that_fails),
        cmocka_unit_test(a_damaged_journal_on_a_disk_that_fails_loses_no_claim),
    };
    return cmocka_run_group_tests_name("disk", tests, NULL, NULL);
}
