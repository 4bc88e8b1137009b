/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/node_watch.h"

#include <stdlib.h>

#include "api/kubernetes/client/informer.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

#define WHY_MAX ((size_t)1024)

struct tg_node_watch {
    struct tg_node_watch_config config;
    struct tg_informer *informer;
    bool told;
    char *uid;
    char *blocked;
};

/* One name of the list; a '*' at its end stands for anything. */
static bool name_matches(const char *pattern, size_t n, const char *name)
{
    if (n > 0 && pattern[n - 1] == '*')
        return strncmp(name, pattern, n - 1) == 0;
    return strlen(name) == n && strncmp(name, pattern, n) == 0;
}

static bool list_matches(const char *list, const char *name)
{
    while (*list != '\0') {
        size_t n = strcspn(list, ",");
        if (n > 0 && name_matches(list, n, name))
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

bool tg_node_conflict(const struct tg_node *node, const char *list, struct tg_buf *why)
{
    if (node->status == NULL)
        return false;
    for (size_t i = 0; i < node->status->allocatable.n; i++) {
        const struct tg_string_pair *resource = &node->status->allocatable.items[i];
        if (tg_streq(resource->value, "0") || !list_matches(list, resource->key))
            continue;
        tg_buf_printf(why,
                      "the node offers %s %s by a device plugin: the same cards would have two "
                      "owners, so nothing is published; remove the device plugin from this node",
                      resource->value, resource->key);
        return true;
    }
    return false;
}

static void tell(struct tg_node_watch *watch, const struct tg_node *node)
{
    TG_AUTOBUF struct tg_buf why = TG_BUF_INIT(WHY_MAX);
    const char *uid = node == NULL ? NULL : node->metadata->uid;
    const char *blocked =
        node != NULL && tg_node_conflict(node, watch->config.conflicting_resources, &why)
            ? tg_buf_str(&why)
            : NULL;

    if (watch->told && tg_streq(watch->uid, uid) && tg_streq(watch->blocked, blocked))
        return;
    free(watch->uid);
    free(watch->blocked);
    watch->uid = uid == NULL ? NULL : tg_xstrdup(uid);
    watch->blocked = blocked == NULL ? NULL : tg_xstrdup(blocked);
    watch->told = true;
    watch->config.changed(watch->config.data, node == NULL ? NULL : node->metadata, blocked);
}

static void on_change(void *data, struct tg_informer *informer, const struct tg_stored *before,
                      const struct tg_stored *after)
{
    /* Of a Node that was never read it is not known what it offers: nothing is published. */
    bool unknown = after == NULL || (after->stale != NULL && after->base == NULL);

    (void)informer;
    (void)before;
    tell(data, unknown ? NULL : (const struct tg_node *)(const void *)after->object);
}

static void on_synced(void *data, struct tg_informer *informer)
{
    struct tg_node_watch *watch = data;

    if (tg_informer_get(informer, NULL, watch->config.node_name) == NULL)
        tell(watch, NULL);
}

static void on_error(void *data, struct tg_informer *informer, const struct tg_object_meta *about,
                     const struct tg_error *err)
{
    (void)data;
    (void)informer;
    (void)about; /* the error names it */
    TG_ERR(err, "Cannot watch the Node, trying on");
}

struct tg_node_watch *tg_node_watch_new(struct tg_kube_client *client,
                                        const struct tg_node_watch_config *config)
{
    struct tg_node_watch *watch = tg_xcalloc(1, sizeof(*watch));
    TG_AUTOFREE char *selector = tg_xasprintf("metadata.name=%s", config->node_name);

    watch->config = *config;
    const struct tg_informer_config informer = {
        .kind = &tg_kind_node,
        .field_selector = selector,
        .on_change = on_change,
        .on_synced = on_synced,
        .on_error = on_error,
        .data = watch,
    };
    watch->informer = tg_informer_new(client, &informer);
    return watch;
}

void tg_node_watch_free(struct tg_node_watch *watch)
{
    if (watch == NULL)
        return;
    tg_informer_free(watch->informer);
    free(watch->uid);
    free(watch->blocked);
    free(watch);
}
