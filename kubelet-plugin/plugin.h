/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon: starts the parts in their order and stops them in theirs.
 *
 *   devices and journal (worker) -> service socket -> registration socket -> slices
 *
 * At the end the registration socket goes first, open calls are finished, and the slices stay: the
 * kubelet removes them if nobody comes back.
 */
#ifndef TG_PLUGIN_PLUGIN_H
#define TG_PLUGIN_PLUGIN_H

#include "api/runtime/base/error.h"
#include "api/runtime/loop/loop.h"
#include "kubelet-plugin/options.h"

struct tg_plugin;

/* Borrows the options. Begins to start; `stopped` is called once when everything has ended: err
 * NULL after tg_plugin_stop, otherwise why the plugin cannot run. */
int tg_plugin_new(struct tg_loop *loop, const struct tg_plugin_options *options,
                  void (*stopped)(void *data, const struct tg_error *err), void *data,
                  struct tg_plugin **ret, struct tg_error *err);
/* De-registers and waits, for at most 10 s, for calls that are under way; the second time it does
 * not wait. */
void tg_plugin_stop(struct tg_plugin *plugin);
/* NULL is allowed. */
void tg_plugin_free(struct tg_plugin *plugin);
/* The port of the health server, -1 if there is none. */
int tg_plugin_health_port(const struct tg_plugin *plugin);

#endif
