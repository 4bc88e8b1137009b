/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every name that Tangram puts into somebody else's objects, in one place. The policies of
 * deploy/manifests repeat some of them; tests/unit/tangram compares.
 */
#ifndef TG_TANGRAM_NAMES_H
#define TG_TANGRAM_NAMES_H

#define TG_GROUP "tangram.dev"
#define TG_VERSION "v1alpha1"
#define TG_API_VERSION TG_GROUP "/" TG_VERSION

#define TG_KIND_GANG "Gang"
#define TG_PLURAL_GANG "gangs"
#define TG_KIND_MEMBER "GangMember"    /* opaque parameters of a template or claim */
#define TG_KIND_PLAN "Plan"            /* opaque parameters of an allocation: the marker */
#define TG_KIND_GPU_CONFIG "GpuConfig" /* opaque parameters for the driver of the devices */
#define TG_KIND_MIG_CONFIG "MigConfig" /* the same, of partitions */
#define TG_KIND_CONFIGURATION "TangramConfiguration"

/* The driver of our devices unless configured otherwise, and the "driver" of our opaque entries
 * (no plugin of that name exists; scheduler and kubelet ignore the entries). */
#define TG_DRIVER_DEFAULT "gpu.tangram.dev"
#define TG_MARKER_DRIVER "tangram.dev"

/* On a DeviceClass: the instance of the controller that serves it. */
#define TG_LABEL_CONTROLLER "tangram.dev/controller"
#define TG_INSTANCE_DEFAULT "default"
/* On pods: membership without a claim. */
#define TG_LABEL_GANG "tangram.dev/gang"
#define TG_LABEL_ROLE "tangram.dev/role"
#define TG_LABEL_QUEUE "tangram.dev/queue"
/* On templates and claims that use a managed class: set or demanded by policy, read by policy. */
#define TG_LABEL_MANAGED "tangram.dev/managed"
/* On a Gang that the controller made and will delete. */
#define TG_LABEL_AUTO "tangram.dev/auto"
#define TG_LABEL_TRUE "true"

/* On a pod: the plan of an implicit gang (a pod with several claims), compact JSON. */
#define TG_ANNOTATION_PLAN "tangram.dev/plan"
/* On claims, pods and the Lease: decimal epoch of the leader that wrote last. (A Gang has it in its
 * status, which users cannot write.) */
#define TG_ANNOTATION_EPOCH "tangram.dev/epoch"
/* On an auto Gang made from gangFrom: the label value its name was made of. */
#define TG_ANNOTATION_GANG_VALUE "tangram.dev/gang-value"

/* The scheduling gate that holds members until their whole plan is written. */
#define TG_GATE "tangram.dev/gang"
/* On a Gang with an open plan. */
#define TG_FINALIZER_PLAN "tangram.dev/plan"
/* On claims: without it the claim controller never clears an allocation (dra-api trap 2). */
#define TG_FINALIZER_CLAIM "resource.kubernetes.io/delete-protection"

/* The attribute domain that no slice may publish, and the selector entry that a managed class must
 * carry, byte for byte. The controller overlays the attribute when it evaluates selectors. */
#define TG_GUARD_DOMAIN "tangram.dev"
#define TG_GUARD_ATTRIBUTE "granted"
#define TG_GUARD_EXPRESSION "\"granted\" in device.attributes[\"tangram.dev\"]"

#define TG_NAMESPACE_SYSTEM "tangram-system"
#define TG_LABEL_HOSTNAME "kubernetes.io/hostname"

#endif
