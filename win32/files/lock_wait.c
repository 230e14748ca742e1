/* SPDX-License-Identifier: MIT */
/*
 * lock_wait.c - overlapped locks that wait for another handle. Only a blocking call reports when another process
 * releases its lock, and a thread in that call could not be cancelled: so the reactor tries again, after ever longer
 * pauses.
 */
#include "win32/files/plain.h"

#include "reactor/reactor.h"
#include "util/clock.h"

#include <ntstatus.h>
#include <stdlib.h>

#define PAUSE_FIRST_NS UINT64_C(1000000)
#define PAUSE_MOST_NS  UINT64_C(32000000)

struct lock_wait {
    struct reactor_source source; /* first */
    struct win_request request;   /* the source has a reference while begun is set */
    uint64_t offset, bytes, pause_ns;
    bool exclusive, begun;
};

static void source_free(struct reactor_source *source)
{
    struct lock_wait *wait = (struct lock_wait *)source;

    if (wait->begun)
        win_request_unref(&wait->request);
    else
        free(wait);
}

/* The caller has claimed the request. */
static void end(struct lock_wait *wait, LONG status)
{
    win_request_end(&wait->request, status, 0);
    reactor_remove(&wait->source);
    reactor_unref(&wait->source);
}

static void pause_and_retry(struct lock_wait *wait)
{
    const uint64_t pause_ns = wait->pause_ns;

    wait->pause_ns = 2 * pause_ns < PAUSE_MOST_NS ? 2 * pause_ns : PAUSE_MOST_NS;
    reactor_deadline(&wait->source, clock_now_ns() + pause_ns);
}

/* If the request was cancelled before its lock was acquired, releases the lock. */
static void retry(struct reactor_source *source, enum reactor_how how)
{
    struct lock_wait *wait = (struct lock_wait *)source;
    struct win_file *file = wait->request.file;
    DWORD error = range_lock(file, wait->offset, wait->bytes, wait->exclusive, false);

    (void)how;
    if (error == ERROR_LOCK_VIOLATION)
        pause_and_retry(wait);
    else if (win_request_claim(&wait->request))
        end(wait, error ? STATUS_INSUFFICIENT_RESOURCES : STATUS_SUCCESS);
    else if (!error)
        range_unlock(file, wait->offset, wait->bytes);
}

static const struct reactor_source_ops source_ops = { .expired = retry, .free = source_free };

static void request_cancel(struct win_request *request)
{
    if (win_request_claim(request))
        end(container_of(request, struct lock_wait, request), STATUS_CANCELLED);
}

static void request_free(struct win_request *request)
{
    free(container_of(request, struct lock_wait, request));
}

static const struct win_request_ops request_ops = { .cancel = request_cancel,
    .free = request_free };

DWORD lock_wait(struct win_file *file, uint64_t bytes, bool exclusive, OVERLAPPED *overlapped)
{
    struct lock_wait *wait = calloc(1, sizeof(*wait));
    DWORD error = ERROR_NO_SYSTEM_RESOURCES;

    if (!wait)
        return ERROR_NOT_ENOUGH_MEMORY;
    wait->offset = overlapped_offset(overlapped);
    wait->bytes = bytes;
    wait->exclusive = exclusive;
    wait->pause_ns = PAUSE_FIRST_NS;
    reactor_source_init(&wait->source, &source_ops, -1);
    /* added first: from win_request_begin on any thread may cancel, which removes the source */
    if (!reactor_add(&wait->source, 0)) {
        reactor_ref(&wait->source);
        wait->begun = true;
        error = win_request_begin_held(file, &wait->request, &request_ops, overlapped);
        if (error) {
            wait->begun = false;
            reactor_remove(&wait->source);
            reactor_unref(&wait->source);
        } else {
            pause_and_retry(wait);
            error = ERROR_IO_PENDING;
        }
    }
    reactor_unref(&wait->source);
    return error;
}
