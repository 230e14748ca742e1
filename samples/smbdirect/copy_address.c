/* SPDX-License-Identifier: MIT */
#include "copy_host.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT "5445" /* of SMB Direct over iWARP, with IANA */

/* Splits text, which it changes. */
static const char *split(char *text, char **host)
{
    char *colon = strrchr(text, ':'), *end;

    *host = text;
    if (*text == '[' && (end = strchr(text, ']')) && (end[1] == ':' || !end[1])) {
        *host = text + 1;
        *end = '\0';
        return end[1] ? end + 2 : PORT;
    }
    if (!colon || strchr(text, ':') != colon) /* none, or an IPv6 address alone */
        return PORT;
    *colon = '\0';
    return colon + 1;
}

unsigned copy_parse_address(const char *text, struct copy_address *addresses, unsigned most)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    struct addrinfo *found;
    char *copy = strdup(text), *host = NULL;
    const char *port;
    unsigned count = 0;
    int error;

    if (!copy) {
        copy_say("out of memory");
        return 0;
    }
    port = split(copy, &host);
    /* getaddrinfo takes a larger number for what is left of it in 16 bits. */
    error = strspn(port, "0123456789") > 5 || strtoul(port, NULL, 10) > 65535
                ? EAI_SERVICE
                : getaddrinfo(host, port, &hints, &found);
    free(copy);
    if (error) {
        copy_say("%s: no address of the form ADDRESS:PORT: %s", text, gai_strerror(error));
        return 0;
    }
    for (const struct addrinfo *each = found; each && count < most; each = each->ai_next) {
        struct copy_address *address = &addresses[count++];

        memset(address, 0, sizeof(*address));
        memcpy(&address->sa, each->ai_addr, each->ai_addrlen);
        address->length = each->ai_addrlen;
    }
    freeaddrinfo(found);
    return count;
}

const char *copy_address_text(const struct sockaddr *address, char *text, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "?";

    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;

        inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
        snprintf(text, size, "[%s]:%u", host, ntohs(in6->sin6_port));
    } else {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;

        inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
        snprintf(text, size, "%s:%u", host, ntohs(in->sin_port));
    }
    return text;
}

void copy_any_port(struct copy_address *address)
{
    if (address->sa.sa_family == AF_INET6)
        address->in6.sin6_port = 0;
    else
        address->in.sin_port = 0;
}

/* A connected UDP socket has the address of the route; nothing is sent. */
bool copy_local_address(const struct copy_address *remote, struct copy_address *local)
{
    int fd = socket(remote->sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool found;

    if (fd < 0)
        return false;
    memset(local, 0, sizeof(*local));
    local->length = sizeof(local->in6);
    found =
        !connect(fd, &remote->sa, remote->length) && !getsockname(fd, &local->sa, &local->length);
    close(fd);
    copy_any_port(local);
    return found;
}

static bool same_host(const struct sockaddr *one, const struct sockaddr *other)
{
    if (!one || one->sa_family != other->sa_family)
        return false;
    if (one->sa_family == AF_INET)
        return ((const struct sockaddr_in *)one)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)other)->sin_addr.s_addr;
    return one->sa_family == AF_INET6 &&
           !memcmp(&((const struct sockaddr_in6 *)one)->sin6_addr,
               &((const struct sockaddr_in6 *)other)->sin6_addr, sizeof(struct in6_addr));
}

unsigned copy_interface_of(const struct copy_address *address)
{
    struct ifaddrs *all, *each;
    unsigned index = 0;

    if (getifaddrs(&all))
        return 0;
    for (each = all; each && !index; each = each->ifa_next)
        if (same_host(each->ifa_addr, &address->sa))
            index = if_nametoindex(each->ifa_name);
    freeifaddrs(all);
    return index;
}

unsigned copy_parse_digit(const char *text, unsigned most)
{
    unsigned digit = (unsigned)(unsigned char)text[0] - '0';

    return digit <= most && !text[1] ? digit : 0;
}
