/* SPDX-License-Identifier: MIT */
/* handle.c - handles of ndkwdm.h (handle.h), and ZwClose. */
#include "ndk/wdm/handle.h"

#include "ndk/verifier/passive.h"

#include <pthread.h>

static struct {
    pthread_mutex_t mutex; /* a leaf */
    LIST_ENTRY open;
    ULONG_PTR last; /* no number is given twice */
} handles = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static struct ndk_handle *find_locked(HANDLE number)
{
    for (LIST_ENTRY *at = handles.open.Flink; at && at != &handles.open; at = at->Flink) {
        struct ndk_handle *handle = CONTAINING_RECORD(at, struct ndk_handle, link);

        if (handle->number == number)
            return handle;
    }
    return NULL;
}

HANDLE ndk_handle_open(struct ndk_handle *handle, enum ndk_handle_kind kind,
    void (*release)(struct ndk_handle *handle))
{
    HANDLE number;

    handle->kind = kind;
    handle->release = release;
    atomic_init(&handle->references, 1);
    pthread_mutex_lock(&handles.mutex);
    if (!handles.last)
        InitializeListHead(&handles.open);
    number = handle->number = (HANDLE)(handles.last += 4);
    InsertTailList(&handles.open, &handle->link);
    pthread_mutex_unlock(&handles.mutex);
    return number;
}

struct ndk_handle *ndk_handle_take(HANDLE number, enum ndk_handle_kind kind)
{
    struct ndk_handle *handle;

    pthread_mutex_lock(&handles.mutex);
    handle = find_locked(number);
    if (handle && handle->kind == kind)
        atomic_fetch_add(&handle->references, 1);
    else
        handle = NULL;
    pthread_mutex_unlock(&handles.mutex);
    return handle;
}

void ndk_handle_put(struct ndk_handle *handle)
{
    if (atomic_fetch_sub(&handle->references, 1) == 1)
        handle->release(handle);
}

NTSTATUS ZwClose(HANDLE handle)
{
    struct ndk_handle *closed;

    ndk_passive_expected("ZwClose", "HANDLE", handle);
    pthread_mutex_lock(&handles.mutex);
    if ((closed = find_locked(handle)))
        RemoveEntryList(&closed->link);
    pthread_mutex_unlock(&handles.mutex);
    if (!closed)
        return STATUS_INVALID_HANDLE;
    ndk_handle_put(closed);
    return STATUS_SUCCESS;
}
