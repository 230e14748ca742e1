/* SPDX-License-Identifier: MIT */
/* The sink of programs on Linux: winobj's files, events and completion ports. */
#include "ndspi/core/sink.h"

#include "winobj/provider.h"

static struct win_file *file_of(struct nd_sink_file *file)
{
    return (struct win_file *)file;
}

static void users_init(void *room)
{
    nd_file_users_init(room);
}

static void users_close(void *room)
{
    nd_file_users_close(room);
}

static const struct win_file_ops file_ops = {
    .room = sizeof(struct nd_file_users),
    .init = users_init,
    .closed = users_close,
};

static HRESULT file_create(const void *owner, HANDLE *handle)
{
    switch (win_file_create(owner, &file_ops, handle)) {
    case ERROR_SUCCESS: return ND_SUCCESS;
    case ERROR_NOT_ENOUGH_MEMORY: return ND_NO_MEMORY;
    default: return ND_INSUFFICIENT_RESOURCES;
    }
}

static struct nd_sink_file *file_get(HANDLE handle, const void *owner)
{
    return (struct nd_sink_file *)win_file_get(handle, owner);
}

static struct nd_sink_file *file_ref(struct nd_sink_file *file)
{
    return (struct nd_sink_file *)win_file_ref(file_of(file));
}

static void file_unref(struct nd_sink_file *file)
{
    win_file_unref(file_of(file));
}

static struct nd_file_users *file_users(struct nd_sink_file *file)
{
    return win_file_room(file_of(file));
}

/* While the file is pinned its handle's value is not reused, so this closes no other object. */
static void file_close(struct nd_sink_file *file, HANDLE handle)
{
    (void)file;
    CloseHandle(handle);
}

static HRESULT reserve(struct nd_sink_file *file)
{
    return win_overlapped_reserve(file_of(file)) ? ND_SUCCESS : ND_NO_MEMORY;
}

static void unreserve(struct nd_sink_file *file)
{
    win_overlapped_unreserve(file_of(file));
}

static void start(struct nd_sink_file *file, OVERLAPPED *overlapped)
{
    (void)file;
    win_overlapped_begin(overlapped);
}

/* The byte count of a request is the provider's own; clients are told 0. */
static void complete(struct nd_sink_file *file, OVERLAPPED *overlapped, HRESULT status)
{
    win_overlapped_complete(file_of(file), overlapped, status, 0);
}

static HRESULT result(struct nd_sink_file *file, OVERLAPPED *overlapped, BOOL wait)
{
    return win_overlapped_result(file_of(file), overlapped, wait);
}

const struct nd_sink nd_sink_winobj = {
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
};
