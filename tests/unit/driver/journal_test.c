/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/prepare/journal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "tests/unit/driver/sandbox.h"

#define RECORDS_MAX 64

/* What was read, in order. */
struct found {
    char text[RECORDS_MAX][128];
    size_t n;
    const char *refuse; /* a payload that the owner does not accept */
};

static int collect(void *data, const char *payload, size_t n, struct tg_error *err)
{
    struct found *found = data;
    if (found->refuse != NULL && strcmp(payload, found->refuse) == 0)
        return tg_error_set(err, TG_DATA_LOSS, "not for me");
    assert_true(found->n < RECORDS_MAX);
    assert_int_equal(strlen(payload), n);
    snprintf(found->text[found->n++], sizeof(found->text[0]), "%s", payload);
    return 0;
}

static char path[512];

static int set_up(void **state)
{
    struct sandbox *sandbox = sandbox_new();
    snprintf(path, sizeof(path), "%s/journal", sandbox->folder);
    *state = sandbox;
    return 0;
}

static int tear_down(void **state)
{
    sandbox_free(*state);
    return 0;
}

/* A journal file with these payloads, made by the journal itself: half at once, half appended. */
static void write_journal(const char *const *payloads, size_t n)
{
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(TG_JOURNAL_BYTES_MAX);
    struct tg_journal *journal = tg_journal_new(path, NULL);
    tg_journal_format_header(&content);
    for (size_t i = 0; i < n / 2; i++)
        tg_journal_format(&content, payloads[i], strlen(payloads[i]));
    assert_int_equal(tg_journal_rewrite(journal, &content, NULL), 0);
    for (size_t i = n / 2; i < n; i++)
        assert_int_equal(tg_journal_append(journal, payloads[i], strlen(payloads[i]), NULL), 0);
    tg_journal_free(journal);
}

static void write_raw(const char *data, size_t n)
{
    assert_int_equal(tg_file_write_atomic(path, data, n, 0600, NULL), 0);
}

static const char *const four[] = {"{\"op\":\"a\"}", "{\"op\":\"b\",\"uid\":\"1\"}", "{}",
                                   "{\"op\":\"c\"}"};

static void what_was_written_is_read_back_in_order(void **state)
{
    (void)state;
    struct found found = {.n = 0};
    struct tg_journal_state read;
    write_journal(four, 4);
    assert_int_equal(tg_journal_read(path, collect, &found, &read, NULL), 0);
    assert_int_equal(found.n, 4);
    assert_int_equal(read.records, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(found.text[i], four[i]);
    assert_false(read.missing || read.torn);
    assert_string_equal(read.damage, "");
}

static void the_checksum_is_crc32c(void **state)
{
    (void)state;
    unsigned char zeros[32] = {0};
    assert_int_equal(tg_journal_checksum("123456789", 9),
                     0xe3069283); /* RFC 3720, B.4, and the usual check value */
    assert_int_equal(tg_journal_checksum(zeros, sizeof(zeros)), 0x8a9136aa);
    assert_int_equal(tg_journal_checksum("", 0), 0);
}

static void a_missing_file_is_told_and_is_no_damage(void **state)
{
    (void)state;
    struct found found = {.n = 0};
    struct tg_journal_state read;
    assert_int_equal(tg_journal_read(path, collect, &found, &read, NULL), 0);
    assert_true(read.missing);
    assert_string_equal(read.damage, "");
}

/* A crash while a record is written leaves any part of it. */
static void a_journal_cut_anywhere_keeps_every_whole_record(void **state)
{
    (void)state;
    TG_AUTOBUF struct tg_buf whole = TG_BUF_INIT(1 << 20);
    write_journal(four, 4);
    assert_int_equal(tg_file_read(path, &whole, NULL), 0);
    size_t header = (size_t)(strchr(whole.data, '\n') - whole.data) + 1;
    for (size_t cut = header; cut < whole.len; cut++) {
        struct found found = {.n = 0};
        struct tg_journal_state read;
        size_t complete = 0;
        for (size_t i = header; i < cut; i++)
            complete += whole.data[i] == '\n';
        write_raw(whole.data, cut);
        assert_int_equal(tg_journal_read(path, collect, &found, &read, NULL), 0);
        assert_int_equal(found.n, complete);
        assert_int_equal(read.torn, whole.data[cut - 1] != '\n');
        assert_string_equal(read.damage, "");
    }
}

/* Power loss may leave the length of a file and not its bytes. */
static void a_tail_of_zeros_is_half_a_record(void **state)
{
    (void)state;
    TG_AUTOBUF struct tg_buf whole = TG_BUF_INIT(1 << 20);
    struct found found = {.n = 0};
    struct tg_journal_state read;
    char zeros[100] = {0};
    write_journal(four, 4);
    assert_int_equal(tg_file_read(path, &whole, NULL), 0);
    assert_int_equal(tg_buf_append(&whole, zeros, sizeof(zeros)), 0);
    write_raw(whole.data, whole.len);
    assert_int_equal(tg_journal_read(path, collect, &found, &read, NULL), 0);
    assert_int_equal(found.n, 4);
    assert_true(read.torn);
    assert_string_equal(read.damage, "");
}

static void each_changed_byte_is_noticed_and_costs_one_record_at_most(void **state)
{
    (void)state;
    TG_AUTOBUF struct tg_buf whole = TG_BUF_INIT(1 << 20);
    write_journal(four, 4);
    assert_int_equal(tg_file_read(path, &whole, NULL), 0);
    size_t header = (size_t)(strchr(whole.data, '\n') - whole.data) + 1;
    for (size_t i = header; i < whole.len; i++) {
        struct found found = {.n = 0};
        struct tg_journal_state read;
        bool line_end = whole.data[i] == '\n';
        whole.data[i] = (char)(whole.data[i] ^ 1);
        write_raw(whole.data, whole.len);
        assert_int_equal(tg_journal_read(path, collect, &found, &read, NULL), 0);
        assert_true(read.damage[0] != '\0' || read.torn);
        assert_true(found.n >= (line_end ? 2 : 3)); /* without its end a line swallows the next */
        whole.data[i] = (char)(whole.data[i] ^ 1);
    }
}

static void records_behind_damage_are_still_read(void **state)
{
    (void)state;
    TG_AUTOBUF struct tg_buf whole = TG_BUF_INIT(1 << 20);
    struct found found = {.n = 0};
    struct tg_journal_state read;
    write_journal(four, 4);
    assert_int_equal(tg_file_read(path, &whole, NULL), 0);
    char *second = strstr(whole.data, four[1]);
    assert_non_null(second);
    second[3] = 'X';
    write_raw(whole.data, whole.len);
    assert_int_equal(tg_journal_read(path, collect, &found, &read, NULL), 0);
    assert_int_equal(found.n, 3);
    assert_string_equal(found.text[1], four[2]);
    assert_string_equal(read.damage, "line 3: the checksum does not fit");
}

static void a_record_that_the_owner_refuses_is_damage(void **state)
{
    (void)state;
    struct found found = {.n = 0, .refuse = four[2]};
    struct tg_journal_state read;
    write_journal(four, 4);
    assert_int_equal(tg_journal_read(path, collect, &found, &read, NULL), 0);
    assert_int_equal(found.n, 3);
    assert_string_equal(read.damage, "line 4: not for me");
}

static void an_empty_file_and_a_foreign_one_are_damage(void **state)
{
    (void)state;
    static const char *const contents[] = {"",
                                           "hello\n",
                                           "tangram-journal\n",
                                           "tangram-journal 0\n",
                                           "tangram-journal x\n",
                                           "tangram-jour"};
    for (size_t i = 0; i < TG_ARRAY_SIZE(contents); i++) {
        struct found found = {.n = 0};
        struct tg_journal_state read;
        write_raw(contents[i], strlen(contents[i]));
        assert_int_equal(tg_journal_read(path, collect, &found, &read, NULL), 0);
        assert_string_not_equal(read.damage, "");
        assert_int_equal(found.n, 0);
    }
}

static void records_behind_a_damaged_header_are_still_read(void **state)
{
    (void)state;
    TG_AUTOBUF struct tg_buf whole = TG_BUF_INIT(1 << 20);
    struct found found = {.n = 0};
    struct tg_journal_state read;
    write_journal(four, 4);
    assert_int_equal(tg_file_read(path, &whole, NULL), 0);
    whole.data[0] = 'T';
    write_raw(whole.data, whole.len);
    assert_int_equal(tg_journal_read(path, collect, &found, &read, NULL), 0);
    assert_int_equal(found.n, 4);
    assert_string_equal(read.damage, "line 1: not the header of a journal");
}

static void a_journal_of_a_newer_format_is_refused(void **state)
{
    (void)state;
    struct found found = {.n = 0};
    struct tg_journal_state read;
    struct tg_error err = TG_ERROR_INIT;
    write_raw("tangram-journal 2\nwhatever\n", 27);
    assert_int_equal(tg_journal_read(path, collect, &found, &read, &err), -TG_FAILED_PRECONDITION);
    assert_non_null(strstr(err.message, "version 2"));
    assert_non_null(strstr(err.message, path));
}

static void a_record_longer_than_any_of_ours_is_damage(void **state)
{
    (void)state;
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(1 << 20);
    struct found found = {.n = 0};
    struct tg_journal_state read;
    static char long_one[TG_JOURNAL_RECORD_MAX + 1];
    memset(long_one, 'x', sizeof(long_one));
    tg_journal_format_header(&content);
    tg_journal_format(&content, long_one, sizeof(long_one));
    tg_journal_format(&content, four[0], strlen(four[0]));
    write_raw(content.data, content.len);
    assert_int_equal(tg_journal_read(path, collect, &found, &read, NULL), 0);
    assert_int_equal(found.n, 1);
    assert_string_not_equal(read.damage, "");
}

static void a_record_that_is_too_long_is_not_written(void **state)
{
    (void)state;
    struct found found = {.n = 0};
    struct tg_journal_state read;
    static char long_one[TG_JOURNAL_RECORD_MAX + 100];
    memset(long_one, 'x', sizeof(long_one));
    write_journal(four, 4);
    struct tg_journal *journal = tg_journal_new(path, NULL);
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(1 << 20);
    tg_journal_format_header(&content);
    assert_int_equal(tg_journal_rewrite(journal, &content, NULL), 0);
    assert_int_equal(tg_journal_append(journal, long_one, sizeof(long_one), NULL),
                     -TG_RESOURCE_EXHAUSTED);
    assert_int_equal(tg_journal_append(journal, four[0], strlen(four[0]), NULL), 0);
    tg_journal_free(journal);
    assert_int_equal(tg_journal_read(path, collect, &found, &read, NULL), 0);
    assert_int_equal(found.n, 1);
}

static void setting_aside_keeps_the_original_in_place_and_never_overwrites(void **state)
{
    (void)state;
    char aside[600], wanted[600];
    struct stat status;
    for (int i = 1; i <= 3; i++) {
        write_raw("rubbish\n", 8);
        assert_int_equal(tg_journal_set_aside(path, aside, sizeof(aside), NULL, NULL), 0);
        snprintf(wanted, sizeof(wanted), "%s.corrupt-%d", path, i);
        assert_string_equal(aside, wanted);
        assert_int_equal(stat(aside, &status), 0);
        assert_int_equal(status.st_size, 8);
        assert_int_equal(stat(path, &status), 0);
    }
}

static void a_journal_that_was_set_aside_before_a_crash_is_not_set_aside_again(void **state)
{
    (void)state;
    char first[600], second[600];
    write_raw("rubbish\n", 8);
    assert_int_equal(tg_journal_set_aside(path, first, sizeof(first), NULL, NULL), 0);
    assert_int_equal(tg_journal_set_aside(path, second, sizeof(second), NULL, NULL), 0);
    assert_string_equal(first, second);
}

static void nothing_is_appended_before_the_first_rewrite(void **state)
{
    (void)state;
    struct tg_journal *journal = tg_journal_new(path, NULL);
    assert_true(tg_journal_in_doubt(journal));
    assert_int_equal(tg_journal_append(journal, "{}", 2, NULL), -TG_UNAVAILABLE);
    assert_int_equal(access(path, F_OK), -1);
    tg_journal_free(journal);
}

static void appends_are_counted_from_the_last_rewrite(void **state)
{
    (void)state;
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(1 << 20);
    struct tg_journal *journal = tg_journal_new(path, NULL);
    tg_journal_format_header(&content);
    assert_int_equal(tg_journal_rewrite(journal, &content, NULL), 0);
    assert_int_equal(tg_journal_append(journal, "{}", 2, NULL), 0);
    assert_int_equal(tg_journal_append(journal, "{}", 2, NULL), 0);
    assert_int_equal(tg_journal_appended(journal), 2);
    assert_int_equal(tg_journal_rewrite(journal, &content, NULL), 0);
    assert_int_equal(tg_journal_appended(journal), 0);
    assert_false(tg_journal_in_doubt(journal));
    tg_journal_free(journal);
}

/* A rewrite that cannot be done leaves the old content, and no append may follow a write that
 * failed. */
static void after_a_failed_rewrite_nothing_is_appended(void **state)
{
    (void)state;
    TG_AUTOBUF struct tg_buf too_long = TG_BUF_INIT(4);
    struct found found = {.n = 0};
    struct tg_journal_state read;
    write_journal(four, 4);
    struct tg_journal *journal = tg_journal_new(path, NULL);
    (void)tg_buf_append_str(&too_long, "more than four");
    assert_int_equal(tg_journal_rewrite(journal, &too_long, NULL), -TG_RESOURCE_EXHAUSTED);
    assert_true(tg_journal_in_doubt(journal));
    assert_int_equal(tg_journal_append(journal, "{}", 2, NULL), -TG_UNAVAILABLE);
    tg_journal_free(journal);
    assert_int_equal(tg_journal_read(path, collect, &found, &read, NULL), 0);
    assert_int_equal(found.n, 4);
}

/* A full disk cuts a record: whatever followed would be glued to its first half. */
static void after_half_a_record_nothing_is_appended_until_a_rewrite(void **state)
{
    (void)state;
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(1 << 20);
    struct tg_journal *journal = tg_journal_new(path, NULL);
    struct found found = {.n = 0};
    struct tg_journal_state read;
    struct stat status;
    tg_journal_format_header(&content);
    tg_journal_format(&content, four[0], strlen(four[0]));
    assert_int_equal(tg_journal_rewrite(journal, &content, NULL), 0);
    sandbox_limit_files(content.len + 5);
    assert_true(tg_journal_append(journal, four[1], strlen(four[1]), NULL) < 0);
    sandbox_limit_files(RLIM_INFINITY);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, content.len + 5);
    assert_true(tg_journal_in_doubt(journal));
    assert_int_equal(tg_journal_append(journal, four[2], strlen(four[2]), NULL), -TG_UNAVAILABLE);
    assert_int_equal(tg_journal_rewrite(journal, &content, NULL), 0);
    assert_int_equal(tg_journal_append(journal, four[3], strlen(four[3]), NULL), 0);
    tg_journal_free(journal);
    assert_int_equal(tg_journal_read(path, collect, &found, &read, NULL), 0);
    assert_int_equal(found.n, 2);
    assert_string_equal(read.damage, "");
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest journal[] = {
        WITH(what_was_written_is_read_back_in_order),
        WITH(the_checksum_is_crc32c),
        WITH(a_missing_file_is_told_and_is_no_damage),
        WITH(a_journal_cut_anywhere_keeps_every_whole_record),
        WITH(a_tail_of_zeros_is_half_a_record),
        WITH(each_changed_byte_is_noticed_and_costs_one_record_at_most),
        WITH(records_behind_damage_are_still_read),
        WITH(a_record_that_the_owner_refuses_is_damage),
        WITH(an_empty_file_and_a_foreign_one_are_damage),
        WITH(records_behind_a_damaged_header_are_still_read),
        WITH(a_journal_of_a_newer_format_is_refused),
        WITH(a_record_longer_than_any_of_ours_is_damage),
        WITH(a_record_that_is_too_long_is_not_written),
        WITH(setting_aside_keeps_the_original_in_place_and_never_overwrites),
        WITH(a_journal_that_was_set_aside_before_a_crash_is_not_set_aside_again),
        WITH(nothing_is_appended_before_the_first_rewrite),
        WITH(appends_are_counted_from_the_last_rewrite),
        WITH(after_a_failed_rewrite_nothing_is_appended),
        WITH(after_half_a_record_nothing_is_appended_until_a_rewrite),
    };
    return cmocka_run_group_tests(journal, NULL, NULL);
}
