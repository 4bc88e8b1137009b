/* SPDX-License-Identifier: Apache-2.0 */
/* A small fleet, and a request that it has no place for. */
#ifndef TG_TESTS_CORE_SITUATIONS_H
#define TG_TESTS_CORE_SITUATIONS_H

#include "tests/unit/core/world.h"

#include "controller/core/explain/explain.h"

static const struct tg_level levels[] = {
    {.name = "zone", .node_label = "example.com/zone", .rank = 0},
    {.name = "rack", .node_label = "example.com/rack", .rank = 1},
};

struct scene {
    struct world w;
    struct tg_place_request request;
};

static void ask(struct scene *s, struct tg_piece *pieces, size_t n)
{
    s->request = (struct tg_place_request){.name = "gang ns/g", .pieces = pieces, .n_pieces = n};
}

static void ask_gang(struct scene *s, size_t members, size_t gpus)
{
    ask(s, new_gang(&s->w, members, gpus), members);
}

/* One pod with a claim of these devices. */
static void ask_claim(struct scene *s, const char *pod_more, const char *devices)
{
    struct tg_piece *piece = tg_arena_alloc(s->w.arena, sizeof(*piece));

    assert_non_null(piece);
    *piece =
        new_piece(&s->w, new_pod(&s->w, "train", "1", pod_more), new_claim(&s->w, "gpus", devices));
    ask(s, piece, 1);
}

static void ask_pod(struct scene *s, const char *pod_more)
{
    ask_claim(s, pod_more,
              "\"requests\":[{\"name\":\"gpus\",\"exactly\":{\"deviceClassName\":\"gpu\"}}]");
}

static void ask_selected(struct scene *s, const char *expression, size_t count)
{
    char devices[1024];

    snprintf(devices, sizeof(devices),
             "\"requests\":[{\"name\":\"gpus\",\"exactly\":{\"deviceClassName\":\"gpu\",\"count\":"
             "%zu,\"selectors\":[{\"cel\":{\"expression\":\"%s\"}}]}}]",
             count, expression);
    ask_claim(s, "", devices);
}

/* A node with so many GPUs of which the first ones are held, each by a claim with its pod. */
static void add_box(struct scene *s, const char *name, const char *labels, size_t gpus, size_t held)
{
    add_node(&s->w, name, labels, "");
    add_gpus(&s->w, name, gpus, "");
    for (size_t i = 0; i < held; i++) {
        char claim[64], more[256], gpu[32];

        snprintf(claim, sizeof(claim), "job-%s-%zu", name, i);
        snprintf(gpu, sizeof(gpu), "gpu-%zu", i);
        snprintf(more, sizeof(more),
                 "\"nodeName\":\"%s\",\"resourceClaims\":[{\"name\":\"c\",\"resourceClaimName\":"
                 "\"%s\"}],",
                 name, claim);
        s->w.pods[s->w.n_pods++] = new_pod(&s->w, claim, "100m", more);
        s->w.claims[s->w.n_claims++] = decodef(
            s->w.arena, &tg_resource_claim_type,
            "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\"},\"spec\":{\"devices\":{"
            "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\"}}]}},"
            "\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":"
            "\"" GPU_DRIVER "\",\"pool\":\"%s\",\"device\":\"%s\"}]}}}}",
            claim, name, gpu);
    }
}

static bool find(void *data, const char *holder, struct tg_resident *ret)
{
    struct world *w = data;

    if (strcmp(holder, "gang/ns/llama") == 0) {
        *ret = (struct tg_resident){.until = INT64_C(1796000000) * 1000000000};
        return true;
    }
    for (size_t i = 0; i < w->n_claims; i++) {
        char name[64];

        snprintf(name, sizeof(name), "claim ns/%s", w->claims[i]->metadata->name);
        if (strcmp(name, holder) != 0 || w->claims[i]->spec->devices->requests.n == 0)
            continue;
        *ret = (struct tg_resident){.claim = w->claims[i], .n_pods = 0};
        for (size_t p = 0; p < w->n_pods; p++) {
            if (strcmp(w->pods[p]->metadata->name, w->claims[i]->metadata->name) == 0)
                *ret =
                    (struct tg_resident){.claim = w->claims[i], .pods = &w->pods[p], .n_pods = 1};
        }
        return true;
    }
    return false;
}

#endif
