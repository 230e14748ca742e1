/* SPDX-License-Identifier: MIT */
/* pipe.h - named pipes. Each implementation documents codes, threads and ownership. */
#ifndef WINCOMPAT_PIPE_H
#define WINCOMPAT_PIPE_H

#include <wincompat/file.h>

WINCOMPAT_BEGIN

#define FILE_FLAG_FIRST_PIPE_INSTANCE 0x00080000
#define PIPE_ACCESS_INBOUND           0x00000001
#define PIPE_ACCESS_OUTBOUND          0x00000002
#define PIPE_ACCESS_DUPLEX            0x00000003
#define PIPE_WAIT                     0x00000000
#define PIPE_NOWAIT                   0x00000001
#define PIPE_READMODE_BYTE            0x00000000
#define PIPE_READMODE_MESSAGE         0x00000002
#define PIPE_TYPE_BYTE                0x00000000
#define PIPE_TYPE_MESSAGE             0x00000004
#define PIPE_ACCEPT_REMOTE_CLIENTS    0x00000000
#define PIPE_REJECT_REMOTE_CLIENTS    0x00000008
#define PIPE_CLIENT_END               0x00000000
#define PIPE_SERVER_END               0x00000001
#define PIPE_UNLIMITED_INSTANCES      255
#define NMPWAIT_WAIT_FOREVER          0xffffffffu
#define NMPWAIT_NOWAIT                0x00000001
#define NMPWAIT_USE_DEFAULT_WAIT      0x00000000

WINOBJ_API HANDLE WINAPI CreateNamedPipeA(LPCSTR name, DWORD open_mode, DWORD mode, DWORD most,
    DWORD out_bytes, DWORD in_bytes, DWORD wait_ms, LPSECURITY_ATTRIBUTES attributes);
WINOBJ_API HANDLE WINAPI CreateNamedPipeW(LPCWSTR name, DWORD open_mode, DWORD mode, DWORD most,
    DWORD out_bytes, DWORD in_bytes, DWORD wait_ms, LPSECURITY_ATTRIBUTES attributes)
    WINCOMPAT_WIDE("CreateNamedPipeW");
#define CreateNamedPipe WINCOMPAT_AW(CreateNamedPipe)
WINOBJ_API BOOL WINAPI ConnectNamedPipe(HANDLE pipe, LPOVERLAPPED overlapped);
WINOBJ_API BOOL WINAPI DisconnectNamedPipe(HANDLE pipe);
WINOBJ_API BOOL WINAPI WaitNamedPipeA(LPCSTR name, DWORD timeout_ms);
WINOBJ_API BOOL WINAPI WaitNamedPipeW(LPCWSTR name, DWORD timeout_ms)
    WINCOMPAT_WIDE("WaitNamedPipeW");
#define WaitNamedPipe WINCOMPAT_AW(WaitNamedPipe)
WINOBJ_API BOOL WINAPI CallNamedPipeA(LPCSTR name, LPVOID out, DWORD out_bytes, LPVOID in,
    DWORD in_bytes, LPDWORD read, DWORD timeout_ms);
WINOBJ_API BOOL WINAPI CallNamedPipeW(LPCWSTR name, LPVOID out, DWORD out_bytes, LPVOID in,
    DWORD in_bytes, LPDWORD read, DWORD timeout_ms) WINCOMPAT_WIDE("CallNamedPipeW");
#define CallNamedPipe WINCOMPAT_AW(CallNamedPipe)
WINOBJ_API BOOL WINAPI TransactNamedPipe(HANDLE pipe, LPVOID out, DWORD out_bytes, LPVOID in,
    DWORD in_bytes, LPDWORD read, LPOVERLAPPED overlapped);
WINOBJ_API BOOL WINAPI PeekNamedPipe(
    HANDLE pipe, LPVOID buffer, DWORD bytes, LPDWORD got, LPDWORD total, LPDWORD left);
WINOBJ_API BOOL WINAPI SetNamedPipeHandleState(HANDLE pipe, LPDWORD mode, LPDWORD most, LPDWORD ms);
WINOBJ_API BOOL WINAPI GetNamedPipeHandleStateA(
    HANDLE pipe, LPDWORD mode, LPDWORD instances, LPDWORD most, LPDWORD ms, LPSTR user, DWORD size);
WINOBJ_API BOOL WINAPI GetNamedPipeHandleStateW(HANDLE pipe, LPDWORD mode, LPDWORD instances,
    LPDWORD most, LPDWORD ms, LPWSTR user, DWORD size) WINCOMPAT_WIDE("GetNamedPipeHandleStateW");
#define GetNamedPipeHandleState WINCOMPAT_AW(GetNamedPipeHandleState)
WINOBJ_API BOOL WINAPI GetNamedPipeInfo(
    HANDLE pipe, LPDWORD flags, LPDWORD out_bytes, LPDWORD in_bytes, LPDWORD most);
WINOBJ_API BOOL WINAPI GetNamedPipeClientProcessId(HANDLE pipe, PULONG id);
WINOBJ_API BOOL WINAPI GetNamedPipeServerProcessId(HANDLE pipe, PULONG id);

WINCOMPAT_END

#endif
