/* SPDX-License-Identifier: MIT */
/*
 * test_intsafe.c - each function of intsafe.h at the edges of its types, against sums in 128 bits; under Wine those of
 * MinGW's header.
 */
#include "tests/support/win32_test.h"

#include <intsafe.h>

typedef __int128 whole;

static whole sum(whole a, whole b)
{
    return a + b;
}

static whole difference(whole a, whole b)
{
    return a - b;
}

/* What has no room in 128 bits either fits no type. */
static whole product(whole a, whole b)
{
    whole result;

    return __builtin_mul_overflow(a, b, &result) ? (whole)1 << 100 : result;
}

#define EDGES(type)                                                                                \
    {                                                                                              \
        0, 1, 2, (type)-1, (type)-2, LEAST(type), LEAST(type) + 1, MOST(type), MOST(type) - 1,     \
            (type)0x7f, (type)0x80, (type)0xff, (type)0x100, (type)0x7fff, (type)0x8000,           \
            (type)0xffff, (type)0x10000, (type)0x7fffffff, (type)0x80000000, (type)0xffffffff,     \
            (type)0x100000000                                                                      \
    }
#define IS_SIGNED(type)   ((type)-1 < (type)1)
#define BITS(type)        (8 * sizeof(type) - IS_SIGNED(type))
#define MOST(type)        (type)((((whole)1 << BITS(type)) - 1))
#define LEAST(type)       (type)(IS_SIGNED(type) ? -((whole)1 << BITS(type)) : 0)
#define FITS(value, to)   ((value) >= (whole)LEAST(to) && (value) <= (whole)MOST(to))
/* Of what does not fit; a UCHAR is a character, 0. */
#define INSTEAD(name, to) (to)(strstr(name, "ToUChar") ? 0 : -1)

#define CHECK(name, call, expected, to)                                                            \
    do {                                                                                           \
        to result = 77;                                                                            \
        const HRESULT answer = call;                                                               \
        if (answer != (FITS(expected, to) ? S_OK : (HRESULT)0x80070216) ||                         \
            result != (FITS(expected, to) ? (to)(expected) : INSTEAD(name, to)))                   \
            fail_msg("%s: %lx", name, (unsigned long)answer);                                      \
    } while (0)

#define CONVERSION(name, from, to)                                                                 \
    do {                                                                                           \
        static const from edges[] = EDGES(from);                                                   \
        for (size_t i = 0; i < _countof(edges); i++)                                               \
            CHECK(#name, name(edges[i], &result), (whole)edges[i], to);                            \
    } while (0);

#define CALCULATION(name, type, exact)                                                             \
    do {                                                                                           \
        static const type edges[] = EDGES(type);                                                   \
        for (size_t i = 0; i < _countof(edges); i++)                                               \
            for (size_t j = 0; j < _countof(edges); j++)                                           \
                CHECK(#name, name(edges[i], edges[j], &result), exact(edges[i], edges[j]), type);  \
    } while (0);

static void conversions_say_what_does_not_fit(void **state)
{
    (void)state;
    /* clang-format off */
    CONVERSION(UShortToUChar, USHORT, UCHAR)
    CONVERSION(UShortToByte, USHORT, BYTE)
    CONVERSION(UShortToShort, USHORT, SHORT)
    CONVERSION(WordToUChar, WORD, UCHAR)
    CONVERSION(WordToByte, WORD, BYTE)
    CONVERSION(WordToShort, WORD, SHORT)
    CONVERSION(ShortToUChar, SHORT, UCHAR)
    CONVERSION(ShortToByte, SHORT, BYTE)
    CONVERSION(ShortToUShort, SHORT, USHORT)
    CONVERSION(ShortToWord, SHORT, WORD)
    CONVERSION(ShortToUInt, SHORT, UINT)
    CONVERSION(ShortToULong, SHORT, ULONG)
    CONVERSION(ShortToUIntPtr, SHORT, UINT_PTR)
    CONVERSION(ShortToULongPtr, SHORT, ULONG_PTR)
    CONVERSION(ShortToDWordPtr, SHORT, DWORD_PTR)
    CONVERSION(ShortToULongLong, SHORT, ULONGLONG)
    CONVERSION(UIntToUChar, UINT, UCHAR)
    CONVERSION(UIntToByte, UINT, BYTE)
    CONVERSION(UIntToUShort, UINT, USHORT)
    CONVERSION(UIntToWord, UINT, WORD)
    CONVERSION(UIntToShort, UINT, SHORT)
    CONVERSION(UIntToLong, UINT, LONG)
    CONVERSION(UIntToInt, UINT, INT)
    CONVERSION(UIntToIntPtr, UINT, INT_PTR)
    CONVERSION(UIntToPtrdiffT, UINT, ptrdiff_t)
    CONVERSION(UIntToLongPtr, UINT, LONG_PTR)
    CONVERSION(UIntToSSIZET, UINT, SSIZE_T)
    CONVERSION(ULongToUChar, ULONG, UCHAR)
    CONVERSION(ULongToByte, ULONG, BYTE)
    CONVERSION(ULongToUShort, ULONG, USHORT)
    CONVERSION(ULongToWord, ULONG, WORD)
    CONVERSION(ULongToShort, ULONG, SHORT)
    CONVERSION(ULongToUInt, ULONG, UINT)
    CONVERSION(ULongToLong, ULONG, LONG)
    CONVERSION(ULongToInt, ULONG, INT)
    CONVERSION(ULongToUIntPtr, ULONG, UINT_PTR)
    CONVERSION(ULongToIntPtr, ULONG, INT_PTR)
    CONVERSION(ULongToPtrdiffT, ULONG, ptrdiff_t)
    CONVERSION(ULongToLongPtr, ULONG, LONG_PTR)
    CONVERSION(ULongToSSIZET, ULONG, SSIZE_T)
    CONVERSION(DWordToUChar, DWORD, UCHAR)
    CONVERSION(DWordToByte, DWORD, BYTE)
    CONVERSION(DWordToUShort, DWORD, USHORT)
    CONVERSION(DWordToWord, DWORD, WORD)
    CONVERSION(DWordToShort, DWORD, SHORT)
    CONVERSION(DWordToUInt, DWORD, UINT)
    CONVERSION(DWordToLong, DWORD, LONG)
    CONVERSION(DWordToInt, DWORD, INT)
    CONVERSION(DWordToUIntPtr, DWORD, UINT_PTR)
    CONVERSION(DWordToIntPtr, DWORD, INT_PTR)
    CONVERSION(DWordToPtrdiffT, DWORD, ptrdiff_t)
    CONVERSION(DWordToLongPtr, DWORD, LONG_PTR)
    CONVERSION(DWordToSSIZET, DWORD, SSIZE_T)
    CONVERSION(LongToUChar, LONG, UCHAR)
    CONVERSION(LongToByte, LONG, BYTE)
    CONVERSION(LongToUShort, LONG, USHORT)
    CONVERSION(LongToWord, LONG, WORD)
    CONVERSION(LongToShort, LONG, SHORT)
    CONVERSION(LongToUInt, LONG, UINT)
    CONVERSION(LongToULong, LONG, ULONG)
    CONVERSION(LongToDWord, LONG, DWORD)
    CONVERSION(LongToInt, LONG, INT)
    CONVERSION(LongToUIntPtr, LONG, UINT_PTR)
    CONVERSION(LongToSizeT, LONG, size_t)
    CONVERSION(LongToULongPtr, LONG, ULONG_PTR)
    CONVERSION(LongToDWordPtr, LONG, DWORD_PTR)
    CONVERSION(LongToIntPtr, LONG, INT_PTR)
    CONVERSION(LongToPtrdiffT, LONG, ptrdiff_t)
    CONVERSION(LongToULongLong, LONG, ULONGLONG)
    CONVERSION(IntToUChar, INT, UCHAR)
    CONVERSION(IntToByte, INT, BYTE)
    CONVERSION(IntToUShort, INT, USHORT)
    CONVERSION(IntToWord, INT, WORD)
    CONVERSION(IntToShort, INT, SHORT)
    CONVERSION(IntToUInt, INT, UINT)
    CONVERSION(IntToULong, INT, ULONG)
    CONVERSION(IntToDWord, INT, DWORD)
    CONVERSION(IntToUIntPtr, INT, UINT_PTR)
    CONVERSION(IntToSizeT, INT, size_t)
    CONVERSION(IntToULongPtr, INT, ULONG_PTR)
    CONVERSION(IntToDWordPtr, INT, DWORD_PTR)
    CONVERSION(IntToULongLong, INT, ULONGLONG)
    CONVERSION(UIntPtrToUChar, UINT_PTR, UCHAR)
    CONVERSION(UIntPtrToUShort, UINT_PTR, USHORT)
    CONVERSION(UIntPtrToShort, UINT_PTR, SHORT)
    CONVERSION(UIntPtrToUInt, UINT_PTR, UINT)
    CONVERSION(UIntPtrToULong, UINT_PTR, ULONG)
    CONVERSION(UIntPtrToDWord, UINT_PTR, DWORD)
    CONVERSION(UIntPtrToLong, UINT_PTR, LONG)
    CONVERSION(UIntPtrToInt, UINT_PTR, INT)
    CONVERSION(UIntPtrToIntPtr, UINT_PTR, INT_PTR)
    CONVERSION(UIntPtrToLongPtr, UINT_PTR, LONG_PTR)
    CONVERSION(UIntPtrToSSIZET, UINT_PTR, SSIZE_T)
    CONVERSION(UIntPtrToLongLong, UINT_PTR, LONGLONG)
    CONVERSION(SizeTToUInt, size_t, UINT)
    CONVERSION(SizeTToULong, size_t, ULONG)
    CONVERSION(SizeTToDWord, size_t, DWORD)
    CONVERSION(SizeTToLong, size_t, LONG)
    CONVERSION(SizeTToInt, size_t, INT)
    CONVERSION(SizeTToIntPtr, size_t, INT_PTR)
    CONVERSION(SizeTToPtrdiffT, size_t, ptrdiff_t)
    CONVERSION(SizeTToLongPtr, size_t, LONG_PTR)
    CONVERSION(SizeTToSSIZET, size_t, SSIZE_T)
    CONVERSION(ULongPtrToUChar, ULONG_PTR, UCHAR)
    CONVERSION(ULongPtrToUShort, ULONG_PTR, USHORT)
    CONVERSION(ULongPtrToShort, ULONG_PTR, SHORT)
    CONVERSION(ULongPtrToUInt, ULONG_PTR, UINT)
    CONVERSION(ULongPtrToULong, ULONG_PTR, ULONG)
    CONVERSION(ULongPtrToDWord, ULONG_PTR, DWORD)
    CONVERSION(ULongPtrToLong, ULONG_PTR, LONG)
    CONVERSION(ULongPtrToInt, ULONG_PTR, INT)
    CONVERSION(ULongPtrToUIntPtr, ULONG_PTR, UINT_PTR)
    CONVERSION(ULongPtrToIntPtr, ULONG_PTR, INT_PTR)
    CONVERSION(ULongPtrToPtrdiffT, ULONG_PTR, ptrdiff_t)
    CONVERSION(ULongPtrToLongPtr, ULONG_PTR, LONG_PTR)
    CONVERSION(ULongPtrToSSIZET, ULONG_PTR, SSIZE_T)
    CONVERSION(ULongPtrToLongLong, ULONG_PTR, LONGLONG)
    CONVERSION(DWordPtrToUInt, DWORD_PTR, UINT)
    CONVERSION(DWordPtrToULong, DWORD_PTR, ULONG)
    CONVERSION(DWordPtrToDWord, DWORD_PTR, DWORD)
    CONVERSION(DWordPtrToLong, DWORD_PTR, LONG)
    CONVERSION(DWordPtrToInt, DWORD_PTR, INT)
    CONVERSION(DWordPtrToUIntPtr, DWORD_PTR, UINT_PTR)
    CONVERSION(DWordPtrToIntPtr, DWORD_PTR, INT_PTR)
    CONVERSION(DWordPtrToPtrdiffT, DWORD_PTR, ptrdiff_t)
    CONVERSION(DWordPtrToLongPtr, DWORD_PTR, LONG_PTR)
    CONVERSION(DWordPtrToSSIZET, DWORD_PTR, SSIZE_T)
    CONVERSION(IntPtrToUChar, INT_PTR, UCHAR)
    CONVERSION(IntPtrToUShort, INT_PTR, USHORT)
    CONVERSION(IntPtrToShort, INT_PTR, SHORT)
    CONVERSION(IntPtrToUInt, INT_PTR, UINT)
    CONVERSION(IntPtrToULong, INT_PTR, ULONG)
    CONVERSION(IntPtrToDWord, INT_PTR, DWORD)
    CONVERSION(IntPtrToLong, INT_PTR, LONG)
    CONVERSION(IntPtrToInt, INT_PTR, INT)
    CONVERSION(IntPtrToUIntPtr, INT_PTR, UINT_PTR)
    CONVERSION(IntPtrToSizeT, INT_PTR, size_t)
    CONVERSION(IntPtrToULongPtr, INT_PTR, ULONG_PTR)
    CONVERSION(IntPtrToDWordPtr, INT_PTR, DWORD_PTR)
    CONVERSION(IntPtrToLongPtr, INT_PTR, LONG_PTR)
    CONVERSION(IntPtrToULongLong, INT_PTR, ULONGLONG)
    CONVERSION(PtrdiffTToUInt, ptrdiff_t, UINT)
    CONVERSION(PtrdiffTToULong, ptrdiff_t, ULONG)
    CONVERSION(PtrdiffTToDWord, ptrdiff_t, DWORD)
    CONVERSION(PtrdiffTToLong, ptrdiff_t, LONG)
    CONVERSION(PtrdiffTToInt, ptrdiff_t, INT)
    CONVERSION(PtrdiffTToUIntPtr, ptrdiff_t, UINT_PTR)
    CONVERSION(PtrdiffTToSizeT, ptrdiff_t, size_t)
    CONVERSION(PtrdiffTToULongPtr, ptrdiff_t, ULONG_PTR)
    CONVERSION(PtrdiffTToDWordPtr, ptrdiff_t, DWORD_PTR)
    CONVERSION(LongPtrToUChar, LONG_PTR, UCHAR)
    CONVERSION(LongPtrToUShort, LONG_PTR, USHORT)
    CONVERSION(LongPtrToShort, LONG_PTR, SHORT)
    CONVERSION(LongPtrToUInt, LONG_PTR, UINT)
    CONVERSION(LongPtrToULong, LONG_PTR, ULONG)
    CONVERSION(LongPtrToDWord, LONG_PTR, DWORD)
    CONVERSION(LongPtrToLong, LONG_PTR, LONG)
    CONVERSION(LongPtrToInt, LONG_PTR, INT)
    CONVERSION(LongPtrToUIntPtr, LONG_PTR, UINT_PTR)
    CONVERSION(LongPtrToSizeT, LONG_PTR, size_t)
    CONVERSION(LongPtrToULongPtr, LONG_PTR, ULONG_PTR)
    CONVERSION(LongPtrToDWordPtr, LONG_PTR, DWORD_PTR)
    CONVERSION(LongPtrToIntPtr, LONG_PTR, INT_PTR)
    CONVERSION(LongPtrToULongLong, LONG_PTR, ULONGLONG)
    CONVERSION(SSIZETToUInt, SSIZE_T, UINT)
    CONVERSION(SSIZETToULong, SSIZE_T, ULONG)
    CONVERSION(SSIZETToDWord, SSIZE_T, DWORD)
    CONVERSION(SSIZETToLong, SSIZE_T, LONG)
    CONVERSION(SSIZETToInt, SSIZE_T, INT)
    CONVERSION(SSIZETToUIntPtr, SSIZE_T, UINT_PTR)
    CONVERSION(SSIZETToSizeT, SSIZE_T, size_t)
    CONVERSION(SSIZETToULongPtr, SSIZE_T, ULONG_PTR)
    CONVERSION(SSIZETToDWordPtr, SSIZE_T, DWORD_PTR)
    CONVERSION(SSIZETToIntPtr, SSIZE_T, INT_PTR)
    CONVERSION(ULongLongToUChar, ULONGLONG, UCHAR)
    CONVERSION(ULongLongToUShort, ULONGLONG, USHORT)
    CONVERSION(ULongLongToShort, ULONGLONG, SHORT)
    CONVERSION(ULongLongToUInt, ULONGLONG, UINT)
    CONVERSION(ULongLongToULong, ULONGLONG, ULONG)
    CONVERSION(ULongLongToDWord, ULONGLONG, DWORD)
    CONVERSION(ULongLongToLong, ULONGLONG, LONG)
    CONVERSION(ULongLongToInt, ULONGLONG, INT)
    CONVERSION(ULongLongToUIntPtr, ULONGLONG, UINT_PTR)
    CONVERSION(ULongLongToSizeT, ULONGLONG, size_t)
    CONVERSION(ULongLongToULongPtr, ULONGLONG, ULONG_PTR)
    CONVERSION(ULongLongToDWordPtr, ULONGLONG, DWORD_PTR)
    CONVERSION(ULongLongToIntPtr, ULONGLONG, INT_PTR)
    CONVERSION(ULongLongToPtrdiffT, ULONGLONG, ptrdiff_t)
    CONVERSION(ULongLongToLongPtr, ULONGLONG, LONG_PTR)
    CONVERSION(ULongLongToSSIZET, ULONGLONG, SSIZE_T)
    CONVERSION(ULongLongToLongLong, ULONGLONG, LONGLONG)
    CONVERSION(LongLongToUChar, LONGLONG, UCHAR)
    CONVERSION(LongLongToUShort, LONGLONG, USHORT)
    CONVERSION(LongLongToShort, LONGLONG, SHORT)
    CONVERSION(LongLongToUInt, LONGLONG, UINT)
    CONVERSION(LongLongToULong, LONGLONG, ULONG)
    CONVERSION(LongLongToLong, LONGLONG, LONG)
    CONVERSION(LongLongToInt, LONGLONG, INT)
    CONVERSION(LongLongToIntPtr, LONGLONG, INT_PTR)
    CONVERSION(LongLongToLongPtr, LONGLONG, LONG_PTR)
    CONVERSION(LongLongToULongLong, LONGLONG, ULONGLONG)
    /* clang-format on */
}

static void calculations_say_what_does_not_fit(void **state)
{
    (void)state;
    /* clang-format off */
    CALCULATION(UShortAdd, USHORT, sum)
    CALCULATION(WordAdd, WORD, sum)
    CALCULATION(ShortAdd, SHORT, sum)
    CALCULATION(UIntAdd, UINT, sum)
    CALCULATION(ULongAdd, ULONG, sum)
    CALCULATION(DWordAdd, DWORD, sum)
    CALCULATION(LongAdd, LONG, sum)
    CALCULATION(IntAdd, INT, sum)
    CALCULATION(UIntPtrAdd, UINT_PTR, sum)
    CALCULATION(SizeTAdd, size_t, sum)
    CALCULATION(ULongPtrAdd, ULONG_PTR, sum)
    CALCULATION(DWordPtrAdd, DWORD_PTR, sum)
    CALCULATION(IntPtrAdd, INT_PTR, sum)
    CALCULATION(PtrdiffTAdd, ptrdiff_t, sum)
    CALCULATION(LongPtrAdd, LONG_PTR, sum)
    CALCULATION(SSIZETAdd, SSIZE_T, sum)
    CALCULATION(ULongLongAdd, ULONGLONG, sum)
    CALCULATION(LongLongAdd, LONGLONG, sum)
    CALCULATION(UShortSub, USHORT, difference)
    CALCULATION(WordSub, WORD, difference)
    CALCULATION(ShortSub, SHORT, difference)
    CALCULATION(UIntSub, UINT, difference)
    CALCULATION(ULongSub, ULONG, difference)
    CALCULATION(DWordSub, DWORD, difference)
    CALCULATION(LongSub, LONG, difference)
    CALCULATION(IntSub, INT, difference)
    CALCULATION(UIntPtrSub, UINT_PTR, difference)
    CALCULATION(SizeTSub, size_t, difference)
    CALCULATION(ULongPtrSub, ULONG_PTR, difference)
    CALCULATION(DWordPtrSub, DWORD_PTR, difference)
    CALCULATION(IntPtrSub, INT_PTR, difference)
    CALCULATION(PtrdiffTSub, ptrdiff_t, difference)
    CALCULATION(LongPtrSub, LONG_PTR, difference)
    CALCULATION(SSIZETSub, SSIZE_T, difference)
    CALCULATION(ULongLongSub, ULONGLONG, difference)
    CALCULATION(LongLongSub, LONGLONG, difference)
    CALCULATION(UShortMult, USHORT, product)
    CALCULATION(WordMult, WORD, product)
    CALCULATION(ShortMult, SHORT, product)
    CALCULATION(UIntMult, UINT, product)
    CALCULATION(ULongMult, ULONG, product)
    CALCULATION(DWordMult, DWORD, product)
    CALCULATION(LongMult, LONG, product)
    CALCULATION(IntMult, INT, product)
    CALCULATION(UIntPtrMult, UINT_PTR, product)
    CALCULATION(SizeTMult, size_t, product)
    CALCULATION(ULongPtrMult, ULONG_PTR, product)
    CALCULATION(DWordPtrMult, DWORD_PTR, product)
    CALCULATION(IntPtrMult, INT_PTR, product)
    CALCULATION(PtrdiffTMult, ptrdiff_t, product)
    CALCULATION(LongPtrMult, LONG_PTR, product)
    CALCULATION(SSIZETMult, SSIZE_T, product)
    CALCULATION(ULongLongMult, ULONGLONG, product)
    CALCULATION(LongLongMult, LONGLONG, product)
    /* clang-format on */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversions_say_what_does_not_fit),
        cmocka_unit_test(calculations_say_what_does_not_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
