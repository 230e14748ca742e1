/* SPDX-License-Identifier: MIT */
/* no_ring.c - in a build without liburing no read goes by io_uring (ring.h). */
#include "win32/files/ring.h"

#include "win32/fork.h"

#include "util/log.h"
#include "util/once.h"
#include "util/settings.h"

static struct once told = ONCE_INIT;

static int tell(void)
{
    static const char *const words[] = { "auto", "uring", "pool", NULL };

    const bool asked = setting_word("NDSPI_FILES", words) == 1;

    log_write(asked ? LOG_WARN : LOG_INFO, LOG_WIN,
        "pool threads do the overlapped reads of files: this build has no "
        "liburing");
    return 0;
}

bool ring_there(void)
{
    once_run(&told, tell);
    return false;
}

bool ring_read(struct ring_op *op, int fd, void *buffer, size_t bytes, int64_t offset)
{
    (void)op;
    (void)fd;
    (void)buffer;
    (void)bytes;
    (void)offset;
    return false;
}

/* No operation was begun, so there is none to cancel. */
void ring_cancel(struct ring_op *op)
{
    (void)op;
}

void win_ring_forked(void)
{
}
