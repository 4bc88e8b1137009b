/* SPDX-License-Identifier: Apache-2.0 */
/* Cleanup attributes and visible transfer of ownership. Declare cleanup variables first,
 * initialised. */
#ifndef TG_RUNTIME_BASE_CLEANUP_H
#define TG_RUNTIME_BASE_CLEANUP_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TG_CLEANUP(function) __attribute__((cleanup(function)))

/* Defines tg_cleanup_<name>(type **), for use with TG_CLEANUP, from a free function that takes
 * NULL. */
#define TG_DEFINE_CLEANUP(name, type, free_function)                                               \
    static inline void tg_cleanup_##name(type **p)                                                 \
    {                                                                                              \
        if (*p != NULL)                                                                            \
            free_function(*p);                                                                     \
    }

static inline void tg_cleanup_free_p(void *p)
{
    free(*(void **)p);
}

static inline void tg_cleanup_fd_p(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static inline void tg_cleanup_file_p(FILE **f)
{
    if (*f != NULL)
        fclose(*f);
}

#define TG_AUTOFREE TG_CLEANUP(tg_cleanup_free_p)
#define TG_AUTOCLOSE TG_CLEANUP(tg_cleanup_fd_p) /* int fd = -1 */
#define TG_AUTOFCLOSE TG_CLEANUP(tg_cleanup_file_p)

/* Hands a pointer (a descriptor) over and leaves NULL (-1) behind. */
#define TG_TAKE(p)                                                                                 \
    ({                                                                                             \
        __typeof__(p) tg_taken_ = (p);                                                             \
        (p) = NULL;                                                                                \
        tg_taken_;                                                                                 \
    })
static inline int tg_take_fd(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

#define TG_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define TG_CONTAINER_OF(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))

#endif
