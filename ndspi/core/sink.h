/* SPDX-License-Identifier: MIT */
/*
 * sink.h - where a finished overlapped request is reported.
 *
 * The core knows OVERLAPPED only as something to hand to its sink. Natively the sink is winobj (dll/sink_winobj.c); a
 * provider living under Wine brings another one with Wine's own objects.
 *
 * A sink file is the object behind the HANDLE that a client made with CreateOverlappedFile (or got from GetFileHandle);
 * it outlives its handle while pinned. Semantics of each member: winobj/provider.h, function of the same name.
 */
#ifndef NDSPI_CORE_SINK_H
#define NDSPI_CORE_SINK_H

#include "ndspi/core/base.h"
#include "ndspi/core/file_users.h"

struct nd_sink_file;

struct nd_sink {
    /*
     * The program's threads never drive a device while they wait: the device's own thread does.
     */
    bool sleeps_elsewhere;
    /*
     * A thread of the program has begun a request and is likely to sleep next, elsewhere: looks, for a moment, for what
     * ends it. Set where sleeps_elsewhere is. No lock held.
     */
    void (*look)(void);
    /*
     * Resets the event of a request, which start then does not: it costs a call to another process, and is not needed
     * for a request that ends before the call that began it returns. NULL where start does it.
     */
    void (*reset)(struct nd_sink_file *file, OVERLAPPED *overlapped);
    /* owner: the adapter; its files serve it alone. */
    HRESULT (*file_create)(const void *owner, HANDLE *handle);
    struct nd_sink_file *(*file_get)(HANDLE handle, const void *owner);
    struct nd_sink_file *(*file_ref)(struct nd_sink_file *file);
    void (*file_unref)(struct nd_sink_file *file);
    /* The users of the file. The sink closes them when the program has closed its last handle. */
    struct nd_file_users *(*file_users)(struct nd_sink_file *file);
    /* Gives up the handle of a pinned file, unless a client has done that. The pin stays. */
    void (*file_close)(struct nd_sink_file *file, HANDLE handle);
    /*
     * Reserves memory for one more request: its start and complete then cannot fail. Returns ND_SUCCESS or
     * ND_NO_MEMORY.
     */
    HRESULT (*reserve)(struct nd_sink_file *file);
    void (*unreserve)(struct nd_sink_file *file); /* the request does not begin after all */
    void (*start)(struct nd_sink_file *file, OVERLAPPED *overlapped);
    void (*complete)(struct nd_sink_file *file, OVERLAPPED *overlapped, HRESULT status);
    HRESULT (*result)(struct nd_sink_file *file, OVERLAPPED *overlapped, BOOL wait);
    /*
     * Copies octets into the program's memory, while locks are held. Returns false if it cannot be written. NULL: the
     * program crashes then, as natively by any wrong pointer.
     */
    bool (*store)(void *to, const void *from, size_t octets);
    /* The adapter is being destroyed: its files serve no request any more. NULL: nothing to do. */
    void (*forget)(const void *owner);
};

extern const struct nd_sink nd_sink_winobj;

#endif
