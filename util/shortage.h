/* SPDX-License-Identifier: MIT */
/* shortage.h - which errors may be over at the next try. */
#ifndef UTIL_SHORTAGE_H
#define UTIL_SHORTAGE_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * errno_is_shortage - whether an errno, either sign, says that something has run out that may be there again later:
 * memory, descriptors, objects of a device. A call that fails so finds out nothing that may be remembered.
 */
static inline bool errno_is_shortage(int error)
{
    switch (abs(error)) {
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case ENOSPC: return true;
    default: return false;
    }
}

#endif
