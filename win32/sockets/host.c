/* SPDX-License-Identifier: MIT */
/*
 * host.c - names of hosts by Linux' names, with Windows' errors: gethostname, gethostbyname, gethostbyaddr. The answer
 * is each thread's own, as on Windows.
 */
#include "win32/sockets/calls.h"

#include "win32/sockets/object.h"

#include "util/once.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* What the last call of a thread has told. */
struct answer {
    struct hostent host;
    size_t room;
    char octets[];
};

/* A name or an address. */
struct question {
    const char *name; /* NULL: the address */
    const void *address;
    socklen_t bytes;
    int family;
};

static _Thread_local struct answer *mine;
static pthread_key_t key; /* frees it when the thread ends */
static struct once key_once = ONCE_INIT;

static int make_key(void)
{
    return -pthread_key_create(&key, free);
}

/* Replaces the thread's answer by a longer one. False: no memory. */
static bool grow(void)
{
    const size_t room = mine ? mine->room * 2 : 1024;
    struct answer *longer;

    if (once_run(&key_once, make_key) || !(longer = malloc(sizeof(*longer) + room)))
        return false;
    longer->room = room;
    free(mine);
    mine = longer;
    return !pthread_setspecific(key, longer);
}

static DWORD winsock_error(int error, int why)
{
    if (error == ENOMEM)
        return WSAENOBUFS;
    switch (why) {
    case HOST_NOT_FOUND: return WSAHOST_NOT_FOUND;
    case TRY_AGAIN: return WSATRY_AGAIN;
    case NO_DATA: return WSANO_DATA;
    default: return WSANO_RECOVERY;
    }
}

static struct hostent *look_up(const struct question *question)
{
    struct hostent *found = NULL;
    int error = mine ? 0 : ERANGE, why = 0;

    do {
        if (error == ERANGE && !grow())
            error = ENOMEM;
        else if (question->name)
            error = gethostbyname_r(
                question->name, &mine->host, mine->octets, mine->room, &found, &why);
        else
            error = gethostbyaddr_r(question->address, question->bytes, question->family,
                &mine->host, mine->octets, mine->room, &found, &why);
    } while (error == ERANGE);
    if (found) {
        SetLastError(ERROR_SUCCESS);
        return found;
    }
    win_winsock_fail(winsock_error(error, why));
    return NULL;
}

/*
 * gethostname - the name of this host; needs no WSAStartup.
 * name     out: with its end
 * room     of it, in octets
 * Returns  0, and leaves the last error; SOCKET_ERROR with WSAEFAULT: no name, or too little room, which stays as it
 *          is.
 * Threads  any
 * Source   gethostname function (winsock.h)
 */
int wincompat_gethostname(char *name, size_t room)
{
    char own[NI_MAXHOST];

    if (gethostname(own, sizeof(own) - 1))
        return win_winsock_fail_errno();
    own[sizeof(own) - 1] = 0;
    if (!name || room > INT32_MAX || room <= strlen(own))
        return win_winsock_fail(WSAEFAULT);
    memcpy(name, own, strlen(own) + 1);
    return 0;
}

/*
 * gethostbyname - the addresses of a host, of IPv4.
 * name     in: NULL or empty: this host's
 * Returns  what the calling thread's next call replaces, and its end frees; NULL with WSANOTINITIALISED,
 *          WSAHOST_NOT_FOUND, WSATRY_AGAIN, WSANO_RECOVERY, WSANO_DATA, WSAENOBUFS. May block.
 * Threads  any
 * Source   gethostbyname function (winsock2.h)
 */
struct hostent *wincompat_gethostbyname(const char *name)
{
    char own[NI_MAXHOST];

    if (!win_winsock_started())
        return NULL;
    if (!name || !*name) {
        if (wincompat_gethostname(own, sizeof(own)))
            return NULL;
        name = own;
    }
    return look_up(&(struct question){ .name = name });
}

/* gethostbyaddr - the name of an address. Errors: gethostbyname's; WSAEFAULT (address, bytes), WSAEAFNOSUPPORT. */
struct hostent *wincompat_gethostbyaddr(const void *address, socklen_t bytes, int family)
{
    const socklen_t needed = family == AF_INET ? 4 : family == AF_INET6 ? 16 : 0;

    if (!win_winsock_started())
        return NULL;
    if (!needed || !address || bytes < needed) {
        win_winsock_fail(needed ? WSAEFAULT : WSAEAFNOSUPPORT);
        return NULL;
    }
    return look_up(&(struct question){ .address = address, .bytes = needed, .family = family });
}
