/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/str.h"

#define FIELDS(...)                                                                                \
    (const struct tg_log_field[]){__VA_ARGS__},                                                    \
        sizeof((const struct tg_log_field[]){__VA_ARGS__}) / sizeof(struct tg_log_field)

/* 2023-11-14 22:13:20.123456789 UTC */
#define MOMENT INT64_C(1700000000123456789)

static struct tg_fake_clock fake;
static int log_file = -1;

static int open_log(void **state)
{
    (void)state;
    log_file = memfd_create("log", MFD_CLOEXEC);
    /* A new start: no call site is silenced any more. */
    tg_log_set_fd(log_file);
    tg_fake_clock_advance(&fake, 3600 * TG_SECOND);
    tg_log_flush();
    if (ftruncate(log_file, 0) != 0)
        return -1;
    fake.wall_now = MOMENT;
    tg_log_configure(TG_LOG_TEXT, 0);
    return log_file < 0 ? -1 : 0;
}

static int close_log(void **state)
{
    (void)state;
    tg_log_set_fd(STDERR_FILENO);
    close(log_file);
    return 0;
}

/* What was logged so far; replaces the process id in it by PID. */
static char *logged(void)
{
    static char text[1 << 20];
    char pid[16];
    char *found;
    ssize_t n = pread(log_file, text, sizeof(text) - 1, 0);

    assert_true(n >= 0);
    text[n] = '\0';
    snprintf(pid, sizeof(pid), "%7d", (int)getpid());
    while ((found = strstr(text, pid)) != NULL)
        memcpy(found, "    PID", 7);
    return text;
}

static size_t count_lines(const char *text)
{
    size_t n = 0;

    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

static void write_all_kinds(void)
{
    struct tg_error err = TG_ERROR_INIT;

    tg_log_write(TG_LOG_INFO, 0, "kubelet-plugin/publish.c", 12, NULL, "Published slices",
                 FIELDS(TG_S("node", "a"), TG_I("count", 3), TG_B("first", true),
                        TG_B("last", false), TG_D("took", 1500 * TG_MILLISECOND),
                        TG_S("nothing", NULL), TG_I("min", INT64_MIN)));
    tg_log_write(TG_LOG_INFO, 4, "publish.c", 13, NULL, "No fields", NULL, 0);
    tg_log_write(TG_LOG_WARNING, 0, "a/b/c.c", 1, NULL, "Careful", NULL, 0);
    tg_error_set(&err, TG_NOT_FOUND, "claim \"x\" is gone");
    tg_log_write(TG_LOG_ERROR, 0, "a/b/c.c", 2, &err, "Cannot publish", FIELDS(TG_S("node", "a")));
}

static void text_lines_are_those_of_klog(void **state)
{
    (void)state;
    write_all_kinds();
    assert_string_equal(
        logged(),
        "I1114 22:13:20.123456     PID publish.c:12] \"Published slices\" node=\"a\" count=3 "
        "first=true "
        "last=false took=\"1.5s\" nothing=null min=-9223372036854775808\n"
        "I1114 22:13:20.123456     PID publish.c:13] \"No fields\"\n"
        "W1114 22:13:20.123456     PID c.c:1] \"Careful\"\n"
        "E1114 22:13:20.123456     PID c.c:2] \"Cannot publish\" err=\"claim \\\"x\\\" is gone\" "
        "code=\"NOT_FOUND\" node=\"a\"\n");
}

static void json_lines_are_those_of_kubernetes_components(void **state)
{
    (void)state;
    tg_log_configure(TG_LOG_JSON, 0);
    write_all_kinds();
    assert_string_equal(
        logged(),
        "{\"ts\":1700000000123.456,\"caller\":\"kubelet-plugin/publish.c:12\",\"msg\":\"Published "
        "slices\","
        "\"v\":0,\"node\":\"a\",\"count\":3,\"first\":true,\"last\":false,\"took\":\"1.5s\","
        "\"nothing\":null,\"min\":-9223372036854775808}\n"
        "{\"ts\":1700000000123.456,\"caller\":\"publish.c:13\",\"msg\":\"No fields\",\"v\":4}\n"
        "{\"ts\":1700000000123.456,\"caller\":\"b/"
        "c.c:1\",\"msg\":\"Careful\",\"level\":\"warning\"}\n"
        "{\"ts\":1700000000123.456,\"caller\":\"b/c.c:2\",\"msg\":\"Cannot "
        "publish\",\"level\":\"error\","
        "\"err\":\"claim \\\"x\\\" is gone\",\"code\":\"NOT_FOUND\",\"node\":\"a\"}\n");
}

static void strings_cannot_forge_a_line_or_break_the_encoding(void **state)
{
    static const char nasty[] =
        "a\"b\\c\n\r\t\001\177\033[1m\377\303\244\302\205\342\200\250\342\200\256z";

    (void)state;
    tg_log_write(TG_LOG_INFO, 0, "f.c", 1, NULL, nasty, FIELDS(TG_S("k", nasty)));
    tg_log_configure(TG_LOG_JSON, 0);
    tg_log_write(TG_LOG_INFO, 0, "f.c", 2, NULL, "m", FIELDS(TG_S("k\"", nasty)));
    assert_string_equal(
        logged(),
        "I1114 22:13:20.123456     PID f.c:1] "
        "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u007f\\u001b[1m?\303\244\\u0085\\u2028\\u202ez\" "
        "k=\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u007f\\u001b[1m?\303\244\\u0085\\u2028\\u202ez\"\n"
        "{\"ts\":1700000000123.456,\"caller\":\"f.c:2\",\"msg\":\"m\",\"v\":0,\"k\\\"\":"
        "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u007f\\u001b[1m?\303\244\\u0085\\u2028\\u202ez\"}\n");
}

static void verbosity_is_checked_before_arguments_are_evaluated(void **state)
{
    int evaluated = 0;

    (void)state;
    tg_log_configure(TG_LOG_TEXT, 3);
    TG_V(4, "quiet", TG_I("n", ++evaluated));
    assert_int_equal(evaluated, 0);
    assert_string_equal(logged(), "");
    TG_V(3, "loud", TG_I("n", ++evaluated));
    assert_int_equal(evaluated, 1);
    assert_non_null(strstr(logged(), "\"loud\" n=1\n"));
}

static void macros_tell_the_place_without_the_tree_it_was_built_in(void **state)
{
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    TG_INFO("one");
    TG_WARN("two", TG_S("k", "v"));
    tg_error_set(&err, TG_INTERNAL, "e");
    TG_ERR(&err, "three");
    TG_ERR(NULL, "four");
    assert_int_equal(count_lines(logged()), 4);
    assert_non_null(strstr(logged(), " log_test.c:"));
    assert_null(strstr(logged(), "/"));
}

static void long_strings_and_lines_are_cut_and_say_so(void **state)
{
    static char huge[100000];

    (void)state;
    memset(huge, 'x', sizeof(huge) - 1);
    for (int format = TG_LOG_TEXT; format <= TG_LOG_JSON; format++) {
        const char *text;

        tg_log_configure((enum tg_log_format)format, 0);
        assert_int_equal(ftruncate(log_file, 0), 0);
        assert_int_equal(lseek(log_file, 0, SEEK_SET), 0);
        tg_log_write(TG_LOG_INFO, 0, "f.c", 3, NULL, "m",
                     FIELDS(TG_S("a", huge), TG_S("b", huge), TG_S("c", huge), TG_S("d", huge),
                            TG_S("e", "never reached")));
        text = logged();
        assert_true(strlen(text) <= 16384);
        assert_int_equal(count_lines(text), 1);
        assert_non_null(strstr(text, "xxx...\""));
        assert_true(tg_has_suffix(text, format == TG_LOG_TEXT ? "...\" truncated=true\n"
                                                              : "...\",\"truncated\":true}\n"));
        assert_null(strstr(text, "never"));
    }
}

static void repeat(int n)
{
    for (int i = 0; i < n; i++)
        tg_log_write(TG_LOG_INFO, 0, "f.c", 7, NULL, "Again", FIELDS(TG_I("i", i)));
}

static void a_flood_is_silenced_and_accounted_for(void **state)
{
    const char *text;

    (void)state;
    repeat(1000);
    assert_int_equal(count_lines(logged()), 101);
    assert_non_null(strstr(logged(), "f.c:7] \"Again\" i=99\nW1114 22:13:20.123456     PID f.c:7] "
                                     "\"Repeated lines are left out for up to 10s\" "
                                     "message=\"Again\" count=100\n"));
    tg_log_write(TG_LOG_INFO, 0, "f.c", 8, NULL, "Other lines pass", NULL, 0);
    assert_true(tg_has_suffix(logged(), "\"Other lines pass\"\n"));

    tg_fake_clock_advance(&fake, 10 * TG_SECOND);
    tg_log_write(TG_LOG_INFO, 0, "f.c", 9, NULL, "Later", NULL, 0);
    text = logged();
    assert_non_null(strstr(text,
                           "W1114 22:13:30.123456     PID f.c:7] \"Repeated lines were left out\" "
                           "message=\"Again\" count=900\n"));
    repeat(1);
    assert_true(tg_has_suffix(logged(), "\"Again\" i=0\n"));
}

static void exactly_the_limit_is_not_a_flood(void **state)
{
    (void)state;
    for (int window = 0; window < 3; window++) {
        repeat(100);
        tg_fake_clock_advance(&fake, 10 * TG_SECOND);
    }
    assert_int_equal(count_lines(logged()), 300);
    assert_null(strstr(logged(), "Repeated"));
}

static void flush_tells_what_was_left_out(void **state)
{
    (void)state;
    repeat(150);
    tg_log_flush();
    assert_true(
        tg_has_suffix(logged(), "\"Repeated lines were left out\" message=\"Again\" count=50\n"));
    tg_log_flush();
    assert_int_equal(count_lines(logged()), 102);
}

static void the_same_message_from_elsewhere_is_counted_alone(void **state)
{
    (void)state;
    repeat(150);
    for (int i = 0; i < 50; i++) {
        tg_log_write(TG_LOG_INFO, 0, "g.c", 7, NULL, "Again", NULL, 0);
        tg_log_write(TG_LOG_INFO, 0, "f.c", 70, NULL, "Again", NULL, 0);
    }
    assert_int_equal(count_lines(logged()), 101 + 100);
}

static void logging_leaves_errno_alone_and_survives_a_closed_descriptor(void **state)
{
    (void)state;
    tg_log_set_fd(-1);
    errno = ENOENT;
    TG_INFO("nobody reads this");
    assert_int_equal(errno, ENOENT);
}

static void *log_from_a_thread(void *data)
{
    for (int i = 0; i < 90; i++)
        tg_log_write(TG_LOG_INFO, 0, "t.c", *(int *)data, NULL, "Thread",
                     FIELDS(TG_S("padding", "0123456789012345678901234567890123456789")));
    return NULL;
}

static void lines_of_several_threads_stay_whole(void **state)
{
    pthread_t threads[4];
    int numbers[4] = {1, 2, 3, 4};
    char *rest;
    char *line;

    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, log_from_a_thread, &numbers[i]), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    rest = logged();
    assert_int_equal(count_lines(rest), 360);
    while ((line = strsep(&rest, "\n")) != NULL && line[0] != '\0') {
        assert_true(tg_has_prefix(line, "I1114 "));
        assert_true(tg_has_suffix(line, "0123456789\""));
    }
}

#define WITH_LOG(test) cmocka_unit_test_setup_teardown(test, open_log, close_log)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LOG(text_lines_are_those_of_klog),
        WITH_LOG(json_lines_are_those_of_kubernetes_components),
        WITH_LOG(strings_cannot_forge_a_line_or_break_the_encoding),
        WITH_LOG(verbosity_is_checked_before_arguments_are_evaluated),
        WITH_LOG(macros_tell_the_place_without_the_tree_it_was_built_in),
        WITH_LOG(long_strings_and_lines_are_cut_and_say_so),
        WITH_LOG(a_flood_is_silenced_and_accounted_for),
        WITH_LOG(exactly_the_limit_is_not_a_flood),
        WITH_LOG(flush_tells_what_was_left_out),
        WITH_LOG(the_same_message_from_elsewhere_is_counted_alone),
        WITH_LOG(logging_leaves_errno_alone_and_survives_a_closed_descriptor),
        WITH_LOG(lines_of_several_threads_stay_whole),
    };

    setenv("TZ", "UTC", 1);
    tzset();
    tg_fake_clock_init(&fake, MOMENT);
    tg_log_set_clock(&fake.clock);
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
