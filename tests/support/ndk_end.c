/* SPDX-License-Identifier: MIT */
#include "tests/support/ndk_end.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- calls that end by a callback ---- */

void ndk_end_wait_begin(struct ndk_end_wait *wait)
{
    KeInitializeEvent(&wait->event, SynchronizationEvent, FALSE);
    wait->status = STATUS_PENDING;
    wait->object = NULL;
}

static NTSTATUS wait_up_to(struct ndk_end_wait *wait, unsigned timeout_ms)
{
    LARGE_INTEGER timeout = { .QuadPart = -10000LL * timeout_ms };

    if (KeWaitForSingleObject(&wait->event, Executive, KernelMode, FALSE, &timeout) != 0)
        return STATUS_PENDING;
    return wait->status;
}

NTSTATUS ndk_end_wait_for(struct ndk_end_wait *wait, NTSTATUS status)
{
    return status == STATUS_PENDING ? wait_up_to(wait, NDK_END_WAIT_MS) : status;
}

VOID ndk_end_created(PVOID context, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
    struct ndk_end_wait *wait = context;

    wait->status = status;
    wait->object = object;
    KeSetEvent(&wait->event, IO_NO_INCREMENT, FALSE);
}

VOID ndk_end_requested(PVOID context, NTSTATUS status)
{
    ndk_end_created(context, status, NULL);
}

VOID ndk_end_closed(PVOID context)
{
    ndk_end_created(context, STATUS_SUCCESS, NULL);
}

static VOID incoming(PVOID context, NDK_CONNECTOR *connector)
{
    ndk_end_created(context, STATUS_SUCCESS, &connector->Header);
}

/* Inside a function that returns an NTSTATUS: leaves it, with the step's name in end, unless it has succeeded. */
#define STEP(end, name, done)                                                                      \
    do {                                                                                           \
        NTSTATUS status_ = (done);                                                                 \
        if (status_ != STATUS_SUCCESS) {                                                           \
            (end)->step = (name);                                                                  \
            return status_;                                                                        \
        }                                                                                          \
    } while (0)

/* A function that creates: out is its object, stored in the call or told by the callback. */
#define CREATE(end, name, out, made)                                                               \
    do {                                                                                           \
        NTSTATUS made_;                                                                            \
        ndk_end_wait_begin(&(end)->call);                                                          \
        made_ = (made);                                                                            \
        STEP(end, name, ndk_end_wait_for(&(end)->call, made_));                                    \
        if (made_ == STATUS_PENDING)                                                               \
            *(out) = (void *)(end)->call.object;                                                   \
    } while (0)

/* A request with a callback. */
#define REQUEST(end, name, request)                                                                \
    do {                                                                                           \
        ndk_end_wait_begin(&(end)->call);                                                          \
        STEP(end, name, ndk_end_wait_for(&(end)->call, request));                                  \
    } while (0)

/* ---- addresses ---- */

static struct sockaddr_in address_of(ULONG address_be, USHORT port_be)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = port_be,
        .sin_addr.s_addr = address_be ? address_be : htonl(INADDR_LOOPBACK),
    };
}

NET_IFINDEX ndk_end_interface(ULONG address_be)
{
    struct sockaddr_in asked = address_of(address_be, 0);
    struct ifaddrs *all = NULL;
    NET_IFINDEX index = 0;

    if (getifaddrs(&all) != 0)
        return 0;
    for (struct ifaddrs *one = all; one && !index; one = one->ifa_next) {
        const struct sockaddr_in *has = (const void *)one->ifa_addr;

        if (has && has->sin_family == AF_INET && has->sin_addr.s_addr == asked.sin_addr.s_addr)
            index = if_nametoindex(one->ifa_name);
    }
    freeifaddrs(all);
    return index;
}

/* ---- life ---- */

static NTSTATUS open_adapter(struct ndk_end *end)
{
    const NDK_VERSION latest = { 2, 1 }, least = { 1, 0 };
    NET_IFINDEX index = ndk_end_interface(end->local_be);
    NTSTATUS status = NdklOpenAdapter(latest, index, &end->adapter);

    return status == NDIS_STATUS_BAD_VERSION ? NdklOpenAdapter(least, index, &end->adapter)
                                             : status;
}

static NTSTATUS make_region(struct ndk_end *end)
{
    const ULONG flags =
        NDK_MR_FLAG_ALLOW_REMOTE_READ | NDK_MR_FLAG_ALLOW_REMOTE_WRITE | NDK_MR_FLAG_RDMA_READ_SINK;
    void *memory = NULL;
    MDL mdl;

    STEP(end, "memory",
        posix_memalign(&memory, PAGE_SIZE, end->memory_octets) ? STATUS_NO_MEMORY : STATUS_SUCCESS);
    end->memory = memset(memory, 0, end->memory_octets);
    MmInitializeMdl(&mdl, memory, end->memory_octets);
    CREATE(end, "NdkCreateMr", &end->mr,
        end->pd->Dispatch->NdkCreateMr(end->pd, FALSE, ndk_end_created, &end->call, &end->mr));
    REQUEST(end, "NdkRegisterMr",
        end->mr->Dispatch->NdkRegisterMr(
            end->mr, &mdl, end->memory_octets, flags, ndk_end_requested, &end->call));
    end->token = end->mr->Dispatch->NdkGetLocalTokenFromMr(end->mr);
    end->remote_token = end->mr->Dispatch->NdkGetRemoteTokenFromMr(end->mr);
    return STATUS_SUCCESS;
}

NTSTATUS ndk_end_open(struct ndk_end *end, const struct ndk_end_options *options)
{
    const NDK_ADAPTER_DISPATCH *of_adapter;
    const NDK_PD_DISPATCH *of_pd;

    *end = (struct ndk_end){ .memory_octets = options->memory_octets,
        .local_be = options->local_be,
        .peer_be = options->peer_be };
    ndk_end_wait_begin(&end->notified);
    ndk_end_wait_begin(&end->incoming);
    ndk_end_wait_begin(&end->left);
    STEP(end, "NdklOpenAdapter", open_adapter(end));
    of_adapter = end->adapter->Dispatch;
    CREATE(end, "NdkCreatePd", &end->pd,
        of_adapter->NdkCreatePd(end->adapter, ndk_end_created, &end->call, &end->pd));
    of_pd = end->pd->Dispatch;
    CREATE(end, "NdkCreateCq", &end->cq,
        of_adapter->NdkCreateCq(end->adapter, 2 * options->depth, ndk_end_requested, &end->notified,
            NULL, ndk_end_created, &end->call, &end->cq));
    CREATE(end, "NdkCreateQp", &end->qp,
        of_pd->NdkCreateQp(end->pd, end->cq, end->cq, end, options->depth, options->depth, 1, 1,
            options->inline_octets, ndk_end_created, &end->call, &end->qp));
    return make_region(end);
}

NTSTATUS ndk_end_connect(struct ndk_end *end, USHORT port_be)
{
    struct sockaddr_in local = address_of(end->local_be, 0);
    struct sockaddr_in peer = address_of(end->peer_be, port_be);

    CREATE(end, "NdkCreateConnector", &end->connector,
        end->adapter->Dispatch->NdkCreateConnector(
            end->adapter, ndk_end_created, &end->call, &end->connector));
    REQUEST(end, "NdkConnect",
        end->connector->Dispatch->NdkConnect(end->connector, end->qp, (SOCKADDR *)&local,
            sizeof local, (SOCKADDR *)&peer, sizeof peer, NDK_END_READ_LIMIT, NDK_END_READ_LIMIT,
            NULL, 0, ndk_end_requested, &end->call));
    REQUEST(end, "NdkCompleteConnect",
        end->connector->Dispatch->NdkCompleteConnect(
            end->connector, NULL, NULL, ndk_end_requested, &end->call));
    return STATUS_SUCCESS;
}

NTSTATUS ndk_end_listen(struct ndk_end *end, USHORT *port_be)
{
    struct sockaddr_in address = address_of(end->local_be, 0);
    ULONG address_octets = sizeof address;

    CREATE(end, "NdkCreateListener", &end->listener,
        end->adapter->Dispatch->NdkCreateListener(
            end->adapter, incoming, &end->incoming, ndk_end_created, &end->call, &end->listener));
    REQUEST(end, "NdkListen",
        end->listener->Dispatch->NdkListen(
            end->listener, (SOCKADDR *)&address, sizeof address, ndk_end_requested, &end->call));
    STEP(end, "listener NdkGetLocalAddress",
        end->listener->Dispatch->NdkGetLocalAddress(
            end->listener, (SOCKADDR *)&address, &address_octets));
    *port_be = address.sin_port;
    return STATUS_SUCCESS;
}

NTSTATUS ndk_end_request(struct ndk_end *end)
{
    STEP(end, "the request to connect", ndk_end_wait_for(&end->incoming, STATUS_PENDING));
    end->connector = (NDK_CONNECTOR *)end->incoming.object;
    return STATUS_SUCCESS;
}

NTSTATUS ndk_end_accept(struct ndk_end *end)
{
    REQUEST(end, "NdkAccept",
        end->connector->Dispatch->NdkAccept(end->connector, end->qp, NDK_END_READ_LIMIT,
            NDK_END_READ_LIMIT, NULL, 0, ndk_end_closed, &end->left, ndk_end_requested,
            &end->call));
    return STATUS_SUCCESS;
}

static void *request_and_accept(void *argument)
{
    struct ndk_end *end = argument;
    NTSTATUS status = ndk_end_request(end);

    return (void *)(intptr_t)(status == STATUS_SUCCESS ? ndk_end_accept(end) : status);
}

NTSTATUS ndk_end_join(struct ndk_end *active, struct ndk_end *passive)
{
    void *accepted = NULL;
    NTSTATUS status;
    pthread_t thread;
    USHORT port_be;

    if ((status = ndk_end_listen(passive, &port_be)) != STATUS_SUCCESS)
        return status;
    STEP(passive, "pthread_create",
        pthread_create(&thread, NULL, request_and_accept, passive) ? STATUS_INSUFFICIENT_RESOURCES
                                                                   : STATUS_SUCCESS);
    status = ndk_end_connect(active, port_be);
    pthread_join(thread, &accepted);
    return status == STATUS_SUCCESS ? (NTSTATUS)(intptr_t)accepted : status;
}

/* Successors before what they were made of, so that each close waits for nothing but itself. */
static void close_object(struct ndk_end *end, NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_OBJECT close)
{
    ndk_end_wait_begin(&end->call);
    ndk_end_wait_for(&end->call, close(header, ndk_end_closed, &end->call));
}

#define CLOSE(end, object, function)                                                               \
    do {                                                                                           \
        if (object)                                                                                \
            close_object(end, &(object)->Header, (object)->Dispatch->function);                    \
    } while (0)

void ndk_end_close(struct ndk_end *end)
{
    CLOSE(end, end->connector, NdkCloseConnector);
    CLOSE(end, end->listener, NdkCloseListener);
    CLOSE(end, end->qp, NdkCloseQp);
    CLOSE(end, end->cq, NdkCloseCq);
    CLOSE(end, end->mr, NdkCloseMr);
    CLOSE(end, end->pd, NdkClosePd);
    if (end->adapter)
        NdklCloseAdapter(end->adapter);
    free(end->memory);
    *end = (struct ndk_end){ 0 };
}

/* ---- requests ---- */

NTSTATUS ndk_end_send(struct ndk_end *end, void *context, SIZE_T offset, SIZE_T octets, ULONG flags)
{
    NDK_SGE sge = { .VirtualAddress = end->memory + offset,
        .Length = (ULONG)octets,
        .MemoryRegionToken = end->token };

    return end->qp->Dispatch->NdkSend(end->qp, context, &sge, 1, flags);
}

NTSTATUS ndk_end_receive(struct ndk_end *end, void *context, SIZE_T offset, SIZE_T octets)
{
    NDK_SGE sge = { .VirtualAddress = end->memory + offset,
        .Length = (ULONG)octets,
        .MemoryRegionToken = end->token };

    return end->qp->Dispatch->NdkReceive(end->qp, context, &sge, 1);
}

NTSTATUS ndk_end_fast_region(struct ndk_end *end, ULONG pages, NDK_MR **mr)
{
    CREATE(end, "NdkCreateMr", mr,
        end->pd->Dispatch->NdkCreateMr(end->pd, TRUE, ndk_end_created, &end->call, mr));
    REQUEST(end, "NdkInitializeFastRegisterMr",
        (*mr)->Dispatch->NdkInitializeFastRegisterMr(
            *mr, pages, TRUE, ndk_end_requested, &end->call));
    return STATUS_SUCCESS;
}

NTSTATUS ndk_end_map(
    struct ndk_end *end, void *memory, ULONG pages, NDK_LOGICAL_ADDRESS_MAPPING **mapping)
{
    ULONG size = (ULONG)(sizeof(**mapping) + pages * sizeof(NDK_LOGICAL_ADDRESS)), offset;
    NTSTATUS status;
    MDL mdl;

    end->step = "NdkBuildLAM";
    if (!(*mapping = malloc(size)))
        return STATUS_INSUFFICIENT_RESOURCES;
    MmInitializeMdl(&mdl, memory, (SIZE_T)pages * PAGE_SIZE);
    status = end->adapter->Dispatch->NdkBuildLAM(
        end->adapter, &mdl, (SIZE_T)pages * PAGE_SIZE, NULL, NULL, *mapping, &size, &offset);
    if (status != STATUS_SUCCESS)
        free(*mapping);
    return status;
}

unsigned ndk_end_results(
    struct ndk_end *end, NDK_RESULT_EX *results, unsigned count, unsigned timeout_ms)
{
    unsigned have = 0;

    for (;;) {
        have += end->cq->Dispatch->NdkGetCqResultsEx(end->cq, results + have, count - have);
        if (have == count)
            return have;
        end->cq->Dispatch->NdkArmCq(end->cq, NDK_CQ_NOTIFY_ANY);
        if (wait_up_to(&end->notified, timeout_ms) != STATUS_SUCCESS)
            return have;
    }
}
