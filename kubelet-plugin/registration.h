/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the kubelet finds us: a socket in its registry folder on which it asks GetInfo (deadline 1 s,
 * so answered from memory) and tells the outcome. The socket's appearance registers, its
 * disappearance de-registers.
 */
#ifndef TG_PLUGIN_REGISTRATION_H
#define TG_PLUGIN_REGISTRATION_H

#include <stdbool.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"
#include "api/runtime/base/metrics.h"
#include "api/runtime/loop/loop.h"

struct tg_registration;

struct tg_registration_config {
    const char *driver;
    const char *registry_dir;
    const char *service_path; /* must be served already: the kubelet connects at once */
    /* The kubelet registered us, or refused (why). May be NULL. */
    void (*changed)(void *data, bool registered, const char *why);
    void *data;
};

/* "<plugin_dir>/dra.sock" and "<registry_dir>/<driver>-reg.sock". */
const char *tg_registration_service_path(const char *plugin_dir, struct tg_arena *arena);
const char *tg_registration_socket_path(const char *registry_dir, const char *driver,
                                        struct tg_arena *arena);

/* Strings are copied. */
int tg_registration_new(struct tg_loop *loop, const struct tg_registration_config *config,
                        struct tg_registration **ret, struct tg_error *err);
/* Tells the registry, which outlives this, of connections. */
void tg_registration_measure(struct tg_registration *registration, struct tg_metrics *metrics);
/* Removes the socket. NULL is allowed. */
void tg_registration_free(struct tg_registration *registration);
bool tg_registration_registered(const struct tg_registration *registration);

#endif
