/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gRPC clients of this folder talk to: `interop_server FOLDER` serves in FOLDER (which
 * exists and is empty) plugin/dra.sock   the kubelet plugin's services over the sim provider
 *   test.sock         the service tangram.test.Wire: methods for what DRA calls cannot show
 * and the plugin's registration in registry/. Prints "ready" when all are there; SIGTERM ends it.
 * Claims are made up: "gpu-N" is allocated the device at position N, another name the device of
 * that name, which there is not; no API server is asked.
 */
#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "kubelet-plugin/dra_service.h"
#include "kubelet-plugin/registration.h"

#define DRIVER "gpu.tangram.dev"
#define NODE "node-a"
#define BYTES_MAX ((uint64_t)64 << 20)

struct bench {
    const char *folder;
    struct tg_loop *loop;
    struct tg_device_worker *devices;
    int started; /* 1: yes, -1: failed */
    struct tg_claims *claims;
    struct tg_health_stream *health;
    struct tg_dra_service *service;
    struct tg_registration *registration;
    struct tg_grpc_server *wire;
    uint64_t waiting, cancelled; /* calls of Wait */
    bool contained;              /* in a PID namespace of its own, as in a container */
    struct tg_signal term;
};

static char *path_in(const struct bench *bench, const char *name)
{
    return tg_xasprintf("%s/%s", bench->folder, name);
}

/* --- claims --- */

struct reading {
    struct bench *bench;
    struct tg_deferred deferred;
    char *name;
    void (*done)(void *data, const char *json, size_t n, const struct tg_error *err);
    void *data;
};

static void reading_free(struct reading *reading)
{
    free(reading->name);
    free(reading);
}

/* Names of devices are made of their UUIDs. */
static const char *device_of(const struct bench *bench, const char *claim)
{
    const struct tg_device_set *set = tg_device_worker_devices(bench->devices);
    uint64_t position;

    if (tg_has_prefix(claim, "gpu-") &&
        tg_parse_u64(claim + 4, strlen(claim + 4), &position) == 0 && position < set->devices.n)
        return set->devices.items[position].device.name;
    return claim;
}

static void on_read(struct tg_deferred *deferred)
{
    struct reading *reading = deferred->data;
    TG_AUTOFREE char *json = tg_xasprintf(
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"uid-%s\"},"
        "\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":"
        "\"" DRIVER "\",\"pool\":\"" NODE "\",\"device\":\"%s\"}]}}}}",
        reading->name, reading->name, device_of(reading->bench, reading->name));

    reading->done(reading->data, json, strlen(json), NULL);
    reading_free(reading);
}

static void *get_claim(void *data, const char *namespace_, const char *name,
                       void (*done)(void *done_data, const char *json, size_t n,
                                    const struct tg_error *err),
                       void *done_data)
{
    struct bench *bench = data;
    struct reading *reading = tg_xcalloc(1, sizeof(*reading));

    (void)namespace_;
    *reading = (struct reading){.bench = bench,
                                .name = tg_xasprintf("%s", name),
                                .done = done,
                                .data = done_data,
                                .deferred = {.callback = on_read, .data = reading}};
    tg_defer(bench->loop, &reading->deferred);
    return reading;
}

static void cancel_claim(void *data, void *handle)
{
    struct bench *bench = data;
    struct reading *reading = handle;

    tg_defer_cancel(bench->loop, &reading->deferred);
    reading_free(reading);
}

/* --- tangram.test.Wire --- */

static void fail_call(struct tg_grpc_call call, enum tg_code code, const char *text)
{
    struct tg_error err = TG_ERROR_INIT;

    tg_error_set(&err, code, "%s", text);
    tg_grpc_fail(call, &err);
}

/* A decimal number as the request message; false: the call was failed. */
static bool read_number(struct tg_grpc_call call, const uint8_t *message, size_t n, uint64_t *ret)
{
    if (tg_parse_u64((const char *)message, n, ret) == 0 && *ret <= BYTES_MAX)
        return true;
    fail_call(call, TG_INVALID_ARGUMENT, "the request is a number of at most 67108864");
    return false;
}

static void echo(void *data, struct tg_grpc_call call, const uint8_t *message, size_t n,
                 int64_t deadline)
{
    (void)data;
    (void)deadline;
    tg_grpc_reply(call, message, n);
}

/* Answers with so many bytes. */
static void large(void *data, struct tg_grpc_call call, const uint8_t *message, size_t n,
                  int64_t deadline)
{
    TG_AUTOFREE uint8_t *bytes = NULL;
    uint64_t size;

    (void)data;
    (void)deadline;
    if (!read_number(call, message, n, &size))
        return;
    bytes = tg_xcalloc(1, size + 1);
    memset(bytes, 'x', size);
    tg_grpc_reply(call, bytes, size);
}

/* A stream of so many states, each a number of 1,000 bytes, the last of them "end". A client that
 * does not keep up gets the newest only. */
static void stream(void *data, struct tg_grpc_call call, const uint8_t *message, size_t n,
                   int64_t deadline)
{
    char state[1001];
    uint64_t count;

    (void)data;
    (void)deadline;
    if (!read_number(call, message, n, &count))
        return;
    for (uint64_t i = 0; i < count; i++) {
        snprintf(state, sizeof(state), "%01000" PRIu64, i);
        tg_grpc_stream_send(call, (const uint8_t *)state, sizeof(state) - 1);
    }
    tg_grpc_reply(call, (const uint8_t *)"end", 3);
}

/* Never answers. */
static void hang(void *data, struct tg_grpc_call call, const uint8_t *message, size_t n,
                 int64_t deadline)
{
    struct bench *bench = data;

    (void)call;
    (void)message;
    (void)n;
    (void)deadline;
    bench->waiting++;
}

static void hang_cancelled(void *data, struct tg_grpc_call call)
{
    struct bench *bench = data;

    (void)call;
    bench->cancelled++;
}

/* How many calls of Wait came, and how many of them were cancelled. */
static void counters(void *data, struct tg_grpc_call call, const uint8_t *message, size_t n,
                     int64_t deadline)
{
    struct bench *bench = data;
    char text[64];
    int length =
        snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64, bench->waiting, bench->cancelled);

    (void)message;
    (void)n;
    (void)deadline;
    tg_grpc_reply(call, (const uint8_t *)text, (size_t)length);
}

/* A number of /proc/self/status, KiB. */
static unsigned long status_of(const char *name)
{
    FILE *file = fopen("/proc/self/status", "re");
    unsigned long value = 0;
    char line[256];

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (tg_has_prefix(line, name))
            value = strtoul(line + strlen(name), NULL, 10);
    if (file != NULL)
        fclose(file);
    return value;
}

static unsigned descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned n = 0;

    while (folder != NULL && readdir(folder) != NULL)
        n++;
    if (folder != NULL)
        closedir(folder);
    return n < 3 ? 0 : n - 3; /* ".", ".." and that of the folder */
}

/* Resident memory now and at most so far (KiB), descriptors, and 1 if the
 * server cannot tell its clients' processes apart, else 2. */
static void usage(void *data, struct tg_grpc_call call, const uint8_t *message, size_t n,
                  int64_t deadline)
{
    const struct bench *bench = data;
    char text[128];
    int length = snprintf(text, sizeof(text), "%lu %lu %u %d", status_of("VmRSS:"),
                          status_of("VmHWM:"), descriptors(), bench->contained ? 1 : 2);

    (void)message;
    (void)n;
    (void)deadline;
    tg_grpc_reply(call, (const uint8_t *)text, (size_t)length);
}

static void refuse(void *data, struct tg_grpc_call call, const uint8_t *message, size_t n,
                   int64_t deadline)
{
    (void)data;
    (void)message;
    (void)n;
    (void)deadline;
    fail_call(call, TG_FAILED_PRECONDITION, "no: 100 % \xc3\xbc\n\"quoted\"");
}

static void serve_wire(struct bench *bench)
{
    const struct tg_grpc_method methods[] = {
        {"/tangram.test.Wire/Echo", echo, NULL, bench},
        {"/tangram.test.Wire/Large", large, NULL, bench},
        {"/tangram.test.Wire/Stream", stream, NULL, bench},
        {"/tangram.test.Wire/Wait", hang, hang_cancelled, bench},
        {"/tangram.test.Wire/Counters", counters, NULL, bench},
        {"/tangram.test.Wire/Usage", usage, NULL, bench},
        {"/tangram.test.Wire/Refuse", refuse, NULL, bench},
    };
    TG_AUTOFREE char *path = path_in(bench, "test.sock");
    struct tg_error err = TG_ERROR_INIT;

    if (tg_grpc_server_new(bench->loop, path, methods, TG_ARRAY_SIZE(methods), &bench->wire, &err) <
        0) {
        fprintf(stderr, "interop_server: %s\n", err.message);
        exit(EXIT_FAILURE);
    }
}

/* --- the plugin's services --- */

static void on_started(void *data, const struct tg_prepare_report *report,
                       const struct tg_error *err)
{
    struct bench *bench = data;

    (void)report;
    bench->started = err == NULL ? 1 : -1;
    if (err != NULL)
        fprintf(stderr, "interop_server: %s\n", err->message);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        fprintf(stderr, "interop_server: %s cannot be written\n", path);
        exit(EXIT_FAILURE);
    }
}

static void serve_plugin(struct bench *bench)
{
    TG_AUTOFREE char *registry = path_in(bench, "registry");
    TG_AUTOFREE char *socket = path_in(bench, "plugin/dra.sock");
    struct tg_error err = TG_ERROR_INIT;
    const struct tg_registration_config registration = {
        .driver = DRIVER, .registry_dir = registry, .service_path = socket};

    if (tg_dra_service_new(bench->loop, socket, bench->claims, bench->health, &bench->service,
                           &err) < 0 ||
        tg_registration_new(bench->loop, &registration, &bench->registration, &err) < 0) {
        fprintf(stderr, "interop_server: %s\n", err.message);
        exit(EXIT_FAILURE);
    }
}

static void on_term(struct tg_signal *signal, int number)
{
    (void)number;
    tg_loop_stop(signal->loop);
}

/* Returns when the services are there. */
static void serve(struct bench *bench, const struct tg_claim_source *source)
{
    TG_AUTOFREE char *plugin = path_in(bench, "plugin");
    TG_AUTOFREE char *registry = path_in(bench, "registry");
    TG_AUTOFREE char *cdi = path_in(bench, "cdi");
    TG_AUTOFREE char *boot_id = path_in(bench, "boot_id");
    TG_AUTOFREE char *inventory = path_in(bench, "inventory.yaml");
    const struct tg_device_worker_config config = {
        .provider = "sim",
        .provider_options = {.node_name = NODE, .inventory = inventory},
        .prepare_options = {.state_folder = plugin,
                            .cdi_folder = cdi,
                            .boot_id_file = boot_id,
                            .driver = DRIVER,
                            .pool = NODE},
        .started = on_started,
        .data = bench,
    };

    if (mkdir(plugin, 0700) != 0 || mkdir(registry, 0700) != 0) {
        fprintf(stderr, "interop_server: %s is not an empty folder\n", bench->folder);
        exit(EXIT_FAILURE);
    }
    write_file(boot_id, "6f1ed002-ab5c-4e9f-8d6b-0e2f5d0c5f11\n");
    write_file(inventory, "apiVersion: tangram.dev/v1alpha1\nkind: SimInventory\n"
                          "cards:\n- {name: custom, memory: 48Gi, count: 8}\n");
    bench->devices = tg_device_worker_new(bench->loop, &config);
    bench->claims = tg_claims_new(bench->loop, bench->devices, source);
    bench->health = tg_health_stream_new(bench->loop, tg_clock_system(), bench->devices, TG_SECOND);
    while (bench->started == 0)
        tg_loop_run_once(bench->loop, true);
    if (bench->started < 0)
        exit(EXIT_FAILURE);
    serve_plugin(bench);
    serve_wire(bench);
    tg_signal_start(bench->loop, &bench->term, SIGTERM);
    puts("ready");
    fflush(stdout);
    tg_loop_run(bench->loop);
    tg_signal_stop(&bench->term);
    tg_registration_free(bench->registration);
    tg_dra_service_free(bench->service);
    tg_grpc_server_free(bench->wire);
    tg_device_worker_free(bench->devices);
    tg_health_stream_free(bench->health);
    tg_claims_free(bench->claims);
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    const struct tg_claim_source source = {
        .get = get_claim, .cancel = cancel_claim, .data = &bench};

    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    mallopt(M_MMAP_THRESHOLD, 128 << 10); /* as the plugin does */
    bench.folder = argv[1];
    bench.contained = getpid() == 1;
    bench.loop = tg_loop_new(true);
    bench.term = (struct tg_signal){.callback = on_term, .data = &bench};
    serve(&bench, &source);
    tg_loop_free(bench.loop);
    return EXIT_SUCCESS;
}
