/* SPDX-License-Identifier: MIT */
/*
 * sink_wine.c - begins and ends the requests of Windows programs under Wine; file.c decides where they are reported,
 * deliver.c when. The reactor's background thread drives the adapters, as it does natively when no thread waits.
 */
#include "wine/sink_wine.h"

#include "wine/argument.h"
#include "wine/file.h"
#include "wine/nt.h"

#include "util/lock.h"
#include "util/log.h"

#include <stdatomic.h>
#include <stdlib.h>

/* The end of a request. It is allocated at the request's start, so that ending needs no memory. */
struct ending {
    struct nd_delivery delivery; /* must be first: run casts it */
    struct nd_wine_file *file;   /* holds a reference */
    OVERLAPPED *overlapped;
    HRESULT status;
};

static struct lock spare_lock = LOCK_INIT(LOCK_WINE_FILES, "Wine's spare endings");
static struct list_head spare = { { &spare.n, &spare.n } };

static struct nd_wine_file *file_of(struct nd_sink_file *file)
{
    return (struct nd_wine_file *)file;
}

static HANDLE untagged(HANDLE event)
{
    return (HANDLE)((ULONG_PTR)event & ~(ULONG_PTR)1);
}

/* ---- files ---- */

static HRESULT file_create(const void *owner, HANDLE *handle)
{
    return nd_wine_file_create(owner, handle);
}

static struct nd_sink_file *file_get(HANDLE handle, const void *owner)
{
    return (struct nd_sink_file *)nd_wine_file_get(handle, owner);
}

static struct nd_sink_file *file_ref(struct nd_sink_file *file)
{
    return (struct nd_sink_file *)nd_wine_file_ref(file_of(file));
}

static void file_unref(struct nd_sink_file *file)
{
    nd_wine_file_unref(file_of(file));
}

static struct nd_file_users *file_users(struct nd_sink_file *file)
{
    return &file_of(file)->users;
}

/* The program's handle is closed with the file itself, since a thread of the library may call this. */
static void file_close(struct nd_sink_file *file, HANDLE handle)
{
    (void)handle;
    file_of(file)->close_client = true;
}

/* ---- requests ---- */

static void put_spare(struct ending *ending)
{
    lock_acquire(&spare_lock);
    list_add_head(&spare, &ending->delivery.link);
    lock_release(&spare_lock);
}

static struct ending *get_spare(void)
{
    struct list_node *node;

    lock_acquire(&spare_lock);
    node = list_pop(&spare);
    lock_release(&spare_lock);
    return node ? (struct ending *)list_entry(node, struct nd_delivery, link) : NULL;
}

/*
 * A program that has freed the structure of a pending request still gets the packet, as on Windows, but no event.
 * nd_wine_mark reads the event before it stores the status: after that the program may free the structure.
 */
static void deliver_ending(struct nd_delivery *delivery)
{
    struct ending *ending = (struct ending *)delivery;
    OVERLAPPED *overlapped = ending->overlapped;
    HANDLE tagged, event;

    if (!nd_wine_mark(overlapped, (ULONG_PTR)(ULONG)ending->status, &tagged))
        log_limited(LOG_WARN, LOG_WIN, "the OVERLAPPED at %p of a request that ends is gone",
            (void *)overlapped);
    event = untagged(tagged);
    if (tagged != event) /* a tagged event asks for no packet */
        NT(NtSetEvent, event, NULL);
    else
        nd_wine_file_end(ending->file, overlapped, event, ending->status);
    nd_wine_file_unref(ending->file);
    free(ending);
}

static HRESULT reserve(struct nd_sink_file *file)
{
    struct ending *ending;

    (void)file;
    if (!nd_wine_thread.inside) {
        log_write(LOG_ERROR, LOG_WIN, "a request begins on a thread that is not the program's");
        return ND_INTERNAL_ERROR;
    }
    if (!(ending = malloc(sizeof(*ending))))
        return ND_NO_MEMORY;
    put_spare(ending);
    return ND_SUCCESS;
}

static void unreserve(struct nd_sink_file *file)
{
    (void)file;
    free(get_spare());
}

static void start(struct nd_sink_file *file, OVERLAPPED *overlapped)
{
    HANDLE event;

    nd_wine_mark(overlapped, STATUS_PENDING, &event);
    nd_wine_file_began(file_of(file));
}

static void reset(struct nd_sink_file *file, OVERLAPPED *overlapped)
{
    HANDLE event = untagged(nd_wine_event(overlapped));

    (void)file;
    if (event)
        NT(NtResetEvent, event, NULL);
}

static void complete(struct nd_sink_file *file, OVERLAPPED *overlapped, HRESULT status)
{
    struct ending *ending = get_spare();

    *ending = (struct ending){ .delivery.run = deliver_ending,
        .file = nd_wine_file_ref(file_of(file)),
        .overlapped = overlapped,
        .status = status };
    nd_wine_file_decided(file_of(file));
    nd_deliver(&ending->delivery);
}

static bool ended(const void *overlapped)
{
    return nd_wine_status(overlapped) != ND_PENDING;
}

/* A caller that has to wait also consumes the signal of an auto-reset event, as a wait for the event would. */
static HRESULT result(struct nd_sink_file *file, OVERLAPPED *overlapped, BOOL wait)
{
    const LONGLONG at_once = 0;
    HANDLE event;

    (void)file;
    if (!wait || ended(overlapped))
        return nd_wine_status(overlapped);
    event = untagged(overlapped->hEvent);
    nd_deliver_wait(ended, overlapped);
    if (event)
        NT(NtWaitForSingleObject, event, FALSE, &at_once);
    return nd_wine_status(overlapped);
}

const struct nd_sink nd_sink_wine = {
    .sleeps_elsewhere = true,
    .look = nd_deliver_look,
    .reset = reset,
    .file_create = file_create,
    .file_get = file_get,
    .file_ref = file_ref,
    .file_unref = file_unref,
    .file_users = file_users,
    .file_close = file_close,
    .reserve = reserve,
    .unreserve = unreserve,
    .start = start,
    .complete = complete,
    .result = result,
    .store = nd_wine_store,
    .forget = nd_wine_file_forget,
};
