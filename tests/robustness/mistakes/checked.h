/* SPDX-License-Identifier: MIT */
/* checked.h - rows of mistakes that the checker (NDSPI_CHECK) explains, and the ends of its lines: its rules. */
#ifndef TESTS_ROBUSTNESS_MISTAKES_CHECKED_H
#define TESTS_ROBUSTNESS_MISTAKES_CHECKED_H

#include "tests/robustness/mistakes/mistakes.h"

#define CALL(object, method, ...) (object)->lpVtbl->method((object), ##__VA_ARGS__)
#define SAY(object, method, ...)  mistake_say(#method, CALL(object, method, ##__VA_ARGS__))

/* The passive end does nothing. */
static inline void mistake_serve(struct nd2_end *end)
{
    (void)end;
}

#define CHECKED(name_, words_, ...)                                                                \
    {                                                                                              \
        .name = #name_, .words = words_, .setting = "NDSPI_CHECK=1", .passive = mistake_serve,     \
        .active = name_, .active_lines = {                                                         \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

#define CHECK "NDSPI_CHECK: "
#define ADDRESS                                                                                    \
    " Rule: an address is whole, of a family that the adapter has, and one of a host. Fill a "     \
    "sockaddr_in or sockaddr_in6, and pass its size."
#define BOUND                                                                                      \
    " Rule: Bind is called once, and before Connect or Listen. Look at the order of the calls."
#define FILE_RULE                                                                                  \
    " Rule: an overlapped file is open, and of the same adapter. Pass what CreateOverlappedFile "  \
    "stored, and close it after its objects."
#define FLAGS                                                                                      \
    " Rule: flags and types are those that the call takes. Look at its page, and at nddef.h."
#define INTERFACE                                                                                  \
    " Rule: an object is asked for by an IID that it has. Pass the IID of the interface whose "    \
    "pointer is stored."
#define LIMIT                                                                                      \
    " Rule: what is asked for lies within the limits of the adapter. Ask Query for them, or look " \
    "at ndinfo."
#define NO_READS                                                                                   \
    " Rule: Reads are posted where the connection allows some. Give Connect and Accept read "      \
    "limits: what one end asks for, the other has to serve."
#define ONCE                                                                                       \
    " Rule: a region is registered once. Deregister it first, or make a region for each buffer."
#define OVERLAPPED_RULE                                                                            \
    " Rule: a request has an OVERLAPPED. Pass one that lives until the request has ended, with "   \
    "an event or without."
#define SIZE_RULE                                                                                  \
    " Rule: a structure has the version and the size of its interface. Set its version, and pass " \
    "its sizeof."

#endif
