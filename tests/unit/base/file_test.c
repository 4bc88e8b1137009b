/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"

/* Every test runs in a folder of its own. */
struct folder {
    char path[64];
    char file[80];
};

static int make_folder(void **state)
{
    struct folder *folder = calloc(1, sizeof(*folder));

    if (folder == NULL)
        return -1;
    snprintf(folder->path, sizeof(folder->path), "/tmp/tangram-file-test-XXXXXX");
    if (mkdtemp(folder->path) == NULL)
        return -1;
    snprintf(folder->file, sizeof(folder->file), "%s/f", folder->path);
    *state = folder;
    return 0;
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    char command[256];
    int rc;
    pid_t child = fork();

    snprintf(command, sizeof(command), "%s", folder->path);
    if (child == 0) {
        execlp("rm", "rm", "-rf", command, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &rc, 0);
    free(folder);
    return rc;
}

static size_t entries(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n - 2; /* . and .. */
}

static void assert_content(const char *path, const char *content)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(1 << 20);
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(tg_file_read(path, &buf, &err), 0);
    assert_string_equal(tg_buf_str(&buf), content);
}

static void what_was_written_is_read_and_nothing_is_left_beside_it(void **state)
{
    struct folder *folder = *state;
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(tg_file_write_atomic(folder->file, "one", 3, 0644, &err), 0);
    assert_content(folder->file, "one");
    assert_int_equal(tg_file_write_atomic(folder->file, "", 0, 0644, &err), 0);
    assert_content(folder->file, "");
    assert_int_equal(entries(folder->path), 1);
}

static void the_mode_is_the_one_asked_for_whatever_the_umask(void **state)
{
    struct folder *folder = *state;
    struct stat status;
    mode_t old = umask(0077);

    assert_int_equal(tg_file_write_atomic(folder->file, "x", 1, 0644, NULL), 0);
    umask(old);
    assert_int_equal(stat(folder->file, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0644);
    assert_int_equal(tg_file_write_atomic(folder->file, "x", 1, 0600, NULL), 0);
    assert_int_equal(stat(folder->file, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
}

/* A reader that has the old file open, as the runtime reading a CDI document, sees it unchanged. */
static void a_reader_of_the_old_file_never_sees_a_mix(void **state)
{
    struct folder *folder = *state;
    TG_AUTOCLOSE int fd = -1;
    char text[8] = "";

    assert_int_equal(tg_file_write_atomic(folder->file, "old", 3, 0644, NULL), 0);
    fd = open(folder->file, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(tg_file_write_atomic(folder->file, "newer", 5, 0644, NULL), 0);
    assert_int_equal(read(fd, text, sizeof(text)), 3);
    assert_string_equal(text, "old");
    assert_content(folder->file, "newer");
}

static void a_failed_write_leaves_the_old_content_and_no_garbage(void **state)
{
    struct folder *folder = *state;
    struct tg_error err = TG_ERROR_INIT;
    struct rlimit unlimited;
    struct rlimit small = {10, 10};
    int rc;

    assert_int_equal(tg_file_write_atomic(folder->file, "old", 3, 0644, NULL), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
    small.rlim_max = unlimited.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    rc = tg_file_write_atomic(folder->file, "much more than ten bytes", 24, 0644, &err);
    setrlimit(RLIMIT_FSIZE, &unlimited);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(rc, -TG_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(err.message, folder->file));
    assert_non_null(strstr(err.message, "File too large"));
    assert_content(folder->file, "old");
    assert_int_equal(entries(folder->path), 1);
}

static void a_target_that_is_a_folder_is_refused_without_garbage(void **state)
{
    struct folder *folder = *state;
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(mkdir(folder->file, 0755), 0);
    assert_int_equal(tg_file_write_atomic(folder->file, "x", 1, 0644, &err),
                     -TG_FAILED_PRECONDITION);
    assert_int_equal(entries(folder->path), 1);
}

static void a_missing_folder_is_told_by_name(void **state)
{
    struct folder *folder = *state;
    struct tg_error err = TG_ERROR_INIT;
    char path[128];

    snprintf(path, sizeof(path), "%s/none/f", folder->path);
    assert_int_equal(tg_file_write_atomic(path, "x", 1, 0644, &err), -TG_NOT_FOUND);
    assert_non_null(strstr(err.message, path));
}

static void names_without_a_folder_are_in_the_current_one(void **state)
{
    struct folder *folder = *state;
    TG_AUTOFREE char *before = getcwd(NULL, 0);

    assert_int_equal(chdir(folder->path), 0);
    assert_int_equal(tg_file_write_atomic("f", "here", 4, 0644, NULL), 0);
    assert_int_equal(chdir(before), 0);
    assert_content(folder->file, "here");
}

static void a_file_over_the_limit_is_exhaustion_and_says_so(void **state)
{
    struct folder *folder = *state;
    TG_AUTOBUF struct tg_buf fits = TG_BUF_INIT(5);
    TG_AUTOBUF struct tg_buf small = TG_BUF_INIT(4);
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(tg_file_write_atomic(folder->file, "12345", 5, 0644, NULL), 0);
    assert_int_equal(tg_file_read(folder->file, &fits, &err), 0);
    assert_int_equal(tg_file_read(folder->file, &small, &err), -TG_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(err.message, "larger than the 4 bytes"));
    assert_non_null(strstr(err.message, folder->file));
}

static void reading_a_missing_file_or_a_folder_is_an_error(void **state)
{
    struct folder *folder = *state;
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(100);
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(tg_file_read(folder->file, &buf, &err), -TG_NOT_FOUND);
    assert_int_equal(tg_file_read(folder->path, &buf, &err), -TG_FAILED_PRECONDITION);
}

static void removing_twice_is_success(void **state)
{
    struct folder *folder = *state;
    struct tg_error err = TG_ERROR_INIT;
    char path[128];

    assert_int_equal(tg_file_write_atomic(folder->file, "x", 1, 0644, NULL), 0);
    assert_int_equal(tg_file_remove(folder->file, &err), 0);
    assert_int_equal(entries(folder->path), 0);
    assert_int_equal(tg_file_remove(folder->file, &err), 0);
    snprintf(path, sizeof(path), "%s/none/f", folder->path);
    assert_int_equal(tg_file_remove(path, &err), 0);
    assert_int_equal(err.code, TG_OK); /* untouched on success */
    assert_int_not_equal(tg_file_remove(folder->path, &err), 0);
}

static void folders_are_made_to_any_depth_and_may_exist(void **state)
{
    struct folder *folder = *state;
    struct tg_error err = TG_ERROR_INIT;
    struct stat status;
    char path[160];

    snprintf(path, sizeof(path), "%s/a//b/c/", folder->path);
    assert_int_equal(tg_file_make_folders(path, 0750, &err), 0);
    assert_int_equal(stat(path, &status), 0);
    assert_true(S_ISDIR(status.st_mode));
    assert_int_equal(tg_file_make_folders(path, 0750, &err), 0);
    assert_int_equal(tg_file_make_folders("/", 0750, &err), 0);
    assert_int_equal(tg_file_make_folders(".", 0750, &err), 0);
}

static void a_file_in_the_way_of_a_folder_is_told_by_name(void **state)
{
    struct folder *folder = *state;
    struct tg_error err = TG_ERROR_INIT;
    char path[160];

    assert_int_equal(tg_file_write_atomic(folder->file, "x", 1, 0644, NULL), 0);
    assert_int_equal(tg_file_make_folders(folder->file, 0755, &err), -TG_FAILED_PRECONDITION);
    assert_non_null(strstr(err.message, "is not a folder"));
    snprintf(path, sizeof(path), "%s/sub", folder->file);
    assert_int_equal(tg_file_make_folders(path, 0755, &err), -TG_FAILED_PRECONDITION);
}

/* A file, or a folder, of that name in the test's folder. */
static void make_beside(const struct folder *folder, const char *name, bool is_folder)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder->path, name);
    assert_int_equal(is_folder ? mkdir(path, 0700) : tg_file_write_atomic(path, "x", 1, 0600, NULL),
                     0);
}

static bool is_beside(const struct folder *folder, const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder->path, name);
    return access(path, F_OK) == 0;
}

static void what_an_interrupted_write_left_is_removed_and_nothing_else(void **state)
{
    static const char *const kept[] = {"f", ".g.tmp-123456", ".f.tmp", "x.f.tmp-123456"};
    const struct folder *folder = *state;
    struct tg_error err = TG_ERROR_INIT;

    make_beside(folder, ".f.tmp-123456", false);
    make_beside(folder, ".f.tmp-abcdef", false);
    for (size_t i = 0; i < TG_ARRAY_SIZE(kept); i++)
        make_beside(folder, kept[i], false);
    assert_int_equal(tg_file_remove_leftovers(folder->file, NULL), 0);
    assert_int_equal(entries(folder->path), TG_ARRAY_SIZE(kept));
    for (size_t i = 0; i < TG_ARRAY_SIZE(kept); i++)
        assert_true(is_beside(folder, kept[i]));
    make_beside(folder, ".f.tmp-123456", true);
    assert_true(tg_file_remove_leftovers(folder->file, &err) < 0);
    assert_non_null(strstr(err.message, ".f.tmp-123456"));
    assert_int_equal(tg_file_remove_leftovers("/nowhere/f", &err), -TG_NOT_FOUND);
}

static void a_pipe_takes_everything_in_pieces(void **state)
{
    enum { SIZE = 1 << 20 };
    TG_AUTOFREE char *data = malloc(SIZE);
    char chunk[5000];
    int ends[2];
    size_t got = 0;
    pid_t child;
    ssize_t n;
    int status;

    (void)state;
    assert_non_null(data);
    memset(data, 'x', SIZE);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(tg_file_write_all(ends[1], data, SIZE, NULL) == 0 ? 0 : 1);
    close(ends[1]);
    while ((n = read(ends[0], chunk, sizeof(chunk))) > 0)
        got += (size_t)n;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(got, SIZE);
}

static void a_closed_descriptor_is_an_error(void **state)
{
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    assert_int_equal(tg_file_write_all(-1, "x", 1, &err), -TG_INTERNAL);
    assert_string_equal(err.message, "cannot write: Bad file descriptor");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_was_written_is_read_and_nothing_is_left_beside_it),
        IN_FOLDER(the_mode_is_the_one_asked_for_whatever_the_umask),
        IN_FOLDER(a_reader_of_the_old_file_never_sees_a_mix),
        IN_FOLDER(a_failed_write_leaves_the_old_content_and_no_garbage),
        IN_FOLDER(a_target_that_is_a_folder_is_refused_without_garbage),
        IN_FOLDER(a_missing_folder_is_told_by_name),
        IN_FOLDER(names_without_a_folder_are_in_the_current_one),
        IN_FOLDER(a_file_over_the_limit_is_exhaustion_and_says_so),
        IN_FOLDER(reading_a_missing_file_or_a_folder_is_an_error),
        IN_FOLDER(removing_twice_is_success),
        IN_FOLDER(what_an_interrupted_write_left_is_removed_and_nothing_else),
        IN_FOLDER(folders_are_made_to_any_depth_and_may_exist),
        IN_FOLDER(a_file_in_the_way_of_a_folder_is_told_by_name),
        cmocka_unit_test(a_pipe_takes_everything_in_pieces),
        cmocka_unit_test(a_closed_descriptor_is_an_error),
    };

    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
