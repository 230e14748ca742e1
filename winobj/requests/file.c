/* SPDX-License-Identifier: MIT */
/*
 * file.c - overlapped file objects, on which a provider's requests run. A file belongs to one owner (an adapter). A
 * program may attach it to one port, at any time; completions after that go there.
 */
#include "winobj/requests/file.h"

#include "winobj/handles/descriptor.h"
#include "winobj/requests/io.h"

#include <stdlib.h>

static void file_close(struct win_object *object)
{
    struct win_file *file = (struct win_file *)object;

    if (!file->ops)
        return;
    if (file->ops->closed)
        file->ops->closed(file->room);
    if (!file->ops->io)
        return;
    lock_acquire(&file->lock);
    file->closed = true;
    lock_release(&file->lock);
    win_requests_cancel(file, NULL, 0);
    if (file->ops->io->closed)
        file->ops->io->closed(file);
}

static void file_destroy(struct win_object *object)
{
    struct win_file *file = (struct win_file *)object;
    struct win_port *port = atomic_load_explicit(&file->port, memory_order_acquire);

    if (file->ops && file->ops->io)
        file->ops->io->destroy(file);
    if (port)
        win_port_unpin(port);
    win_file_free(file);
}

/* A console has input that would signal it; it is refused. */
static bool file_await(struct win_object *object)
{
    struct win_file *file = (struct win_file *)object;
    const struct win_io_ops *io = file->ops ? file->ops->io : NULL;

    if (!io || (io->type && io->type(file) == FILE_TYPE_CHAR))
        return false;
    lock_acquire(&file->lock);
    if (!file->watched && !file->idle)
        win_waitable_reset(&file->waitable);
    file->watched = true;
    lock_release(&file->lock);
    return true;
}

static void file_forked(struct win_object *object)
{
    struct win_file *file = (struct win_file *)object;

    if (atomic_load_explicit(&file->lock.word, memory_order_relaxed)) {
        list_init(&file->packets);
        file->packet_count = file->requests = 0;
    }
    list_init(&file->pending);
    win_waitable_init(&file->waitable, WAITABLE_MANUAL, true);
    file->idle = true;
    file->watched = false;
    if (!file->ops || !file->ops->io)
        file->ops = NULL; /* its requests belong to the parent */
    else if (file->ops->io->forked)
        file->ops->io->forked(file);
    lock_init(&file->lock, LOCK_WIN_FILE, "overlapped file");
}

static DWORD file_carry(struct win_object *object, struct win_parcel *parcel)
{
    struct win_file *file = (struct win_file *)object;

    if (!file->ops || !file->ops->io || !file->ops->io->carry)
        return ERROR_NOT_SUPPORTED;
    return parcel ? file->ops->io->carry(file, parcel) : ERROR_SUCCESS;
}

const struct win_object_type win_file_type = {
    .name = "overlapped file",
    .waitable = true,
    .await = file_await,
    .close = file_close,
    .destroy = file_destroy,
    .forked = file_forked,
    .carry = file_carry,
};

struct win_file *win_file_new(const void *owner, const struct win_file_ops *ops)
{
    struct win_file *file = calloc(1, sizeof(*file) + (ops ? ops->room : 0));

    if (!file)
        return NULL;
    file->owner = owner;
    file->ops = ops;
    if (ops && ops->init)
        ops->init(file->room);
    lock_init(&file->lock, LOCK_WIN_FILE, "overlapped file");
    list_init(&file->packets);
    list_init(&file->pending);
    win_waitable_init(&file->waitable, WAITABLE_MANUAL, true);
    file->idle = true;
    return file;
}

HANDLE win_file_open(struct win_file *file)
{
    return win_handle_open(&file->waitable.object, &win_file_type);
}

void win_file_free(struct win_file *file)
{
    struct list_node *node;

    while ((node = list_pop(&file->packets)))
        win_packet_free(list_entry(node, struct win_packet, link));
    free(file);
}

DWORD win_file_create(const void *owner, const struct win_file_ops *ops, HANDLE *handle)
{
    struct win_file *file = win_file_new(owner, ops);

    *handle = INVALID_HANDLE_VALUE;
    if (!file)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (!(*handle = win_file_open(file))) {
        win_file_free(file);
        *handle = INVALID_HANDLE_VALUE;
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    return ERROR_SUCCESS;
}

struct win_file *win_file_pin(HANDLE handle)
{
    win_descriptor_adopt(handle);
    return (struct win_file *)win_handle_pin(handle, &win_file_type);
}

struct win_file *win_file_get(HANDLE handle, const void *owner)
{
    struct win_file *file = (struct win_file *)win_handle_pin(handle, &win_file_type);

    if (file && file->owner != owner) {
        win_file_unref(file);
        return NULL;
    }
    return file;
}

void *win_file_room(struct win_file *file)
{
    return file->room;
}

struct win_file *win_file_ref(struct win_file *file)
{
    win_object_ref(&file->waitable.object);
    return file;
}

void win_file_unref(struct win_file *file)
{
    win_object_unref(&file->waitable.object);
}

DWORD win_file_attach(HANDLE handle, struct win_port *port, ULONG_PTR key)
{
    struct win_file *file = win_file_pin(handle);
    DWORD error = ERROR_INVALID_PARAMETER;

    if (!file)
        return ERROR_INVALID_HANDLE;
    lock_acquire(&file->lock);
    if (!atomic_load_explicit(&file->port, memory_order_relaxed)) {
        win_object_ref((struct win_object *)port);
        file->key = key;
        atomic_store_explicit(&file->port, port, memory_order_release);
        error = ERROR_SUCCESS;
    }
    lock_release(&file->lock);
    win_file_unref(file);
    return error;
}

/*
 * SetFileCompletionNotificationModes - flags: FILE_SKIP_COMPLETION_PORT_ON_SUCCESS, FILE_SKIP_SET_EVENT_ON_HANDLE; once
 * set they stay. The first concerns requests that succeed at once: those of files, pipes and sockets. NetworkDirect's
 * are always pending first, so it changes nothing there. With the second, requests do not signal the handle. FALSE with
 * ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER (other flags).
 */
BOOL WINAPI SetFileCompletionNotificationModes(HANDLE handle, UCHAR flags)
{
    struct win_file *file = win_file_pin(handle);

    if (!file) {
        SetLastError(ERROR_INVALID_HANDLE);
        return FALSE;
    }
    if (flags & ~(FILE_SKIP_COMPLETION_PORT_ON_SUCCESS | FILE_SKIP_SET_EVENT_ON_HANDLE)) {
        win_file_unref(file);
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    atomic_fetch_or(&file->modes, flags);
    win_file_unref(file);
    return TRUE;
}
