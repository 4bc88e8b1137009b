/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/nvml/nodes.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "driver/provider/maker.h"

#define FILE_MAX ((size_t)64 << 10)
#define NODES_MAX 8
#define CONTROL_MINOR 255
#define MODESET_MINOR 254

static int missing(const char *path, const char *what, struct tg_error *err)
{
    int rc =
        tg_error_set(err, TG_FAILED_PRECONDITION,
                     "%s: %s: is the NVIDIA driver loaded, with all of its modules?", path, what);
    if (err != NULL)
        err->retry = true;
    return rc;
}

/* ---- what /proc says ---- */

/* The number in a line "NUMBER name" of the character devices; names changed over the years. */
static bool find_major(const char *text, const char *const *names, unsigned *ret)
{
    for (const char *line = text; *line != '\0' && !tg_has_prefix(line, "Block devices");) {
        const char *end = strchrnul(line, '\n');
        const char *number = line + strspn(line, " ");
        size_t digits = strcspn(number, " \n");
        const char *name = number + digits + (number[digits] == ' ');
        uint64_t value = 0;
        for (size_t i = 0; names[i] != NULL; i++) {
            if (strlen(names[i]) == (size_t)(end - name) &&
                strncmp(names[i], name, strlen(names[i])) == 0 &&
                tg_parse_u64(number, digits, &value) == 0 && value < 0x1000) {
                *ret = (unsigned)value;
                return true;
            }
        }
        line = *end == '\0' ? end : end + 1;
    }
    return false;
}

static int read_major(const char *root, const char *const *names, unsigned *ret,
                      struct tg_error *err)
{
    TG_AUTOFREE char *path = tg_xasprintf("%s/proc/devices", root);
    TG_AUTOFREE char *what = tg_xasprintf("there is no character device \"%s\"", names[0]);
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(FILE_MAX);
    int rc = tg_file_read(path, &content, err);
    if (rc < 0)
        return rc;
    return find_major(tg_buf_str(&content), names, ret) ? 0 : missing(path, what, err);
}

/* "DeviceFileMinor: 21" of an access file. */
static int read_capability(const char *path, unsigned *ret, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(FILE_MAX);
    uint64_t value = 0;
    if (tg_file_read(path, &content, NULL) < 0)
        return missing(path, "cannot be read", err);
    const char *at = strstr(tg_buf_str(&content), "DeviceFileMinor:");
    at = at == NULL ? "" : at + strlen("DeviceFileMinor:");
    at += strspn(at, " ");
    if (tg_parse_u64(at, strcspn(at, " \n"), &value) != 0 || value > 0xfffff)
        return missing(path, "says no DeviceFileMinor", err);
    *ret = (unsigned)value;
    return 0;
}

/* ---- edits ---- */

static const char *const card_names[] = {"nvidia", "nvidia-frontend", NULL};
static const char *const capability_names[] = {"nvidia-caps", NULL};
static const char *const uvm_names[] = {"nvidia-uvm", NULL};

static void add_node(struct tg_edits *edits, const char *path, unsigned major, unsigned minor)
{
    edits->nodes.items[edits->nodes.n++] =
        (struct tg_edit_node){.path = path, .numbered = true, .major = major, .minor = minor};
}

static int make_room(struct tg_arena *arena, struct tg_edits *edits, struct tg_error *err)
{
    edits->nodes.items = tg_arena_alloc_array(arena, NODES_MAX, sizeof(*edits->nodes.items));
    edits->env.items = tg_arena_alloc_array(arena, 1, sizeof(*edits->env.items));
    return tg_arena_exhausted(arena) ? tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory") : 0;
}

static int add_capability(const char *path, unsigned major, struct tg_arena *arena,
                          struct tg_edits *ret, struct tg_error *err)
{
    unsigned minor = 0;
    int rc = read_capability(path, &minor, err);
    if (rc == 0)
        add_node(ret, tg_arena_printf(arena, "/dev/nvidia-caps/nvidia-cap%u", minor), major, minor);
    return rc;
}

static int add_capabilities(const char *root, unsigned card, const struct tg_instance *instance,
                            struct tg_arena *arena, struct tg_edits *ret, struct tg_error *err)
{
    TG_AUTOFREE char *gi = tg_xasprintf("%s/proc/driver/nvidia/capabilities/gpu%u/mig/gi%u/access",
                                        root, card, instance->gi);
    TG_AUTOFREE char *ci =
        tg_xasprintf("%s/proc/driver/nvidia/capabilities/gpu%u/mig/gi%u/ci%u/access", root, card,
                     instance->gi, instance->ci);
    unsigned major = 0;
    int rc = read_major(root, capability_names, &major, err);
    if (rc == 0)
        rc = add_capability(gi, major, arena, ret, err);
    return rc < 0 ? rc : add_capability(ci, major, arena, ret, err);
}

int tg_nvml_nodes_of_device(const char *root, const struct tg_provider_device *device,
                            const struct tg_instance *instance, struct tg_arena *arena,
                            struct tg_edits *ret, struct tg_error *err)
{
    const char *uuid = instance == NULL ? device->uuid : instance->uuid;
    unsigned major = 0;
    int rc = make_room(arena, ret, err);
    if (rc == 0)
        rc = read_major(root, card_names, &major, err);
    if (rc < 0)
        return rc;
    add_node(ret, tg_arena_printf(arena, "/dev/nvidia%u", device->minor), major, device->minor);
    if (instance != NULL)
        rc = add_capabilities(root, device->minor, instance, arena, ret, err);
    ret->env.items[ret->env.n++] = tg_device_variable(arena, device->device.name, tg_or(uuid, ""));
    if (rc == 0 && tg_arena_exhausted(arena))
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory");
    return rc;
}

int tg_nvml_nodes_common(const char *root, struct tg_arena *arena, struct tg_edits *ret,
                         struct tg_error *err)
{
    unsigned card = 0, uvm = 0;
    int rc = make_room(arena, ret, err);
    if (rc == 0)
        rc = read_major(root, card_names, &card, err);
    if (rc == 0)
        rc = read_major(root, uvm_names, &uvm, err); /* CUDA does not run without */
    if (rc < 0)
        return rc;
    add_node(ret, "/dev/nvidiactl", card, CONTROL_MINOR);
    add_node(ret, "/dev/nvidia-modeset", card, MODESET_MINOR);
    add_node(ret, "/dev/nvidia-uvm", uvm, 0);
    add_node(ret, "/dev/nvidia-uvm-tools", uvm, 1);
    ret->env.items[ret->env.n++] = "NVIDIA_VISIBLE_DEVICES=void";
    return 0;
}
