/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated machine: cards and the instances on them, in a file that all processes share and
 * that outlives them as hardware does (FAKE_NVML_STATE; removing it is a reboot), and the files of
 * /proc and /sys that go with them (FAKE_NVML_ROOT).
 */
#ifndef TG_TESTS_SUPPORT_FAKE_NVML_MACHINE_H
#define TG_TESTS_SUPPORT_FAKE_NVML_MACHINE_H

#include <stdint.h>

#include "api/mig/layout.h"
#include "tests/support/fake-nvml/scenario.h"

#define FAKE_COMPUTE 8

struct fake_compute {
    bool used;
    uint8_t slices, start; /* compute slices of the GPU instance */
    uint32_t serial;
};
struct fake_instance {
    bool used;
    int16_t profile_id;
    uint8_t start;
    uint32_t serial; /* different for each instance that ever was */
    struct fake_compute compute[FAKE_COMPUTE];
};
/* By GPU instance id: the nodes of a binary tree over 8 memory slices. */
#define FAKE_INSTANCES 15

struct fake_state {
    uint32_t serial;
    uint32_t calls[FAKE_SYMBOLS + 1]; /* the last: of all */
    struct fake_instance instances[FAKE_CARDS][FAKE_INSTANCES];
    uint8_t compute_mode[FAKE_CARDS];
    bool files_stale; /* who was to write them was killed; a kernel cannot be */
};

struct fake_machine {
    struct fake_scenario scenario;
    struct fake_state *state; /* shared memory */
};

/* The machine of this process, locked against all others until fake_machine_leave; NULL: the
 * environment does not say which, or the scenario is wrong (told on standard error). */
struct fake_machine *fake_machine_enter(void);
void fake_machine_leave(void);
/* The library is unloaded: nothing of it is left open. */
void fake_machine_close(void);

/* The profile of a card by its GPU instance profile id; NULL: it has none. */
const struct tg_card_profile *fake_profile(const struct fake_card *card, int id);
/* Each answers an NVML code. `gi` and `ci` are ids. */
int fake_instance_create(struct fake_machine *machine, unsigned card, unsigned profile_id,
                         const struct nvml_placement *placement, unsigned *gi);
int fake_instance_destroy(struct fake_machine *machine, unsigned card, unsigned gi);
int fake_compute_create(struct fake_machine *machine, unsigned card, unsigned gi, unsigned slices,
                        unsigned *ci);
int fake_compute_destroy(struct fake_machine *machine, unsigned card, unsigned gi, unsigned ci);

/* Files below FAKE_NVML_ROOT: all that the driver shows, made anew. */
void fake_files_write(struct fake_machine *machine);

#endif
