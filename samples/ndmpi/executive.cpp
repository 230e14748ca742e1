// SPDX-License-Identifier: MIT
// executive.cpp - see executive.h.
#include "executive.h"

#include <string.h>

#include "failure.h"

namespace ndmpi
{

Request::Request() : object_(NULL), result_(NULL), status_(ND_SUCCESS), posted_(false)
{
    start(NULL, NULL);
}

void Request::start(IUnknown *object, Result result)
{
    memset(static_cast<OVERLAPPED *>(this), 0, sizeof(OVERLAPPED));
    object_ = object;
    result_ = result;
    posted_ = false;
}

Executive::Executive() : port_(CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 1))
{
    if (!port_)
        fail("CreateIoCompletionPort failed: error %u", (unsigned)GetLastError());
}

Executive::~Executive()
{
    CloseHandle(port_);
}

void Executive::attach(HANDLE file)
{
    if (!CreateIoCompletionPort(file, port_, 0, 0))
        fail("a file or socket cannot be attached to a completion port: error %u",
            (unsigned)GetLastError());
}

void Executive::issued(Request &request, HRESULT hr, Files files)
{
    if (FAILED(hr) || (hr != ND_PENDING && files == NO_PACKET_ON_SUCCESS))
        post(request, hr);
}

void Executive::post(Request &request, HRESULT status)
{
    request.status_ = status;
    request.posted_ = true;
    if (!PostQueuedCompletionStatus(port_, 0, 0, &request))
        fail("PostQueuedCompletionStatus failed: error %u", (unsigned)GetLastError());
}

bool Executive::run(DWORD timeout_ms)
{
    OVERLAPPED_ENTRY entries[16];
    ULONG count = 0;
    if (!GetQueuedCompletionStatusEx(port_, entries, 16, &count, timeout_ms, FALSE)) {
        if (GetLastError() != WAIT_TIMEOUT)
            fail("GetQueuedCompletionStatusEx failed: error %u", (unsigned)GetLastError());
        return false;
    }
    for (ULONG i = 0; i < count; ++i) {
        if (!entries[i].lpOverlapped)
            continue;
        Request *request = static_cast<Request *>(entries[i].lpOverlapped);
        request->ended(request->posted_ ? request->status_ : request->result());
    }
    return true;
}

} // namespace ndmpi
