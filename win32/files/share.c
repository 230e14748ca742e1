/* SPDX-License-Identifier: MIT */
/*
 * share.c - sharing modes, between all handles of all processes that use this library. For reading, writing and
 * deleting there are two octets far beyond the end of any file: handles with the access hold a shared lock on the one,
 * handles that refuse to share it on the other. A new handle takes its locks first, then checks whether another open
 * file description has the opposite one: so of two that refuse each other at most one succeeds. The kernel drops the
 * locks of a process that was killed. A file system without such locks has no sharing modes.
 */
#include "win32/files/plain.h"
#include "win32/fork.h"

#include "util/lock.h"

#include <errno.h>
#include <fcntl.h>

#define SHARE_PLACE 0x7ffffffffffff000ll

/* One thread asks at a time: two might refuse each other, so that neither succeeds. */
static struct lock share_lock = LOCK_INIT(LOCK_WIN_FILE, "sharing modes");
WIN_HELD_OVER_FORK(share_lock);

static const struct {
    DWORD access, share;
} rights[] = {
    { PLAIN_READ | PLAIN_EXECUTE, FILE_SHARE_READ },
    { PLAIN_WRITES, FILE_SHARE_WRITE },
    { PLAIN_DELETE, FILE_SHARE_DELETE },
};

static struct flock octet(short type, unsigned right, bool refuses)
{
    return (struct flock){
        .l_type = type,
        .l_whence = SEEK_SET,
        .l_start = SHARE_PLACE + 2 * (off_t)right + refuses,
        .l_len = 1,
    };
}

/* Whether another open file description holds it. */
static bool others_hold(int fd, unsigned right, bool refuses)
{
    struct flock lock = octet(F_WRLCK, right, refuses);

    return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

static void hold(int fd, unsigned right, bool refuses)
{
    struct flock lock = octet(F_RDLCK, right, refuses);

    while (fcntl(fd, F_OFD_SETLK, &lock) < 0 && errno == EINTR)
        ;
}

DWORD share_take(int fd, DWORD access, DWORD share)
{
    bool fits = true;

    lock_acquire(&share_lock);
    for (unsigned i = 0; i < 3; i++) {
        if (access & rights[i].access)
            hold(fd, i, false);
        if (access && !(share & rights[i].share))
            hold(fd, i, true);
    }
    for (unsigned i = 0; i < 3; i++) {
        if (access & rights[i].access)
            fits = fits && !others_hold(fd, i, true);
        if (access && !(share & rights[i].share))
            fits = fits && !others_hold(fd, i, false);
    }
    if (!fits) { /* unlocks now, so that these locks refuse no later open */
        struct flock all = octet(F_UNLCK, 0, false);
        all.l_len = 6;
        fcntl(fd, F_OFD_SETLK, &all);
    }
    lock_release(&share_lock);
    return fits ? ERROR_SUCCESS : ERROR_SHARING_VIOLATION;
}

bool share_deletable(int fd)
{
    return !others_hold(fd, 2, true);
}
