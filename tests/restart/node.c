/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/restart/node.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "driver/partition/foreign.h"

/* ---- steps of the disk ---- */

/* Shared with the child, which may not live to tell. */
static struct steps {
    unsigned n, kill_at;
} * steps;

static void step(void)
{
    if (steps != NULL && ++steps->n == steps->kill_at)
        (void)raise(SIGKILL);
}

#define WRAP(name, parameters, arguments)                                                          \
    int __real_##name parameters;                                                                  \
    int __wrap_##name parameters;                                                                  \
    int __wrap_##name parameters                                                                   \
    {                                                                                              \
        step();                                                                                    \
        int rc = __real_##name arguments;                                                          \
        step();                                                                                    \
        return rc;                                                                                 \
    }
WRAP(fsync, (int fd), (fd))
WRAP(fdatasync, (int fd), (fd))
WRAP(rename, (const char *from, const char *to), (from, to))
WRAP(unlink, (const char *path), (path))
WRAP(link, (const char *from, const char *to), (from, to))

struct outcome node_run(const struct node *node, const struct kill_point *at,
                        bool (*body)(const struct node *node, void *data), void *data)
{
    if (steps == NULL)
        steps =
            mmap(NULL, sizeof(*steps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (steps == MAP_FAILED)
        abort();
    if (at != NULL && at->call > 0) {
        TG_AUTOFREE char *scenario = tg_xasprintf("%sfault * call=%u kill=%s\n", node->scenario,
                                                  at->call, at->after ? "after" : "before");
        fake_nvml_play(&node->cards, scenario);
    }
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        *steps = (struct steps){.kill_at = at == NULL ? 0 : at->disk};
        _exit(body(node, data) ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    struct outcome outcome = {.killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
                              .ok = WIFEXITED(status) && WEXITSTATUS(status) == 0,
                              .disk_steps = steps->n};
    steps->kill_at = 0;
    if (at != NULL && at->call > 0)
        fake_nvml_play(&node->cards, node->scenario);
    return outcome;
}

/* ---- the node ---- */

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *walk)
{
    (void)status;
    (void)flag;
    (void)walk;
    return remove(path);
}

static void remove_all(const char *folder)
{
    (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_boot_id(const struct node *node, const char *id)
{
    if (tg_file_write_atomic(node->boot_id_file, id, strlen(id), 0644, NULL) != 0)
        abort();
}

void node_init(struct node *node, const char *build)
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    *node = (struct node){.folder = tg_xasprintf("%s/tangram-restart-XXXXXX", base),
                          .scenario = "",
                          .dynamic_mig = ""};
    if (mkdtemp(node->folder) == NULL)
        abort();
    node->state_folder = tg_xasprintf("%s/lib", node->folder);
    node->cdi_folder = tg_xasprintf("%s/cdi", node->folder);
    node->boot_id_file = tg_xasprintf("%s/boot_id", node->folder);
    node->journal = tg_xasprintf("%s/prepare.journal", node->state_folder);
    fake_nvml_init(&node->cards, build, node->folder, "");
}

void node_done(struct node *node)
{
    fake_nvml_done(&node->cards);
    remove_all(node->folder);
    free(node->folder);
    free(node->state_folder);
    free(node->cdi_folder);
    free(node->boot_id_file);
    free(node->journal);
}

void node_reset(struct node *node, const char *scenario, const char *dynamic_mig,
                const char *config)
{
    node->config = config;
    node->scenario = scenario;
    node->dynamic_mig = dynamic_mig;
    fake_nvml_play(&node->cards, scenario);
    (void)unlink(node->cards.state);
    (void)unlink(node->cards.log);
    remove_all(node->state_folder);
    remove_all(node->cdi_folder);
    write_boot_id(node, "boot-1\n");
}

void node_reboot(const struct node *node)
{
    fake_nvml_reboot(&node->cards);
    remove_all(node->cdi_folder);
    write_boot_id(node, "boot-2\n");
}

/* ---- the driver ---- */

static bool failed(const char *what, const struct tg_error *err)
{
    fprintf(stderr, "    %s: %s\n", what, err->message);
    return false;
}

static bool owns(void *data, const struct tg_partition *place)
{
    return tg_prepare_owns(data, place);
}

static bool list(struct instance *instance, struct tg_error *err)
{
    tg_device_set_done(&instance->set);
    int rc = tg_provider_list(instance->provider, &instance->set, err);
    return rc == 0 || rc == -TG_UNAVAILABLE;
}

static bool set_foreign_aside(struct instance *instance, struct tg_error *err)
{
    return instance->set.arena == NULL ||
           tg_foreign_instances(&instance->set, owns, instance->prepare, err) == 0;
}

bool instance_start(struct instance *instance, const struct node *node)
{
    const struct tg_provider_options hardware = {.node_name = NODE_POOL,
                                                 .library = node->cards.library,
                                                 .system_root = node->cards.root,
                                                 .dynamic_mig = node->dynamic_mig};
    struct tg_prepare_options options = {.state_folder = node->state_folder,
                                         .cdi_folder = node->cdi_folder,
                                         .boot_id_file = node->boot_id_file,
                                         .driver = NODE_DRIVER,
                                         .pool = NODE_POOL};
    struct tg_error err = TG_ERROR_INIT;
    *instance = (struct instance){.node = node};
    if (tg_provider_new("nvml", &hardware, &instance->provider, &err) != 0 || !list(instance, &err))
        return failed("cannot list", &err);
    options.provider = instance->provider;
    if (tg_prepare_open(&options, &instance->set, &instance->prepare, &instance->report, &err) != 0)
        return failed("cannot open", &err);
    /* The recovery has changed what is on the cards. */
    if (!list(instance, &err))
        return failed("cannot list", &err);
    tg_prepare_set_devices(instance->prepare, &instance->set);
    return set_foreign_aside(instance, &err) || failed("cannot filter", &err);
}

bool instance_settle(struct instance *instance)
{
    struct tg_error err = TG_ERROR_INIT;
    if (!list(instance, &err) || !set_foreign_aside(instance, &err))
        return failed("cannot list", &err);
    tg_prepare_set_devices(instance->prepare, &instance->set);
    return tg_prepare_settle(instance->prepare, &instance->report, &err) == 0 ||
           failed("cannot settle", &err);
}

void instance_stop(struct instance *instance)
{
    (void)tg_prepare_end(instance->prepare, NULL);
    tg_device_set_done(&instance->set);
    tg_provider_free(instance->provider);
    *instance = (struct instance){0};
}

bool instance_prepare(struct instance *instance, const char *uid, const char *device, bool admin)
{
    struct tg_allocation_device one = {.request = "gpus",
                                       .driver = NODE_DRIVER,
                                       .pool = NODE_POOL,
                                       .device = device,
                                       .admin_access = {.set = admin, .value = admin}};
    struct tg_opaque_config opaque = {.driver = NODE_DRIVER, .parameters = instance->node->config};
    struct tg_device_config config = {.source = "FromClaim", .opaque = &opaque};
    const struct tg_allocation_devices allocation = {
        .results = {.items = &one, .n = 1},
        .config = {.items = &config, .n = opaque.parameters == NULL ? 0 : 1}};
    const struct tg_prepared_claim *claim = NULL;
    struct tg_error err = TG_ERROR_INIT;
    return tg_prepare_allocation(instance->prepare, uid, "ns", uid, &allocation, &claim, &err) ==
               0 ||
           failed("cannot prepare", &err);
}

bool instance_release(struct instance *instance, const char *uid)
{
    struct tg_error err = TG_ERROR_INIT;
    return tg_prepare_release(instance->prepare, uid, &err) == 0 ||
           failed("cannot unprepare", &err);
}
