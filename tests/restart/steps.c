/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded before the C library of a program that is not changed for it (LD_PRELOAD): counts the
 * calls that change a disk, before and after each, in the file that RESTART_STEPS names, and kills
 * the process at the step that the file asks for (0: none). The file is two 32-bit numbers: count,
 * kill at.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct steps {
    _Atomic uint32_t n;
    uint32_t kill_at;
};

static struct steps *steps;

__attribute__((constructor)) static void open_steps(void)
{
    const char *path = getenv("RESTART_STEPS");
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *memory = mmap(NULL, sizeof(struct steps), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    steps = memory == MAP_FAILED ? NULL : memory;
    (void)close(fd);
}

static void step(void)
{
    if (steps != NULL && atomic_fetch_add(&steps->n, 1) + 1 == steps->kill_at)
        (void)raise(SIGKILL);
}

#define WRAP(name, parameters, arguments)                                                          \
    __attribute__((visibility("default"))) int name parameters;                                    \
    int name parameters                                                                            \
    {                                                                                              \
        int(*real) parameters = NULL;                                                              \
        void *found = dlsym(RTLD_NEXT, #name);                                                     \
        memcpy(&real, &found, sizeof(real));                                                       \
        step();                                                                                    \
        int rc = real arguments;                                                                   \
        step();                                                                                    \
        return rc;                                                                                 \
    }
WRAP(fsync, (int fd), (fd))
WRAP(fdatasync, (int fd), (fd))
WRAP(rename, (const char *from, const char *to), (from, to))
WRAP(unlink, (const char *path), (path))
WRAP(link, (const char *from, const char *to), (from, to))
