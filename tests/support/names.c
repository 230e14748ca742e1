/* SPDX-License-Identifier: MIT */
/*
 * Gives the host name both.test the numeric addresses of NAMES, separated by commas, in this order. In LD_PRELOAD: what
 * a host is called in /etc/hosts differs from machine to machine.
 */
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#define NAME "both.test"

typedef int getaddrinfo_function(
    const char *, const char *, const struct addrinfo *, struct addrinfo **);

static struct addrinfo *ours[8]; /* each of them made by the C library */
static int count;

static int resolve(const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    getaddrinfo_function *real = (getaddrinfo_function *)dlsym(RTLD_NEXT, "getaddrinfo");
    struct addrinfo numeric = *hints;
    char *names = strdup(getenv("NAMES")), *rest = names;
    int error = 0;

    numeric.ai_flags = AI_NUMERICHOST;
    for (char *name; !error && (name = strsep(&rest, ",")); count++)
        error = real(name, service, &numeric, &ours[count]);
    free(names);
    for (int i = 0; i + 1 < count; i++)
        ours[i]->ai_next = ours[i + 1];
    *found = ours[0];
    return error;
}

int getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    getaddrinfo_function *real = (getaddrinfo_function *)dlsym(RTLD_NEXT, "getaddrinfo");

    if (name && strcmp(name, NAME) == 0 && getenv("NAMES"))
        return resolve(service, hints, found);
    return real(name, service, hints, found);
}

void freeaddrinfo(struct addrinfo *list)
{
    void (*real)(struct addrinfo *) = (void (*)(struct addrinfo *))dlsym(RTLD_NEXT, "freeaddrinfo");

    if (!count || list != ours[0]) {
        real(list);
        return;
    }
    for (int i = 0; i < count; i++) {
        ours[i]->ai_next = NULL;
        real(ours[i]);
    }
    count = 0;
}
