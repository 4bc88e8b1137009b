/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

static ssize_t read_some(int fd, void *data, size_t n)
{
    ssize_t got;

    do
        got = read(fd, data, n);
    while (got < 0 && errno == EINTR);
    return got;
}

int tg_file_read(const char *path, struct tg_buf *buf, struct tg_error *err)
{
    TG_AUTOCLOSE int fd = -1;
    char chunk[16384];

    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return tg_error_errno(err, errno, "cannot open \"%s\"", path);
    for (;;) {
        ssize_t got = read_some(fd, chunk, sizeof(chunk));

        if (got < 0)
            return tg_error_errno(err, errno, "cannot read \"%s\"", path);
        if (got == 0)
            return 0;
        if (tg_buf_append(buf, chunk, (size_t)got) != 0)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                "\"%s\" is larger than the %zu bytes that are read at most", path,
                                buf->max);
    }
}

int tg_file_write_all(int fd, const void *data, size_t n, struct tg_error *err)
{
    const char *rest = data;

    while (n > 0) {
        ssize_t wrote = write(fd, rest, n);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return tg_error_errno(err, errno, "cannot write");
        rest += wrote;
        n -= (size_t)wrote;
    }
    return 0;
}

/* The folder of path ("." if it names none), malloc'ed. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        return tg_xstrdup(".");
    return tg_xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

int tg_file_sync_folder_of(const char *path, struct tg_error *err)
{
    TG_AUTOFREE char *folder = folder_of(path);
    TG_AUTOCLOSE int fd = -1;

    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return tg_error_errno(err, errno, "cannot open folder \"%s\"", folder);
    if (fsync(fd) != 0)
        return tg_error_errno(err, errno, "cannot sync folder \"%s\"", folder);
    return 0;
}

/* Everything of an atomic write up to the rename: a complete, synced file at the temporary path. */
static int write_temporary(int fd, const char *path, const void *data, size_t n, mode_t mode,
                           struct tg_error *err)
{
    int rc = tg_file_write_all(fd, data, n, err);

    if (rc != 0)
        return err == NULL ? rc : tg_error_wrap(err, "\"%s\"", path);
    /* mkostemp made it 0600; the mode asked for is given whatever the umask is. */
    if (fchmod(fd, mode) != 0)
        return tg_error_errno(err, errno, "cannot set the mode of \"%s\"", path);
    if (fsync(fd) != 0)
        return tg_error_errno(err, errno, "cannot sync \"%s\"", path);
    return 0;
}

int tg_file_write_atomic(const char *path, const void *data, size_t n, mode_t mode,
                         struct tg_error *err)
{
    TG_AUTOFREE char *folder = folder_of(path);
    TG_AUTOFREE char *temporary = tg_xasprintf("%s/.%s.tmp-XXXXXX", folder, name_of(path));
    TG_AUTOCLOSE int fd = -1;
    int rc;

    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return tg_error_errno(err, errno, "cannot make a temporary file beside \"%s\"", path);
    rc = write_temporary(fd, path, data, n, mode, err);
    if (rc == 0 && rename(temporary, path) != 0)
        rc = tg_error_errno(err, errno, "cannot replace \"%s\"", path);
    if (rc != 0) {
        unlink(temporary);
        return rc;
    }
    return tg_file_sync_folder_of(path, err);
}

int tg_file_remove(const char *path, struct tg_error *err)
{
    struct tg_error sync_error = TG_ERROR_INIT;
    bool was_there = unlink(path) == 0;
    int rc;

    if (!was_there && errno != ENOENT)
        return tg_error_errno(err, errno, "cannot remove \"%s\"", path);
    /* Synced even if it was gone: the removal before a crash may not have reached the disk. */
    rc = tg_file_sync_folder_of(path, &sync_error);
    if (rc == -TG_NOT_FOUND && !was_there)
        return 0;
    if (rc != 0 && err != NULL)
        *err = sync_error;
    return rc;
}

static int remove_those(DIR *folder, const char *prefix, const char *path, struct tg_error *err)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (entry == NULL && errno != 0)
            return tg_error_errno(err, errno, "cannot list the folder of \"%s\"", path);
        if (entry == NULL)
            return 0;
        if (tg_has_prefix(entry->d_name, prefix) &&
            unlinkat(dirfd(folder), entry->d_name, 0) != 0 && errno != ENOENT)
            return tg_error_errno(err, errno, "cannot remove \"%s\" beside \"%s\"", entry->d_name,
                                  path);
    }
}

int tg_file_remove_leftovers(const char *path, struct tg_error *err)
{
    TG_AUTOFREE char *folder = folder_of(path);
    TG_AUTOFREE char *prefix = tg_xasprintf(".%s.tmp-", name_of(path));
    DIR *opened = opendir(folder);

    if (opened == NULL)
        return tg_error_errno(err, errno, "cannot list folder \"%s\"", folder);
    int rc = remove_those(opened, prefix, path, err);
    closedir(opened);
    return rc;
}

/* One folder of a path. The entry is synced, so that a file written into it survives too. */
static int make_folder(const char *path, mode_t mode, struct tg_error *err)
{
    struct stat status;

    if (mkdir(path, mode) == 0)
        return tg_file_sync_folder_of(path, err);
    if (errno != EEXIST)
        return tg_error_errno(err, errno, "cannot make folder \"%s\"", path);
    if (stat(path, &status) != 0)
        return tg_error_errno(err, errno, "cannot look at \"%s\"", path);
    if (!S_ISDIR(status.st_mode))
        return tg_error_set(err, TG_FAILED_PRECONDITION, "\"%s\" exists and is not a folder", path);
    return 0;
}

int tg_file_make_folders(const char *path, mode_t mode, struct tg_error *err)
{
    TG_AUTOFREE char *partial = tg_xstrdup(path);
    size_t n = strlen(partial);

    while (n > 1 && partial[n - 1] == '/')
        partial[--n] = '\0';
    for (char *slash = strchr(partial + (n > 0), '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        int rc;

        *slash = '\0';
        rc = make_folder(partial, mode, err);
        *slash = '/';
        if (rc != 0)
            return rc;
    }
    return make_folder(partial, mode, err);
}
