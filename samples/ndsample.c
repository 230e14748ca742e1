/* SPDX-License-Identifier: MIT */
/* ndsample.c - see ndsample.h. Arguments and errors first, then a connection from its adapter to its end. */
#define INITGUID
#include "ndsample.h"

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
    { ND_TIMEOUT, "ND_TIMEOUT", NULL },
    { ND_BUFFER_OVERFLOW, "ND_BUFFER_OVERFLOW", NULL },
    { ND_NO_MORE_ENTRIES, "ND_NO_MORE_ENTRIES", NULL },
    { ND_ACCESS_VIOLATION, "ND_ACCESS_VIOLATION",
        "The memory is not registered for this, or the window was taken back." },
    { ND_INVALID_PARAMETER, "ND_INVALID_PARAMETER", NULL },
    { ND_INVALID_DEVICE_REQUEST, "ND_INVALID_DEVICE_REQUEST", NULL },
    { ND_NO_MEMORY, "ND_NO_MEMORY", NULL },
    { ND_DATA_OVERRUN, "ND_DATA_OVERRUN", NULL },
    { ND_SHARING_VIOLATION, "ND_SHARING_VIOLATION", port_taken },
    { ND_ADDRESS_ALREADY_EXISTS, "ND_ADDRESS_ALREADY_EXISTS", port_taken },
    { ND_INSUFFICIENT_RESOURCES, "ND_INSUFFICIENT_RESOURCES",
        "Check the limit of locked memory (ulimit -l)." },
    { ND_DEVICE_NOT_READY, "ND_DEVICE_NOT_READY", NULL },
    { ND_IO_TIMEOUT, "ND_IO_TIMEOUT",
        "The peer does not answer: does it run, and may it be reached (firewall)?" },
    { ND_NOT_SUPPORTED, "ND_NOT_SUPPORTED", NULL },
    { ND_INTERNAL_ERROR, "ND_INTERNAL_ERROR", NULL },
    { ND_CANCELED, "ND_CANCELED", "The connection was lost." },
    { ND_REMOTE_ERROR, "ND_REMOTE_ERROR", NULL },
    { ND_INVALID_ADDRESS, "ND_INVALID_ADDRESS",
        "No adapter has such a local address: ndadapterinfo lists those there are." },
    { ND_INVALID_DEVICE_STATE, "ND_INVALID_DEVICE_STATE", NULL },
    { ND_TOO_MANY_ADDRESSES, "ND_TOO_MANY_ADDRESSES", NULL },
    { ND_CONNECTION_REFUSED, "ND_CONNECTION_REFUSED",
        "Nobody listens there: start the same program with -s first." },
    { ND_CONNECTION_INVALID, "ND_CONNECTION_INVALID", NULL },
    { ND_CONNECTION_ACTIVE, "ND_CONNECTION_ACTIVE", NULL },
    { ND_NETWORK_UNREACHABLE, "ND_NETWORK_UNREACHABLE", "There is no route to this address." },
    { ND_HOST_UNREACHABLE, "ND_HOST_UNREACHABLE", "The host does not answer: check the address." },
    { ND_CONNECTION_ABORTED, "ND_CONNECTION_ABORTED", "The peer gave up." },
    { ND_DEVICE_REMOVED, "ND_DEVICE_REMOVED", NULL },
    { E_NOINTERFACE, "E_NOINTERFACE", NULL },
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

void sample_check(SAMPLE *sample, HRESULT hr, const char *what)
{
    if (SUCCEEDED(hr))
        return;
    const char *hint = sample_code_hint(hr);
    sample_fail(sample, "%s%s%s failed: %s (0x%08x)%s%s", what,
        sample->where[0] ? ", address " : "", sample->where, sample_code_name(hr), (unsigned)hr,
        hint ? "\n  " : "", hint ? hint : "");
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

static BOOL parse_address(const char *text, SOCKADDR_INET *address)
{
    char copy[80];
    int families[] = { AF_INET, AF_INET6 };

    if (strlen(text) >= sizeof(copy))
        return FALSE;
    strcpy(copy, text);
    for (int i = 0; i < 2; ++i) {
        INT length = sizeof(*address);
        memset(address, 0, sizeof(*address));
        if (WSAStringToAddressA(copy, families[i], NULL, (struct sockaddr *)address, &length) ==
            0) {
            /* ":0" asks for any port, no port for the samples' own; both read as 0 */
            size_t end = strlen(text);
            if (address->Ipv4.sin_port == 0 && !(end > 2 && strcmp(text + end - 2, ":0") == 0 &&
                                                   (families[i] == AF_INET || text[0] == '[')))
                address->Ipv4.sin_port = htons(SAMPLE_PORT);
            return TRUE;
        }
    }
    return FALSE;
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

    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        sample_fail(sample, "Winsock does not start");
    for (size_t i = 0; i < strlen(options); ++i)
        values[i] = NULL;
    for (int i = 1; i < argc; ++i) {
        const char *argument = argv[i];
        char letter = argument[0] == '-' && argument[1] && !argument[2] ? argument[1] : 0;
        const char *option = letter ? strchr(options, letter) : NULL;

        if (letter == 'h') {
            printf("%s", usage);
            exit(0);
        } else if (letter == 'b' || letter == 'p') {
            sample->blocking = letter == 'b';
        } else if ((letter == 's' || letter == 'c' || option) && i + 1 == argc) {
            usage_error(sample, usage, "a value has to follow ", argument);
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
    if (!parse_address(peer, &sample->address))
        usage_error(sample, usage, "not an IP address: ", peer);
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

/* ---- adapter and objects --------------------------------------------------------------------------------------- */

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

void sample_open(SAMPLE *sample, ULONG cq_depth)
{
    SOCKADDR_INET local;
    ULONG size = sizeof(sample->info);

    sample_check(sample, NdStartup(), "NdStartup");
    SIZE_T local_size = sample_local_address(sample, &local);
    sample_check(sample,
        NdOpenAdapter(
            &IID_IND2Adapter, (struct sockaddr *)&local, local_size, (void **)&sample->adapter),
        "NdOpenAdapter");
    sample->info.InfoVersion = ND_VERSION_2;
    sample_check(
        sample, sample->adapter->lpVtbl->Query(sample->adapter, &sample->info, &size), "Query");
    sample_check(sample,
        sample->adapter->lpVtbl->CreateOverlappedFile(sample->adapter, &sample->file),
        "CreateOverlappedFile");

    sample->overlapped.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
    sample->notify.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (!sample->overlapped.hEvent || !sample->notify.hEvent)
        sample_fail(sample, "CreateEvent failed: error %u", (unsigned)GetLastError());
    sample_check(sample,
        sample->adapter->lpVtbl->CreateCompletionQueue(sample->adapter, &IID_IND2CompletionQueue,
            sample->file, cq_depth, 0, 0, (void **)&sample->cq),
        "CreateCompletionQueue");
    sample_check(sample,
        sample->adapter->lpVtbl->CreateConnector(
            sample->adapter, &IID_IND2Connector, sample->file, (void **)&sample->connector),
        "CreateConnector");
}

void sample_create_queue_pair(SAMPLE *sample, ULONG receive_depth, ULONG initiator_depth)
{
    sample_check(sample,
        sample->adapter->lpVtbl->CreateQueuePair(sample->adapter, &IID_IND2QueuePair,
            (IUnknown *)sample->cq, (IUnknown *)sample->cq, NULL, receive_depth, initiator_depth, 1,
            1, 0, (void **)&sample->qp),
        "CreateQueuePair");
}

IND2MemoryRegion *sample_register(SAMPLE *sample, void *buffer, SIZE_T size, ULONG flags)
{
    IND2MemoryRegion *region;
    sample_check(sample,
        sample->adapter->lpVtbl->CreateMemoryRegion(
            sample->adapter, &IID_IND2MemoryRegion, sample->file, (void **)&region),
        "CreateMemoryRegion");
    sample_wait(sample, region,
        region->lpVtbl->Register(region, buffer, size, flags, &sample->overlapped), "Register");
    return region;
}

void sample_deregister(SAMPLE *sample, IND2MemoryRegion *region)
{
    sample_wait(
        sample, region, region->lpVtbl->Deregister(region, &sample->overlapped), "Deregister");
    region->lpVtbl->Release(region);
}

void sample_wait(SAMPLE *sample, void *object, HRESULT hr, const char *what)
{
    IND2Overlapped *overlapped = (IND2Overlapped *)object;
    if (hr == ND_PENDING)
        hr = overlapped->lpVtbl->GetOverlappedResult(overlapped, &sample->overlapped, TRUE);
    sample_check(sample, hr, what);
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

/* ---- connection ------------------------------------------------------------------------------------------------ */

void sample_check_private_data(
    SAMPLE *sample, HRESULT hr, const char *what, SIZE_T length, SIZE_T size)
{
    sample_check(sample, hr == ND_BUFFER_OVERFLOW ? ND_SUCCESS : hr, what);
    if (length < size)
        sample_fail(sample, "the client is another program: it told %u bytes, not %u",
            (unsigned)length, (unsigned)size);
}

static void take_private_data(SAMPLE *sample, void *data, ULONG size)
{
    ULONG length = size;
    HRESULT hr = sample->connector->lpVtbl->GetPrivateData(sample->connector, data, &length);
    sample_check_private_data(sample, hr, "GetPrivateData", length, size);
}

static void serve(SAMPLE *sample, void *data, ULONG size_of_data)
{
    IND2Listener *listener;
    IND2Connector *connector = sample->connector;
    SOCKADDR_INET local;
    ULONG size = sizeof(local);

    sample_check(sample,
        sample->adapter->lpVtbl->CreateListener(
            sample->adapter, &IID_IND2Listener, sample->file, (void **)&listener),
        "CreateListener");
    sample_check(sample,
        listener->lpVtbl->Bind(listener, (struct sockaddr *)&sample->address,
            (ULONG)sample_address_size(&sample->address)),
        "Bind");
    sample_check(sample, listener->lpVtbl->Listen(listener, 0), "Listen");
    sample_check(sample,
        listener->lpVtbl->GetLocalAddress(listener, (struct sockaddr *)&local, &size),
        "GetLocalAddress");
    sample_listening(sample, &local);

    sample_wait(sample, listener,
        listener->lpVtbl->GetConnectionRequest(
            listener, (IUnknown *)connector, &sample->overlapped),
        "GetConnectionRequest");
    listener->lpVtbl->Release(listener);
    take_private_data(sample, data, size_of_data);
    sample_wait(sample, connector,
        connector->lpVtbl->Accept(connector, (IUnknown *)sample->qp,
            sample->info.MaxInboundReadLimit, sample->info.MaxOutboundReadLimit, NULL, 0,
            &sample->overlapped),
        "Accept");
}

static void connect_patiently(SAMPLE *sample, const void *data, ULONG size)
{
    IND2Connector *connector = sample->connector;
    ULONG attempt = 0;
    HRESULT hr;

    do {
        hr = connector->lpVtbl->Connect(connector, (IUnknown *)sample->qp,
            (struct sockaddr *)&sample->address, (ULONG)sample_address_size(&sample->address),
            sample->info.MaxInboundReadLimit, sample->info.MaxOutboundReadLimit, data, size,
            &sample->overlapped);
        if (hr == ND_PENDING)
            hr = connector->lpVtbl->GetOverlappedResult(connector, &sample->overlapped, TRUE);
    } while (hr == ND_CONNECTION_REFUSED && sample_try_again(&attempt));
    sample_check(sample, hr, "Connect");
}

void sample_connect(SAMPLE *sample, void *data, ULONG size)
{
    IND2Connector *connector = sample->connector;
    SOCKADDR_INET local;

    if (sample->server) {
        serve(sample, data, size);
        return;
    }
    SIZE_T local_size = sample_local_address(sample, &local);
    sample_check(sample,
        connector->lpVtbl->Bind(connector, (struct sockaddr *)&local, (ULONG)local_size), "Bind");
    connect_patiently(sample, data, size);
    sample_wait(sample, connector,
        connector->lpVtbl->CompleteConnect(connector, &sample->overlapped), "CompleteConnect");
}

void sample_disconnect(SAMPLE *sample)
{
    IND2Connector *connector = sample->connector;
    if (sample->server)
        sample_wait(sample, connector,
            connector->lpVtbl->NotifyDisconnect(connector, &sample->overlapped),
            "NotifyDisconnect");
    sample_wait(sample, connector, connector->lpVtbl->Disconnect(connector, &sample->overlapped),
        "Disconnect");
}

void sample_close(SAMPLE *sample)
{
    sample->qp->lpVtbl->Release(sample->qp);
    sample->connector->lpVtbl->Release(sample->connector);
    sample->cq->lpVtbl->Release(sample->cq);
    CloseHandle(sample->file);
    sample->adapter->lpVtbl->Release(sample->adapter);
    CloseHandle(sample->overlapped.hEvent);
    CloseHandle(sample->notify.hEvent);
    NdCleanup();
    WSACleanup();
}

/* ---- results --------------------------------------------------------------------------------------------------- */

static const char *request_name(ND2_REQUEST_TYPE type)
{
    static const char *const names[] = { "Receive", "Send", "Bind", "Invalidate", "Read", "Write" };
    return (unsigned)type < sizeof(names) / sizeof(names[0]) ? names[type] : "request";
}

BOOL sample_try_next(SAMPLE *sample, ND2_RESULT *result)
{
    if (sample->cq->lpVtbl->GetResults(sample->cq, result, 1) == 0)
        return FALSE;
    sample_check(sample, result->Status, request_name(result->RequestType));
    return TRUE;
}

/* Sleeps until something may have completed: a Notify ends for what comes after the last look, so look once more. */
static BOOL sleep_for_result(SAMPLE *sample, ND2_RESULT *result)
{
    IND2CompletionQueue *cq = sample->cq;
    HRESULT hr = ND_PENDING;

    if (!sample->notified)
        hr = cq->lpVtbl->Notify(cq, ND_CQ_NOTIFY_ANY, &sample->notify);
    sample_check(sample, hr, "Notify");
    sample->notified = hr == ND_PENDING;
    if (sample_try_next(sample, result))
        return TRUE;
    if (sample->notified)
        sample_check(sample, cq->lpVtbl->GetOverlappedResult(cq, &sample->notify, TRUE), "Notify");
    sample->notified = FALSE;
    return sample_try_next(sample, result);
}

void sample_next(SAMPLE *sample, ND2_RESULT *result)
{
    while (!sample_try_next(sample, result))
        if (sample->blocking && sleep_for_result(sample, result))
            return;
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
