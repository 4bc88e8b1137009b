/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/lessons.h"

#include "controller/gather/grant.h"

/* --- what is given ---------------------------------------------------------------------------- */

/* A pod and a claim as the entry describes them. */
struct expected_objects {
    struct tg_object_meta meta;
    struct tg_string_pair amounts[2];
    struct tg_resources resources;
    struct tg_container container;
    struct tg_pod_spec pod_spec;
    struct tg_pod pod;
    struct tg_cel_selector cel;
    struct tg_device_selector selector;
    struct tg_exact_request exactly;
    struct tg_device_request request;
    struct tg_device_claim devices;
    struct tg_resource_claim_spec claim_spec;
    struct tg_resource_claim claim;
    const struct tg_pod *pods[1];
    const struct tg_resource_claim *claims[1];
};

static struct tg_piece piece_of(const struct tg_expected *expected, struct expected_objects *o)
{
    *o = (struct expected_objects){.meta = {.name = "expected", .namespace_ = "expected"}};
    if (expected->cpu != NULL)
        o->amounts[o->resources.requests.n++] = (struct tg_string_pair){"cpu", expected->cpu};
    if (expected->memory != NULL)
        o->amounts[o->resources.requests.n++] = (struct tg_string_pair){"memory", expected->memory};
    o->resources.requests.items = o->amounts;
    o->container = (struct tg_container){.name = "c", .resources = &o->resources};
    o->pod_spec = (struct tg_pod_spec){.containers = {.items = &o->container, .n = 1}};
    o->pod = (struct tg_pod){.metadata = &o->meta, .spec = &o->pod_spec};
    o->cel = (struct tg_cel_selector){.expression = expected->selector};
    o->selector = (struct tg_device_selector){.cel = &o->cel};
    o->exactly = (struct tg_exact_request){
        .device_class_name = expected->class_name,
        .count = {.set = true, .value = expected->devices},
        .selectors = {.items = &o->selector, .n = expected->selector != NULL}};
    o->request = (struct tg_device_request){.name = "r", .exactly = &o->exactly};
    o->devices = (struct tg_device_claim){.requests = {.items = &o->request, .n = 1}};
    o->claim_spec = (struct tg_resource_claim_spec){.devices = &o->devices};
    o->claim = (struct tg_resource_claim){.metadata = &o->meta, .spec = &o->claim_spec};
    o->pods[0] = &o->pod;
    o->claims[0] = &o->claim;
    return (struct tg_piece){.pods = o->pods, .n_pods = 1, .claims = o->claims, .n_claims = 1};
}

/* Up to the first that cannot be read yet. */
static void expect(struct tg_lessons *lessons, struct tg_fleet *fleet,
                   const struct tg_configuration *configuration, struct tg_arena *scratch)
{
    size_t n;
    const struct tg_expected *expected = tg_configuration_expected(configuration, &n);

    for (; lessons->expected < n; lessons->expected++) {
        struct expected_objects objects;
        struct tg_piece piece = piece_of(&expected[lessons->expected], &objects);

        tg_arena_reset(scratch);
        if (tg_learn_given(fleet, &piece, expected[lessons->expected].count, scratch, NULL) < 0)
            return;
    }
}

/* --- what comes ------------------------------------------------------------------------------- */

static void arrive(struct tg_fleet *fleet, const struct tg_pod *pod,
                   const struct tg_resource_claim *const *claims, size_t n,
                   struct tg_arena *scratch)
{
    const struct tg_piece piece = {
        .pods = &pod, .n_pods = pod == NULL ? 0 : 1, .claims = claims, .n_claims = n};

    tg_arena_reset(scratch);
    (void)tg_learn_arrived(fleet, &piece, 1, scratch, NULL);
}

struct recalling {
    struct tg_fleet *fleet;
    const struct tg_view *view;
    struct tg_arena *scratch;
    const struct tg_resource_claim *claim; /* the one under way */
    bool done;                             /* with its pod */
};

static void recall_pod(void *data, const void *pod)
{
    struct recalling *r = data;

    arrive(r->fleet, pod, &r->claim, 1, r->scratch);
    r->done = true;
}

/* Of a claim the first pod that it is reserved for is the one that it came with. */
static void recall_claim(void *data, const void *object)
{
    const struct tg_resource_claim *claim = object;
    struct recalling *r = data;

    if (!tg_claim_allocated(claim))
        return;
    r->claim = claim;
    r->done = false;
    if (claim->status->reserved_for.n > 0 && claim->status->reserved_for.items[0].name != NULL)
        tg_view_show(r->view, TG_VIEW_POD, claim->metadata->namespace_,
                     claim->status->reserved_for.items[0].name, recall_pod, r);
    if (!r->done)
        arrive(r->fleet, NULL, &r->claim, 1, r->scratch);
}

static void recall(struct tg_fleet *fleet, const struct tg_view *view, struct tg_arena *scratch)
{
    struct recalling recalling = {.fleet = fleet, .view = view, .scratch = scratch};

    tg_view_show(view, TG_VIEW_CLAIM, NULL, NULL, recall_claim, &recalling);
}

void tg_lessons_begin(struct tg_lessons *lessons, struct tg_fleet *fleet,
                      const struct tg_view *view, const struct tg_configuration *configuration,
                      struct tg_arena *scratch)
{
    size_t n_levels;
    const struct tg_level *levels = tg_configuration_levels(configuration, &n_levels);

    if (!lessons->recalled)
        tg_learn_levels(fleet, levels, n_levels);
    expect(lessons, fleet, configuration, scratch);
    if (!lessons->recalled)
        recall(fleet, view, scratch);
    lessons->recalled = true;
}

void tg_lessons_learn(struct tg_fleet *fleet, const struct tg_unit *unit, size_t *learned,
                      struct tg_arena *scratch)
{
    for (; *learned < unit->n_members; (*learned)++) {
        const struct tg_unit_member *member = &unit->members[*learned];

        if (member->n_claims > 0 && tg_claim_allocated(member->claims[0]))
            continue;
        if (member->wait != NULL)
            return;
        arrive(fleet, member->pod, member->claims, member->n_claims, scratch);
    }
}
