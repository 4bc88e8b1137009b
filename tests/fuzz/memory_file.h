/* SPDX-License-Identifier: Apache-2.0 */
/* A file that exists in memory only, for what reads files by name. */
#ifndef TG_TESTS_FUZZ_MEMORY_FILE_H
#define TG_TESTS_FUZZ_MEMORY_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct memory_file {
    int fd;
    char path[64];
};

static inline void memory_file_init(struct memory_file *file, const void *data, size_t n)
{
    file->fd = memfd_create("input", MFD_CLOEXEC);
    if (file->fd < 0 || write(file->fd, data, n) != (ssize_t)n)
        abort();
    snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
}

static inline void memory_file_done(struct memory_file *file)
{
    close(file->fd);
}

#endif
