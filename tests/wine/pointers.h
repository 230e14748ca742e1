/* SPDX-License-Identifier: MIT */
/*
 * pointers.h - between the parts of the Windows program pointers.exe, which hands wrong pointers to every method.
 *
 * A wrong pointer ends the call with 0xC0000005 and nothing else: Windows raises an exception there; that the code is
 * returned is our reading, as docs/wine.md promises it.
 */
#ifndef TESTS_WINE_POINTERS_H
#define TESTS_WINE_POINTERS_H

#include "tests/support/nd1_end.h"
#include "tests/support/nd2_end.h"

#include <stdbool.h>

/* Where a wrong pointer points to. */
enum wrong { LOW, FREED, READ_ONLY, ENDS_EARLY, WRONGS };

extern enum wrong now_wrong;
VOID *wrong_pointer(void);

/* What a method does with what a pointer leads to: reads, or stores. SHORT: 4 octets, or perhaps nothing. */
enum use { READS, READS_SHORT, STORES, STORES_SHORT };

/* The call of that name has returned; it had to return 0xC0000005 if what it does there is impossible. */
void judge(const char *call, enum use use, HRESULT hr);
/* What the program does now, for the report of one that hangs. */
void step(const char *what);
void require(bool good, const char *what);

/* call: an expression with P, the wrong pointer. */
#define WRONG(use, call)                                                                           \
    do {                                                                                           \
        step(#call);                                                                               \
        judge(#call, use, call);                                                                   \
    } while (0)
#define P ((VOID *)wrong_pointer())

void call_provider(void);
void call_version_2(void);
void call_version_1(void);

#endif
