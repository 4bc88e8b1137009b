/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/gather/fleet.h"

int tg_view_fleet(const struct tg_view *view, const char *instance, struct tg_arena *arena,
                  struct tg_fleet **ret, struct tg_error *err)
{
    const struct tg_view_list *lists = view->lists;
    const struct tg_fleet_input input = {
        .nodes = (const struct tg_node *const *)lists[TG_VIEW_NODE].items,
        .n_nodes = lists[TG_VIEW_NODE].n,
        .slices = (const struct tg_resource_slice *const *)lists[TG_VIEW_SLICE].items,
        .n_slices = lists[TG_VIEW_SLICE].n,
        .classes = (const struct tg_device_class *const *)lists[TG_VIEW_CLASS].items,
        .n_classes = lists[TG_VIEW_CLASS].n,
        .claims = (const struct tg_resource_claim *const *)lists[TG_VIEW_CLAIM].items,
        .n_claims = lists[TG_VIEW_CLAIM].n,
        .pods = (const struct tg_pod *const *)lists[TG_VIEW_POD].items,
        .n_pods = lists[TG_VIEW_POD].n,
        .taint_rules = (const struct tg_device_taint_rule *const *)lists[TG_VIEW_TAINT_RULE].items,
        .n_taint_rules = lists[TG_VIEW_TAINT_RULE].n,
        .volumes = (const struct tg_persistent_volume *const *)lists[TG_VIEW_VOLUME].items,
        .n_volumes = lists[TG_VIEW_VOLUME].n,
        .volume_claims =
            (const struct tg_persistent_volume_claim *const *)lists[TG_VIEW_VOLUME_CLAIM].items,
        .n_volume_claims = lists[TG_VIEW_VOLUME_CLAIM].n,
        .storage_classes =
            (const struct tg_storage_class *const *)lists[TG_VIEW_STORAGE_CLASS].items,
        .n_storage_classes = lists[TG_VIEW_STORAGE_CLASS].n,
        .instance = instance,
        .selectors = view->selectors};

    return tg_fleet_new(&input, arena, ret, err);
}
