/* SPDX-License-Identifier: MIT */
/* close.c - see close.h. The thread ends when all descriptors are closed. */
#include "softrdma/share/close.h"

#include "util/fork.h"
#include "util/list.h"
#include "util/lock.h"
#include "util/thread.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CROWD = 64 };

struct closing {
    struct list_node node;
    int fd;
};

static struct lock lock = LOCK_INIT(LOCK_SRD_CLOSE, "softrdma closes");
static struct list_head all = { { &all.n, &all.n } };
static int count; /* number of descriptors in the list, and the one being closed */
static pid_t
    process; /* the process that has the thread, which is not a fork's child; 0: none has */
FORK_HOLDS(&lock, LOCK_SRD_CLOSE);

/* Takes the next descriptor off the list; NULL: the thread has to end. */
static struct closing *next(void)
{
    struct closing *closing = NULL;

    lock_acquire(&lock);
    if (list_empty(&all)) {
        process = 0;
    } else {
        closing = list_entry(all.n.next, struct closing, node);
        list_del(&closing->node);
    }
    lock_release(&lock);
    return closing;
}

static void run(void *unused)
{
    struct closing *closing;

    (void)unused;
    while ((closing = next())) {
        close(closing->fd);
        free(closing);
        lock_acquire(&lock);
        count--;
        lock_release(&lock);
    }
}

/* Starts the thread, if the process has none. If that fails, the next call tries again. */
static void start_locked(void)
{
    lock_assert_held(&lock);
    if (list_empty(&all) || process == getpid())
        return;
    process = getpid();
    if (thread_start_detached("softrdma-close", run, NULL))
        process = 0;
}

static int option(int fd, int which)
{
    int value = -1;
    socklen_t octets = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, which, &value, &octets) ? -1 : value;
}

/*
 * Shuts a Unix connection down, so that no process can send to it. Returns whether it has no message then, and so no
 * descriptor.
 */
static bool is_empty(int fd)
{
    int queued = -1;

    return option(fd, SO_DOMAIN) == AF_UNIX && !option(fd, SO_ACCEPTCONN) &&
           !shutdown(fd, SHUT_RDWR) && !ioctl(fd, FIONREAD, &queued) && !queued;
}

/*
 * Whether it is memory, or a TCP socket whose close does not wait. Each connection that shares memory closes such a
 * descriptor, so the caller asks this first.
 */
static bool is_hasty(int fd)
{
    struct linger linger;
    socklen_t octets = sizeof(linger);
    int protocol = option(fd, SO_PROTOCOL); /* -1: it is no socket */

    if (protocol == IPPROTO_TCP)
        return !getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &octets) && !linger.l_onoff;
    return protocol < 0 && fcntl(fd, F_GET_SEALS) >= 0;
}

void srd_close_foreign(int fd)
{
    struct closing *closing = is_hasty(fd) || is_empty(fd) ? NULL : malloc(sizeof(*closing));

    if (!closing) {
        close(fd);
        return;
    }
    closing->fd = fd;
    lock_acquire(&lock);
    list_add_tail(&all, &closing->node);
    count++;
    start_locked();
    lock_release(&lock);
}

bool srd_close_crowded(void)
{
    bool crowded;

    lock_acquire(&lock);
    start_locked();
    crowded = count >= CROWD;
    lock_release(&lock);
    return crowded;
}
