/* SPDX-License-Identifier: MIT */
/* attributes.h - the attributes with which a process is started (STARTUPINFOEX). */
#ifndef WIN32_SPAWN_ATTRIBUTES_H
#define WIN32_SPAWN_ATTRIBUTES_H

#include <windows.h>

struct win_attribute {
    DWORD_PTR attribute;
    SIZE_T size;
    void *value; /* the program's, until the list is deleted */
};

/* Its size is Windows', which a program may have built in. */
struct _PROC_THREAD_ATTRIBUTE_LIST {
    DWORD mask, most, count, unused;
    DWORD_PTR none;
    struct win_attribute attributes[];
};

#endif
