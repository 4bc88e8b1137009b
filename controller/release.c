/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/release.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/json/decode.h"

#define MEMORY ((size_t)256 << 10)

struct tg_release {
    struct tg_kube_client *client;
    void (*on_change)(void *data, unsigned minor);
    void *data;
    struct tg_kube_request *request; /* under way */
    struct tg_timer timer;
    unsigned minor;
};

struct version {
    const char *major, *minor;
};
static const struct tg_field version_fields[] = {
    TG_FIELD_STR(struct version, major, "major"),
    TG_FIELD_STR(struct version, minor, "minor"),
};
static const struct tg_type version_type = TG_TYPE(struct version, version_fields);

/* "36", or "36+" where a vendor built it. */
static int read_version(const struct tg_kube_result *result, unsigned *ret, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(MEMORY);
    struct version version = {0};
    char *end = NULL;
    unsigned long minor;
    int rc = tg_json_decode(&version_type, result->body, result->len, &version, arena, err);

    if (rc < 0)
        return rc;
    minor = version.minor == NULL ? 0 : strtoul(version.minor, &end, 10);
    if (version.major == NULL || strcmp(version.major, "1") != 0 || minor == 0 || minor > 1000 ||
        (*end != '\0' && *end != '+'))
        return tg_error_set(err, TG_INVALID_ARGUMENT, "version %.20s.%.20s is not one of 1.x",
                            version.major == NULL ? "?" : version.major,
                            version.minor == NULL ? "?" : version.minor);
    *ret = (unsigned)minor;
    return 0;
}

static void on_version(void *data, const struct tg_kube_result *result)
{
    struct tg_release *release = data;
    struct tg_error err = result->error;
    unsigned minor = release->minor;

    release->request = NULL;
    if (err.code == TG_OK)
        read_version(result, &minor, &err);
    if (err.code != TG_OK)
        TG_ERR(&err, "Cannot read the version of the API server; selectors are compiled as for the "
                     "last that was known, or else for the newest release");
    tg_timer_start(tg_kube_client_loop(release->client), &release->timer,
                   err.code == TG_OK ? TG_RELEASE_EVERY : TG_RELEASE_AGAIN);
    if (minor == release->minor)
        return;
    TG_INFO("The API server is of this release of Kubernetes", TG_I("minor", minor));
    release->minor = minor;
    release->on_change(release->data, minor);
}

static void on_timer(struct tg_timer *timer)
{
    tg_release_read(timer->data);
}

void tg_release_read(struct tg_release *release)
{
    if (release->request != NULL)
        return;
    tg_timer_stop(&release->timer);
    release->request = tg_kube_send(release->client, &(struct tg_kube_call){
                                                         .method = TG_REST_GET,
                                                         .target = {.path = "/version"},
                                                         .done = on_version,
                                                         .data = release,
                                                     });
}

struct tg_release *tg_release_new(struct tg_kube_client *client,
                                  void (*on_change)(void *data, unsigned minor), void *data)
{
    struct tg_release *release = tg_xcalloc(1, sizeof(*release));

    *release = (struct tg_release){.client = client, .on_change = on_change, .data = data};
    release->timer.callback = on_timer;
    release->timer.data = release;
    tg_release_read(release);
    return release;
}

void tg_release_free(struct tg_release *release)
{
    if (release == NULL)
        return;
    tg_timer_stop(&release->timer);
    tg_kube_cancel(release->request);
    free(release);
}

unsigned tg_release_minor(const struct tg_release *release)
{
    return release->minor;
}
