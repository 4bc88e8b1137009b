/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cases/case_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"

#define FILE_MAX_BYTES ((size_t)64 * 1024 * 1024)

static int run_file(const struct case_files *files, const char *path)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(FILE_MAX_BYTES);
    const struct tg_json *cases;
    struct tg_json *root = NULL;
    struct tg_error err = TG_ERROR_INIT;

    if (tg_file_read(path, &buf, &err) == 0 && files->prepare != NULL)
        files->prepare(buf.data, buf.len);
    if (err.code != TG_OK || tg_json_parse(buf.data, buf.len, arena, &root, &err) < 0) {
        fprintf(stderr, "%s: %s\n", path, err.message);
        return 2;
    }
    cases = tg_json_get(root, "cases");
    if (cases == NULL || cases->kind != TG_JSON_ARRAY) {
        fprintf(stderr, "%s: no cases\n", path);
        return 2;
    }
    for (size_t i = 0; i < cases->n; i++)
        files->on_case(files->data, path, root, cases->items[i]);
    return 0;
}

int case_files_run(const struct case_files *files, const char *path)
{
    struct dirent **names = NULL;
    struct stat st;
    int rc = 0, n;

    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return run_file(files, path);
    n = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char file[4096];
        size_t length = strlen(names[i]->d_name);

        snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
        if (length > 5 && strcmp(names[i]->d_name + length - 5, ".json") == 0 &&
            run_file(files, file) != 0)
            rc = 2;
        free(names[i]);
    }
    free(names);
    return rc;
}
