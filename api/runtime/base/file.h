/* SPDX-License-Identifier: Apache-2.0 */
/* Files: whole reads with a limit, writes that survive kill -9 and power loss, made folders. */
#ifndef TG_RUNTIME_BASE_FILE_H
#define TG_RUNTIME_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"

/* Appends the whole file to buf; a file larger than the buffer's cap is TG_RESOURCE_EXHAUSTED. */
int tg_file_read(const char *path, struct tg_buf *buf, struct tg_error *err);
/* Temporary file in the same folder, write, fsync, rename, fsync of the folder: after a crash the
 * old or the new content stands, never a mix. */
int tg_file_write_atomic(const char *path, const void *data, size_t n, mode_t mode,
                         struct tg_error *err);
/* write(2) until done, EINTR handled. */
int tg_file_write_all(int fd, const void *data, size_t n, struct tg_error *err);
/* Unlinks and fsyncs the folder; a file that is not there is success. */
int tg_file_remove(const char *path, struct tg_error *err);
/* Removes what tg_file_write_atomic left beside `path` where it was killed: nobody may be writing.
 */
int tg_file_remove_leftovers(const char *path, struct tg_error *err);
int tg_file_sync_folder_of(const char *path, struct tg_error *err);
/* mkdir -p. */
int tg_file_make_folders(const char *path, mode_t mode, struct tg_error *err);

#endif
