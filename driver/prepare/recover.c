/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a start does. The journal and the CDI documents are two copies of what was acknowledged, and
 * the union of both counts: a document exists from before a prepare is acknowledged until before an
 * unprepare is. Nothing is written to the journal until all documents are right; then it is
 * replaced as a whole, so that a crash on the way repeats the same steps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "driver/prepare/partitions.h"
#include "driver/prepare/settings.h"
#include "driver/prepare/state.h"

#define BOOT_ID_MAX 128
#define RECORD_ARENA_BYTES (4 * TG_JOURNAL_RECORD_MAX)

struct recovery {
    struct tg_prepare *prepare;
    struct tg_prepare_report *report;
    char *journal_boot_id; /* of the journal, NULL if it has none */
};

/* ---- journal ---- */

static int replay_intent(struct recovery *r, const struct tg_claim_record *claim,
                         struct tg_error *err)
{
    struct tg_claim_entry *entry = NULL;
    if (claim == NULL)
        return tg_error_set(err, TG_DATA_LOSS, "an intent without a claim");
    int rc = tg_claim_record_validate(claim, err);
    if (rc < 0)
        return rc;
    size_t index = tg_prepare_index(r->prepare, claim->uid);
    if (index < r->prepare->entries.n) /* the end of the earlier one was lost */
        tg_prepare_forget(r->prepare, index);
    rc = tg_claim_entry_new(r->prepare, claim, &entry, err);
    if (rc == 0)
        *TG_VEC_PUSH(&r->prepare->entries) = entry;
    return rc;
}

/* done, removing, gone. The claim may be unknown where damage swallowed its intent; its document
 * tells then. */
static void replay_phase(struct recovery *r, const struct tg_journal_record *record)
{
    size_t index = tg_prepare_index(r->prepare, record->uid);
    if (index == r->prepare->entries.n)
        return;
    if (tg_streq(record->op, "done"))
        r->prepare->entries.items[index]->phase = TG_CLAIM_DONE;
    else if (tg_streq(record->op, "removing"))
        r->prepare->entries.items[index]->phase = TG_CLAIM_REMOVING;
    else if (tg_streq(record->op, "gone"))
        tg_prepare_forget(r->prepare, index);
}

static int replay(void *data, const char *payload, size_t n, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(RECORD_ARENA_BYTES);
    struct recovery *r = data;
    struct tg_journal_record record = {0};
    int rc = tg_json_decode(&tg_journal_record_type, payload, n, &record, arena, err);
    if (rc < 0)
        return rc;
    if (tg_streq(record.op, "intent"))
        return replay_intent(r, record.claim, err);
    if (tg_streq(record.op, "boot")) {
        free(r->journal_boot_id);
        r->journal_boot_id = tg_xstrdup(tg_or(record.boot_id, ""));
        return 0;
    }
    replay_phase(r, &record);
    return 0;
}

static int read_journal(struct recovery *r, struct tg_error *err)
{
    struct tg_prepare *prepare = r->prepare;
    struct tg_journal_state state;
    int rc = tg_journal_read(prepare->journal_path, replay, r, &state, err);
    if (rc < 0)
        return rc;
    r->report->torn = state.torn;
    if (state.damage[0] == '\0')
        return 0;
    snprintf(r->report->damage, sizeof(r->report->damage), "%s", state.damage);
    return tg_journal_set_aside(prepare->journal_path, r->report->set_aside,
                                sizeof(r->report->set_aside), prepare->crash, err);
}

static int read_boot_id(struct recovery *r, const char *path, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(BOOT_ID_MAX);
    int rc = tg_file_read(path, &content, err);
    if (rc < 0)
        return rc;
    size_t n = content.len;
    while (n > 0 && strchr(" \n\r\t", content.data[n - 1]) != NULL)
        n--;
    if (n == 0 || !tg_utf8_valid(content.data, n))
        return tg_error_set(err, TG_INTERNAL, "%s: not a boot id", path);
    r->prepare->boot_id = tg_xstrndup(content.data, n);
    r->report->rebooted =
        r->journal_boot_id != NULL && !tg_streq(r->journal_boot_id, r->prepare->boot_id);
    return 0;
}

/* ---- CDI documents ---- */

/* A document that the entries do not know: all that is left of a claim which the journal has lost.
 */
static int adopt(struct recovery *r, const struct tg_claim_record *record, struct tg_error *err)
{
    struct tg_claim_entry *entry = NULL;
    int rc = tg_claim_entry_new(r->prepare, record, &entry, err);
    if (rc < 0)
        return rc;
    entry->phase = TG_CLAIM_DONE;
    *TG_VEC_PUSH(&r->prepare->entries) = entry;
    r->report->adopted++;
    return 0;
}

static int meet_document(void *data, const char *uid, const struct tg_claim_record *record,
                         struct tg_error *err)
{
    struct recovery *r = data;
    struct tg_prepare *prepare = r->prepare;
    size_t index = tg_prepare_index(prepare, uid);
    if (index < prepare->entries.n) {
        /* Written again, or removed, by settle(); a whole one completes its intent. */
        struct tg_claim_entry *entry = prepare->entries.items[index];
        if (entry->phase == TG_CLAIM_INTENT && record != NULL &&
            tg_claim_record_equal(&entry->record, record)) {
            entry->phase = TG_CLAIM_DONE;
            r->report->completed++;
        }
        return 0;
    }
    if (record != NULL)
        return adopt(r, record, err);
    r->report->orphans++;
    return tg_cdi_remove(&prepare->cdi, uid, err);
}

/* Its pods may run on: the claim keeps what it holds until it is unprepared. */
static int keep_missing(struct tg_prepare_report *report, const struct tg_error *why)
{
    report->missing++;
    snprintf(report->missing_why, sizeof(report->missing_why), "%.255s", why->message);
    return 0;
}

static int settle_done(struct tg_prepare *prepare, struct tg_claim_entry *entry,
                       struct tg_prepare_report *report, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf document = TG_BUF_INIT(TG_CDI_BYTES_MAX);
    struct tg_error why = TG_ERROR_INIT;
    bool written;
    if (tg_partitions_make(&entry->record, prepare->provider, entry->arena, &why) < 0 ||
        tg_settings_apply(&entry->record, prepare->provider, &why) < 0)
        return keep_missing(report, &why);
    /* What the provider cannot tell is one thing, a disk that does not take it another. */
    int rc = tg_cdi_render(&prepare->cdi, &entry->record, prepare->devices, &document, &why);
    if (rc < 0 && rc != -TG_RESOURCE_EXHAUSTED)
        return keep_missing(report, &why);
    rc = tg_cdi_write(&prepare->cdi, &entry->record, prepare->devices, &written, err);
    if (rc == 0)
        report->regenerated += written;
    return rc;
}

/* Neither done nor documented, or on its way out: whatever is left of it goes. */
static int settle_going(struct tg_prepare *prepare, size_t index, struct tg_prepare_report *report,
                        struct tg_error *err)
{
    struct tg_claim_entry *entry = prepare->entries.items[index];
    int rc = tg_cdi_remove(&prepare->cdi, entry->record.uid, err);
    if (rc < 0)
        return rc;
    if (tg_prepare_restore(prepare, entry, NULL) < 0) {
        entry->phase = TG_CLAIM_REMOVING;
        report->unfinished++;
        return 0;
    }
    if (entry->phase == TG_CLAIM_INTENT)
        report->undone++;
    else
        report->finished++;
    tg_prepare_forget(prepare, index);
    return 0;
}

/* Where records are lost, one of them may have said that the intent was carried out: to hold a
 * device that nobody uses until somebody asks for it to be released beats giving it away twice. */
static void keep_intents(struct recovery *r)
{
    for (size_t i = 0; i < r->prepare->entries.n; i++) {
        if (r->prepare->entries.items[i]->phase == TG_CLAIM_INTENT) {
            r->prepare->entries.items[i]->phase = TG_CLAIM_DONE;
            r->report->completed++;
        }
    }
}

/* Makes partitions and documents what the entries say. */
static int settle(struct tg_prepare *prepare, struct tg_prepare_report *report,
                  struct tg_error *err)
{
    size_t i = 0;
    while (i < prepare->entries.n) {
        struct tg_claim_entry *entry = prepare->entries.items[i];
        size_t before = prepare->entries.n;
        int rc = entry->phase == TG_CLAIM_DONE ? settle_done(prepare, entry, report, err)
                                               : settle_going(prepare, i, report, err);
        if (rc < 0)
            return rc;
        i += prepare->entries.n == before;
    }
    prepare->missing = report->missing;
    return 0;
}

bool tg_prepare_unsettled(const struct tg_prepare *prepare)
{
    bool going = false;
    for (size_t i = 0; i < prepare->entries.n; i++)
        going = going || prepare->entries.items[i]->phase != TG_CLAIM_DONE;
    return going || prepare->missing > 0;
}

int tg_prepare_settle(struct tg_prepare *prepare, struct tg_prepare_report *report,
                      struct tg_error *err)
{
    *report = (struct tg_prepare_report){0};
    int rc = tg_prepare_crash_check(prepare->crash, err);
    if (rc == 0)
        rc = settle(prepare, report, err);
    if (rc == 0)
        rc = tg_prepare_rewrite_journal(prepare, err);
    report->claims = tg_prepare_count(prepare);
    return rc;
}

int tg_prepare_recover(struct tg_prepare *prepare, const char *boot_id_file,
                       struct tg_prepare_report *report, struct tg_error *err)
{
    struct recovery r = {.prepare = prepare, .report = report};
    int rc = tg_prepare_crash_check(prepare->crash, err);
    if (rc == 0)
        rc = read_journal(&r, err);
    if (rc == 0)
        rc = read_boot_id(&r, boot_id_file, err);
    if (rc == 0)
        rc = tg_cdi_scan(&prepare->cdi, meet_document, &r, err);
    if (rc == 0 && (report->torn || report->damage[0] != '\0'))
        keep_intents(&r);
    if (rc == 0)
        rc = settle(prepare, report, err);
    if (rc == 0)
        rc = tg_prepare_rewrite_journal(prepare, err);
    free(r.journal_boot_id);
    return rc;
}
