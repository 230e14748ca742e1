/* SPDX-License-Identifier: MIT */
/* handle.h - the functions of libwinobj on handles. Each implementation documents codes, threads and ownership. */
#ifndef WINCOMPAT_HANDLE_H
#define WINCOMPAT_HANDLE_H

#include <wincompat/error.h>
#include <wincompat/overlapped.h>

WINCOMPAT_BEGIN

WINOBJ_API DWORD WINAPI GetLastError(void);
WINOBJ_API void WINAPI SetLastError(DWORD error);

WINOBJ_API BOOL WINAPI CloseHandle(HANDLE handle);
#define DUPLICATE_CLOSE_SOURCE 0x1
#define DUPLICATE_SAME_ACCESS  0x2
WINOBJ_API BOOL WINAPI DuplicateHandle(HANDLE from_process, HANDLE handle, HANDLE to_process,
    LPHANDLE to, DWORD access, BOOL inherit, DWORD options);

/* Events. A name is not supported: ERROR_NOT_SUPPORTED. */
WINOBJ_API HANDLE WINAPI CreateEventA(
    LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, BOOL initial_state, LPCSTR name);
WINOBJ_API HANDLE WINAPI CreateEventW(
    LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, BOOL initial_state, LPCWSTR name);
#define CreateEvent WINCOMPAT_AW(CreateEvent)
WINOBJ_API BOOL WINAPI SetEvent(HANDLE event);
WINOBJ_API BOOL WINAPI ResetEvent(HANDLE event);

#define CREATE_EVENT_MANUAL_RESET 0x1
#define CREATE_EVENT_INITIAL_SET  0x2
WINOBJ_API HANDLE WINAPI CreateEventExA(
    LPSECURITY_ATTRIBUTES attributes, LPCSTR name, DWORD flags, DWORD access);
WINOBJ_API HANDLE WINAPI CreateEventExW(
    LPSECURITY_ATTRIBUTES attributes, LPCWSTR name, DWORD flags, DWORD access);
#define CreateEventEx WINCOMPAT_AW(CreateEventEx)

/* Waiting. Alertable waits are plain waits: there are no APCs to run. */
WINOBJ_API DWORD WINAPI WaitForSingleObject(HANDLE handle, DWORD timeout_ms);
WINOBJ_API DWORD WINAPI WaitForSingleObjectEx(HANDLE handle, DWORD timeout_ms, BOOL alertable);
WINOBJ_API DWORD WINAPI WaitForMultipleObjects(
    DWORD count, const HANDLE *handles, BOOL all, DWORD timeout_ms);
WINOBJ_API DWORD WINAPI WaitForMultipleObjectsEx(
    DWORD count, const HANDLE *handles, BOOL all, DWORD timeout_ms, BOOL alertable);

/* Completion ports. */
WINOBJ_API HANDLE WINAPI CreateIoCompletionPort(
    HANDLE file, HANDLE port, ULONG_PTR key, DWORD concurrency);
WINOBJ_API BOOL WINAPI GetQueuedCompletionStatus(
    HANDLE port, LPDWORD bytes, PULONG_PTR key, LPOVERLAPPED *overlapped, DWORD timeout_ms);
WINOBJ_API BOOL WINAPI GetQueuedCompletionStatusEx(HANDLE port, LPOVERLAPPED_ENTRY entries,
    ULONG count, PULONG removed, DWORD timeout_ms, BOOL alertable);
WINOBJ_API BOOL WINAPI PostQueuedCompletionStatus(
    HANDLE port, DWORD bytes, ULONG_PTR key, LPOVERLAPPED overlapped);

/* Overlapped requests on a file handle. */
#define FILE_SKIP_COMPLETION_PORT_ON_SUCCESS 0x1
#define FILE_SKIP_SET_EVENT_ON_HANDLE        0x2
WINOBJ_API BOOL WINAPI GetOverlappedResult(
    HANDLE file, LPOVERLAPPED overlapped, LPDWORD bytes, BOOL wait);
WINOBJ_API BOOL WINAPI SetFileCompletionNotificationModes(HANDLE file, UCHAR flags);

/* Callbacks on threads of the library. */
typedef void(WINAPI *LPOVERLAPPED_COMPLETION_ROUTINE)(
    DWORD error, DWORD bytes, LPOVERLAPPED overlapped);
WINOBJ_API BOOL WINAPI BindIoCompletionCallback(
    HANDLE file, LPOVERLAPPED_COMPLETION_ROUTINE function, ULONG flags);

/* The pool of the process is the only one: environments do not exist. */
typedef struct _TP_IO TP_IO, *PTP_IO;
typedef struct _TP_CALLBACK_INSTANCE TP_CALLBACK_INSTANCE, *PTP_CALLBACK_INSTANCE;
typedef struct _TP_CALLBACK_ENVIRON TP_CALLBACK_ENVIRON, *PTP_CALLBACK_ENVIRON;
typedef VOID(CALLBACK *PTP_WIN32_IO_CALLBACK)(PTP_CALLBACK_INSTANCE instance, PVOID context,
    PVOID overlapped, ULONG error, ULONG_PTR bytes, PTP_IO io);
WINOBJ_API PTP_IO WINAPI CreateThreadpoolIo(
    HANDLE file, PTP_WIN32_IO_CALLBACK callback, PVOID context, PTP_CALLBACK_ENVIRON environment);
WINOBJ_API VOID WINAPI StartThreadpoolIo(PTP_IO io);
WINOBJ_API VOID WINAPI CancelThreadpoolIo(PTP_IO io);
WINOBJ_API VOID WINAPI WaitForThreadpoolIoCallbacks(PTP_IO io, BOOL cancel);
WINOBJ_API VOID WINAPI CloseThreadpoolIo(PTP_IO io);

/* Work for the same threads. */
typedef struct _TP_WORK TP_WORK, *PTP_WORK;
typedef VOID(CALLBACK *PTP_WORK_CALLBACK)(
    PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WORK work);
typedef VOID(CALLBACK *PTP_SIMPLE_CALLBACK)(PTP_CALLBACK_INSTANCE instance, PVOID context);
WINOBJ_API PTP_WORK WINAPI CreateThreadpoolWork(
    PTP_WORK_CALLBACK callback, PVOID context, PTP_CALLBACK_ENVIRON environment);
WINOBJ_API VOID WINAPI SubmitThreadpoolWork(PTP_WORK work);
WINOBJ_API VOID WINAPI WaitForThreadpoolWorkCallbacks(PTP_WORK work, BOOL cancel);
WINOBJ_API VOID WINAPI CloseThreadpoolWork(PTP_WORK work);
WINOBJ_API BOOL WINAPI TrySubmitThreadpoolCallback(
    PTP_SIMPLE_CALLBACK callback, PVOID context, PTP_CALLBACK_ENVIRON environment);
#define WT_EXECUTEDEFAULT            0x00
#define WT_EXECUTEINIOTHREAD         0x01
#define WT_EXECUTELONGFUNCTION       0x10
#define WT_EXECUTEINPERSISTENTTHREAD 0x80
typedef DWORD(WINAPI *PTHREAD_START_ROUTINE)(LPVOID parameter);
typedef PTHREAD_START_ROUTINE LPTHREAD_START_ROUTINE;
WINOBJ_API BOOL WINAPI QueueUserWorkItem(
    LPTHREAD_START_ROUTINE function, PVOID context, ULONG flags);

/* Threads. */
#define CREATE_SUSPENDED                  0x00000004
#define STACK_SIZE_PARAM_IS_A_RESERVATION 0x00010000
WINOBJ_API HANDLE WINAPI CreateThread(LPSECURITY_ATTRIBUTES attributes, SIZE_T stack_size,
    LPTHREAD_START_ROUTINE start, LPVOID parameter, DWORD flags, LPDWORD thread_id);
WINOBJ_API DECLSPEC_NORETURN void WINAPI ExitThread(DWORD exit_code);
WINOBJ_API BOOL WINAPI GetExitCodeThread(HANDLE thread, LPDWORD exit_code);
WINOBJ_API DWORD WINAPI ResumeThread(HANDLE thread);
#define GetCurrentThread() ((HANDLE)(LONG_PTR)-2)
WINOBJ_API DWORD WINAPI GetThreadId(HANDLE thread);
WINOBJ_API DWORD WINAPI GetCurrentThreadId(void);
WINOBJ_API DWORD WINAPI GetCurrentProcessId(void);
WINOBJ_API void WINAPI Sleep(DWORD timeout_ms);
WINOBJ_API DWORD WINAPI SleepEx(DWORD timeout_ms, BOOL alertable);
WINOBJ_API BOOL WINAPI SwitchToThread(void);

/* Values of each thread. */
#define TLS_OUT_OF_INDEXES    0xFFFFFFFFu
#define TLS_MINIMUM_AVAILABLE 64
WINOBJ_API DWORD WINAPI TlsAlloc(void);
WINOBJ_API LPVOID WINAPI TlsGetValue(DWORD index);
WINOBJ_API BOOL WINAPI TlsSetValue(DWORD index, LPVOID value);
WINOBJ_API BOOL WINAPI TlsFree(DWORD index);

WINCOMPAT_END

#endif
