/* SPDX-License-Identifier: MIT */
/*
 * ndsample.c - see ndsample.h: arguments, errors, data. Addresses: ndsample_address.c; what needs a version's
 * interfaces: ndsample_v2.c.
 */
#define INITGUID
#include "ndsample.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BYTES = 64 << 20, DEFAULT_ROUNDS = 1000, MIN_ROUNDS = 16 };
enum { STATUS_FAILED = 1, STATUS_USAGE = 2 };

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
    { (HRESULT)0xC000003Eu, "STATUS_DATA_ERROR", "The message is longer than the peer's Receive." },
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

static void complain(SAMPLE *sample, const char *format, va_list arguments)
{
    fflush(stdout);
    fprintf(stderr, "%s: ", sample->name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
}

void sample_fail(SAMPLE *sample, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(sample, format, arguments);
    va_end(arguments);
    exit(STATUS_FAILED);
}

void sample_wrong(SAMPLE *sample, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(sample, format, arguments);
    va_end(arguments);
    exit(STATUS_USAGE);
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

/* ---- arguments ------------------------------------------------------------------------------------------------- */

static void usage_error(
    SAMPLE *sample, const char *usage, const char *problem, const char *argument)
{
    sample_wrong(sample, "%s%s\n%s", problem, argument, usage);
}

void sample_version(SAMPLE *sample)
{
    printf("%s %s\n", sample->name, SAMPLE_VERSION);
    sample_write_out(sample);
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
        } else if (letter == 'V' || strcmp(argument, "--version") == 0) {
            sample_version(sample);
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
    sample->peer = peer;
    if (!sample_parse_addresses(sample, peer, SAMPLE_PORT, &sample->addresses))
        usage_error(sample, usage,
            "neither an address, 192.0.2.1:5000 or [2001:db8::1]:5000, nor the name of a host: ",
            peer);
    sample_take_address(sample);
    if (sample_lacks_scope(&sample->address, problem, sizeof(problem)))
        usage_error(sample, usage, problem, "");
    if (!sample->server && sample->address.Ipv4.sin_port == 0)
        usage_error(
            sample, usage, "a server has no port 0: give the one that it prints, not ", peer);
}

ULONG sample_number(SAMPLE *sample, const char *value, ULONG minimum, ULONG maximum, ULONG fallback)
{
    char *end;
    if (!value)
        return fallback;
    unsigned long long number = strtoull(value, &end, 0);
    if (end == value || *end || number < minimum || number > maximum)
        sample_wrong(sample, "a number from %u to %u is needed, not %s", (unsigned)minimum,
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

double sample_seconds(void)
{
    static LARGE_INTEGER frequency;
    LARGE_INTEGER now;
    if (frequency.QuadPart == 0)
        QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&now);
    return (double)now.QuadPart / (double)frequency.QuadPart;
}
