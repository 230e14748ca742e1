/* SPDX-License-Identifier: MIT */
/*
 * spec_codes.h - the codes that tests expect, as Microsoft publishes them: [MS-ERREF] 2.1 (HRESULT), 2.2 (Win32) and
 * 2.3 (NTSTATUS), "Windows Sockets Error Codes", the pages of the wait functions, ndstatus.h of the NetworkDirect
 * SDK, and ndis.h. Never from our headers, nor from MinGW's: the test abi.codes holds both against this table.
 *
 * A row is a name of Windows' and its number; tests write SPEC_ before the name, since Windows' headers have the name
 * itself as a macro. The numbers are unsigned, as they are published: HRESULT and NTSTATUS need a cast.
 */
#ifndef TESTS_SUPPORT_SPEC_CODES_H
#define TESTS_SUPPORT_SPEC_CODES_H

/* clang-format off */

#define SPEC_WIN32_CODES(ROW)                       \
    ROW(ERROR_SUCCESS, 0)                           \
    ROW(ERROR_INVALID_FUNCTION, 1)                  \
    ROW(ERROR_FILE_NOT_FOUND, 2)                    \
    ROW(ERROR_PATH_NOT_FOUND, 3)                    \
    ROW(ERROR_TOO_MANY_OPEN_FILES, 4)               \
    ROW(ERROR_ACCESS_DENIED, 5)                     \
    ROW(ERROR_INVALID_HANDLE, 6)                    \
    ROW(ERROR_NOT_ENOUGH_MEMORY, 8)                 \
    ROW(ERROR_NO_MORE_FILES, 18)                    \
    ROW(ERROR_NOT_READY, 21)                        \
    ROW(ERROR_BAD_COMMAND, 22)                      \
    ROW(ERROR_CRC, 23)                              \
    ROW(ERROR_BAD_LENGTH, 24)                       \
    ROW(ERROR_GEN_FAILURE, 31)                      \
    ROW(ERROR_SHARING_VIOLATION, 32)                \
    ROW(ERROR_LOCK_VIOLATION, 33)                   \
    ROW(ERROR_HANDLE_EOF, 38)                       \
    ROW(ERROR_NOT_SUPPORTED, 50)                    \
    ROW(ERROR_REM_NOT_LIST, 51)                     \
    ROW(ERROR_DUP_NAME, 52)                         \
    ROW(ERROR_UNEXP_NET_ERR, 59)                    \
    ROW(ERROR_NETNAME_DELETED, 64)                  \
    ROW(ERROR_BAD_NET_NAME, 67)                     \
    ROW(ERROR_TOO_MANY_NAMES, 68)                   \
    ROW(ERROR_FILE_EXISTS, 80)                      \
    ROW(ERROR_INVALID_PARAMETER, 87)                \
    ROW(ERROR_BROKEN_PIPE, 109)                     \
    ROW(ERROR_BUFFER_OVERFLOW, 111)                 \
    ROW(ERROR_DISK_FULL, 112)                       \
    ROW(ERROR_SEM_TIMEOUT, 121)                     \
    ROW(ERROR_INSUFFICIENT_BUFFER, 122)             \
    ROW(ERROR_INVALID_NAME, 123)                    \
    ROW(ERROR_MOD_NOT_FOUND, 126)                   \
    ROW(ERROR_PROC_NOT_FOUND, 127)                  \
    ROW(ERROR_NEGATIVE_SEEK, 131)                   \
    ROW(ERROR_NOT_LOCKED, 158)                      \
    ROW(ERROR_BAD_ARGUMENTS, 160)                   \
    ROW(ERROR_DIR_NOT_EMPTY, 145)                   \
    ROW(ERROR_BAD_PATHNAME, 161)                    \
    ROW(ERROR_BUSY, 170)                            \
    ROW(ERROR_ALREADY_EXISTS, 183)                  \
    ROW(ERROR_BAD_EXE_FORMAT, 193)                  \
    ROW(ERROR_ENVVAR_NOT_FOUND, 203)                \
    ROW(ERROR_BAD_PIPE, 230)                        \
    ROW(ERROR_PIPE_BUSY, 231)                       \
    ROW(ERROR_NO_DATA, 232)                         \
    ROW(ERROR_PIPE_NOT_CONNECTED, 233)              \
    ROW(ERROR_MORE_DATA, 234)                       \
    ROW(ERROR_NO_WORK_DONE, 235)                    \
    ROW(ERROR_NO_MORE_ITEMS, 259)                   \
    ROW(ERROR_DIRECTORY, 267)                       \
    ROW(ERROR_NOT_OWNER, 288)                       \
    ROW(ERROR_TOO_MANY_POSTS, 298)                  \
    ROW(ERROR_PARTIAL_COPY, 299)                    \
    ROW(ERROR_MR_MID_NOT_FOUND, 317)                \
    ROW(ERROR_INVALID_ADDRESS, 487)                 \
    ROW(ERROR_PIPE_CONNECTED, 535)                  \
    ROW(ERROR_PIPE_LISTENING, 536)                  \
    ROW(ERROR_HANDLES_CLOSED, 676)                  \
    ROW(ERROR_OBJECT_NAME_EXISTS, 698)              \
    ROW(ERROR_ABANDONED_WAIT_0, 735)                \
    ROW(ERROR_OPERATION_ABORTED, 995)               \
    ROW(ERROR_IO_INCOMPLETE, 996)                   \
    ROW(ERROR_IO_PENDING, 997)                      \
    ROW(ERROR_NOACCESS, 998)                        \
    ROW(ERROR_INVALID_FLAGS, 1004)                  \
    ROW(ERROR_NO_UNICODE_TRANSLATION, 1113)         \
    ROW(ERROR_IO_DEVICE, 1117)                      \
    ROW(ERROR_POSSIBLE_DEADLOCK, 1131)              \
    ROW(ERROR_MAPPED_ALIGNMENT, 1132)               \
    ROW(ERROR_NOT_FOUND, 1168)                      \
    ROW(ERROR_CONNECTION_REFUSED, 1225)             \
    ROW(ERROR_ADDRESS_ALREADY_ASSOCIATED, 1227)     \
    ROW(ERROR_ADDRESS_NOT_ASSOCIATED, 1228)         \
    ROW(ERROR_CONNECTION_INVALID, 1229)             \
    ROW(ERROR_CONNECTION_ACTIVE, 1230)              \
    ROW(ERROR_NETWORK_UNREACHABLE, 1231)            \
    ROW(ERROR_HOST_UNREACHABLE, 1232)               \
    ROW(ERROR_PORT_UNREACHABLE, 1234)               \
    ROW(ERROR_CONNECTION_ABORTED, 1236)             \
    ROW(ERROR_INTERNAL_ERROR, 1359)                 \
    ROW(ERROR_NO_SYSTEM_RESOURCES, 1450)            \
    ROW(ERROR_COMMITMENT_LIMIT, 1455)               \
    ROW(ERROR_TIMEOUT, 1460)                        \
    ROW(ERROR_DEVICE_REMOVED, 1617)                 \
    ROW(ERROR_INVALID_USER_BUFFER, 1784)

/* What a wait, or the exit code of what still runs, answers: two of them are last errors, too. */
#define SPEC_WAIT_CODES(ROW)                        \
    ROW(WAIT_OBJECT_0, 0)                           \
    ROW(WAIT_ABANDONED_0, 128)                      \
    ROW(WAIT_IO_COMPLETION, 192)                    \
    ROW(WAIT_TIMEOUT, 258)                          \
    ROW(STILL_ACTIVE, 259)                          \
    ROW(WAIT_FAILED, 0xFFFFFFFF)

#define SPEC_WINSOCK_CODES(ROW)                     \
    ROW(WSA_INVALID_HANDLE, 6)                      \
    ROW(WSA_OPERATION_ABORTED, 995)                 \
    ROW(WSA_IO_INCOMPLETE, 996)                     \
    ROW(WSA_IO_PENDING, 997)                        \
    ROW(WSAEINTR, 10004)                            \
    ROW(WSAEACCES, 10013)                           \
    ROW(WSAEFAULT, 10014)                           \
    ROW(WSAEINVAL, 10022)                           \
    ROW(WSAEWOULDBLOCK, 10035)                      \
    ROW(WSAENOTSOCK, 10038)                         \
    ROW(WSAEMSGSIZE, 10040)                         \
    ROW(WSAENOPROTOOPT, 10042)                      \
    ROW(WSAEPROTONOSUPPORT, 10043)                  \
    ROW(WSAESOCKTNOSUPPORT, 10044)                  \
    ROW(WSAEOPNOTSUPP, 10045)                       \
    ROW(WSAEAFNOSUPPORT, 10047)                     \
    ROW(WSAEADDRNOTAVAIL, 10049)                    \
    ROW(WSAECONNABORTED, 10053)                     \
    ROW(WSAECONNRESET, 10054)                       \
    ROW(WSAENOBUFS, 10055)                          \
    ROW(WSAEISCONN, 10056)                          \
    ROW(WSAENOTCONN, 10057)                         \
    ROW(WSAESHUTDOWN, 10058)                        \
    ROW(WSAETIMEDOUT, 10060)                        \
    ROW(WSAECONNREFUSED, 10061)                     \
    ROW(WSAVERNOTSUPPORTED, 10092)                  \
    ROW(WSANOTINITIALISED, 10093)                   \
    ROW(WSATYPE_NOT_FOUND, 10109)                   \
    ROW(WSAHOST_NOT_FOUND, 11001)                   \
    ROW(WSATRY_AGAIN, 11002)                        \
    ROW(WSANO_RECOVERY, 11003)                      \
    ROW(WSANO_DATA, 11004)                          \
    ROW(WSA_NOT_ENOUGH_MEMORY, 8)

/* NTSTATUS: those of NDKPI, as ndk.def has them, and the others. */
#define SPEC_NDK_CODES(ROW)                         \
    ROW(STATUS_SUCCESS, 0x00000000)                 \
    ROW(STATUS_PENDING, 0x00000103)                 \
    ROW(STATUS_BUFFER_OVERFLOW, 0x80000005)         \
    ROW(STATUS_UNSUCCESSFUL, 0xC0000001)            \
    ROW(STATUS_ACCESS_VIOLATION, 0xC0000005)        \
    ROW(STATUS_INVALID_PARAMETER, 0xC000000D)       \
    ROW(STATUS_INVALID_DEVICE_REQUEST, 0xC0000010)  \
    ROW(STATUS_NO_MEMORY, 0xC0000017)               \
    ROW(STATUS_BUFFER_TOO_SMALL, 0xC0000023)        \
    ROW(STATUS_INVALID_PARAMETER_MIX, 0xC0000030)   \
    ROW(STATUS_DATA_OVERRUN, 0xC000003C)            \
    ROW(STATUS_SHARING_VIOLATION, 0xC0000043)       \
    ROW(STATUS_INSUFFICIENT_RESOURCES, 0xC000009A)  \
    ROW(STATUS_DEVICE_NOT_READY, 0xC00000A3)        \
    ROW(STATUS_IO_TIMEOUT, 0xC00000B5)              \
    ROW(STATUS_NOT_SUPPORTED, 0xC00000BB)           \
    ROW(STATUS_INTERNAL_ERROR, 0xC00000E5)          \
    ROW(NDIS_STATUS_BAD_VERSION, 0xC0010004)        \
    ROW(STATUS_CANCELLED, 0xC0000120)               \
    ROW(STATUS_REMOTE_RESOURCES, 0xC000013D)        \
    ROW(STATUS_INVALID_ADDRESS, 0xC0000141)         \
    ROW(STATUS_INVALID_DEVICE_STATE, 0xC0000184)    \
    ROW(STATUS_IO_DEVICE_ERROR, 0xC0000185)         \
    ROW(STATUS_INVALID_BUFFER_SIZE, 0xC0000206)     \
    ROW(STATUS_TOO_MANY_ADDRESSES, 0xC0000209)      \
    ROW(STATUS_ADDRESS_ALREADY_EXISTS, 0xC000020A)  \
    ROW(STATUS_CONNECTION_DISCONNECTED, 0xC000020C) \
    ROW(STATUS_CONNECTION_REFUSED, 0xC0000236)      \
    ROW(STATUS_CONNECTION_INVALID, 0xC000023A)      \
    ROW(STATUS_CONNECTION_ACTIVE, 0xC000023B)       \
    ROW(STATUS_NETWORK_UNREACHABLE, 0xC000023C)     \
    ROW(STATUS_HOST_UNREACHABLE, 0xC000023D)        \
    ROW(STATUS_CONNECTION_ABORTED, 0xC0000241)      \
    ROW(STATUS_DEVICE_REMOVED, 0xC00002B6)          \
    ROW(STATUS_IMPLEMENTATION_LIMIT, 0xC000042B)    \
    ROW(NDIS_STATUS_ADAPTER_NOT_READY, 0xC0010011)  \
    ROW(NDIS_STATUS_SUCCESS, 0x00000000)            \
    ROW(NDIS_STATUS_RESOURCES, 0xC000009A)          \
    ROW(STATUS_TIMEOUT, 0x00000102)

#define SPEC_NTSTATUS_CODES(ROW)                    \
    ROW(STATUS_DEVICE_BUSY, 0x80000011)             \
    ROW(STATUS_NO_MORE_ENTRIES, 0x8000001A)         \
    ROW(STATUS_NOT_IMPLEMENTED, 0xC0000002)         \
    ROW(STATUS_INFO_LENGTH_MISMATCH, 0xC0000004)    \
    ROW(STATUS_INVALID_HANDLE, 0xC0000008)          \
    ROW(STATUS_END_OF_FILE, 0xC0000011)             \
    ROW(STATUS_ACCESS_DENIED, 0xC0000022)           \
    ROW(STATUS_OBJECT_TYPE_MISMATCH, 0xC0000024)    \
    ROW(STATUS_OBJECT_NAME_INVALID, 0xC0000033)     \
    ROW(STATUS_OBJECT_NAME_NOT_FOUND, 0xC0000034)   \
    ROW(STATUS_OBJECT_NAME_COLLISION, 0xC0000035)   \
    ROW(STATUS_OBJECT_PATH_NOT_FOUND, 0xC000003A)   \
    ROW(STATUS_OBJECT_PATH_SYNTAX_BAD, 0xC000003B)  \
    ROW(STATUS_DATA_ERROR, 0xC000003E)              \
    ROW(STATUS_DISK_FULL, 0xC000007F)               \
    ROW(STATUS_INTEGER_DIVIDE_BY_ZERO, 0xC0000094)  \
    ROW(STATUS_PIPE_DISCONNECTED, 0xC00000B0)       \
    ROW(STATUS_FILE_IS_A_DIRECTORY, 0xC00000BA)     \
    ROW(STATUS_BAD_NETWORK_NAME, 0xC00000CC)        \
    ROW(STATUS_INVALID_PARAMETER_1, 0xC00000EF)     \
    ROW(STATUS_INVALID_PARAMETER_2, 0xC00000F0)     \
    ROW(STATUS_INVALID_PARAMETER_3, 0xC00000F1)     \
    ROW(STATUS_INVALID_PARAMETER_4, 0xC00000F2)     \
    ROW(STATUS_INVALID_PARAMETER_5, 0xC00000F3)     \
    ROW(STATUS_INVALID_PARAMETER_6, 0xC00000F4)     \
    ROW(STATUS_INVALID_PARAMETER_7, 0xC00000F5)     \
    ROW(STATUS_INVALID_PARAMETER_8, 0xC00000F6)     \
    ROW(STATUS_INVALID_PARAMETER_9, 0xC00000F7)     \
    ROW(STATUS_INVALID_PARAMETER_10, 0xC00000F8)    \
    ROW(STATUS_CONTROL_C_EXIT, 0xC000013A)          \
    ROW(STATUS_CONNECTION_RESET, 0xC000020D)        \
    ROW(STATUS_ADDRESS_ALREADY_ASSOCIATED, 0xC0000238) \
    ROW(STATUS_ADDRESS_NOT_ASSOCIATED, 0xC0000239)  \
    ROW(STATUS_STACK_BUFFER_OVERRUN, 0xC0000409)

/* HRESULT: those of COM, those of <strsafe.h>, those of NetworkDirect. */
#define SPEC_COM_CODES(ROW)                         \
    ROW(E_NOTIMPL, 0x80004001)                      \
    ROW(S_OK, 0)                  \
    ROW(S_FALSE, 1)                  \
    ROW(E_NOINTERFACE, 0x80004002)                  \
    ROW(E_POINTER, 0x80004003)                      \
    ROW(E_ABORT, 0x80004004)                        \
    ROW(E_FAIL, 0x80004005)                         \
    ROW(E_UNEXPECTED, 0x8000FFFF)                   \
    ROW(E_ACCESSDENIED, 0x80070005)                 \
    ROW(E_OUTOFMEMORY, 0x8007000E)                  \
    ROW(E_INVALIDARG, 0x80070057)                   \
    ROW(CLASS_E_NOAGGREGATION, 0x80040110)          \
    ROW(CLASS_E_CLASSNOTAVAILABLE, 0x80040111)      \
    ROW(CO_E_CLASSSTRING, 0x800401F3)              \
    ROW(CO_E_IIDSTRING, 0x800401F4)                \
    ROW(RPC_E_CHANGED_MODE, 0x80010106)

#define SPEC_STRSAFE_CODES(ROW)                     \
    ROW(STRSAFE_E_INSUFFICIENT_BUFFER, 0x8007007A)  \
    ROW(STRSAFE_E_INVALID_PARAMETER, 0x80070057)

#define SPEC_ND_CODES(ROW)                          \
    ROW(ND_SUCCESS, 0x00000000)                     \
    ROW(ND_TIMEOUT, 0x00000102)                     \
    ROW(ND_PENDING, 0x00000103)                     \
    ROW(ND_BUFFER_OVERFLOW, 0x80000005)             \
    ROW(ND_DEVICE_BUSY, 0x80000011)                 \
    ROW(ND_NO_MORE_ENTRIES, 0x8000001A)             \
    ROW(ND_UNSUCCESSFUL, 0xC0000001)                \
    ROW(ND_ACCESS_VIOLATION, 0xC0000005)            \
    ROW(ND_INVALID_HANDLE, 0xC0000008)              \
    ROW(ND_INVALID_PARAMETER, 0xC000000D)           \
    ROW(ND_INVALID_DEVICE_REQUEST, 0xC0000010)      \
    ROW(ND_INVALIDATION_ERROR, 0xC0000010)          \
    ROW(ND_NO_MEMORY, 0xC0000017)                   \
    ROW(ND_INVALID_PARAMETER_MIX, 0xC0000030)       \
    ROW(ND_DATA_OVERRUN, 0xC000003C)                \
    ROW(ND_LOCAL_LENGTH, 0xC000003C)                \
    ROW(ND_SHARING_VIOLATION, 0xC0000043)           \
    ROW(ND_INSUFFICIENT_RESOURCES, 0xC000009A)      \
    ROW(ND_DEVICE_NOT_READY, 0xC00000A3)            \
    ROW(ND_IO_TIMEOUT, 0xC00000B5)                  \
    ROW(ND_NOT_SUPPORTED, 0xC00000BB)               \
    ROW(ND_INTERNAL_ERROR, 0xC00000E5)              \
    ROW(ND_INVALID_PARAMETER_1, 0xC00000EF)         \
    ROW(ND_INVALID_PARAMETER_2, 0xC00000F0)         \
    ROW(ND_INVALID_PARAMETER_3, 0xC00000F1)         \
    ROW(ND_INVALID_PARAMETER_4, 0xC00000F2)         \
    ROW(ND_INVALID_PARAMETER_5, 0xC00000F3)         \
    ROW(ND_INVALID_PARAMETER_6, 0xC00000F4)         \
    ROW(ND_INVALID_PARAMETER_7, 0xC00000F5)         \
    ROW(ND_INVALID_PARAMETER_8, 0xC00000F6)         \
    ROW(ND_INVALID_PARAMETER_9, 0xC00000F7)         \
    ROW(ND_INVALID_PARAMETER_10, 0xC00000F8)        \
    ROW(ND_CANCELED, 0xC0000120)                    \
    ROW(ND_REMOTE_ERROR, 0xC000013D)                \
    ROW(ND_INVALID_ADDRESS, 0xC0000141)             \
    ROW(ND_INVALID_DEVICE_STATE, 0xC0000184)        \
    ROW(ND_INVALID_BUFFER_SIZE, 0xC0000206)         \
    ROW(ND_TOO_MANY_ADDRESSES, 0xC0000209)          \
    ROW(ND_ADDRESS_ALREADY_EXISTS, 0xC000020A)      \
    ROW(ND_CONNECTION_REFUSED, 0xC0000236)          \
    ROW(ND_CONNECTION_INVALID, 0xC000023A)          \
    ROW(ND_CONNECTION_ACTIVE, 0xC000023B)           \
    ROW(ND_NETWORK_UNREACHABLE, 0xC000023C)         \
    ROW(ND_HOST_UNREACHABLE, 0xC000023D)            \
    ROW(ND_CONNECTION_ABORTED, 0xC0000241)          \
    ROW(ND_DEVICE_REMOVED, 0xC00002B6)

/* clang-format on */

#define SPEC_CODES(ROW)                                                                            \
    SPEC_WIN32_CODES(ROW)                                                                          \
    SPEC_WAIT_CODES(ROW)                                                                           \
    SPEC_WINSOCK_CODES(ROW)                                                                        \
    SPEC_NDK_CODES(ROW)                                                                            \
    SPEC_NTSTATUS_CODES(ROW)                                                                       \
    SPEC_COM_CODES(ROW)                                                                            \
    SPEC_STRSAFE_CODES(ROW)                                                                        \
    SPEC_ND_CODES(ROW)

#define SPEC_CODE(name, value) SPEC_##name = value,
__extension__ enum spec_code { SPEC_CODES(SPEC_CODE) };
#undef SPEC_CODE

#endif
