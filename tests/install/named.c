/* SPDX-License-Identifier: MIT */
/*
 * named.c - an event with a name, in a program whose linker drops libraries that it calls nothing of (--as-needed). Its
 * own functions have names of ours: the libraries do not call them.
 */
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>

void fork_add_(void);
void fork_add_(void)
{
    abort();
}

void log_write_(void);
void log_write_(void)
{
    abort();
}

void reactor_run(void);
void reactor_run(void)
{
    abort();
}

void win_handle_add(void);
void win_handle_add(void)
{
    abort();
}

int main(void)
{
    HANDLE event = CreateEventA(NULL, FALSE, TRUE, "ndspi-install-test");

    if (!event || WaitForSingleObject(event, 0) != WAIT_OBJECT_0) {
        fprintf(stderr, "no event with a name: error %lu\n", (unsigned long)GetLastError());
        return 1;
    }
    CloseHandle(event);
    return 0;
}
