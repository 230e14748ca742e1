/* SPDX-License-Identifier: MIT */
/* error.h - Win32 error codes, HRESULTs and the conversions between them. */
#ifndef WINCOMPAT_ERROR_H
#define WINCOMPAT_ERROR_H

#include <wincompat/types.h>

#define ERROR_SUCCESS                    0
#define NO_ERROR                         0
#define ERROR_INVALID_FUNCTION           1
#define ERROR_FILE_NOT_FOUND             2
#define ERROR_PATH_NOT_FOUND             3
#define ERROR_TOO_MANY_OPEN_FILES        4
#define ERROR_ACCESS_DENIED              5
#define ERROR_INVALID_HANDLE             6
#define ERROR_NOT_ENOUGH_MEMORY          8
#define ERROR_INVALID_ACCESS             12
#define ERROR_INVALID_DATA               13
#define ERROR_OUTOFMEMORY                14
#define ERROR_NO_MORE_FILES              18
#define ERROR_NOT_READY                  21
#define ERROR_BAD_COMMAND                22
#define ERROR_CRC                        23
#define ERROR_BAD_LENGTH                 24
#define ERROR_GEN_FAILURE                31
#define ERROR_SHARING_VIOLATION          32
#define ERROR_LOCK_VIOLATION             33
#define ERROR_HANDLE_EOF                 38
#define ERROR_NOT_SUPPORTED              50
#define ERROR_REM_NOT_LIST               51
#define ERROR_DUP_NAME                   52
#define ERROR_BAD_NETPATH                53
#define ERROR_NETWORK_BUSY               54
#define ERROR_BAD_NET_RESP               58
#define ERROR_UNEXP_NET_ERR              59
#define ERROR_NETNAME_DELETED            64
#define ERROR_BAD_NET_NAME               67
#define ERROR_TOO_MANY_NAMES             68
#define ERROR_REQ_NOT_ACCEP              71
#define ERROR_FILE_EXISTS                80
#define ERROR_ALREADY_ASSIGNED           85
#define ERROR_INVALID_PARAMETER          87
#define ERROR_BROKEN_PIPE                109
#define ERROR_BUFFER_OVERFLOW            111
#define ERROR_DISK_FULL                  112
#define ERROR_SEM_TIMEOUT                121
#define ERROR_INSUFFICIENT_BUFFER        122
#define ERROR_INVALID_NAME               123
#define ERROR_MOD_NOT_FOUND              126
#define ERROR_PROC_NOT_FOUND             127
#define ERROR_NEGATIVE_SEEK              131
#define ERROR_DIR_NOT_EMPTY              145
#define ERROR_NOT_LOCKED                 158
#define ERROR_BAD_ARGUMENTS              160
#define ERROR_BUSY                       170
#define ERROR_ALREADY_EXISTS             183
#define ERROR_BAD_EXE_FORMAT             193
#define ERROR_ENVVAR_NOT_FOUND           203
#define ERROR_FILENAME_EXCED_RANGE       206
#define ERROR_BAD_PIPE                   230
#define ERROR_PIPE_BUSY                  231
#define ERROR_NO_DATA                    232
#define ERROR_PIPE_NOT_CONNECTED         233
#define ERROR_MORE_DATA                  234
#define ERROR_NO_WORK_DONE               235
#define WAIT_TIMEOUT                     258
#define ERROR_NO_MORE_ITEMS              259
#define ERROR_DIRECTORY                  267
#define ERROR_NOT_OWNER                  288
#define ERROR_TOO_MANY_POSTS             298
#define ERROR_PARTIAL_COPY               299
#define ERROR_MR_MID_NOT_FOUND           317
#define ERROR_INVALID_ADDRESS            487
#define ERROR_ARITHMETIC_OVERFLOW        534
#define ERROR_PIPE_CONNECTED             535
#define ERROR_PIPE_LISTENING             536
#define ERROR_OBJECT_NAME_EXISTS         698
#define ERROR_ABANDONED_WAIT_0           735
#define ERROR_ABANDONED_WAIT_63          736
#define ERROR_OPERATION_ABORTED          995
#define ERROR_IO_INCOMPLETE              996
#define ERROR_IO_PENDING                 997
#define ERROR_NOACCESS                   998
#define ERROR_STACK_OVERFLOW             1001
#define ERROR_INVALID_FLAGS              1004
#define ERROR_NO_TOKEN                   1008
#define ERROR_NO_UNICODE_TRANSLATION     1113
#define ERROR_DLL_INIT_FAILED            1114
#define ERROR_IO_DEVICE                  1117
#define ERROR_POSSIBLE_DEADLOCK          1131
#define ERROR_MAPPED_ALIGNMENT           1132
#define ERROR_OLD_WIN_VERSION            1150
#define ERROR_DEVICE_NOT_CONNECTED       1167
#define ERROR_NOT_FOUND                  1168
#define ERROR_INVALID_NETNAME            1214
#define ERROR_CANCELLED                  1223
#define ERROR_CONNECTION_REFUSED         1225
#define ERROR_GRACEFUL_DISCONNECT        1226
#define ERROR_ADDRESS_ALREADY_ASSOCIATED 1227
#define ERROR_ADDRESS_NOT_ASSOCIATED     1228
#define ERROR_CONNECTION_INVALID         1229
#define ERROR_CONNECTION_ACTIVE          1230
#define ERROR_NETWORK_UNREACHABLE        1231
#define ERROR_HOST_UNREACHABLE           1232
#define ERROR_PROTOCOL_UNREACHABLE       1233
#define ERROR_PORT_UNREACHABLE           1234
#define ERROR_REQUEST_ABORTED            1235
#define ERROR_CONNECTION_ABORTED         1236
#define ERROR_RETRY                      1237
#define ERROR_INCORRECT_ADDRESS          1241
#define ERROR_ALREADY_INITIALIZED        1247
#define ERROR_INTERNAL_ERROR             1359
#define ERROR_NO_SYSTEM_RESOURCES        1450
#define ERROR_COMMITMENT_LIMIT           1455
#define ERROR_TIMEOUT                    1460
#define ERROR_INCORRECT_SIZE             1462
#define ERROR_DEVICE_REMOVED             1617
#define ERROR_INVALID_USER_BUFFER        1784
#define ERROR_INVALID_STATE              5023

#define S_OK    ((HRESULT)0)
#define S_FALSE ((HRESULT)1)
#define NOERROR 0

#define E_PENDING                 ((HRESULT)0x8000000Au)
#define E_BOUNDS                  ((HRESULT)0x8000000Bu)
#define E_NOTIMPL                 ((HRESULT)0x80004001u)
#define E_NOINTERFACE             ((HRESULT)0x80004002u)
#define E_POINTER                 ((HRESULT)0x80004003u)
#define E_ABORT                   ((HRESULT)0x80004004u)
#define E_FAIL                    ((HRESULT)0x80004005u)
#define E_UNEXPECTED              ((HRESULT)0x8000FFFFu)
#define CLASS_E_NOAGGREGATION     ((HRESULT)0x80040110u)
#define CLASS_E_CLASSNOTAVAILABLE ((HRESULT)0x80040111u)
#define CO_E_CLASSSTRING          ((HRESULT)0x800401F3u)
#define CO_E_IIDSTRING            ((HRESULT)0x800401F4u)
#define RPC_E_CHANGED_MODE        ((HRESULT)0x80010106u)
#define REGDB_E_CLASSNOTREG       ((HRESULT)0x80040154u)
#define E_ACCESSDENIED            ((HRESULT)0x80070005u)
#define E_HANDLE                  ((HRESULT)0x80070006u)
#define E_OUTOFMEMORY             ((HRESULT)0x8007000Eu)
#define E_INVALIDARG              ((HRESULT)0x80070057u)

#define SEVERITY_SUCCESS 0
#define SEVERITY_ERROR   1
#define FACILITY_NULL    0
#define FACILITY_ITF     4
#define FACILITY_WIN32   7
#define FACILITY_NT_BIT  0x10000000

#define SUCCEEDED(hr)        (((HRESULT)(hr)) >= 0)
#define FAILED(hr)           (((HRESULT)(hr)) < 0)
#define IS_ERROR(status)     (((uint32_t)(status)) >> 31 == SEVERITY_ERROR)
#define HRESULT_CODE(hr)     ((hr)&0xFFFF)
#define SCODE_CODE(sc)       ((sc)&0xFFFF)
#define HRESULT_FACILITY(hr) (((hr) >> 16) & 0x1fff)
#define HRESULT_SEVERITY(hr) (((hr) >> 31) & 0x1)
#define MAKE_HRESULT(sev, fac, code)                                                               \
    ((HRESULT)(((uint32_t)(sev) << 31) | ((uint32_t)(fac) << 16) | ((uint32_t)(code))))
#define HRESULT_FROM_NT(x) ((HRESULT)((x) | FACILITY_NT_BIT))
#define __HRESULT_FROM_WIN32(x)                                                                    \
    ((HRESULT)(x) <= 0 ? ((HRESULT)(x))                                                            \
                       : ((HRESULT)(((x)&0x0000FFFFu) | (FACILITY_WIN32 << 16) | 0x80000000u)))
static inline HRESULT HRESULT_FROM_WIN32(unsigned int x)
{
    return __HRESULT_FROM_WIN32(x);
}
#define NT_SUCCESS(status)     (((NTSTATUS)(status)) >= 0)
#define NT_INFORMATION(status) ((((uint32_t)(status)) >> 30) == 1)
#define NT_WARNING(status)     ((((uint32_t)(status)) >> 30) == 2)
#define NT_ERROR(status)       ((((uint32_t)(status)) >> 30) == 3)

/* Results of the wait functions, and the three statuses that every program sees. */
#define WAIT_OBJECT_0        0u
#define WAIT_ABANDONED       0x80u
#define WAIT_ABANDONED_0     0x80u
#define WAIT_IO_COMPLETION   0xC0u
#define WAIT_FAILED          0xFFFFFFFFu
#define STILL_ACTIVE         0x103u
#define MAXIMUM_WAIT_OBJECTS 64
#define INFINITE             0xFFFFFFFFu

/* As on Windows the base header has a few statuses, as DWORDs; <ntstatus.h> has all of them, as NTSTATUS. */
#if !defined(WIN32_NO_STATUS) && !defined(WINCOMPAT_NTSTATUS_H)
#define STATUS_WAIT_0            ((DWORD)0x00000000u)
#define STATUS_ABANDONED_WAIT_0  ((DWORD)0x00000080u)
#define STATUS_USER_APC          ((DWORD)0x000000C0u)
#define STATUS_TIMEOUT           ((DWORD)0x00000102u)
#define STATUS_PENDING           ((DWORD)0x00000103u)
#define STATUS_ACCESS_VIOLATION  ((DWORD)0xC0000005u)
#define STATUS_INVALID_HANDLE    ((DWORD)0xC0000008u)
#define STATUS_INVALID_PARAMETER ((DWORD)0xC000000Du)
#define STATUS_NO_MEMORY         ((DWORD)0xC0000017u)
#define STATUS_STACK_OVERFLOW    ((DWORD)0xC00000FDu)
#define STATUS_CONTROL_C_EXIT    ((DWORD)0xC000013Au)
#endif

#endif
