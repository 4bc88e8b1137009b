/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/report.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"
#include "api/tangram/names.h"

#define JSON_MAX ((size_t)256 << 20)
#define COLUMNS 100

/* --- text ------------------------------------------------------------------------------------ */

/* The words of the text, indented, broken before COLUMNS. */
static void print_wrapped(const char *text, FILE *out)
{
    size_t column = 0;

    while (*text != '\0') {
        size_t word = strcspn(text, " ");

        if (column == 0 || column + 1 + word > COLUMNS) {
            fprintf(out, "%s  ", column == 0 ? "" : "\n");
            column = 2;
        } else {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, word, out);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void print_claim(const struct tg_plan_claim *claim, FILE *out)
{
    for (size_t i = 0; i < claim->results.n; i++) {
        const struct tg_plan_result *result = &claim->results.items[i];

        fprintf(out, "%s%s=", i == 0 ? "  " : " ", result->request);
        for (size_t k = 0; k < result->devices.n; k++)
            fprintf(out, "%s%s", k == 0 ? "" : ",", result->devices.items[k]);
    }
}

static void print_plan(const struct tg_plan *plan, FILE *out)
{
    int pods = 0, nodes = 0;

    for (size_t i = 0; i < plan->members.n; i++) {
        int pod = (int)strlen(plan->members.items[i].pod);
        int node = (int)strlen(plan->members.items[i].node);

        pods = pod > pods ? pod : pods;
        nodes = node > nodes ? node : nodes;
    }
    for (size_t i = 0; i < plan->members.n; i++) {
        const struct tg_plan_member *member = &plan->members.items[i];

        fprintf(out, "  %-*s  %-*s", pods, member->pod, nodes, member->node);
        for (size_t k = 0; k < member->claims.n; k++)
            print_claim(&member->claims.items[k], out);
        fputc('\n', out);
    }
}

/* Lines as they are, indented. */
static void print_page(const char *page, FILE *out)
{
    while (*page != '\0') {
        size_t n = strcspn(page, "\n");

        fprintf(out, "  %.*s\n", (int)n, page);
        page += n + (page[n] == '\n');
    }
}

static void print_outcome(const struct tg_outcome *o, struct tg_arena *arena, FILE *out)
{
    fprintf(out, "%s: ", tg_or(tg_outcome_name(o, arena), "?"));
    if (o->plan != NULL) {
        fprintf(out, "placed\n");
        print_plan(o->plan, out);
        return;
    }
    if (o->standing)
        fprintf(out, "has its place%s%s\n", o->phase == NULL ? "" : ", ", tg_or(o->phase, ""));
    else
        fprintf(out, "waits: %s\n", tg_or(o->reason, ""));
    if (o->page != NULL)
        print_page(o->page, out);
    else if (o->text != NULL)
        print_wrapped(o->text, out);
}

/* A quota is no matter of placement, but who reads "everything fits" beside one has to know. */
static void print_ignored(const char *kind, size_t n, FILE *out)
{
    if (tg_streq(kind, "ResourceQuota"))
        fprintf(out,
                "note: ResourceQuotas are not counted (%zu): pods and claims that one refuses are "
                "never created, and their gang waits for them\n",
                n);
    else
        fprintf(out, "note: kind %s means nothing here (%zu)\n", kind, n);
}

static void print_notes(const struct tg_world *world, FILE *out)
{
    if (world->gates_added > 0)
        fprintf(out,
                "note: %zu pods lack the scheduling gate " TG_GATE
                "; policies add it on Kubernetes 1.36 and newer\n",
                world->gates_added);
    for (struct tg_map_entry *e = tg_map_first(world->ignored); e != NULL; e = tg_map_next(e))
        print_ignored(tg_map_key(e), (size_t)(uintptr_t)tg_map_value(e), out);
}

static void print_fleet(const struct tg_picture *picture, FILE *out)
{
    size_t free_cards = 0;

    for (size_t i = 0; i < picture->nodes.n; i++)
        for (size_t k = 0; k < picture->nodes.items[i].cards.n; k++)
            free_cards += picture->nodes.items[i].cards.items[k].pieces.n == 0;
    fprintf(out, "fleet: %zu nodes, %zu cards: %zu in use before, %zu used here, %zu untouched\n",
            picture->nodes.n, picture->cards, picture->taken, picture->given, free_cards);
    if (picture->slices > 0)
        fprintf(out, "       %zu of %zu memory slices of partitioned cards in use\n",
                picture->slices_taken, picture->slices);
}

void tg_report_text(const struct tg_world *world, const struct tg_simulation *simulation,
                    const struct tg_picture *picture, FILE *out)
{
    for (size_t i = 0; i < simulation->n; i++)
        if (!simulation->items[i].standing && simulation->items[i].asked)
            print_outcome(&simulation->items[i], world->arena, out);
    if (simulation->standing > 0)
        fprintf(out, "%zu others have their places already\n", simulation->standing);
    if (simulation->others_waiting > 0)
        fprintf(out, "%zu others wait as well\n", simulation->others_waiting);
    print_fleet(picture, out);
    print_notes(world, out);
    if (simulation->n == 0)
        fputs("answer: nothing asks for devices of a managed class\n", out);
    else if (simulation->waiting == 0)
        fputs("answer: yes, everything fits\n", out);
    else
        fprintf(out, "answer: no, %zu of %zu wait\n", simulation->waiting,
                simulation->waiting + simulation->placed);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void write_shortage(struct tg_json_writer *w, const struct tg_outcome *o)
{
    if (o->members_short == 0)
        return;
    tg_jw_key(w, "shortage");
    tg_jw_begin_array(w);
    tg_jw_begin_object(w);
    tg_jw_kv_int(w, "members", (int64_t)o->members_short);
    tg_jw_kv_int(w, "perMember", (int64_t)o->devices_per_member);
    tg_jw_end_object(w);
    tg_jw_end_array(w);
}

static void write_outcome(struct tg_json_writer *w, const struct tg_outcome *o)
{
    static const char *const kinds[] = {
        [TG_UNIT_GANG] = TG_KIND_GANG, [TG_UNIT_POD] = "Pod", [TG_UNIT_CLAIM] = "ResourceClaim"};

    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "kind", kinds[o->unit->kind]);
    tg_jw_kv_string(w, "namespace", o->unit->namespace_);
    tg_jw_kv_string(w, "name", o->unit->name);
    tg_jw_kv_bool(w, "fits", o->plan != NULL || o->standing);
    tg_jw_kv_string(w, "phase", o->phase);
    tg_jw_kv_string(w, "reason", o->reason);
    tg_jw_kv_string(w, "explanation", o->text);
    write_shortage(w, o);
    if (o->details != NULL)
        tg_jw_kv_raw(w, "details", o->details);
    if (o->plan != NULL)
        tg_jw_kv_object(w, "plan", &tg_plan_type, o->plan);
    tg_jw_end_object(w);
}

static void write_fleet(struct tg_json_writer *w, const struct tg_picture *picture)
{
    const struct {
        const char *name;
        size_t n;
    } numbers[] = {{"nodes", picture->nodes.n},       {"cards", picture->cards},
                   {"cardsInUse", picture->taken},    {"cardsGiven", picture->given},
                   {"memorySlices", picture->slices}, {"memorySlicesInUse", picture->slices_taken}};

    tg_jw_key(w, "fleet");
    tg_jw_begin_object(w);
    for (size_t i = 0; i < TG_ARRAY_SIZE(numbers); i++)
        tg_jw_kv_int(w, numbers[i].name, (int64_t)numbers[i].n);
    tg_jw_end_object(w);
}

int tg_report_json(const struct tg_simulation *simulation, const struct tg_picture *picture,
                   FILE *out, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(JSON_MAX);
    struct tg_json_writer w;
    int r;

    tg_json_writer_init(&w, &buf);
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "apiVersion", TG_API_VERSION);
    tg_jw_kv_string(&w, "kind", "Simulation");
    tg_jw_kv_bool(&w, "fits", simulation->waiting == 0);
    tg_jw_key(&w, "items");
    tg_jw_begin_array(&w);
    for (size_t i = 0; i < simulation->n; i++)
        write_outcome(&w, &simulation->items[i]);
    tg_jw_end_array(&w);
    write_fleet(&w, picture);
    tg_jw_end_object(&w);
    r = tg_jw_finish(&w, err);
    if (r == 0)
        fprintf(out, "%s\n", tg_buf_str(&buf));
    return r;
}

static void write_event(struct tg_json_writer *w, const struct tg_event *event)
{
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "lastTimestamp", event->last_timestamp);
    tg_jw_kv_string(w, "type", event->type);
    tg_jw_kv_string(w, "reason", event->reason);
    tg_jw_kv_string(w, "message", event->message);
    tg_jw_end_object(w);
}

int tg_report_explanation(const struct tg_outcome *outcome, const struct tg_event *events,
                          size_t n_events, FILE *out, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(JSON_MAX);
    const struct tg_gang *gang = outcome->unit->gang;
    struct tg_json_writer w;
    int r;

    tg_json_writer_init(&w, &buf);
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "apiVersion", TG_API_VERSION);
    tg_jw_kv_string(&w, "kind", "Explanation");
    tg_jw_key(&w, "item");
    write_outcome(&w, outcome);
    if (gang != NULL && gang->status != NULL)
        tg_jw_kv_object(&w, "status", &tg_gang_status_type, gang->status);
    tg_jw_key(&w, "events");
    tg_jw_begin_array(&w);
    for (size_t i = 0; i < n_events; i++)
        write_event(&w, &events[i]);
    tg_jw_end_array(&w);
    tg_jw_end_object(&w);
    r = tg_jw_finish(&w, err);
    if (r == 0)
        fprintf(out, "%s\n", tg_buf_str(&buf));
    return r;
}
