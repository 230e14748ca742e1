/* SPDX-License-Identifier: MIT */
/*
 * nd_end.h - what nd1_end and nd2_end share, the ends of a connection for test programs; callers may use it, too.
 */
#ifndef TESTS_SUPPORT_ND_END_H
#define TESTS_SUPPORT_ND_END_H

#include <winsock2.h>
#include <windows.h>

#include <ndspi.h>
#include <ndsupport.h>

#include <stdint.h>
#include <string.h>

#include "tests/support/spec_codes.h"

/* A wait ends after ND_END_WAIT_MS, with ND_PENDING. */
enum { ND_END_WAIT_MS = 20000, ND_END_READ_LIMIT = 8 };

/* Inside a function that returns an HRESULT: leaves it, with the step's name in end, unless call has succeeded. */
#define ND_END_STEP(end, name, call)                                                               \
    do {                                                                                           \
        HRESULT hr_ = (call);                                                                      \
        if (FAILED(hr_) || hr_ == ND_PENDING) {                                                    \
            (end)->step = (name);                                                                  \
            return hr_;                                                                            \
        }                                                                                          \
    } while (0)

#define ND_END_RELEASE(object)                                                                     \
    do {                                                                                           \
        if (object)                                                                                \
            (object)->lpVtbl->Release(object);                                                     \
        (object) = NULL;                                                                           \
    } while (0)

/* address_be: an IPv4 address in network order; 0: 127.0.0.1. */
static inline struct sockaddr_in nd_end_address(ULONG address_be, USHORT port_be)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = port_be,
        .sin_addr.s_addr = address_be ? address_be : htonl(INADDR_LOOPBACK),
    };
}

/* An OVERLAPPED ready for use, with this event. */
static inline OVERLAPPED *nd_end_fresh(OVERLAPPED *overlapped, HANDLE event)
{
    memset(overlapped, 0, sizeof *overlapped);
    overlapped->hEvent = event;
    return overlapped;
}

/* octets of touched memory, page by page; NULL if there are none. */
static inline unsigned char *nd_end_memory(size_t octets)
{
    void *memory = VirtualAlloc(NULL, octets, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);

    return memory ? memset(memory, 0, octets) : NULL;
}

static inline void nd_end_memory_free(void *memory)
{
    VirtualFree(memory, 0, MEM_RELEASE);
}

#endif
