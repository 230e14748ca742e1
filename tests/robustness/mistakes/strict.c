/* SPDX-License-Identifier: MIT */
/*
 * strict.c - what the embedded device does not mind and some family of docs/devices.md does: with NDSPI_STRICT=1 it is
 * as particular. Codes are those that the same programs get on these families (docs/devices.md).
 */
#include "tests/robustness/mistakes/mistakes.h"

#include <stdio.h>

enum { OCTETS = 4096, DEEPER = 8192 };

static void read_without_sink(struct nd2_end *end, const struct mistake_offer *offer)
{
    IND2MemoryRegion *region = mistake_region(end, MISTAKE_OCTETS, ND_MR_FLAG_ALLOW_LOCAL_WRITE);

    mistake_read(end, OCTETS, offer->address, offer->token, region->lpVtbl->GetLocalToken(region));
    mistake_result(end);
}

static void read_with_sink(struct nd2_end *end, const struct mistake_offer *offer)
{
    IND2MemoryRegion *region = mistake_region(
        end, MISTAKE_OCTETS, ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_RDMA_READ_SINK);

    mistake_read(end, OCTETS, offer->address, offer->token, region->lpVtbl->GetLocalToken(region));
    mistake_result(end);
}

static void deepen_queues(struct nd2_end *end, const struct mistake_offer *offer)
{
    IND2SharedReceiveQueue *srq;

    (void)offer;
    mistake_say("Resize", end->cq->lpVtbl->Resize(end->cq, DEEPER));
    child_check(
        end->adapter->lpVtbl->CreateSharedReceiveQueue(end->adapter, &IID_IND2SharedReceiveQueue,
            end->file, MISTAKE_DEPTH, 1, 0, 0, 0, (void **)&srq),
        end);
    mistake_say("Modify", srq->lpVtbl->Modify(srq, DEEPER, 0));
}

static void ask_for_entries(struct nd2_end *end, const struct mistake_offer *offer)
{
    ND2_ADAPTER_INFO info = { .InfoVersion = ND_VERSION_2 };
    ULONG octets = sizeof(info);

    (void)offer;
    child_check(end->adapter->lpVtbl->Query(end->adapter, &info, &octets), end);
    printf("MaxReadSge: %u\n", (unsigned)info.MaxReadSge);
}

/* Not solicited, and yet it may end the wait for what is. */
static void send_unsolicited(struct nd2_end *end, const struct mistake_offer *offer)
{
    (void)offer;
    mistake_send(end, end->memory, OCTETS, end->lkey);
    mistake_result(end);
}

static void notify_solicited(struct nd2_end *end)
{
    mistake_receive(end, end->memory, OCTETS, end->lkey);
    mistake_say("Notify", nd2_end_wait(end, end->cq,
                              end->cq->lpVtbl->Notify(end->cq, ND_CQ_NOTIFY_SOLICITED,
                                  nd_end_fresh(&end->overlapped, end->event)),
                              ND_END_WAIT_MS));
    mistake_result(end);
}

static void serve(struct nd2_end *end)
{
    (void)end;
}

#define STRICT "NDSPI_STRICT=1"
#define WARN   "ndspi: warn: soft: queue pair 0x*"

const struct mistake mistakes_strict[] = {
    { .name = "read_sink_usual",
        .words = "a Read into a region without ND_MR_FLAG_RDMA_READ_SINK",
        .passive = serve,
        .active = read_without_sink,
        .active_lines = { "Read: ND_SUCCESS" } },
    { .name = "read_sink_strict",
        .words = "the same, with NDSPI_STRICT=1",
        .setting = STRICT,
        .active = read_without_sink,
        .active_lines = { WARN
            ": its Read of 4096 bytes from token 0x* (rkey 0x*), address 0x* fails: entry 1, 4096 "
            "bytes at 0x*, token 0x*: its region, 65536 bytes at 0x*, allows local write, window "
            "bind; remote write is missing (Terminate 0/0/00)",
            "Read: ND_ACCESS_VIOLATION" },
        .passive_lines = { WARN
            ": the peer ended the connection: RDMAP: local catastrophic error: a request or a "
            "Receive failed there, whose log says why (Terminate 0/0/00)",
            "Receive: ND_CANCELED" } },
    { .name = "read_sink_right",
        .words = "a Read into a region with that flag, with NDSPI_STRICT=1",
        .setting = STRICT,
        .passive = serve,
        .active = read_with_sink,
        .active_lines = { "Read: ND_SUCCESS" } },
    { .name = "deeper_strict",
        .words = "queues made deeper, with NDSPI_STRICT=1",
        .setting = STRICT,
        .passive = serve,
        .active = deepen_queues,
        .active_lines = { "ndspi: warn: cq: adapter softrdma0: a completion queue cannot become "
                          "8192 deep: the device "
                          "cannot make this one deeper than 4032; create it with the greatest "
                          "depth needed",
            "Resize: ND_INSUFFICIENT_RESOURCES",
            "ndspi: warn: qp: adapter softrdma0: a shared receive queue cannot become 8192 deep: "
            "the device cannot "
            "make this one deeper than 4096; create it with the greatest depth needed",
            "Modify: ND_INSUFFICIENT_RESOURCES" } },
    { .name = "entries_strict",
        .words = "entries of a Read, with NDSPI_STRICT=1",
        .setting = STRICT,
        .passive = serve,
        .active = ask_for_entries,
        .active_lines = { "MaxReadSge: 1" } },
    { .name = "solicited_strict",
        .words = "a Notify for solicited Receives, with NDSPI_STRICT=1",
        .setting = STRICT,
        .passive = notify_solicited,
        .active = send_unsolicited,
        .active_lines = { "Send: ND_SUCCESS" },
        .passive_lines = { "Notify: ND_SUCCESS", "Receive: ND_SUCCESS" } },
    { .name = "no_receive_strict",
        .words = "a Send that meets no Receive, with NDSPI_STRICT=1",
        .setting = STRICT,
        .passive = mistake_wait_for_the_end,
        .active = send_unsolicited,
        .active_lines = { WARN
            ": the peer refused the Send of 4096 bytes: no Receive was posted there in time "
            "(Terminate 1/2/02)",
            "Send: ND_IO_TIMEOUT" },
        .passive_lines = { WARN
            " refuses the peer's Send of 4096 bytes: no Receive was posted in time (Terminate "
            "1/2/02)",
            "NotifyDisconnect: ND_SUCCESS" } },
    { 0 },
};
