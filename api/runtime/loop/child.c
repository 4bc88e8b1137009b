/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/loop/child.h"

#include <assert.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/vec.h"
#include "api/runtime/loop/internal.h"

enum { MAX_OUTPUT = 1 << 20, MAX_COMPLAINT = 64 << 10, SHOWN = 200 };
static const int64_t default_timeout = 60 * TG_SECOND;

struct output {
    struct tg_io io;
    int fd; /* -1: closed */
    struct tg_buf text;
};

struct tg_child {
    struct tg_loop *loop;
    struct tg_child_config config;
    char *name; /* of the program, for messages */
    pid_t pid;
    ev_child watcher;
    struct tg_timer deadline;
    struct output out, complaint;
    struct tg_error error; /* why it was killed */
};

static void close_output(struct output *output)
{
    if (output->fd < 0)
        return;
    tg_io_stop(&output->io);
    close(output->fd);
    output->fd = -1;
}

/* What it started as well: it leads a process group of its own. */
static void kill_group(const struct tg_child *child)
{
    (void)kill(-child->pid, SIGKILL);
}

static void free_child(struct tg_child *child)
{
    ev_child_stop(tg_loop_ev(child->loop), &child->watcher);
    tg_timer_stop(&child->deadline);
    close_output(&child->out);
    close_output(&child->complaint);
    tg_buf_done(&child->out.text);
    tg_buf_done(&child->complaint.text);
    free(child->name);
    free(child);
}

/* Everything that is there now. False when there will be no more. */
static bool read_output(struct output *output)
{
    char bytes[4096];

    for (;;) {
        ssize_t n = read(output->fd, bytes, sizeof(bytes));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n <= 0)
            return false;
        (void)tg_buf_append(&output->text, bytes, (size_t)n); /* judged by its owner */
    }
}

static void on_output(struct tg_io *io, int events)
{
    struct tg_child *child = io->data;

    (void)events;
    if (!read_output(&child->out))
        close_output(&child->out);
    if (child->out.text.failed && child->error.code == TG_OK) {
        tg_error_set(&child->error, TG_RESOURCE_EXHAUSTED,
                     "%s: its output is larger than %zu bytes", child->name, child->out.text.max);
        kill_group(child);
    }
}

static void on_complaint(struct tg_io *io, int events)
{
    struct tg_child *child = io->data;

    (void)events;
    if (!read_output(&child->complaint))
        close_output(&child->complaint);
    if (child->complaint.text.failed)
        tg_buf_clear(&child->complaint.text); /* only the end is of interest */
}

static void on_deadline(struct tg_timer *timer)
{
    struct tg_child *child = timer->data;

    if (child->error.code == TG_OK)
        tg_error_set(&child->error, TG_DEADLINE_EXCEEDED, "%s: not finished within %lld ms",
                     child->name, (long long)(child->config.timeout / TG_MILLISECOND));
    kill_group(child);
}

/* The last line that is not empty, cut to be shown. */
static const char *last_line(struct tg_buf *text)
{
    char *line;

    while (text->len > 0 && strchr(" \t\r\n", text->data[text->len - 1]) != NULL)
        text->data[--text->len] = '\0';
    if (text->len == 0)
        return "it said nothing on standard error";
    line = memrchr(text->data, '\n', text->len);
    line = line == NULL ? text->data : line + 1;
    if (strlen(line) > SHOWN)
        line[SHOWN] = '\0';
    return line;
}

static void judge(struct tg_child *child, int status)
{
    if (child->error.code != TG_OK)
        return;
    if (WIFSIGNALED(status))
        tg_error_set(&child->error, TG_UNAVAILABLE, "%s: killed by signal %d: %s", child->name,
                     WTERMSIG(status), last_line(&child->complaint.text));
    else if (WEXITSTATUS(status) != 0)
        tg_error_set(&child->error, TG_UNAVAILABLE, "%s: exit status %d: %s", child->name,
                     WEXITSTATUS(status), last_line(&child->complaint.text));
}

/* What it wrote is in the pipes by now; whoever inherited them is not waited for. */
static void on_exit_of_child(struct ev_loop *ev, ev_child *watcher, int events)
{
    struct tg_child *child = watcher->data;

    (void)events;
    ev_child_stop(ev, watcher);
    if (child->out.fd >= 0)
        on_output(&child->out.io, TG_LOOP_READ);
    if (child->complaint.fd >= 0)
        on_complaint(&child->complaint.io, TG_LOOP_READ);
    judge(child, watcher->rstatus);
    child->config.done(child->config.data, tg_buf_str(&child->out.text), child->out.text.len,
                       &child->error);
    free_child(child);
}

/* The environment of this process with `over` over it. The strings are borrowed. */
static char **merge_environment(const char *const *over)
{
    TG_VEC(char *) merged = {0};

    for (char **e = environ; *e != NULL; e++) {
        bool replaced = false;

        for (const char *const *o = over; o != NULL && *o != NULL && !replaced; o++) {
            const char *equals = strchr(*o, '=');
            size_t name = equals == NULL ? strlen(*o) : (size_t)(equals - *o) + 1;
            replaced = strncmp(*e, *o, name) == 0;
        }
        if (!replaced)
            *TG_VEC_PUSH(&merged) = *e;
    }
    for (const char *const *o = over; o != NULL && *o != NULL; o++)
        *TG_VEC_PUSH(&merged) = (char *)(uintptr_t)*o;
    *TG_VEC_PUSH(&merged) = NULL;
    return merged.items;
}

static int spawn(struct tg_child *child, int out, int complaint)
{
    TG_AUTOFREE char **env = merge_environment(child->config.env);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    sigset_t defaults;
    int rc;

    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE); /* we ignore it; it must not inherit that */
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                       POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &defaults);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, complaint, STDERR_FILENO);
    rc = posix_spawnp(&child->pid, child->config.argv[0], &files, &how,
                      (char *const *)(uintptr_t)child->config.argv, env);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return rc;
}

/* A pipe of which we read; *write is the other end. */
static int open_output(struct output *output, int *write)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    output->fd = ends[0];
    *write = ends[1];
    return 0;
}

static int start(struct tg_child *child)
{
    int out = -1;
    int complaint = -1;
    int rc = open_output(&child->out, &out);

    if (rc == 0)
        rc = open_output(&child->complaint, &complaint);
    if (rc == 0)
        rc = spawn(child, out, complaint);
    if (out >= 0)
        close(out);
    if (complaint >= 0)
        close(complaint);
    return rc;
}

int tg_child_start(struct tg_loop *loop, const struct tg_child_config *config,
                   struct tg_child **ret, struct tg_error *err)
{
    struct tg_child *child = tg_xcalloc(1, sizeof(*child));
    int rc;

    assert(ev_is_default_loop(tg_loop_ev(loop)) && config->done != NULL);
    child->loop = loop;
    child->config = *config;
    child->name = tg_xstrdup(config->argv[0]);
    child->error = TG_ERROR_INIT;
    child->out.fd = child->complaint.fd = -1;
    tg_buf_init(&child->out.text, config->max_output > 0 ? config->max_output : MAX_OUTPUT);
    tg_buf_init(&child->complaint.text, MAX_COMPLAINT);
    ev_init(&child->watcher, on_exit_of_child);
    if (config->timeout <= 0)
        child->config.timeout = default_timeout;
    rc = start(child);
    if (rc != 0) {
        tg_error_errno(err, rc, "%s", config->argv[0]);
        free_child(child);
        return err == NULL ? -TG_UNKNOWN : -(int)err->code;
    }
    child->config.argv = child->config.env = NULL; /* the caller's */
    child->out.io.callback = on_output;
    child->complaint.io.callback = on_complaint;
    child->deadline.callback = on_deadline;
    child->out.io.data = child->complaint.io.data = child->deadline.data = child;
    tg_io_start(loop, &child->out.io, child->out.fd, TG_LOOP_READ);
    tg_io_start(loop, &child->complaint.io, child->complaint.fd, TG_LOOP_READ);
    tg_timer_start(loop, &child->deadline, child->config.timeout);
    ev_child_set(&child->watcher, child->pid, 0);
    child->watcher.data = child;
    ev_child_start(tg_loop_ev(loop), &child->watcher);
    *ret = child;
    return 0;
}

void tg_child_stop(struct tg_child *child)
{
    if (child == NULL)
        return;
    kill_group(child); /* libev takes note of its end */
    free_child(child);
}
