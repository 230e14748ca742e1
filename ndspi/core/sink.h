/* SPDX-License-Identifier: MIT */
/*
 * sink.h - where a finished overlapped request is reported.
 *
 * The core knows OVERLAPPED only as something to hand to its sink. Natively the sink is winobj (sink_winobj.c); a
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
struct nd_sink_source;

/* Of a source: members of struct win_source, part i the i-th of parts; lead_fd: -1 for none. */
struct nd_sink_descriptors {
    int fd, lead_fd;
    int parts[3];
};

/* In ready, beside bit i for part i. */
enum { ND_SINK_READY_DEVICE = 1 << 3 };
#define ND_SINK_READY_ANY (~0u)

struct nd_sink_source_ops {
    bool (*prepare)(void *context);
    void (*finish)(void *context);
    void (*run)(void *context, bool leading, unsigned ready);
    /* With a lead_fd only. */
    int (*watch)(void *context, int fd, bool watched);
    bool (*wait)(void *context, int timeout_ms, bool *watched);
};

struct nd_sink {
    /*
     * The program's threads never move a device in their waits: what a request waits for is left to the device's
     * thread.
     */
    bool sleeps_elsewhere;
    /* owner: the context of a source; its files serve it alone, and no more when the source is removed. */
    HRESULT (*file_create)(const void *owner, HANDLE *handle);
    struct nd_sink_file *(*file_get)(HANDLE handle, const void *owner);
    struct nd_sink_file *(*file_ref)(struct nd_sink_file *file);
    void (*file_unref)(struct nd_sink_file *file);
    /* Of the file; the sink closes them when the program has closed its last handle. */
    struct nd_file_users *(*file_users)(struct nd_sink_file *file);
    /* Gives up the handle of a pinned file, unless a client has done that. The pin stays. */
    void (*file_close)(struct nd_sink_file *file, HANDLE handle);
    /* Room for the end of one request more: start and complete cannot fail then. ND_SUCCESS or ND_NO_MEMORY. */
    HRESULT (*reserve)(struct nd_sink_file *file);
    void (*unreserve)(struct nd_sink_file *file); /* it does not begin after all */
    void (*start)(struct nd_sink_file *file, OVERLAPPED *overlapped);
    void (*complete)(struct nd_sink_file *file, OVERLAPPED *overlapped, HRESULT status);
    HRESULT (*result)(struct nd_sink_file *file, OVERLAPPED *overlapped, BOOL wait);
    /* Registers what waits must move; context is handed back to the callbacks. NULL + no source on failure. */
    struct nd_sink_source *(*source_add)(const struct nd_sink_source_ops *ops, void *context,
        const struct nd_sink_descriptors *descriptors);
    void (*source_remove)(struct nd_sink_source *source);
};

/* Visible: a provider with a sink of its own has its sources moved here. */
extern const struct nd_sink nd_sink_winobj __attribute__((visibility("default")));

#endif
