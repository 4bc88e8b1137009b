/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structured logging as Kubernetes components do it (klog): text
 *   I1130 04:15:00.000000    1234 publish.c:12] "Published slices" node="a" count=3
 * or JSON, ts in milliseconds since the epoch
 *   {"ts":1796012100000.000,"caller":"base/publish.c:12","msg":"Published slices","v":0,"node":"a"}
 * where warnings have "level":"warning" and errors "level":"error" and "err" instead of "v".
 * One write(2) a line to stderr. The logger is the one global; it may be used by several threads.
 *
 * A call site whose message is written more than 100 times in 10 seconds is silenced for the rest
 * of them: one line says so, and one says how many lines were left out when the 10 seconds are
 * over. Strings are cut at 4 KiB and lines at 16 KiB, marked "..." and truncated=true.
 *
 *   TG_INFO("Published slices", TG_S("node", name), TG_I("count", n));
 *   TG_V(4, "Watch event", TG_S("kind", kind));       arguments are not evaluated when v < 4
 *   TG_ERR(&err, "Cannot publish slices", TG_S("node", name));
 * Library code does not log above TG_V(4): it returns errors.
 */
#ifndef TG_RUNTIME_BASE_LOG_H
#define TG_RUNTIME_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/clock.h"
#include "api/runtime/base/error.h"

enum tg_log_format { TG_LOG_TEXT, TG_LOG_JSON };
enum tg_log_level { TG_LOG_INFO, TG_LOG_WARNING, TG_LOG_ERROR };

struct tg_log_field {
    const char *key;
    enum { TG_LOG_STRING, TG_LOG_INT, TG_LOG_BOOL, TG_LOG_DURATION } kind;
    const char *string; /* NULL prints as null */
    int64_t number;     /* TG_LOG_DURATION: nanoseconds */
};

#define TG_S(k, v) ((struct tg_log_field){.key = (k), .kind = TG_LOG_STRING, .string = (v)})
#define TG_I(k, v) ((struct tg_log_field){.key = (k), .kind = TG_LOG_INT, .number = (int64_t)(v)})
#define TG_B(k, v) ((struct tg_log_field){.key = (k), .kind = TG_LOG_BOOL, .number = (v)})
#define TG_D(k, v) ((struct tg_log_field){.key = (k), .kind = TG_LOG_DURATION, .number = (v)})

/* Sets format and verbosity (default text, 0); not thread safe, call once at start. */
void tg_log_configure(enum tg_log_format format, int verbosity);
/* The verbosity at any later time, from any thread. */
void tg_log_set_verbosity(int verbosity);
int tg_log_verbosity(void);
/* Test seams: lines go to this descriptor (default 2); time comes from this clock (NULL: the
 * system's). */
void tg_log_set_fd(int fd);
void tg_log_set_clock(const struct tg_clock *clock);
/* Writes the pending "lines were left out" lines now; call before the program ends. */
void tg_log_flush(void);
bool tg_log_enabled(int verbosity);
void tg_log_write(enum tg_log_level level, int verbosity, const char *file, int line,
                  const struct tg_error *err, const char *message,
                  const struct tg_log_field *fields, size_t n);

#define TG_LOG_(level, v, err, message, ...)                                                       \
    do {                                                                                           \
        if (tg_log_enabled(v)) {                                                                   \
            const struct tg_log_field tg_fields_[] = {(struct tg_log_field){0}, ##__VA_ARGS__};    \
            tg_log_write(level, v, __FILE__, __LINE__, err, message, tg_fields_ + 1,               \
                         sizeof(tg_fields_) / sizeof(tg_fields_[0]) - 1);                          \
        }                                                                                          \
    } while (0)
#define TG_INFO(message, ...) TG_LOG_(TG_LOG_INFO, 0, NULL, message, ##__VA_ARGS__)
#define TG_WARN(message, ...) TG_LOG_(TG_LOG_WARNING, 0, NULL, message, ##__VA_ARGS__)
#define TG_ERR(err, message, ...) TG_LOG_(TG_LOG_ERROR, 0, err, message, ##__VA_ARGS__)
#define TG_V(v, message, ...) TG_LOG_(TG_LOG_INFO, v, NULL, message, ##__VA_ARGS__)

#endif
