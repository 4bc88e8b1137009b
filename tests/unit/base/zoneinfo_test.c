/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <unistd.h>

#include "api/runtime/base/file.h"
#include "api/runtime/base/zoneinfo.h"

struct folder {
    char path[64], file[96];
    struct tg_zoneinfo *zoneinfo;
};

static int make_folder(void **state)
{
    static struct folder f;

    snprintf(f.path, sizeof(f.path), "/tmp/tangram-zoneinfo-test-XXXXXX");
    if (mkdtemp(f.path) == NULL)
        return -1;
    snprintf(f.file, sizeof(f.file), "%s/Europe/Berlin", f.path);
    if (tg_file_make_folders(f.path, 0700, NULL) < 0)
        return -1;
    f.zoneinfo = tg_zoneinfo_new(f.path);
    *state = &f;
    return 0;
}

static int remove_folder(void **state)
{
    struct folder *f = *state;

    tg_zoneinfo_free(f->zoneinfo);
    tg_file_remove(f->file, NULL);
    *strrchr(f->file, '/') = '\0';
    rmdir(f->file);
    return rmdir(f->path);
}

static void write_zone(struct folder *f, const char *text)
{
    char sub[96];

    snprintf(sub, sizeof(sub), "%s/Europe", f->path);
    assert_int_equal(tg_file_make_folders(sub, 0700, NULL), 0);
    assert_int_equal(tg_file_write_atomic(f->file, text, strlen(text), 0600, NULL), 0);
}

static void a_zone_is_read_once_and_stays_as_it_was(void **state)
{
    struct folder *f = *state;
    const void *first;
    size_t n = 0;

    write_zone(f, "TZif");
    first = tg_zoneinfo_find(f->zoneinfo, "Europe/Berlin", &n);
    assert_int_equal(n, 4);
    assert_memory_equal(first, "TZif", 4);
    write_zone(f, "another");
    assert_ptr_equal(tg_zoneinfo_find(f->zoneinfo, "Europe/Berlin", &n), first);
    assert_int_equal(n, 4);
}

static void what_is_no_file_of_the_folder_is_no_zone(void **state)
{
    static const char *const names[] = {
        "", "Europe", "Europe/Paris", "/etc/passwd", "../../etc/passwd", "Europe/../Europe/Berlin"};
    struct folder *f = *state;
    size_t n;

    write_zone(f, "TZif");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_null(tg_zoneinfo_find(f->zoneinfo, names[i], &n));
}

static void a_file_that_is_too_large_is_no_zone(void **state)
{
    struct folder *f = *state;
    char *text = calloc(1, TG_ZONEINFO_ZONE + 2);
    size_t n;

    assert_non_null(text);
    memset(text, 'x', TG_ZONEINFO_ZONE + 1);
    write_zone(f, text);
    free(text);
    assert_null(tg_zoneinfo_find(f->zoneinfo, "Europe/Berlin", &n));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_zone_is_read_once_and_stays_as_it_was, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(what_is_no_file_of_the_folder_is_no_zone, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_file_that_is_too_large_is_no_zone, make_folder,
                                        remove_folder),
    };

    return cmocka_run_group_tests_name("zoneinfo", tests, NULL, NULL);
}
