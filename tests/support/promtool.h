/* SPDX-License-Identifier: Apache-2.0 */
/* What Prometheus itself says about a page of metrics (names, units, types, syntax), and whether
 * users can read about them. */
#ifndef TG_TESTS_SUPPORT_PROMTOOL_H
#define TG_TESTS_SUPPORT_PROMTOOL_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* True if `promtool check metrics` has nothing to say about the text, or there is no promtool here,
 * which is printed. source: the root of the repository. */
static inline bool promtool_accepts(const char *source, const char *text)
{
    char script[1024];
    FILE *page = tmpfile();
    int status = -1;
    pid_t pid;

    snprintf(
        script, sizeof(script),
        "tool=$(%s/tests/support/promtool --no-download) || exit 77\n"
        "said=$(\"$tool\" check metrics 2>&1) && [ -z \"$said\" ] || { echo \"$said\"; exit 1; }",
        source);
    if (page == NULL || fputs(text, page) < 0 || fflush(page) != 0)
        return false;
    rewind(page);
    pid = fork();
    if (pid == 0) {
        dup2(fileno(page), STDIN_FILENO);
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    fclose(page);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        printf("not checked by promtool: there is none\n");
        return true;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* True if deploy/docs/metrics.md names every metric of the text; the first that it does not is
 * printed. */
static inline bool metrics_are_documented(const char *source, const char *text)
{
    static char docs[64 << 10];
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s/deploy/docs/metrics.md", source);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    docs[fread(docs, 1, sizeof(docs) - 1, file)] = '\0';
    fclose(file);
    for (const char *at = strstr(text, "# TYPE "); at != NULL; at = strstr(at + 1, "# TYPE ")) {
        char name[128];

        snprintf(name, sizeof(name), "`%.*s`", (int)strcspn(at + 7, " "), at + 7);
        if (strstr(docs, name) == NULL) {
            printf("deploy/docs/metrics.md does not name %s\n", name);
            return false;
        }
    }
    return true;
}

#endif
