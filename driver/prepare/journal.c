/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/prepare/journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

#define MAGIC "tangram-journal "
#define VERSION 1
#define CHECKSUM_DIGITS 8
#define SET_ASIDE_MAX 1000
#define FILE_MODE 0600

struct tg_journal {
    char *path;
    struct tg_prepare_crash *crash;
    int fd; /* -1: the next write must be a rewrite */
    size_t appended;
};

uint32_t tg_journal_checksum(const void *data, size_t n)
{
    const unsigned char *p = data;
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (UINT32_C(0x82f63b78) & (0 - (crc & 1)));
    }
    return ~crc;
}

void tg_journal_format_header(struct tg_buf *content)
{
    (void)tg_buf_printf(content, MAGIC "%d\n", VERSION);
}

void tg_journal_format(struct tg_buf *content, const char *payload, size_t n)
{
    (void)tg_buf_printf(content, "%08x ", tg_journal_checksum(payload, n));
    (void)tg_buf_append(content, payload, n);
    (void)tg_buf_append_char(content, '\n');
}

/* ---- reading ---- */

struct reading {
    int (*on_record)(void *data, const char *payload, size_t n, struct tg_error *err);
    void *data;
    struct tg_journal_state *state;
    size_t line;
};

static void note_damage(struct reading *r, const char *what)
{
    if (r->state->damage[0] == '\0') /* the first says most */
        snprintf(r->state->damage, sizeof(r->state->damage), "line %zu: %s", r->line, what);
}

/* The first line. A version that we do not know must not be touched: refuse. */
static int read_header(struct reading *r, const char *line, size_t n, struct tg_error *err)
{
    const size_t magic = sizeof(MAGIC) - 1;
    uint64_t version;
    if (n <= magic || memcmp(line, MAGIC, magic) != 0 ||
        tg_parse_u64(line + magic, n - magic, &version) != 0 || version == 0) {
        note_damage(r, "not the header of a journal");
        return 0;
    }
    if (version > VERSION)
        return tg_error_set(err, TG_FAILED_PRECONDITION,
                            "the journal has version %llu, this release reads up to %d: go back to "
                            "the release that "
                            "wrote it, or drain the node and move the file away",
                            (unsigned long long)version, VERSION);
    return 0;
}

static bool checksum_fits(const char *line, size_t n)
{
    char wanted[CHECKSUM_DIGITS + 1];
    if (n < CHECKSUM_DIGITS + 1 || line[CHECKSUM_DIGITS] != ' ')
        return false;
    snprintf(wanted, sizeof(wanted), "%08x",
             tg_journal_checksum(line + CHECKSUM_DIGITS + 1, n - CHECKSUM_DIGITS - 1));
    return memcmp(line, wanted, CHECKSUM_DIGITS) == 0;
}

static void read_record(struct reading *r, char *line, size_t n)
{
    struct tg_error why = TG_ERROR_INIT;
    if (n > TG_JOURNAL_RECORD_MAX || !checksum_fits(line, n)) {
        note_damage(r, "the checksum does not fit");
        return;
    }
    line[n] = '\0'; /* in place of the line end */
    if (r->on_record(r->data, line + CHECKSUM_DIGITS + 1, n - CHECKSUM_DIGITS - 1, &why) < 0)
        note_damage(r, why.message);
    else
        r->state->records++;
}

static int read_lines(struct reading *r, char *data, size_t n, struct tg_error *err)
{
    size_t at = 0;
    while (at < n) {
        char *line = data + at;
        char *end = memchr(line, '\n', n - at);
        r->line++;
        if (end == NULL) {
            /* The header is written by one atomic replacement: half of it is no crash of ours. */
            if (r->line == 1)
                note_damage(r, "not the header of a journal");
            r->state->torn = true;
            return 0;
        }
        size_t length = (size_t)(end - line);
        int rc = r->line == 1 ? read_header(r, line, length, err) : 0;
        if (rc < 0)
            return rc;
        if (r->line > 1)
            read_record(r, line, length);
        at += length + 1;
    }
    if (n == 0)
        note_damage(r, "the file is empty");
    return 0;
}

int tg_journal_read(const char *path,
                    int (*on_record)(void *data, const char *payload, size_t n,
                                     struct tg_error *err),
                    void *data, struct tg_journal_state *ret, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(TG_JOURNAL_BYTES_MAX);
    struct reading r = {.on_record = on_record, .data = data, .state = ret};
    struct tg_error why = TG_ERROR_INIT;
    *ret = (struct tg_journal_state){0};
    int rc = tg_file_read(path, &content, &why);
    if (rc == -TG_NOT_FOUND) {
        ret->missing = true;
        return 0;
    }
    if (rc == -TG_RESOURCE_EXHAUSTED && content.failed) {
        note_damage(&r, why.message);
        return 0;
    }
    if (rc < 0) {
        if (err != NULL)
            *err = why;
        return rc;
    }
    rc = read_lines(&r, content.data, content.len, err);
    return rc < 0 && err != NULL ? tg_error_wrap(err, "%s", path) : rc;
}

/* A start that set the journal aside and crashed before it was replaced: the copy is there already.
 */
static bool is_same_file(const char *a, const char *b)
{
    struct stat left, right;
    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

int tg_journal_set_aside(const char *path, char *ret, size_t size, struct tg_prepare_crash *crash,
                         struct tg_error *err)
{
    int rc = tg_prepare_crash_check(crash, err);
    if (rc < 0)
        return rc;
    for (unsigned i = 1; i <= SET_ASIDE_MAX; i++) {
        TG_AUTOFREE char *aside = tg_xasprintf("%s.corrupt-%u", path, i);
        int number = link(path, aside) == 0 ? 0 : errno;
        if (number == 0 || (number == EEXIST && is_same_file(path, aside))) {
            snprintf(ret, size, "%s", aside);
            rc = tg_file_sync_folder_of(path, err);
            return rc < 0 ? rc : tg_prepare_crash_step(crash, err);
        }
        if (number != EEXIST)
            return tg_error_errno(err, number, "cannot keep the damaged journal as %s", aside);
    }
    return tg_error_set(err, TG_FAILED_PRECONDITION,
                        "%s: %d damaged journals are kept already: look at them, and remove them",
                        path, SET_ASIDE_MAX);
}

/* ---- writing ---- */

struct tg_journal *tg_journal_new(const char *path, struct tg_prepare_crash *crash)
{
    struct tg_journal *journal = tg_xcalloc(1, sizeof(*journal));
    journal->path = tg_xstrdup(path);
    journal->crash = crash;
    journal->fd = -1;
    return journal;
}

static void close_file(struct tg_journal *journal)
{
    if (journal->fd >= 0)
        close(journal->fd);
    journal->fd = -1;
}

void tg_journal_free(struct tg_journal *journal)
{
    if (journal == NULL)
        return;
    close_file(journal);
    free(journal->path);
    free(journal);
}

bool tg_journal_in_doubt(const struct tg_journal *journal)
{
    return journal->fd < 0;
}

size_t tg_journal_appended(const struct tg_journal *journal)
{
    return journal->appended;
}

static int write_and_sync(struct tg_journal *journal, const struct tg_buf *line,
                          struct tg_error *err)
{
    int rc = tg_file_write_all(journal->fd, line->data, line->len, err);
    if (rc < 0)
        return err == NULL ? rc : tg_error_wrap(err, "%s", journal->path);
    if (fdatasync(journal->fd) != 0)
        return tg_error_errno(err, errno, "cannot sync %s", journal->path);
    return 0;
}

int tg_journal_append(struct tg_journal *journal, const char *payload, size_t n,
                      struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf line = TG_BUF_INIT(TG_JOURNAL_RECORD_MAX + 16);
    assert(memchr(payload, '\n', n) == NULL);
    int rc = tg_prepare_crash_check(journal->crash, err);
    if (rc < 0)
        return rc;
    if (journal->fd < 0)
        return tg_error_set(err, TG_UNAVAILABLE, "%s: an earlier write failed", journal->path);
    tg_journal_format(&line, payload, n);
    if (line.failed)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s: a record of %zu bytes is too long",
                            journal->path, n);
    rc = write_and_sync(journal, &line, err);
    if (rc < 0) {
        /* Half a line, or a line that the disk may lose: nothing may follow it. */
        close_file(journal);
        return rc;
    }
    journal->appended++;
    return tg_prepare_crash_step(journal->crash, err);
}

int tg_journal_rewrite(struct tg_journal *journal, const struct tg_buf *content,
                       struct tg_error *err)
{
    int rc = tg_prepare_crash_check(journal->crash, err);
    if (rc < 0)
        return rc;
    if (content->failed)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "%s: the journal would be longer than %zu bytes", journal->path,
                            content->max);
    close_file(journal);
    rc = tg_file_write_atomic(journal->path, content->data, content->len, FILE_MODE, err);
    if (rc < 0)
        return rc;
    journal->fd = open(journal->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (journal->fd < 0)
        return tg_error_errno(err, errno, "cannot open %s", journal->path);
    journal->appended = 0;
    return tg_prepare_crash_step(journal->crash, err);
}

int tg_journal_remove(struct tg_journal *journal, struct tg_error *err)
{
    int rc = tg_prepare_crash_check(journal->crash, err);
    if (rc < 0)
        return rc;
    close_file(journal);
    rc = tg_file_remove(journal->path, err);
    return rc < 0 ? rc : tg_prepare_crash_step(journal->crash, err);
}
