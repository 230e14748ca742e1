/* SPDX-License-Identifier: MIT */
/* work.c - requests of other processes, done (work.h). */
#include "win32/parcels/work.h"

#include "winobj/handles/descriptor.h"
#include "win32/parcels/open.h"

#include <unistd.h>

static HANDLE handle_of(uint64_t value)
{
    return (HANDLE)(uintptr_t)value;
}

HANDLE parcel_copy(HANDLE handle)
{
    struct win_object *object;
    HANDLE result;

    if (handle == GetCurrentProcess())
        return OpenProcess(PROCESS_ALL_ACCESS, FALSE, GetCurrentProcessId());
    if (!(object = win_handle_pin(handle, NULL))) {
        SetLastError(ERROR_INVALID_HANDLE);
        return NULL;
    }
    result = win_handle_add(object);
    win_object_unref(object);
    return result;
}

DWORD parcel_inherit(HANDLE handle, bool inherit)
{
    const DWORD error = inherit ? win_handle_set_inherit(handle, true) : ERROR_SUCCESS;

    if (error)
        CloseHandle(handle);
    return error;
}

static DWORD keep_made(struct parcel_work *work, HANDLE made, bool inherit)
{
    const DWORD error = parcel_inherit(made, inherit);

    work->answer.handle = error ? 0 : (uintptr_t)made;
    return error;
}

static DWORD give(struct parcel_work *work, const struct parcel_request *request)
{
    HANDLE made;

    if (!win_parcel_is_sound(&request->parcel)) {
        if (request->parcel.fd >= 0)
            close(request->parcel.fd);
        return ERROR_INVALID_PARAMETER;
    }
    if (!(made = win_parcel_open(&request->parcel)))
        return GetLastError();
    return keep_made(work, made, request->inherit);
}

static DWORD take(struct parcel_work *work, const struct parcel_request *request)
{
    struct win_parcel *parcel = &work->answer.parcel;
    struct win_object *object;
    const DWORD error = win_parcel_pack(handle_of(request->handle), parcel, &object);

    if (error)
        return error;
    work->fd = parcel->fd;
    parcel->fd = -1;
    if (parcel->named)
        work->kept = object;
    else
        win_object_unref(object);
    return ERROR_SUCCESS;
}

static DWORD copy(struct parcel_work *work, const struct parcel_request *request)
{
    HANDLE made;

    win_descriptor_adopt(handle_of(request->handle));
    if (!(made = parcel_copy(handle_of(request->handle))))
        return GetLastError();
    return keep_made(work, made, request->inherit);
}

static DWORD close_one(HANDLE handle)
{
    win_descriptor_adopt(handle);
    return CloseHandle(handle) ? ERROR_SUCCESS : ERROR_INVALID_HANDLE;
}

static DWORD run(struct parcel_work *work, const struct parcel_request *request)
{
    switch ((enum parcel_asks)request->asks) {
    case PARCEL_GIVE: return give(work, request);
    case PARCEL_TAKE: return take(work, request);
    case PARCEL_COPY: return copy(work, request);
    case PARCEL_CLOSE: return close_one(handle_of(request->handle));
    }
    return ERROR_INVALID_PARAMETER;
}

void parcel_work_do(struct parcel_work *work, const struct parcel_request *request, DWORD error)
{
    const bool closes =
        (request->asks == PARCEL_TAKE || request->asks == PARCEL_COPY) && request->then_close;

    *work =
        (struct parcel_work){ .answer = { .magic = PARCEL_MAGIC, .parcel = { .fd = -1, .at = -1 } },
            .fd = -1 };
    if (request->asks != PARCEL_GIVE && request->parcel.fd >= 0)
        close(request->parcel.fd);
    if (!error)
        error = run(work, request);
    if (closes && close_one(handle_of(request->handle)) && !error)
        error = ERROR_INVALID_HANDLE; /* another thread closed it meanwhile */
    if (error)
        parcel_work_undo(work);
    work->answer.error = error;
}

void parcel_work_undo(struct parcel_work *work)
{
    if (work->answer.handle)
        CloseHandle(handle_of(work->answer.handle));
    if (work->kept)
        win_object_unref(work->kept);
    if (work->fd >= 0)
        close(work->fd);
    work->answer.handle = 0;
    work->kept = NULL;
    work->fd = -1;
}
