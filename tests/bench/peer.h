/* SPDX-License-Identifier: Apache-2.0 */
/* A peer (tests/peers) that measures, beside us, in the same run. */
#ifndef TG_TESTS_BENCH_PEER_H
#define TG_TESTS_BENCH_PEER_H

#include <stdio.h>

#include "api/runtime/base/error.h"
#include "api/runtime/json/value.h"

/* Runs the program with --bench, its input and output the two files; waits for it. */
int peer_run(const char *peer, FILE *requests, FILE *answers, struct tg_error *err);
/* A number of an answer. */
int peer_number(const struct tg_json *json, const char *key, double *ret, struct tg_error *err);

#endif
