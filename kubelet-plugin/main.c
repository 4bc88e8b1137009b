/* SPDX-License-Identifier: Apache-2.0 */
/* tangram-kubelet-plugin: options, signals and the exit status around plugin.h. */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/runtime/base/log.h"
#include "api/runtime/base/str.h"
#include "driver/provider/provider.h"
#include "kubelet-plugin/options.h"
#include "kubelet-plugin/plugin.h"
#include "kubelet-plugin/print_slices.h"

struct program {
    struct tg_loop *loop;
    struct tg_plugin *plugin;
    int status;
};

static void on_signal(struct tg_signal *signal, int number)
{
    struct program *program = signal->data;

    TG_INFO("Stopping", TG_I("signal", number));
    tg_plugin_stop(program->plugin);
}

static void on_stopped(void *data, const struct tg_error *err)
{
    struct program *program = data;

    if (err != NULL) {
        TG_ERR(err, "The plugin cannot run");
        program->status = EXIT_FAILURE;
    }
    tg_loop_stop(program->loop);
}

static int run(const struct tg_plugin_options *options)
{
    struct program program = {.loop = tg_loop_new(true), .status = EXIT_SUCCESS};
    struct tg_signal terminate = {.callback = on_signal, .data = &program};
    struct tg_signal interrupt = {.callback = on_signal, .data = &program};
    struct tg_error err;

    TG_INFO("Starting", TG_S("version", TANGRAM_VERSION), TG_S("node", options->node_name),
            TG_S("driver", options->driver_name), TG_S("provider", options->provider));
    if (tg_plugin_new(program.loop, options, on_stopped, &program, &program.plugin, &err) != 0) {
        TG_ERR(&err, "The plugin cannot start");
        program.status = EXIT_FAILURE;
    } else {
        tg_signal_start(program.loop, &terminate, SIGTERM);
        tg_signal_start(program.loop, &interrupt, SIGINT);
        tg_loop_run(program.loop);
        tg_signal_stop(&terminate);
        tg_signal_stop(&interrupt);
    }
    tg_plugin_free(program.plugin);
    tg_loop_free(program.loop);
    return program.status;
}

static int serve(int argc, char **argv)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_plugin_options options = {0};
    enum tg_options_result result;
    struct tg_error err;

    /* Large messages are rare: what they took goes back to the system. Left to itself, malloc
     * raises this limit with the first one and keeps the next ones in its heap. */
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    int rc = tg_options_parse(&tg_plugin_option_set, argc, argv, &options, &result, &err);
    if (rc == 0 && result == TG_OPTIONS_EXIT)
        return EXIT_SUCCESS;
    if (rc == 0)
        rc = tg_plugin_options_complete(&options, arena, &err);
    if (rc != 0) {
        fprintf(stderr, "%s: %s\n", tg_plugin_option_set.program, err.message);
        return 2;
    }
    if (options.print_slices && tg_print_slices(&options, stdout, stderr, &err) == 0)
        return EXIT_SUCCESS;
    if (options.print_slices) {
        fprintf(stderr, "%s: %s\n", tg_plugin_option_set.program, err.message);
        return EXIT_FAILURE;
    }
    tg_log_configure(tg_streq(options.logging_format, "json") ? TG_LOG_JSON : TG_LOG_TEXT,
                     (int)options.v);
    return run(&options);
}

int main(int argc, char **argv)
{
    int status = serve(argc, argv);

    if (tg_provider_left_behind()) {
        (void)fflush(NULL);
        _exit(status);
    }
    return status;
}
