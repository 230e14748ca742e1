/* SPDX-License-Identifier: MIT */
/* status.c - the NTSTATUS to Win32 error table. Source: Windows' RtlNtStatusToDosError. */
#include "winobj/status.h"

#include <ntstatus.h>
#include <winternl.h>

#define STATUS_TABLE(ROW)                                                                          \
    ROW(STATUS_SUCCESS, ERROR_SUCCESS)                                                             \
    ROW(STATUS_ABANDONED_WAIT_0, ERROR_ABANDONED_WAIT_0)                                           \
    ROW(STATUS_ABANDONED_WAIT_63, ERROR_ABANDONED_WAIT_63)                                         \
    ROW(STATUS_TIMEOUT, ERROR_TIMEOUT)                                                             \
    ROW(STATUS_PENDING, ERROR_IO_PENDING)                                                          \
    ROW(STATUS_BUFFER_OVERFLOW, ERROR_MORE_DATA)                                                   \
    ROW(STATUS_NO_MORE_FILES, ERROR_NO_MORE_FILES)                                                 \
    ROW(STATUS_DEVICE_BUSY, ERROR_BUSY)                                                            \
    ROW(STATUS_NO_MORE_ENTRIES, ERROR_NO_MORE_ITEMS)                                               \
    ROW(STATUS_UNSUCCESSFUL, ERROR_GEN_FAILURE)                                                    \
    ROW(STATUS_NOT_IMPLEMENTED, ERROR_INVALID_FUNCTION)                                            \
    ROW(STATUS_INVALID_INFO_CLASS, ERROR_INVALID_PARAMETER)                                        \
    ROW(STATUS_INFO_LENGTH_MISMATCH, ERROR_BAD_LENGTH)                                             \
    ROW(STATUS_ACCESS_VIOLATION, ERROR_NOACCESS)                                                   \
    ROW(STATUS_INVALID_HANDLE, ERROR_INVALID_HANDLE)                                               \
    ROW(STATUS_INVALID_CID, ERROR_INVALID_PARAMETER)                                               \
    ROW(STATUS_INVALID_PARAMETER, ERROR_INVALID_PARAMETER)                                         \
    ROW(STATUS_NO_SUCH_DEVICE, ERROR_FILE_NOT_FOUND)                                               \
    ROW(STATUS_NO_SUCH_FILE, ERROR_FILE_NOT_FOUND)                                                 \
    ROW(STATUS_INVALID_DEVICE_REQUEST, ERROR_INVALID_FUNCTION)                                     \
    ROW(STATUS_END_OF_FILE, ERROR_HANDLE_EOF)                                                      \
    ROW(STATUS_MORE_PROCESSING_REQUIRED, ERROR_MORE_DATA)                                          \
    ROW(STATUS_NO_MEMORY, ERROR_NOT_ENOUGH_MEMORY)                                                 \
    ROW(STATUS_CONFLICTING_ADDRESSES, ERROR_INVALID_ADDRESS)                                       \
    ROW(STATUS_ACCESS_DENIED, ERROR_ACCESS_DENIED)                                                 \
    ROW(STATUS_BUFFER_TOO_SMALL, ERROR_INSUFFICIENT_BUFFER)                                        \
    ROW(STATUS_OBJECT_TYPE_MISMATCH, ERROR_INVALID_HANDLE)                                         \
    ROW(STATUS_INVALID_PARAMETER_MIX, ERROR_INVALID_PARAMETER)                                     \
    ROW(STATUS_OBJECT_NAME_INVALID, ERROR_INVALID_NAME)                                            \
    ROW(STATUS_OBJECT_NAME_NOT_FOUND, ERROR_FILE_NOT_FOUND)                                        \
    ROW(STATUS_OBJECT_NAME_COLLISION, ERROR_ALREADY_EXISTS)                                        \
    ROW(STATUS_DATA_OVERRUN, ERROR_IO_DEVICE)                                                      \
    ROW(STATUS_DATA_ERROR, ERROR_CRC)                                                              \
    ROW(STATUS_SHARING_VIOLATION, ERROR_SHARING_VIOLATION)                                         \
    ROW(STATUS_FILE_LOCK_CONFLICT, ERROR_LOCK_VIOLATION)                                           \
    ROW(STATUS_PROCEDURE_NOT_FOUND, ERROR_PROC_NOT_FOUND)                                          \
    ROW(STATUS_INSUFFICIENT_RESOURCES, ERROR_NO_SYSTEM_RESOURCES)                                  \
    ROW(STATUS_MEMORY_NOT_ALLOCATED, ERROR_INVALID_ADDRESS)                                        \
    ROW(STATUS_DEVICE_NOT_READY, ERROR_NOT_READY)                                                  \
    ROW(STATUS_PIPE_BUSY, ERROR_PIPE_BUSY)                                                         \
    ROW(STATUS_PIPE_DISCONNECTED, ERROR_PIPE_NOT_CONNECTED)                                        \
    ROW(STATUS_PIPE_CLOSING, ERROR_NO_DATA)                                                        \
    ROW(STATUS_PIPE_CONNECTED, ERROR_PIPE_CONNECTED)                                               \
    ROW(STATUS_PIPE_LISTENING, ERROR_PIPE_LISTENING)                                               \
    ROW(STATUS_INVALID_READ_MODE, ERROR_BAD_PIPE)                                                  \
    ROW(STATUS_PIPE_EMPTY, ERROR_NO_DATA)                                                          \
    ROW(STATUS_PIPE_BROKEN, ERROR_BROKEN_PIPE)                                                     \
    ROW(STATUS_IO_TIMEOUT, ERROR_SEM_TIMEOUT)                                                      \
    ROW(STATUS_NOT_SUPPORTED, ERROR_NOT_SUPPORTED)                                                 \
    ROW(STATUS_BAD_NETWORK_PATH, ERROR_BAD_NETPATH)                                                \
    ROW(STATUS_NETWORK_BUSY, ERROR_NETWORK_BUSY)                                                   \
    ROW(STATUS_INVALID_NETWORK_RESPONSE, ERROR_BAD_NET_RESP)                                       \
    ROW(STATUS_UNEXPECTED_NETWORK_ERROR, ERROR_UNEXP_NET_ERR)                                      \
    ROW(STATUS_BAD_NETWORK_NAME, ERROR_BAD_NET_NAME)                                               \
    ROW(STATUS_REQUEST_NOT_ACCEPTED, ERROR_REQ_NOT_ACCEP)                                          \
    ROW(STATUS_INTERNAL_ERROR, ERROR_INTERNAL_ERROR)                                               \
    ROW(STATUS_INVALID_PARAMETER_1, ERROR_INVALID_PARAMETER)                                       \
    ROW(STATUS_INVALID_PARAMETER_2, ERROR_INVALID_PARAMETER)                                       \
    ROW(STATUS_INVALID_PARAMETER_3, ERROR_INVALID_PARAMETER)                                       \
    ROW(STATUS_INVALID_PARAMETER_4, ERROR_INVALID_PARAMETER)                                       \
    ROW(STATUS_INVALID_PARAMETER_5, ERROR_INVALID_PARAMETER)                                       \
    ROW(STATUS_INVALID_PARAMETER_6, ERROR_INVALID_PARAMETER)                                       \
    ROW(STATUS_INVALID_PARAMETER_7, ERROR_INVALID_PARAMETER)                                       \
    ROW(STATUS_INVALID_PARAMETER_8, ERROR_INVALID_PARAMETER)                                       \
    ROW(STATUS_INVALID_PARAMETER_9, ERROR_INVALID_PARAMETER)                                       \
    ROW(STATUS_INVALID_PARAMETER_10, ERROR_INVALID_PARAMETER)                                      \
    ROW(STATUS_INVALID_PARAMETER_11, ERROR_INVALID_PARAMETER)                                      \
    ROW(STATUS_INVALID_PARAMETER_12, ERROR_INVALID_PARAMETER)                                      \
    ROW(STATUS_STACK_OVERFLOW, ERROR_STACK_OVERFLOW)                                               \
    ROW(STATUS_TOO_MANY_OPENED_FILES, ERROR_TOO_MANY_OPEN_FILES)                                   \
    ROW(STATUS_CANCELLED, ERROR_OPERATION_ABORTED)                                                 \
    ROW(STATUS_LOCAL_DISCONNECT, ERROR_NETNAME_DELETED)                                            \
    ROW(STATUS_REMOTE_DISCONNECT, ERROR_NETNAME_DELETED)                                           \
    ROW(STATUS_REMOTE_RESOURCES, ERROR_REM_NOT_LIST)                                               \
    ROW(STATUS_LINK_FAILED, ERROR_UNEXP_NET_ERR)                                                   \
    ROW(STATUS_LINK_TIMEOUT, ERROR_UNEXP_NET_ERR)                                                  \
    ROW(STATUS_INVALID_CONNECTION, ERROR_UNEXP_NET_ERR)                                            \
    ROW(STATUS_INVALID_ADDRESS, ERROR_UNEXP_NET_ERR)                                               \
    ROW(STATUS_DLL_INIT_FAILED, ERROR_DLL_INIT_FAILED)                                             \
    ROW(STATUS_INVALID_DEVICE_STATE, ERROR_BAD_COMMAND)                                            \
    ROW(STATUS_IO_DEVICE_ERROR, ERROR_IO_DEVICE)                                                   \
    ROW(STATUS_INVALID_BUFFER_SIZE, ERROR_INVALID_USER_BUFFER)                                     \
    ROW(STATUS_INVALID_ADDRESS_COMPONENT, ERROR_INVALID_NETNAME)                                   \
    ROW(STATUS_TOO_MANY_ADDRESSES, ERROR_TOO_MANY_NAMES)                                           \
    ROW(STATUS_ADDRESS_ALREADY_EXISTS, ERROR_DUP_NAME)                                             \
    ROW(STATUS_ADDRESS_CLOSED, ERROR_NETNAME_DELETED)                                              \
    ROW(STATUS_CONNECTION_DISCONNECTED, ERROR_NETNAME_DELETED)                                     \
    ROW(STATUS_CONNECTION_RESET, ERROR_NETNAME_DELETED)                                            \
    ROW(STATUS_NOT_FOUND, ERROR_NOT_FOUND)                                                         \
    ROW(STATUS_RETRY, ERROR_RETRY)                                                                 \
    ROW(STATUS_CONNECTION_REFUSED, ERROR_CONNECTION_REFUSED)                                       \
    ROW(STATUS_GRACEFUL_DISCONNECT, ERROR_GRACEFUL_DISCONNECT)                                     \
    ROW(STATUS_ADDRESS_ALREADY_ASSOCIATED, ERROR_ADDRESS_ALREADY_ASSOCIATED)                       \
    ROW(STATUS_ADDRESS_NOT_ASSOCIATED, ERROR_ADDRESS_NOT_ASSOCIATED)                               \
    ROW(STATUS_CONNECTION_INVALID, ERROR_CONNECTION_INVALID)                                       \
    ROW(STATUS_CONNECTION_ACTIVE, ERROR_CONNECTION_ACTIVE)                                         \
    ROW(STATUS_NETWORK_UNREACHABLE, ERROR_NETWORK_UNREACHABLE)                                     \
    ROW(STATUS_HOST_UNREACHABLE, ERROR_HOST_UNREACHABLE)                                           \
    ROW(STATUS_PROTOCOL_UNREACHABLE, ERROR_PROTOCOL_UNREACHABLE)                                   \
    ROW(STATUS_PORT_UNREACHABLE, ERROR_PORT_UNREACHABLE)                                           \
    ROW(STATUS_REQUEST_ABORTED, ERROR_REQUEST_ABORTED)                                             \
    ROW(STATUS_CONNECTION_ABORTED, ERROR_CONNECTION_ABORTED)                                       \
    ROW(STATUS_DEVICE_REMOVED, ERROR_DEVICE_REMOVED)

DWORD win_error_from_status(LONG status)
{
    switch (status) {
#define ROW(status_, error_)                                                                       \
    case status_: return error_;
        STATUS_TABLE(ROW)
#undef ROW
    default: break;
    }
    /* Statuses that wrap a Win32 error: HRESULT_FROM_WIN32's and NTSTATUS_FROM_WIN32's. */
    if (((ULONG)status & 0xffff0000u) == 0x80070000u ||
        ((ULONG)status & 0xffff0000u) == 0xc0010000u)
        return (ULONG)status & 0xffffu;
    return ERROR_MR_MID_NOT_FOUND;
}

/*
 * RtlNtStatusToDosError - the Win32 error of a status.
 * status   a status; one with the customer's bit is returned as it is, as is 0
 * Returns  ERROR_MR_MID_NOT_FOUND for one that has none. Any thread; no last error.
 * Source   Microsoft's page of the function; customer bit and facilities as Wine's has them.
 */
ULONG WINAPI RtlNtStatusToDosError(NTSTATUS status)
{
    ULONG code = (ULONG)status;

    if (!code || code & 0x20000000u)
        return code;
    if ((code & 0xf0000000u) == 0xd0000000u) /* HRESULT_FROM_NT's bit */
        code &= ~0x10000000u;
    return win_error_from_status((LONG)code);
}
