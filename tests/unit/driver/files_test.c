/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/nvml/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "driver/provider/nvml/loader_cache.h"
#include "tests/unit/driver/sandbox.h"

#define VERSION "580.105.08"
#define LIB "/usr/lib/x86_64-linux-gnu/"
#define HEADER 48
#define ENTRY 24

struct library {
    const char *name, *path;
};
static const struct library libraries[] = {
    {"libcuda.so.1", LIB "libcuda.so.1"},
    {"libnvidia-ml.so.1", LIB "libnvidia-ml.so.1"},
    {"libc.so.6", LIB "libc.so.6"},
    {"libgone.so.1", LIB "libgone.so.1"},
    {"libGLX_nvidia.so.0", LIB "libGLX_nvidia.so.0"},
    {"libnvoptix.so.1", LIB "libnvoptix.so.1"},
    {"libodd.so.1", LIB "nvidia/current/libodd.so.1"},
    {"libother.so.1", LIB "libother.so.1"},
};

/* As ldconfig writes it; `old` puts the older format in front. */
static void make_cache(struct tg_buf *out, bool old)
{
    TG_AUTOBUF struct tg_buf strings = TG_BUF_INIT(4096);
    uint32_t n = TG_ARRAY_SIZE(libraries);
    char header[HEADER] = "glibc-ld.so.cache1.1";
    if (old) {
        static const char front[16] = "ld.so-1.7.0\0\0\0\0"; /* and no entries */
        tg_buf_append(out, front, sizeof(front));
    }
    memcpy(header + 20, &n, sizeof(n));
    tg_buf_append(out, header, sizeof(header));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t base = HEADER + n * ENTRY;
#if defined(__aarch64__)
        uint32_t entry[6] = {0x0a03};
#else
        uint32_t entry[6] = {0x0303};
#endif
        entry[1] = base + (uint32_t)strings.len;
        tg_buf_append(&strings, libraries[i].name, strlen(libraries[i].name) + 1);
        entry[2] = base + (uint32_t)strings.len;
        tg_buf_append(&strings, libraries[i].path, strlen(libraries[i].path) + 1);
        tg_buf_append(out, entry, sizeof(entry));
    }
    tg_buf_append(out, strings.data, strings.len);
}

struct bench {
    struct sandbox *sandbox;
    const char *host; /* what the sandbox is called on the host */
    struct tg_arena *arena;
    struct tg_edits edits;
    struct tg_error err;
};

static void put(const struct bench *b, const char *path, const void *data, size_t n)
{
    TG_AUTOFREE char *file = tg_xasprintf("%s%s", b->sandbox->folder, path);
    TG_AUTOFREE char *folder = tg_xstrdup(file);
    *strrchr(folder, '/') = '\0';
    assert_int_equal(tg_file_make_folders(folder, 0755, NULL), 0);
    assert_int_equal(tg_file_write_atomic(file, data, n, 0644, NULL), 0);
}

static void point(const struct bench *b, const char *path, const char *to)
{
    TG_AUTOFREE char *link = tg_xasprintf("%s%s", b->sandbox->folder, path);
    assert_int_equal(symlink(to, link), 0);
}

static int set_up(void **state)
{
    struct bench *b = tg_xcalloc(1, sizeof(*b));
    b->sandbox = sandbox_new();
    b->arena = tg_arena_new(TG_ARENA_UNLIMITED);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    sandbox_free(b->sandbox);
    tg_arena_free(b->arena);
    free(b);
    return 0;
}

static void install(const struct bench *b, bool old)
{
    TG_AUTOBUF struct tg_buf cache = TG_BUF_INIT(65536);
    make_cache(&cache, old);
    put(b, "/etc/ld.so.cache", cache.data, cache.len);
    put(b, LIB "libcuda.so." VERSION, "", 0);
    put(b, LIB "libnvidia-ml.so." VERSION, "", 0);
    put(b, LIB "libc.so.6", "", 0);
    put(b, "/usr/bin/nvidia-smi", "", 0);
    put(b, "/lib/firmware/nvidia/" VERSION "/gsp_ga10x.bin", "", 0);
    point(b, LIB "libcuda.so.1", "libcuda.so." VERSION);
    point(b, LIB "libnvidia-ml.so.1", "libnvidia-ml.so." VERSION);
}

static const char *mount_of(const struct bench *b, const char *container)
{
    for (size_t i = 0; i < b->edits.mounts.n; i++) {
        if (strcmp(b->edits.mounts.items[i].container_path, container) == 0)
            return b->edits.mounts.items[i].host_path;
    }
    return NULL;
}

static int add_version(struct bench *b, const char *version)
{
    b->edits = (struct tg_edits){0};
    b->err = TG_ERROR_INIT;
    return tg_nvml_files_add(&(struct tg_nvml_root){.here = b->sandbox->folder, .host = b->host},
                             version, b->arena, &b->edits, &b->err);
}

static int add(struct bench *b)
{
    return add_version(b, VERSION);
}

static void libraries_of_the_version_are_mounted_where_programs_look(void **state)
{
    struct bench *b = *state;
    for (int old = 0; old < 2; old++) {
        sandbox_remove(b->sandbox->folder);
        install(b, old == 1);
        assert_int_equal(add(b), 0);
        assert_int_equal(b->edits.mounts.n, 4);
        TG_AUTOFREE char *file = tg_xasprintf("%s" LIB "libcuda.so." VERSION, b->sandbox->folder);
        assert_string_equal(mount_of(b, LIB "libcuda.so.1"), file);
        assert_non_null(mount_of(b, LIB "libnvidia-ml.so.1"));
        assert_non_null(mount_of(b, "/usr/bin/nvidia-smi"));
        assert_non_null(mount_of(b, "/lib/firmware/nvidia/" VERSION));
        assert_null(mount_of(b, LIB "libc.so.6"));
    }
}

/* Links of others are not even followed: there may be a thousand. */
static void only_what_is_called_as_a_driver_calls_it_is_looked_at(void **state)
{
    struct bench *b = *state;
    install(b, false);
    put(b, LIB "nvidia/current/libodd.so." VERSION, "", 0);
    point(b, LIB "libGLX_nvidia.so.0", "libcuda.so." VERSION);
    point(b, LIB "libnvoptix.so.1", "libcuda.so." VERSION);
    point(b, LIB "nvidia/current/libodd.so.1", "libodd.so." VERSION);
    point(b, LIB "libother.so.1", "libcuda.so." VERSION);
    assert_int_equal(add(b), 0);
    assert_non_null(mount_of(b, LIB "libGLX_nvidia.so.0"));
    assert_non_null(mount_of(b, LIB "libnvoptix.so.1"));
    assert_non_null(mount_of(b, LIB "nvidia/current/libodd.so.1"));
    assert_null(mount_of(b, LIB "libother.so.1"));
}

/* CDI documents are read by the container runtime, which knows nothing of what is mounted where. */
static void paths_on_the_host_are_those_of_its_folder(void **state)
{
    static const struct {
        const char *host, *file;
    } cases[] = {
        {"/", LIB "libcuda.so." VERSION},
        {"/run/nvidia/driver", "/run/nvidia/driver" LIB "libcuda.so." VERSION},
    };
    struct bench *b = *state;
    install(b, false);
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        b->host = cases[i].host;
        assert_int_equal(add(b), 0);
        assert_string_equal(mount_of(b, LIB "libcuda.so.1"), cases[i].file);
    }
    assert_string_equal(mount_of(b, "/usr/bin/nvidia-smi"),
                        "/run/nvidia/driver/usr/bin/nvidia-smi");
    assert_string_equal(mount_of(b, "/lib/firmware/nvidia/" VERSION),
                        "/run/nvidia/driver/lib/firmware/nvidia/" VERSION);
}

static void repoint(const struct bench *b, const char *path, const char *to)
{
    TG_AUTOFREE char *link = tg_xasprintf("%s%s", b->sandbox->folder, path);
    assert_int_equal(unlink(link), 0);
    point(b, path, to);
}

/* Nothing is kept from one document to the next: another version comes with the same paths in the
 * loader's cache, and links that lead elsewhere. */
static void a_driver_that_is_upgraded_in_place_is_seen_in_the_next_document(void **state)
{
    struct bench *b = *state;

    install(b, false);
    assert_int_equal(add(b), 0);
    put(b, LIB "libcuda.so.590.1", "", 0);
    put(b, LIB "libnvidia-ml.so.590.1", "", 0);
    put(b, "/lib/firmware/nvidia/590.1/gsp_ga10x.bin", "", 0);
    repoint(b, LIB "libcuda.so.1", "libcuda.so.590.1");
    repoint(b, LIB "libnvidia-ml.so.1", "libnvidia-ml.so.590.1");
    assert_int_equal(add_version(b, "590.1"), 0);
    TG_AUTOFREE char *file = tg_xasprintf("%s" LIB "libcuda.so.590.1", b->sandbox->folder);
    assert_string_equal(mount_of(b, LIB "libcuda.so.1"), file);
    assert_non_null(mount_of(b, "/lib/firmware/nvidia/590.1"));
    assert_null(mount_of(b, "/lib/firmware/nvidia/" VERSION));
}

/* As Debian's alternatives have it. */
static void links_are_followed_as_they_are_meant_in_the_root(void **state)
{
    struct bench *b = *state;
    install(b, false);
    put(b, "/etc/alternatives/of", "", 0);
    point(b, "/etc/alternatives/cuda", LIB "libcuda.so." VERSION);
    repoint(b, LIB "libcuda.so.1", "/etc/alternatives/cuda");
    b->host = "/";
    assert_int_equal(add(b), 0);
    assert_string_equal(mount_of(b, LIB "libcuda.so.1"), LIB "libcuda.so." VERSION);
    /* Nothing outside of it is ever reached. */
    repoint(b, LIB "libcuda.so.1", "../../../../../../../../../../../../etc/alternatives/cuda");
    assert_int_equal(add(b), 0);
    assert_string_equal(mount_of(b, LIB "libcuda.so.1"), LIB "libcuda.so." VERSION);
    repoint(b, LIB "libcuda.so.1", "/etc/passwd");
    assert_int_equal(add(b), 0);
    assert_null(mount_of(b, LIB "libcuda.so.1"));
}

static void a_library_is_found_by_its_name(void **state)
{
    struct bench *b = *state;
    TG_AUTOFREE char *file = tg_xasprintf("%s" LIB "libnvidia-ml.so." VERSION, b->sandbox->folder);
    assert_null(tg_nvml_files_find(b->sandbox->folder, "libnvidia-ml.so.1", b->arena));
    install(b, false);
    assert_string_equal(tg_nvml_files_find(b->sandbox->folder, "libnvidia-ml.so.1", b->arena),
                        file);
    assert_null(tg_nvml_files_find(b->sandbox->folder, "libgone.so.1", b->arena));
    assert_null(tg_nvml_files_find(b->sandbox->folder, "/usr/lib/libnvidia-ml.so.1", b->arena));
    assert_null(tg_nvml_files_find("", "libc.so.6", b->arena));
}

/* NV 787, 1380: an incomplete document is worse than none. */
static void a_root_without_the_driver_is_an_error_that_can_be_repeated(void **state)
{
    struct bench *b = *state;
    assert_int_equal(add(b), -TG_FAILED_PRECONDITION);
    assert_true(b->err.retry);
    assert_non_null(strstr(b->err.message, "no library of driver " VERSION));
    put(b, "/etc/ld.so.cache", "nonsense", 8);
    assert_int_equal(add(b), -TG_FAILED_PRECONDITION);
    install(b, false);
    assert_int_equal(add(b), 0);
}

static int count(void *data, const char *name, const char *path, struct tg_error *err)
{
    (void)name;
    (void)path;
    (void)err;
    ++*(size_t *)data;
    return 0;
}

/* Cut off at each byte, and each byte changed: never read beyond the end (a sanitizer looks on). */
static void a_damaged_cache_is_read_no_further_than_it_goes(void **state)
{
    TG_AUTOBUF struct tg_buf cache = TG_BUF_INIT(65536);
    size_t found = 0;
    (void)state;
    make_cache(&cache, true);
    assert_int_equal(tg_loader_cache_each(cache.data, cache.len, count, &found, NULL), 0);
    assert_int_equal(found, TG_ARRAY_SIZE(libraries));
    for (size_t n = 0; n < cache.len; n++) {
        TG_AUTOFREE char *cut = tg_xmalloc(n + 1);
        memcpy(cut, cache.data, n);
        found = 0;
        (void)tg_loader_cache_each(cut, n, count, &found, NULL);
        assert_true(found <= TG_ARRAY_SIZE(libraries));
        cache.data[n] = (char)~cache.data[n];
        TG_AUTOFREE char *changed = tg_xmalloc(cache.len);
        memcpy(changed, cache.data, cache.len);
        (void)tg_loader_cache_each(changed, cache.len, count, &found, NULL);
        cache.data[n] = (char)~cache.data[n];
    }
}

static void the_vendors_hook_is_used_where_it_is_installed(void **state)
{
    static const char *const args[] = {"nvidia-cdi-hook", "update-ldcache", "--folder",
                                       "/usr/lib/x86_64-linux-gnu"};
    struct bench *b = *state;
    install(b, false);
    assert_int_equal(add(b), 0);
    assert_int_equal(b->edits.hooks.n, 0);
    put(b, "/usr/bin/nvidia-cdi-hook", "", 0);
    TG_AUTOFREE char *hook = tg_xasprintf("%s/usr/bin/nvidia-cdi-hook", b->sandbox->folder);
    assert_int_equal(add(b), 0);
    assert_int_equal(b->edits.hooks.n, 0); /* no program */
    assert_int_equal(chmod(hook, 0755), 0);
    b->host = "/run/nvidia/driver";
    assert_int_equal(add(b), 0);
    assert_int_equal(b->edits.hooks.n, 1);
    assert_string_equal(b->edits.hooks.items[0].path, "/run/nvidia/driver/usr/bin/nvidia-cdi-hook");
    assert_int_equal(b->edits.hooks.items[0].args.n, TG_ARRAY_SIZE(args));
    for (size_t i = 0; i < TG_ARRAY_SIZE(args); i++)
        assert_string_equal(b->edits.hooks.items[0].args.items[i], args[i]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(libraries_of_the_version_are_mounted_where_programs_look),
        TEST(only_what_is_called_as_a_driver_calls_it_is_looked_at),
        TEST(a_driver_that_is_upgraded_in_place_is_seen_in_the_next_document),
        TEST(paths_on_the_host_are_those_of_its_folder),
        TEST(links_are_followed_as_they_are_meant_in_the_root),
        TEST(a_library_is_found_by_its_name),
        TEST(a_root_without_the_driver_is_an_error_that_can_be_repeated),
        TEST(the_vendors_hook_is_used_where_it_is_installed),
        TEST(a_damaged_cache_is_read_no_further_than_it_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
