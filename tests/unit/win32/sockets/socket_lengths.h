/* SPDX-License-Identifier: MIT */
/* socket_lengths.h - what the calls of socket_lengths.cpp have told. */
#ifndef TESTS_UNIT_WIN32_SOCKETS_SOCKET_LENGTHS_H
#define TESTS_UNIT_WIN32_SOCKETS_SOCKET_LENGTHS_H

#include <stdbool.h>

struct lengths {
    int own, accepted, peer, option; /* lengths that the calls stored */
    int received;
    bool found, none;
    int failed, left,
        error; /* of a call with too little room: its result, the length after it, the error */
};

#ifdef __cplusplus
extern "C" {
#endif
/* False: a call failed that takes no length. */
bool lengths_are_int(struct lengths *lengths);
#ifdef __cplusplus
}
#endif

#endif
