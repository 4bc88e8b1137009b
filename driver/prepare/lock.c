/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/prepare/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"

/* Whoever had the lock may have removed the file after it was opened here: the next instance would
 * not find the lock. */
static bool is_at(int fd, const char *path)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

int tg_lock_take(const char *path, int *ret, struct tg_error *err)
{
    TG_AUTOCLOSE int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return tg_error_errno(err, errno, "cannot open %s", path);
    int number = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (number == EWOULDBLOCK)
        return tg_error_set(err, TG_UNAVAILABLE,
                            "%s is locked: another instance of the plugin is running", path);
    if (number != 0)
        return tg_error_errno(err, number, "cannot lock %s", path);
    if (!is_at(fd, path))
        return tg_error_set(err, TG_UNAVAILABLE,
                            "%s is gone: another instance of the plugin has just ended", path);
    *ret = tg_take_fd(&fd);
    return 0;
}

void tg_lock_give(const char *path, int fd)
{
    (void)unlink(path); /* still locked: nobody else has it */
    close(fd);
}
