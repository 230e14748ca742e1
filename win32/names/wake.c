/* SPDX-License-Identifier: MIT */
/*
 * wake.c - how processes wake each other, and how they learn that one has ended: a socket and pidfds, which the reactor
 * waits for (space.h). The lock of names_lock guards what is here.
 */
#include "win32/names/space.h"

#include "reactor/reactor.h"
#include "util/linux_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define self names_self

struct watch {
    struct reactor_source source; /* first; a pidfd, or the socket */
    int slot;                     /* -1: the socket */
    uint32_t id;
};

static struct watch *watches[NAMES_PROCESSES], *ear;
static void (*look)(void);

void names_set_woken(void (*woken)(void))
{
    look = woken;
}

void names_look(void)
{
    if (look && self.woken)
        look();
}

static void watch_free(struct reactor_source *source)
{
    close(source->fd);
    free(source);
}

static void drop(struct watch **at)
{
    if (*at) {
        reactor_remove(&(*at)->source);
        reactor_unref(&(*at)->source);
    }
    *at = NULL;
}

static void ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct watch *watch = (struct watch *)source;
    int slot = watch->slot;
    char octets[16];

    (void)events;
    (void)how;
    if (slot < 0)
        while (recv(source->fd, octets, sizeof(octets), 0) >= 0)
            ;
    else
        reactor_remove(source);
    names_lock();
    self.woken = true;
    if (slot >= 0 && self.space->processes[slot].used &&
        self.space->processes[slot].id == watch->id && !names_alive(slot))
        names_bury(slot);
    if (slot >= 0 && watches[slot] == watch)
        drop(&watches[slot]);
    names_unlock();
    names_look();
}

static const struct reactor_source_ops ops = { .ready = ready, .free = watch_free };

/* Takes the descriptor over. NULL with the last error. */
static struct watch *watch_new(int fd, int slot, uint32_t id)
{
    struct watch *watch = fd < 0 ? NULL : calloc(1, sizeof(*watch));

    if (!watch) {
        if (fd >= 0)
            close(fd);
        SetLastError(ERROR_NO_SYSTEM_RESOURCES);
        return NULL;
    }
    reactor_source_init(&watch->source, &ops, fd);
    watch->slot = slot;
    watch->id = id;
    if (!reactor_add(&watch->source, EPOLLIN))
        return watch;
    reactor_unref(&watch->source);
    SetLastError(ERROR_NO_SYSTEM_RESOURCES);
    return NULL;
}

static struct sockaddr_un address_of(int slot)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    names_wake_path(slot, address.sun_path);
    return address;
}

bool names_listen(void)
{
    struct sockaddr_un address;
    int fd;

    if (ear)
        return true;
    address = address_of(self.slot);
    unlink(address.sun_path); /* a killed process may have left it */
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && (bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
                       chmod(address.sun_path, 0600))) { /* whatever the umask */
        close(fd);
        fd = -1;
    }
    ear = watch_new(fd, -1, 0);
    return ear != NULL;
}

bool names_watch(int object)
{
    for (int i = 0; i < NAMES_PROCESSES; i++) {
        const struct names_process *process = &self.space->processes[i];
        int fd;

        if (i == self.slot || !process->used || !names_holds(&self.space->objects[object], i))
            continue;
        if (watches[i] && watches[i]->id == process->id)
            continue;
        drop(&watches[i]);
        fd = pidfd_open((pid_t)process->id, 0);
        if (!names_alive(i)) { /* it has ended; the number may be another's */
            if (fd >= 0)
                close(fd);
            names_bury(i);
        } else if (!(watches[i] = watch_new(fd, i, process->id)))
            return false;
    }
    return true;
}

void names_wake(int slot)
{
    struct sockaddr_un address;

    if (slot == self.slot) {
        self.woken = true;
        return;
    }
    /* A failed send means that the process has ended, or that its socket is full of wake-ups. */
    address = address_of(slot);
    while (sendto(self.voice, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&address,
               sizeof(address)) < 0 &&
           errno == EINTR)
        ;
}

void names_listen_stop(void)
{
    drop(&ear);
    for (int i = 0; i < NAMES_PROCESSES; i++)
        drop(&watches[i]);
}

/* The child's reactor does not know them. */
void names_listen_forked(void)
{
    if (ear)
        watch_free(&ear->source);
    ear = NULL;
    for (int i = 0; i < NAMES_PROCESSES; i++) {
        if (watches[i])
            watch_free(&watches[i]->source);
        watches[i] = NULL;
    }
}
