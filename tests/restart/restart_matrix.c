/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The matrix of restarts: {what happens} x {while what goes on} x {kind of device}. Kill points are
 * those of a clean run of the same cell: each step of the disk, each call that changes the
 * hardware (before and after), and every 64th of those that only read. Impossible cells are listed
 * with their reason.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "api/runtime/base/str.h"
#include "api/runtime/base/vec.h"
#include "tests/restart/node.h"

#define READS_A_POINT 64

enum kind { FULL, STATIC, DYNAMIC, KINDS };
enum activity { IDLE, PREPARING, RUNNING, UNPREPARING, CREATING, DESTROYING, SHARED, ACTIVITIES };
enum event { KILLED, PLUGIN_RESTART, KUBELET_RESTART, REBOOT, RELOAD, UPGRADE, DOWNGRADE, EVENTS };

static const struct {
    const char *name, *scenario, *dynamic_mig;
    const char *running, *wanted, *next; /* devices that do not overlap */
    size_t devices;
    const char *config; /* of each claim: settings of its card */
} kinds[KINDS] = {
    [FULL] = {"full card",
              "card l4-24gb uuid=GPU-11111111-1111-1111-1111-111111111111\n"
              "card l4-24gb uuid=GPU-22222222-2222-2222-2222-222222222222\n"
              "card l4-24gb uuid=GPU-33333333-3333-3333-3333-333333333333\n",
              "", "gpu-111111111111", "gpu-222222222222", "gpu-333333333333", 3,
              "{\"apiVersion\":\"tangram.dev/v1alpha1\",\"kind\":\"GpuConfig\","
              "\"computeMode\":\"ExclusiveProcess\"}"},
    [STATIC] = {"static MIG",
                "card a30-24gb mig=on uuid=GPU-bbbbbbbb-bbbb-bbbb-bbbb-bbbbbbbbbbbb\n", "",
                "gpu-bbbbbbbbbbbb-14-0", "gpu-bbbbbbbbbbbb-14-1", "gpu-bbbbbbbbbbbb-14-2", 4, NULL},
    [DYNAMIC] = {"dynamic MIG",
                 "card h100-80gb mig=on uuid=GPU-aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa\n", "*",
                 "gpu-aaaaaaaaaaaa-9-4", "gpu-aaaaaaaaaaaa-14-2", "gpu-aaaaaaaaaaaa-19-0", 18,
                 NULL},
};

static const struct {
    const char *name;
    bool before;  /* the claim is prepared when it begins */
    bool release; /* it is being unprepared */
    bool after;   /* it is prepared at the end */
} activities[ACTIVITIES] = {
    [IDLE] = {"idle", false, false, false},
    [PREPARING] = {"preparing", false, false, true},
    [RUNNING] = {"prepared and running", true, false, true},
    [UNPREPARING] = {"unpreparing", true, true, false},
    [CREATING] = {"MIG creating", false, false, true},
    [DESTROYING] = {"MIG destroying", true, true, false},
    [SHARED] = {"shared claim", true, false, true},
};

static const char *const events[EVENTS] = {
    [KILLED] = "kill -9",
    [PLUGIN_RESTART] = "plugin restart",
    [KUBELET_RESTART] = "kubelet restart",
    [REBOOT] = "node reboot",
    [RELOAD] = "driver reload",
    [UPGRADE] = "upgrade of the journal",
    [DOWNGRADE] = "downgrade of the journal",
};

struct cell {
    enum kind kind;
    enum activity activity;
    enum event event;
    bool *acknowledged; /* shared memory: the kubelet has had its answer */
    char *document;     /* of the running claim, before anything happened */
};

/* ---- bodies of children ---- */

/* What an administrator's tool does at boot: four instances that are not ours. */
static bool partition_cards(const struct node *node, void *data)
{
    const struct cell *cell = data;
    const struct tg_provider_options hardware = {.library = node->cards.library,
                                                 .system_root = node->cards.root};
    struct tg_provider *admin = NULL;
    bool ok = true;
    if (cell->kind != STATIC)
        return true;
    if (tg_provider_new("nvml", &hardware, &admin, NULL) != 0)
        return false;
    for (unsigned i = 0; i < 4; i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)64 << 10);
        const struct tg_partition place = {.card = "gpu-bbbbbbbbbbbb",
                                           .card_uuid = "GPU-bbbbbbbb-bbbb-bbbb-bbbb-bbbbbbbbbbbb",
                                           .profile_id = 14,
                                           .start = i,
                                           .size = 1,
                                           .dynamic = true};
        struct tg_instance made;
        ok = ok && admin->ops->create(admin, &place, arena, &made, NULL) == 0;
    }
    tg_provider_free(admin);
    return ok;
}

static bool set_up(const struct node *node, void *data)
{
    const struct cell *cell = data;
    struct instance instance;
    bool ok = partition_cards(node, data) && instance_start(&instance, node) &&
              instance_prepare(&instance, "running", kinds[cell->kind].running, false);
    if (ok && activities[cell->activity].before)
        ok = instance_prepare(&instance, "claim", kinds[cell->kind].wanted, false);
    instance_stop(&instance);
    return ok;
}

/* One call of the kubelet. */
static bool call(struct instance *instance, const struct cell *cell)
{
    const char *device = kinds[cell->kind].wanted;
    switch (cell->activity) {
    case PREPARING:
    case CREATING:
        return instance_prepare(instance, "claim", device, false);
    case UNPREPARING:
    case DESTROYING:
        return instance_release(instance, "claim");
    case SHARED: /* a second pod, and somebody who looks on */
        return instance_prepare(instance, "claim", device, false) &&
               instance_prepare(instance, "admin", device, true) &&
               instance_release(instance, "admin");
    case IDLE:
    case RUNNING:
    case ACTIVITIES:
        break;
    }
    return true;
}

static bool act(const struct node *node, void *data)
{
    const struct cell *cell = data;
    struct instance instance;
    bool ok = instance_start(&instance, node) && call(&instance, cell);
    if (ok && cell->event == KUBELET_RESTART)
        ok = call(&instance, cell);
    *cell->acknowledged = ok;
    instance_stop(&instance);
    return ok;
}

/* ---- what must hold ---- */

static bool wrong(const char *what)
{
    fprintf(stderr, "    %s\n", what);
    return false;
}

static char *document_of(const struct node *node, const char *uid)
{
    TG_AUTOFREE char *path =
        tg_xasprintf("%s/k8s." NODE_DRIVER "-claim_%s.json", node->cdi_folder, uid);
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT((size_t)1 << 20);
    return tg_file_read(path, &content, NULL) == 0 ? tg_buf_take(&content) : NULL;
}

/* The document is there, and names what stands on the card now. */
static bool check_document(const struct instance *instance, const char *uid, const char *device)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)64 << 10);
    TG_AUTOFREE char *document = document_of(instance->node, uid);
    const struct tg_provider_device *one = tg_device_set_find(&instance->set, device);
    struct tg_instance there = {0};
    if (document == NULL)
        return wrong("a prepared claim has no document");
    if (one == NULL)
        return wrong("a device is not listed any more");
    if (one->partition == NULL)
        return strstr(document, one->uuid) != NULL || wrong("a document names another card");
    if (instance->provider->ops->look(instance->provider, one->partition, arena, &there, NULL) != 0)
        return wrong("the partition of a prepared claim is lost");
    return strstr(document, there.uuid) != NULL || wrong("a document names another partition");
}

/* A card is set while a claim that wants it so is prepared, and at no other time. */
static bool check_setting(const struct instance *instance, const char *device, bool set)
{
    const struct tg_provider_device *one = tg_device_set_find(&instance->set, device);
    struct tg_gpu_settings now = {0};
    if (one == NULL || one->partition != NULL)
        return one != NULL || wrong("a device is not listed any more");
    if (instance->provider->ops->settings(instance->provider, one->uuid, &now, NULL) != 0)
        return wrong("a card cannot be asked how it is set");
    return (now.compute_mode.value != 0) == set ||
           wrong(set ? "a setting is lost" : "a setting is leaked");
}

/* Claims of the earlier format know no settings. */
static bool check_settings(const struct instance *instance, const struct cell *cell)
{
    bool claim = tg_prepare_find(instance->prepare, "claim") != NULL;
    return cell->event == UPGRADE || (check_setting(instance, kinds[cell->kind].running, true) &&
                                      check_setting(instance, kinds[cell->kind].wanted, claim) &&
                                      check_setting(instance, kinds[cell->kind].next, false));
}

static bool check_claims(const struct instance *instance, const struct cell *cell)
{
    bool claim = tg_prepare_find(instance->prepare, "claim") != NULL;
    bool ok = tg_prepare_find(instance->prepare, "running") != NULL ||
              wrong("the running claim is forgotten");
    if (*cell->acknowledged && claim != activities[cell->activity].after)
        ok = wrong("what was acknowledged is not so");
    if (cell->activity == RUNNING && !claim)
        ok = wrong("a running claim is forgotten");
    ok = ok && check_document(instance, "running", kinds[cell->kind].running);
    if (claim)
        ok = ok && check_document(instance, "claim", kinds[cell->kind].wanted);
    else if (access(instance->node->cdi_folder, F_OK) == 0) {
        TG_AUTOFREE char *document = document_of(instance->node, "claim");
        ok = (document == NULL || wrong("a document without a claim")) && ok;
    }
    return ok;
}

static bool check_cards(struct instance *instance, const struct cell *cell)
{
    size_t claims = tg_prepare_count(instance->prepare);
    claims -= tg_prepare_find(instance->prepare, "admin") != NULL; /* who looks on has none */
    struct tg_device_set fresh = {0};
    if (tg_provider_list(instance->provider, &fresh, NULL) != 0)
        return wrong("the cards cannot be listed");
    bool ok = instance->set.devices.n == kinds[cell->kind].devices || wrong("devices differ");
    if (cell->kind == DYNAMIC && fresh.standing.n != claims)
        ok = wrong(fresh.standing.n > claims ? "an instance is leaked" : "an instance is lost");
    tg_device_set_done(&fresh);
    return ok;
}

/* Pods that run on were not disturbed: what their containers got is what it was. */
static bool check_untouched(const struct instance *instance, const struct cell *cell)
{
    TG_AUTOFREE char *document = document_of(instance->node, "running");
    bool same_hardware = cell->event != REBOOT && cell->event != RELOAD && cell->event != UPGRADE;
    return !same_hardware || tg_streq(document, cell->document) ||
           wrong("the document of the running claim has changed");
}

/* The kubelet comes back with what it had no answer to; other pods come; all go. */
static bool go_on(struct instance *instance, const struct cell *cell)
{
    const char *device = kinds[cell->kind].running;
    const struct tg_allocation_device one = {
        .request = "gpus", .driver = NODE_DRIVER, .pool = NODE_POOL, .device = device};
    const struct tg_prepared_claim *claim = NULL;
    if (tg_prepare_claim(instance->prepare, "thief", "ns", "thief", &one, 1, &claim, NULL) == 0)
        return wrong("a device was given to two claims");
    if (!call(instance, cell) || !instance_prepare(instance, "next", kinds[cell->kind].next, false))
        return false;
    static const char *const uids[] = {"claim", "admin", "next", "running"};
    for (size_t i = 0; i < TG_ARRAY_SIZE(uids); i++) {
        if (!instance_release(instance, uids[i]))
            return false;
    }
    if (tg_prepare_count(instance->prepare) != 0)
        return wrong("claims are left when all have gone");
    struct tg_device_set fresh = {0};
    if (tg_provider_list(instance->provider, &fresh, NULL) != 0)
        return wrong("the cards cannot be listed");
    size_t devices = fresh.devices.n, standing = fresh.standing.n;
    tg_device_set_done(&fresh);
    if (standing != 0)
        return wrong("instances are left when all claims have gone");
    if (!check_setting(instance, kinds[cell->kind].running, false) ||
        !check_setting(instance, kinds[cell->kind].wanted, false) ||
        !check_setting(instance, kinds[cell->kind].next, false))
        return false;
    return devices == kinds[cell->kind].devices || wrong("devices differ at the end");
}

static bool is_empty(const char *folder)
{
    struct dirent **found = NULL;
    int n = scandir(folder, &found, NULL, NULL);
    for (int i = 0; i < n; i++)
        free(found[i]);
    free(found);
    return n == 2; /* . and .. */
}

static bool check_nothing_stays(const struct node *node)
{
    return (is_empty(node->state_folder) && is_empty(node->cdi_folder)) ||
           wrong("files stay on a node where nothing is prepared");
}

/* All claims go, and the plugin is taken off the node. */
static bool leave(const struct node *node, void *data)
{
    struct instance instance;
    (void)data;
    bool ok = instance_start(&instance, node) && instance_release(&instance, "claim") &&
              instance_release(&instance, "running");
    instance_stop(&instance);
    return ok;
}

static bool check_left(const struct node *node, void *data)
{
    return leave(node, data) && check_nothing_stays(node);
}

static bool check(const struct node *node, void *data)
{
    const struct cell *cell = data;
    struct instance instance;
    bool ok = instance_start(&instance, node) && check_claims(&instance, cell) &&
              check_settings(&instance, cell) && check_cards(&instance, cell) &&
              check_untouched(&instance, cell) && go_on(&instance, cell);
    instance_stop(&instance);
    return ok && check_nothing_stays(node);
}

/* The plugin starts while the driver is away, and goes on when it comes. */
static bool check_reload(const struct node *node, void *data)
{
    const struct cell *cell = data;
    struct instance instance;
    TG_AUTOFREE char *away = tg_xasprintf("driver none\n%s", node->scenario);
    fake_nvml_play(&node->cards, away);
    bool ok = instance_start(&instance, node) &&
              (tg_prepare_find(instance.prepare, "running") != NULL ||
               wrong("the running claim is forgotten while the driver is away"));
    fake_nvml_play(&node->cards, node->scenario);
    ok = ok && partition_cards(node, data) && instance_settle(&instance) &&
         check_claims(&instance, cell) && check_settings(&instance, cell) &&
         check_cards(&instance, cell) && go_on(&instance, cell);
    instance_stop(&instance);
    return ok && check_nothing_stays(node);
}

/* ---- kill points ---- */

struct points {
    TG_VEC(struct kill_point) at;
};

static bool changes_hardware(const char *line)
{
    return strstr(line, "Create") != NULL || strstr(line, "Destroy") != NULL ||
           strstr(line, "SetComputeMode") != NULL;
}

static size_t count_calls(const struct node *node)
{
    TG_AUTOFCLOSE FILE *log = fopen(node->cards.log, "re");
    char line[256];
    size_t n = 0;
    while (log != NULL && fgets(line, sizeof(line), log) != NULL)
        n++;
    return n;
}

/* From the call log and the count of disk steps of a clean run. */
static void find_points(const struct node *node, unsigned disk_steps, size_t calls_before,
                        struct points *ret)
{
    TG_AUTOFCLOSE FILE *log = fopen(node->cards.log, "re");
    char line[256];
    for (unsigned i = 1; i <= disk_steps; i++)
        *TG_VEC_PUSH(&ret->at) = (struct kill_point){.disk = i};
    for (unsigned i = 1; log != NULL && fgets(line, sizeof(line), log) != NULL; i++) {
        bool change = changes_hardware(line);
        if (i <= calls_before || (!change && i % READS_A_POINT != 0))
            continue;
        *TG_VEC_PUSH(&ret->at) = (struct kill_point){.call = i};
        if (change)
            *TG_VEC_PUSH(&ret->at) = (struct kill_point){.call = i, .after = true};
    }
}

/* ---- the matrix ---- */

static struct {
    unsigned passed, failed, impossible;
} total;

static void tell(const struct cell *cell, const struct kill_point *at, bool ok)
{
    if (ok) {
        total.passed++;
        return;
    }
    total.failed++;
    printf("FAILED: %s", events[cell->event]);
    if (at != NULL && at->disk > 0)
        printf(" at step %u of the disk", at->disk);
    if (at != NULL && at->call > 0)
        printf(" %s call %u of NVML", at->after ? "after" : "before", at->call);
    printf(" x %s x %s\n", activities[cell->activity].name, kinds[cell->kind].name);
}

static const char *impossible(const struct cell *cell)
{
    bool mig = cell->activity == CREATING || cell->activity == DESTROYING;
    if (mig && cell->kind != DYNAMIC)
        return "partitions are made and removed on demand only in dynamic MIG";
    if (cell->event == DOWNGRADE)
        return "no release wrote another format; fields that an older release does not know are "
               "skipped (driver_record_test)";
    if (cell->event == UPGRADE && cell->kind != FULL)
        return "the only earlier format is that of 0.1.0, which had no partitions";
    if (cell->event == UPGRADE && !activities[cell->activity].before)
        return "the fixture is of a node with a prepared claim";
    return NULL;
}

/* Before each try everything is as it was. */
static bool begin(struct node *node, struct cell *cell)
{
    node_reset(node, kinds[cell->kind].scenario, kinds[cell->kind].dynamic_mig,
               kinds[cell->kind].config);
    *cell->acknowledged = false;
    free(cell->document);
    cell->document = NULL;
    bool ok = node_run(node, NULL, set_up, cell).ok;
    cell->document = document_of(node, "running");
    return ok;
}

typedef bool (*body)(const struct node *node, void *data);

/* Kills `killed` at each point, and looks afterwards. */
static void run_killed(struct node *node, struct cell *cell, body killed, body look)
{
    struct points points = {0};
    bool ok = begin(node, cell);
    size_t calls = count_calls(node);
    struct outcome clean = node_run(node, NULL, killed, cell);
    if (!ok || !clean.ok) {
        tell(cell, NULL, false);
        return;
    }
    find_points(node, clean.disk_steps, calls, &points);
    for (size_t i = 0; i < points.at.n; i++) {
        const struct kill_point *at = &points.at.items[i];
        ok = begin(node, cell);
        ok = node_run(node, at, killed, cell).killed && ok;
        if (cell->event == REBOOT) {
            node_reboot(node);
            ok = node_run(node, NULL, partition_cards, cell).ok && ok;
        }
        tell(cell, at, node_run(node, NULL, look, cell).ok && ok);
    }
    TG_VEC_DONE(&points.at);
}

/* The journal of an earlier release, in the place of ours. */
static bool plant_journal(const struct node *node)
{
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT((size_t)1 << 20);
    return tg_file_read(TEST_SOURCE_DIR "/tests/restart/journals/0.1.0.journal", &content, NULL) ==
               0 &&
           tg_file_write_atomic(node->journal, content.data, content.len, 0600, NULL) == 0;
}

static void run_once(struct node *node, struct cell *cell)
{
    bool ok = begin(node, cell);
    /* Without documents, so that the journal is all that there is. */
    if (cell->event == UPGRADE) {
        node_reboot(node);
        ok = plant_journal(node) && ok;
    }
    ok = node_run(node, NULL, act, cell).ok && ok;
    if (cell->event == RELOAD)
        fake_nvml_reboot(&node->cards);
    ok = node_run(node, NULL, cell->event == RELOAD ? check_reload : check, cell).ok && ok;
    tell(cell, NULL, ok);
}

static void run_cell(struct node *node, struct cell *cell)
{
    const char *reason = impossible(cell);
    if (reason != NULL) {
        total.impossible++;
        printf("impossible: %s x %s x %s: %s\n", events[cell->event],
               activities[cell->activity].name, kinds[cell->kind].name, reason);
    } else if (cell->event == KILLED || cell->event == REBOOT) {
        run_killed(node, cell, act, check);
        if (cell->activity == RUNNING)
            run_killed(node, cell, leave, check_left);
    } else {
        run_once(node, cell);
    }
}

int main(void)
{
    bool *acknowledged = mmap(NULL, sizeof(*acknowledged), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct node node;
    if (acknowledged == MAP_FAILED)
        abort();
    node_init(&node, TEST_BIN_DIR);
    for (size_t i = 0; i < (size_t)EVENTS * ACTIVITIES * KINDS; i++) {
        struct cell cell = {.event = (enum event)(i / KINDS / ACTIVITIES),
                            .activity = (enum activity)(i / KINDS % ACTIVITIES),
                            .kind = (enum kind)(i % KINDS),
                            .acknowledged = acknowledged};
        run_cell(&node, &cell);
        free(cell.document);
    }
    node_done(&node);
    printf("%u cells are impossible\n%u passed, %u failed\n", total.impossible, total.passed,
           total.failed);
    return total.failed == 0 && total.passed >= 200 ? EXIT_SUCCESS : EXIT_FAILURE;
}
