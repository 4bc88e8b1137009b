/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CDI document as anyone may have left it in the folder: its name up to the first line end, and
 * its content. What is read as ours is about the claim of that name, and written again it is read
 * again as the same.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "driver/prepare/cdi.h"

#define DRIVER "gpu.tangram.dev"
#define NAME_MAX_ 120
#define DEVICES_MAX 64

struct reading {
    const struct tg_cdi *cdi;
    const char *uid;
    struct tg_buf document; /* of what was found, written again; empty: nothing was */
    size_t n;
};

static int on_found(void *data, const char *uid, const struct tg_claim_record *record,
                    struct tg_error *err)
{
    struct tg_provider_device devices[DEVICES_MAX] = {0};
    struct tg_device_set set = {.devices = {.items = devices}};
    struct reading *reading = data;

    reading->n++;
    if (!tg_streq(uid, reading->uid))
        abort();
    if (record == NULL)
        return 0;
    if (tg_claim_record_validate(record, err) < 0 || !tg_streq(record->uid, uid))
        abort();
    for (size_t i = 0; i < record->devices.n && set.devices.n < DEVICES_MAX; i++)
        devices[set.devices.n++].device.name = record->devices.items[i].device;
    if (tg_cdi_render(reading->cdi, record, &set, &reading->document, err) < 0)
        abort();
    return 0;
}

static void remove_files(const char *folder)
{
    DIR *open = opendir(folder);
    if (open == NULL)
        abort();
    for (const struct dirent *e = readdir(open); e != NULL; e = readdir(open)) {
        TG_AUTOFREE char *path = tg_xasprintf("%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.')
            (void)unlink(path);
    }
    closedir(open);
}

static bool write_document(const char *folder, const char *uid, const char *content, size_t n)
{
    TG_AUTOFREE char *path = tg_xasprintf("%s/k8s." DRIVER "-claim_%s.json", folder, uid);
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return false; /* no name of a file */
    bool good = fwrite(content, 1, n, file) == n;
    return fclose(file) == 0 && good;
}

static void read_folder(struct reading *reading)
{
    reading->document = TG_BUF_INIT(TG_CDI_BYTES_MAX);
    reading->n = 0;
    if (tg_cdi_scan(reading->cdi, on_found, reading, NULL) < 0 || reading->n != 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOFREE char *folder = tg_xasprintf("/dev/shm/tangram-cdi-%d", (int)getpid());
    const struct tg_cdi cdi = {.folder = folder, .driver = DRIVER};
    struct reading first = {.cdi = &cdi}, second = {.cdi = &cdi};
    const uint8_t *end = memchr(data, '\n', n);
    char uid[NAME_MAX_ + 1];

    if (end == NULL || end == data || end - data > NAME_MAX_ ||
        memchr(data, '/', (size_t)(end - data)) != NULL ||
        memchr(data, '\0', (size_t)(end - data)) != NULL)
        return 0;
    snprintf(uid, sizeof(uid), "%.*s", (int)(end - data), (const char *)data);
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        abort();
    first.uid = second.uid = uid;
    if (write_document(folder, uid, (const char *)end + 1, n - (size_t)(end - data) - 1)) {
        read_folder(&first);
        if (first.document.len > 0) {
            remove_files(folder);
            if (!write_document(folder, uid, first.document.data, first.document.len))
                abort();
            read_folder(&second);
            if (second.document.len != first.document.len ||
                memcmp(second.document.data, first.document.data, first.document.len) != 0)
                abort();
            tg_buf_done(&second.document);
        }
        tg_buf_done(&first.document);
    }
    remove_files(folder);
    (void)rmdir(folder);
    return 0;
}
