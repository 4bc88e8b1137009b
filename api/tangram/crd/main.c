/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tg-crd: prints the CustomResourceDefinition of Gang, made from the field tables of api/tangram.
 * With --check FILE it compares instead and fails at the first line that differs, so that the
 * committed YAML cannot fall behind the tables. A tool of the build; not installed.
 */
#include <stdio.h>
#include <string.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/options.h"
#include "api/tangram/gang.h"

enum { MAX_CRD = 1 << 20 };

struct arguments {
    const char *check;
};
static const struct tg_option options[] = {
    {.name = "check",
     .kind = TG_OPTION_STRING,
     .offset = offsetof(struct arguments, check),
     .argument = "FILE",
     .help = "Compare with FILE instead of printing."},
};
static const struct tg_option_set option_set = {
    .program = "tg-crd",
    .summary = "Prints the CustomResourceDefinition of Gang.",
    .options = options,
    .n = TG_ARRAY_SIZE(options),
};

static int compare(const char *file, const char *wanted, const char *found)
{
    size_t line = 1;
    size_t i = 0;
    while (wanted[i] != '\0' && wanted[i] == found[i])
        line += wanted[i++] == '\n';
    if (wanted[i] == found[i])
        return 0;
    fprintf(stderr, "%s:%zu: differs from the tables in api/tangram: run tg-crd > %s\n", file, line,
            file);
    return 1;
}

int main(int argc, char **argv)
{
    struct tg_error err = TG_ERROR_INIT;
    struct arguments arguments = {0};
    enum tg_options_result result;
    if (tg_options_parse(&option_set, argc, argv, &arguments, &result, &err) < 0) {
        fprintf(stderr, "tg-crd: %s\n", err.message);
        return 2;
    }
    if (result == TG_OPTIONS_EXIT)
        return 0;

    TG_AUTOBUF struct tg_buf crd = TG_BUF_INIT(MAX_CRD);
    TG_AUTOBUF struct tg_buf found = TG_BUF_INIT(MAX_CRD);
    if (tg_schema_write_crd(&tg_gang_crd, &crd, &err) < 0 ||
        (arguments.check != NULL && tg_file_read(arguments.check, &found, &err) < 0)) {
        fprintf(stderr, "tg-crd: %s\n", err.message);
        return 1;
    }
    if (arguments.check != NULL)
        return compare(arguments.check, tg_buf_str(&crd), tg_buf_str(&found));
    return fputs(tg_buf_str(&crd), stdout) < 0 || fflush(stdout) != 0;
}
