/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver shows below /proc, and the kernel below /sys. */
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"
#include "tests/support/fake-nvml/machine.h"

/* Numbers of the capability devices: 1 is the whole card, then 300 a card, 9 an instance. */
#define MINORS_A_CARD 300
#define MINORS_AN_INSTANCE 9

__attribute__((format(printf, 2, 3))) static void write_file(const char *path, const char *format,
                                                             ...)
{
    TG_AUTOFREE char *folder = tg_xstrdup(path);
    va_list arguments;
    *strrchr(folder, '/') = '\0';
    (void)tg_file_make_folders(folder, 0755, NULL);
    TG_AUTOFCLOSE FILE *file = fopen(path, "we");
    if (file == NULL)
        return;
    va_start(arguments, format);
    (void)vfprintf(file, format, arguments);
    va_end(arguments);
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *walk)
{
    (void)status;
    (void)flag;
    (void)walk;
    return remove(path);
}

static void write_access(const char *path, unsigned minor)
{
    write_file(path, "DeviceFileMinor: %u\nDeviceFileMode: 292\nDeviceFileModify: 1\n", minor);
}

static void write_instances(const struct fake_machine *machine, const char *root, unsigned card)
{
    for (unsigned gi = 0; gi < FAKE_INSTANCES; gi++) {
        const struct fake_instance *one = &machine->state->instances[card][gi];
        unsigned minor = 3 + card * MINORS_A_CARD + gi * MINORS_AN_INSTANCE;
        if (!one->used)
            continue;
        TG_AUTOFREE char *folder = tg_xasprintf("%s/proc/driver/nvidia/capabilities/gpu%u/mig/gi%u",
                                                root, machine->scenario.cards[card].minor, gi);
        TG_AUTOFREE char *own = tg_xasprintf("%s/access", folder);
        write_access(own, minor);
        for (unsigned ci = 0; ci < FAKE_COMPUTE; ci++) {
            TG_AUTOFREE char *path = tg_xasprintf("%s/ci%u/access", folder, ci);
            if (one->compute[ci].used)
                write_access(path, minor + 1 + ci);
        }
    }
}

static void write_pci(const struct fake_card *card, const char *root)
{
    TG_AUTOFREE char *numa =
        tg_xasprintf("%s/sys/devices/%s/%s/numa_node", root, card->root, card->bus_id);
    TG_AUTOFREE char *link = tg_xasprintf("%s/sys/bus/pci/devices/%s", root, card->bus_id);
    TG_AUTOFREE char *to = tg_xasprintf("../../../devices/%s/%s", card->root, card->bus_id);
    TG_AUTOFREE char *vendor =
        tg_xasprintf("%s/sys/devices/%s/%s/vendor", root, card->root, card->bus_id);
    TG_AUTOFREE char *class =
        tg_xasprintf("%s/sys/devices/%s/%s/class", root, card->root, card->bus_id);
    TG_AUTOFREE char *folder = tg_xasprintf("%s/sys/bus/pci/devices", root);
    write_file(numa, "%d\n", card->numa);
    write_file(vendor, "0x10de\n");
    write_file(class, "0x030200\n");
    (void)tg_file_make_folders(folder, 0755, NULL);
    (void)unlink(link);
    if (symlink(to, link) != 0)
        perror("fake-nvml: symlink");
}

void fake_files_write(struct fake_machine *machine)
{
    const char *root = getenv("FAKE_NVML_ROOT");
    if (root == NULL)
        return;
    TG_AUTOFREE char *capabilities = tg_xasprintf("%s/proc/driver/nvidia/capabilities", root);
    TG_AUTOFREE char *config = tg_xasprintf("%s/mig/config", capabilities);
    TG_AUTOFREE char *devices = tg_xasprintf("%s/proc/devices", root);
    machine->state->files_stale = true;
    (void)nftw(capabilities, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    write_access(config, 1);
    write_file(devices,
               "Character devices:\n195 nvidia\n195 nvidiactl\n235 nvidia-caps\n"
               "236 nvidia-caps-imex-channels\n510 nvidia-uvm\n\nBlock devices:\n  8 sd\n");
    for (unsigned i = 0; i < machine->scenario.n_cards; i++) {
        write_instances(machine, root, i);
        write_pci(&machine->scenario.cards[i], root);
    }
    machine->state->files_stale = false;
}
