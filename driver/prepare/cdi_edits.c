/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/prepare/cdi_edits.h"

bool tg_cdi_edits_empty(const struct tg_edits *edits)
{
    return edits->env.n + edits->nodes.n + edits->mounts.n + edits->hooks.n == 0;
}

static void write_node(struct tg_json_writer *w, const struct tg_edit_node *node)
{
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "path", node->path);
    if (node->numbered) {
        tg_jw_kv_string(w, "type", "c");
        tg_jw_kv_int(w, "major", node->major);
        tg_jw_kv_int(w, "minor", node->minor);
    }
    tg_jw_kv_string(w, "permissions", "rw");
    tg_jw_end_object(w);
}

/* As the vendor's tools mount the driver's files: nothing of them can be changed or run as root. */
static void write_mount(struct tg_json_writer *w, const struct tg_edit_mount *mount)
{
    static const char *const options[] = {"ro", "nosuid", "nodev", "rbind", "rprivate"};
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "hostPath", mount->host_path);
    tg_jw_kv_string(w, "containerPath", mount->container_path);
    tg_jw_key(w, "options");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        tg_jw_string(w, options[i]);
    tg_jw_end_array(w);
    tg_jw_end_object(w);
}

static void write_hook(struct tg_json_writer *w, const struct tg_edit_hook *hook)
{
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "hookName", "createContainer");
    tg_jw_kv_string(w, "path", hook->path);
    tg_jw_key(w, "args");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < hook->args.n; i++)
        tg_jw_string(w, hook->args.items[i]);
    tg_jw_end_array(w);
    tg_jw_end_object(w);
}

#define WRITE_LIST(w, name, list, write_one)                                                       \
    do {                                                                                           \
        if ((list)->n > 0) {                                                                       \
            tg_jw_key(w, name);                                                                    \
            tg_jw_begin_array(w);                                                                  \
            for (size_t i = 0; i < (list)->n; i++)                                                 \
                write_one(w, &(list)->items[i]);                                                   \
            tg_jw_end_array(w);                                                                    \
        }                                                                                          \
    } while (0)

void tg_cdi_edits_write(struct tg_json_writer *w, const struct tg_edits *edits)
{
    WRITE_LIST(w, "deviceNodes", &edits->nodes, write_node);
    WRITE_LIST(w, "mounts", &edits->mounts, write_mount);
    WRITE_LIST(w, "hooks", &edits->hooks, write_hook);
}
