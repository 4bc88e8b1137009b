/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of a fleet of H100 nodes as bench_core tells them: one of each kind, written anew for
 * each use. Cards have 15 attributes, of which the UUID is the card's own, as our driver publishes
 * them.
 */
#ifndef TG_TESTS_BENCH_CORE_SCENE_H
#define TG_TESTS_BENCH_CORE_SCENE_H

#include "api/tangram/names.h"
#include "controller/core/gang/place.h"

#define SCENE_CARDS_MAX 10
#define SCENE_ATTRIBUTES 15
#define SCENE_RACK 32 /* nodes */
#define SCENE_BLOCK 256
#define SCENE_DRIVER "gpu.example.com"
#define SCENE_PRODUCT                                                                              \
    "device.attributes[\"" SCENE_DRIVER "\"].productName == \"NVIDIA H100 80GB HBM3\""

struct scene {
    size_t cards; /* on each node */
    char name[32], rack[32], block[32], claim_name[32];
    char uuids[SCENE_CARDS_MAX][48], names[SCENE_CARDS_MAX][32], addresses[SCENE_CARDS_MAX][32];
    struct tg_object_meta meta;
    struct tg_node node;
    struct tg_node_spec node_spec;
    struct tg_node_status node_status;
    struct tg_condition ready;
    struct tg_string_pair labels[5], allocatable[3];
    struct tg_resource_slice slice;
    struct tg_resource_slice_spec spec;
    struct tg_resource_pool pool;
    struct tg_device devices[SCENE_CARDS_MAX];
    struct tg_keyed_attribute attributes[SCENE_CARDS_MAX][SCENE_ATTRIBUTES];
    struct tg_keyed_capacity capacity[SCENE_CARDS_MAX];
    struct tg_resource_claim claim;
    struct tg_resource_claim_status status;
    struct tg_allocation allocation;
    struct tg_allocation_devices allocated;
    struct tg_allocation_device result;
};

/* scene->node and scene->slice are those of that node. */
void scene_node(struct scene *s, size_t node);
/* The slice as it is later: its first card is not healthy. */
void scene_spoil(struct scene *s);
/* A claim that has the card: scene->claim. The rest of the scene is not to be used then. */
void scene_claim(struct scene *s, size_t node, size_t card);
/* A class of the default instance, by product. */
const struct tg_device_class *scene_class(void);

struct scene_pod { /* a pod with a claim for one card */
    struct tg_object_meta meta;
    struct tg_pod_spec pod_spec;
    struct tg_container container;
    struct tg_pod pod;
    struct tg_exact_request exactly;
    struct tg_device_request request;
    struct tg_device_claim devices;
    struct tg_resource_claim_spec spec;
    struct tg_resource_claim claim;
    const struct tg_pod *pods[1];
    const struct tg_resource_claim *claims[1];
    struct tg_piece piece;
    struct tg_place_request place;
    char text[128];
    struct tg_string_pair cpu, label;
    struct tg_resources resources;
    struct tg_cel_selector cel;
    struct tg_device_selector selector;
};
void scene_pod_write(struct scene_pod *pod);
/* One that differs from all others of another number: in what it asks of a node, in a selector of
 * devices, or in how large it is and which nodes it goes to. */
enum scene_kind { SCENE_SIZE, SCENE_SELECTOR, SCENE_LABEL, SCENE_KINDS };
void scene_pod_vary(struct scene_pod *pod, enum scene_kind kind, unsigned number);

#endif
