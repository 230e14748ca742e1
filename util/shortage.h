/* SPDX-License-Identifier: MIT */
/* shortage.h - which errors are temporary. */
#ifndef UTIL_SHORTAGE_H
#define UTIL_SHORTAGE_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * errno_is_shortage - whether an errno, either sign, reports a resource that has run out and may be free again later:
 * memory, descriptors, objects of a device. The caller must not cache the result of a call that failed like that.
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
