/* SPDX-License-Identifier: MIT */
/*
 * file.h - overlapped files that are real Wine files: only those can have a completion port, and only Windows'
 * asynchronous I/O queues packets there, with the program's key.
 *
 * The file is a system library, open for reading. The program gets a duplicate; the original stays, so that requests
 * still end in the port when the program has closed its handle. A request with status 0 ends as a read of no bytes; one
 * with another status ends by the device control with which Wine's own drivers end a request.
 *
 * Wine reports no closed handle. So while requests are pending on a file, the delivering thread checks now and then
 * whether the original is its only handle; then it cancels the requests.
 */
#ifndef WINE_FILE_H
#define WINE_FILE_H

#include "ndspi/core/deferred.h"
#include "ndspi/core/file_users.h"
#include "wine/deliver.h"

#include "util/list.h"

struct nd_wine_file;

/* A value of a handle to a file, in the table's places. */
struct nd_wine_name {
    struct nd_wine_name *next;
    struct nd_wine_file *file;
    HANDLE handle;
};

struct nd_wine_file {
    struct list_node link; /* the table's, oldest first; in it while listed */
    uint64_t number;       /* rises along the list */
    const void *owner;     /* adapter; compared only */
    atomic_uint refs;
    bool listed;       /* the table's lock: findable by handle; holds a reference */
    bool close_client; /* we have to close the program's handle */
    HANDLE original;
    HANDLE client; /* what the program was given; it may have closed it */
    struct nd_wine_name given,
        other; /* client; the duplicate that was handed in last. The table's lock */
    struct nd_delivery end;
    atomic_uint requests; /* pending */
    struct nd_file_users users;
    struct nd_deferred close; /* closes the users; holds a reference */
};

/*
 * nd_wine_file_create - a file, listed, without a reference for the caller.
 * handle  out: the program's
 * Returns ND_SUCCESS, ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES (logged). Threads: of the program.
 */
HRESULT nd_wine_file_create(const void *owner, HANDLE *handle);
/* The owner's file behind a handle, or a duplicate of it, referenced; NULL: none. Threads: of the program. */
struct nd_wine_file *nd_wine_file_get(HANDLE handle, const void *owner);
struct nd_wine_file *nd_wine_file_ref(struct nd_wine_file *file);
/* After the last unref a thread that may call Wine closes the file. Any thread. */
void nd_wine_file_unref(struct nd_wine_file *file);
/* Unlists all of the owner's files. Any thread. */
void nd_wine_file_forget(const void *owner);

/* A request begins, and its status is decided. Any thread. */
void nd_wine_file_began(struct nd_wine_file *file);
void nd_wine_file_decided(struct nd_wine_file *file);
/* Finds the files whose last handle the program has closed while requests are pending. Threads: the delivering one. */
void nd_wine_files_look(void);

/* A packet for the port, if there is one, and the event, if one is given, set. Threads: of the program. */
void nd_wine_file_end(
    struct nd_wine_file *file, OVERLAPPED *overlapped, HANDLE event, HRESULT status);

#endif
