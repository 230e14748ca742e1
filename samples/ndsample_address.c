/* SPDX-License-Identifier: MIT */
/* ndsample_address.c - see ndsample.h: addresses as users write them, names of hosts, and one try after the other. */
#include "ndsample.h"

#ifndef _WIN32
#include <netdb.h> /* getaddrinfo */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 100, PATIENCE_STEP_MS = 50 };

const char *sample_address_text(const struct sockaddr *address, char *text, size_t size)
{
    char ip[INET6_ADDRSTRLEN] = "?";
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        inet_ntop(AF_INET, (void *)&v4->sin_addr, ip, sizeof(ip));
        snprintf(text, size, "%s:%u", ip, ntohs(v4->sin_port));
    } else {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
        inet_ntop(AF_INET6, (void *)&v6->sin6_addr, ip, sizeof(ip));
        snprintf(text, size, "[%s]:%u", ip, ntohs(v6->sin6_port));
    }
    return text;
}

SIZE_T sample_address_size(const SOCKADDR_INET *address)
{
    return address->si_family == AF_INET ? sizeof(address->Ipv4) : sizeof(address->Ipv6);
}

/* Parses an address, with a port or without. port in: the one without, in host order */
static BOOL parse_number(const char *text, USHORT port, SOCKADDR_INET *address)
{
    char copy[80];
    int families[] = { AF_INET, AF_INET6 };
    size_t end = strlen(text);

    if (end >= sizeof(copy))
        return FALSE;
    strcpy(copy, text);
    /* ":0" asks for any port; no port means the default. Cut ":0" off: not every Winsock parses it. */
    BOOL any_port = end > 2 && strcmp(text + end - 2, ":0") == 0 &&
                    (text[0] == '[' || strchr(text, ':') == text + end - 2);
    if (any_port)
        copy[end - 2] = 0;
    for (int i = 0; i < 2; ++i) {
        INT length = sizeof(*address);
        memset(address, 0, sizeof(*address));
        if (WSAStringToAddressA(copy, families[i], NULL, (struct sockaddr *)address, &length) ==
            0) {
            if (address->Ipv4.sin_port == 0 && !any_port)
                address->Ipv4.sin_port = htons(port);
            return TRUE;
        }
    }
    return FALSE;
}

static void add(SAMPLE_ADDRESSES *addresses, const void *address, size_t size)
{
    SOCKADDR_INET *next = &addresses->each[addresses->count].address;

    if (addresses->count == SAMPLE_MOST_ADDRESSES || size > sizeof(*next))
        return;
    memset(next, 0, sizeof(*next));
    memcpy(next, address, size);
    for (ULONG i = 0; i < addresses->count; ++i)
        if (memcmp(&addresses->each[i].address, next, sizeof(*next)) == 0)
            return;
    addresses->count++;
}

/* Looks up the addresses of a host, with a port or without. Digits and dots alone are no name. */
static BOOL look_up(const char *text, USHORT default_port, SAMPLE_ADDRESSES *addresses)
{
    char name[256], port[8] = "";
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    struct addrinfo wanted, *found;

    if (length >= sizeof(name) || strspn(text, "0123456789.") >= length ||
        (colon && (strlen(colon + 1) > 5 || colon[1 + strspn(colon + 1, "0123456789")])))
        return FALSE;
    memcpy(name, text, length);
    name[length] = 0;
    sprintf(port, "%u", colon ? (unsigned)atoi(colon + 1) : (unsigned)default_port);
    memset(&wanted, 0, sizeof(wanted));
    wanted.ai_flags = AI_ADDRCONFIG;
    wanted.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(name, port, &wanted, &found) != 0)
        return FALSE;
    for (const struct addrinfo *each = found; each; each = each->ai_next)
        add(addresses, each->ai_addr, (size_t)each->ai_addrlen);
    freeaddrinfo(found);
    return addresses->count > 0;
}

/* "::1:5000" is an address without a port; the user may have meant one with a port. */
static void suspect_port(SAMPLE *sample, const char *text)
{
    const char *last = strrchr(text, ':');
    SOCKADDR_INET address;
    char shorter[48];

    if (!last || text[0] == '[' || strchr(text, ':') == last || !last[1] ||
        last[1 + strspn(last + 1, "0123456789")] || (size_t)(last - text) >= sizeof(shorter))
        return;
    memcpy(shorter, text, (size_t)(last - text));
    shorter[last - text] = 0;
    if (parse_number(shorter, SAMPLE_PORT, &address))
        snprintf(sample->hint, sizeof(sample->hint),
            "If %.5s is meant as the port, write [%s]:%.5s.", last + 1, shorter, last + 1);
}

BOOL sample_parse_addresses(
    SAMPLE *sample, const char *text, USHORT default_port, SAMPLE_ADDRESSES *addresses)
{
    SOCKADDR_INET address;

    memset(addresses, 0, sizeof(*addresses));
    if (!parse_number(text, default_port, &address))
        return look_up(text, default_port, addresses);
    add(addresses, &address, sizeof(address));
    suspect_port(sample, text);
    return TRUE;
}

BOOL sample_lacks_scope(const SOCKADDR_INET *address, char *problem, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)&address->Ipv6.sin6_addr;
    char ip[INET6_ADDRSTRLEN] = "?";

    if (address->si_family != AF_INET6 || address->Ipv6.sin6_scope_id || bytes[0] != 0xFE ||
        (bytes[1] & 0xC0) != 0x80)
        return FALSE;
    inet_ntop(AF_INET6, (void *)bytes, ip, sizeof(ip));
    snprintf(problem, size,
        "%s is link-local: write the network interface behind it, %s%%"
#ifdef _WIN32
        "12",
#else
        "eth0",
#endif
        ip, ip);
    return TRUE;
}

/* ---- one address after the other ------------------------------------------------------------------------------- */

static void note(SAMPLE_ADDRESSES *addresses, const char *what, HRESULT hr)
{
    addresses->each[addresses->tried].what = what;
    addresses->each[addresses->tried++].hr = hr;
}

/* Ends the program with what failed at each address. */
static void fail_all(SAMPLE *sample)
{
    char text[2048] = "", where[64];
    size_t used = 0;

    for (ULONG i = 0; i < sample->addresses.count && used < sizeof(text); ++i) {
        HRESULT hr = sample->addresses.each[i].hr;
        const char *hint = sample_code_hint(hr);
        int length =
            snprintf(text + used, sizeof(text) - used, "\n  %s: %s failed: %s (0x%08x)%s%s",
                sample_address_text(
                    (struct sockaddr *)&sample->addresses.each[i].address, where, sizeof(where)),
                sample->addresses.each[i].what, sample_code_name(hr), (unsigned)hr,
                hint ? "\n    " : "", hint ? hint : "");
        used += length > 0 ? (size_t)length : 0;
    }
    sample_fail(sample, "%s has %u addresses, and none of them works:%s", sample->peer,
        (unsigned)sample->addresses.count, text);
}

void sample_take_address(SAMPLE *sample)
{
    sample->address = sample->addresses.each[sample->addresses.tried].address;
    sample_address_text((struct sockaddr *)&sample->address, sample->where, sizeof(sample->where));
}

void sample_next_address(SAMPLE *sample, const char *what, HRESULT hr)
{
    BOOL refused = hr == ND_CONNECTION_REFUSED || hr == ND_TIMEOUT;

    if (hr == ND_TIMEOUT) /* of version 1, where it is no failure */
        hr = ND_IO_TIMEOUT;
    if (sample->addresses.count == 1)
        sample_check(sample, hr, what);
    sample->refused = sample->refused || refused;
    note(&sample->addresses, what, hr);
    if (sample->addresses.tried == sample->addresses.count) {
        if (!sample->refused || !sample_try_again(&sample->rounds))
            fail_all(sample);
        sample->refused = FALSE;
        sample->addresses.tried = 0;
    }
    sample_take_address(sample);
}

SIZE_T sample_local_address(SAMPLE *sample, SOCKADDR_INET *local)
{
    for (;;) {
        SIZE_T size = sizeof(*local);

        memset(local, 0, sizeof(*local));
        if (sample->server) {
            *local = sample->address;
            break;
        }
        HRESULT hr = NdResolveAddress((struct sockaddr *)&sample->address,
            sample_address_size(&sample->address), (struct sockaddr *)local, &size);
        if (SUCCEEDED(hr))
            break;
        sample_next_address(sample, "finding the adapter for the peer (NdResolveAddress)", hr);
    }
    return sample_address_size(local);
}

BOOL sample_try_again(ULONG *attempt)
{
    if (++*attempt > PATIENCE)
        return FALSE;
    Sleep(PATIENCE_STEP_MS);
    return TRUE;
}

void sample_listening(SAMPLE *sample, const SOCKADDR_INET *local)
{
    sample_address_text((const struct sockaddr *)local, sample->where, sizeof(sample->where));
    fprintf(stderr, "%s: listening on %s\n", sample->name, sample->where);
}

void sample_check_private_data(
    SAMPLE *sample, HRESULT hr, const char *what, SIZE_T length, SIZE_T size)
{
    sample_check(sample, hr == ND_BUFFER_OVERFLOW ? ND_SUCCESS : hr, what);
    if (length < size)
        sample_fail(sample, "the client is another program: it sent %u bytes, not %u",
            (unsigned)length, (unsigned)size);
}
