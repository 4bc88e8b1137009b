/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/folder_watch.h"

#include "api/runtime/base/clock.h"
#include "tests/unit/plugin/folder.h"

struct bench {
    struct test_folder folder;
    struct tg_loop *loop;
    struct tg_folder_watch *watch;
    char watched[96], file[128], other[128];
    int changed;
};

static void on_changed(void *data)
{
    struct bench *bench = data;
    bench->changed++;
}

static int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    assert_non_null(bench);
    test_folder_init(&bench->folder);
    bench->loop = tg_loop_new(false);
    snprintf(bench->watched, sizeof(bench->watched), "%s/attributes.d", bench->folder.root);
    snprintf(bench->file, sizeof(bench->file), "%s/a.yaml", bench->watched);
    snprintf(bench->other, sizeof(bench->other), "%s/b.yaml", bench->watched);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    tg_folder_watch_free(bench->watch);
    tg_loop_free(bench->loop);
    test_folder_done(&bench->folder);
    free(bench);
    return 0;
}

static void start(struct bench *bench, int64_t retry)
{
    bench->watch = tg_folder_watch_new(bench->loop, bench->watched, retry, on_changed, bench);
}

static void wait_for_change(struct bench *bench)
{
    bench->changed = 0;
    while (bench->changed == 0)
        tg_loop_run_once(bench->loop, true);
}

static void files_that_are_written_moved_and_removed_are_told(void **state)
{
    struct bench *bench = *state;
    assert_int_equal(mkdir(bench->watched, 0755), 0);
    start(bench, 0);
    test_folder_write(bench->file, "one");
    wait_for_change(bench);
    test_folder_write(bench->file, "two"); /* in place */
    wait_for_change(bench);
    assert_int_equal(rename(bench->file, bench->other), 0);
    wait_for_change(bench);
    assert_int_equal(unlink(bench->other), 0);
    wait_for_change(bench);
    assert_int_equal(symlink("c.yaml", bench->other), 0); /* a ConfigMap is swapped so */
    wait_for_change(bench);
}

static void a_folder_that_appears_and_one_that_goes_is_told(void **state)
{
    struct bench *bench = *state;
    start(bench, TG_MILLISECOND);
    tg_loop_run_once(bench->loop, true);
    assert_int_equal(bench->changed, 0);
    assert_int_equal(mkdir(bench->watched, 0755), 0);
    wait_for_change(bench);
    test_folder_write(bench->file, "one");
    wait_for_change(bench);
    assert_int_equal(unlink(bench->file), 0);
    assert_int_equal(rmdir(bench->watched), 0);
    wait_for_change(bench);
    assert_int_equal(mkdir(bench->watched, 0755), 0);
    wait_for_change(bench);
    test_folder_write(bench->file, "one");
    wait_for_change(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_that_are_written_moved_and_removed_are_told, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_folder_that_appears_and_one_that_goes_is_told, setup,
                                        teardown),
    };
    return cmocka_run_group_tests_name("folder_watch", tests, NULL, NULL);
}
