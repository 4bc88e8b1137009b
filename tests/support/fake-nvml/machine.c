/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/fake-nvml/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/runtime/base/str.h"

/* Of this process. */
static struct {
    pthread_mutex_t mutex;
    int fd;
    struct stat scenario; /* as it was read */
    bool broken;
    struct fake_machine machine;
} here = {.mutex = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* A scenario that is changed while the machine runs is a machine that changes. */
static bool read_scenario(void)
{
    const char *path = getenv("FAKE_NVML_SCENARIO");
    struct stat now;
    char why[512];
    if (path == NULL || stat(path, &now) != 0)
        return false;
    if (same_file(&now, &here.scenario))
        return !here.broken;
    here.scenario = now;
    here.broken = !fake_scenario_read(path, &here.machine.scenario, why, sizeof(why));
    if (here.broken)
        fprintf(stderr, "fake-nvml: %s\n", why);
    return !here.broken;
}

/* The file may have been removed since: that was a reboot. */
static bool is_current(const char *path)
{
    struct stat opened, named;
    return here.fd >= 0 && fstat(here.fd, &opened) == 0 && stat(path, &named) == 0 &&
           opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

static void close_state(void)
{
    if (here.machine.state != NULL)
        (void)munmap(here.machine.state, sizeof(struct fake_state));
    if (here.fd >= 0)
        close(here.fd);
    here.machine.state = NULL;
    here.fd = -1;
}

/* A program that unloads the library has nothing of it left open. It may load it again, on another
 * thread, at the same address: the lock tells the thread sanitizer which comes first. */
void fake_machine_close(void)
{
    pthread_mutex_lock(&here.mutex);
    close_state();
    pthread_mutex_unlock(&here.mutex);
}

static bool open_state(void)
{
    const char *path = getenv("FAKE_NVML_STATE");
    struct timespec now = {0};
    struct stat status;
    if (path == NULL)
        return false;
    if (is_current(path))
        return true;
    close_state();
    here.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (here.fd < 0 || flock(here.fd, LOCK_EX) != 0 || fstat(here.fd, &status) != 0)
        return false;
    bool fresh = status.st_size == 0;
    if (fresh && ftruncate(here.fd, (off_t)sizeof(struct fake_state)) != 0)
        return false;
    void *mapped =
        mmap(NULL, sizeof(struct fake_state), PROT_READ | PROT_WRITE, MAP_SHARED, here.fd, 0);
    if (mapped == MAP_FAILED)
        return false;
    here.machine.state = mapped;
    if (fresh) {
        /* Instances of this boot are others than those of the one before. */
        (void)clock_gettime(CLOCK_REALTIME, &now);
        here.machine.state->serial = (uint32_t)(now.tv_sec * 1000000 + now.tv_nsec / 1000);
    }
    if (fresh || here.machine.state->files_stale)
        fake_files_write(&here.machine);
    (void)flock(here.fd, LOCK_UN);
    return true;
}

struct fake_machine *fake_machine_enter(void)
{
    pthread_mutex_lock(&here.mutex);
    if (read_scenario() && open_state() && flock(here.fd, LOCK_EX) == 0)
        return &here.machine;
    pthread_mutex_unlock(&here.mutex);
    return NULL;
}

void fake_machine_leave(void)
{
    (void)flock(here.fd, LOCK_UN);
    pthread_mutex_unlock(&here.mutex);
}

/* ---- instances ---- */

const struct tg_card_profile *fake_profile(const struct fake_card *card, int id)
{
    return id < 0 ? NULL : tg_card_profile_by_id(&card->card, id);
}

static struct fake_instance *instance_of(struct fake_machine *machine, unsigned card, unsigned gi)
{
    struct fake_instance *instance =
        gi < FAKE_INSTANCES ? &machine->state->instances[card][gi] : NULL;
    return instance != NULL && instance->used ? instance : NULL;
}

/* The node of the tree: 0 is the whole card, 1 and 2 its halves, 3 to 6 the quarters. */
static unsigned node_of(const struct tg_card *card, unsigned size, unsigned start)
{
    return card->memory_slices / size - 1 + start / size;
}

static size_t layout_of(const struct fake_machine *machine, unsigned card,
                        struct tg_layout_instance *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < FAKE_INSTANCES && n < TG_LAYOUT_MAX; i++) {
        const struct fake_instance *one = &machine->state->instances[card][i];
        if (one->used)
            ret[n++] = (struct tg_layout_instance){
                .profile = fake_profile(&machine->scenario.cards[card], one->profile_id),
                .start = one->start};
    }
    return n;
}

int fake_instance_create(struct fake_machine *machine, unsigned card, unsigned profile_id,
                         const struct nvml_placement *placement, unsigned *gi)
{
    const struct fake_card *of = &machine->scenario.cards[card];
    const struct tg_card_profile *profile = fake_profile(of, (int)profile_id);
    struct tg_layout_instance layout[TG_LAYOUT_MAX + 1];
    if (!of->mig || profile == NULL)
        return NVML_NOT_SUPPORTED;
    if (placement->size != profile->memory_slices || placement->start > 7 ||
        (profile->starts & 1U << placement->start) == 0)
        return NVML_INVALID_ARGUMENT;
    size_t n = layout_of(machine, card, layout);
    layout[n++] =
        (struct tg_layout_instance){.profile = profile, .start = (uint8_t)placement->start};
    if (n > TG_LAYOUT_MAX || tg_layout_check(&of->card, layout, n, NULL) != 0)
        return NVML_INSUFFICIENT_RESOURCES;
    *gi = node_of(&of->card, placement->size, placement->start);
    machine->state->instances[card][*gi] = (struct fake_instance){
        .used = true,
        .profile_id = (int16_t)profile_id,
        .start = (uint8_t)placement->start,
        .serial = ++machine->state->serial,
    };
    fake_files_write(machine);
    return NVML_OK;
}

int fake_instance_destroy(struct fake_machine *machine, unsigned card, unsigned gi)
{
    struct fake_instance *instance = instance_of(machine, card, gi);
    if (instance == NULL)
        return NVML_NOT_FOUND;
    for (size_t i = 0; i < FAKE_COMPUTE; i++) {
        if (instance->compute[i].used)
            return NVML_IN_USE;
    }
    instance->used = false;
    fake_files_write(machine);
    return NVML_OK;
}

int fake_compute_create(struct fake_machine *machine, unsigned card, unsigned gi, unsigned slices,
                        unsigned *ci)
{
    struct fake_instance *instance = instance_of(machine, card, gi);
    unsigned taken = 0, id = 0;
    if (instance == NULL)
        return NVML_NOT_FOUND;
    for (size_t i = 0; i < FAKE_COMPUTE; i++)
        taken += instance->compute[i].used ? instance->compute[i].slices : 0U;
    const struct tg_card_profile *profile =
        fake_profile(&machine->scenario.cards[card], instance->profile_id);
    while (id < FAKE_COMPUTE && instance->compute[id].used)
        id++;
    if (id == FAKE_COMPUTE || taken + slices > profile->compute_slices)
        return NVML_INSUFFICIENT_RESOURCES;
    instance->compute[id] = (struct fake_compute){.used = true,
                                                  .slices = (uint8_t)slices,
                                                  .start = (uint8_t)taken,
                                                  .serial = ++machine->state->serial};
    *ci = id;
    fake_files_write(machine);
    return NVML_OK;
}

int fake_compute_destroy(struct fake_machine *machine, unsigned card, unsigned gi, unsigned ci)
{
    struct fake_instance *instance = instance_of(machine, card, gi);
    if (instance == NULL || ci >= FAKE_COMPUTE || !instance->compute[ci].used)
        return NVML_NOT_FOUND;
    instance->compute[ci].used = false;
    fake_files_write(machine);
    return NVML_OK;
}
