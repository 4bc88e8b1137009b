/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program is a grandchild. The event loop collects every child of this process, on another
 * thread, and with it how the child ended; so a child in between waits for the program and tells
 * us by a pipe. Between fork and exec only what is safe in a signal handler is called.
 */
#include "driver/provider/nvml/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/str.h"

#define CANNOT_RUN 127
#define LINE_MAX_ 200

enum { READ, WRITE };
struct pipes {
    int output[2], status[2];
};

struct outcome {
    int status; /* of waitpid */
    bool known;
    char line[LINE_MAX_ + 1]; /* the end of the output */
};

/* ---- in the children ---- */

__attribute__((noreturn)) static void become(const struct pipes *pipes, const char *const *argv,
                                             const char *const *env)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(pipes->output[WRITE], STDOUT_FILENO);
    (void)dup2(pipes->output[WRITE], STDERR_FILENO);
    (void)execve(argv[0], (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
    _exit(CANNOT_RUN);
}

__attribute__((noreturn)) static void stand_between(const struct pipes *pipes,
                                                    const char *const *argv, const char *const *env)
{
    sigset_t none;
    int status = -1;
    (void)setpgid(0, 0);
    (void)signal(SIGCHLD, SIG_DFL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    pid_t child = fork();
    if (child == 0)
        become(pipes, argv, env);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child > 0)
        (void)!write(pipes->status[WRITE], &status, sizeof(status));
    _exit(0);
}

/* ---- here ---- */

/* Keeps the end of what the program says, without the line ends after it. */
static void keep(struct outcome *outcome, const char *data, size_t n)
{
    size_t have = strlen(outcome->line);
    for (size_t i = 0; i < n; i++) {
        if (have == LINE_MAX_ || (have > 0 && outcome->line[have - 1] == '\n')) {
            have = 0; /* a new line, or one that is too long */
        }
        outcome->line[have++] = data[i] == '\0' ? '?' : data[i];
    }
    outcome->line[have] = '\0';
}

/* false: nothing more will come. */
static bool read_output(int fd, struct outcome *outcome)
{
    char data[512];
    ssize_t n = read(fd, data, sizeof(data));
    if (n > 0)
        keep(outcome, data, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

static int remaining_ms(int64_t until)
{
    int64_t left = until - tg_now_monotonic(tg_clock_system());
    return left <= 0 ? 0 : (int)(left / TG_MILLISECOND) + 1;
}

/* Until the status is there, or the time is over. */
static void listen_to(const struct pipes *pipes, int64_t until, struct outcome *outcome)
{
    struct pollfd wait[] = {{.fd = pipes->status[READ], .events = POLLIN},
                            {.fd = pipes->output[READ], .events = POLLIN}};
    for (int left = remaining_ms(until); left > 0; left = remaining_ms(until)) {
        if (poll(wait, TG_ARRAY_SIZE(wait), left) < 0)
            continue;
        if (wait[1].revents != 0 && !read_output(wait[1].fd, outcome))
            wait[1].fd = -1;
        if (wait[0].revents == 0 || (wait[1].revents & POLLIN) != 0)
            continue; /* what was said before the end is read first */
        outcome->known = read(wait[0].fd, &outcome->status, sizeof(outcome->status)) ==
                         (ssize_t)sizeof(outcome->status);
        return;
    }
}

static int judge(const char *program, struct outcome *outcome, bool late, struct tg_error *err)
{
    outcome->line[strcspn(outcome->line, "\r\n")] = '\0';
    tg_utf8_sanitize(outcome->line, strlen(outcome->line));
    if (late)
        return tg_error_set(err, TG_DEADLINE_EXCEEDED, "%s did not end in time, and was killed",
                            program);
    if (outcome->known && WIFEXITED(outcome->status) && WEXITSTATUS(outcome->status) == 0)
        return 0;
    if (outcome->known && WIFEXITED(outcome->status))
        return tg_error_set(err, TG_UNAVAILABLE, "%s ended with status %d: %s", program,
                            WEXITSTATUS(outcome->status), tg_or(outcome->line, "it says nothing"));
    return tg_error_set(err, TG_UNAVAILABLE, "%s was killed (signal %d)", program,
                        outcome->known ? WTERMSIG(outcome->status) : 0);
}

static void close_pair(const int pair[2])
{
    (void)close(pair[READ]);
    (void)close(pair[WRITE]);
}

static int open_pipes(struct pipes *pipes, struct tg_error *err)
{
    if (pipe2(pipes->output, O_CLOEXEC) != 0)
        return tg_error_errno(err, errno, "cannot make a pipe");
    if (pipe2(pipes->status, O_CLOEXEC) == 0)
        return 0;
    int number = errno;
    close_pair(pipes->output);
    return tg_error_errno(err, number, "cannot make a pipe");
}

int tg_nvml_tool_run(const char *const *argv, const char *const *env, int64_t timeout,
                     struct tg_error *err)
{
    int64_t until = tg_now_monotonic(tg_clock_system()) + timeout;
    struct outcome outcome = {0};
    struct pipes pipes;
    int rc = open_pipes(&pipes, err);
    if (rc < 0)
        return rc;
    pid_t between = fork();
    int number = errno;
    if (between == 0)
        stand_between(&pipes, argv, env);
    (void)close(pipes.output[WRITE]);
    (void)close(pipes.status[WRITE]);
    if (between > 0) {
        listen_to(&pipes, until, &outcome);
        bool late = !outcome.known && remaining_ms(until) == 0;
        (void)kill(-between, SIGKILL); /* all that is left of it */
        while (waitpid(between, NULL, 0) < 0 && errno == EINTR)
            continue;
        rc = judge(argv[0], &outcome, late, err);
    } else {
        rc = tg_error_errno(err, number, "cannot start %s", argv[0]);
    }
    (void)close(pipes.output[READ]);
    (void)close(pipes.status[READ]);
    return rc;
}
