/* SPDX-License-Identifier: MIT */
/*
 * file.h - overlapped files that are real ones of Wine's: only those have a place for a completion port, and only what
 * Windows calls asynchronous I/O puts packets there, with the key the program chose.
 *
 * The file is a system library, open for reading. The program gets a duplicate; the original stays, so that requests
 * still end in the port when the program has closed its handle. A request ends with status 0 as a read of nothing, with
 * any other by the device control with which Wine's own drivers end a request.
 *
 * Nobody tells when the program closes its handle. So while requests are pending on a file, it is looked at now and
 * then whether the original is its only handle; then the requests are cancelled.
 */
#ifndef NDSPI_WINE_FILE_H
#define NDSPI_WINE_FILE_H

#include "ndspi/core/deferred.h"
#include "ndspi/core/file_users.h"
#include "ndspi/wine/deliver.h"

#include "util/list.h"

struct nd_wine_file {
    struct list_node link; /* the table's, oldest first; in it while listed */
    uint64_t number;       /* rises along the list */
    const void *owner;     /* adapter; compared only */
    atomic_uint refs;
    bool listed;       /* the table's lock: can be had by handle; holds a reference */
    bool close_client; /* the program's handle is ours to close */
    HANDLE original;
    HANDLE client; /* what the program was given; it may have closed it */
    struct nd_delivery end;
    atomic_uint requests; /* pending */
    struct nd_file_users users;
    struct nd_deferred close; /* tells them; holds a reference */
};

/*
 * nd_wine_file_create - a file, listed, without a reference for the caller.
 * handle  out: the program's
 * Returns ND_SUCCESS, ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES (said why). Threads: of the program.
 */
HRESULT nd_wine_file_create(const void *owner, HANDLE *handle);
/* The owner's file behind a handle, or a duplicate of it, referenced; NULL: none. Threads: of the program. */
struct nd_wine_file *nd_wine_file_get(HANDLE handle, const void *owner);
struct nd_wine_file *nd_wine_file_ref(struct nd_wine_file *file);
/* The last one has the file closed, by a thread that can. Any thread. */
void nd_wine_file_unref(struct nd_wine_file *file);
/* None of the owner's files can be had any more. Any thread. */
void nd_wine_file_forget(const void *owner);

/* A request begins, and is decided. Any thread. */
void nd_wine_file_began(struct nd_wine_file *file);
void nd_wine_file_decided(struct nd_wine_file *file);
/* Finds the files whose last handle the program has closed while requests are pending. Threads: the one that serves. */
void nd_wine_files_look(void);

/* A packet for the port, if there is one, and the event, if one is given, set. Threads: of the program. */
void nd_wine_file_end(
    struct nd_wine_file *file, OVERLAPPED *overlapped, HANDLE event, HRESULT status);

#endif
