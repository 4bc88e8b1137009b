/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An append-only file of text records that survives kill -9 and power loss.
 *
 *   tangram-journal 1\n
 *   <CRC-32C of the payload, 8 hex digits> <payload>\n
 *   ...
 *
 * A record that was acknowledged is on the disk. What a crash can leave is a last line without its
 * end: nobody was told of that record, and it is dropped. Anything else that is wrong is damage:
 * sound records before and behind it are still delivered, and the owner is told. Version 1 is read
 * by every release until a note in CHANGELOG.md says otherwise; a file of a higher version is not
 * touched. Payloads are the owner's; unknown ones must be skipped by it.
 */
#ifndef TG_DRIVER_PREPARE_JOURNAL_H
#define TG_DRIVER_PREPARE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"
#include "driver/prepare/crash.h"

#define TG_JOURNAL_BYTES_MAX                                                                       \
    ((size_t)64 << 20) /* a longer file is not ours: rewriting keeps it far below */
#define TG_JOURNAL_RECORD_MAX ((size_t)64 << 10) /* bytes of a payload */

struct tg_journal_state {
    bool missing;     /* no file, or an empty folder */
    bool torn;        /* the last line had no end and was dropped */
    char damage[256]; /* what is wrong, "" if nothing is */
    size_t records;   /* delivered */
};

/*
 * Reads the file at `path` and hands each sound payload (no line end, NUL-terminated) to on_record,
 * in order; a negative return of on_record marks the record as damage. Changes nothing on the disk.
 * TG_FAILED_PRECONDITION for a version that this release does not know.
 */
int tg_journal_read(const char *path,
                    int (*on_record)(void *data, const char *payload, size_t n,
                                     struct tg_error *err),
                    void *data, struct tg_journal_state *ret, struct tg_error *err);

/* Keeps a copy of the file as `<path>.corrupt-N` (N = the first free number) and tells its name;
 * the file stays in place until it is replaced by tg_journal_rewrite, so that a crash between the
 * two loses nothing. */
int tg_journal_set_aside(const char *path, char *ret, size_t size, struct tg_prepare_crash *crash,
                         struct tg_error *err);

/* A journal that is written to. `path` is copied. Nothing is opened before the first write. */
struct tg_journal;
struct tg_journal *tg_journal_new(const char *path, struct tg_prepare_crash *crash);
void tg_journal_free(struct tg_journal *journal); /* NULL is allowed */

/* Appends and syncs. After a failure the end of the file is in doubt, and every append fails until
 * a rewrite succeeds. */
int tg_journal_append(struct tg_journal *journal, const char *payload, size_t n,
                      struct tg_error *err);
/* True when the file should be rewritten before the next append: nothing was written yet, or a
 * write failed. */
bool tg_journal_in_doubt(const struct tg_journal *journal);
/* Records appended since the last rewrite. */
size_t tg_journal_appended(const struct tg_journal *journal);
/* Replaces the whole file atomically by what tg_journal_format put into `content`. */
int tg_journal_rewrite(struct tg_journal *journal, const struct tg_buf *content,
                       struct tg_error *err);

/* Removes the file, durably; without one is success. The next write must be a rewrite. */
int tg_journal_remove(struct tg_journal *journal, struct tg_error *err);

/* The first line. */
void tg_journal_format_header(struct tg_buf *content);
/* A record line. */
void tg_journal_format(struct tg_buf *content, const char *payload, size_t n);
/* CRC-32C (Castagnoli, RFC 3720) of n bytes. */
uint32_t tg_journal_checksum(const void *data, size_t n);

#endif
