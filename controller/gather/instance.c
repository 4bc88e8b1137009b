/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/gather/instance.h"

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/gather/grant.h"

const char *tg_instance_first(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return a == NULL ? b : a;
    if (tg_streq(a, TG_INSTANCE_DEFAULT) || tg_streq(b, TG_INSTANCE_DEFAULT))
        return TG_INSTANCE_DEFAULT;
    return tg_strcmp(a, b) <= 0 ? a : b;
}

static const char *of_request(const struct tg_view *view, const struct tg_exact_request *request)
{
    const struct tg_device_class *klass =
        request == NULL ? NULL : tg_view_get(view, TG_VIEW_CLASS, NULL, request->device_class_name);

    return klass == NULL ? NULL : tg_meta_label(klass->metadata, TG_LABEL_CONTROLLER);
}

const char *tg_instance_of_classes(const struct tg_view *view,
                                   const struct tg_resource_claim *claim)
{
    const struct tg_device_claim *devices = claim->spec == NULL ? NULL : claim->spec->devices;
    const char *found = NULL;

    for (size_t i = 0; devices != NULL && i < devices->requests.n; i++) {
        const struct tg_device_request *request = &devices->requests.items[i];

        found = tg_instance_first(found, of_request(view, request->exactly));
        for (size_t k = 0; k < request->first_available.n; k++)
            found = tg_instance_first(found, of_request(view, &request->first_available.items[k]));
    }
    return found;
}

const char *tg_instance_of_claim(const struct tg_view *view, const struct tg_resource_claim *claim,
                                 struct tg_arena *arena)
{
    struct tg_plan_marker marker;

    if (tg_claim_marker(claim, arena, &marker))
        return tg_or(marker.instance, TG_INSTANCE_DEFAULT);
    return tg_instance_of_classes(view, claim);
}

const char *tg_instance_of_pod(const struct tg_view *view, const struct tg_pod *pod,
                               struct tg_arena *arena)
{
    const char *found = NULL;

    for (size_t i = 0; pod->spec != NULL && i < pod->spec->resource_claims.n; i++) {
        const struct tg_resource_claim *claim =
            tg_view_claim(view, pod->metadata->namespace_,
                          tg_pod_claim_object(pod, &pod->spec->resource_claims.items[i]));

        if (claim != NULL)
            found = tg_instance_first(found, tg_instance_of_claim(view, claim, arena));
    }
    return found;
}

const char *tg_instance_of_gang(const struct tg_gang *gang)
{
    if (gang->status != NULL && gang->status->instance != NULL)
        return gang->status->instance;
    return tg_meta_label(gang->metadata, TG_LABEL_CONTROLLER);
}
