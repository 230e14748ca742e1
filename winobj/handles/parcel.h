/* SPDX-License-Identifier: MIT */
/*
 * parcel.h - what another process needs to open an object: a descriptor, a name, a few numbers. Types of objects write
 * parcels (win_object_type.carry); win32/parcels/open.c reads them there, in a process that CreateProcess starts
 * (win32/spawn/receive.c) or one that DuplicateHandle reaches (win32/parcels).
 */
#ifndef WINOBJ_PARCEL_H
#define WINOBJ_PARCEL_H

#include <stdbool.h>
#include <stdint.h>

enum win_parcel_kind {
    WIN_PARCEL_FILE = 1,
    WIN_PARCEL_SOCKET,
    WIN_PARCEL_EVENT,
    WIN_PARCEL_MUTEX,
    WIN_PARCEL_SEMAPHORE,
    WIN_PARCEL_MAPPING,
    WIN_PARCEL_PROCESS,
    WIN_PARCEL_PORT,
};

enum { WIN_PARCEL_NAME = 264, WIN_PARCEL_NUMBERS = 6 };

struct win_parcel {
    uint32_t kind;
    int32_t fd; /* a descriptor of its own, which goes into the new process; -1: none */
    int32_t at; /* the number that it has to have there; -1: its own */
    uint32_t
        named; /* the object lives by its name: it is kept until the other process has opened it */
    uint32_t numbers[WIN_PARCEL_NUMBERS]; /* the kind's */
    uint64_t size;
    char name[WIN_PARCEL_NAME];
};

#endif
