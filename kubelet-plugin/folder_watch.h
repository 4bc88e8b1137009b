/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells when files of a folder change: written, moved, removed, or swapped by a link (as a mounted
 * ConfigMap is). A folder that is not there, or goes, is looked for every five
 * minutes.
 */
#ifndef TG_PLUGIN_FOLDER_WATCH_H
#define TG_PLUGIN_FOLDER_WATCH_H

#include "api/runtime/loop/loop.h"

struct tg_folder_watch;

/* `changed` is called from the loop, once for changes that come together, and when the folder
 * appears or goes; not at first. `retry`: ns between looks for a folder that is not there; 0: 5
 * min. `folder` is copied. */
struct tg_folder_watch *tg_folder_watch_new(struct tg_loop *loop, const char *folder, int64_t retry,
                                            void (*changed)(void *data), void *data);
void tg_folder_watch_free(struct tg_folder_watch *watch); /* NULL is allowed */

#endif
