/* SPDX-License-Identifier: Apache-2.0 */
/* Which pools reach which nodes. A pool with slices of several nodes reaches each of them; one with
 * a slice that names no node may reach all. */
#include "controller/core/model/sort.h"
#include "controller/core/model/view.h"

static bool is_wide(const struct tg_fleet_pool *pool)
{
    for (size_t i = 0; i < pool->n_slices; i++) {
        const char *name = pool->slices[i]->spec->node_name;

        if (name == NULL || name[0] == '\0')
            return true;
    }
    return false;
}

/* Calls for each node that a slice of the pool names, once for each run of slices. */
static void count_links(struct tg_fleet *fleet, size_t pool, size_t *links)
{
    const struct tg_fleet_pool *p = &fleet->pools[pool];

    for (size_t i = 0; i < p->n_slices; i++) {
        size_t index = tg_fleet_find_node(fleet, p->slices[i]->spec->node_name);
        struct tg_fleet_node *node;

        if (index == TG_NO_INDEX)
            continue;
        node = &fleet->nodes[index];
        if (links != NULL) {
            size_t *own = links + (node->pools - links);

            if (node->n_pools > 0 && own[node->n_pools - 1] == pool)
                continue;
            own[node->n_pools] = pool;
        }
        node->n_pools++;
    }
}

static int link_nodes(struct tg_fleet *fleet, struct tg_arena *arena, struct tg_error *err)
{
    size_t *links, n = 0;
    int rc = 0;

    for (size_t i = 0; i < fleet->n_pools; i++)
        count_links(fleet, i, NULL);
    for (size_t i = 0; i < fleet->n_nodes; i++)
        n += fleet->nodes[i].n_pools;
    rc = tg_core_alloc(arena, n, sizeof(*links), &links, err);
    if (rc < 0)
        return rc;
    n = 0;
    for (size_t i = 0; i < fleet->n_nodes; i++) {
        fleet->nodes[i].pools = links + n;
        n += fleet->nodes[i].n_pools;
        fleet->nodes[i].n_pools = 0;
    }
    for (size_t i = 0; i < fleet->n_pools; i++)
        count_links(fleet, i, links);
    return 0;
}

int tg_fleet_link_pools(struct tg_fleet *fleet, struct tg_arena *arena, struct tg_error *err)
{
    size_t *wide, n = 0;
    int rc = tg_core_alloc(arena, fleet->n_pools, sizeof(*wide), &wide, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < fleet->n_pools; i++) {
        if (is_wide(&fleet->pools[i]))
            wide[n++] = i;
    }
    fleet->wide_pools = wide;
    fleet->n_wide_pools = n;
    return link_nodes(fleet, arena, err);
}
