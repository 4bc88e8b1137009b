/* SPDX-License-Identifier: Apache-2.0 */
/* Files of cases: {"format": ..., "cases": [...]}. */
#ifndef TG_TESTS_CASES_CASE_FILES_H
#define TG_TESTS_CASES_CASE_FILES_H

#include "api/runtime/json/value.h"

struct case_files {
    /* May change the text before it is parsed; NULL: nothing to change. */
    void (*prepare)(char *json, size_t n);
    /* root is the file, c one of its cases; both live until it returns. */
    void (*on_case)(void *data, const char *path, const struct tg_json *root,
                    const struct tg_json *c);
    void *data;
};

/* Every case of the file, or of the .json files of the folder by name. 0, or 2 with a message on
 * stderr if a file cannot be read or has no cases. */
int case_files_run(const struct case_files *files, const char *path);

#endif
