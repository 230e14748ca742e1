/* SPDX-License-Identifier: MIT */
/*
 * file.h - overlapped files that are real Wine files: only those can have a completion port, and only Windows'
 * asynchronous I/O queues packets to it, with the program's key.
 *
 * The file is a system library, open for reading. The program gets a duplicate of its handle; the original stays open,
 * so requests still end in the port after the program has closed its handle. A request with status 0 ends as a read of
 * no bytes; a request with another status ends by the device control with which Wine's own drivers end a request.
 *
 * Wine does not report that a handle is closed. So while requests are pending on a file, the serving thread (deliver.h)
 * checks now and then whether the original is the file's only handle; then it cancels the requests.
 */
#ifndef WINE_FILE_H
#define WINE_FILE_H

#include "ndspi/core/deferred.h"
#include "ndspi/core/file_users.h"
#include "wine/deliver.h"

#include "util/list.h"

struct nd_wine_file;

/* An entry of the table that finds a file by the value of a handle. */
struct nd_wine_name {
    struct nd_wine_name *next;
    struct nd_wine_file *file;
    HANDLE handle;
};

struct nd_wine_file {
    struct list_node link; /* place in the list of files, oldest first */
    uint64_t number;       /* rises along the list */
    const void *owner;     /* the adapter; only compared */
    atomic_uint refs;
    bool listed;       /* the list has it, with a reference; under the table's lock */
    bool close_client; /* the library has to close the program's handle */
    HANDLE original;
    HANDLE client; /* the program's handle, which it may have closed */
    /* entries for client, and for the duplicate that the program passed last; under the table's lock */
    struct nd_wine_name given, other;
    struct nd_delivery end;
    atomic_uint requests; /* number of pending requests */
    struct nd_file_users users;
    struct nd_deferred close; /* closes the users; holds a reference while it is queued */
};

/*
 * nd_wine_file_create - makes a file and lists it; the caller gets no reference.
 * handle  out: the program's
 * Returns ND_SUCCESS, ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES (logged). Threads: the program's.
 */
HRESULT nd_wine_file_create(const void *owner, HANDLE *handle);
/* Returns the owner's file behind a handle or a duplicate of it, referenced; NULL: none. Threads: the program's. */
struct nd_wine_file *nd_wine_file_get(HANDLE handle, const void *owner);
struct nd_wine_file *nd_wine_file_ref(struct nd_wine_file *file);
/* Drops a reference; after the last one a thread that may call Wine closes the file. Any thread. */
void nd_wine_file_unref(struct nd_wine_file *file);
/* Unlists all of the owner's files. Any thread. */
void nd_wine_file_forget(const void *owner);

/* Count a pending request: it begins, and its status is decided. Any thread. */
void nd_wine_file_began(struct nd_wine_file *file);
void nd_wine_file_decided(struct nd_wine_file *file);
/* Cancels the pending requests of files whose last handle the program has closed. Threads: the serving thread. */
void nd_wine_files_look(void);

/* Queues a packet to the file's port, if it has one, and sets the event, if one is given. Threads: the program's. */
void nd_wine_file_end(
    struct nd_wine_file *file, OVERLAPPED *overlapped, HANDLE event, HRESULT status);

#endif
