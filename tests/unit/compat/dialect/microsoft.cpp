/* SPDX-License-Identifier: MIT */
/* microsoft.cpp - what only clang takes, in its Microsoft modes. */
#include <Windows.h>
#include <WinSock2.h>
#include <ndspi.h>

#include <stdio.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Wide {
    int value;
};
/* typename outside a template */
typedef typename std::vector<Wide>::iterator Iterator;

template <class T> class Secret
{
    int value;
    friend T;

  public:
    Secret() : value(7)
    {
    }
};
struct Reader {
    static int read(const Secret<Reader> &secret)
    {
        return secret.value;
    }
};

/* A name that the template's argument does not have, in a function that nothing calls. */
template <class T> struct Delayed {
    int call()
    {
        return undeclared_name(T::undeclared_member);
    }
    int answer()
    {
        return 42;
    }
};

struct Counter {
    int stored;
    int get() const
    {
        return stored;
    }
    void put(int value)
    {
        stored = value * 2;
    }
    __declspec(property(get = get, put = put)) int Value;
};

struct __declspec(empty_bases) Empty : Wide {
};
__declspec(noinline nothrow) int two_words();
__declspec(noinline nothrow) int two_words()
{
    return 8;
}

#define PRINT(text, format, ...) sprintf_s(text, 16, format, __VA_ARGS__)

static int jumps_over_initialisations(int away)
{
    if (away)
        goto out;
    {
        int inner = 1;
        (void)inner;
    }
    int value = 5;
    Wide wide = { 1 };
    return value + wide.value;
out:
    return -1;
}

int main()
{
    std::vector<Wide> some(3);
    Iterator first = some.begin();
    Counter counter = { 1 };
    char text[16];

    first->value = 9;
    counter.Value = 4;
    if (Reader::read(Secret<Reader>()) != 7)
        return 1;
    if (Delayed<Wide>().answer() != 42)
        return 2;
    if (counter.Value != 8)
        return 3;
    if (PRINT(text, "alone") != 5 || PRINT(text, "%d", 3) != 1)
        return 4;
    if (jumps_over_initialisations(0) != 6 || jumps_over_initialisations(1) != -1)
        return 5;
    if (some[0].value != 9 || two_words() != 8 || sizeof(Empty) != 4)
        return 6;
    if (sizeof(L"ab") != 3 * sizeof(WCHAR) || sizeof(WCHAR) != WIDTH)
        return 7;
    return 0;
}
