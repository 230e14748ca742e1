/* SPDX-License-Identifier: MIT */
/* error.h - Win32 error codes, HRESULTs and the conversions between them. */
#ifndef WINCOMPAT_ERROR_H
#define WINCOMPAT_ERROR_H

#include <wincompat/types.h>

#define ERROR_SUCCESS                    0u
#define NO_ERROR                         0u
#define ERROR_INVALID_FUNCTION           1u
#define ERROR_FILE_NOT_FOUND             2u
#define ERROR_PATH_NOT_FOUND             3u
#define ERROR_TOO_MANY_OPEN_FILES        4u
#define ERROR_ACCESS_DENIED              5u
#define ERROR_INVALID_HANDLE             6u
#define ERROR_NOT_ENOUGH_MEMORY          8u
#define ERROR_INVALID_ACCESS             12u
#define ERROR_INVALID_DATA               13u
#define ERROR_OUTOFMEMORY                14u
#define ERROR_NO_MORE_FILES              18u
#define ERROR_NOT_READY                  21u
#define ERROR_BAD_COMMAND                22u
#define ERROR_CRC                        23u
#define ERROR_BAD_LENGTH                 24u
#define ERROR_GEN_FAILURE                31u
#define ERROR_SHARING_VIOLATION          32u
#define ERROR_HANDLE_EOF                 38u
#define ERROR_NOT_SUPPORTED              50u
#define ERROR_REM_NOT_LIST               51u
#define ERROR_DUP_NAME                   52u
#define ERROR_BAD_NETPATH                53u
#define ERROR_NETWORK_BUSY               54u
#define ERROR_BAD_NET_RESP               58u
#define ERROR_UNEXP_NET_ERR              59u
#define ERROR_NETNAME_DELETED            64u
#define ERROR_BAD_NET_NAME               67u
#define ERROR_TOO_MANY_NAMES             68u
#define ERROR_REQ_NOT_ACCEP              71u
#define ERROR_ALREADY_ASSIGNED           85u
#define ERROR_INVALID_PARAMETER          87u
#define ERROR_BROKEN_PIPE                109u
#define ERROR_BUFFER_OVERFLOW            111u
#define ERROR_SEM_TIMEOUT                121u
#define ERROR_INSUFFICIENT_BUFFER        122u
#define ERROR_INVALID_NAME               123u
#define ERROR_MOD_NOT_FOUND              126u
#define ERROR_PROC_NOT_FOUND             127u
#define ERROR_NOT_LOCKED                 158u
#define ERROR_BUSY                       170u
#define ERROR_ALREADY_EXISTS             183u
#define ERROR_ENVVAR_NOT_FOUND           203u
#define ERROR_FILENAME_EXCED_RANGE       206u
#define ERROR_MORE_DATA                  234u
#define WAIT_TIMEOUT                     258u
#define ERROR_NO_MORE_ITEMS              259u
#define ERROR_NOT_OWNER                  288u
#define ERROR_TOO_MANY_POSTS             298u
#define ERROR_MR_MID_NOT_FOUND           317u
#define ERROR_INVALID_ADDRESS            487u
#define ERROR_ARITHMETIC_OVERFLOW        534u
#define ERROR_PIPE_CONNECTED             535u
#define ERROR_ABANDONED_WAIT_0           735u
#define ERROR_ABANDONED_WAIT_63          736u
#define ERROR_OPERATION_ABORTED          995u
#define ERROR_IO_INCOMPLETE              996u
#define ERROR_IO_PENDING                 997u
#define ERROR_NOACCESS                   998u
#define ERROR_STACK_OVERFLOW             1001u
#define ERROR_INVALID_FLAGS              1004u
#define ERROR_NO_TOKEN                   1008u
#define ERROR_NO_UNICODE_TRANSLATION     1113u
#define ERROR_DLL_INIT_FAILED            1114u
#define ERROR_IO_DEVICE                  1117u
#define ERROR_MAPPED_ALIGNMENT           1132u
#define ERROR_DEVICE_NOT_CONNECTED       1167u
#define ERROR_NOT_FOUND                  1168u
#define ERROR_INVALID_NETNAME            1214u
#define ERROR_CANCELLED                  1223u
#define ERROR_CONNECTION_REFUSED         1225u
#define ERROR_GRACEFUL_DISCONNECT        1226u
#define ERROR_ADDRESS_ALREADY_ASSOCIATED 1227u
#define ERROR_ADDRESS_NOT_ASSOCIATED     1228u
#define ERROR_CONNECTION_INVALID         1229u
#define ERROR_CONNECTION_ACTIVE          1230u
#define ERROR_NETWORK_UNREACHABLE        1231u
#define ERROR_HOST_UNREACHABLE           1232u
#define ERROR_PROTOCOL_UNREACHABLE       1233u
#define ERROR_PORT_UNREACHABLE           1234u
#define ERROR_REQUEST_ABORTED            1235u
#define ERROR_CONNECTION_ABORTED         1236u
#define ERROR_RETRY                      1237u
#define ERROR_INTERNAL_ERROR             1359u
#define ERROR_NO_SYSTEM_RESOURCES        1450u
#define ERROR_TIMEOUT                    1460u
#define ERROR_INCORRECT_SIZE             1462u
#define ERROR_DEVICE_REMOVED             1617u
#define ERROR_INVALID_USER_BUFFER        1784u
#define ERROR_INVALID_STATE              5023u

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
