/* SPDX-License-Identifier: MIT */
/*
 * object.h - what all objects of NDKPI have in common: the header, how they are made, how their requests end, how they
 * are closed.
 *
 * Life. An object lives as long as its pins (ndspi/core/object.h): one for the consumer's handle, one for each
 * successor (an object that was made from it or uses it), one for each pending request and each callback that is queued
 * or runs. The close function gives up the handle's pin. When the last pin goes, the object's destroy function destroys
 * the device's objects and calls ndk_object_gone: then the close completes, in the call if that still runs, else by the
 * callback. After that callback has returned, the object unpins its antecedents. So a close completes once, last of the
 * object's callbacks, and after the closes of all successors, whatever the order of the calls.
 *
 * Calls with a completion callback end in the call, or later by the callback on the adapter's control thread. Two
 * switches of the environment change that, for tests of consumers (struct ndk_root).
 */
#ifndef NDK_OBJECT_OBJECT_H
#define NDK_OBJECT_OBJECT_H

#include "ndk/dispatch/worker.h"

#include "ndspi/core/object.h"
#include "ndspi/core/sink_call.h"

#include <ndkpi.h>

struct ndk_object;
struct nd_adapter;

/* What the objects of one adapter share. */
struct ndk_root {
    const struct nd_adapter *core; /* objects of all roots that have it go together */
    NDK_VERSION version;
    bool force_pending; /* calls that could end at once end on the control thread */
    bool force_inline;  /* ... by their callback inside the call; overrides force_pending */
    void (*made)(struct ndk_object *object); /* NULL, or the last step of making an object */
    struct nd_object *adapter;               /* calls that belong to no object pin it */
    /* calls the callbacks of all objects but completion queues and shared receive queues */
    struct ndk_worker control;
};

static inline bool ndk_forced(const struct ndk_root *root)
{
    return root->force_pending || root->force_inline;
}

/* Antecedents at most: a queue pair's domain, two completion queues, shared receive queue. */
enum { NDK_ANTECEDENTS = 4 };

struct ndk_object {
    NDK_OBJECT_HEADER header; /* first, as of every public structure ... */
    const void *dispatch;     /* ... and this second; the consumer's to replace: never read */
    struct ndk_root *root;
    struct nd_object *pins; /* the core object inside, which counts them, or one of its own */
    void (*free)(struct ndk_object *object);
    /* Pinned until the object is closed; unused ones at the end are NULL. */
    struct nd_object *antecedents[NDK_ANTECEDENTS];
    _Atomic uint32_t closing;
    NDK_FN_CLOSE_COMPLETION completion; /* the close's, may be NULL */
    PVOID context;
    struct ndk_call end;
};

_Static_assert(offsetof(struct ndk_object, dispatch) == 0x28, "as in NDK_ADAPTER and the others");

/*
 * ndk_object_init - the last step of making an object.
 * dispatch  in: the table of its type
 * pins      in: with one pin, the consumer's
 * free      in: frees the memory; called last, by any thread, no lock held
 */
void ndk_object_init(struct ndk_object *object, NDK_OBJECT_TYPE type, const void *dispatch,
    struct ndk_root *root, struct nd_object *pins, void (*free)(struct ndk_object *object));

/* Pins an antecedent until the object is closed; not concurrently with another call on the object, or its close. */
void ndk_object_follow(struct ndk_object *object, struct nd_object *antecedent);
/* Takes back the last ndk_object_follow. */
void ndk_object_unfollow(struct ndk_object *object);

/*
 * ndk_object_close - a close function.
 * close  in: closes the core object, which drops the consumer's pin
 * Returns STATUS_SUCCESS, or STATUS_PENDING: completion will be called, or has been. If it is NULL, nothing is then.
 */
NTSTATUS ndk_object_close(struct ndk_object *object, void (*close)(struct ndk_object *object),
    NDK_FN_CLOSE_COMPLETION completion, PVOID context);

/* The last step of the destroy function of an object: its pins and its part of the device are gone. No lock held. */
void ndk_object_gone(struct ndk_object *object);

/*
 * ndk_object_of - an object that the consumer names in a call; NULL: none of this type, or of another device.
 * header  in: may be NULL
 */
struct ndk_object *ndk_object_of(
    NDK_OBJECT_HEADER *header, NDK_OBJECT_TYPE type, const struct ndk_root *root);

/* NdkQueryExtension of every object: there are no extensions. */
NTSTATUS ndk_query_extension(
    NDK_OBJECT_HEADER *header, GUID *id, NDK_VERSION version, NDK_EXTENSION_INTERFACE *extension);

/* The status of a control call from that of the core. */
NTSTATUS ndk_status(HRESULT status);

/* ---- creations ---- */

/* One call of a create function, on its stack. */
struct ndk_creation {
    struct ndk_root *root;
    NDK_FN_CREATE_COMPLETION completion;
    PVOID context;
    void **out;
    struct ndk_created *created; /* the callback to come; NULL: it ends in the call */
};

/*
 * ndk_creation_begin - before anything is made.
 * out  in: where a create function stores its object
 * Returns STATUS_SUCCESS: ndk_creation_end must follow; STATUS_INVALID_PARAMETER: out is NULL;
 * STATUS_INSUFFICIENT_RESOURCES.
 */
NTSTATUS ndk_creation_begin(struct ndk_creation *creation, struct ndk_root *root,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, void **out);
/*
 * ndk_creation_end - its outcome; the object may be closed when this returns.
 * object  in: if status is STATUS_SUCCESS
 * Returns what the create function returns.
 */
NTSTATUS ndk_creation_end(
    struct ndk_creation *creation, NTSTATUS status, struct ndk_object *object);

/* ---- requests ---- */

/* A call with a request completion; it pins its object until the callback has returned. */
struct ndk_request {
    struct nd_call core; /* the core's request (nd_call_request), which the core ends */
    struct ndk_call call;
    struct ndk_object *object;
    NDK_FN_REQUEST_COMPLETION completion;
    PVOID context;
    NTSTATUS status;
    /* NULL, or called before the callback of a failure, by its thread; set before the core gets the request */
    void (*failed)(struct ndk_object *object, NTSTATUS status);
    _Atomic uint32_t state;
};

/* One such call, on its stack. */
struct ndk_requesting {
    struct ndk_request *request; /* NULL: it ends in the call */
    bool here;                   /* ndk_root.force_inline */
};

/*
 * ndk_request_begin - before anything is done.
 * pends  in: it always ends by its callback; else it ends in the call unless the switches say otherwise
 * Returns STATUS_SUCCESS; STATUS_INVALID_PARAMETER: it pends, but has no completion; STATUS_INSUFFICIENT_RESOURCES.
 */
NTSTATUS ndk_request_begin(struct ndk_requesting *requesting, struct ndk_object *object, bool pends,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context);
/* The request ended in the call, with this status. Returns what the call returns; the object may be closed by then. */
NTSTATUS ndk_request_end(struct ndk_requesting *requesting, NTSTATUS status);
/* Ends the call when it has given request->core to the core, which returned started. The request may go on. */
NTSTATUS ndk_request_started(struct ndk_requesting *requesting, HRESULT started);

#endif
