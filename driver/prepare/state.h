/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of driver/prepare: what prepare.c (calls) and recover.c (start) share. */
#ifndef TG_DRIVER_PREPARE_STATE_H
#define TG_DRIVER_PREPARE_STATE_H

#include "api/runtime/base/arena.h"
#include "api/runtime/base/vec.h"
#include "driver/prepare/cdi.h"
#include "driver/prepare/journal.h"
#include "driver/prepare/prepare.h"
#include "driver/prepare/record.h"

/* In every phase the claim holds its devices. */
enum tg_claim_phase {
    TG_CLAIM_INTENT,   /* announced in the journal, not done */
    TG_CLAIM_DONE,     /* prepared */
    TG_CLAIM_REMOVING, /* being unprepared */
};

struct tg_claim_entry {
    struct tg_arena *arena; /* of everything below */
    struct tg_claim_record record;
    struct tg_prepared_claim answer;
    enum tg_claim_phase phase;
    bool hardware_left; /* the document is gone, partitions on the card are not */
};

struct tg_prepare {
    char *state_folder, *cdi_folder, *driver, *pool, *journal_path, *lock_path, *boot_id;
    size_t compact_after;
    int lock_fd;
    const struct tg_device_set *devices;
    struct tg_provider *provider; /* NULL: none */
    size_t missing;               /* claims that missed hardware when they were settled last */
    struct tg_journal *journal;
    struct tg_cdi cdi;
    struct tg_prepare_crash *crash;
    TG_VEC(struct tg_claim_entry *) entries; /* in the order of their intents */
};

/* A new entry with a deep copy of the record, phase TG_CLAIM_INTENT; not in the list yet. */
int tg_claim_entry_new(const struct tg_prepare *prepare, const struct tg_claim_record *record,
                       struct tg_claim_entry **ret, struct tg_error *err);
void tg_claim_entry_free(struct tg_claim_entry *entry); /* NULL is allowed */

/* Index of the entry of that uid, or entries.n. */
size_t tg_prepare_index(const struct tg_prepare *prepare, const char *uid);
/* Takes an entry out of the list and frees it. */
void tg_prepare_forget(struct tg_prepare *prepare, size_t index);
/* Another claim that has the same card and settings of it, or NULL. */
const struct tg_claim_device *tg_prepare_sharer(const struct tg_prepare *prepare,
                                                const struct tg_claim_entry *but,
                                                const struct tg_claim_device *device);
/* Hardware as it was before the claim: settings that no other claim wants, and partitions. */
int tg_prepare_restore(struct tg_prepare *prepare, const struct tg_claim_entry *entry,
                       struct tg_error *err);
/* Takes the claim off the node: what a release does, and what undoes a failed prepare. */
int tg_prepare_take_back(struct tg_prepare *prepare, size_t index, struct tg_error *err);
/* Replaces the journal by one that says exactly what the entries say. */
int tg_prepare_rewrite_journal(struct tg_prepare *prepare, struct tg_error *err);

/* Start: fills the entries from journal and CDI documents, makes the documents right, rewrites the
 * journal. Called once, with an empty list. */
int tg_prepare_recover(struct tg_prepare *prepare, const char *boot_id_file,
                       struct tg_prepare_report *report, struct tg_error *err);

#endif
