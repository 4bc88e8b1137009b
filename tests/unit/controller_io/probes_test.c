/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/controller_io/fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/runtime/http/http.h"

/* What the kubelet is told: the status and the body come in one piece, so short are they. */
static void expect(struct fixture *f, const char *path, const char *status, const char *says)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)tg_http_port(f->controller->http))};
    char *request = tg_xasprintf("GET %s HTTP/1.0\r\n\r\n", path), answer[1024] = "";
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    size_t n = 0;
    ssize_t got;

    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(send(fd, request, strlen(request), 0), (ssize_t)strlen(request));
    while ((got = recv(fd, answer + n, sizeof(answer) - 1 - n, MSG_DONTWAIT)) != 0) {
        n += got > 0 ? (size_t)got : 0;
        if (got < 0)
            tg_loop_run_once(f->loop, true);
    }
    close(fd);
    free(request);
    answer[n] = '\0';
    if (strncmp(answer + strlen("HTTP/1.0 "), status, strlen(status)) != 0 ||
        strstr(answer, says) == NULL)
        fail_msg("%s: %s", path, answer);
}

static void a_controller_is_ready_when_it_has_read_everything_and_until_it_is_stopped(void **state)
{
    struct fixture *f = *state;
    struct tg_error err = TG_ERROR_INIT;

    f->refuse_lists = 1000;
    fixture_begin(f, "");
    assert_int_equal(tg_controller_serve(f->controller, "127.0.0.1:0", &err), 0);
    expect(f, "/readyz", "503", "the lists of the API server are not complete yet");
    expect(f, "/healthz", "200", "ok");
    f->refuse_lists = 0;
    while (!tg_controller_synced(f->controller))
        tg_loop_run_once(f->loop, true);
    expect(f, "/readyz", "200", "ok");
    f->controller->stopping = true;
    expect(f, "/readyz", "503", "it is being stopped");
    expect(f, "/healthz", "200", "ok");
    f->controller->stopping = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_controller_is_ready_when_it_has_read_everything_and_until_it_is_stopped,
            fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
