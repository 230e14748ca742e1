/* SPDX-License-Identifier: MIT */
/*
 * faults.c - what is broken in the set-up that ndinfo finds: FAULT names a row. Part of a program with the fake device.
 *
 * memory_lock leaves the limit to the caller's setrlimit.
 */
#include "tests/support/fake_device.h"

#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum fake_call call;
    int error;
} calls[] = {
    { "open_permission", FAKE_OPEN_DEVICE, EACCES },
    { "open_missing", FAKE_OPEN_DEVICE, ENOENT },
    { "open_broken", FAKE_OPEN_DEVICE, EIO },
    { "cm_missing", FAKE_CREATE_EVENT_CHANNEL, ENOENT },
    { "cm_permission", FAKE_CREATE_EVENT_CHANNEL, EACCES },
    { "cm_broken", FAKE_CREATE_EVENT_CHANNEL, EIO },
    { "no_address", FAKE_BIND_ADDR, EADDRNOTAVAIL },
    { "bind_broken", FAKE_BIND_ADDR, EIO },
    { "queues_memory", FAKE_CREATE_QP, ENOMEM },
    { "queues_broken", FAKE_CREATE_QP, EIO },
    { "register_broken", FAKE_REG_MR, EIO },
};

static bool interfaces_down;

/* In the place of libc's for libndspi: with interfaces_down, none is up. */
int getifaddrs(struct ifaddrs **out)
{
    int (*real)(struct ifaddrs **) = (int (*)(struct ifaddrs **))dlsym(RTLD_NEXT, "getifaddrs");

    if (!real || real(out))
        return -1;
    for (struct ifaddrs *i = *out; i && interfaces_down; i = i->ifa_next)
        i->ifa_flags &= ~(unsigned)IFF_UP;
    return 0;
}

__attribute__((constructor)) static void break_it(void)
{
    const char *fault = getenv("FAULT");
    bool known = false;

    if (!fault || !*fault)
        return;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (!strcmp(calls[i].name, fault)) {
            fake_break(calls[i].call, calls[i].error);
            known = true;
        }
    if (!strcmp(fault, "port_down"))
        fake_set_port(IBV_PORT_DOWN, IBV_LINK_LAYER_ETHERNET);
    else if (!strcmp(fault, "port_initializing"))
        fake_set_port(IBV_PORT_INIT, IBV_LINK_LAYER_INFINIBAND);
    else if (!strcmp(fault, "memory_lock"))
        fake_set_memory_lock(true);
    else if (!strcmp(fault, "interfaces_down"))
        interfaces_down = true;
    else if (!known) {
        fprintf(stderr, "no such fault: %s\n", fault);
        abort();
    }
}
