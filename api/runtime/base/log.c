/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/duration.h"
#include "api/runtime/base/str.h"

#define LINE_MAX_BYTES 16384
#define STRING_MAX_BYTES 4096
#define CLOSING_ROOM 64 /* kept free for the mark of a cut line and the closing brace */

#define REPEAT_WINDOW (10 * TG_SECOND)
#define REPEAT_LIMIT 100
#define REPEAT_SLOTS 128

/* A line under construction. A field that does not fit is left out as a whole. */
struct line {
    char text[LINE_MAX_BYTES];
    size_t n;
    bool full;
};

/* What a record consists of, whoever encodes it. */
struct record {
    enum tg_log_level level;
    int verbosity;
    const char *file;
    int line;
    const struct tg_error *err;
    const char *message;
    const struct tg_log_field *fields;
    size_t n;
};

/* One call site that writes often. */
struct repeat {
    uint64_t key; /* hash of file, line and message; 0 = unused */
    int64_t since;
    uint64_t seen;
    const char *file;
    int line;
    char message[64];
};

static struct {
    pthread_mutex_t lock;
    enum tg_log_format format;
    atomic_int verbosity;
    int fd;
    const struct tg_clock *clock;
    size_t silenced; /* slots over the limit */
    struct repeat repeats[REPEAT_SLOTS];
} logger = {.lock = PTHREAD_MUTEX_INITIALIZER, .format = TG_LOG_TEXT, .fd = STDERR_FILENO};

void tg_log_configure(enum tg_log_format format, int verbosity)
{
    logger.format = format;
    tg_log_set_verbosity(verbosity);
}

void tg_log_set_verbosity(int verbosity)
{
    atomic_store_explicit(&logger.verbosity, verbosity, memory_order_relaxed);
}

int tg_log_verbosity(void)
{
    return atomic_load_explicit(&logger.verbosity, memory_order_relaxed);
}

void tg_log_set_fd(int fd)
{
    logger.fd = fd;
}

void tg_log_set_clock(const struct tg_clock *clock)
{
    logger.clock = clock;
}

bool tg_log_enabled(int verbosity)
{
    return verbosity <= tg_log_verbosity();
}

static const struct tg_clock *current_clock(void)
{
    return logger.clock == NULL ? tg_clock_system() : logger.clock;
}

static void put(struct line *line, const char *text, size_t n)
{
    if (line->full || n > sizeof(line->text) - CLOSING_ROOM - line->n) {
        line->full = true;
        return;
    }
    memcpy(line->text + line->n, text, n);
    line->n += n;
}

static void put_str(struct line *line, const char *text)
{
    put(line, text, strlen(text));
}

static __attribute__((format(printf, 2, 3))) void put_format(struct line *line, const char *format,
                                                             ...)
{
    char text[128];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    put_str(line, text);
}

static const char *short_escape(unsigned char c)
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        return NULL;
    }
}

/* Characters that would end or forge a line on a terminal, or turn its direction. */
static bool is_unprintable(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/* Writes one character of s escaped to out (at least 8 bytes); returns how many bytes of s it was.
 */
static size_t escape_one(const char *s, size_t n, char out[static 8])
{
    uint32_t code = 0;
    size_t length = tg_utf8_next(s, n, &code);
    const char *escape = length == 1 ? short_escape((unsigned char)s[0]) : NULL;

    if (length == 0) {
        memcpy(out, "?", 2);
        return 1;
    }
    if (escape != NULL) {
        memcpy(out, escape, 3);
    } else if (is_unprintable(code)) {
        snprintf(out, 8, "\\u%04x", code);
    } else {
        memcpy(out, s, length);
        out[length] = '\0';
    }
    return length;
}

/* A quoted string: valid JSON, and what Go's %q prints but for rare control characters. */
static void put_quoted(struct line *line, const char *s)
{
    size_t n = strlen(s);
    size_t start = line->n;
    char escaped[8];

    put(line, "\"", 1);
    for (size_t i = 0; i < n && !line->full;) {
        i += escape_one(s + i, n - i, escaped);
        put_str(line, escaped);
        if (line->n - start > STRING_MAX_BYTES) {
            put_str(line, "...");
            break;
        }
    }
    put(line, "\"", 1);
}

static void put_value(struct line *line, const struct tg_log_field *field)
{
    char duration[TG_DURATION_TEXT];

    switch (field->kind) {
    case TG_LOG_STRING:
        if (field->string == NULL)
            put_str(line, "null");
        else
            put_quoted(line, field->string);
        break;
    case TG_LOG_INT:
        put_format(line, "%lld", (long long)field->number);
        break;
    case TG_LOG_BOOL:
        put_str(line, field->number != 0 ? "true" : "false");
        break;
    case TG_LOG_DURATION:
        put_quoted(line, tg_format_duration(field->number, duration));
        break;
    }
}

static void put_field(struct line *line, const struct tg_log_field *field)
{
    size_t before = line->n;

    if (logger.format == TG_LOG_JSON) {
        put(line, ",", 1);
        put_quoted(line, field->key);
        put(line, ":", 1);
    } else {
        put(line, " ", 1);
        put_str(line, field->key);
        put(line, "=", 1);
    }
    put_value(line, field);
    if (line->full)
        line->n = before;
}

static void put_error(struct line *line, const struct tg_error *err)
{
    put_field(line, &TG_S("err", err->message));
    if (err->code != TG_OK)
        put_field(line, &TG_S("code", tg_code_name(err->code)));
}

static void put_fields(struct line *line, const struct record *record)
{
    if (record->err != NULL)
        put_error(line, record->err);
    for (size_t i = 0; i < record->n && !line->full; i++)
        put_field(line, &record->fields[i]);
}

/* Ends the line in the room that put() never uses. */
static void close_line(struct line *line)
{
    const char *mark = logger.format == TG_LOG_JSON ? ",\"truncated\":true" : " truncated=true";

    if (line->full) {
        memcpy(line->text + line->n, mark, strlen(mark));
        line->n += strlen(mark);
    }
    if (logger.format == TG_LOG_JSON)
        line->text[line->n++] = '}';
    line->text[line->n++] = '\n';
}

/* The last `parts` components of a path: log lines need to find the file, not the whole tree. */
static const char *tail_of_path(const char *path, int parts)
{
    const char *p = path + strlen(path);

    while (p > path && (p[-1] != '/' || --parts > 0))
        p--;
    return p;
}

static void encode_text(struct line *line, const struct record *record, int64_t wall)
{
    static const char letters[] = {
        [TG_LOG_INFO] = 'I', [TG_LOG_WARNING] = 'W', [TG_LOG_ERROR] = 'E'};
    time_t seconds = (time_t)(wall / TG_SECOND);
    struct tm t = {0};

    localtime_r(&seconds, &t);
    put_format(line, "%c%02d%02d %02d:%02d:%02d.%06d %7d ", letters[record->level], t.tm_mon + 1,
               t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (int)(wall % TG_SECOND / 1000),
               (int)getpid());
    put_str(line, tail_of_path(record->file, 1));
    put_format(line, ":%d] ", record->line);
    put_quoted(line, record->message);
    put_fields(line, record);
}

static void encode_json(struct line *line, const struct record *record, int64_t wall)
{
    put_format(line, "{\"ts\":%lld.%03d,\"caller\":\"", (long long)(wall / TG_MILLISECOND),
               (int)(wall % TG_MILLISECOND / 1000));
    put_str(line, tail_of_path(record->file, 2));
    put_format(line, ":%d\",\"msg\":", record->line);
    put_quoted(line, record->message);
    if (record->level == TG_LOG_INFO)
        put_format(line, ",\"v\":%d", record->verbosity);
    else
        put_format(line, ",\"level\":\"%s\"", record->level == TG_LOG_ERROR ? "error" : "warning");
    put_fields(line, record);
}

/* One write a line, so that lines of several processes on one pipe do not mix. What a full or
 * closed stderr does not take is lost: logging must never stop the program. */
static void emit(const struct record *record)
{
    struct line line;
    ssize_t wrote;

    line.n = 0;
    line.full = false;
    if (logger.format == TG_LOG_JSON)
        encode_json(&line, record, tg_now_wall(current_clock()));
    else
        encode_text(&line, record, tg_now_wall(current_clock()));
    close_line(&line);
    do
        wrote = write(logger.fd, line.text, line.n);
    while (wrote < 0 && errno == EINTR);
}

/* A line of the logger's own about a silenced call site. */
static void report_repeats(const struct repeat *repeat, const char *message, uint64_t count)
{
    const struct tg_log_field fields[] = {TG_S("message", repeat->message), TG_I("count", count)};
    struct record record = {.level = TG_LOG_WARNING,
                            .file = repeat->file,
                            .line = repeat->line,
                            .message = message,
                            .fields = fields,
                            .n = TG_ARRAY_SIZE(fields)};

    emit(&record);
}

static void end_window(struct repeat *repeat)
{
    if (repeat->seen > REPEAT_LIMIT) {
        report_repeats(repeat, "Repeated lines were left out", repeat->seen - REPEAT_LIMIT);
        logger.silenced--;
    }
    repeat->seen = 0;
}

static void end_old_windows(int64_t now)
{
    for (size_t i = 0; logger.silenced > 0 && i < REPEAT_SLOTS; i++) {
        if (now - logger.repeats[i].since >= REPEAT_WINDOW)
            end_window(&logger.repeats[i]);
    }
}

static uint64_t site_key(const struct record *record)
{
    uint64_t key = tg_hash64(record->message, strlen(record->message)) ^
                   tg_hash64(record->file, strlen(record->file)) * 31 ^ (uint64_t)record->line;

    return key == 0 ? 1 : key;
}

/* Counts the record; false if it is to be left out. Call sites that share a slot take it from each
 * other, which can only let more lines through. */
static bool passes_limit(const struct record *record, int64_t now)
{
    uint64_t key = site_key(record);
    struct repeat *repeat = &logger.repeats[key % REPEAT_SLOTS];

    if (repeat->key != key || now - repeat->since >= REPEAT_WINDOW) {
        end_window(repeat);
        repeat->key = key;
        repeat->since = now;
        repeat->file = record->file;
        repeat->line = record->line;
        snprintf(repeat->message, sizeof(repeat->message), "%s", record->message);
    }
    repeat->seen++;
    if (repeat->seen == REPEAT_LIMIT + 1) {
        logger.silenced++;
        report_repeats(repeat, "Repeated lines are left out for up to 10s", REPEAT_LIMIT);
    }
    return repeat->seen <= REPEAT_LIMIT;
}

void tg_log_write(enum tg_log_level level, int verbosity, const char *file, int line,
                  const struct tg_error *err, const char *message,
                  const struct tg_log_field *fields, size_t n)
{
    struct record record = {level, verbosity, file, line, err, message, fields, n};
    int saved = errno;
    int64_t now = tg_now_monotonic(current_clock());

    pthread_mutex_lock(&logger.lock);
    end_old_windows(now);
    if (passes_limit(&record, now))
        emit(&record);
    pthread_mutex_unlock(&logger.lock);
    errno = saved;
}

void tg_log_flush(void)
{
    pthread_mutex_lock(&logger.lock);
    for (size_t i = 0; logger.silenced > 0 && i < REPEAT_SLOTS; i++)
        end_window(&logger.repeats[i]);
    pthread_mutex_unlock(&logger.lock);
}
