/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is run for its output, without blocking: standard input is empty, standard output
 * is collected up to a limit, of standard error the last line is kept for messages.
 */
#ifndef TG_RUNTIME_LOOP_CHILD_H
#define TG_RUNTIME_LOOP_CHILD_H

#include "api/runtime/base/error.h"
#include "api/runtime/loop/loop.h"

struct tg_child;

struct tg_child_config {
    const char *const *argv; /* ended by NULL; argv[0] without a slash is searched in PATH */
    const char *const *env;  /* "NAME=value", ended by NULL, over the environment of this process */
    int64_t timeout;         /* then it and what it started are killed; 0: 60 s */
    size_t max_output;       /* more is TG_RESOURCE_EXHAUSTED, and it is killed; 0: 1 MiB */
    /* Called once from the loop, never from inside tg_child_start. err->code is TG_OK when it
     * exited with 0; TG_DEADLINE_EXCEEDED, TG_RESOURCE_EXHAUSTED, or TG_UNAVAILABLE with how it
     * ended and the last line of its standard error. output: valid during the call. */
    void (*done)(void *data, const char *output, size_t n, const struct tg_error *err);
    void *data;
};

/* On the main loop only (it is told of children). config is not needed afterwards. TG_NOT_FOUND if
 * there is no such program, TG_PERMISSION_DENIED if it may not be run. */
int tg_child_start(struct tg_loop *loop, const struct tg_child_config *config,
                   struct tg_child **ret, struct tg_error *err);
/* Kills it; done is not called any more. Not from done. NULL is allowed. */
void tg_child_stop(struct tg_child *child);

#endif
