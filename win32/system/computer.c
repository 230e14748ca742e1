/* SPDX-License-Identifier: MIT */
/* computer.c - the computer's names, from gethostname and the resolver. */
#include "win32/system/computer.h"

#include <ctype.h>
#include <netdb.h>
#include <unistd.h>

/* Adds the domain to the name, if the resolver knows one. May ask the network. */
static void fully_qualify(char name[NI_MAXHOST])
{
    struct addrinfo hints = { .ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM }, *found;

    if (strchr(name, '.') || getaddrinfo(name, NULL, &hints, &found))
        return;
    if (found->ai_canonname && strlen(found->ai_canonname) < NI_MAXHOST &&
        strchr(found->ai_canonname, '.'))
        strcpy(name, found->ai_canonname);
    freeaddrinfo(found);
}

/* Finds a name; physical names are the same, as there are no clusters. False: no such format. */
static BOOL name_of(COMPUTER_NAME_FORMAT format, char name[NI_MAXHOST])
{
    const char *dot;

    if (gethostname(name, NI_MAXHOST - 1))
        name[0] = 0;
    name[NI_MAXHOST - 1] = 0;
    switch (format) {
    case ComputerNameNetBIOS:
    case ComputerNamePhysicalNetBIOS:
        name[strcspn(name, ".")] = 0;
        if (strlen(name) > MAX_COMPUTERNAME_LENGTH)
            name[MAX_COMPUTERNAME_LENGTH] = 0;
        for (char *c = name; *c; c++)
            *c = (char)toupper((unsigned char)*c);
        return TRUE;
    case ComputerNameDnsHostname:
    case ComputerNamePhysicalDnsHostname: name[strcspn(name, ".")] = 0; return TRUE;
    case ComputerNameDnsDomain:
    case ComputerNamePhysicalDnsDomain:
        fully_qualify(name);
        dot = strchr(name, '.');
        memmove(name, dot ? dot + 1 : "", dot ? strlen(dot) : 1);
        return TRUE;
    case ComputerNameDnsFullyQualified:
    case ComputerNamePhysicalDnsFullyQualified: fully_qualify(name); return TRUE;
    default: return FALSE;
    }
}

/*
 * GetComputerNameExA, GetComputerNameExW - one of the computer's names. The NetBIOS name is the host name in capitals,
 * at most 15 characters; the domain name is empty where there is none.
 * size     in: room of name, in characters; out: its length, or the room it needs, with the end
 * Returns  FALSE with ERROR_MORE_DATA (too small), ERROR_INVALID_PARAMETER (no such format, no size, NULL with room).
 */
BOOL WINAPI GetComputerNameExA(COMPUTER_NAME_FORMAT format, LPSTR name, LPDWORD size)
{
    char found[NI_MAXHOST];
    DWORD length;

    if (!size || (*size && !name) || !name_of(format, found)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    length = (DWORD)strlen(found);
    if (length >= *size) {
        *size = length + 1;
        SetLastError(ERROR_MORE_DATA);
        return FALSE;
    }
    memcpy(name, found, length + 1);
    *size = length;
    return TRUE;
}

BOOL win_computer_name_answer(BOOL done)
{
    if (!done && GetLastError() == ERROR_MORE_DATA)
        SetLastError(ERROR_BUFFER_OVERFLOW);
    return done;
}

/* GetComputerNameA, GetComputerNameW - the NetBIOS name; too small a buffer is ERROR_BUFFER_OVERFLOW here. */
BOOL WINAPI GetComputerNameA(LPSTR name, LPDWORD size)
{
    return win_computer_name_answer(GetComputerNameExA(ComputerNameNetBIOS, name, size));
}
