/* SPDX-License-Identifier: MIT */
/*
 * provider.h - what a provider of overlapped operations uses of winobj. Internal: programs never see it; libndspi does.
 *
 * Three things: file objects (the handles overlapped requests run on), the completion of a request, and sources (what
 * a waiting thread has to move so that its wait can end).
 *
 * The completion contract is told in docs/design.md, "An OVERLAPPED"; this file implements it.
 */
#ifndef WINOBJ_PROVIDER_H
#define WINOBJ_PROVIDER_H

#include <windows.h>

#include <stdbool.h>
#include "util/list.h"

#ifdef __cplusplus
extern "C" {
#endif

struct win_file;

/* What a provider keeps with a file, and does when the program has closed the last handle of it. */
struct win_file_ops {
    size_t room;              /* octets, aligned as malloc's */
    void (*init)(void *room); /* before there is a handle; the room is zeroed */
    /* once, by the thread that closes the handle, without a lock; not in the child of a fork */
    void (*closed)(void *room);
};

/*
 * win_file_create - a new overlapped file handle.
 * owner  cookie of the adapter it belongs to
 * ops    NULL: nothing is kept, and nobody told
 * Returns ERROR_SUCCESS, ERROR_NOT_ENOUGH_MEMORY or ERROR_NO_SYSTEM_RESOURCES. The handle is closed with CloseHandle;
 * the object lives on while pinned.
 */
WINOBJ_API DWORD win_file_create(const void *owner, const struct win_file_ops *ops, HANDLE *handle);
/* The provider's room. */
WINOBJ_API void *win_file_room(struct win_file *file);
/* Pins the file behind a handle; NULL when the handle is none, closed, no file, or another owner's. */
WINOBJ_API struct win_file *win_file_get(HANDLE handle, const void *owner);
WINOBJ_API struct win_file *win_file_ref(struct win_file *file);
WINOBJ_API void win_file_unref(struct win_file *file);

/*
 * A request begins: a packet is reserved so that ending cannot fail (FALSE: no memory, nothing began), and then
 * Internal = STATUS_PENDING, InternalHigh = 0, its event (hEvent less bit 0) reset. In two steps for what must not
 * begin before something else is done that cannot be undone: reserve, then begin or unreserve.
 */
WINOBJ_API BOOL win_overlapped_start(struct win_file *file, OVERLAPPED *overlapped);
WINOBJ_API BOOL win_overlapped_reserve(struct win_file *file);
WINOBJ_API void win_overlapped_unreserve(struct win_file *file);
WINOBJ_API void win_overlapped_begin(OVERLAPPED *overlapped);

/*
 * A request ends, exactly once: takes hEvent and the file's port, stores InternalHigh, then Internal with release order
 * (from here on the caller may reuse the structure), then sets the event, then posts the packet unless bit 0 of hEvent
 * is set or no port is attached, then wakes waiters of win_overlapped_result.
 * Never blocks; takes only winobj's leaf locks.
 */
WINOBJ_API void win_overlapped_complete(
    struct win_file *file, OVERLAPPED *overlapped, LONG status, ULONG_PTR bytes);

/*
 * The status of a request: (LONG)Internal; STATUS_PENDING when it runs and wait is FALSE (sources are run once before
 * that is said). With wait TRUE: waits until it has ended, leading like any other wait; needs no event, and does not
 * consume an auto-reset event's signal once Internal is final; when it did have to wait on an auto-reset event, the
 * signal is consumed.
 */
WINOBJ_API LONG win_overlapped_result(struct win_file *file, OVERLAPPED *overlapped, BOOL wait);

/*
 * A source: something that must be moved for waits to end (an adapter). Waiting threads lead: one of them sleeps on the
 * descriptors of all sources and runs what becomes ready; the others sleep until they are signalled or must lead.
 * Where no thread waits, winobj's service thread sleeps on fd (not on lead_fd) of each source.
 *
 *   fd       readable when run() has something to do
 *   parts    the part_count descriptors that fd, an epoll set, is made of: a leader sleeps on these, which is one set
 *            less to wake and to look into. None: on fd, which is part 0
 *   lead_fd  another such descriptor for a leader only, or -1: a background thread of the device serves it otherwise
 *   prepare  a leader is about to sleep; false: do not sleep, run() now (finish is not called then)
 *   finish   the leader sleeps no longer
 *   run      does everything ready, never blocks, may complete overlapped requests. leading: called by a leader. ready:
 *            which parts are (bit i), and WIN_SOURCE_DEVICE for lead_fd or wait; WIN_SOURCE_ANY when that is not known
 *   watch    NULL, or: lead_fd stands for a set of descriptors that a thread can sleep in itself. Has fd,
 *            level-triggered, watched there, too, or not any more. Takes no lock. Returns 0 or a negative errno
 *   wait     with watch, between prepare and finish: a leader's sleep in that set, until something is ready there or
 *            timeout_ms (-1: never) is over. Moves what it can; never runs any source. watched, out: fd is readable.
 *            Returns whether run must be called
 * Callbacks but watch are called without any winobj lock, by one thread at a time for run (winobj serialises).
 */
enum { WIN_SOURCE_PARTS = 3 };
#define WIN_SOURCE_DEVICE (1u << WIN_SOURCE_PARTS)
#define WIN_SOURCE_ANY    (~0u)

struct win_source {
    int fd;
    int lead_fd;
    int parts[WIN_SOURCE_PARTS];
    unsigned part_count;
    bool (*prepare)(struct win_source *source);
    void (*finish)(struct win_source *source);
    void (*run)(struct win_source *source, bool leading, unsigned ready);
    int (*watch)(struct win_source *source, int fd, bool watched);
    bool (*wait)(struct win_source *source, int timeout_ms, bool *watched);
    struct list_node link; /* winobj's from here on */
    void *state;
};

/* Returns ERROR_SUCCESS or a Win32 error. Sources may have lead_fd in common: one of them is run for it. */
WINOBJ_API DWORD win_source_add(struct win_source *source);
/*
 * After it returns no callback of the source runs or will run. Not from a callback of any source, and not with a lock
 * held that a callback takes: it waits for the callbacks under way.
 */
WINOBJ_API void win_source_remove(struct win_source *source);

/*
 * A provider with requests of its own may lend its thread: what ends in there needs no second one to be told of it.
 *
 * win_service_lend   before the first source: winobj starts no service thread. fd: the provider's, level-triggered,
 *                    watched with the sources. Returns ERROR_SUCCESS, ERROR_BUSY (too late), or
 *                    ERROR_NO_SYSTEM_RESOURCES
 * win_service_serve  the calling thread is the service thread, and never returns. turn: called after each round of
 * sources;
 *                    readable: fd is
 */
WINOBJ_API DWORD win_service_lend(int fd);
WINOBJ_API void win_service_serve(void (*turn)(bool readable));

#ifdef __cplusplus
}
#endif
#endif
