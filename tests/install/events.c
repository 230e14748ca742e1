/* SPDX-License-Identifier: MIT */
/* events.c - a program that needs events and completion ports alone: it links libwinobj, without libndwin32. */
#include <windows.h>

#include <stdio.h>

int main(void)
{
    HANDLE event = CreateEventA(NULL, FALSE, TRUE, NULL);
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 1);
    OVERLAPPED *overlapped;
    ULONG_PTR key;
    DWORD octets;

    if (!event || WaitForSingleObject(event, 0) != WAIT_OBJECT_0 || !port ||
        !PostQueuedCompletionStatus(port, 1, 2, NULL) ||
        !GetQueuedCompletionStatus(port, &octets, &key, &overlapped, 0)) {
        fprintf(stderr, "error %lu\n", (unsigned long)GetLastError());
        return 1;
    }
    CloseHandle(port);
    CloseHandle(event);
    return 0;
}
