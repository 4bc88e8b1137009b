/* SPDX-License-Identifier: Apache-2.0 */
/* Seen inside this folder only: the libev loop behind a tg_loop. */
#ifndef TG_RUNTIME_LOOP_INTERNAL_H
#define TG_RUNTIME_LOOP_INTERNAL_H

struct ev_loop;
struct tg_loop;

struct ev_loop *tg_loop_ev(const struct tg_loop *loop);

#endif
