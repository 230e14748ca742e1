/* SPDX-License-Identifier: MIT */
/* listen.c - how a client comes to an instance of a named pipe that listens (place.h). */
#include "win32/pipes/place.h"

#include "reactor/reactor.h"
#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    MESSAGE_ROOM = 1 << 20, /* octets asked for in a socket's buffer; the kernel may give fewer */
    LOOK_MS =
        1000, /* how often a client that waits looks whether a process with instances was killed */
};

/* The address of a file in the folder, whose own path may be too long for one. */
static struct sockaddr_un address_of(const struct pipe_place *place, const char *file)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    snprintf(
        address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", place->folder, file);
    return address;
}

/* A message needs room as a whole. */
static void give_room(const struct pipe_place *place, int fd)
{
    const int room = MESSAGE_ROOM;

    if (fd >= 0 && place->about->message)
        (setsockopt)(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
}

/* A socket of the pipe's type, which does not block; -1 with errno. */
static int socket_of(const struct pipe_place *place)
{
    const int type = place->about->message ? SOCK_SEQPACKET : SOCK_STREAM;
    int fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    give_room(place, fd);
    return fd;
}

int pipe_place_accept(const struct pipe_place *place, int listener)
{
    int fd;

    while ((fd = (accept4)(listener, NULL, NULL, SOCK_CLOEXEC)) < 0 && errno == EINTR)
        ;
    give_room(place, fd); /* it does not inherit the listener's size */
    return fd;
}

/* Listens under a name that no client looks for, then renames the socket: so it listens when clients see it. */
int pipe_place_listen(struct pipe_place *place)
{
    struct pipe_slot *slot = &place->about->slots[place->slot];
    char fresh[PIPE_FILE], file[PIPE_FILE];
    struct sockaddr_un address;
    int fd = socket_of(place), error = 0;

    if (fd < 0)
        return -errno;
    snprintf(fresh, sizeof(fresh), "%d.new", place->slot);
    address = address_of(place, fresh);
    unlinkat(place->folder, fresh, 0); /* both of a process that was killed */
    place->turn = atomic_load(&slot->listens);
    pipe_place_file(place->slot, place->turn, file);
    unlinkat(place->folder, file, 0);
    place->turn++;
    place->turn += !place->turn;
    pipe_place_file(place->slot, place->turn, file);
    atomic_store(&slot->order, atomic_fetch_add(&place->about->last, 1) + 1);
    atomic_store(&slot->listens, place->turn);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 0) ||
        fchmodat(place->folder, fresh, 0600, 0) || /* whatever the umask */
        renameat(place->folder, fresh, place->folder, file))
        error = -errno;
    if (!error)
        return fd;
    unlinkat(place->folder, fresh, 0);
    close(fd);
    return error;
}

/* The kernel refuses connections after the shutdown; the server can still accept a queued one. */
void pipe_place_stop(struct pipe_place *place, int listener)
{
    char file[PIPE_FILE];

    if (listener >= 0)
        shutdown(listener, SHUT_RD);
    pipe_place_file(place->slot, place->turn, file);
    unlinkat(place->folder, file, 0);
}

/* Connects to an instance. 0 or an errno: it has a client, or does not listen. */
static int connect_slot(struct pipe_place *place, int fd, int number)
{
    struct pipe_slot *slot = &place->about->slots[number];
    const uint32_t turn = atomic_load(&slot->listens);
    struct sockaddr_un address;
    char file[PIPE_FILE];

    pipe_place_file(number, turn, file);
    address = address_of(place, file);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
        return errno;
    place->slot = number;
    place->turn = turn;
    atomic_store(&slot->taken, turn);
    return 0;
}

/* The instance that has listened for the longest time among those not tried yet; -1: there is none. */
static int next_slot(const struct pipe_about *about, const bool tried[PIPE_INSTANCES])
{
    const uint32_t now = atomic_load(&about->last);
    int32_t longest = 0;
    int next = -1;

    for (int i = 0; i < PIPE_INSTANCES; i++) {
        const struct pipe_slot *slot = &about->slots[i];
        const uint32_t turn = atomic_load(&slot->listens);
        const int32_t age = (int32_t)(now - atomic_load(&slot->order));

        if (tried[i] || turn == atomic_load(&slot->taken) || (next >= 0 && age <= longest))
            continue;
        longest = age;
        next = i;
    }
    return next;
}

DWORD pipe_place_connect(struct pipe_place *place, int *fd)
{
    bool tried[PIPE_INSTANCES] = { false };
    int number;

    *fd = socket_of(place);
    if (*fd < 0)
        return pipe_error(errno);
    while ((number = next_slot(place->about, tried)) >= 0) {
        tried[number] = true;
        if (!connect_slot(place, *fd, number)) {
            fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) & ~O_NONBLOCK);
            return ERROR_SUCCESS;
        }
    }
    close(*fd);
    *fd = -1;
    return pipe_place_instances(place) ? ERROR_PIPE_BUSY : ERROR_FILE_NOT_FOUND;
}

/* Whether an instance listens that no client has taken. */
static bool is_free(const struct pipe_place *place)
{
    for (int i = 0; i < PIPE_INSTANCES; i++) {
        const struct pipe_slot *slot = &place->about->slots[i];
        const uint32_t turn = atomic_load(&slot->listens);
        char file[PIPE_FILE];

        pipe_place_file(i, turn, file);
        if (turn != atomic_load(&slot->taken) && !faccessat(place->folder, file, F_OK, 0) &&
            pipe_place_held(place, i)) /* else its process was killed */
            return true;
    }
    return false;
}

static uint64_t milliseconds_left(uint64_t until_ns)
{
    const uint64_t now_ns = clock_now_ns();

    return until_ns == REACTOR_NEVER ? LOOK_MS
           : now_ns < until_ns       ? (until_ns - now_ns + 999999) / 1000000
                                     : 0;
}

DWORD pipe_place_wait(struct pipe_place *place, DWORD timeout_ms)
{
    const uint64_t until_ns =
        timeout_ms == INFINITE ? REACTOR_NEVER : clock_now_ns() + timeout_ms * UINT64_C(1000000);
    struct pollfd changes = { .fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), .events = POLLIN };
    DWORD error = ERROR_SUCCESS;
    char octets[4096];

    if (changes.fd < 0 ||
        inotify_add_watch(changes.fd, place->path, IN_MOVED_TO | IN_DELETE_SELF) < 0)
        error = pipe_error(errno); /* EMFILE: also of the user's instances of inotify */
    while (!error && !is_free(place)) {
        const uint64_t left_ms = milliseconds_left(until_ns);

        if (!pipe_place_instances(place))
            error = ERROR_FILE_NOT_FOUND;
        else if (!left_ms)
            error = ERROR_SEM_TIMEOUT;
        else {
            reactor_leave();
            poll(&changes, 1, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
            while (read(changes.fd, octets, sizeof(octets)) > 0)
                ;
        }
    }
    if (changes.fd >= 0)
        close(changes.fd);
    return error;
}
