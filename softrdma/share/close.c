/* SPDX-License-Identifier: MIT */
/* close.c - see close.h. The thread ends when all are closed. */
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
static int count;     /* of those, and the one being closed */
static pid_t process; /* that has the thread; 0: none has. The child of a fork has none */
FORK_HOLDS(&lock, LOCK_SRD_CLOSE);

/* The next one; NULL: the thread is to end. */
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

/* Where no thread can be had now, the next call tries again. */
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

/* Nobody can send to a Unix connection any more, and there is no message in it, so no descriptor, either. */
static bool is_empty(int fd)
{
    int queued = -1;

    return option(fd, SO_DOMAIN) == AF_UNIX && !option(fd, SO_ACCEPTCONN) &&
           !shutdown(fd, SHUT_RDWR) && !ioctl(fd, FIONREAD, &queued) && !queued;
}

/*
 * Memory, or a TCP socket whose close does not wait. Each connection that shares memory closes one of those, so they
 * are asked for first.
 */
static bool is_hasty(int fd)
{
    struct linger linger;
    socklen_t octets = sizeof(linger);
    int protocol = option(fd, SO_PROTOCOL); /* -1: no socket */

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
