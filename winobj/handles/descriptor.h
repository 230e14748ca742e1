/* SPDX-License-Identifier: MIT */
/*
 * descriptor.h - descriptors that are handles. A SOCKET is a descriptor; the object behind it has an ordinary handle,
 * and this table leads from the one to the other. The handles of handle.c are all above the descriptors' numbers, so
 * the look-up of a handle (win_handle_pin, CloseHandle) takes either.
 *
 * Threads: any; no locks.
 */
#ifndef WINOBJ_DESCRIPTOR_H
#define WINOBJ_DESCRIPTOR_H

#include <windows.h>

#include <stdbool.h>

#include "winobj/exported.h"

enum { WIN_DESCRIPTORS = 1 << 22 }; /* all numbers below */

/* The handle of a descriptor's object; NULL: it has none. */
HANDLE win_descriptor_handle(uintptr_t descriptor);

/*
 * win_descriptor_claim - gives a descriptor its object. Returns NULL when it has handle now, else the handle that
 * another thread gave it meanwhile, or INVALID_HANDLE_VALUE: the number is too high, or there is no memory.
 */
HANDLE win_descriptor_claim(uintptr_t descriptor, HANDLE handle);

/* The descriptor has no object any more, if it has this one. */
void win_descriptor_drop(uintptr_t descriptor, HANDLE handle);

/*
 * Sockets become objects when they are first used as one. win_descriptor_adopt makes the object of a handle that is a
 * descriptor without one, by the function that win_descriptor_maker named; any other handle it leaves alone.
 */
void win_descriptor_maker(void (*maker)(int descriptor));
void win_descriptor_adopt(HANDLE handle);

#endif
