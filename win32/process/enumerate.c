/* SPDX-License-Identifier: MIT */
/* enumerate.c - EnumProcesses: the processes that /proc lists. */
#define PSAPI_VERSION 1 /* the names as they are */
#include <psapi.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

/*
 * EnumProcesses, K32EnumProcesses - the numbers of the processes that the caller sees in /proc: those of its PID
 * namespace, of other users, too, unless /proc hides them. Numbers as those of GetCurrentProcessId and OpenProcess.
 * ids      out
 * size     of ids, in octets
 * filled   out: how much of ids is filled, in octets; as much as size: there may be more processes
 * Returns  FALSE with ERROR_NOACCESS (NULL), ERROR_NOT_SUPPORTED (there is no /proc), ERROR_TOO_MANY_OPEN_FILES,
 *          ERROR_NOT_ENOUGH_MEMORY. Any thread.
 * Source: EnumProcesses function (psapi.h).
 */
BOOL WINAPI EnumProcesses(DWORD *ids, DWORD size, LPDWORD filled)
{
    const DWORD room = size / sizeof(*ids);
    struct dirent *entry;
    DWORD count = 0;
    DIR *processes;

    if (!filled || (room && !ids)) {
        SetLastError(ERROR_NOACCESS);
        return FALSE;
    }
    if (!(processes = opendir("/proc"))) {
        SetLastError(errno == EMFILE || errno == ENFILE ? ERROR_TOO_MANY_OPEN_FILES
                     : errno == ENOMEM                  ? ERROR_NOT_ENOUGH_MEMORY
                                                        : ERROR_NOT_SUPPORTED);
        return FALSE;
    }
    while (count < room && (entry = readdir(processes))) {
        char *end;
        const unsigned long id = strtoul(entry->d_name, &end, 10);

        if (id && !*end)
            ids[count++] = (DWORD)id;
    }
    closedir(processes);
    *filled = count * (DWORD)sizeof(*ids);
    return TRUE;
}

/* The name in kernel32.dll; psapi.dll has the other. */
WINOBJ_API BOOL WINAPI K32EnumProcesses(DWORD *ids, DWORD size, LPDWORD filled)
    __attribute__((alias("EnumProcesses")));
