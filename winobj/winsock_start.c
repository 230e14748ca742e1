/* SPDX-License-Identifier: MIT */
/* winsock_start.c - the start of Winsock, where the program has it (winsock_start.h). */
#include "winobj/winsock_start.h"

#include "winobj/provider.h"

static DWORD (*_Atomic begin)(void);
static void (*_Atomic end)(void);

void win_winsock_register(DWORD (*start)(void), void (*stop)(void))
{
    begin = start;
    end = stop;
}

DWORD win_winsock_start(void)
{
    return begin ? begin() : ERROR_SUCCESS;
}

void win_winsock_stop(void)
{
    if (end)
        end();
}
