/* SPDX-License-Identifier: MIT */
/* serve.c - answers probes: each address has a thread, which serves one probe at a time. */
#include "address.h"
#include "commands.h"
#include "end.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct served {
    const struct options *options;
    SOCKADDR_INET address;
    struct end end;
    IND2Listener *listener;
    HANDLE thread;
};

/* The number of probes answered to the end, on all addresses; done is set when it reaches options->count. */
static atomic_uint answered;
static HANDLE done;

static bool listen_on(struct served *served)
{
    struct end *end = &served->end;
    ULONG size = sizeof(served->address);

    end->stop = done;
    if (!end_open(end, (struct sockaddr *)&served->address, address_size(&served->address)))
        return false;
    HRESULT hr = CALL(
        end->adapter, CreateListener, &IID_IND2Listener, end->file, (VOID **)&served->listener);
    if (FAILED(hr))
        return failure_set(&end->failure, "CreateListener", hr);
    hr = CALL(served->listener, Bind, (struct sockaddr *)&served->address,
        (ULONG)address_size(&served->address));
    if (SUCCEEDED(hr))
        hr = CALL(served->listener, Listen, 0);
    if (SUCCEEDED(hr))
        hr = CALL(served->listener, GetLocalAddress, (struct sockaddr *)&served->address, &size);
    return SUCCEEDED(hr) || failure_set(&end->failure, "Listen", hr);
}

/* Answers the connection request that the connector has taken. */
static bool answer(struct served *served)
{
    struct end *end = &served->end;
    struct greeting greeting;

    if (!greeting_take(end, &greeting)) {
        CALL(end->connector, Reject, NULL, 0);
        return failure_say(&end->failure, "a probe", "the peer that connected is not ndinfo", NULL);
    }
    ULONG rounds = ntohl(greeting.rounds_be);
    if (!end_post_receive(end) || !end_finish(end, end->connector,
                                      CALL(end->connector, Accept, (IUnknown *)end->qp, 0, 0,
                                          &greeting, sizeof(greeting), &end->overlapped),
                                      "Accept"))
        return false;
    for (ULONG i = 0; i < rounds; i++)
        if (!end_exchange(end, true, i, i + 1 < rounds))
            return false;
    return (rounds == 0 || end_last_sent(end)) &&
           end_finish(end, end->connector, CALL(end->connector, NotifyDisconnect, &end->overlapped),
               "NotifyDisconnect");
}

/* Serves one probe; prints its failure. False: listening has failed, or done is set. */
static bool serve_one(struct served *served)
{
    struct end *end = &served->end;

    end->patience_ms = 0;
    if (!end_renew(end) || !end_finish(end, served->listener,
                               CALL(served->listener, GetConnectionRequest,
                                   (IUnknown *)end->connector, &end->overlapped),
                               "GetConnectionRequest"))
        return false;
    end->patience_ms = served->options->timeout_ms;
    if (!answer(served))
        failure_print(&end->failure);
    else if (atomic_fetch_add_explicit(&answered, 1, memory_order_relaxed) + 1 ==
             served->options->count)
        SetEvent(done);
    return true;
}

static DWORD WINAPI run(VOID *context)
{
    struct served *served = context;

    while (serve_one(served))
        ;
    if (served->end.failure.status != ND_CANCELED)
        failure_print(&served->end.failure);
    return 0;
}

/* Lists the *count addresses to serve: the given ones, or (0) all. NULL: it has printed why. */
static struct served *gather(const struct options *options, const SOCKADDR_INET *given, int *count)
{
    SIZE_T size = 0;
    SOCKET_ADDRESS_LIST *list = NULL;
    HRESULT hr = ND_SUCCESS;
    bool all = *count == 0;

    while (all && (hr = NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, list, &size)) ==
                      ND_BUFFER_OVERFLOW) {
        free(list);
        list = malloc(size);
        if (!list)
            break;
    }
    if (all)
        *count = SUCCEEDED(hr) && size ? list->iAddressCount : 0;
    struct served *served = *count ? calloc((size_t)*count, sizeof(*served)) : NULL;
    for (int i = 0; served && i < *count; i++) {
        served[i].options = options;
        if (!all) {
            served[i].address = given[i];
            continue;
        }
        memcpy(&served[i].address, list->Address[i].lpSockaddr,
            (size_t)list->Address[i].iSockaddrLength);
        served[i].address.Ipv4.sin_port = htons(NDINFO_PORT);
    }
    if (!served)
        fprintf(stderr, "ndinfo: no adapter can be used; \"ndinfo\" says why\n");
    free(list);
    return served;
}

static bool start(struct served *served)
{
    char text[NDINFO_ADDRESS_OCTETS];

    if (listen_on(served))
        served->thread = CreateThread(NULL, 0, run, served, 0, NULL);
    if (served->thread) {
        printf("ndinfo: listening on %s\n",
            address_text((struct sockaddr *)&served->address, true, text));
        fflush(stdout);
        return true;
    }
    fprintf(stderr, "ndinfo: cannot serve %s\n",
        address_text((struct sockaddr *)&served->address, true, text));
    if (served->end.failure.step)
        failure_print(&served->end.failure);
    return false;
}

/* Ends the thread and frees an address, after done is set, or if no address could be served. */
static void stop(struct served *served)
{
    if (served->thread) {
        WaitForSingleObject(served->thread, INFINITE);
        CloseHandle(served->thread);
    }
    if (served->listener)
        CALL(served->listener, Release);
    end_close(&served->end);
}

/* Starts NetworkDirect. False: it has printed why. */
static bool begin(void)
{
    struct failure failure;
    HRESULT hr = NdStartup();

    if (FAILED(hr))
        failure_set(&failure, "NdStartup", hr);
    else if (!(done = CreateEventW(NULL, TRUE, FALSE, NULL)))
        failure_say(&failure, "CreateEvent", "no descriptor left", "raise ulimit -n");
    if (done)
        return true;
    if (SUCCEEDED(hr))
        NdCleanup();
    failure_print(&failure);
    return false;
}

int serve(const struct options *options, const char *where)
{
    char hint[NDINFO_HINT_OCTETS];
    SOCKADDR_INET given[NDINFO_MOST_ADDRESSES];
    struct served *served;
    bool any = false;
    int count = 0;

    if (where && !(count = address_parse(where, given, hint))) {
        fprintf(stderr, "ndinfo: %s\n", hint);
        return NDINFO_STATUS_USAGE;
    }
    if (!begin())
        return 1;
    served = gather(options, given, &count);
    for (int i = 0; served && i < count; i++)
        any |= start(&served[i]);
    if (any)
        WaitForSingleObject(done, INFINITE);
    else if (served && where && address_hint(where, hint))
        fprintf(stderr, "    hint: %s\n", hint);
    for (int i = 0; served && i < count; i++)
        stop(&served[i]);
    free(served);
    CloseHandle(done);
    NdCleanup();
    return any ? 0 : 1;
}
