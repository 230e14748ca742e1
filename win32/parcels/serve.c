/* SPDX-License-Identifier: MIT */
/* serve.c - the thread that answers other processes' DuplicateHandle (serve.h). */
#include "win32/parcels/serve.h"

#include "win32/fork.h"
#include "win32/parcels/address.h"
#include "win32/parcels/message.h"
#include "win32/parcels/work.h"
#include "win32/process/process.h"

#include "util/clock.h"
#include "util/lock.h"
#include "util/log.h"
#include "util/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    GUESTS = 32,     /* guests at a time; others wait in the listener's queue */
    ASK_MS = 2000,   /* the longest time for a guest to ask, which it does at once */
    KEEP_MS = 20000, /* the longest time for it to open what it was given: it waits less itself */
    SHORT_MS = 100,  /* the time to the next accept after a shortage of descriptors */
};

/* A process that sends a request. */
struct guest {
    int fd;                  /* -1: none */
    struct win_object *kept; /* what it was given, until it has opened that; NULL: nothing yet */
    uint64_t until_ms;
};

/* Only the thread uses them; it holds the lock to change what the child of a fork frees. */
static struct lock lock = LOCK_INIT(LOCK_WIN_PARCELS, "parcels");
FORK_ROW(.place = LOCK_WIN_PARCELS, .lock = &lock);
static struct guest guests[GUESTS];
static int listener = -1;
static int spare =
    -1; /* a reserve: closed to accept a guest that gets the error when no descriptor is free */

static atomic_bool running, tried;

static void close_guest(struct guest *guest)
{
    struct win_object *kept = guest->kept;

    lock_acquire(&lock);
    close(guest->fd);
    guest->fd = -1;
    guest->kept = NULL;
    lock_release(&lock);
    if (kept)
        win_object_unref(kept);
}

static void renew_spare(void)
{
    lock_acquire(&lock);
    if (spare < 0)
        spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    lock_release(&lock);
}

static bool is_the_users(int fd)
{
    struct ucred who;
    socklen_t length = sizeof(who);

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) && who.uid == geteuid();
}

/* Takes one guest in. False: there is no descriptor for it. */
static bool accept_guest(void)
{
    struct guest *free_one = NULL;
    bool shortage;
    int fd;

    for (int i = 0; i < GUESTS; i++)
        if (guests[i].fd < 0)
            free_one = &guests[i];
    if (!free_one)
        return true;
    lock_acquire(&lock);
    fd = (accept4)(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    shortage = fd < 0 && (errno == EMFILE || errno == ENFILE);
    if (shortage && spare >= 0) {
        close(spare);
        spare = -1;
        fd = (accept4)(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        shortage = fd < 0;
    }
    free_one->fd = fd;
    free_one->until_ms = clock_now_ms() + ASK_MS;
    lock_release(&lock);
    if (fd >= 0 && !is_the_users(fd))
        close_guest(free_one);
    return !shortage;
}

/* Does what a guest asks, and sends the answer. */
static void answer_guest(struct guest *guest)
{
    struct parcel_request request;
    struct parcel_work work;
    int fd = -1, error = parcel_receive(guest->fd, &request, sizeof(request), &fd);

    if (error == -EAGAIN)
        return;
    if ((error && error != -EMFILE) || request.magic != PARCEL_MAGIC) {
        if (error != -ECONNRESET)
            log_limited(LOG_WARN, LOG_WIN,
                "a process sent an unknown request: does it use another version of the library?");
        if (fd >= 0)
            close(fd);
        close_guest(guest);
        return;
    }
    request.parcel.fd = fd;
    parcel_work_do(&work, &request, error ? ERROR_TOO_MANY_OPEN_FILES : ERROR_SUCCESS);
    error = parcel_send(guest->fd, &work.answer, sizeof(work.answer), work.fd);
    if (error)
        parcel_work_undo(&work);
    if (work.fd >= 0)
        close(work.fd);
    lock_acquire(&lock);
    guest->kept = work.kept;
    guest->until_ms = clock_now_ms() + KEEP_MS;
    lock_release(&lock);
    if (error || !work.kept)
        close_guest(guest);
}

/*
 * Any event of a guest that has its answer closes it: it has closed its end, or breaks the protocol. A request of a
 * guest that has gone is not done.
 */
static void serve_guest(struct guest *guest, short events)
{
    if (events && !guest->kept && !(events & POLLHUP))
        answer_guest(guest);
    else if (events || clock_now_ms() >= guest->until_ms)
        close_guest(guest);
}

/*
 * Lists the descriptors to wait for: the listener, unless there is no room, and the guests. Returns the timeout in ms.
 */
static int list_descriptors(struct pollfd list[GUESTS + 1], bool shortage)
{
    const uint64_t now = clock_now_ms();
    uint64_t until = shortage ? now + SHORT_MS : UINT64_MAX;
    bool room = false;

    for (int i = 0; i < GUESTS; i++) {
        list[i + 1] = (struct pollfd){ .fd = guests[i].fd, .events = POLLIN };
        room |= guests[i].fd < 0;
        if (guests[i].fd >= 0 && guests[i].until_ms < until)
            until = guests[i].until_ms;
    }
    list[0] = (struct pollfd){ .fd = room && !shortage ? listener : -1, .events = POLLIN };
    return until == UINT64_MAX ? -1 : until <= now ? 0 : (int)(until - now);
}

static void serve(void *unused)
{
    struct pollfd list[GUESTS + 1];
    bool shortage = false;

    (void)unused;
    for (;;) {
        const int wait_ms = list_descriptors(list, shortage);

        renew_spare();
        if (poll(list, GUESTS + 1, wait_ms) < 0)
            continue; /* EINTR; ENOMEM passes */
        for (int i = 0; i < GUESTS; i++)
            if (list[i + 1].fd >= 0)
                serve_guest(&guests[i], list[i + 1].revents);
        shortage = list[0].revents && !accept_guest();
    }
}

static void begin_listening(enum log_level level)
{
    const DWORD before = GetLastError();
    int error = 0;

    if (atomic_load(&running) || atomic_exchange(&running, true))
        return;
    if ((listener = parcel_listen()) < 0)
        error = errno;
    else if ((error = -thread_start_detached("winobj-handles", serve, NULL))) {
        parcel_listen_end();
        close(listener);
        listener = -1;
    }
    if (error) {
        log_limited(level, LOG_WIN,
            "no process can duplicate handles of this one: cannot create its socket in /dev/shm or "
            "its thread: %s",
            strerror(error));
        atomic_store(&running, false); /* the next handle of a process tries again */
    }
    SetLastError(before);
}

void win_parcels_listen(void)
{
    begin_listening(LOG_WARN);
}

/* The program has made something that others may fetch; most never do. So this is tried once, and no warning. */
static void offered(void)
{
    if (!atomic_load_explicit(&tried, memory_order_relaxed) && !atomic_exchange(&tried, true))
        begin_listening(LOG_INFO);
}

/* The parent's thread does not run in the child. */
void win_parcels_forked(void)
{
    atomic_store(&tried, false);
    if (!atomic_exchange(&running, false))
        return;
    for (int i = 0; i < GUESTS; i++) {
        if (guests[i].fd >= 0)
            close(guests[i].fd);
        if (guests[i].kept)
            win_object_unref(guests[i].kept);
        guests[i] = (struct guest){ .fd = -1 };
    }
    if (listener >= 0)
        close(listener);
    if (spare >= 0)
        close(spare);
    listener = spare = -1;
}

__attribute__((constructor(200))) static void serve_load(void)
{
    for (int i = 0; i < GUESTS; i++)
        guests[i].fd = -1;
    win_process_set_opened(win_parcels_listen);
    win_handle_set_offered(offered);
}

__attribute__((destructor)) static void serve_unload(void)
{
    if (atomic_load(&running))
        parcel_listen_end();
}
