/* SPDX-License-Identifier: MIT */
#include "ndk/object/object.h"

#include "util/list.h"

#include <assert.h>

/* ---- life ---- */

/* ndk_object.closing: which comes first: the close function returns, or the object is gone. */
enum { OPEN, RETURNED, GONE };

/* The close has completed, and its callback has returned. */
static void finish(struct ndk_object *object)
{
    struct nd_object *antecedents[NDK_ANTECEDENTS];

    memcpy(antecedents, object->antecedents, sizeof(antecedents));
    object->free(object);
    for (int i = 0; i < NDK_ANTECEDENTS && antecedents[i]; i++)
        nd_object_unpin(antecedents[i]);
}

static void complete_close(struct ndk_call *call)
{
    struct ndk_object *object = container_of(call, struct ndk_object, end);

    if (object->completion)
        object->completion(object->context);
    finish(object);
}

void ndk_object_init(struct ndk_object *object, NDK_OBJECT_TYPE type, const void *dispatch,
    struct ndk_root *root, struct nd_object *pins, void (*free)(struct ndk_object *object))
{
    object->header = (NDK_OBJECT_HEADER){ .Version = root->version, .ObjectType = type };
    object->dispatch = dispatch;
    object->root = root;
    object->pins = pins;
    object->free = free;
    atomic_init(&object->closing, OPEN);
    object->end.run = complete_close;
    if (root->made)
        root->made(object);
}

void ndk_object_follow(struct ndk_object *object, struct nd_object *antecedent)
{
    int i = 0;

    while (object->antecedents[i])
        i++;
    assert(i < NDK_ANTECEDENTS);
    nd_object_pin(antecedent);
    object->antecedents[i] = antecedent;
}

void ndk_object_unfollow(struct ndk_object *object)
{
    int i = NDK_ANTECEDENTS - 1;

    while (!object->antecedents[i])
        i--;
    nd_object_unpin(object->antecedents[i]);
    object->antecedents[i] = NULL;
}

NTSTATUS ndk_object_close(struct ndk_object *object, void (*close)(struct ndk_object *object),
    NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
    struct ndk_root *root = object->root;

    object->completion = completion;
    object->context = context;
    close(object);
    if (atomic_exchange_explicit(&object->closing, RETURNED, memory_order_acq_rel) == OPEN)
        return STATUS_PENDING; /* the object may be gone by now */
    if (!completion || !ndk_forced(root)) {
        finish(object);
        return STATUS_SUCCESS;
    }
    if (root->force_inline)
        ndk_call_here(&object->end);
    else
        ndk_worker_give(&root->control, &object->end);
    return STATUS_PENDING;
}

void ndk_object_gone(struct ndk_object *object)
{
    struct ndk_worker *control = &object->root->control;

    if (atomic_exchange_explicit(&object->closing, GONE, memory_order_acq_rel) == RETURNED)
        ndk_worker_give(control, &object->end);
}

struct ndk_object *ndk_object_of(
    NDK_OBJECT_HEADER *header, NDK_OBJECT_TYPE type, const struct ndk_root *root)
{
    struct ndk_object *object = (struct ndk_object *)header;

    return object && header->ObjectType == type && object->root->core == root->core ? object : NULL;
}

NTSTATUS ndk_query_extension(
    NDK_OBJECT_HEADER *header, GUID *id, NDK_VERSION version, NDK_EXTENSION_INTERFACE *extension)
{
    (void)header;
    (void)id;
    (void)version;
    (void)extension;
    return STATUS_NOT_SUPPORTED;
}

NTSTATUS ndk_status(HRESULT status)
{
    if (status == ND_NO_MEMORY)
        return STATUS_INSUFFICIENT_RESOURCES;
    if ((uint32_t)status >= (uint32_t)ND_INVALID_PARAMETER_1 &&
        (uint32_t)status <= (uint32_t)ND_INVALID_PARAMETER_10)
        return STATUS_INVALID_PARAMETER;
    return status;
}

/*
 * Whether the callback may deliver a status that the call could return: the pages allow it both ways. The call itself
 * reports wrong parameters.
 */
static bool may_pend(NTSTATUS status)
{
    return status == STATUS_SUCCESS || status == STATUS_INSUFFICIENT_RESOURCES ||
           status == STATUS_SHARING_VIOLATION || status == STATUS_INVALID_ADDRESS ||
           status == STATUS_DEVICE_REMOVED;
}

/* ---- creations ---- */

struct ndk_created {
    struct ndk_call call;
    struct nd_object *pinned; /* the object's, or the adapter's where there is none */
    NDK_FN_CREATE_COMPLETION completion;
    PVOID context;
    NTSTATUS status;
    NDK_OBJECT_HEADER *header;
};

static void tell_created(struct ndk_call *call)
{
    struct ndk_created *created = container_of(call, struct ndk_created, call);

    created->completion(created->context, created->status, created->header);
    nd_object_unpin(created->pinned);
    free(created);
}

NTSTATUS ndk_creation_begin(struct ndk_creation *creation, struct ndk_root *root,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, void **out)
{
    *creation = (struct ndk_creation){
        .root = root, .completion = completion, .context = context, .out = out
    };
    if (!out)
        return STATUS_INVALID_PARAMETER;
    if (!completion || !ndk_forced(root))
        return STATUS_SUCCESS;
    creation->created = malloc(sizeof(*creation->created));
    return creation->created ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES;
}

NTSTATUS ndk_creation_end(struct ndk_creation *creation, NTSTATUS status, struct ndk_object *object)
{
    struct ndk_root *root = creation->root;
    struct ndk_created *created = creation->created;

    if (!created || !may_pend(status)) {
        free(created);
        if (object)
            *creation->out = object;
        return status;
    }
    *created = (struct ndk_created){
        .call.run = tell_created,
        .pinned = object ? object->pins : root->adapter,
        .completion = creation->completion,
        .context = creation->context,
        .status = status,
        .header = object ? &object->header : NULL,
    };
    nd_object_pin(created->pinned);
    if (root->force_inline)
        ndk_call_here(&created->call);
    else
        ndk_worker_give(&root->control, &created->call);
    return STATUS_PENDING;
}

/* ---- requests ---- */

/* ndk_request.state: which comes first: the call returns, or the request ends. */
enum { IN_CALL, CALL_RETURNED, ENDED };

static void tell_ended(struct ndk_call *call)
{
    struct ndk_request *request = container_of(call, struct ndk_request, call);
    struct nd_object *pins = request->object->pins;

    if (request->failed && !NT_SUCCESS(request->status))
        request->failed(request->object, request->status);
    request->completion(request->context, request->status);
    free(request);
    nd_object_unpin(pins);
}

/* The core has ended the request. An object's lock may be held, so the control thread calls the consumer. */
static void ended(struct nd_call *core, HRESULT status)
{
    struct ndk_request *request = container_of(core, struct ndk_request, core);
    struct ndk_root *root = request->object->root;

    request->status = ndk_status(status);
    if (!root->force_inline ||
        atomic_exchange_explicit(&request->state, ENDED, memory_order_acq_rel) == CALL_RETURNED)
        ndk_worker_give(&root->control, &request->call);
}

NTSTATUS ndk_request_begin(struct ndk_requesting *requesting, struct ndk_object *object, bool pends,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_request *request;

    *requesting = (struct ndk_requesting){ .here = object->root->force_inline };
    if (!completion)
        return pends ? STATUS_INVALID_PARAMETER : STATUS_SUCCESS;
    if (!pends && !ndk_forced(object->root))
        return STATUS_SUCCESS;
    if (!(request = malloc(sizeof(*request))))
        return STATUS_INSUFFICIENT_RESOURCES;
    *request = (struct ndk_request){
        .core.end = ended,
        .call.run = tell_ended,
        .object = object,
        .completion = completion,
        .context = context,
    };
    atomic_init(&request->state, IN_CALL);
    nd_object_pin(object->pins);
    requesting->request = request;
    return STATUS_SUCCESS;
}

static void forget(struct ndk_request *request)
{
    struct nd_object *pins = request->object->pins;

    free(request);
    nd_object_unpin(pins);
}

NTSTATUS ndk_request_end(struct ndk_requesting *requesting, NTSTATUS status)
{
    struct ndk_request *request = requesting->request;

    if (!request)
        return status;
    if (!may_pend(status)) {
        forget(request);
        return status;
    }
    request->status = status;
    if (requesting->here)
        ndk_call_here(&request->call);
    else
        ndk_worker_give(&request->object->root->control, &request->call);
    return STATUS_PENDING;
}

NTSTATUS ndk_request_started(struct ndk_requesting *requesting, HRESULT started)
{
    struct ndk_request *request = requesting->request;

    if (started != ND_PENDING) {
        forget(request);
        return ndk_status(started);
    }
    /* The control thread owns the request now, and may have freed it, unless the call ends here (force_inline). */
    if (requesting->here &&
        atomic_exchange_explicit(&request->state, CALL_RETURNED, memory_order_acq_rel) == ENDED)
        ndk_call_here(&request->call);
    return STATUS_PENDING;
}
