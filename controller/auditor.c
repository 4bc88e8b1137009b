/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/auditor.h"

#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"
#include "controller/controller.h"
#include "controller/inspector.h"

#define AUDIT_MEMORY ((size_t)512 << 20)
#define FRESH (10 * TG_SECOND) /* of the page: nobody can keep us busy by asking */

/* One finding for as long as it is there. */
struct standing {
    enum tg_finding_code code;
    const char *kind;
    char *namespace_, *name, *text;
    int64_t since; /* monotonic */
    bool told;
    bool seen; /* by this audit */
};

struct tg_auditor {
    struct tg_controller *controller;
    struct tg_timer timer;
    struct tg_inspector *inspector;
    struct tg_map *standings; /* by reason, kind and object */
    struct tg_findings findings;
    int64_t at;   /* monotonic, of the last audit; 0: none yet */
    int64_t took; /* of the loop's time */
    size_t total;
    char *failure; /* why the last audit could not be made, or NULL */
};

static void standing_free(void *value)
{
    struct standing *standing = value;

    free(standing->namespace_);
    free(standing->name);
    free(standing->text);
    free(standing);
}

static const struct tg_delays *delays_of(const struct tg_auditor *auditor)
{
    return tg_configuration_delays(auditor->controller->configuration);
}

static void tell(struct tg_auditor *auditor, const struct tg_finding *finding)
{
    const char *reason = tg_finding_reason(finding->code);

    TG_WARN("Audit", TG_S("reason", reason), TG_S("invariant", tg_finding_invariant(finding->code)),
            TG_S("kind", finding->kind->kind),
            TG_S("namespace", tg_or(finding->about->namespace_, "")),
            TG_S("name", finding->about->name), TG_S("found", finding->text));
    tg_events_record(auditor->controller->events, finding->kind, finding->about, "Warning", reason,
                     finding->text);
}

static struct standing *stand(struct tg_auditor *auditor, const struct tg_finding *finding,
                              int64_t now)
{
    const struct tg_object_meta *about = finding->about;
    TG_AUTOFREE char *key =
        tg_xasprintf("%s %s %s/%s %s", tg_finding_reason(finding->code), finding->kind->kind,
                     tg_or(about->namespace_, ""), about->name, tg_or(about->uid, ""));
    struct standing *standing = tg_map_get(auditor->standings, key);

    if (standing == NULL) {
        standing = tg_xcalloc(1, sizeof(*standing));
        standing->code = finding->code;
        standing->kind = finding->kind->kind;
        standing->namespace_ = tg_xstrdup(tg_or(about->namespace_, ""));
        standing->name = tg_xstrdup(about->name);
        standing->since = now;
        tg_map_set(auditor->standings, key, standing);
    }
    free(standing->text);
    standing->text = tg_xstrdup(finding->text);
    standing->seen = true;
    return standing;
}

/* What is there no more is forgotten: it is told again if it comes back. */
static void sweep(struct tg_auditor *auditor)
{
    struct tg_map_entry *next;

    for (struct tg_map_entry *e = tg_map_first(auditor->standings); e != NULL; e = next) {
        struct standing *standing = tg_map_value(e);

        next = tg_map_next(e);
        if (!standing->seen)
            tg_map_remove(auditor->standings, tg_map_key(e));
        else
            standing->seen = false;
    }
}

static void take(struct tg_auditor *auditor, int64_t now)
{
    bool leads = tg_elector_leading(auditor->controller->elector);

    for (size_t i = 0; i < auditor->findings.n; i++) {
        const struct tg_finding *finding = &auditor->findings.items[i];
        struct standing *standing = stand(auditor, finding, now);

        /* A standby remembers what it saw, and leaves the word to the leader. */
        if (standing->told || !leads ||
            (tg_finding_passes(finding->code) && now - standing->since < delays_of(auditor)->stall))
            continue;
        standing->told = true;
        tell(auditor, finding);
    }
    auditor->total = auditor->findings.total;
    sweep(auditor);
}

static void audit(struct tg_auditor *auditor)
{
    struct tg_controller *controller = auditor->controller;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(AUDIT_MEMORY);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_view view;

    auditor->at = tg_now_monotonic(controller->clock);
    free(auditor->failure);
    auditor->failure = NULL;
    tg_view_init(&view);
    tg_controller_fill_view(controller, &view);
    if (tg_audit(&view, tg_configuration_instance(controller->configuration), arena,
                 &auditor->findings, &err) == 0) {
        tg_inspector_add(auditor->inspector, &auditor->findings);
        take(auditor, auditor->at);
    } else {
        TG_ERR(&err, "An audit was given up");
        auditor->failure = tg_xstrdup(err.message);
    }
    tg_view_done(&view);
    auditor->took = tg_now_monotonic(controller->clock) - auditor->at;
}

static bool undecided(const struct tg_auditor *auditor)
{
    for (struct tg_map_entry *e = tg_map_first(auditor->standings); e != NULL; e = tg_map_next(e))
        if (!((const struct standing *)tg_map_value(e))->told)
            return true;
    return false;
}

/* What may pass is looked at again as soon as that can be told. */
static void schedule(struct tg_auditor *auditor)
{
    const struct tg_delays *delays = delays_of(auditor);
    int64_t next =
        undecided(auditor) && delays->stall < delays->audit ? delays->stall : delays->audit;

    tg_timer_start(auditor->controller->loop, &auditor->timer, next);
}

/* Each allocation has been judged by itself: now all of them together. */
static void on_inspected(void *data)
{
    struct tg_auditor *auditor = data;

    if (tg_controller_synced(auditor->controller) && !auditor->controller->stopping)
        audit(auditor);
    schedule(auditor);
}

static void on_timer(struct tg_timer *timer)
{
    struct tg_auditor *auditor = timer->data;

    if (tg_controller_synced(auditor->controller) && !auditor->controller->stopping)
        tg_inspector_start(auditor->inspector);
    else
        schedule(auditor);
}

struct tg_auditor *tg_auditor_new(struct tg_controller *controller)
{
    struct tg_auditor *auditor = tg_xcalloc(1, sizeof(*auditor));

    auditor->controller = controller;
    auditor->inspector = tg_inspector_new(controller, on_inspected, auditor);
    auditor->standings = tg_map_new(standing_free);
    auditor->timer.callback = on_timer;
    auditor->timer.data = auditor;
    schedule(auditor);
    return auditor;
}

void tg_auditor_free(struct tg_auditor *auditor)
{
    if (auditor == NULL)
        return;
    tg_timer_stop(&auditor->timer);
    tg_inspector_free(auditor->inspector);
    tg_map_free(auditor->standings);
    free(auditor->failure);
    free(auditor);
}

size_t tg_auditor_lasting(const struct tg_auditor *auditor, enum tg_finding_code code)
{
    size_t n = 0;

    for (struct tg_map_entry *e = tg_map_first(auditor->standings); e != NULL; e = tg_map_next(e)) {
        const struct standing *standing = tg_map_value(e);

        n += standing->told && standing->code == code;
    }
    return n;
}

/* --- the page -------------------------------------------------------------------------------- */

static void write_standing(struct tg_json_writer *w, const struct standing *standing, int64_t now)
{
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "reason", tg_finding_reason(standing->code));
    if (tg_finding_invariant(standing->code)[0] != '\0')
        tg_jw_kv_string(w, "invariant", tg_finding_invariant(standing->code));
    tg_jw_kv_string(w, "kind", standing->kind);
    if (standing->namespace_[0] != '\0')
        tg_jw_kv_string(w, "namespace", standing->namespace_);
    tg_jw_kv_string(w, "name", standing->name);
    tg_jw_kv_string(w, "found", standing->text);
    tg_jw_kv_int(w, "forSeconds", (now - standing->since) / TG_SECOND);
    tg_jw_kv_bool(w, "told", standing->told);
    tg_jw_end_object(w);
}

int tg_auditor_page(void *data, struct tg_buf *body, const char **content_type)
{
    struct tg_auditor *auditor = data;
    int64_t now = tg_now_monotonic(auditor->controller->clock);
    struct tg_json_writer w;

    if (!tg_controller_synced(auditor->controller)) {
        tg_buf_append_str(body, "the lists of the API server are not complete yet\n");
        return 503;
    }
    if (auditor->at == 0 || now - auditor->at >= FRESH)
        audit(auditor);
    *content_type = "application/json";
    tg_json_writer_init(&w, body);
    tg_jw_begin_object(&w);
    tg_jw_kv_int(&w, "ageSeconds", (now - auditor->at) / TG_SECOND);
    if (auditor->failure != NULL)
        tg_jw_kv_string(&w, "failure", auditor->failure);
    tg_jw_kv_int(&w, "total", (int64_t)auditor->total);
    tg_jw_key(&w, "findings");
    tg_jw_begin_array(&w);
    for (struct tg_map_entry *e = tg_map_first(auditor->standings); e != NULL; e = tg_map_next(e))
        write_standing(&w, tg_map_value(e), now);
    tg_jw_end_array(&w);
    tg_jw_kv_int(&w, "milliseconds", auditor->took / TG_MILLISECOND);
    tg_jw_key(&w, "judged");
    tg_jw_begin_object(&w);
    tg_jw_kv_int(&w, "claims", (int64_t)tg_inspector_seen(auditor->inspector));
    tg_jw_kv_int(&w, "longestTurnMilliseconds",
                 tg_inspector_longest(auditor->inspector) / TG_MILLISECOND);
    tg_jw_end_object(&w);
    tg_jw_end_object(&w);
    return tg_jw_finish(&w, NULL) < 0 ? 500 : 200;
}
