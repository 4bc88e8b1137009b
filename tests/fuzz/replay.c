/* SPDX-License-Identifier: Apache-2.0 */
/* Replays the files of a corpus folder through a fuzz target, without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/runtime/base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define FILE_MAX (16 * 1024 * 1024)

static int replay(const char *folder, const char *name)
{
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(FILE_MAX);
    struct tg_error err = TG_ERROR_INIT;
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (tg_file_read(path, &content, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return -1;
    }
    return LLVMFuzzerTestOneInput((const uint8_t *)tg_buf_str(&content), content.len);
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    struct dirent *entry;
    size_t n = 0;

    if (folder == NULL) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        if (replay(argv[1], entry->d_name) != 0)
            return EXIT_FAILURE;
        n++;
    }
    closedir(folder);
    printf("%zu inputs replayed\n", n);
    return n == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
