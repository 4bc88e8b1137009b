/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "kubelet-plugin/print_slices.h"
#include "tests/support/fake_nvml.h"
#include "tests/unit/plugin/folder.h"

struct output {
    char *slices, *problems;
    struct tg_error err;
    int rc;
};

static struct output print(const char *scenario, const char *dynamic, const char *placements)
{
    struct output output = {.err = TG_ERROR_INIT};
    struct test_folder folder;
    struct fake_nvml fake;
    size_t n = 0, m = 0;
    test_folder_init(&folder);
    fake_nvml_init(&fake, TEST_BIN_DIR, folder.root, scenario);
    const struct tg_plugin_options options = {.node_name = "node-a",
                                              .driver_name = "gpu.tangram.dev",
                                              .provider = "nvml",
                                              .nvml_library = fake.library,
                                              .system_root = fake.root,
                                              .dynamic_mig = dynamic,
                                              .placements = placements};
    FILE *out = open_memstream(&output.slices, &n);
    FILE *problems = open_memstream(&output.problems, &m);
    assert_true(out != NULL && problems != NULL);
    output.rc = tg_print_slices(&options, out, problems, &output.err);
    fclose(out);
    fclose(problems);
    fake_nvml_done(&fake);
    test_folder_done(&folder);
    return output;
}

static void output_done(struct output *output)
{
    free(output->slices);
    free(output->problems);
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

static void each_slice_is_a_line(void **state)
{
    (void)state;
    TG_CLEANUP(output_done)
    struct output output = print("card h100-80gb count=8 mig=on\n", "NVIDIA H100*", "counters");
    assert_int_equal(output.rc, 0);
    assert_int_equal(count(output.slices, "\n"), 4); /* counters, and 144 devices of 64 a slice */
    assert_int_equal(count(output.slices, "\"type\":{\"string\":\"mig\"}"), 144);
    assert_string_equal(output.problems, "");
    /* What a node may take of the API server's memory. */
    assert_true(strlen(output.slices) < 200 * 1000);
}

static void derived_partitions_have_no_counters(void **state)
{
    (void)state;
    TG_CLEANUP(output_done)
    struct output output = print("card a30-24gb mig=on\n", "*", "derived");
    assert_int_equal(output.rc, 0);
    assert_int_equal(count(output.slices, "ounters"), 0);
    assert_int_equal(count(output.slices, "\"derived\":{\"bool\":true}"), 7);
}

static void what_is_not_offered_is_told(void **state)
{
    (void)state;
    TG_CLEANUP(output_done)
    struct output output = print(
        "card l4-24gb count=2\nfault nvmlDeviceGetUUID on=0 error=GPU_IS_LOST\n", "", "counters");
    assert_int_equal(output.rc, 0);
    assert_non_null(strstr(output.problems, "card 0: nvmlDeviceGetUUID"));
    assert_int_equal(count(output.slices, "\"uuid\""), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_slice_is_a_line),
        cmocka_unit_test(derived_partitions_have_no_counters),
        cmocka_unit_test(what_is_not_offered_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
