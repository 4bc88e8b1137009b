/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/tangram/kinds.h"
#include "controller/controller.h"

/* Of pods and claims there may be hundreds of thousands: what the next pass looks at stays structs,
 * up to some ten thousand; the others are packed and cost a few microseconds when somebody looks at
 * them. */
#define HOT_LEAST ((size_t)1 << 20)
#define HOT_MOST ((size_t)32 << 20)
#define HOT_EACH ((size_t)4 << 10) /* for each pod that a pass looks at */
#define PART 500 /* objects that are whole at a time for who looks at everything */
/* The fleet keeps what it needs of these, and hardly anybody else looks at them. */
#define FEW_BYTES ((size_t)1 << 16)

/* Every kind that the controller watches. An optional one is not served by every Kubernetes
 * version. */
static const struct watched {
    const struct tg_kind *kind;
    bool optional;
    const struct tg_type *const *salvage; /* as in tg_informer_config */
    size_t hot_bytes;                     /* as there */
    bool unseen;                          /* in no view */
    bool many;                            /* who looks at all does so in parts */
} watched[TG_VIEW_KINDS] = {
    [TG_VIEW_POD] = {&tg_kind_pod, false, tg_pod_salvage, HOT_LEAST, false, true},
    [TG_VIEW_NODE] = {&tg_kind_node, false, NULL, FEW_BYTES, false, false},
    [TG_VIEW_NAMESPACE] = {&tg_kind_namespace, false, NULL, 0, false, false},
    [TG_VIEW_CLAIM] = {&tg_kind_resource_claim, false, tg_resource_claim_salvage, HOT_LEAST, false,
                       true},
    [TG_VIEW_SLICE] = {&tg_kind_resource_slice, false, NULL, FEW_BYTES, false, false},
    [TG_VIEW_CLASS] = {&tg_kind_device_class, false, NULL, 0, false, false},
    [TG_VIEW_TAINT_RULE] = {&tg_kind_device_taint_rule, true, NULL, 0, false, false},
    [TG_VIEW_GANG] = {&tg_kind_gang, false, NULL, 0, false, false},
    [TG_VIEW_VOLUME] = {&tg_kind_persistent_volume, false, NULL, FEW_BYTES, true, false},
    [TG_VIEW_VOLUME_CLAIM] = {&tg_kind_persistent_volume_claim, false, NULL, FEW_BYTES, true,
                              false},
    [TG_VIEW_STORAGE_CLASS] = {&tg_kind_storage_class, false, NULL, FEW_BYTES, true, false},
};

static void on_change(void *data, struct tg_informer *informer, const struct tg_stored *before,
                      const struct tg_stored *after)
{
    struct tg_controller *controller = data;

    for (enum tg_view_kind kind = 0; kind < TG_VIEW_KINDS; kind++) {
        if (controller->informers[kind] != informer)
            continue;
        controller->viewed[kind] = false;
        tg_controller_feed(controller, kind, before == NULL ? NULL : before->object,
                           after == NULL ? NULL : after->object);
    }
    if (informer == controller->informers[TG_VIEW_CLAIM] && before != NULL)
        tg_controller_claim_changed(controller, (const void *)before->object,
                                    after == NULL ? NULL : (const void *)after->object);
    tg_controller_kick(controller);
}

static void on_synced(void *data, struct tg_informer *informer)
{
    struct tg_controller *controller = data;

    TG_INFO("Synced", TG_S("kind", tg_informer_kind(informer)->kind),
            TG_I("objects", tg_informer_count(informer)));
    tg_controller_kick(controller);
}

/* An object that cannot be read is shown to those who can mend it. It is never taken for absent: a
 * claim that holds devices goes on holding them. */
static void on_error(void *data, struct tg_informer *informer, const struct tg_object_meta *about,
                     const struct tg_error *err)
{
    struct tg_controller *controller = data;
    const struct tg_kind *kind = tg_informer_kind(informer);
    TG_AUTOFREE char *text = NULL;

    TG_ERR(err, "Cannot read from the API server", TG_S("kind", kind->kind));
    if (about == NULL)
        return;
    text = tg_xasprintf("%s. Tangram goes by what it last read of it, keeps its devices taken and "
                        "decides nothing new about it until this is mended.",
                        err->message);
    tg_events_record(controller->events, kind, about, "Warning", "Unreadable", text);
}

static void start(struct tg_controller *controller, enum tg_view_kind kind)
{
    const struct tg_delays *delays = tg_configuration_delays(controller->configuration);

    controller->informers[kind] = tg_informer_new(
        controller->client, &(struct tg_informer_config){.kind = watched[kind].kind,
                                                         .watch_timeout = delays->watch,
                                                         .watch_idle = delays->watch_idle,
                                                         .salvage = watched[kind].salvage,
                                                         .hot_bytes = watched[kind].hot_bytes,
                                                         .on_change = on_change,
                                                         .on_synced = on_synced,
                                                         .on_error = on_error,
                                                         .data = controller});
}

static void on_probed(void *data, const struct tg_kube_result *result);

/* One object is asked for: 404 means that the server does not know the kind. */
static void probe(struct tg_timer *timer)
{
    struct tg_controller *controller = timer->data;

    tg_kube_send(controller->client,
                 &(struct tg_kube_call){
                     .method = TG_REST_GET,
                     .target = {.kind = watched[TG_VIEW_TAINT_RULE].kind, .query = "limit=1"},
                     .done = on_probed,
                     .data = controller});
}

static void on_probed(void *data, const struct tg_kube_result *result)
{
    struct tg_controller *controller = data;

    if (result->error.code == TG_OK)
        start(controller, TG_VIEW_TAINT_RULE);
    else if (result->error.code != TG_NOT_FOUND) {
        TG_ERR(&result->error, "Cannot find out which kinds the API server serves; asking again");
        controller->probe.callback = probe;
        controller->probe.data = controller;
        tg_timer_start(controller->loop, &controller->probe, TG_SECOND);
        return;
    }
    controller->probed = true;
    tg_controller_kick(controller);
}

void tg_controller_start_informers(struct tg_controller *controller)
{
    for (enum tg_view_kind kind = 0; kind < TG_VIEW_KINDS; kind++)
        if (!watched[kind].optional)
            start(controller, kind);
    controller->probe.data = controller;
    probe(&controller->probe);
}

bool tg_controller_synced(const struct tg_controller *controller)
{
    if (!controller->probed)
        return false;
    for (enum tg_view_kind kind = 0; kind < TG_VIEW_KINDS; kind++)
        if (controller->informers[kind] != NULL && !tg_informer_synced(controller->informers[kind]))
            return false;
    return true;
}

struct filling {
    struct tg_view *view;
    enum tg_view_kind kind;
};

static bool add(void *data, const struct tg_stored *stored)
{
    struct filling *filling = data;

    tg_view_add(filling->view, filling->kind, stored->object);
    if (stored->stale != NULL)
        tg_view_add_unreadable(filling->view, filling->kind, stored->object, stored->stale);
    return true;
}

static void fill(const struct tg_controller *controller, enum tg_view_kind kind,
                 struct tg_view *view)
{
    struct filling filling = {.view = view, .kind = kind};

    if (controller->informers[kind] != NULL && !watched[kind].unseen)
        tg_informer_each(controller->informers[kind], add, &filling);
}

void tg_controller_fill_view(const struct tg_controller *controller, struct tg_view *view)
{
    view->selectors = &controller->selectors;
    for (enum tg_view_kind kind = 0; kind < TG_VIEW_KINDS; kind++)
        fill(controller, kind, view);
}

static const void *find(void *data, enum tg_view_kind kind, const char *namespace_,
                        const char *name)
{
    struct tg_controller *controller = data;
    const struct tg_stored *stored =
        watched[kind].hot_bytes == 0
            ? NULL
            : tg_informer_get(controller->informers[kind], namespace_, name);

    if (stored == NULL)
        return NULL;
    if (stored->stale != NULL)
        tg_view_add_unreadable(&controller->view, kind, stored->object, stored->stale);
    return stored->object;
}

struct showing {
    void (*visit)(void *visitor, const void *object);
    void *visitor;
};

static bool show_one(void *data, const struct tg_stored *stored)
{
    const struct showing *showing = data;

    showing->visit(showing->visitor, stored->object);
    return true;
}

static void show(void *data, enum tg_view_kind kind, const char *namespace_, const char *name,
                 void (*visit)(void *visitor, const void *object), void *visitor)
{
    const struct tg_controller *controller = data;
    struct showing showing = {.visit = visit, .visitor = visitor};

    if (controller->informers[kind] == NULL)
        return;
    if (name == NULL)
        tg_informer_scan(controller->informers[kind], show_one, &showing);
    else
        tg_informer_peek(controller->informers[kind], namespace_, name, show_one, &showing);
}

static void relax(void *data)
{
    const struct tg_controller *controller = data;

    for (enum tg_view_kind kind = 0; kind < TG_VIEW_KINDS; kind++)
        if (watched[kind].hot_bytes > 0)
            tg_informer_cool(controller->informers[kind]);
}

/* Of kinds with very many objects the view finds those that it does not list. */
static void lead_to_stores(struct tg_controller *controller, struct tg_view *view)
{
    controller->source =
        (struct tg_view_source){.find = find, .show = show, .relax = relax, .data = controller};
    view->selectors = &controller->selectors;
    view->source = &controller->source;
    view->awake = controller->awake;
}

static void begin_parts(struct tg_controller *controller, struct tg_view *view)
{
    lead_to_stores(controller, view);
    for (enum tg_view_kind kind = 0; kind < TG_VIEW_KINDS; kind++)
        if (watched[kind].hot_bytes == 0)
            fill(controller, kind, view);
}

static void drop_many(struct tg_controller *controller, struct tg_view *view)
{
    for (enum tg_view_kind kind = 0; kind < TG_VIEW_KINDS; kind++)
        if (watched[kind].hot_bytes > 0)
            tg_view_clear(view, kind);
    relax(controller);
}

bool tg_controller_fill_part(struct tg_controller *controller, struct tg_view_part *part,
                             struct tg_view *view)
{
    bool first = !part->begun;

    if (first)
        begin_parts(controller, view);
    else
        drop_many(controller, view);
    part->begun = true;
    for (; part->kind < TG_VIEW_KINDS; part->kind++, part->place = 0) {
        struct filling filling = {.view = view, .kind = part->kind};

        if (!watched[part->kind].many)
            continue;
        (void)tg_informer_walk(controller->informers[part->kind], &part->place, PART, add,
                               &filling);
        if (view->lists[part->kind].n > 0)
            return true;
    }
    return first;
}

void tg_controller_parts_done(struct tg_controller *controller)
{
    drop_many(controller, &controller->view);
}

/* Objects of a kind that is never packed stay where they are until one of them changes. */
const struct tg_view *tg_controller_view(struct tg_controller *controller)
{
    struct tg_view *view = &controller->view;

    lead_to_stores(controller, view);
    view->checked = controller->checked;
    for (enum tg_view_kind kind = 0; kind < TG_VIEW_KINDS; kind++) {
        if (controller->viewed[kind] && watched[kind].hot_bytes == 0)
            continue;
        tg_view_clear(view, kind);
        if (watched[kind].hot_bytes > 0)
            continue;
        fill(controller, kind, view);
        controller->viewed[kind] = true;
    }
    tg_awake_fill(controller->awake, view);
    return view;
}

/* What this pass has looked at and the next one will: who has come to rest is not among them. */
static void keep_hot(struct tg_controller *controller)
{
    size_t hot = HOT_LEAST + HOT_EACH * tg_awake_count(controller->awake);

    for (enum tg_view_kind kind = 0; kind < TG_VIEW_KINDS; kind++)
        if (watched[kind].many)
            tg_informer_keep_hot(controller->informers[kind], hot < HOT_MOST ? hot : HOT_MOST);
}

void tg_controller_view_done(struct tg_controller *controller)
{
    keep_hot(controller);
    drop_many(controller, &controller->view);
}

static enum tg_view_kind view_kind_of(enum tg_write_kind kind)
{
    switch (kind) {
    case TG_WRITE_GANG_CREATE:
    case TG_WRITE_GANG_METADATA:
    case TG_WRITE_GANG_STATUS:
    case TG_WRITE_GANG_DELETE:
        return TG_VIEW_GANG;
    case TG_WRITE_CLAIM_ALLOCATE:
    case TG_WRITE_CLAIM_CLEAR:
    case TG_WRITE_CLAIM_EPOCH:
        return TG_VIEW_CLAIM;
    case TG_WRITE_POD:
    case TG_WRITE_POD_EVICT:
        return TG_VIEW_POD;
    }
    return TG_VIEW_POD;
}

struct tg_informer *tg_controller_informer_of(const struct tg_controller *controller,
                                              enum tg_write_kind kind)
{
    return controller->informers[view_kind_of(kind)];
}

const struct tg_kind *tg_controller_kind_of(enum tg_write_kind kind)
{
    return watched[view_kind_of(kind)].kind;
}
