/* SPDX-License-Identifier: MIT */
/*
 * message_text.c - the words for codes: Win32 and Winsock errors, HRESULTs, NTSTATUS values and so the NetworkDirect
 * codes.
 */
#include "win32/text/message.h"

#include <winsock2.h>

#include <ntstatus.h>

#define MESSAGES(ROW)                                                                              \
    ROW(ERROR_SUCCESS, "The operation completed successfully")                                     \
    ROW(ERROR_INVALID_FUNCTION, "The function is not possible here")                               \
    ROW(ERROR_FILE_NOT_FOUND, "The file was not found")                                            \
    ROW(ERROR_PATH_NOT_FOUND, "The path was not found")                                            \
    ROW(ERROR_TOO_MANY_OPEN_FILES, "Too many files are open")                                      \
    ROW(ERROR_ACCESS_DENIED, "Access is denied")                                                   \
    ROW(ERROR_INVALID_HANDLE, "The handle is invalid")                                             \
    ROW(ERROR_NOT_ENOUGH_MEMORY, "There is not enough memory")                                     \
    ROW(ERROR_INVALID_ACCESS, "The access code is invalid")                                        \
    ROW(ERROR_INVALID_DATA, "The data is invalid")                                                 \
    ROW(ERROR_OUTOFMEMORY, "The system is out of memory")                                          \
    ROW(ERROR_NO_MORE_FILES, "There are no more files")                                            \
    ROW(ERROR_NOT_READY, "The device is not ready")                                                \
    ROW(ERROR_BAD_COMMAND, "The device does not know the command")                                 \
    ROW(ERROR_CRC, "A cyclic redundancy check failed")                                             \
    ROW(ERROR_BAD_LENGTH, "The length is wrong")                                                   \
    ROW(ERROR_GEN_FAILURE, "The device does not work")                                             \
    ROW(ERROR_SHARING_VIOLATION, "Another process is using it")                                    \
    ROW(ERROR_HANDLE_EOF, "The end of the file was reached")                                       \
    ROW(ERROR_NOT_SUPPORTED, "The request is not supported")                                       \
    ROW(ERROR_REM_NOT_LIST, "The remote computer is not available")                                \
    ROW(ERROR_DUP_NAME, "The name exists on the network already")                                  \
    ROW(ERROR_BAD_NETPATH, "The network path was not found")                                       \
    ROW(ERROR_NETWORK_BUSY, "The network is busy")                                                 \
    ROW(ERROR_BAD_NET_RESP, "The server cannot do what was asked")                                 \
    ROW(ERROR_UNEXP_NET_ERR, "An unexpected network error occurred")                               \
    ROW(ERROR_NETNAME_DELETED, "The network connection is no longer there")                        \
    ROW(ERROR_BAD_NET_NAME, "The network name was not found")                                      \
    ROW(ERROR_TOO_MANY_NAMES, "There are too many network names")                                  \
    ROW(ERROR_REQ_NOT_ACCEP, "No more connections are accepted at present")                        \
    ROW(ERROR_ALREADY_ASSIGNED, "The name is in use already")                                      \
    ROW(ERROR_INVALID_PARAMETER, "A parameter is wrong")                                           \
    ROW(ERROR_BROKEN_PIPE, "The pipe has ended")                                                   \
    ROW(ERROR_SEM_TIMEOUT, "The time limit has expired")                                           \
    ROW(ERROR_INSUFFICIENT_BUFFER, "The buffer is too small")                                      \
    ROW(ERROR_INVALID_NAME, "The name is invalid")                                                 \
    ROW(ERROR_MOD_NOT_FOUND, "The module was not found")                                           \
    ROW(ERROR_PROC_NOT_FOUND, "The procedure was not found")                                       \
    ROW(ERROR_NOT_LOCKED, "The memory is not locked")                                              \
    ROW(ERROR_BUSY, "It is in use")                                                                \
    ROW(ERROR_ALREADY_EXISTS, "It exists already")                                                 \
    ROW(ERROR_ENVVAR_NOT_FOUND, "There is no such environment variable")                           \
    ROW(ERROR_MORE_DATA, "There is more data")                                                     \
    ROW(ERROR_NO_WORK_DONE, "There is nothing to give back")                                       \
    ROW(WAIT_TIMEOUT, "The wait timed out")                                                        \
    ROW(ERROR_NO_MORE_ITEMS, "There is no more data")                                              \
    ROW(ERROR_NOT_OWNER, "It is not the caller's")                                                 \
    ROW(ERROR_TOO_MANY_POSTS, "It was released too often")                                         \
    ROW(ERROR_MR_MID_NOT_FOUND, "There is no message for this number")                             \
    ROW(ERROR_LOCK_VIOLATION, "Another handle has locked a part of the file")                      \
    ROW(ERROR_FILE_EXISTS, "The file exists")                                                      \
    ROW(ERROR_BUFFER_OVERFLOW, "The name is too long")                                             \
    ROW(ERROR_DISK_FULL, "There is no room on the disk")                                           \
    ROW(ERROR_NEGATIVE_SEEK, "The place would be before the beginning of the file")                \
    ROW(ERROR_DIR_NOT_EMPTY, "The folder is not empty")                                            \
    ROW(ERROR_BAD_ARGUMENTS, "An argument is wrong")                                               \
    ROW(ERROR_BAD_EXE_FORMAT, "It is no program for this system")                                  \
    ROW(ERROR_FILENAME_EXCED_RANGE, "The name of the file is too long")                            \
    ROW(ERROR_BAD_PIPE, "The state of the pipe does not allow it")                                 \
    ROW(ERROR_PIPE_BUSY, "All instances of the pipe are in use")                                   \
    ROW(ERROR_NO_DATA, "The pipe is being closed")                                                 \
    ROW(ERROR_PIPE_NOT_CONNECTED, "Nobody is at the other end of the pipe")                        \
    ROW(ERROR_DIRECTORY, "The name is not that of a folder")                                       \
    ROW(ERROR_PARTIAL_COPY, "Only a part of the memory was copied")                                \
    ROW(ERROR_PIPE_CONNECTED, "The other end of the pipe is connected already")                    \
    ROW(ERROR_PIPE_LISTENING, "The pipe waits for its other end")                                  \
    ROW(ERROR_OBJECT_NAME_EXISTS, "The name was there already")                                    \
    ROW(ERROR_ABANDONED_WAIT_63, "The wait was abandoned")                                         \
    ROW(ERROR_NO_TOKEN, "There is no token")                                                       \
    ROW(ERROR_NO_UNICODE_TRANSLATION, "There is no such character in Unicode")                     \
    ROW(ERROR_POSSIBLE_DEADLOCK, "Threads would wait for each other")                              \
    ROW(ERROR_MAPPED_ALIGNMENT, "The place of the view is not aligned")                            \
    ROW(ERROR_INVALID_NETNAME, "The form of the network name is invalid")                          \
    ROW(ERROR_INCORRECT_ADDRESS, "The network address is wrong")                                   \
    ROW(ERROR_ALREADY_INITIALIZED, "It was initialised already")                                   \
    ROW(ERROR_INCORRECT_SIZE, "The size is wrong")                                                 \
    ROW(WSAHOST_NOT_FOUND, "No such host is known")                                                \
    ROW(WSATRY_AGAIN, "The name server did not answer: try again")                                 \
    ROW(WSANO_RECOVERY, "The name server failed")                                                  \
    ROW(WSANO_DATA, "The name has no address of this kind")                                        \
    ROW(ERROR_INVALID_ADDRESS, "The address is invalid")                                           \
    ROW(ERROR_ARITHMETIC_OVERFLOW, "The result is too large")                                      \
    ROW(ERROR_ABANDONED_WAIT_0, "The wait was abandoned")                                          \
    ROW(ERROR_OPERATION_ABORTED, "The operation was cancelled, or its thread has ended")           \
    ROW(ERROR_IO_INCOMPLETE, "The overlapped operation is not finished")                           \
    ROW(ERROR_IO_PENDING, "The overlapped operation is in progress")                               \
    ROW(ERROR_NOACCESS, "The memory cannot be accessed")                                           \
    ROW(ERROR_STACK_OVERFLOW, "The stack is too small")                                            \
    ROW(ERROR_INVALID_FLAGS, "The flags are invalid")                                              \
    ROW(ERROR_DLL_INIT_FAILED, "The module could not be initialised")                              \
    ROW(ERROR_IO_DEVICE, "A device failed")                                                        \
    ROW(ERROR_DEVICE_NOT_CONNECTED, "The device is not connected")                                 \
    ROW(ERROR_NOT_FOUND, "It was not found")                                                       \
    ROW(ERROR_CANCELLED, "The operation was cancelled by the user")                                \
    ROW(ERROR_CONNECTION_REFUSED, "The remote computer refused the connection")                    \
    ROW(ERROR_GRACEFUL_DISCONNECT, "The connection was closed")                                    \
    ROW(ERROR_ADDRESS_ALREADY_ASSOCIATED, "The end has an address already")                        \
    ROW(ERROR_ADDRESS_NOT_ASSOCIATED, "The end has no address yet")                                \
    ROW(ERROR_CONNECTION_INVALID, "There is no such connection")                                   \
    ROW(ERROR_CONNECTION_ACTIVE, "The connection is in use")                                       \
    ROW(ERROR_NETWORK_UNREACHABLE, "The network cannot be reached")                                \
    ROW(ERROR_HOST_UNREACHABLE, "The host cannot be reached")                                      \
    ROW(ERROR_PROTOCOL_UNREACHABLE, "The remote computer does not know the protocol")              \
    ROW(ERROR_PORT_UNREACHABLE, "No program listens on the remote port")                           \
    ROW(ERROR_REQUEST_ABORTED, "The request was aborted")                                          \
    ROW(ERROR_CONNECTION_ABORTED, "The connection was aborted here")                               \
    ROW(ERROR_RETRY, "The operation should be tried again")                                        \
    ROW(ERROR_INTERNAL_ERROR, "An internal error occurred")                                        \
    ROW(ERROR_NO_SYSTEM_RESOURCES, "The system's resources do not suffice")                        \
    ROW(ERROR_OLD_WIN_VERSION, "The system has another version than is wanted")                    \
    ROW(ERROR_COMMITMENT_LIMIT, "There is less memory than this needs")                            \
    ROW(ERROR_TIMEOUT, "The time limit has passed")                                                \
    ROW(ERROR_DEVICE_REMOVED, "The device was removed")                                            \
    ROW(ERROR_INVALID_USER_BUFFER, "The buffer is not valid for the operation")                    \
    ROW(ERROR_INVALID_STATE, "The state does not allow the operation")                             \
    ROW(WSAEINTR, "A blocking call was interrupted")                                               \
    ROW(WSAEACCES, "The socket does not allow this access")                                        \
    ROW(WSAEFAULT, "An address or length of a buffer is wrong")                                    \
    ROW(WSAEINVAL, "An argument is invalid")                                                       \
    ROW(WSAEMFILE, "Too many sockets are open")                                                    \
    ROW(WSAEWOULDBLOCK, "The operation cannot be completed at once")                               \
    ROW(WSAEINPROGRESS, "A blocking call is in progress")                                          \
    ROW(WSAEALREADY, "The operation is in progress already")                                       \
    ROW(WSAENOTSOCK, "This is not a socket")                                                       \
    ROW(WSAEDESTADDRREQ, "A destination address is needed")                                        \
    ROW(WSAEMSGSIZE, "The message is longer than its buffer or a limit")                           \
    ROW(WSAEPROTOTYPE, "The protocol does not fit the socket's type")                              \
    ROW(WSAENOPROTOOPT, "The option is unknown or not supported")                                  \
    ROW(WSAEPROTONOSUPPORT, "The protocol is not supported")                                       \
    ROW(WSAESOCKTNOSUPPORT, "The type of socket is not supported")                                 \
    ROW(WSAEOPNOTSUPP, "The socket does not support the operation")                                \
    ROW(WSAEPFNOSUPPORT, "The protocol family is not supported")                                   \
    ROW(WSAEAFNOSUPPORT, "The address family is not supported")                                    \
    ROW(WSAEADDRINUSE, "The address is in use")                                                    \
    ROW(WSAEADDRNOTAVAIL, "The address is not one of this computer's")                             \
    ROW(WSAENETDOWN, "The network is down")                                                        \
    ROW(WSAENETUNREACH, "The network cannot be reached")                                           \
    ROW(WSAENETRESET, "The connection was broken while an operation was in progress")              \
    ROW(WSAECONNABORTED, "The connection was aborted by the software here")                        \
    ROW(WSAECONNRESET, "The remote host closed the connection")                                    \
    ROW(WSAENOBUFS, "There is no buffer space")                                                    \
    ROW(WSAEISCONN, "The socket is connected already")                                             \
    ROW(WSAENOTCONN, "The socket is not connected")                                                \
    ROW(WSAESHUTDOWN, "The socket was shut down")                                                  \
    ROW(WSAETIMEDOUT, "The peer did not answer in time")                                           \
    ROW(WSAECONNREFUSED, "The peer refused the connection")                                        \
    ROW(WSAEHOSTDOWN, "The host is down")                                                          \
    ROW(WSAEHOSTUNREACH, "The host cannot be reached")                                             \
    ROW(WSASYSNOTREADY, "The network is not usable now")                                           \
    ROW(WSAVERNOTSUPPORTED, "This version of Winsock is not supported")                            \
    ROW(WSANOTINITIALISED, "WSAStartup was not called")                                            \
    ROW(E_PENDING, "The data is not available yet")                                                \
    ROW(E_BOUNDS, "An index is out of range")                                                      \
    ROW(E_NOTIMPL, "This is not implemented")                                                      \
    ROW(E_NOINTERFACE, "The interface is not supported")                                           \
    ROW(E_POINTER, "A pointer is invalid")                                                         \
    ROW(E_ABORT, "The operation was aborted")                                                      \
    ROW(E_FAIL, "The operation failed")                                                            \
    ROW(E_UNEXPECTED, "A failure that should not happen")                                          \
    ROW(CLASS_E_NOAGGREGATION, "The class cannot be aggregated")                                   \
    ROW(CLASS_E_CLASSNOTAVAILABLE, "The class cannot be had here")                                 \
    ROW(CO_E_CLASSSTRING, "The text is no class identifier")                                       \
    ROW(CO_E_IIDSTRING, "The text is no interface identifier")                                     \
    ROW(RPC_E_CHANGED_MODE, "The thread uses COM in another mode already")                         \
    ROW(REGDB_E_CLASSNOTREG, "The class is not registered")                                        \
    ROW(STATUS_BUFFER_OVERFLOW, "The buffer or queue is too small: part of the data was lost")     \
    ROW(STATUS_DEVICE_BUSY, "The device is busy")                                                  \
    ROW(STATUS_NO_MORE_ENTRIES, "There are no more entries: the queue is full")                    \
    ROW(STATUS_UNSUCCESSFUL, "The operation failed")                                               \
    ROW(STATUS_NOT_IMPLEMENTED, "The operation is not implemented")                                \
    ROW(STATUS_ACCESS_VIOLATION, "The memory, its token or its access rights do not allow this")   \
    ROW(STATUS_INVALID_HANDLE, "The handle is invalid")                                            \
    ROW(STATUS_INVALID_PARAMETER, "A parameter is invalid")                                        \
    ROW(STATUS_INVALID_DEVICE_REQUEST, "The request is not valid for the object")                  \
    ROW(STATUS_NO_MEMORY, "There is not enough memory")                                            \
    ROW(STATUS_ACCESS_DENIED, "Access is denied")                                                  \
    ROW(STATUS_INVALID_PARAMETER_MIX, "The parameters contradict each other")                      \
    ROW(STATUS_DATA_OVERRUN, "The data does not fit what was provided for it")                     \
    ROW(STATUS_DATA_ERROR, "The peer could not take all of the data")                              \
    ROW(STATUS_SHARING_VIOLATION, "Another process is using it")                                   \
    ROW(STATUS_INSUFFICIENT_RESOURCES, "The device's resources do not suffice")                    \
    ROW(STATUS_DEVICE_NOT_READY, "The device is not ready")                                        \
    ROW(STATUS_IO_TIMEOUT, "The peer did not answer in time")                                      \
    ROW(STATUS_NOT_SUPPORTED, "The request is not supported")                                      \
    ROW(STATUS_BAD_NETWORK_NAME, "No peer can have this address")                                  \
    ROW(STATUS_INTERNAL_ERROR, "An internal error occurred")                                       \
    ROW(STATUS_INVALID_PARAMETER_1, "The first parameter is invalid")                              \
    ROW(STATUS_INVALID_PARAMETER_2, "The second parameter is invalid")                             \
    ROW(STATUS_INVALID_PARAMETER_3, "The third parameter is invalid")                              \
    ROW(STATUS_INVALID_PARAMETER_4, "The fourth parameter is invalid")                             \
    ROW(STATUS_INVALID_PARAMETER_5, "The fifth parameter is invalid")                              \
    ROW(STATUS_INVALID_PARAMETER_6, "The sixth parameter is invalid")                              \
    ROW(STATUS_INVALID_PARAMETER_7, "The seventh parameter is invalid")                            \
    ROW(STATUS_INVALID_PARAMETER_8, "The eighth parameter is invalid")                             \
    ROW(STATUS_INVALID_PARAMETER_9, "The ninth parameter is invalid")                              \
    ROW(STATUS_INVALID_PARAMETER_10, "The tenth parameter is invalid")                             \
    ROW(STATUS_CANCELLED, "The request was cancelled")                                             \
    ROW(STATUS_REMOTE_RESOURCES, "The request failed at the peer")                                 \
    ROW(STATUS_INVALID_ADDRESS, "The address is invalid or not an adapter's")                      \
    ROW(STATUS_INVALID_DEVICE_STATE, "The object's state does not allow the request")              \
    ROW(STATUS_INVALID_BUFFER_SIZE, "The size of the buffer is invalid")                           \
    ROW(STATUS_TOO_MANY_ADDRESSES, "There are too many addresses")                                 \
    ROW(STATUS_ADDRESS_ALREADY_EXISTS, "The address is in use")                                    \
    ROW(STATUS_CONNECTION_DISCONNECTED, "The connection was closed")                               \
    ROW(STATUS_CONNECTION_RESET, "The peer closed the connection")                                 \
    ROW(STATUS_CONNECTION_REFUSED, "The peer refused the connection")                              \
    ROW(STATUS_ADDRESS_ALREADY_ASSOCIATED, "The end has an address already")                       \
    ROW(STATUS_ADDRESS_NOT_ASSOCIATED, "The end has no address yet")                               \
    ROW(STATUS_CONNECTION_INVALID, "There is no such connection")                                  \
    ROW(STATUS_CONNECTION_ACTIVE, "The connection is in use")                                      \
    ROW(STATUS_NETWORK_UNREACHABLE, "The network cannot be reached")                               \
    ROW(STATUS_HOST_UNREACHABLE, "The host cannot be reached")                                     \
    ROW(STATUS_CONNECTION_ABORTED, "The connection was aborted")                                   \
    ROW(STATUS_DEVICE_REMOVED, "The adapter was removed")

const char *win_message_text(DWORD id)
{
    switch (id) {
#define ROW(code, text)                                                                            \
    case (DWORD)(code): return text;
        MESSAGES(ROW)
#undef ROW
    default: break;
    }
    /* HRESULT_FROM_WIN32 */
    return (id & 0xffff0000u) == 0x80070000u && (id & 0xffffu) ? win_message_text(id & 0xffffu)
                                                               : NULL;
}
