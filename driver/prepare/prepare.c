/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/prepare/prepare.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"
#include "driver/prepare/lock.h"
#include "driver/prepare/partitions.h"
#include "driver/prepare/settings.h"
#include "driver/prepare/state.h"

#define COMPACT_AFTER 512
#define FOLDER_MODE 0755

static const struct tg_prepared_claim nothing = {.uid = "", .namespace_ = "", .name = ""};

/* ---- entries ---- */

void tg_claim_entry_free(struct tg_claim_entry *entry)
{
    if (entry == NULL)
        return;
    tg_arena_free(entry->arena);
    free(entry);
}

/* What the kubelet is told of the record. */
static int make_answer(const struct tg_prepare *prepare, struct tg_claim_entry *entry,
                       struct tg_error *err)
{
    const struct tg_claim_record *record = &entry->record;
    struct tg_prepared_device *devices =
        tg_arena_alloc_array(entry->arena, record->devices.n, sizeof(*devices));
    for (size_t i = 0; devices != NULL && i < record->devices.n; i++) {
        const struct tg_claim_device *from = &record->devices.items[i];
        devices[i] = (struct tg_prepared_device){
            .request = from->request,
            .pool = from->pool,
            .device = from->device,
            .share_id = from->share_id,
            .admin_access = from->admin_access.value,
            .cdi_id = tg_cdi_id(&prepare->cdi, record->uid, from, entry->arena),
        };
    }
    if (tg_arena_exhausted(entry->arena))
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the claim needs more than %zu bytes",
                            TG_RECORD_CLAIM_BYTES_MAX);
    entry->answer = (struct tg_prepared_claim){.uid = record->uid,
                                               .namespace_ = record->namespace_,
                                               .name = record->name,
                                               .devices = devices,
                                               .n = record->devices.n};
    return 0;
}

int tg_claim_entry_new(const struct tg_prepare *prepare, const struct tg_claim_record *record,
                       struct tg_claim_entry **ret, struct tg_error *err)
{
    struct tg_claim_entry *entry = tg_xcalloc(1, sizeof(*entry));
    entry->arena = tg_arena_new(TG_RECORD_CLAIM_BYTES_MAX);
    entry->phase = TG_CLAIM_INTENT;
    int rc = tg_claim_record_copy(record, entry->arena, &entry->record, err);
    if (rc == 0)
        rc = make_answer(prepare, entry, err);
    if (rc < 0) {
        tg_claim_entry_free(entry);
        return rc;
    }
    *ret = entry;
    return 0;
}

size_t tg_prepare_index(const struct tg_prepare *prepare, const char *uid)
{
    size_t i = 0;
    while (i < prepare->entries.n && !tg_streq(prepare->entries.items[i]->record.uid, uid))
        i++;
    return i;
}

void tg_prepare_forget(struct tg_prepare *prepare, size_t index)
{
    struct tg_claim_entry **items = prepare->entries.items;
    tg_claim_entry_free(items[index]);
    memmove(&items[index], &items[index + 1], (prepare->entries.n - index - 1) * sizeof(*items));
    prepare->entries.n--;
}

/* ---- journal ---- */

static int encode(const struct tg_journal_record *record, struct tg_buf *line, struct tg_error *err)
{
    tg_buf_clear(line);
    return tg_json_encode(&tg_journal_record_type, record, line, err);
}

static int format(struct tg_buf *content, const struct tg_journal_record *record,
                  struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf line = TG_BUF_INIT(TG_JOURNAL_RECORD_MAX);
    int rc = encode(record, &line, err);
    if (rc == 0)
        tg_journal_format(content, line.data, line.len);
    return rc;
}

static const char *phase_op(enum tg_claim_phase phase)
{
    switch (phase) {
    case TG_CLAIM_DONE:
        return "done";
    case TG_CLAIM_REMOVING:
        return "removing";
    case TG_CLAIM_INTENT:
        break;
    }
    return NULL;
}

int tg_prepare_rewrite_journal(struct tg_prepare *prepare, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(TG_JOURNAL_BYTES_MAX);
    struct tg_journal_record boot = {.op = "boot", .boot_id = prepare->boot_id};
    tg_journal_format_header(&content);
    int rc = format(&content, &boot, err);
    for (size_t i = 0; rc == 0 && i < prepare->entries.n; i++) {
        struct tg_claim_entry *entry = prepare->entries.items[i];
        struct tg_journal_record intent = {.op = "intent", .claim = &entry->record};
        struct tg_journal_record after = {.op = phase_op(entry->phase), .uid = entry->record.uid};
        rc = format(&content, &intent, err);
        if (rc == 0 && after.op != NULL)
            rc = format(&content, &after, err);
    }
    return rc < 0 ? rc : tg_journal_rewrite(prepare->journal, &content, err);
}

/* Appends a record. Before that the file is made sound again, or shorter, where it needs to be. */
static int append(struct tg_prepare *prepare, const struct tg_journal_record *record,
                  struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf line = TG_BUF_INIT(TG_JOURNAL_RECORD_MAX);
    int rc = 0;
    if (tg_journal_in_doubt(prepare->journal) ||
        tg_journal_appended(prepare->journal) >= prepare->compact_after)
        rc = tg_prepare_rewrite_journal(prepare, err);
    if (rc == 0)
        rc = encode(record, &line, err);
    return rc < 0 ? rc : tg_journal_append(prepare->journal, line.data, line.len, err);
}

static int append_op(struct tg_prepare *prepare, const char *op, const char *uid,
                     struct tg_error *err)
{
    struct tg_journal_record record = {.op = op, .uid = uid};
    return append(prepare, &record, err);
}

/* ---- opening ---- */

void tg_prepare_close(struct tg_prepare *prepare)
{
    if (prepare == NULL)
        return;
    for (size_t i = 0; i < prepare->entries.n; i++)
        tg_claim_entry_free(prepare->entries.items[i]);
    TG_VEC_DONE(&prepare->entries);
    tg_journal_free(prepare->journal);
    if (prepare->lock_fd >= 0)
        tg_lock_give(prepare->lock_path, prepare->lock_fd);
    free(prepare->lock_path);
    free(prepare->state_folder);
    free(prepare->cdi_folder);
    free(prepare->driver);
    free(prepare->pool);
    free(prepare->journal_path);
    free(prepare->boot_id);
    free(prepare);
}

int tg_prepare_end(struct tg_prepare *prepare, struct tg_error *err)
{
    if (prepare == NULL)
        return 0;
    int rc = tg_prepare_crash_check(prepare->crash, err);
    if (rc == 0)
        rc = tg_file_remove_leftovers(prepare->journal_path, err);
    if (rc == 0 && prepare->entries.n == 0)
        rc = tg_journal_remove(prepare->journal, err);
    tg_prepare_close(prepare);
    return rc;
}

static struct tg_prepare *prepare_new(const struct tg_prepare_options *options,
                                      const struct tg_device_set *devices)
{
    struct tg_prepare *prepare = tg_xcalloc(1, sizeof(*prepare));
    prepare->state_folder = tg_xstrdup(options->state_folder);
    prepare->cdi_folder = tg_xstrdup(options->cdi_folder);
    prepare->driver = tg_xstrdup(options->driver);
    prepare->pool = tg_xstrdup(options->pool);
    prepare->journal_path = tg_xasprintf("%s/prepare.journal", options->state_folder);
    prepare->lock_path = tg_xasprintf("%s/prepare.lock", options->state_folder);
    prepare->compact_after = options->compact_after == 0 ? COMPACT_AFTER : options->compact_after;
    prepare->lock_fd = -1;
    prepare->devices = devices;
    prepare->crash = options->crash;
    prepare->journal = tg_journal_new(prepare->journal_path, options->crash);
    prepare->cdi = (struct tg_cdi){
        .folder = prepare->cdi_folder,
        .driver = prepare->driver,
        .crash = options->crash,
        .provider = options->provider,
    };
    prepare->provider = options->provider;
    return prepare;
}

int tg_prepare_open(const struct tg_prepare_options *options, const struct tg_device_set *devices,
                    struct tg_prepare **ret, struct tg_prepare_report *report, struct tg_error *err)
{
    struct tg_prepare_report ignored;
    if (report == NULL)
        report = &ignored;
    *report = (struct tg_prepare_report){0};
    int rc = tg_file_make_folders(options->state_folder, FOLDER_MODE, err);
    if (rc == 0)
        rc = tg_file_make_folders(options->cdi_folder, FOLDER_MODE, err);
    if (rc < 0)
        return rc;
    struct tg_prepare *prepare = prepare_new(options, devices);
    rc = tg_lock_take(prepare->lock_path, &prepare->lock_fd, err);
    if (rc == 0)
        rc = tg_prepare_recover(prepare, options->boot_id_file, report, err);
    if (rc < 0) {
        tg_prepare_close(prepare);
        return rc;
    }
    report->claims = tg_prepare_count(prepare);
    *ret = prepare;
    return 0;
}

void tg_prepare_set_devices(struct tg_prepare *prepare, const struct tg_device_set *devices)
{
    prepare->devices = devices;
}

/* ---- preparing ---- */

static int refuse(struct tg_error *err, int rc)
{
    if (err != NULL)
        err->retry = true;
    return rc;
}

/* The last line of "never two owners". */
static int check_free(const struct tg_prepare *prepare, const struct tg_claim_device *wanted,
                      struct tg_error *err)
{
    for (size_t i = 0; i < prepare->entries.n; i++) {
        const struct tg_claim_record *other = &prepare->entries.items[i]->record;
        for (size_t j = 0; j < other->devices.n; j++) {
            if (tg_claim_device_conflicts(wanted, &other->devices.items[j]))
                return refuse(
                    err, tg_error_set(err, TG_FAILED_PRECONDITION,
                                      "device %s is held by claim %s/%s (uid %s), which is "
                                      "prepared on this node; it becomes free when the pods "
                                      "of that claim have ended",
                                      wanted->device, other->namespace_, other->name, other->uid));
        }
    }
    return 0;
}

const struct tg_claim_device *tg_prepare_sharer(const struct tg_prepare *prepare,
                                                const struct tg_claim_entry *but,
                                                const struct tg_claim_device *device)
{
    for (size_t i = 0; i < prepare->entries.n; i++) {
        const struct tg_claim_entry *entry = prepare->entries.items[i];
        for (size_t j = 0; entry != but && j < entry->record.devices.n; j++) {
            const struct tg_claim_device *other = &entry->record.devices.items[j];
            if (other->settings != NULL && tg_streq(other->device, device->device) &&
                tg_streq(other->pool, device->pool))
                return other;
        }
    }
    return NULL;
}

/* Two claims that have shares of a card cannot have it set in two ways. Who comes second knows the
 * card only as the first has set it. */
static int share_settings(const struct tg_prepare *prepare, struct tg_claim_record *record,
                          struct tg_error *err)
{
    for (size_t i = 0; i < record->devices.n; i++) {
        struct tg_claim_device *wanted = &record->devices.items[i];
        const struct tg_claim_device *other = tg_prepare_sharer(prepare, NULL, wanted);
        if (wanted->settings == NULL || other == NULL)
            continue;
        if (!tg_claim_settings_equal(wanted->settings, other->settings))
            return refuse(err, tg_error_set(err, TG_FAILED_PRECONDITION,
                                            "device %s is shared with a prepared claim that has "
                                            "it set otherwise (GpuConfig): shares of one card "
                                            "need the same configuration",
                                            wanted->device));
        wanted->settings->before = other->settings->before;
    }
    return 0;
}

static int check_devices(const struct tg_prepare *prepare, const struct tg_claim_record *record,
                         struct tg_error *err)
{
    for (size_t i = 0; i < record->devices.n; i++) {
        const struct tg_claim_device *wanted = &record->devices.items[i];
        if (!tg_streq(wanted->pool, prepare->pool))
            return refuse(err, tg_error_set(err, TG_NOT_FOUND,
                                            "device %s is of pool %s, this node's pool is %s",
                                            wanted->device, wanted->pool, prepare->pool));
        int rc = check_free(prepare, wanted, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int tg_prepare_restore(struct tg_prepare *prepare, const struct tg_claim_entry *entry,
                       struct tg_error *err)
{
    int first = 0;
    for (size_t i = 0; i < entry->record.devices.n; i++) {
        const struct tg_claim_device *device = &entry->record.devices.items[i];
        int rc = tg_prepare_sharer(prepare, entry, device) != NULL
                     ? 0
                     : tg_settings_undo(device, prepare->provider, first < 0 ? NULL : err);
        first = first < 0 ? first : rc;
    }
    int rc = tg_partitions_remove(&entry->record, prepare->provider, first < 0 ? NULL : err);
    return first < 0 ? first : rc;
}

int tg_prepare_take_back(struct tg_prepare *prepare, size_t index, struct tg_error *err)
{
    struct tg_claim_entry *entry = prepare->entries.items[index];
    int rc = 0;
    if (entry->phase == TG_CLAIM_DONE) {
        /* From here on a start removes the document instead of writing it again. */
        rc = append_op(prepare, "removing", entry->record.uid, err);
        if (rc == 0)
            entry->phase = TG_CLAIM_REMOVING;
    }
    if (rc == 0)
        rc = tg_cdi_remove(&prepare->cdi, entry->record.uid, err);
    if (rc == 0) {
        entry->hardware_left = true;
        rc = tg_prepare_restore(prepare, entry, err);
    }
    if (rc == 0)
        entry->hardware_left = false;
    if (rc == 0)
        rc = append_op(prepare, "gone", entry->record.uid, err);
    if (rc == 0)
        tg_prepare_forget(prepare, index);
    return rc;
}

/* The claim is in the list already: the same answer, or why not. */
static int answer_again(struct tg_prepare *prepare, struct tg_claim_entry *entry,
                        const struct tg_claim_record *record, const struct tg_prepared_claim **ret,
                        struct tg_error *err)
{
    bool written = false;
    if (!tg_claim_record_equal(&entry->record, record))
        return refuse(err, tg_error_set(err, TG_FAILED_PRECONDITION,
                                        "claim %s/%s (uid %s) is prepared with other devices; it "
                                        "must be unprepared first",
                                        entry->record.namespace_, entry->record.name,
                                        entry->record.uid));
    int rc = tg_partitions_make(&entry->record, prepare->provider, entry->arena, err);
    if (rc == 0)
        rc = tg_cdi_write(&prepare->cdi, &entry->record, prepare->devices, &written, err);
    if (rc == 0)
        *ret = &entry->answer;
    return rc;
}

/* intent -> partitions, settings -> document -> done, for an entry that is the last of the list. */
static int carry_out(struct tg_prepare *prepare, struct tg_claim_entry *entry, struct tg_error *err)
{
    struct tg_journal_record intent = {.op = "intent", .claim = &entry->record};
    bool written;
    int rc = append(prepare, &intent, err);
    if (rc == 0)
        rc = tg_partitions_make(&entry->record, prepare->provider, entry->arena, err);
    if (rc == 0)
        rc = tg_settings_apply(&entry->record, prepare->provider, err);
    if (rc == 0)
        rc = tg_cdi_write(&prepare->cdi, &entry->record, prepare->devices, &written, err);
    if (rc == 0)
        rc = append_op(prepare, "done", entry->record.uid, err);
    if (rc == 0)
        entry->phase = TG_CLAIM_DONE;
    return rc;
}

static int prepare_new_claim(struct tg_prepare *prepare, struct tg_claim_record *record,
                             const struct tg_prepared_claim **ret, struct tg_error *err)
{
    struct tg_claim_entry *entry = NULL;
    int rc = check_devices(prepare, record, err);
    if (rc == 0)
        rc = tg_partitions_look(record, prepare->provider, err);
    if (rc == 0)
        rc = tg_settings_look(record, prepare->provider, err);
    if (rc == 0)
        rc = share_settings(prepare, record, err);
    if (rc == 0 && prepare->entries.n >= TG_PREPARE_CLAIMS_MAX)
        rc = tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                          "%zu claims are prepared on this node already", prepare->entries.n);
    if (rc == 0)
        rc = tg_claim_entry_new(prepare, record, &entry, err);
    if (rc < 0)
        return rc;
    *TG_VEC_PUSH(&prepare->entries) = entry;
    rc = carry_out(prepare, entry, err);
    if (rc < 0) {
        /* If this fails too, the entry stays and holds its devices: the disk may say so as well. */
        (void)tg_prepare_take_back(prepare, prepare->entries.n - 1, NULL);
        return rc;
    }
    *ret = &entry->answer;
    return 0;
}

/* What a caller wants prepared. */
struct wanted {
    const char *uid, *namespace_, *name;
    const struct tg_allocation_device *results;
    size_t n;
    const struct tg_device_config *configs;
    size_t n_configs;
};

/* What the devices are, and how they are to be set: nothing of it touches hardware. */
static int complete(const struct tg_prepare *prepare, const struct wanted *wanted,
                    struct tg_claim_record *record, struct tg_arena *arena, struct tg_error *err)
{
    int rc = tg_partitions_fill(record, prepare->devices, arena, err);
    if (rc == 0)
        rc = tg_settings_fill(record, prepare->driver, wanted->configs, wanted->n_configs,
                              prepare->devices, arena, err);
    return rc < 0 ? rc : tg_claim_record_validate(record, err); /* parts of a card may overlap */
}

static int prepare_wanted(struct tg_prepare *prepare, const struct wanted *wanted,
                          const struct tg_prepared_claim **ret, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_RECORD_CLAIM_BYTES_MAX);
    struct tg_claim_record record = {
        .uid = wanted->uid, .namespace_ = wanted->namespace_, .name = wanted->name};
    int rc = tg_prepare_crash_check(prepare->crash, err);
    if (rc == 0)
        rc = tg_claim_record_from_results(&record, prepare->driver, wanted->results, wanted->n,
                                          arena, err);
    if (rc < 0)
        return rc;
    size_t index = tg_prepare_index(prepare, wanted->uid);
    if (index < prepare->entries.n) {
        if (prepare->entries.items[index]->phase == TG_CLAIM_DONE)
            return answer_again(prepare, prepare->entries.items[index], &record, ret, err);
        rc = tg_prepare_take_back(prepare, index, err); /* what an earlier call left halfway */
        if (rc < 0)
            return rc;
    }
    if (record.devices.n == 0) {
        *ret = &nothing;
        return 0;
    }
    rc = complete(prepare, wanted, &record, arena, err);
    return rc < 0 ? rc : prepare_new_claim(prepare, &record, ret, err);
}

int tg_prepare_claim(struct tg_prepare *prepare, const char *uid, const char *namespace_,
                     const char *name, const struct tg_allocation_device *results, size_t n,
                     const struct tg_prepared_claim **ret, struct tg_error *err)
{
    const struct wanted wanted = {
        .uid = uid, .namespace_ = namespace_, .name = name, .results = results, .n = n};
    return prepare_wanted(prepare, &wanted, ret, err);
}

int tg_prepare_allocation(struct tg_prepare *prepare, const char *uid, const char *namespace_,
                          const char *name, const struct tg_allocation_devices *allocation,
                          const struct tg_prepared_claim **ret, struct tg_error *err)
{
    const struct wanted wanted = {.uid = uid,
                                  .namespace_ = namespace_,
                                  .name = name,
                                  .results = allocation->results.items,
                                  .n = allocation->results.n,
                                  .configs = allocation->config.items,
                                  .n_configs = allocation->config.n};
    return prepare_wanted(prepare, &wanted, ret, err);
}

/* Only its hardware is left of it. */
static bool is_going(const struct tg_prepare *prepare, const char *uid)
{
    size_t index = tg_prepare_index(prepare, uid);
    return index < prepare->entries.n && prepare->entries.items[index]->hardware_left;
}

int tg_prepare_release(struct tg_prepare *prepare, const char *uid, struct tg_error *err)
{
    size_t index = tg_prepare_index(prepare, uid);
    int rc = tg_prepare_crash_check(prepare->crash, err);
    if (rc < 0 || index == prepare->entries.n)
        return rc;
    struct tg_error why = TG_ERROR_INIT;
    rc = tg_prepare_take_back(prepare, index, &why);
    /* No pod can end before this call succeeds, and a driver that is replaced waits for the pods.
     */
    if (rc == -TG_UNAVAILABLE && is_going(prepare, uid))
        return 0;
    if (rc < 0 && err != NULL)
        *err = why;
    return rc;
}

/* ---- looking ---- */

bool tg_prepare_owns(const struct tg_prepare *prepare, const struct tg_partition *place)
{
    for (size_t i = 0; i < prepare->entries.n; i++) {
        const struct tg_claim_record *record = &prepare->entries.items[i]->record;
        for (size_t j = 0; j < record->devices.n; j++) {
            const struct tg_claim_partition *one = record->devices.items[j].partition;
            if (one == NULL || !one->owned.value)
                continue;
            const struct tg_partition own = tg_claim_partition_place(one);
            if (tg_streq(own.card, place->card) && own.profile_id == place->profile_id &&
                own.start == place->start)
                return true;
        }
    }
    return false;
}

const struct tg_prepared_claim *tg_prepare_find(const struct tg_prepare *prepare, const char *uid)
{
    size_t index = tg_prepare_index(prepare, uid);
    if (index == prepare->entries.n || prepare->entries.items[index]->phase != TG_CLAIM_DONE)
        return NULL;
    return &prepare->entries.items[index]->answer;
}

size_t tg_prepare_count(const struct tg_prepare *prepare)
{
    size_t n = 0;
    for (size_t i = 0; i < prepare->entries.n; i++)
        n += prepare->entries.items[i]->phase == TG_CLAIM_DONE;
    return n;
}

const struct tg_prepared_claim *tg_prepare_at(const struct tg_prepare *prepare, size_t index)
{
    for (size_t i = 0; i < prepare->entries.n; i++) {
        const struct tg_claim_entry *entry = prepare->entries.items[i];
        if (entry->phase == TG_CLAIM_DONE && index-- == 0)
            return &entry->answer;
    }
    return NULL;
}
