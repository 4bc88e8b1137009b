/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/prepare/cdi.h"

#include <sys/stat.h>

#include "api/runtime/json/value.h"
#include "tests/unit/driver/fixture.h"

struct cdi_state {
    struct fixture *f;
    struct tg_cdi cdi;
    struct tg_claim_device devices[3];
    struct tg_claim_record record;
};

static int set_up(void **state)
{
    struct cdi_state *s = tg_xcalloc(1, sizeof(*s));
    s->f = fixture_new();
    assert_int_equal(tg_file_make_folders(s->f->cdi_folder, 0755, NULL), 0);
    s->cdi = (struct tg_cdi){.folder = s->f->cdi_folder, .driver = DRIVER};
    s->devices[0] = (struct tg_claim_device){.request = "big", .pool = NODE, .device = "gpu-3"};
    s->devices[1] = (struct tg_claim_device){.request = "small", .pool = NODE, .device = "gpu-0"};
    s->devices[2] = (struct tg_claim_device){.request = "big", .pool = NODE, .device = "gpu-1"};
    s->record = (struct tg_claim_record){
        .uid = "uid-a", .namespace_ = "ns", .name = "a", .devices = {s->devices, 3}};
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct cdi_state *s = *state;
    fixture_free(s->f);
    free(s);
    return 0;
}

static struct tg_json *render(struct cdi_state *s, struct tg_arena *arena)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(TG_CDI_BYTES_MAX);
    struct tg_json *document = NULL;
    assert_int_equal(tg_cdi_render(&s->cdi, &s->record, &s->f->devices, &text, NULL), 0);
    assert_int_equal(tg_json_parse(text.data, text.len, arena, &document, NULL), 0);
    return document;
}

static const char *env_of(const struct tg_json *device, const char *name)
{
    const struct tg_json *env = tg_json_get(tg_json_get(device, "containerEdits"), "env");
    assert_non_null(env);
    for (size_t i = 0; i < env->n; i++) {
        const char *line = tg_json_string(env->items[i]);
        if (tg_has_prefix(line, name) && line[strlen(name)] == '=')
            return line + strlen(name) + 1;
    }
    return NULL;
}

static const struct tg_json *devices_of(struct cdi_state *s, struct tg_arena *arena)
{
    const struct tg_json *devices = tg_json_get(render(s, arena), "devices");
    assert_non_null(devices);
    return devices;
}

static void a_document_has_one_device_a_result(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    const struct tg_json *document = render(*state, arena);
    const struct tg_json *devices = tg_json_get(document, "devices");
    assert_string_equal(tg_json_string(tg_json_get(document, "cdiVersion")), "0.6.0");
    assert_string_equal(tg_json_string(tg_json_get(document, "kind")), "k8s.gpu.tangram.dev/claim");
    assert_int_equal(devices->n, 3);
    assert_string_equal(tg_json_string(tg_json_get(devices->items[0], "name")), "uid-a_big_gpu-3");
    assert_string_equal(tg_json_string(tg_json_get(devices->items[1], "name")),
                        "uid-a_small_gpu-0");
    assert_string_equal(tg_json_string(tg_json_get(devices->items[2], "name")), "uid-a_big_gpu-1");
}

/* Whichever CDI device of the request is injected last. */
static void a_container_sees_all_devices_of_its_request_in_the_order_of_the_results(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    const struct tg_json *devices = devices_of(*state, arena);
    for (size_t i = 0; i <= 2; i += 2) {
        assert_string_equal(env_of(devices->items[i], "TANGRAM_DEVICES"), "gpu-3,gpu-1");
        assert_string_equal(env_of(devices->items[i], "TANGRAM_DEVICE_UUIDS"), "GPU-3,GPU-1");
    }
    assert_string_equal(env_of(devices->items[1], "TANGRAM_DEVICES"), "gpu-0");
}

/* Of one variable the last value wins, so no two devices may set the same one to different values.
 */
static void a_container_with_several_requests_sees_every_device_under_its_own_name(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    const struct tg_json *devices = devices_of(*state, arena);
    assert_string_equal(env_of(devices->items[0], "TANGRAM_DEVICE_GPU_3"), "GPU-3");
    assert_string_equal(env_of(devices->items[1], "TANGRAM_DEVICE_GPU_0"), "GPU-0");
    assert_string_equal(env_of(devices->items[2], "TANGRAM_DEVICE_GPU_1"), "GPU-1");
    assert_null(env_of(devices->items[0], "TANGRAM_DEVICE_GPU_1"));
    assert_null(env_of(devices->items[0], "TANGRAM_DEVICE_GPU_0"));
}

/* The kubelet reports health by name: a name that is there twice makes the pod's status invalid. */
static void no_two_results_have_the_same_name(void **state)
{
    struct cdi_state *s = *state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    static const struct tg_claim_device alike[] = {
        {.request = "a-b", .device = "c"},
        {.request = "a", .device = "b-c"},
        {.request = "a", .device = "c", .share_id = "1"},
        {.request = "a", .device = "c", .share_id = "2"},
    };
    for (size_t i = 0; i < TG_ARRAY_SIZE(alike); i++) {
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(tg_cdi_id(&s->cdi, "u", &alike[i], arena),
                                    tg_cdi_id(&s->cdi, "u", &alike[j], arena));
    }
}

static void two_shares_of_a_device_are_one_device_to_a_container(void **state)
{
    struct cdi_state *s = *state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    s->devices[0].share_id = "1";
    s->devices[2] = s->devices[0];
    s->devices[2].share_id = "2";
    assert_string_equal(env_of(devices_of(s, arena)->items[0], "TANGRAM_DEVICES"), "gpu-3");
}

static void the_id_is_that_of_the_document(void **state)
{
    struct cdi_state *s = *state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    const struct tg_json *devices = devices_of(s, arena);
    for (size_t i = 0; i < devices->n; i++) {
        const char *id = tg_cdi_id(&s->cdi, "uid-a", &s->devices[i], arena);
        assert_true(tg_has_prefix(id, "k8s.gpu.tangram.dev/claim="));
        assert_string_equal(strchr(id, '=') + 1,
                            tg_json_string(tg_json_get(devices->items[i], "name")));
    }
}

static void a_device_that_is_not_there_is_not_written(void **state)
{
    struct cdi_state *s = *state;
    struct tg_error err = TG_ERROR_INIT;
    bool written;
    s->devices[1].device = "gpu-77";
    assert_int_equal(tg_cdi_write(&s->cdi, &s->record, &s->f->devices, &written, &err),
                     -TG_NOT_FOUND);
    assert_true(err.retry);
    assert_non_null(strstr(err.message, "gpu-77"));
    assert_int_equal(fixture_count_files(s->f), 0);
}

static void a_document_that_is_right_is_not_written_again(void **state)
{
    struct cdi_state *s = *state;
    bool written;
    struct stat status;
    TG_AUTOFREE char *path = fixture_document(s->f, "uid-a");
    assert_int_equal(tg_cdi_write(&s->cdi, &s->record, &s->f->devices, &written, NULL), 0);
    assert_true(written);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777,
                     0644); /* the container runtime reads it, whoever it runs as */
    assert_int_equal(tg_cdi_write(&s->cdi, &s->record, &s->f->devices, &written, NULL), 0);
    assert_false(written);
    assert_int_equal(truncate(path, 5), 0);
    assert_int_equal(tg_cdi_write(&s->cdi, &s->record, &s->f->devices, &written, NULL), 0);
    assert_true(written);
}

struct met {
    size_t n, readable;
    struct tg_claim_record *wanted;
};

static int meet(void *data, const char *uid, const struct tg_claim_record *record,
                struct tg_error *err)
{
    struct met *met = data;
    (void)err;
    assert_true(strlen(uid) > 0);
    met->n++;
    met->readable += record != NULL;
    if (record != NULL)
        assert_true(tg_claim_record_equal(record, met->wanted));
    return 0;
}

static void a_document_carries_the_record_of_its_claim(void **state)
{
    struct cdi_state *s = *state;
    struct met met = {.wanted = &s->record};
    bool written;
    assert_int_equal(tg_cdi_write(&s->cdi, &s->record, &s->f->devices, &written, NULL), 0);
    assert_int_equal(tg_cdi_scan(&s->cdi, meet, &met, NULL), 0);
    assert_int_equal(met.n, 1);
    assert_int_equal(met.readable, 1);
}

static void put(struct cdi_state *s, const char *uid, const char *content)
{
    TG_AUTOFREE char *path = fixture_document(s->f, uid);
    assert_int_equal(tg_file_write_atomic(path, content, strlen(content), 0644, NULL), 0);
}

static void documents_that_are_not_ours_in_content_have_no_record(void **state)
{
    struct cdi_state *s = *state;
    struct met met = {.wanted = &s->record};
    put(s, "uid-1", "");
    put(s, "uid-2", "{}");
    put(s, "uid-3", "{\"annotations\":{\"tangram.dev/claim\":\"nonsense\"}}");
    put(s, "uid-4",
        "{\"annotations\":{\"tangram.dev/"
        "claim\":\"{\\\"uid\\\":\\\"uid-5\\\",\\\"namespace\\\":\\\"ns\\\","
        "\\\"name\\\":\\\"a\\\"}\"}}"); /* of another claim */
    put(s, "uid-6",
        "{\"annotations\":{\"tangram.dev/"
        "claim\":\"{\\\"uid\\\":\\\"uid-6\\\",\\\"namespace\\\":\\\"../x\\\","
        "\\\"name\\\":\\\"a\\\"}\"}}");
    assert_int_equal(tg_cdi_scan(&s->cdi, meet, &met, NULL), 0);
    assert_int_equal(met.n, 5);
    assert_int_equal(met.readable, 0);
}

static void a_document_of_unbounded_length_has_no_record(void **state)
{
    struct cdi_state *s = *state;
    struct met met = {.wanted = &s->record};
    TG_AUTOFREE char *path = fixture_document(s->f, "uid-a");
    put(s, "uid-a", "{}");
    assert_int_equal(truncate(path, (off_t)(TG_CDI_BYTES_MAX + 1)), 0);
    assert_int_equal(tg_cdi_scan(&s->cdi, meet, &met, NULL), 0);
    assert_int_equal(met.n, 1);
    assert_int_equal(met.readable, 0);
}

/* A disk that cannot be read says nothing about a claim: no reason to give its devices away. */
static void a_document_that_cannot_be_read_stops_the_scan(void **state)
{
    struct cdi_state *s = *state;
    struct met met = {.wanted = &s->record};
    TG_AUTOFREE char *path = fixture_document(s->f, "uid-a");
    assert_int_equal(mkdir(path, 0755), 0); /* reading a folder fails for every user */
    assert_true(tg_cdi_scan(&s->cdi, meet, &met, NULL) < 0);
    assert_int_equal(met.n, 0);
}

static void removing_what_is_not_there_is_success(void **state)
{
    struct cdi_state *s = *state;
    assert_int_equal(tg_cdi_remove(&s->cdi, "uid-a", NULL), 0);
    put(s, "uid-a", "{}");
    assert_int_equal(tg_cdi_remove(&s->cdi, "uid-a", NULL), 0);
    assert_int_equal(fixture_count_files(s->f), 0);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest cdi[] = {
        WITH(a_document_has_one_device_a_result),
        WITH(a_container_sees_all_devices_of_its_request_in_the_order_of_the_results),
        WITH(a_container_with_several_requests_sees_every_device_under_its_own_name),
        WITH(no_two_results_have_the_same_name),
        WITH(two_shares_of_a_device_are_one_device_to_a_container),
        WITH(the_id_is_that_of_the_document),
        WITH(a_device_that_is_not_there_is_not_written),
        WITH(a_document_that_is_right_is_not_written_again),
        WITH(a_document_carries_the_record_of_its_claim),
        WITH(documents_that_are_not_ours_in_content_have_no_record),
        WITH(a_document_of_unbounded_length_has_no_record),
        WITH(a_document_that_cannot_be_read_stops_the_scan),
        WITH(removing_what_is_not_there_is_success),
    };
    return cmocka_run_group_tests(cdi, NULL, NULL);
}
