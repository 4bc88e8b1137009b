/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubernetes/values/protobuf_splice.h"
#include "api/runtime/base/cleanup.h"

#define FINALIZER "resource.kubernetes.io/delete-protection"

/* A field of bytes with a tag of one byte. */
static void put_field(struct tg_buf *out, unsigned number, const void *p, size_t n)
{
    tg_buf_append_char(out, (char)(number << 3 | 2));
    if (n >= 0x80)
        tg_buf_append_char(out, (char)(n | 0x80));
    tg_buf_append_char(out, (char)(n >= 0x80 ? n >> 7 : n));
    tg_buf_append(out, p, n);
}

static void put_text(struct tg_buf *out, unsigned number, const char *s)
{
    put_field(out, number, s, strlen(s));
}

static void put_annotation(struct tg_buf *out, const char *key, const char *value)
{
    struct tg_buf entry TG_AUTOBUF = TG_BUF_INIT(1000);

    put_text(&entry, 1, key);
    put_text(&entry, 2, value);
    put_field(out, 12, entry.data, entry.len);
}

/* The envelope around a metadata message, with things of all wire types around it that must
 * survive. */
static void put_object(struct tg_buf *out, const struct tg_buf *metadata)
{
    static const char type_meta[] = "\n\x02v1\x12\x0dResourceClaim";
    struct tg_buf raw TG_AUTOBUF = TG_BUF_INIT(10000);

    if (metadata != NULL)
        put_field(&raw, 1, metadata->data, metadata->len);
    put_text(&raw, 2, "the spec { \"a\" : 1 }");
    tg_buf_append(&raw, "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11); /* field 3, varint */
    tg_buf_append(&raw, "\x21\x01\x02\x03\x04\x05\x06\x07\x08", 9);          /* field 4, 64 bits */
    tg_buf_append(&raw, "\x2d\x01\x02\x03\x04", 5);                          /* field 5, 32 bits */
    tg_buf_append(&raw, "\x82\x7d\x80\x00", 4); /* field 2000, a length of two bytes */
    tg_buf_append(out, "k8s\0", 4);
    put_field(out, 1, type_meta, sizeof(type_meta) - 1);
    put_field(out, 2, raw.data, raw.len);
    put_text(out, 3, "");
    put_text(out, 4, "");
    put_text(out, 9, "unknown");
}

static void put_common(struct tg_buf *metadata)
{
    put_text(metadata, 1, "claim");
    put_text(metadata, 3, "ns");
    put_text(metadata, 5, "uid-1");
    put_text(metadata, 6, "4711");
}

static void assert_spliced(const struct tg_buf *metadata, const struct tg_metadata_edit *edits,
                           size_t n, const struct tg_buf *wanted)
{
    struct tg_buf in TG_AUTOBUF = TG_BUF_INIT(100000);
    struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(100000);
    struct tg_buf expected TG_AUTOBUF = TG_BUF_INIT(100000);
    struct tg_error err = TG_ERROR_INIT;

    put_object(&in, metadata);
    put_object(&expected, wanted);
    if (tg_protobuf_splice_metadata((const uint8_t *)in.data, in.len, edits, n, &out, &err) != 0)
        fail_msg("%s", err.message);
    assert_int_equal(out.len, expected.len);
    assert_memory_equal(out.data, expected.data, out.len);
}

static void test_additions_go_where_go_writes_them(void **state)
{
    struct tg_buf before TG_AUTOBUF = TG_BUF_INIT(10000);
    struct tg_buf after TG_AUTOBUF = TG_BUF_INIT(10000);
    const struct tg_metadata_edit edits[] = {
        {TG_METADATA_ADD_FINALIZER, FINALIZER, NULL},
        {TG_METADATA_SET_ANNOTATION, "tangram.dev/epoch", "12"},
    };

    (void)state;
    put_common(&before);
    put_annotation(&before, "a", "b");
    put_text(&before, 13, "an owner reference");
    put_text(&before, 14, "other/finalizer");
    put_text(&before, 15, "managed fields");
    put_common(&after);
    put_annotation(&after, "a", "b");
    put_annotation(&after, "tangram.dev/epoch", "12");
    put_text(&after, 13, "an owner reference");
    put_text(&after, 14, "other/finalizer");
    put_text(&after, 14, FINALIZER);
    put_text(&after, 15, "managed fields");
    assert_spliced(&before, edits, 2, &after);
    /* Done again it changes nothing. */
    assert_spliced(&after, edits, 2, &after);
}

static void test_a_finalizer_stays_the_last_one_behind_fields_of_larger_numbers(void **state)
{
    struct tg_buf before TG_AUTOBUF = TG_BUF_INIT(10000);
    struct tg_buf after TG_AUTOBUF = TG_BUF_INIT(10000);
    const struct tg_metadata_edit edit = {TG_METADATA_ADD_FINALIZER, FINALIZER, NULL};

    (void)state;
    put_text(&before, 15, "a field in front");
    put_text(&before, 14, "other/finalizer");
    put_text(&before, 15, "a field behind");
    put_text(&after, 15, "a field in front");
    put_text(&after, 14, "other/finalizer");
    put_text(&after, 14, FINALIZER);
    put_text(&after, 15, "a field behind");
    assert_spliced(&before, &edit, 1, &after);
}

static void test_of_repeated_keys_and_values_in_an_annotation_the_last_counts(void **state)
{
    struct tg_buf entry TG_AUTOBUF = TG_BUF_INIT(1000);
    struct tg_buf before TG_AUTOBUF = TG_BUF_INIT(10000);
    struct tg_buf after TG_AUTOBUF = TG_BUF_INIT(10000);
    const struct tg_metadata_edit other = {TG_METADATA_REMOVE_ANNOTATION, "first", NULL};
    const struct tg_metadata_edit same = {TG_METADATA_SET_ANNOTATION, "key", "value"};
    const struct tg_metadata_edit removal = {TG_METADATA_REMOVE_ANNOTATION, "key", NULL};

    (void)state;
    put_text(&entry, 2, "old");
    put_text(&entry, 1, "first");
    put_text(&entry, 2, "value");
    put_text(&entry, 1, "key");
    put_common(&before);
    put_field(&before, 12, entry.data, entry.len);
    put_common(&after);
    assert_spliced(&before, &other, 1, &before);
    assert_spliced(&before, &same, 1, &before);
    assert_spliced(&before, &removal, 1, &after);
}

static void test_an_annotation_is_replaced_in_its_place(void **state)
{
    struct tg_buf before TG_AUTOBUF = TG_BUF_INIT(10000);
    struct tg_buf after TG_AUTOBUF = TG_BUF_INIT(10000);
    const struct tg_metadata_edit edits[] = {{TG_METADATA_SET_ANNOTATION, "k", "a longer value"},
                                             {TG_METADATA_SET_ANNOTATION, "empty", ""}};

    (void)state;
    put_annotation(&before, "k", "v");
    put_annotation(&before, "kk", "v");
    put_annotation(&before, "k", "twice");
    put_text(&before, 12,
             "\n\x05"
             "empty"); /* an entry without a value has the empty one */
    put_common(&before);
    put_annotation(&after, "k", "a longer value");
    put_annotation(&after, "kk", "v");
    put_text(&after, 12,
             "\n\x05"
             "empty");
    put_common(&after);
    assert_spliced(&before, edits, 2, &after);
}

static void test_removals_take_every_occurrence_and_nothing_else(void **state)
{
    struct tg_buf before TG_AUTOBUF = TG_BUF_INIT(10000);
    struct tg_buf after TG_AUTOBUF = TG_BUF_INIT(10000);
    const struct tg_metadata_edit edits[] = {{TG_METADATA_REMOVE_FINALIZER, FINALIZER, NULL},
                                             {TG_METADATA_REMOVE_ANNOTATION, "k", NULL}};

    (void)state;
    put_annotation(&before, "k", "v");
    put_text(&before, 14, FINALIZER);
    put_annotation(&before, "k2", "k");
    put_annotation(&before, "k", "w");
    put_text(&before, 14, FINALIZER "x");
    put_text(&before, 14, FINALIZER);
    put_annotation(&after, "k2", "k");
    put_text(&after, 14, FINALIZER "x");
    assert_spliced(&before, edits, 2, &after);
    assert_spliced(&after, edits, 2, &after);
    assert_spliced(&after, NULL, 0, &after);
}

static void test_metadata_is_made_when_there_is_none(void **state)
{
    struct tg_buf none TG_AUTOBUF = TG_BUF_INIT(10);
    struct tg_buf after TG_AUTOBUF = TG_BUF_INIT(10000);
    const struct tg_metadata_edit add = {TG_METADATA_ADD_FINALIZER, FINALIZER, NULL};
    const struct tg_metadata_edit remove = {TG_METADATA_REMOVE_FINALIZER, FINALIZER, NULL};

    (void)state;
    put_text(&after, 14, FINALIZER);
    assert_spliced(NULL, &add, 1, &after);
    assert_spliced(NULL, &remove, 1, NULL);
    assert_spliced(&none, &add, 1, &after);
    assert_spliced(&after, &remove, 1, &none);
}

static void test_metadata_is_read(void **state)
{
    struct tg_buf metadata TG_AUTOBUF = TG_BUF_INIT(1000);
    struct tg_buf in TG_AUTOBUF = TG_BUF_INIT(10000);
    struct tg_buf empty TG_AUTOBUF = TG_BUF_INIT(10000);
    char out[8];

    (void)state;
    put_common(&metadata);
    put_object(&in, &metadata);
    put_object(&empty, NULL);
    assert_int_equal(
        tg_protobuf_metadata_resource_version((uint8_t *)in.data, in.len, out, sizeof(out), NULL),
        0);
    assert_string_equal(out, "4711");
    assert_int_equal(tg_protobuf_metadata_get((uint8_t *)in.data, in.len, TG_METADATA_UID, out,
                                              sizeof(out), NULL),
                     0);
    assert_string_equal(out, "uid-1");
    assert_int_equal(
        tg_protobuf_metadata_get((uint8_t *)in.data, in.len, TG_METADATA_UID, out, 5, NULL),
        -TG_INVALID_ARGUMENT);
    assert_int_equal(tg_protobuf_metadata_resource_version((uint8_t *)empty.data, empty.len, out,
                                                           sizeof(out), NULL),
                     -TG_NOT_FOUND);
}

static void assert_refused(const struct tg_buf *in, const char *message)
{
    const struct tg_metadata_edit edit = {TG_METADATA_SET_ANNOTATION, "k", "v"};
    struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(100000);
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(
        tg_protobuf_splice_metadata((const uint8_t *)in->data, in->len, &edit, 1, &out, &err),
        -TG_INVALID_ARGUMENT);
    if (strstr(err.message, message) == NULL)
        fail_msg("\"%s\", wanted \"%s\"", err.message, message);
    assert_int_equal(out.len, 0);
}

static void test_hostile_messages_are_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *message;
    } cases[] = {
        {"", 0, "does not begin with"},
        {"k8s", 3, "does not begin with"},
        {"{}  ", 4, "does not begin with"},
        {"k8s\0", 4, "it has no content"},
        {"k8s\0\x12", 5, "it is cut short"},
        {"k8s\0\x12\x05"
         "a",
         7, "it is cut short"},
        {"k8s\0\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 15, "it is cut short"},
        {"k8s\0\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 15, "it is cut short"},
        {"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 15, "a bad field tag"},
        {"k8s\0\x02\x00", 6, "a bad field tag"},
        {"k8s\0\x12\x00\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 17, "it is cut short"},
        {"k8s\0\x13\x14", 6, "unknown wire type"},
        {"k8s\0\x10\x05", 6, "wrong wire type"},
        {"k8s\0\x12\x00\x12\x00", 8, "stands twice"},
        {"k8s\0\x12\x00\x1a\x04gzip", 12, "content is encoded"},
        {"k8s\0\x12\x00\x22\x04json", 12, "of another type"},
        {"k8s\0\x12\x04\x0a\x00\x0a\x00", 10, "stands twice"},
        {"k8s\0\x12\x02\x08\x00", 8, "wrong wire type"},
        {"k8s\0\x12\x04\x0a\x02\x60\x01", 10, "wrong wire type"},
        {"k8s\0\x12\x06\x0a\x04\x62\x02\x0a\x05", 12, "it is cut short"},
        {"k8s\0\x12\x06\x0a\x04\x62\x02\x08\x05", 12, "wrong wire type"},
        {"k8s\0\x12\x04\x0a\x02\x0d\x01", 10, "it is cut short"},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_buf in TG_AUTOBUF = TG_BUF_INIT(1000);

        tg_buf_append(&in, cases[i].bytes, cases[i].n);
        assert_refused(&in, cases[i].message);
    }
}

static void test_no_cut_of_an_object_is_accepted_or_read_beyond(void **state)
{
    struct tg_buf metadata TG_AUTOBUF = TG_BUF_INIT(1000);
    struct tg_buf in TG_AUTOBUF = TG_BUF_INIT(10000);
    const struct tg_metadata_edit edit = {TG_METADATA_SET_ANNOTATION, "k", "v"};
    size_t accepted = 0;

    (void)state;
    put_common(&metadata);
    put_annotation(&metadata, "a", "b");
    put_object(&in, &metadata);
    for (size_t n = 0; n < in.len; n++) {
        struct tg_buf cut TG_AUTOBUF =
            TG_BUF_INIT(n + 1); /* of its own, so that a sanitizer sees a read beyond it */
        struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(100000);

        tg_buf_append(&cut, in.data, n);
        accepted +=
            tg_protobuf_splice_metadata((const uint8_t *)cut.data, n, &edit, 1, &out, NULL) == 0;
    }
    /* After raw, and after each whole field behind it. */
    assert_int_equal(accepted, 3);
}

static void test_the_cap_of_the_output_holds(void **state)
{
    struct tg_buf in TG_AUTOBUF = TG_BUF_INIT(10000);
    struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(60);
    const struct tg_metadata_edit edit = {TG_METADATA_SET_ANNOTATION, "k", "v"};
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    put_object(&in, NULL);
    assert_int_equal(
        tg_protobuf_splice_metadata((const uint8_t *)in.data, in.len, &edit, 1, &out, &err),
        -TG_RESOURCE_EXHAUSTED);
    assert_string_equal(err.message, "the object is larger than 60 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_additions_go_where_go_writes_them),
        cmocka_unit_test(test_a_finalizer_stays_the_last_one_behind_fields_of_larger_numbers),
        cmocka_unit_test(test_of_repeated_keys_and_values_in_an_annotation_the_last_counts),
        cmocka_unit_test(test_an_annotation_is_replaced_in_its_place),
        cmocka_unit_test(test_removals_take_every_occurrence_and_nothing_else),
        cmocka_unit_test(test_metadata_is_made_when_there_is_none),
        cmocka_unit_test(test_metadata_is_read),
        cmocka_unit_test(test_hostile_messages_are_refused),
        cmocka_unit_test(test_no_cut_of_an_object_is_accepted_or_read_beyond),
        cmocka_unit_test(test_the_cap_of_the_output_holds),
    };

    return cmocka_run_group_tests_name("protobuf_splice", tests, NULL, NULL);
}
