/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/runtime/base/log.h"
#include "api/runtime/base/str.h"
#include "controller/controller.h"

#define CONFIG_MEMORY ((size_t)4 << 20)

struct program {
    struct tg_loop *loop;
    struct tg_controller *controller;
    struct tg_signal terminate, interrupt;
};

static void stop(void *data)
{
    tg_loop_stop(((struct program *)data)->loop);
}

/* Nothing of ours is on its way any more: a successor need not wait for the lease to run out. */
static void release(void *data)
{
    struct program *program = data;

    tg_elector_release(program->controller->elector, stop, program);
}

static void on_signal(struct tg_signal *signal, int number)
{
    struct program *program = signal->data;

    TG_INFO("Stopping", TG_I("signal", number));
    if (!program->controller->stopping)
        tg_controller_stop(program->controller, release, program);
}

static int load_configuration(const struct tg_controller_options *options,
                              struct tg_configuration **ret, struct tg_error *err)
{
    if (options->config != NULL)
        return tg_configuration_load(options->config, ret, err);
    *ret = tg_configuration_new_default();
    return 0;
}

static int load_kube(const struct tg_controller_options *options, struct tg_arena *arena,
                     struct tg_kube_config *ret, struct tg_error *err)
{
    if (options->kubeconfig != NULL)
        return tg_kube_config_load(options->kubeconfig, arena, ret, err);
    return tg_kube_config_in_cluster("", arena, ret, err);
}

static int run(const struct tg_controller_options *options,
               const struct tg_configuration *configuration, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(CONFIG_MEMORY);
    struct program program = {.loop = NULL};
    struct tg_kube_config kube = {0};
    int r = load_kube(options, arena, &kube, err);

    if (r < 0)
        return r;
    program.loop = tg_loop_new(true);
    r = tg_controller_new(program.loop, options, configuration, &kube, &program.controller, err);
    if (r == 0) {
        program.terminate = (struct tg_signal){.callback = on_signal, .data = &program};
        program.interrupt = (struct tg_signal){.callback = on_signal, .data = &program};
        tg_signal_start(program.loop, &program.terminate, SIGTERM);
        tg_signal_start(program.loop, &program.interrupt, SIGINT);
        TG_INFO("Started", TG_S("version", TANGRAM_VERSION), TG_S("server", kube.server),
                TG_S("instance", tg_configuration_instance(configuration)));
        tg_loop_run(program.loop);
        r = -program.controller->exit_code;
        tg_signal_stop(&program.terminate);
        tg_signal_stop(&program.interrupt);
        tg_controller_free(program.controller);
    }
    tg_loop_free(program.loop);
    return r;
}

int main(int argc, char **argv)
{
    struct tg_controller_options options = {0};
    struct tg_configuration *configuration = NULL;
    enum tg_options_result result = TG_OPTIONS_RUN;
    struct tg_error err = TG_ERROR_INIT;
    int r = tg_options_parse(&tg_controller_option_set, argc, argv, &options, &result, &err);

    if (r == 0 && result == TG_OPTIONS_EXIT)
        return EXIT_SUCCESS;
    if (r == 0)
        r = load_configuration(&options, &configuration, &err);
    if (r == 0 && options.validate_config)
        printf("%s is valid\n", tg_or(options.config, "the default configuration"));
    else if (r == 0) {
        tg_log_configure(tg_streq(options.logging_format, "json") ? TG_LOG_JSON : TG_LOG_TEXT,
                         (int)options.verbosity);
        r = run(&options, configuration, &err);
    }
    tg_configuration_free(configuration);
    if (r < 0 && err.code != TG_OK)
        fprintf(stderr, "tangram-controller: %s\n", err.message);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
