/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One instance a folder: a file in it that is locked as long as an instance lives, and is removed
 * when it ends. kill -9 leaves the file, but not the lock. That it is a file and not the folder is
 * how instances of all versions keep out of each other's way.
 */
#ifndef TG_DRIVER_PREPARE_LOCK_H
#define TG_DRIVER_PREPARE_LOCK_H

#include "api/runtime/base/error.h"

/* Does not wait. *ret is the open file, for tg_lock_give.
 *   TG_UNAVAILABLE (retry)  another instance has it, or has just ended */
int tg_lock_take(const char *path, int *ret, struct tg_error *err);
/* The last that an instance does: another one may begin at once. */
void tg_lock_give(const char *path, int fd);

#endif
