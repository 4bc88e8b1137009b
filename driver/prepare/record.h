/* SPDX-License-Identifier: Apache-2.0 */
/* Claims as records: what the journal and the CDI documents keep of them, as JSON. Unknown fields
 * are skipped, so that the previous release reads what the next one writes. */
#ifndef TG_DRIVER_PREPARE_RECORD_H
#define TG_DRIVER_PREPARE_RECORD_H

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/arena.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"
#include "api/tangram/gpu_config.h"
#include "driver/provider/provider.h"

#define TG_RECORD_CLAIM_BYTES_MAX                                                                  \
    ((size_t)64 << 10) /* of memory: 32 results of bounded strings need a third of it */

/* A result that is a part of a card: what has to stand there as long as the claim is prepared. */
struct tg_claim_partition {
    const char *card, *card_uuid; /* as in struct tg_partition */
    struct tg_opt_int profile_id, start, size;
    struct tg_opt_bool owned; /* we made it, or will: nobody else's is ever removed */
    /* Once it stands. Told anew by the hardware at each start. */
    struct tg_opt_int gi, ci;
    const char *uuid;
};

/* How a card is set for the claim (settings.h). Set: wanted; `before` is what it was. */
struct tg_claim_settings {
    const char *card_uuid; /* "GPU-..." */
    struct tg_gpu_settings wanted, before;
};

/* One result of a claim that is ours. */
struct tg_claim_device {
    const char *request; /* base name, DNS label */
    const char *asked;   /* as the result has it, "req" or "req/sub"; not kept */
    const char *pool, *device;
    const char *share_id; /* NULL if none */
    struct tg_opt_bool admin_access;
    struct tg_claim_partition *partition; /* NULL: a whole card */
    struct tg_claim_settings *settings;   /* NULL: the card stays as it is */
};

struct tg_claim_record {
    const char *uid, *namespace_, *name;
    TG_LIST_OF(struct tg_claim_device) devices;
};

/* A line of the journal. */
struct tg_journal_record {
    const char *op; /* boot | intent | done | removing | gone; others are skipped */
    const char *boot_id;
    const char *uid;               /* done, removing, gone */
    struct tg_claim_record *claim; /* intent */
};

extern const struct tg_type tg_claim_record_type, tg_journal_record_type;

/* Checks names and lengths: everything of a claim becomes part of file names, CDI names and
 * environments. TG_INVALID_ARGUMENT names the field. */
int tg_claim_record_validate(const struct tg_claim_record *claim, struct tg_error *err);
/* The claim's part of an allocation's results: those of `driver`, requests reduced to their base
 * names. Borrows the strings but for what it had to cut. Validated. */
int tg_claim_record_from_results(struct tg_claim_record *ret, const char *driver,
                                 const struct tg_allocation_device *results, size_t n,
                                 struct tg_arena *arena, struct tg_error *err);
/* A deep copy into the arena. */
int tg_claim_record_copy(const struct tg_claim_record *claim, struct tg_arena *arena,
                         struct tg_claim_record *ret, struct tg_error *err);
/* Asked for the same devices: what stands in the place of partitions does not count, nor do
 * settings, which cannot change as long as the claim is allocated. */
bool tg_claim_record_equal(const struct tg_claim_record *a, const struct tg_claim_record *b);
/* True if the two results cannot be had by two claims: the same device, parts of one card that
 * overlap, or a card and a part of it; unless one has admin access or both are different shares of
 * one device. */
bool tg_claim_device_conflicts(const struct tg_claim_device *a, const struct tg_claim_device *b);
/* The same settings are wanted; NULL: none are. */
bool tg_claim_settings_equal(const struct tg_claim_settings *a, const struct tg_claim_settings *b);
/* The same in the words of a provider; borrows the strings. */
struct tg_partition tg_claim_partition_place(const struct tg_claim_partition *partition);

#endif
