/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that exist only on paper: a SimInventory document (sim_inventory.h) says which cards the
 * node has. Everything of a card that the document leaves open follows from node name and position
 * (counted from firstIndex), so that a restart finds the same hardware.
 *
 *   UUID     a hash of node name and position, in the form GPU-xxxxxxxx-xxxx-8xxx-xxxx-xxxxxxxxxxxx
 *   name     gpu-<first 12 hex digits of the UUID>
 *   PCI      four cards a root port: pciBusID 0000:11:00.0 to 0000:14:00.0 below pcieRoot
 * pci0000:10, and so on env      TANGRAM_DEVICE_<NAME>=<UUID>, the name in upper case with _ for -
 */
#ifndef TG_DRIVER_PROVIDER_SIM_H
#define TG_DRIVER_PROVIDER_SIM_H

#include "driver/provider/provider.h"

/* Needs options->node_name and options->inventory. */
int tg_sim_new(const struct tg_provider_options *options, struct tg_provider **ret,
               struct tg_error *err);

#endif
