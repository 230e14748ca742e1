/* SPDX-License-Identifier: MIT */
/* words.cpp - what g++ with -fms-extensions takes too: words of the compiler, types, numbers, formats. */
#include <windows.h>
#include <winsock2.h>

/* A program's own placement new, behind windows.h and without <new>. */
inline void *operator new(size_t, void *place) noexcept
{
    return place;
}

/* A program may declare these. */
extern "C" void _ReadWriteBarrier(void);
extern "C" void _ReadBarrier(void);

__declspec(deprecated("use other")) int old_function();
__declspec(deprecated) int older_function();
__declspec(noinline) static int not_inlined()
{
    return 3;
}
__declspec(allocator) __declspec(restrict) void *allocate(size_t size);
__declspec(nothrow) void cannot_throw();
extern __declspec(selectany) const int selected = 4;
static __declspec(thread) int of_thread = 5;
__declspec(dllexport) int exported();
__declspec(dllimport) int imported();
struct __declspec(novtable) __declspec(uuid("00000000-0000-0000-C000-000000000046")) Interface {
    virtual int call() = 0;
};
struct __declspec(align(32)) Aligned {
    int value;
};

__declspec(dllexport) int exported()
{
    return 6;
}

/* A recursion cannot be inlined. */
__forceinline int factorial(int n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}
static FORCEINLINE int one()
{
    return 1;
}

/* HANDLE and HMODULE are types of their own. */
static int kind(HANDLE)
{
    return 1;
}
static int kind(HMODULE)
{
    return 2;
}

struct Place {
    int value;
    explicit Place(int initial) : value(initial)
    {
    }
};

static bool formats()
{
    char text[64];
    DWORD number = 4000000000u;
    LONG negative = -5;

    sprintf_s(text, "%lu %ld %I64u %lx", number, negative, 1ull << 40, number);
    return !strcmp(text, "4000000000 -5 1099511627776 ee6b2800");
}

static bool errors_are_signed()
{
    return ERROR_INVALID_HANDLE - 7 < 0 && WAIT_TIMEOUT - 259 < 0 && NO_ERROR - 1 < 0;
}

DECLARE_HANDLE(HOWN);
static int kind(HOWN)
{
    return 3;
}

struct Packet {
    USHORT kind;
    IN6_ADDR address;
};

/* A code is an unsigned number above INT_MAX, an HRESULT is signed. */
static int which(HRESULT status)
{
    switch (status) {
    case 0x8000FFFF: return 1;
    case 0x80004005: return 2;
    default: return 3;
    }
}

int main()
{
    alignas(Place) char room[sizeof(Place)];
    Place *place = new (room) Place(7);
    char name[256];
    LIST_ENTRY list = { &list, &list };

    _ReadWriteBarrier();
    _ReadBarrier();
    _WriteBarrier();
    if (place->value != 7)
        return 1;
    if (not_inlined() + selected + of_thread + exported() != 18)
        return 2;
    if (alignof(Aligned) != 32 || sizeof(Aligned) != 32)
        return 3;
    if (factorial(5) != 120 || one() != 1)
        return 4;
    if (kind((HANDLE)NULL) != 1 || kind((HMODULE)NULL) != 2 || kind((HOWN)NULL) != 3)
        return 5;
    if (!formats())
        return 6;
    if (!errors_are_signed())
        return 7;
    if (alignof(IN6_ADDR) != 2 || sizeof(Packet) != 18 || sizeof(SOCKADDR_IN6) != 28)
        return 8;
    if (INT_MAX != 2147483647 || gethostname(name, sizeof(name)) || !name[0])
        return 9;
#ifdef NDSPI_LIMITS
    if (ULONG_MAX != (ULONG)-1 || LONG_MAX != 2147483647 || LONG_MIN + LONG_MAX != -1)
        return 10;
#endif
    if (_rotl(0x80000001u, 1) != 3 || _rotr64(1, 1) != 0x8000000000000000u)
        return 11;
    if (RTL_BITS_OF(DWORD) + RTL_BITS_OF_FIELD(Packet, kind) != 48 || list.Flink != &list)
        return 12;
    if (which(E_UNEXPECTED) != 1 || which(E_FAIL) != 2 || which(S_OK) != 3)
        return 13;
    return 0;
}
