/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that a node must pass for a pod, whatever else is placed. One file a rule; the table in
 * rules.c lists them in the order in which they are asked and reported. A new rule is a file and a
 * line there.
 */
#ifndef TG_CORE_FIT_RULE_H
#define TG_CORE_FIT_RULE_H

#include <stdbool.h>

#include "controller/core/fit/storage.h"
#include "controller/core/model/view.h"

/* A pod, with what its volumes (and those of the pods that go with it) ask of a node; NULL:
 * nothing.
 */
struct tg_fit_guest {
    const struct tg_pod *pod;
    const struct tg_fit_volumes *volumes;
};

struct tg_fit_rule {
    const char *reason; /* stable code, documented in controller/core/README.md */
    const char *text;   /* what is the matter with "N nodes": "are not ready" */
    bool (*passes)(const struct tg_fleet_node *node, const struct tg_fit_guest *guest);
    /* Does the pod ask for something that a plain node (model/view.h) may lack? NULL: none does.
     * Such a rule reads nothing of a plain node but its labels and its name: which of them? key
     * NULL: the name. */
    bool (*cares)(const struct tg_fit_guest *guest);
    bool (*reads)(const struct tg_fit_guest *guest, const char *key);
};

extern const struct tg_fit_rule tg_fit_rules[];
extern const size_t tg_fit_rules_count;

/* Does the guest care about nodes by any rule? If not, it passes all rules of a plain node. */
bool tg_fit_cares(const struct tg_fit_guest *guest);
/* Does any of those rules read that label (NULL: the name) of a plain node? */
bool tg_fit_reads(const struct tg_fit_guest *guest, const char *key);
/* The first rule that the node fails for the guest, or tg_fit_rules_count. */
size_t tg_fit_first_failed(const struct tg_fleet_node *node, const struct tg_fit_guest *guest);

bool tg_fit_ready(const struct tg_fleet_node *node,
                  const struct tg_fit_guest *guest); /* condition Ready */
bool tg_fit_readable(const struct tg_fleet_node *node,
                     const struct tg_fit_guest *guest); /* quantities parse */
bool tg_fit_schedulable(const struct tg_fleet_node *node,
                        const struct tg_fit_guest *guest); /* spec.unschedulable */
bool tg_fit_taints(const struct tg_fleet_node *node,
                   const struct tg_fit_guest *guest); /* NoSchedule, NoExecute */
bool tg_fit_node_selector(const struct tg_fleet_node *node,
                          const struct tg_fit_guest *guest); /* spec.nodeSelector */
bool tg_fit_has_selector(const struct tg_fit_guest *guest);
bool tg_fit_selector_reads(const struct tg_fit_guest *guest, const char *key);
bool tg_fit_node_affinity(const struct tg_fleet_node *node,
                          const struct tg_fit_guest *guest); /* required terms */
bool tg_fit_has_affinity(const struct tg_fit_guest *guest);
bool tg_fit_affinity_reads(const struct tg_fit_guest *guest, const char *key);
bool tg_fit_volumes(const struct tg_fleet_node *node,
                    const struct tg_fit_guest *guest); /* where they can be reached */
bool tg_fit_has_volumes(const struct tg_fit_guest *guest);
bool tg_fit_volumes_read(const struct tg_fit_guest *guest, const char *key);

#endif
