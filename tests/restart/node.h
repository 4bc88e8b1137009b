/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node whose hardware and disks outlive the processes that use them: a folder, and cards of the
 * fake NVML. Everything that the driver does is done in child processes, which can be killed at any
 * step: before and after each call that changes a disk, and before each call of NVML.
 */
#ifndef TG_TESTS_RESTART_NODE_H
#define TG_TESTS_RESTART_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include "driver/prepare/prepare.h"
#include "tests/support/fake_nvml.h"

#define NODE_DRIVER "gpu.tangram.dev"
#define NODE_POOL "node-1"

struct node {
    char *folder, *state_folder, *cdi_folder, *boot_id_file, *journal;
    struct fake_nvml cards;
    const char *scenario, *dynamic_mig;
    const char *config; /* opaque parameters of each claim, NULL: none */
};

/* `build`: the folder of programs. */
void node_init(struct node *node, const char *build);
void node_done(struct node *node);
/* Empty disks, and cards as the scenario says. */
void node_reset(struct node *node, const char *scenario, const char *dynamic_mig,
                const char *config);
/* What a reboot takes: what is on the cards, the folder of CDI documents, the boot id. */
void node_reboot(const struct node *node);

/* What a process has open. */
struct instance {
    const struct node *node;
    struct tg_provider *provider;
    struct tg_device_set set;
    struct tg_prepare *prepare;
    struct tg_prepare_report report;
};
/* As the plugin starts; a driver that is away is no error. false, with a message, if it cannot. */
bool instance_start(struct instance *instance, const struct node *node);
/* As the plugin goes on when a driver came. */
bool instance_settle(struct instance *instance);
/* As the plugin ends in order. */
void instance_stop(struct instance *instance);
bool instance_prepare(struct instance *instance, const char *uid, const char *device, bool admin);
bool instance_release(struct instance *instance, const char *uid);

/* Where a child is killed. */
struct kill_point {
    unsigned disk; /* nth step of the disk; 0: none */
    unsigned call; /* nth call of NVML since boot; 0: none */
    bool after;    /* the call has been carried out */
};
struct outcome {
    bool killed, ok; /* ok: it ended, and said yes */
    unsigned disk_steps;
};
/* Runs `body` in a child. */
struct outcome node_run(const struct node *node, const struct kill_point *at,
                        bool (*body)(const struct node *node, void *data), void *data);

#endif
