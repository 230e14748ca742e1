/* SPDX-License-Identifier: MIT */
/* handle.h - the functions on handles. Each implementation documents codes, threads and ownership. */
#ifndef WINCOMPAT_HANDLE_H
#define WINCOMPAT_HANDLE_H

#include <wincompat/error.h>
#include <wincompat/overlapped.h>

WINCOMPAT_BEGIN

WINOBJ_API DWORD WINAPI GetLastError(void);
WINOBJ_API void WINAPI SetLastError(DWORD error);

#define SYNCHRONIZE 0x00100000
WINOBJ_API BOOL WINAPI CloseHandle(HANDLE handle);
#define DUPLICATE_CLOSE_SOURCE 0x1
#define DUPLICATE_SAME_ACCESS  0x2
WINOBJ_API BOOL WINAPI DuplicateHandle(HANDLE from_process, HANDLE handle, HANDLE to_process,
    LPHANDLE to, DWORD access, BOOL inherit, DWORD options);

/* Events. The processes of a user share them by name. */
WINOBJ_API HANDLE WINAPI CreateEventA(
    LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, BOOL initial_state, LPCSTR name);
WINOBJ_API HANDLE WINAPI CreateEventW(LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset,
    BOOL initial_state, LPCWSTR name) WINCOMPAT_WIDE("CreateEventW");
#define CreateEvent WINCOMPAT_AW(CreateEvent)
WINOBJ_API BOOL WINAPI SetEvent(HANDLE event);
WINOBJ_API BOOL WINAPI ResetEvent(HANDLE event);

#define CREATE_EVENT_MANUAL_RESET 0x1
#define CREATE_EVENT_INITIAL_SET  0x2
WINOBJ_API HANDLE WINAPI CreateEventExA(
    LPSECURITY_ATTRIBUTES attributes, LPCSTR name, DWORD flags, DWORD access);
WINOBJ_API HANDLE WINAPI CreateEventExW(LPSECURITY_ATTRIBUTES attributes, LPCWSTR name, DWORD flags,
    DWORD access) WINCOMPAT_WIDE("CreateEventExW");
#define CreateEventEx      WINCOMPAT_AW(CreateEventEx)
#define EVENT_MODIFY_STATE 0x2
#define EVENT_ALL_ACCESS   0x1F0003
WINOBJ_API HANDLE WINAPI OpenEventA(DWORD access, BOOL inherit, LPCSTR name);
WINOBJ_API HANDLE WINAPI OpenEventW(DWORD access, BOOL inherit, LPCWSTR name)
    WINCOMPAT_WIDE("OpenEventW");
#define OpenEvent WINCOMPAT_AW(OpenEvent)

/* Waiting. APCs of the calling thread end its alertable waits. */
WINOBJ_API DWORD WINAPI WaitForSingleObject(HANDLE handle, DWORD timeout_ms);
WINOBJ_API DWORD WINAPI WaitForSingleObjectEx(HANDLE handle, DWORD timeout_ms, BOOL alertable);
WINOBJ_API DWORD WINAPI WaitForMultipleObjects(
    DWORD count, const HANDLE *handles, BOOL all, DWORD timeout_ms);
WINOBJ_API DWORD WINAPI WaitForMultipleObjectsEx(
    DWORD count, const HANDLE *handles, BOOL all, DWORD timeout_ms, BOOL alertable);
WINOBJ_API DWORD WINAPI SignalObjectAndWait(
    HANDLE signal, HANDLE wait, DWORD timeout_ms, BOOL alertable);

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
WINOBJ_API BOOL WINAPI GetOverlappedResultEx(
    HANDLE file, LPOVERLAPPED overlapped, LPDWORD bytes, DWORD timeout_ms, BOOL alertable);
WINOBJ_API BOOL WINAPI SetFileCompletionNotificationModes(HANDLE file, UCHAR flags);
WINOBJ_API BOOL WINAPI ReadFile(
    HANDLE file, LPVOID buffer, DWORD bytes, LPDWORD done, LPOVERLAPPED overlapped);
WINOBJ_API BOOL WINAPI WriteFile(
    HANDLE file, LPCVOID buffer, DWORD bytes, LPDWORD done, LPOVERLAPPED overlapped);
WINOBJ_API BOOL WINAPI CancelIo(HANDLE file);
WINOBJ_API BOOL WINAPI CancelIoEx(HANDLE file, LPOVERLAPPED overlapped);

/* Callbacks on threads of the library. */
typedef void(WINAPI *LPOVERLAPPED_COMPLETION_ROUTINE)(
    DWORD error, DWORD bytes, LPOVERLAPPED overlapped);
WINOBJ_API BOOL WINAPI ReadFileEx(HANDLE file, LPVOID buffer, DWORD bytes, LPOVERLAPPED overlapped,
    LPOVERLAPPED_COMPLETION_ROUTINE function);
WINOBJ_API BOOL WINAPI WriteFileEx(HANDLE file, LPCVOID buffer, DWORD bytes,
    LPOVERLAPPED overlapped, LPOVERLAPPED_COMPLETION_ROUTINE function);
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
#define WT_EXECUTEDEFAULT            0x000
#define WT_EXECUTEINIOTHREAD         0x001
#define WT_EXECUTEINWAITTHREAD       0x004
#define WT_EXECUTEONLYONCE           0x008
#define WT_EXECUTELONGFUNCTION       0x010
#define WT_EXECUTEINTIMERTHREAD      0x020
#define WT_EXECUTEINPERSISTENTTHREAD 0x080
#define WT_TRANSFER_IMPERSONATION    0x100
typedef DWORD(WINAPI *PTHREAD_START_ROUTINE)(LPVOID parameter);
typedef PTHREAD_START_ROUTINE LPTHREAD_START_ROUTINE;
WINOBJ_API BOOL WINAPI QueueUserWorkItem(
    LPTHREAD_START_ROUTINE function, PVOID context, ULONG flags);

/* Timers and waits that have these threads call a function. The values that name them are no handles. */
typedef VOID(NTAPI *WAITORTIMERCALLBACKFUNC)(PVOID context, BOOLEAN timed_out);
typedef WAITORTIMERCALLBACKFUNC WAITORTIMERCALLBACK;
WINOBJ_API HANDLE WINAPI CreateTimerQueue(VOID);
WINOBJ_API BOOL WINAPI CreateTimerQueueTimer(PHANDLE timer, HANDLE queue,
    WAITORTIMERCALLBACK function, PVOID parameter, DWORD due_ms, DWORD period_ms, ULONG flags);
WINOBJ_API BOOL WINAPI ChangeTimerQueueTimer(
    HANDLE queue, HANDLE timer, ULONG due_ms, ULONG period_ms);
WINOBJ_API BOOL WINAPI DeleteTimerQueueTimer(HANDLE queue, HANDLE timer, HANDLE event);
WINOBJ_API BOOL WINAPI DeleteTimerQueueEx(HANDLE queue, HANDLE event);
WINOBJ_API BOOL WINAPI DeleteTimerQueue(HANDLE queue);
WINOBJ_API BOOL WINAPI RegisterWaitForSingleObject(PHANDLE wait, HANDLE object,
    WAITORTIMERCALLBACK function, PVOID context, ULONG timeout_ms, ULONG flags);
WINOBJ_API BOOL WINAPI UnregisterWait(HANDLE wait);
WINOBJ_API BOOL WINAPI UnregisterWaitEx(HANDLE wait, HANDLE event);

/* Threads. A handle of one has all rights, whichever DuplicateHandle is asked for. */
#define THREAD_TERMINATE                  0x0001
#define THREAD_SUSPEND_RESUME             0x0002
#define THREAD_GET_CONTEXT                0x0008
#define THREAD_SET_CONTEXT                0x0010
#define THREAD_SET_INFORMATION            0x0020
#define THREAD_QUERY_INFORMATION          0x0040
#define THREAD_SET_LIMITED_INFORMATION    0x0400
#define THREAD_QUERY_LIMITED_INFORMATION  0x0800
#define THREAD_ALL_ACCESS                 0x1FFFFF
#define CREATE_SUSPENDED                  0x00000004
#define STACK_SIZE_PARAM_IS_A_RESERVATION 0x00010000
WINOBJ_API HANDLE WINAPI CreateThread(LPSECURITY_ATTRIBUTES attributes, SIZE_T stack_size,
    LPTHREAD_START_ROUTINE start, LPVOID parameter, DWORD flags, LPDWORD thread_id);
WINOBJ_API DECLSPEC_NORETURN void WINAPI ExitThread(DWORD exit_code);
WINOBJ_API BOOL WINAPI GetExitCodeThread(HANDLE thread, LPDWORD exit_code);
WINOBJ_API DWORD WINAPI ResumeThread(HANDLE thread);
/* A value that stands for the calling thread, whichever uses it: -2. */
WINOBJ_API HANDLE WINAPI GetCurrentThread(void);
WINOBJ_API DWORD WINAPI GetThreadId(HANDLE thread);
WINOBJ_API BOOL WINAPI GetThreadTimes(
    HANDLE thread, LPFILETIME begun, LPFILETIME ended, LPFILETIME kernel, LPFILETIME user);
WINOBJ_API HRESULT WINAPI SetThreadDescription(HANDLE thread, PCWSTR text)
    WINCOMPAT_WIDE("SetThreadDescription");
WINOBJ_API HRESULT WINAPI GetThreadDescription(HANDLE thread, PWSTR *text)
    WINCOMPAT_WIDE("GetThreadDescription");
WINOBJ_API DWORD WINAPI GetCurrentThreadId(void);
WINOBJ_API DWORD WINAPI GetCurrentProcessId(void);
WINOBJ_API void WINAPI Sleep(DWORD timeout_ms);
WINOBJ_API DWORD WINAPI SleepEx(DWORD timeout_ms, BOOL alertable);
WINOBJ_API BOOL WINAPI SwitchToThread(void);
typedef VOID(NTAPI *PAPCFUNC)(ULONG_PTR data);
WINOBJ_API DWORD WINAPI QueueUserAPC(PAPCFUNC function, HANDLE thread, ULONG_PTR data);

/* Values of each thread. */
#define TLS_OUT_OF_INDEXES    0xFFFFFFFFu
#define TLS_MINIMUM_AVAILABLE 64
WINOBJ_API DWORD WINAPI TlsAlloc(void);
WINOBJ_API LPVOID WINAPI TlsGetValue(DWORD index);
WINOBJ_API BOOL WINAPI TlsSetValue(DWORD index, LPVOID value);
WINOBJ_API BOOL WINAPI TlsFree(DWORD index);
#define FLS_OUT_OF_INDEXES    0xFFFFFFFFu
#define FLS_MAXIMUM_AVAILABLE 128
typedef VOID(WINAPI *PFLS_CALLBACK_FUNCTION)(PVOID value);
WINOBJ_API DWORD WINAPI FlsAlloc(PFLS_CALLBACK_FUNCTION callback);
WINOBJ_API PVOID WINAPI FlsGetValue(DWORD index);
WINOBJ_API BOOL WINAPI FlsSetValue(DWORD index, PVOID value);
WINOBJ_API BOOL WINAPI FlsFree(DWORD index);

WINCOMPAT_END

#endif
