/* SPDX-License-Identifier: MIT */
/* inlet.c - packets from other processes (inlet.h). */
#include "winobj/requests/inlet.h"

#include "winobj/fork.h"

#include "reactor/reactor.h"
#include "util/descriptor.h"
#include "util/lock.h"
#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORDS = 64 };

struct win_inlet {
    struct reactor_source source; /* first; the reading end */
    int writer;
    HANDLE port; /* the port's win_object_name: the port may be destroyed when the reactor calls */
    void (*ready)(struct win_object *port);
    unsigned used, count; /* records taken from the array, and in it */
    struct win_inlet_record records[RECORDS];
};

/* Over the making and closing of pipes: the child of a fork that kept a reading end would let posts succeed. */
static struct lock pipes_lock = LOCK_INIT(LOCK_WIN_INLET, "inlets of completion ports");
WIN_HELD_OVER_FORK(pipes_lock);

static void inlet_free(struct reactor_source *source)
{
    free(source);
}

static void inlet_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    const struct win_inlet *inlet = (struct win_inlet *)source;
    struct win_object *port = win_object_find(inlet->port);

    (void)events;
    (void)how;
    if (!port)
        return;
    inlet->ready(port);
    win_object_unref(port);
}

static const struct reactor_source_ops inlet_ops = { .ready = inlet_ready, .free = inlet_free };

static DWORD error_of(int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE: return ERROR_TOO_MANY_OPEN_FILES;
    case EAGAIN: return ERROR_NO_SYSTEM_RESOURCES; /* a thread */
    default: return ERROR_NOT_ENOUGH_MEMORY;
    }
}

/* Makes a pipe whose ends are above the standard descriptors. Returns 0 or an errno. */
static int pipe_open(int ends[2])
{
    int error = pipe2(ends, O_CLOEXEC | O_NONBLOCK) ? errno : 0;

    if (error)
        return error;
    for (int i = 0; i < 2; i++)
        if ((ends[i] = descriptor_raise(ends[i])) < 0)
            error = errno;
    for (int i = 0; i < 2 && error; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    return error;
}

DWORD win_inlet_open(struct win_inlet **place, HANDLE port, void (*ready)(struct win_object *port))
{
    struct win_inlet *inlet = calloc(1, sizeof(*inlet));
    int ends[2], error;

    if (!inlet)
        return ERROR_NOT_ENOUGH_MEMORY;
    lock_acquire(&pipes_lock);
    if (!(error = pipe_open(ends))) {
        reactor_source_init(&inlet->source, &inlet_ops, ends[0]);
        inlet->writer = ends[1];
        inlet->port = port;
        inlet->ready = ready;
        *place = inlet;
    }
    lock_release(&pipes_lock);
    if (error) {
        free(inlet);
        return error_of(error);
    }
    if ((error = -reactor_add(&inlet->source, EPOLLIN)))
        win_inlet_close(place);
    return error ? error_of(error) : ERROR_SUCCESS;
}

void win_inlet_stop(struct win_inlet *inlet)
{
    reactor_remove(&inlet->source);
}

void win_inlet_close(struct win_inlet **place)
{
    struct win_inlet *inlet = *place;

    lock_acquire(&pipes_lock);
    *place = NULL;
    close(inlet->source.fd);
    close(inlet->writer);
    lock_release(&pipes_lock);
    reactor_unref(&inlet->source);
}

void win_inlet_forked(struct win_inlet **place)
{
    struct win_inlet *inlet = *place;

    if (!inlet)
        return;
    *place = NULL;
    close(inlet->source.fd);
    close(inlet->writer);
    free(inlet); /* the reactor has forgotten it */
}

/* Reads what has come. False: nothing, or the pipe is of no use any more. */
static bool read_records(struct win_inlet *inlet)
{
    ssize_t got;

    while ((got = read(inlet->source.fd, inlet->records, sizeof(inlet->records))) < 0 &&
           errno == EINTR)
        ;
    inlet->used = 0;
    inlet->count = got > 0 ? (unsigned)((size_t)got / sizeof(inlet->records[0])) : 0;
    return inlet->count;
}

const struct win_inlet_record *win_inlet_next(struct win_inlet *inlet)
{
    while (inlet->used < inlet->count || read_records(inlet)) {
        const struct win_inlet_record *record = &inlet->records[inlet->used];

        if (record->magic == WIN_INLET_MAGIC)
            return record;
        log_limited(LOG_WARN, LOG_WIN,
            "a process posts to a completion port what is no packet: does it use another version "
            "of the library?");
        inlet->used++;
    }
    return NULL;
}

void win_inlet_taken(struct win_inlet *inlet)
{
    inlet->used++;
}

int win_inlet_writer(const struct win_inlet *inlet)
{
    return descriptor_copy(inlet->writer);
}

bool win_inlet_is_mine(const struct win_inlet *inlet, int writer)
{
    struct stat mine, other;

    return !fstat(inlet->writer, &mine) && !fstat(writer, &other) && mine.st_dev == other.st_dev &&
           mine.st_ino == other.st_ino;
}
