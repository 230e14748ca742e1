/* SPDX-License-Identifier: MIT */
/* ndsample.c - see ndsample.h: arguments, errors, data, addresses. What needs a version's interfaces: ndsample_v2.c. */
#define INITGUID
#include "ndsample.h"

#ifndef _WIN32
#include <netdb.h> /* getaddrinfo */
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 100, PATIENCE_STEP_MS = 50 };
enum { DEFAULT_BYTES = 64 << 20, DEFAULT_ROUNDS = 1000, MIN_ROUNDS = 16 };

static const char port_taken[] = "Another program listens there: choose another port.";

static const struct {
    HRESULT hr;
    const char *name;
    const char *hint;
} codes[] = {
    { ND_SUCCESS, "ND_SUCCESS", NULL },
    { ND_TIMEOUT, "ND_TIMEOUT", NULL },
    { ND_PENDING, "ND_PENDING", NULL },
    { ND_BUFFER_OVERFLOW, "ND_BUFFER_OVERFLOW", NULL },
    { ND_DEVICE_BUSY, "ND_DEVICE_BUSY", NULL },
    { ND_NO_MORE_ENTRIES, "ND_NO_MORE_ENTRIES", NULL },
    { ND_UNSUCCESSFUL, "ND_UNSUCCESSFUL", NULL },
    { ND_INVALID_HANDLE, "ND_INVALID_HANDLE", NULL },
    { (HRESULT)0xC0000022u, "STATUS_ACCESS_DENIED",
        "The port is for privileged processes: choose one from 1024 on." },
    { ND_ACCESS_VIOLATION, "ND_ACCESS_VIOLATION",
        "The memory is not registered for this, or the window was invalidated." },
    { ND_INVALID_PARAMETER, "ND_INVALID_PARAMETER", NULL },
    { ND_INVALID_DEVICE_REQUEST, "ND_INVALID_DEVICE_REQUEST", NULL },
    { ND_NO_MEMORY, "ND_NO_MEMORY", NULL },
    { ND_INVALID_PARAMETER_MIX, "ND_INVALID_PARAMETER_MIX", NULL },
    { ND_DATA_OVERRUN, "ND_DATA_OVERRUN", NULL },
    { ND_SHARING_VIOLATION, "ND_SHARING_VIOLATION", port_taken },
    { ND_ADDRESS_ALREADY_EXISTS, "ND_ADDRESS_ALREADY_EXISTS", port_taken },
    { ND_INSUFFICIENT_RESOURCES, "ND_INSUFFICIENT_RESOURCES",
        "Check the limits of locked memory (ulimit -l) and of descriptors (ulimit -n)." },
    { ND_DEVICE_NOT_READY, "ND_DEVICE_NOT_READY", NULL },
    { ND_IO_TIMEOUT, "ND_IO_TIMEOUT",
        "The peer does not answer: does it run, and may it be reached (firewall)?" },
    { ND_NOT_SUPPORTED, "ND_NOT_SUPPORTED", NULL },
    { (HRESULT)0xC00000CCu, "STATUS_BAD_NETWORK_NAME", "No peer can have this address." },
    { ND_INVALID_PARAMETER_1, "ND_INVALID_PARAMETER_1", NULL },
    { ND_INVALID_PARAMETER_2, "ND_INVALID_PARAMETER_2", NULL },
    { ND_INVALID_PARAMETER_3, "ND_INVALID_PARAMETER_3", NULL },
    { ND_INVALID_PARAMETER_4, "ND_INVALID_PARAMETER_4", NULL },
    { ND_INVALID_PARAMETER_5, "ND_INVALID_PARAMETER_5", NULL },
    { ND_INVALID_PARAMETER_6, "ND_INVALID_PARAMETER_6", NULL },
    { ND_INVALID_PARAMETER_7, "ND_INVALID_PARAMETER_7", NULL },
    { ND_INVALID_PARAMETER_8, "ND_INVALID_PARAMETER_8", NULL },
    { ND_INVALID_PARAMETER_9, "ND_INVALID_PARAMETER_9", NULL },
    { ND_INVALID_PARAMETER_10, "ND_INVALID_PARAMETER_10", NULL },
    { ND_INTERNAL_ERROR, "ND_INTERNAL_ERROR", NULL },
    { ND_CANCELED, "ND_CANCELED", "The connection was lost." },
    { ND_REMOTE_ERROR, "ND_REMOTE_ERROR", NULL },
    { ND_INVALID_ADDRESS, "ND_INVALID_ADDRESS",
        "No adapter has such a local address: ndadapterinfo lists those there are"
#ifndef _WIN32
        ", ndinfo says why there are no others"
#endif
        "." },
    { ND_INVALID_DEVICE_STATE, "ND_INVALID_DEVICE_STATE", NULL },
    { ND_INVALID_BUFFER_SIZE, "ND_INVALID_BUFFER_SIZE", NULL },
    { (HRESULT)0xC000020Cu, "STATUS_CONNECTION_DISCONNECTED", NULL },
    { (HRESULT)0xC0000238u, "STATUS_ADDRESS_ALREADY_ASSOCIATED", NULL },
    { (HRESULT)0xC0000239u, "STATUS_ADDRESS_NOT_ASSOCIATED", NULL },
    { ND_TOO_MANY_ADDRESSES, "ND_TOO_MANY_ADDRESSES", NULL },
    { ND_CONNECTION_REFUSED, "ND_CONNECTION_REFUSED",
        "No program listens there: start the same program with -s first." },
    { ND_CONNECTION_INVALID, "ND_CONNECTION_INVALID", NULL },
    { ND_CONNECTION_ACTIVE, "ND_CONNECTION_ACTIVE", NULL },
    { ND_NETWORK_UNREACHABLE, "ND_NETWORK_UNREACHABLE", "There is no route to this address." },
    { ND_HOST_UNREACHABLE, "ND_HOST_UNREACHABLE", "The host does not answer: check the address." },
    { ND_CONNECTION_ABORTED, "ND_CONNECTION_ABORTED", "The peer gave up." },
    { ND_DEVICE_REMOVED, "ND_DEVICE_REMOVED", NULL },
    { E_NOTIMPL, "E_NOTIMPL", NULL },
    { E_NOINTERFACE, "E_NOINTERFACE", NULL },
    { E_POINTER, "E_POINTER", NULL },
    { E_OUTOFMEMORY, "E_OUTOFMEMORY", NULL },
    { E_INVALIDARG, "E_INVALIDARG", NULL },
    { CLASS_E_CLASSNOTAVAILABLE, "CLASS_E_CLASSNOTAVAILABLE", NULL },
};

const char *sample_code_name(HRESULT hr)
{
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); ++i)
        if (codes[i].hr == hr)
            return codes[i].name;
    return "unknown code";
}

const char *sample_code_hint(HRESULT hr)
{
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); ++i)
        if (codes[i].hr == hr)
            return codes[i].hint;
    return NULL;
}

void sample_fail(SAMPLE *sample, const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "%s: ", sample->name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    exit(1);
}

void sample_write_out(SAMPLE *sample)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        sample_fail(sample, "cannot write to standard output: %s", strerror(errno));
}

void sample_check(SAMPLE *sample, HRESULT hr, const char *what)
{
    if (SUCCEEDED(hr))
        return;
    const char *hint = sample_code_hint(hr);
    sample_fail(sample, "%s%s%s failed: %s (0x%08x)%s%s%s%s", what,
        sample->where[0] ? ", address " : "", sample->where, sample_code_name(hr), (unsigned)hr,
        hint ? "\n  " : "", hint ? hint : "", sample->hint[0] ? "\n  " : "", sample->hint);
}

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

/* ---- arguments ------------------------------------------------------------------------------------------------- */

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

/* Looks up the first address of a host, with a port or without. Digits and dots alone are no name. */
static BOOL look_up(const char *text, USHORT default_port, SOCKADDR_INET *address)
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
    memcpy(address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return TRUE;
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

BOOL sample_parse_address(
    SAMPLE *sample, const char *text, USHORT default_port, SOCKADDR_INET *address)
{
    if (!parse_number(text, default_port, address))
        return look_up(text, default_port, address);
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

static void usage_error(
    SAMPLE *sample, const char *usage, const char *problem, const char *argument)
{
    sample_fail(sample, "%s%s\n%s", problem, argument, usage);
}

void sample_arguments(SAMPLE *sample, int argc, char **argv, const char *usage, const char *options,
    const char **values)
{
    WSADATA data;
    const char *peer = NULL;
    char problem[160];

    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        sample_fail(sample, "Winsock does not start");
    for (size_t i = 0; i < strlen(options); ++i)
        values[i] = NULL;
    for (int i = 1; i < argc; ++i) {
        const char *argument = argv[i];
        char letter = argument[0] == '-' && argument[1] && !argument[2] ? argument[1] : 0;
        const char *option = letter ? strchr(options, letter) : NULL;

        if (letter == 'h' || strcmp(argument, "--help") == 0) {
            printf("%s", usage);
            sample_write_out(sample);
            exit(0);
        } else if (letter == 'b' || letter == 'p') {
            sample->blocking = letter == 'b';
        } else if ((letter == 's' || letter == 'c' || option) && i + 1 == argc) {
            usage_error(sample, usage, "a value must follow ", argument);
        } else if (letter == 's' || letter == 'c') {
            if (peer)
                usage_error(sample, usage, "one of -s and -c, once: ", argument);
            sample->server = letter == 's';
            peer = argv[++i];
        } else if (option) {
            values[option - options] = argv[++i];
        } else {
            usage_error(sample, usage, "unknown argument ", argument);
        }
    }
    if (!peer)
        usage_error(sample, usage, "-s or -c is needed", "");
    if (!sample_parse_address(sample, peer, SAMPLE_PORT, &sample->address))
        usage_error(sample, usage,
            "neither an address, 192.0.2.1:5000 or [2001:db8::1]:5000, nor the name of a host: ",
            peer);
    if (sample_lacks_scope(&sample->address, problem, sizeof(problem)))
        usage_error(sample, usage, problem, "");
    if (!sample->server && sample->address.Ipv4.sin_port == 0)
        usage_error(
            sample, usage, "a server has no port 0: give the one that it prints, not ", peer);
    sample_address_text((struct sockaddr *)&sample->address, sample->where, sizeof(sample->where));
}

ULONG sample_number(SAMPLE *sample, const char *value, ULONG minimum, ULONG maximum, ULONG fallback)
{
    char *end;
    if (!value)
        return fallback;
    unsigned long long number = strtoull(value, &end, 0);
    if (end == value || *end || number < minimum || number > maximum)
        sample_fail(sample, "a number from %u to %u is needed, not %s", (unsigned)minimum,
            (unsigned)maximum, value);
    return (ULONG)number;
}

/* ---- runs of growing sizes ------------------------------------------------------------------------------------- */

SAMPLE_ORDER sample_order(SAMPLE *sample, const char *rounds, const char *max_size)
{
    SAMPLE_ORDER order;
    order.rounds = sample_number(sample, rounds, 1, 100000000, 0);
    order.max_size = sample_number(sample, max_size, 1, SAMPLE_MAX_SIZE, SAMPLE_MAX_SIZE);
    order.blocking = sample->blocking ? 1 : 0;
    return order;
}

SAMPLE_ORDER sample_order_swap(SAMPLE_ORDER order)
{
    order.rounds = htonl(order.rounds);
    order.max_size = htonl(order.max_size);
    order.blocking = htonl(order.blocking);
    return order;
}

ULONG sample_rounds(const SAMPLE_ORDER *order, ULONG size)
{
    ULONG rounds = DEFAULT_BYTES / size;
    if (order->rounds)
        return order->rounds;
    return rounds > DEFAULT_ROUNDS ? DEFAULT_ROUNDS : rounds < MIN_ROUNDS ? MIN_ROUNDS : rounds;
}

static unsigned char pattern(ULONG seed, ULONG offset)
{
    return (unsigned char)(offset * 7 + (offset >> 8) + seed);
}

void sample_fill(unsigned char *data, ULONG size, ULONG seed)
{
    for (ULONG i = 0; i < size; ++i)
        data[i] = pattern(seed, i);
}

ULONG sample_damage(const unsigned char *data, ULONG begin, ULONG end, ULONG seed)
{
    ULONG i = begin;
    while (i < end && data[i] == pattern(seed, i))
        ++i;
    return i;
}

void sample_compare(SAMPLE *sample, const unsigned char *data, ULONG begin, ULONG end, ULONG seed)
{
    ULONG damaged = sample_damage(data, begin, end, seed);
    if (damaged < end)
        sample_fail(sample, "byte %u of a message of some %u bytes is damaged", (unsigned)damaged,
            (unsigned)end);
}

/* ---- addresses and connections ---------------------------------------------------------------------------------- */

SIZE_T sample_address_size(const SOCKADDR_INET *address)
{
    return address->si_family == AF_INET ? sizeof(address->Ipv4) : sizeof(address->Ipv6);
}

SIZE_T sample_local_address(SAMPLE *sample, SOCKADDR_INET *local)
{
    SIZE_T size = sizeof(*local);
    memset(local, 0, sizeof(*local));
    if (sample->server)
        *local = sample->address;
    else
        sample_check(sample,
            NdResolveAddress((struct sockaddr *)&sample->address,
                sample_address_size(&sample->address), (struct sockaddr *)local, &size),
            "finding the adapter for the peer (NdResolveAddress)");
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

double sample_seconds(void)
{
    static LARGE_INTEGER frequency;
    LARGE_INTEGER now;
    if (frequency.QuadPart == 0)
        QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&now);
    return (double)now.QuadPart / (double)frequency.QuadPart;
}
