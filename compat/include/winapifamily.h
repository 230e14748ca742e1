/* SPDX-License-Identifier: MIT */
/* winapifamily.h - the kind of program that the headers are read for: one of the desktop. */
#ifndef WINCOMPAT_WINAPIFAMILY_H
#define WINCOMPAT_WINAPIFAMILY_H

#define WINAPI_FAMILY_APP         2
#define WINAPI_FAMILY_DESKTOP_APP 100
#ifndef WINAPI_FAMILY
#define WINAPI_FAMILY WINAPI_FAMILY_DESKTOP_APP
#endif

/* An expression of these for a part of the headers; WINAPI_PARTITION_APP is in both kinds of program. */
#define WINAPI_PARTITION_DESKTOP           (WINAPI_FAMILY == WINAPI_FAMILY_DESKTOP_APP)
#define WINAPI_PARTITION_APP               1
#define WINAPI_FAMILY_PARTITION(partition) (partition)

#endif
