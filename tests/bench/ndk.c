/* SPDX-License-Identifier: MIT */
/*
 * ndk.c - fast registration through NDKPI, and reads of 1 MiB as SMB Direct makes them: the client registers memory and
 * sends its token, the server writes there and answers with a message that takes the registration back. What that adds
 * shows beside the same Writes alone.
 */
#include "tests/bench/ndk.h"

#include "tests/bench/process.h"

#include "util/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void ndk_must(NTSTATUS status, const char *what)
{
    if (status != STATUS_SUCCESS)
        bench_die("%s: 0x%08x", what, (unsigned)status);
}

NDK_MR *ndk_fast_region(struct ndk_end *end, ULONG pages)
{
    NDK_MR *mr;

    ndk_must(ndk_end_fast_region(end, pages, &mr), "a fast region");
    return mr;
}

const NDK_LOGICAL_ADDRESS *ndk_pages(struct ndk_end *end, void *memory, ULONG pages)
{
    NDK_LOGICAL_ADDRESS_MAPPING *lam;

    ndk_must(ndk_end_map(end, memory, pages, &lam), "NdkBuildLAM");
    return lam->AdapterPageArray;
}

NDK_RESULT_EX ndk_next(struct ndk_end *end)
{
    NDK_RESULT_EX result;

    while (end->cq->Dispatch->NdkGetCqResultsEx(end->cq, &result, 1) == 0)
        ;
    if (result.Status != STATUS_SUCCESS)
        bench_die("a request of type 0x%x failed with 0x%08x", (unsigned)result.Type,
            (unsigned)result.Status);
    return result;
}

/* ---- registrations ---- */

enum { REGISTER_MOST = 256, BASE = 0x70000000 };

static void register_turn(
    struct ndk_end *end, NDK_MR *mr, const NDK_LOGICAL_ADDRESS *pages, ULONG count)
{
    const ULONG flags =
        NDK_OP_FLAG_ALLOW_REMOTE_READ | NDK_OP_FLAG_ALLOW_REMOTE_WRITE | NDK_OP_FLAG_SILENT_SUCCESS;

    ndk_must(end->qp->Dispatch->NdkFastRegister(end->qp, NULL, mr, count, pages, 0,
                 (SIZE_T)count * PAGE_SIZE, (PVOID)(ULONG_PTR)BASE, flags),
        "NdkFastRegister");
    ndk_must(end->qp->Dispatch->NdkInvalidate(end->qp, NULL, &mr->Header, 0), "NdkInvalidate");
    ndk_next(end);
}

uint64_t ndk_register_process(const void *argument)
{
    struct ndk_end_options options = { .depth = 16,
        .memory_octets = (SIZE_T)2 * REGISTER_MOST * PAGE_SIZE };
    NDK_LOGICAL_ADDRESS scattered[REGISTER_MOST];
    const NDK_LOGICAL_ADDRESS *pages;
    ULONG count = *(const uint32_t *)argument;
    struct ndk_end passive, active;
    uint64_t start_ns = 0;
    NDK_MR *mr;

    setenv("NDSPI_DEVICE", "soft", 1);
    ndk_must(ndk_end_open(&passive, &options), "opening");
    ndk_must(ndk_end_open(&active, &options), "opening");
    ndk_must(ndk_end_join(&active, &passive), "connecting");
    mr = ndk_fast_region(&active, count);
    pages = ndk_pages(&active, active.memory, 2 * count);
    for (ULONG i = 0; i < count; i++)
        scattered[i] = pages[2 * ((i * 5 + 1) % count)];
    for (unsigned i = 0; i < NDK_REGISTER_COUNT + NDK_REGISTER_COUNT / 10; i++) {
        if (i == NDK_REGISTER_COUNT / 10)
            start_ns = clock_now_ns();
        register_turn(&active, mr, scattered, count);
    }
    return clock_now_ns() - start_ns;
}

/* ---- transfers ---- */

enum {
    TRANSFER_PAGES = 256,
    TRANSFER_OCTETS = TRANSFER_PAGES * 4096,
    OUTSTANDING = 8,
    WARMUP = 64,
    MESSAGE_OCTETS = 64, /* behind the data, one for each that is outstanding */
    MESSAGES = OUTSTANDING * TRANSFER_OCTETS,
    MEMORY = MESSAGES + 4096,
};

/* What the client asks with, as a SMB2 READ's channel descriptor. */
struct request {
    uint64_t address;
    uint32_t token, slot;
};

struct transfer {
    NDK_MR *mr;
    const NDK_LOGICAL_ADDRESS *pages;
    UINT32 token;
};

static const struct ndk_end_options transfer_options = { .depth = 64, .memory_octets = MEMORY };

static SIZE_T message_at(uintptr_t slot)
{
    return MESSAGES + slot * MESSAGE_OCTETS;
}

/* Asks for the memory of a slot to be filled; with a Receive for the answer. */
static void ask(struct ndk_end *end, const struct ndk_transfers *transfers,
    struct transfer *transfer, uintptr_t slot)
{
    SIZE_T memory = slot * TRANSFER_OCTETS;
    struct request request = { .address = (uintptr_t)end->memory + memory,
        .token = end->remote_token,
        .slot = (uint32_t)slot };
    const ULONG rights = NDK_OP_FLAG_ALLOW_REMOTE_WRITE | NDK_OP_FLAG_SILENT_SUCCESS;

    ndk_must(ndk_end_receive(end, (void *)slot, message_at(slot), sizeof(request)), "NdkReceive");
    if (transfers->registers) {
        ndk_must(end->qp->Dispatch->NdkFastRegister(end->qp, NULL, transfer->mr, TRANSFER_PAGES,
                     transfer->pages, 0, TRANSFER_OCTETS, end->memory + memory, rights),
            "NdkFastRegister");
        request.token = transfer->token;
    }
    memcpy(end->memory + message_at(slot) + sizeof(request), &request, sizeof(request));
    ndk_must(ndk_end_send(end, NULL, message_at(slot) + sizeof(request), sizeof(request),
                 NDK_OP_FLAG_SILENT_SUCCESS),
        "NdkSend");
}

/* Each answer tells that a slot is full. */
static uint64_t take_answers(
    struct ndk_end *end, const struct ndk_transfers *transfers, struct transfer *slots)
{
    unsigned total = WARMUP + transfers->count;
    uint64_t start_ns = 0;

    for (unsigned i = 0; i < total; i++) {
        uintptr_t slot = (uintptr_t)ndk_next(end).RequestContext;

        if (i + 1 == WARMUP)
            start_ns = clock_now_ns();
        if (i + OUTSTANDING < total)
            ask(end, transfers, &slots[slot], slot);
    }
    return clock_now_ns() - start_ns;
}

/* One message comes after the first Writes, and one after all. */
static uint64_t take_marks(struct ndk_end *end)
{
    uint64_t start_ns;

    ndk_next(end);
    start_ns = clock_now_ns();
    ndk_next(end);
    return clock_now_ns() - start_ns;
}

uint64_t ndk_client_process(const void *argument)
{
    const struct ndk_transfers *transfers = argument;
    struct transfer slots[OUTSTANDING];
    struct ndk_end end;
    USHORT port_be;

    setenv("NDSPI_DEVICE", "soft", 1);
    ndk_must(ndk_end_open(&end, &transfer_options), "opening");
    for (unsigned i = 0; i < OUTSTANDING; i++) {
        slots[i].mr = ndk_fast_region(&end, TRANSFER_PAGES);
        slots[i].token = slots[i].mr->Dispatch->NdkGetRemoteTokenFromMr(slots[i].mr);
        slots[i].pages = ndk_pages(&end, end.memory + (SIZE_T)i * TRANSFER_OCTETS, TRANSFER_PAGES);
    }
    if (read(transfers->port[0], &port_be, sizeof port_be) != sizeof port_be)
        bench_die("the server ended");
    ndk_must(ndk_end_connect(&end, port_be), "connecting");
    for (unsigned i = 0; i < OUTSTANDING; i++)
        ask(&end, transfers, &slots[i], i);
    return transfers->registers ? take_answers(&end, transfers, slots) : take_marks(&end);
}

/* ---- the server ---- */

static void write_slot(struct ndk_end *end, const struct request *request, ULONG flags)
{
    NDK_SGE data = { .VirtualAddress = end->memory + (SIZE_T)request->slot * TRANSFER_OCTETS,
        .Length = TRANSFER_OCTETS,
        .MemoryRegionToken = end->token };

    ndk_must(end->qp->Dispatch->NdkWrite(
                 end->qp, NULL, &data, 1, request->address, request->token, flags),
        "NdkWrite");
}

static struct request next_request(struct ndk_end *end, uintptr_t *slot)
{
    struct request request;

    *slot = (uintptr_t)ndk_next(end).RequestContext;
    memcpy(&request, end->memory + message_at(*slot), sizeof(request));
    return request;
}

static void answer_requests(struct ndk_end *end, unsigned total)
{
    const ULONG silent = NDK_OP_FLAG_SILENT_SUCCESS;
    NDK_SGE text = { .VirtualAddress = end->memory, .Length = 16, .MemoryRegionToken = end->token };

    for (unsigned i = 0; i < total; i++) {
        uintptr_t slot;
        struct request request = next_request(end, &slot);

        ndk_must(
            ndk_end_receive(end, (void *)slot, message_at(slot), sizeof(request)), "NdkReceive");
        write_slot(end, &request, silent);
        ndk_must(
            end->qp->Dispatch->NdkSendAndInvalidate(end->qp, NULL, &text, 1, silent, request.token),
            "NdkSendAndInvalidate");
    }
}

/* A Send behind the Writes. */
static void mark(struct ndk_end *end)
{
    ndk_must(ndk_end_send(end, NULL, 0, 16, NDK_OP_FLAG_SILENT_SUCCESS), "NdkSend");
}

static void stream_writes(struct ndk_end *end, unsigned total)
{
    struct request requests[OUTSTANDING];

    for (unsigned i = 0; i < OUTSTANDING; i++) {
        uintptr_t slot;

        requests[i] = next_request(end, &slot);
        ndk_must(
            ndk_end_receive(end, (void *)slot, message_at(slot), MESSAGE_OCTETS), "NdkReceive");
    }
    for (unsigned i = 0; i < total; i++) {
        if (i >= OUTSTANDING)
            ndk_next(end);
        if (i == WARMUP)
            mark(end);
        write_slot(end, &requests[i % OUTSTANDING], 0);
    }
    mark(end);
}

uint64_t ndk_server_process(const void *argument)
{
    const struct ndk_transfers *transfers = argument;
    unsigned total = WARMUP + transfers->count;
    struct ndk_end end;
    NDK_RESULT result;
    USHORT port_be;

    setenv("NDSPI_DEVICE", "soft", 1);
    ndk_must(ndk_end_open(&end, &transfer_options), "opening");
    for (uintptr_t i = 0; i < OUTSTANDING; i++)
        ndk_must(ndk_end_receive(&end, (void *)i, message_at(i), MESSAGE_OCTETS), "NdkReceive");
    ndk_must(ndk_end_listen(&end, &port_be), "NdkListen");
    if (write(transfers->port[1], &port_be, sizeof port_be) != sizeof port_be)
        bench_die("the client ended");
    ndk_must(ndk_end_request(&end), "the request to connect");
    ndk_must(ndk_end_accept(&end), "NdkAccept");
    if (transfers->registers)
        answer_requests(&end, total);
    else
        stream_writes(&end, total);
    while (!KeReadStateEvent(&end.left.event)) /* until the client has left */
        end.cq->Dispatch->NdkGetCqResults(end.cq, &result, 1);
    return 1;
}
