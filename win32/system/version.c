/* SPDX-License-Identifier: MIT */
/*
 * version.c - VerSetConditionMask, VerifyVersionInfo. The version is that of the functions that are provided: Windows
 * 10, without service packs, a workstation.
 */
#include <windows.h>

enum { MAJOR = 10, MINOR = 0, BUILD = 10240, PLATFORM_NT = 2, WORKSTATION = 1, CONDITION_BITS = 3 };

/* Where a type's condition is in a mask; the highest of several types counts. */
static unsigned shift_of(DWORD types)
{
    return CONDITION_BITS * (31 - (unsigned)__builtin_clz(types));
}

/*
 * VerSetConditionMask - a mask of conditions with one more.
 * types      one VER_* type; of several the highest counts
 * condition  VER_EQUAL and so on; of VER_SUITENAME VER_AND or VER_OR
 * Returns    the mask; as it was where there is no type or condition.
 * Source: VerSetConditionMask function (winnt.h).
 */
ULONGLONG NTAPI VerSetConditionMask(ULONGLONG mask, DWORD types, BYTE condition)
{
    types &= 0xff;
    condition &= (1 << CONDITION_BITS) - 1;
    return types && condition ? mask | (ULONGLONG)condition << shift_of(types) : mask;
}

static unsigned condition_of(DWORDLONG conditions, DWORD type)
{
    return (unsigned)(conditions >> shift_of(type)) & ((1 << CONDITION_BITS) - 1);
}

static BOOL satisfies(DWORD value, DWORD wanted, unsigned condition)
{
    switch (condition) {
    case VER_EQUAL: return value == wanted;
    case VER_GREATER: return value > wanted;
    case VER_GREATER_EQUAL: return value >= wanted;
    case VER_LESS: return value < wanted;
    case VER_LESS_EQUAL: return value <= wanted;
    default: return FALSE;
    }
}

/* Major, minor and service pack are one number of several digits: the first that differs decides. */
static BOOL number_satisfies(const OSVERSIONINFOEXA *wanted, DWORD types, DWORDLONG conditions)
{
    const struct {
        DWORD type, value, wanted;
    } digits[] = {
        { VER_MAJORVERSION, MAJOR, wanted->dwMajorVersion },
        { VER_MINORVERSION, MINOR, wanted->dwMinorVersion },
        { VER_SERVICEPACKMAJOR, 0, wanted->wServicePackMajor },
        { VER_SERVICEPACKMINOR, 0, wanted->wServicePackMinor },
    };
    unsigned condition = 0;
    BOOL result = TRUE;

    for (size_t i = 0; i < ARRAYSIZE(digits); i++) {
        if (!(types & digits[i].type))
            continue;
        if (!condition) /* the first digit's condition counts for the whole number */
            condition = condition_of(conditions, digits[i].type);
        result = satisfies(digits[i].value, digits[i].wanted, condition);
        if (digits[i].value != digits[i].wanted)
            break;
    }
    return result;
}

/*
 * VerifyVersionInfoA, VerifyVersionInfoW - whether the system's version is as wanted.
 * wanted      the members that types names
 * conditions  of VerSetConditionMask
 * Returns     FALSE with ERROR_OLD_WIN_VERSION (it is not), ERROR_BAD_ARGUMENTS (no type; a type without a condition).
 * Source: VerifyVersionInfoA function (winbase.h).
 */
BOOL WINAPI VerifyVersionInfoA(LPOSVERSIONINFOEXA wanted, DWORD types, DWORDLONG conditions)
{
    BOOL result = TRUE;

    if (!(types & 0xff) || !conditions) {
        SetLastError(ERROR_BAD_ARGUMENTS);
        return FALSE;
    }
    if (types & VER_PRODUCT_TYPE)
        result &= satisfies(
            WORKSTATION, wanted->wProductType, condition_of(conditions, VER_PRODUCT_TYPE));
    if (types & VER_SUITENAME) /* this system has no suite */
        result &= condition_of(conditions, VER_SUITENAME) == VER_AND && !wanted->wSuiteMask;
    if (types & VER_PLATFORMID)
        result &=
            satisfies(PLATFORM_NT, wanted->dwPlatformId, condition_of(conditions, VER_PLATFORMID));
    if (types & VER_BUILDNUMBER)
        result &=
            satisfies(BUILD, wanted->dwBuildNumber, condition_of(conditions, VER_BUILDNUMBER));
    if (result && number_satisfies(wanted, types, conditions))
        return TRUE;
    SetLastError(ERROR_OLD_WIN_VERSION);
    return FALSE;
}
