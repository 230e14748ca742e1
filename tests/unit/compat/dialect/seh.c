/* SPDX-License-Identifier: MIT */
/* seh.c - __try, __except, __finally and __leave in C. With an argument: __try is left by return. */
#include <windows.h>

static int filter(const EXCEPTION_POINTERS *pointers)
{
    return pointers->ExceptionRecord->ExceptionCode == EXCEPTION_ACCESS_VIOLATION;
}

static int returns(void)
{
    __try {
        return 5;
    } __except (filter(GetExceptionInformation())) {
        return (int)GetExceptionCode();
    }
    return 7;
}

static int leaves(int wrongly)
{
    int steps = 0;

    __try {
        __try {
            if (wrongly)
                return 0;
            for (;;)
                __leave;
        } __finally {
            steps = steps * 10 + 1;
        }
        __leave;
    } __finally {
        steps = steps * 10 + 2;
    }
    return steps;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (returns() != 5)
        return 1;
    return leaves(argc > 1) == 12 ? 0 : 2;
}
