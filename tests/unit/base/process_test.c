/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/promtool.h"

#include "api/runtime/base/mem.h"
#include "api/runtime/base/process.h"

#define BLOCK ((size_t)4 << 20)

static size_t heap_in_use(void)
{
    struct mallinfo2 heap = mallinfo2();

    return heap.uordblks + heap.hblkhd;
}

static double value_of(const char *text, const char *name)
{
    char line[128];
    const char *at;

    snprintf(line, sizeof(line), "\n%s ", name);
    at = strstr(text, line);
    assert_non_null(at);
    return strtod(at + strlen(line), NULL);
}

static void a_process_tells_what_the_kernel_knows_of_it(void **state)
{
    struct tg_metrics *metrics = tg_metrics_new();
    struct tg_buf before = TG_BUF_INIT(1 << 20);
    struct tg_buf after = TG_BUF_INIT(1 << 20);
    double now = (double)time(NULL);
    size_t heap;
    char *block;
    int fd;

    (void)state;
    tg_process_measure(metrics, "tester", "1.2.3");
    tg_metrics_write(metrics, &before);
    fd = dup(STDERR_FILENO);
    heap = heap_in_use();
    block = tg_xmalloc(BLOCK);
    heap = heap_in_use() - heap; /* 0 where a sanitizer allocates */
    tg_metrics_write(metrics, &after);
    free(block);
    close(fd);
    assert_non_null(
        strstr(before.data, "tangram_build_info{program=\"tester\",version=\"1.2.3\"} 1\n"));
    assert_true(value_of(after.data, "process_open_fds") ==
                value_of(before.data, "process_open_fds") + 1);
    assert_true(value_of(after.data, "tangram_process_heap_in_use_bytes") >=
                value_of(before.data, "tangram_process_heap_in_use_bytes") + (double)heap);
    assert_true(value_of(before.data, "process_max_fds") >= 64);
    assert_true(value_of(before.data, "process_cpu_seconds_total") >= 0);
    assert_true(value_of(before.data, "process_resident_memory_bytes") > 100000);
    assert_true(value_of(before.data, "process_virtual_memory_bytes") >
                value_of(before.data, "process_resident_memory_bytes"));
    assert_true(value_of(before.data, "process_start_time_seconds") > now - 600);
    assert_true(value_of(before.data, "process_start_time_seconds") < now + 2);
    assert_true(promtool_accepts(TEST_SOURCE_DIR, after.data));
    tg_buf_done(&before);
    tg_buf_done(&after);
    tg_metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_tells_what_the_kernel_knows_of_it),
    };
    return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
