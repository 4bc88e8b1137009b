/* SPDX-License-Identifier: Apache-2.0 */
/* The server of tests/support/tls_server as a child of the test: an HTTPS server whose certificates
 * the test rotates. */
#ifndef TG_TESTS_SUPPORT_TLS_SERVER_H
#define TG_TESTS_SUPPORT_TLS_SERVER_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/file.h"

struct tls_server {
    char folder[64];
    char url[64];
    pid_t pid;
    FILE *commands, *answers;
};

/* source: the root of the repository. */
static inline void tls_server_start(struct tls_server *server, const char *source)
{
    char program[512];
    int in[2];
    int out[2];
    int port = 0;

    snprintf(program, sizeof(program), "%s/tests/support/tls_server", source);
    snprintf(server->folder, sizeof(server->folder), "/tmp/tangram-tls-XXXXXX");
    if (mkdtemp(server->folder) == NULL || pipe(in) != 0 || pipe(out) != 0)
        abort();
    server->pid = fork();
    if (server->pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]);
        execl(program, "tls_server", server->folder, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    server->commands = fdopen(in[1], "w");
    server->answers = fdopen(out[0], "r");
    if (fscanf(server->answers, "%d", &port) != 1)
        abort(); /* it said why on standard error */
    snprintf(server->url, sizeof(server->url), "https://127.0.0.1:%d", port);
}

/* authority: "one" or "two". */
static inline void tls_server_serve(struct tls_server *server, const char *authority)
{
    char answer[16] = "";

    fprintf(server->commands, "serve %s\n", authority);
    if (fflush(server->commands) != 0 || fscanf(server->answers, "%15s", answer) != 1 ||
        strcmp(answer, "done") != 0)
        abort();
}

static inline void tls_server_path(const struct tls_server *server, const char *name, char out[128])
{
    snprintf(out, 128, "%s/%s", server->folder, name);
}

/* As the kubelet rotates a file of a volume: the name leads to another one at once. */
static inline void tls_server_copy(const struct tls_server *server, const char *from,
                                   const char *to)
{
    struct tg_buf text = TG_BUF_INIT(64 << 10);
    char path[128];

    tls_server_path(server, from, path);
    if (tg_file_read(path, &text, NULL) != 0)
        abort();
    tls_server_path(server, to, path);
    if (tg_file_write_atomic(path, text.data, text.len, 0600, NULL) != 0)
        abort();
    tg_buf_done(&text);
}

/* The process is there and does nothing; its kernel goes on acknowledging what arrives. */
static inline void tls_server_hang(const struct tls_server *server)
{
    int status;

    if (kill(server->pid, SIGSTOP) != 0 || waitpid(server->pid, &status, WUNTRACED) != server->pid)
        abort();
}

static inline void tls_server_go_on(const struct tls_server *server)
{
    if (kill(server->pid, SIGCONT) != 0)
        abort();
}

static inline void tls_server_stop(struct tls_server *server)
{
    fclose(server->commands);
    fclose(server->answers);
    waitpid(server->pid, NULL, 0);
    pid_t cleaner = fork();
    if (cleaner == 0) {
        execlp("rm", "rm", "-r", server->folder, (char *)NULL);
        _exit(127);
    }
    waitpid(cleaner, NULL, 0);
}

#endif
