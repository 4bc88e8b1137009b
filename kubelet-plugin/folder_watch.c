/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/folder_watch.h"

#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "api/runtime/base/clock.h"
#include "api/runtime/base/mem.h"

#define RETRY (300 * TG_SECOND)
/* Editors write many times: what follows within this is one change. */
#define TOGETHER (200 * TG_MILLISECOND)
#define EVENTS                                                                                     \
    (IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_DELETE_SELF |       \
     IN_MOVE_SELF | IN_ONLYDIR)

struct tg_folder_watch {
    struct tg_loop *loop;
    char *folder;
    int64_t retry;
    void (*changed)(void *data);
    void *data;
    int fd, descriptor; /* descriptor -1: the folder is not there */
    struct tg_io io;
    struct tg_timer look, tell;
};

static void look(struct tg_folder_watch *watch)
{
    watch->descriptor = inotify_add_watch(watch->fd, watch->folder, EVENTS);
    if (watch->descriptor < 0)
        tg_timer_start(watch->loop, &watch->look, watch->retry);
}

static void on_look(struct tg_timer *timer)
{
    struct tg_folder_watch *watch = timer->data;
    look(watch);
    /* Where the kernel cannot tell, everything may have changed. */
    if (watch->descriptor >= 0 || watch->fd < 0)
        watch->changed(watch->data);
}

static void on_tell(struct tg_timer *timer)
{
    struct tg_folder_watch *watch = timer->data;
    if (watch->descriptor < 0)
        look(watch);
    watch->changed(watch->data);
}

/* What the events say of single files does not matter: all are read. */
static void on_event(struct tg_io *io, int events)
{
    struct tg_folder_watch *watch = io->data;
    _Alignas(struct inotify_event) char data[4096];
    ssize_t n = read(watch->fd, data, sizeof(data));

    (void)events;
    for (ssize_t at = 0; at + (ssize_t)sizeof(struct inotify_event) <= n;) {
        const struct inotify_event *event = (const struct inotify_event *)(void *)(data + at);
        if ((event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0 &&
            event->wd == watch->descriptor) {
            (void)inotify_rm_watch(watch->fd, watch->descriptor);
            watch->descriptor = -1;
        }
        at += (ssize_t)sizeof(*event) + (ssize_t)event->len;
    }
    if (n > 0 && !watch->tell.active)
        tg_timer_start(watch->loop, &watch->tell, TOGETHER);
}

struct tg_folder_watch *tg_folder_watch_new(struct tg_loop *loop, const char *folder, int64_t retry,
                                            void (*changed)(void *data), void *data)
{
    struct tg_folder_watch *watch = tg_xcalloc(1, sizeof(*watch));

    watch->loop = loop;
    watch->folder = tg_xstrdup(folder);
    watch->retry = retry == 0 ? RETRY : retry;
    watch->changed = changed;
    watch->data = data;
    watch->descriptor = -1;
    watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    watch->io = (struct tg_io){.callback = on_event, .data = watch};
    watch->look = (struct tg_timer){.callback = on_look, .data = watch};
    watch->tell = (struct tg_timer){.callback = on_tell, .data = watch};
    if (watch->fd >= 0)
        tg_io_start(loop, &watch->io, watch->fd, TG_LOOP_READ);
    look(watch);
    return watch;
}

void tg_folder_watch_free(struct tg_folder_watch *watch)
{
    if (watch == NULL)
        return;
    tg_timer_stop(&watch->look);
    tg_timer_stop(&watch->tell);
    if (watch->fd >= 0) {
        tg_io_stop(&watch->io);
        (void)close(watch->fd);
    }
    free(watch->folder);
    free(watch);
}
