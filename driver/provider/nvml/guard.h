/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider of nvml.h behind a thread of its own, so that a call of the driver's library that
 * hangs costs no more than its time (tg_provider_options.call_timeout):
 *
 *   - what was asked for fails, with an error that names card, call and what to do;
 *   - the thread is left to its call, with all that the call may still write to, and a new one
 * takes over; when the call returns after all, nothing further is asked in its course;
 *   - until it returns, the card is not touched: requests for it fail at once, listings leave it
 * out and have a problem that names it. Other cards are served as before. When a call hangs that is
 *     no card's (loading the driver), everything fails at once.
 *
 * A listing gives up after three cards that hang; the next one goes on without them.
 */
#ifndef TG_DRIVER_PROVIDER_NVML_GUARD_H
#define TG_DRIVER_PROVIDER_NVML_GUARD_H

#include "driver/provider/provider.h"

/* As tg_nvml_provider_new. Freed while a call hangs, it lets go of the thread, which ends with the
 * call. */
int tg_nvml_guard_new(const struct tg_provider_options *options, struct tg_provider **ret,
                      struct tg_error *err);
/* See tg_provider_left_behind. */
bool tg_nvml_guard_left_behind(void);

#endif
