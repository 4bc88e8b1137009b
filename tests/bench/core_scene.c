/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/core_scene.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/runtime/base/str.h"

/* The same for a number, always. */
static uint64_t scatter(uint64_t number)
{
    return tg_hash64(&number, sizeof(number));
}

static void set_string(struct tg_keyed_attribute *a, const char *key, const char *value)
{
    *a = (struct tg_keyed_attribute){.key = key, .value = {.string = value}};
}

static void set_version(struct tg_keyed_attribute *a, const char *key, const char *value)
{
    *a = (struct tg_keyed_attribute){.key = key, .value = {.version = value}};
}

static void set_int(struct tg_keyed_attribute *a, const char *key, int64_t value)
{
    *a = (struct tg_keyed_attribute){.key = key, .value = {.int_ = {.set = true, .value = value}}};
}

static void name_card(struct scene *s, size_t node, size_t card)
{
    snprintf(s->names[card], sizeof(s->names[card]), "gpu-%08" PRIx64 "%04zx",
             scatter(node * SCENE_CARDS_MAX + card) & 0xffffffff, card);
}

static void write_card(struct scene *s, size_t node, size_t card)
{
    struct tg_keyed_attribute *a = s->attributes[card];

    snprintf(s->uuids[card], sizeof(s->uuids[card]), "GPU-%08" PRIx64 "-%04zx-4000-8000-%012zx",
             scatter(node * SCENE_CARDS_MAX + card) & 0xffffffff, card, node);
    name_card(s, node, card);
    snprintf(s->addresses[card], sizeof(s->addresses[card]), "0000:%02zx:00.0", card + 16);
    set_string(a++, "architecture", "Hopper");
    set_string(a++, "brand", "Nvidia");
    set_version(a++, "cudaComputeCapability", "9.0.0");
    set_version(a++, "cudaDriverVersion", "12.4.0");
    set_version(a++, "driverVersion", "550.54.15");
    *a++ = (struct tg_keyed_attribute){.key = "healthy",
                                       .value = {.bool_ = {.set = true, .value = true}}};
    set_int(a++, "index", (int64_t)card);
    set_int(a++, "minor", (int64_t)card);
    set_int(a++, "multiprocessors", 132);
    set_int(a++, "numaNode", (int64_t)card / 4);
    set_string(a++, "productName", "NVIDIA H100 80GB HBM3");
    set_string(a++, "resource.kubernetes.io/pciBusID", s->addresses[card]);
    set_string(a++, "resource.kubernetes.io/pcieRoot", card < 4 ? "pci0000:00" : "pci0000:80");
    set_string(a++, "type", "gpu");
    set_string(a++, "uuid", s->uuids[card]);
    s->capacity[card] = (struct tg_keyed_capacity){.key = "memory", .value = {.value = "80Gi"}};
    s->devices[card] = (struct tg_device){.name = s->names[card]};
    s->devices[card].attributes.items = s->attributes[card];
    s->devices[card].attributes.n = (size_t)(a - s->attributes[card]);
    s->devices[card].capacity.items = &s->capacity[card];
    s->devices[card].capacity.n = 1;
}

void scene_node(struct scene *s, size_t node)
{
    snprintf(s->name, sizeof(s->name), "node-%06zu", node);
    snprintf(s->rack, sizeof(s->rack), "rack-%05zu", node / SCENE_RACK);
    snprintf(s->block, sizeof(s->block), "block-%04zu", node / SCENE_BLOCK);
    s->meta = (struct tg_object_meta){.name = s->name};
    s->labels[0] = (struct tg_string_pair){"kubernetes.io/hostname", s->name};
    s->labels[1] = (struct tg_string_pair){"kubernetes.io/arch", "amd64"};
    s->labels[2] = (struct tg_string_pair){"kubernetes.io/os", "linux"};
    s->labels[3] = (struct tg_string_pair){"example.com/rack", s->rack};
    s->labels[4] = (struct tg_string_pair){"example.com/block", s->block};
    s->meta.labels.items = s->labels;
    s->meta.labels.n = 5;
    s->allocatable[0] = (struct tg_string_pair){"cpu", "192"};
    s->allocatable[1] = (struct tg_string_pair){"memory", "2Ti"};
    s->allocatable[2] = (struct tg_string_pair){"pods", "250"};
    s->node_status = (struct tg_node_status){.allocatable = {.items = s->allocatable, .n = 3}};
    s->ready = (struct tg_condition){.type = "Ready", .status = "True"};
    s->node_status.conditions.items = &s->ready;
    s->node_status.conditions.n = 1;
    s->node_spec = (struct tg_node_spec){.taints = {.n = 0}};
    s->node =
        (struct tg_node){.metadata = &s->meta, .spec = &s->node_spec, .status = &s->node_status};
    s->pool = (struct tg_resource_pool){.name = s->name,
                                        .generation = {.set = true, .value = 1},
                                        .resource_slice_count = {.set = true, .value = 1}};
    s->spec = (struct tg_resource_slice_spec){
        .driver = SCENE_DRIVER, .pool = &s->pool, .node_name = s->name};
    s->spec.devices.items = s->devices;
    s->spec.devices.n = s->cards;
    s->slice = (struct tg_resource_slice){.metadata = &s->meta, .spec = &s->spec};
    for (size_t i = 0; i < s->cards; i++)
        write_card(s, node, i);
}

void scene_spoil(struct scene *s)
{
    s->pool.generation.value = 2;
    for (size_t i = 0; i < SCENE_ATTRIBUTES; i++) {
        if (tg_streq(s->attributes[0][i].key, "healthy"))
            s->attributes[0][i].value.bool_.value = false;
    }
}

void scene_claim(struct scene *s, size_t node, size_t card)
{
    snprintf(s->name, sizeof(s->name), "node-%06zu", node);
    name_card(s, node, card);
    snprintf(s->claim_name, sizeof(s->claim_name), "claim-%06zu-%zu", node, card);
    s->result = (struct tg_allocation_device){
        .request = "r", .driver = SCENE_DRIVER, .pool = s->name, .device = s->names[card]};
    s->allocated = (struct tg_allocation_devices){.results = {.items = &s->result, .n = 1}};
    s->allocation = (struct tg_allocation){.devices = &s->allocated};
    s->status = (struct tg_resource_claim_status){.allocation = &s->allocation};
    s->meta = (struct tg_object_meta){.name = s->claim_name, .namespace_ = "ns"};
    s->claim = (struct tg_resource_claim){.metadata = &s->meta, .status = &s->status};
}

const struct tg_device_class *scene_class(void)
{
    static struct tg_string_pair label = {TG_LABEL_CONTROLLER, "default"};
    static struct tg_object_meta meta = {.name = "gpu", .labels = {.items = &label, .n = 1}};
    static struct tg_cel_selector guard = {TG_GUARD_EXPRESSION}, product = {SCENE_PRODUCT};
    static struct tg_device_selector selectors[] = {{&guard}, {&product}};
    static struct tg_device_class_spec spec = {.selectors = {.items = selectors, .n = 2}};
    static const struct tg_device_class klass = {.metadata = &meta, .spec = &spec};

    return &klass;
}

void scene_pod_write(struct scene_pod *a)
{
    a->meta = (struct tg_object_meta){.name = "p", .namespace_ = "ns", .uid = "u"};
    a->container = (struct tg_container){.name = "c"};
    a->pod_spec = (struct tg_pod_spec){.containers = {.items = &a->container, .n = 1}};
    a->pod = (struct tg_pod){.metadata = &a->meta, .spec = &a->pod_spec};
    a->exactly = (struct tg_exact_request){.device_class_name = "gpu"};
    a->request = (struct tg_device_request){.name = "r", .exactly = &a->exactly};
    a->devices = (struct tg_device_claim){.requests = {.items = &a->request, .n = 1}};
    a->spec = (struct tg_resource_claim_spec){.devices = &a->devices};
    a->claim = (struct tg_resource_claim){.metadata = &a->meta, .spec = &a->spec};
    a->pods[0] = &a->pod;
    a->claims[0] = &a->claim;
    a->piece = (struct tg_piece){.pods = a->pods, .n_pods = 1, .claims = a->claims, .n_claims = 1};
    a->place = (struct tg_place_request){.name = "pod ns/p", .pieces = &a->piece, .n_pieces = 1};
}

static void ask_for_cpu(struct scene_pod *a, unsigned number)
{
    snprintf(a->text, sizeof(a->text), "%um", number);
    a->cpu = (struct tg_string_pair){"cpu", a->text};
    a->resources = (struct tg_resources){.requests = {.items = &a->cpu, .n = 1}};
    a->container.resources = &a->resources;
}

void scene_pod_vary(struct scene_pod *a, enum scene_kind kind, unsigned number)
{
    scene_pod_write(a);
    if (kind == SCENE_SELECTOR) {
        snprintf(a->text, sizeof(a->text),
                 "device.attributes[\"" SCENE_DRIVER "\"].multiprocessors < %u", 1000 + number);
        a->cel.expression = a->text;
        a->selector.cel = &a->cel;
        a->exactly.selectors.items = &a->selector;
        a->exactly.selectors.n = 1;
        return;
    }
    ask_for_cpu(a, number);
    if (kind == SCENE_SIZE)
        return;
    a->label = (struct tg_string_pair){"kubernetes.io/arch", "amd64"};
    a->pod_spec.node_selector.items = &a->label;
    a->pod_spec.node_selector.n = 1;
}
