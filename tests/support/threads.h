/* SPDX-License-Identifier: Apache-2.0 */
/* How many threads this process has, those of a sanitizer included: compare two moments. */
#ifndef TG_TESTS_SUPPORT_THREADS_H
#define TG_TESTS_SUPPORT_THREADS_H

#include <dirent.h>
#include <stddef.h>
#include <stdlib.h>

static inline size_t threads_of_process(void)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    size_t n = 0;

    if (folder == NULL)
        abort();
    while ((entry = readdir(folder)) != NULL)
        n += entry->d_name[0] != '.';
    closedir(folder);
    return n;
}

#endif
