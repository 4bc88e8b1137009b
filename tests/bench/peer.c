/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/peer.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int peer_run(const char *peer, FILE *requests, FILE *answers, struct tg_error *err)
{
    char *const argv[] = {(char *)peer, (char *)"--bench", NULL};
    posix_spawn_file_actions_t actions;
    int status, rc;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(requests), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(answers), STDOUT_FILENO);
    rc = posix_spawn(&pid, peer, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (rc != 0)
        return tg_error_set(err, TG_NOT_FOUND, "%s cannot be run (%s): tests/peers/build makes it",
                            peer, strerrordesc_np(rc));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return tg_error_set(err, TG_UNKNOWN, "%s failed", peer);
    return 0;
}

int peer_number(const struct tg_json *json, const char *key, double *ret, struct tg_error *err)
{
    const struct tg_json *v = tg_json_get(json, key);

    if (v == NULL || v->kind != TG_JSON_NUMBER)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "the peer's answer has no %s", key);
    *ret = strtod(v->text, NULL);
    return 0;
}
