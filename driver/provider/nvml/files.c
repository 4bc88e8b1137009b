/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/nvml/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "driver/provider/nvml/loader_cache.h"

#define CACHE_MAX ((size_t)16 << 20)
#define MOUNTS_MAX 128 /* a driver has some forty libraries */

#define HOOK_NAME "nvidia-cdi-hook" /* of the NVIDIA Container Toolkit */
#define HOOK "/usr/bin/" HOOK_NAME
#define HOOK_ARGS_MAX 34 /* sixteen folders; a distribution has one or two */

static const char *const tools[] = {
    "/usr/bin/nvidia-smi",
    "/usr/bin/nvidia-debugdump",
    "/usr/bin/nvidia-persistenced",
};
static const char *const firmware_folders[] = {"/lib/firmware/nvidia", "/usr/lib/firmware/nvidia"};

struct search {
    const char *root; /* as it is called here, without links; "" is / */
    const char *host; /* and on the host */
    const char *version;
    struct tg_arena *arena;
    struct tg_edits *edits;
};

/* What a path means to programs whose / is the root: links are followed as they are meant there.
 * NULL: nothing is there. A path as seen from here; to be freed. */
static char *resolve(const char *root, const char *path)
{
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                                 .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    TG_AUTOFREE char *here = tg_xasprintf("%s%s", root, path);
    TG_AUTOCLOSE int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    TG_AUTOCLOSE int file = -1;
    char link[64];
    if (root[0] == '\0')
        return realpath(path, NULL);
    if (folder < 0)
        return NULL;
    file = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
    /* Before Linux 5.6 and below some filters: links that are meant for the root are lost. */
    if (file < 0 && (errno == ENOSYS || errno == EPERM))
        return realpath(here, NULL);
    if (file < 0)
        return NULL;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    return realpath(link, NULL);
}

static int add(struct search *s, const char *here, const char *container, struct tg_error *err)
{
    struct tg_edits *edits = s->edits;
    TG_AUTOFREE char *host = tg_xasprintf("%s%s", s->host, here + strlen(s->root));
    for (size_t i = 0; i < edits->mounts.n; i++) {
        if (tg_streq(edits->mounts.items[i].container_path, container))
            return 0;
    }
    if (edits->mounts.n == MOUNTS_MAX)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s: more than %d files of the driver",
                            s->root, MOUNTS_MAX);
    edits->mounts.items[edits->mounts.n++] =
        (struct tg_edit_mount){.host_path = tg_arena_strdup(s->arena, host),
                               .container_path = tg_arena_strdup(s->arena, container)};
    return tg_arena_exhausted(s->arena) ? tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory") : 0;
}

/* Every library of a driver is called so, or lies in a folder of the vendor's. A node has a
 * thousand libraries, and to follow the links of all of them takes longer than all else about a
 * claim. */
static bool may_be_drivers(const char *name, const char *path)
{
    return tg_has_prefix(name, "libcuda") || tg_has_prefix(name, "libnv") ||
           strcasestr(path, "nvidia") != NULL;
}

/* The driver's libraries end in its version; their sonames do not. */
static int on_library(void *data, const char *name, const char *path, struct tg_error *err)
{
    struct search *s = data;
    TG_AUTOFREE char *suffix = tg_xasprintf(".so.%s", s->version);
    if (path[0] != '/' || strstr(name, ".so") == NULL || !may_be_drivers(name, path))
        return 0;
    TG_AUTOFREE char *file = resolve(s->root, path);
    if (file == NULL || !tg_has_suffix(file, suffix) || !tg_has_prefix(file, s->root))
        return 0;
    return add(s, file, path, err);
}

static int add_if_there(struct search *s, const char *path, struct tg_error *err)
{
    TG_AUTOFREE char *here = tg_xasprintf("%s%s", s->root, path);
    return access(here, F_OK) == 0 ? add(s, here, path, err) : 0;
}

static bool is_folder_of(const struct tg_edit_hook *hook, const char *folder)
{
    for (size_t i = 0; i < hook->args.n; i++) {
        if (tg_streq(hook->args.items[i], folder))
            return true;
    }
    return false;
}

/* "--folder FOLDER" for each folder that has libraries in the container. */
static void add_folders(struct search *s, struct tg_edit_hook *hook)
{
    const struct tg_edits *edits = s->edits;
    for (size_t i = 0; i < edits->mounts.n; i++) {
        const char *path = tg_or(edits->mounts.items[i].container_path, "");
        const char *slash = strrchr(path, '/');
        const char *folder = slash == NULL || strstr(slash, ".so") == NULL
                                 ? NULL
                                 : tg_arena_strndup(s->arena, path, (size_t)(slash - path));
        if (folder == NULL || is_folder_of(hook, folder) || hook->args.n + 2 > HOOK_ARGS_MAX)
            continue;
        hook->args.items[hook->args.n++] = "--folder";
        hook->args.items[hook->args.n++] = folder;
    }
}

/* Where the vendor's toolkit is installed, the container's loader cache is made to know the
 * libraries as well, for programs that look into it instead of asking the loader. */
static int add_hook(struct search *s, struct tg_error *err)
{
    TG_AUTOFREE char *here = tg_xasprintf("%s" HOOK, s->root);
    struct tg_edit_hook *hook;
    if (access(here, X_OK) != 0)
        return 0;
    hook = tg_arena_alloc(s->arena, sizeof(*hook));
    const char **args = tg_arena_alloc_array(s->arena, HOOK_ARGS_MAX, sizeof(*args));
    if (hook == NULL || args == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory");
    *hook = (struct tg_edit_hook){.path = tg_arena_printf(s->arena, "%s" HOOK, s->host),
                                  .args = {.items = args}};
    hook->args.items[hook->args.n++] = HOOK_NAME;
    hook->args.items[hook->args.n++] = "update-ldcache";
    add_folders(s, hook);
    s->edits->hooks.items = hook;
    s->edits->hooks.n = 1;
    return tg_arena_exhausted(s->arena) ? tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory") : 0;
}

static int add_rest(struct search *s, struct tg_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < TG_ARRAY_SIZE(firmware_folders); i++) {
        TG_AUTOFREE char *folder = tg_xasprintf("%s/%s", firmware_folders[i], s->version);
        rc = add_if_there(s, folder, err);
    }
    for (size_t i = 0; rc == 0 && i < TG_ARRAY_SIZE(tools); i++)
        rc = add_if_there(s, tools[i], err);
    return rc < 0 ? rc : add_hook(s, err);
}

static int none(const struct search *s, const char *why, struct tg_error *err)
{
    if (s->root[0] == '\0')
        return 0;
    int rc = tg_error_set(err, TG_FAILED_PRECONDITION,
                          "no library of driver %s is below %s: %.200s", s->version, s->root, why);
    if (err != NULL)
        err->retry = true;
    return rc;
}

/* The host has no other name for it than we have. */
static const char *root_on_host(const struct tg_nvml_root *root, const char *here)
{
    if (tg_or(root->host, "")[0] == '\0')
        return here;
    return tg_streq(root->host, "/") ? "" : root->host;
}

int tg_nvml_files_add(const struct tg_nvml_root *root, const char *version, struct tg_arena *arena,
                      struct tg_edits *edits, struct tg_error *err)
{
    TG_AUTOFREE char *path = tg_xasprintf("%s/etc/ld.so.cache", root->here);
    TG_AUTOBUF struct tg_buf cache = TG_BUF_INIT(CACHE_MAX);
    TG_AUTOFREE char *real = root->here[0] == '\0' ? NULL : realpath(root->here, NULL);
    struct search s = {
        .root = tg_or(real, root->here), .version = version, .arena = arena, .edits = edits};
    struct tg_error why = TG_ERROR_INIT;
    s.host = root_on_host(root, s.root);
    edits->mounts.items = tg_arena_alloc_array(arena, MOUNTS_MAX, sizeof(*edits->mounts.items));
    if (edits->mounts.items == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory");
    if (version[0] == '\0')
        return none(&s, "the driver does not tell its version", err);
    if (tg_file_read(path, &cache, &why) < 0)
        return none(&s, why.message, err);
    int rc = tg_loader_cache_each(tg_buf_str(&cache), cache.len, on_library, &s, &why);
    if (rc == -TG_RESOURCE_EXHAUSTED) {
        if (err != NULL)
            *err = why;
        return rc;
    }
    if (edits->mounts.n == 0)
        return none(&s, rc < 0 ? why.message : path, err);
    return add_rest(&s, err);
}

struct wanted {
    const char *root, *name;
    char *found; /* to be freed */
};

static int on_wanted(void *data, const char *name, const char *path, struct tg_error *err)
{
    struct wanted *w = data;
    (void)err;
    if (!tg_streq(name, w->name) || path[0] != '/')
        return 0;
    w->found = resolve(w->root, path);
    return w->found == NULL ? 0
                            : -TG_ALREADY_EXISTS; /* the first is the one that the loader takes */
}

const char *tg_nvml_files_find(const char *root, const char *name, struct tg_arena *arena)
{
    TG_AUTOFREE char *path = tg_xasprintf("%s/etc/ld.so.cache", root);
    TG_AUTOBUF struct tg_buf cache = TG_BUF_INIT(CACHE_MAX);
    struct wanted w = {.root = root, .name = name};
    if (root[0] == '\0' || strchr(name, '/') != NULL || tg_file_read(path, &cache, NULL) < 0)
        return NULL;
    (void)tg_loader_cache_each(tg_buf_str(&cache), cache.len, on_wanted, &w, NULL);
    TG_AUTOFREE char *found = w.found;
    return found == NULL ? NULL : tg_arena_strdup(arena, found);
}
