/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: owned by the caller, of fixed size, never allocated.
 *
 * Every function that can fail returns 0 or a negative code (-TG_NOT_FOUND) and takes a
 * `struct tg_error *err` as its very last argument. NULL is allowed: then only the code is told.
 * On success err is left untouched. Codes are the 17 canonical gRPC codes, so that one value maps
 * to a gRPC status, a Kubernetes reason and a log level. Expected outcomes (not found, conflict,
 * gone, exhausted) are codes; programming errors assert.
 */
#ifndef TG_RUNTIME_BASE_ERROR_H
#define TG_RUNTIME_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers as in google.rpc.Code. Kubernetes: Conflict (409) = TG_ABORTED, Gone (410) =
 * TG_OUT_OF_RANGE, AlreadyExists = TG_ALREADY_EXISTS, Invalid (422) = TG_INVALID_ARGUMENT, 429 =
 * TG_RESOURCE_EXHAUSTED. */
enum tg_code {
    TG_OK = 0,
    TG_CANCELLED = 1,
    TG_UNKNOWN = 2,
    TG_INVALID_ARGUMENT = 3,
    TG_DEADLINE_EXCEEDED = 4,
    TG_NOT_FOUND = 5,
    TG_ALREADY_EXISTS = 6,
    TG_PERMISSION_DENIED = 7,
    TG_RESOURCE_EXHAUSTED = 8,
    TG_FAILED_PRECONDITION = 9,
    TG_ABORTED = 10,
    TG_OUT_OF_RANGE = 11,
    TG_UNIMPLEMENTED = 12,
    TG_INTERNAL = 13,
    TG_UNAVAILABLE = 14,
    TG_DATA_LOSS = 15,
    TG_UNAUTHENTICATED = 16,
};

struct tg_error {
    enum tg_code code;
    bool retry;      /* the same call may succeed later */
    int http_status; /* the HTTP status behind it, 0 if there was none */
    char reason[48]; /* Kubernetes Status.reason or "" */
    char message[512];
};

#define TG_ERROR_INIT ((struct tg_error){.code = TG_OK})

/* Sets err (if not NULL) to code and a printf message, cut to fit; returns -code. retry is set for
 * TG_UNAVAILABLE, TG_ABORTED, TG_DEADLINE_EXCEEDED and TG_RESOURCE_EXHAUSTED, cleared otherwise. */
int tg_error_set(struct tg_error *err, enum tg_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As tg_error_set, with the text of errno value `number` appended (": No such file or directory"),
 * and the code derived from it (ENOENT -> NOT_FOUND, EEXIST, EACCES, ENOSPC -> RESOURCE_EXHAUSTED,
 * else UNAVAILABLE for EIO/EAGAIN..., INTERNAL for the rest). */
int tg_error_errno(struct tg_error *err, int number, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts a printf text and ": " before the message; returns -err->code (or -TG_UNKNOWN if err is
 * NULL). */
int tg_error_wrap(struct tg_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "INVALID_ARGUMENT" and so on; "UNKNOWN" for a number that is no code. Static. */
const char *tg_code_name(enum tg_code code);

#endif
