/* SPDX-License-Identifier: MIT */
/*
 * rsocket.c - librdmacm's rsockets, which work on softrdma through the names of rdmacm.c and verbs.c. They take the
 * largest length of a queue from librdmacm's own list of devices. librdmacm lists and opens devices through our names,
 * too, but not before the first rsocket: so this file calls rdma_get_devices first.
 */
#include "softrdma/preload/forward.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <rdma/rsocket.h>

static struct {
    pthread_once_t once;
    int (*rsocket)(int domain, int type, int protocol);
} real = { .once = PTHREAD_ONCE_INIT };

static void find_real(void)
{
    struct ibv_context **(*get_devices)(int *) = dlsym(RTLD_NEXT, "rdma_get_devices");
    void (*free_devices)(struct ibv_context **) = dlsym(RTLD_NEXT, "rdma_free_devices");
    struct ibv_context **list;

    real.rsocket = dlsym(RTLD_NEXT, "rsocket");
    if (!get_devices || !free_devices)
        return;
    list = get_devices(NULL);
    if (list)
        free_devices(list);
}

PRELOAD int rsocket(int domain, int type, int protocol)
{
    pthread_once(&real.once, find_real);
    if (!real.rsocket) {
        errno = ENOSYS; /* the program is not linked to librdmacm */
        return -1;
    }
    return real.rsocket(domain, type, protocol);
}
