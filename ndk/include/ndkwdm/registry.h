/* SPDX-License-Identifier: MIT */
/*
 * registry.h - values of the registry, a part of ndkwdm.h: one set of them, whatever key is named. It begins with what
 * the program that runs the driver was told (ndk_host -p), takes what the driver sets, and ends with the program. Names
 * are of ASCII, 255 characters at most, and are compared without case.
 */
#ifndef NDKWDM_REGISTRY_H
#define NDKWDM_REGISTRY_H

#include <ndkwdm/string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#ifndef REG_NONE
#define REG_NONE      0
#define REG_SZ        1
#define REG_EXPAND_SZ 2
#define REG_BINARY    3
#define REG_DWORD     4
#define REG_MULTI_SZ  7
#define REG_QWORD     11
#endif

#ifndef KEY_READ
#define KEY_QUERY_VALUE        0x0001
#define KEY_SET_VALUE          0x0002
#define KEY_CREATE_SUB_KEY     0x0004
#define KEY_ENUMERATE_SUB_KEYS 0x0008
#define KEY_NOTIFY             0x0010
#define KEY_READ               0x00020019
#define KEY_WRITE              0x00020006
#define KEY_ALL_ACCESS         0x000F003F
#endif

#define REG_OPTION_NON_VOLATILE 0x0
#define REG_OPTION_VOLATILE     0x1
#define REG_CREATED_NEW_KEY     0x1
#define REG_OPENED_EXISTING_KEY 0x2

#define RTL_REGISTRY_ABSOLUTE 0
#define RTL_REGISTRY_SERVICES 1
#define RTL_REGISTRY_OPTIONAL 0x80000000
#define RTL_REGISTRY_HANDLE   0x40000000

#define RTL_QUERY_REGISTRY_REQUIRED  0x00000004
#define RTL_QUERY_REGISTRY_DIRECT    0x00000020
#define RTL_QUERY_REGISTRY_TYPECHECK 0x00000100 /* has DIRECT check the type */
#define RTL_QUERY_REGISTRY_TYPECHECK_SHIFT 24   /* DefaultType has the type above this bit */
/* clang-format on */

typedef NTSTATUS RTL_QUERY_REGISTRY_ROUTINE(PWSTR ValueName, ULONG ValueType, PVOID ValueData,
    ULONG ValueLength, PVOID Context, PVOID EntryContext);
typedef RTL_QUERY_REGISTRY_ROUTINE *PRTL_QUERY_REGISTRY_ROUTINE;

/* A value that is looked for; the last of an array has neither QueryRoutine nor Name. */
typedef struct _RTL_QUERY_REGISTRY_TABLE {
    PRTL_QUERY_REGISTRY_ROUTINE QueryRoutine; /* NULL with RTL_QUERY_REGISTRY_DIRECT */
    ULONG Flags;
    PCWSTR Name;
    PVOID EntryContext; /* DIRECT's target: a ULONG for REG_DWORD, a UNICODE_STRING for REG_SZ */
    ULONG DefaultType;  /* REG_NONE: none; with TYPECHECK in its lower bits */
    PVOID DefaultData;
    ULONG DefaultLength; /* bytes */
} RTL_QUERY_REGISTRY_TABLE, *PRTL_QUERY_REGISTRY_TABLE;

/*
 * Passive. Stores values, or calls QueryRoutine with them. A value that is not there is the default, if there is one.
 * relative, path  in: not used: there is one set of parameters
 * table           in, out: a UNICODE_STRING of EntryContext without a Buffer gets one of pool memory, which
 *                 RtlFreeUnicodeString frees; else the text is stored there
 * context         in: for QueryRoutine
 * environment     in: not used
 * Returns STATUS_SUCCESS; STATUS_OBJECT_NAME_NOT_FOUND: a value with RTL_QUERY_REGISTRY_REQUIRED is not there;
 * STATUS_INVALID_PARAMETER: a row without a name, or of a flag that is not listed above; STATUS_BUFFER_TOO_SMALL: the
 * text does not fit; STATUS_OBJECT_TYPE_MISMATCH: by TYPECHECK; STATUS_NO_MEMORY; what QueryRoutine returned, if that
 * is a failure.
 */
NTSTATUS RtlQueryRegistryValues(ULONG relative, PCWSTR path, PRTL_QUERY_REGISTRY_TABLE table,
    PVOID context, PVOID environment) WINCOMPAT_WIDE("RtlQueryRegistryValues");

/*
 * Passive. Sets a value, or takes it out.
 * relative, path  in: not used
 * name            in
 * type            in: REG_...; any
 * data, length    in: bytes, which are copied
 * Returns STATUS_SUCCESS; STATUS_OBJECT_NAME_INVALID: the name is none; STATUS_NO_MEMORY. Of the latter also
 * STATUS_OBJECT_NAME_NOT_FOUND.
 */
NTSTATUS RtlWriteRegistryValue(ULONG relative, PCWSTR path, PCWSTR name, ULONG type, PVOID data,
    ULONG length) WINCOMPAT_WIDE("RtlWriteRegistryValue");
NTSTATUS RtlDeleteRegistryValue(ULONG relative, PCWSTR path, PCWSTR name)
    WINCOMPAT_WIDE("RtlDeleteRegistryValue");

/*
 * Passive. Opens a key: each leads to the one set of values.
 * key               out: for ZwClose
 * access            in: KEY_...; not checked, as nowhere in the kernel
 * attributes        in: its name, which begins with a backslash, or goes on from the key RootDirectory
 * title, class_name, options  in: not used
 * disposition       out, may be NULL: REG_OPENED_EXISTING_KEY
 * Returns STATUS_SUCCESS; STATUS_OBJECT_PATH_SYNTAX_BAD: the name begins otherwise; STATUS_INVALID_PARAMETER: none;
 * STATUS_INVALID_HANDLE: RootDirectory is no key; STATUS_INSUFFICIENT_RESOURCES.
 */
NTSTATUS ZwOpenKey(PHANDLE key, ULONG access, POBJECT_ATTRIBUTES attributes)
    WINCOMPAT_WIDE("ZwOpenKey");
NTSTATUS ZwCreateKey(PHANDLE key, ULONG access, POBJECT_ATTRIBUTES attributes, ULONG title,
    PUNICODE_STRING class_name, ULONG options, PULONG disposition) WINCOMPAT_WIDE("ZwCreateKey");

typedef enum _KEY_VALUE_INFORMATION_CLASS {
    KeyValueBasicInformation,
    KeyValueFullInformation,
    KeyValuePartialInformation
} KEY_VALUE_INFORMATION_CLASS;

/* What the functions below store for each of these. NameLength, DataLength and DataOffset are in bytes. */
typedef struct _KEY_VALUE_BASIC_INFORMATION {
    ULONG TitleIndex;
    ULONG Type;
    ULONG NameLength;
    WCHAR Name[1];
} KEY_VALUE_BASIC_INFORMATION, *PKEY_VALUE_BASIC_INFORMATION;

typedef struct _KEY_VALUE_FULL_INFORMATION {
    ULONG TitleIndex;
    ULONG Type;
    ULONG DataOffset; /* of the data, in the structure */
    ULONG DataLength;
    ULONG NameLength;
    WCHAR Name[1];
} KEY_VALUE_FULL_INFORMATION, *PKEY_VALUE_FULL_INFORMATION;

typedef struct _KEY_VALUE_PARTIAL_INFORMATION {
    ULONG TitleIndex;
    ULONG Type;
    ULONG DataLength;
    UCHAR Data[1];
} KEY_VALUE_PARTIAL_INFORMATION, *PKEY_VALUE_PARTIAL_INFORMATION;

/*
 * Passive. What a value is; the second of the index-th, in the order in which they were first set.
 * key          in: of ZwOpenKey or ZwCreateKey
 * information  out, may be NULL if length is 0
 * length       in: its bytes
 * result       out: bytes that it needs
 * Returns STATUS_SUCCESS; STATUS_BUFFER_OVERFLOW: the data or the name was cut; STATUS_BUFFER_TOO_SMALL: not even the
 * structure fits, and nothing was stored; STATUS_OBJECT_NAME_NOT_FOUND, of the second STATUS_NO_MORE_ENTRIES: there is
 * none; STATUS_INVALID_PARAMETER: another class; STATUS_INVALID_HANDLE: no key; STATUS_NO_MEMORY.
 */
NTSTATUS ZwQueryValueKey(HANDLE key, PUNICODE_STRING name,
    KEY_VALUE_INFORMATION_CLASS information_class, PVOID information, ULONG length, PULONG result)
    WINCOMPAT_WIDE("ZwQueryValueKey");
NTSTATUS ZwEnumerateValueKey(HANDLE key, ULONG index, KEY_VALUE_INFORMATION_CLASS information_class,
    PVOID information, ULONG length, PULONG result) WINCOMPAT_WIDE("ZwEnumerateValueKey");
/* Passive. As RtlWriteRegistryValue and RtlDeleteRegistryValue; title: not used. Also STATUS_INVALID_HANDLE: no key. */
NTSTATUS ZwSetValueKey(HANDLE key, PUNICODE_STRING name, ULONG title, ULONG type, PVOID data,
    ULONG length) WINCOMPAT_WIDE("ZwSetValueKey");
NTSTATUS ZwDeleteValueKey(HANDLE key, PUNICODE_STRING name) WINCOMPAT_WIDE("ZwDeleteValueKey");

#ifdef __cplusplus
}
#endif

#endif
