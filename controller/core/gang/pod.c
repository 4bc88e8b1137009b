/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/core/gang/place.h"

/* Each gets the pod's spec and says whether the pod asks for what placement cannot model. */
static bool foreign_scheduler(const struct tg_pod_spec *spec)
{
    return strcmp(tg_or(spec->scheduler_name, "default-scheduler"), "default-scheduler") != 0;
}

/* The raw JSON of a list; an empty one demands nothing. */
static bool demands(const struct tg_pod_affinity *affinity)
{
    const char *s = affinity == NULL ? NULL : affinity->required;

    while (s != NULL && *s != '\0' && strchr("[ \t\r\n", *s) != NULL)
        s++;
    return s != NULL && *s != ']' && *s != '\0';
}

static bool pod_affinity(const struct tg_pod_spec *spec)
{
    return spec->affinity != NULL && demands(spec->affinity->pod_affinity);
}

static bool pod_anti_affinity(const struct tg_pod_spec *spec)
{
    return spec->affinity != NULL && demands(spec->affinity->pod_anti_affinity);
}

static bool spread(const struct tg_pod_spec *spec)
{
    for (size_t i = 0; i < spec->topology_spread.n; i++) {
        if (!tg_streq(spec->topology_spread.items[i].when_unsatisfiable, "ScheduleAnyway"))
            return true;
    }
    return false;
}

static const struct {
    bool (*applies)(const struct tg_pod_spec *spec);
    const char *field, *instead;
} refused[] = {
    {foreign_scheduler, "spec.schedulerName", "only pods of the default scheduler are placed"},
    {pod_affinity, "spec.affinity.podAffinity.required...",
     "use topology.pack of the gang, or the preferred form"},
    {pod_anti_affinity, "spec.affinity.podAntiAffinity.required...", "use the preferred form"},
    {spread, "spec.topologySpreadConstraints with DoNotSchedule",
     "use whenUnsatisfiable: ScheduleAnyway"},
};

int tg_pod_check(const struct tg_pod *pod, struct tg_error *err)
{
    if (pod->spec == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "pod %s/%s: no spec",
                            tg_or(pod->metadata->namespace_, ""), tg_or(pod->metadata->name, "?"));
    for (size_t i = 0; i < TG_ARRAY_SIZE(refused); i++) {
        if (refused[i].applies(pod->spec))
            return tg_error_set(
                err, TG_UNIMPLEMENTED, "pod %s/%s: %s is not supported in this version: %s",
                tg_or(pod->metadata->namespace_, ""), tg_or(pod->metadata->name, "?"),
                refused[i].field, refused[i].instead);
    }
    return 0;
}
