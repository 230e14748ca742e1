/* SPDX-License-Identifier: MIT */
/* standby.c - the descriptor side of standby.h. */
#include "util/standby.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int standby_init(struct standby *standby)
{
    atomic_init(&standby->activity, 0);
    atomic_init(&standby->sleepers, 0);
    atomic_init(&standby->parked, 0);
    standby->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return standby->kick_fd < 0 ? -errno : 0;
}

void standby_fini(struct standby *standby)
{
    close(standby->kick_fd);
    standby->kick_fd = -1;
}

void standby_kick(struct standby *standby)
{
    uint64_t one = 1;

    /* The only failure is a full counter, which is as readable as can be. */
    while (write(standby->kick_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

void standby_kicked(struct standby *standby)
{
    uint64_t count;

    while (read(standby->kick_fd, &count, sizeof(count)) < 0 && errno == EINTR)
        ;
}
