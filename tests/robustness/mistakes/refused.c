/* SPDX-License-Identifier: MIT */
/* refused.c - what the peer, or the device itself, refuses: token, rights, range, Receives. */
#include "tests/robustness/mistakes/mistakes.h"

enum { OCTETS = 4096, LOCAL_READ = 0 };

/* ---- what the passive end offers ---- */

static void offer_region(struct nd2_end *end, struct mistake_offer *offer, ULONG flags)
{
    IND2MemoryRegion *region = mistake_region(end, MISTAKE_OCTETS, flags);

    offer->token = region->lpVtbl->GetRemoteToken(region);
}

static void offer_read_only(struct nd2_end *end, struct mistake_offer *offer)
{
    offer_region(end, offer, ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ);
}

static void offer_write_only(struct nd2_end *end, struct mistake_offer *offer)
{
    offer_region(end, offer, ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_WRITE);
}

static void offer_deregistered(struct nd2_end *end, struct mistake_offer *offer)
{
    IND2MemoryRegion *region = mistake_region(
        end, MISTAKE_OCTETS, ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_WRITE);

    offer->token = region->lpVtbl->GetRemoteToken(region);
    mistake_deregister(end, region);
    region->lpVtbl->Release(region);
}

static void offer_local_token(struct nd2_end *end, struct mistake_offer *offer)
{
    offer->token = end->lkey;
}

static void offer_no_token(struct nd2_end *end, struct mistake_offer *offer)
{
    (void)end;
    offer->token = ~offer->token; /* of nothing */
}

static void offer_other_adapters(struct nd2_end *end, struct mistake_offer *offer)
{
    static const struct nd2_end_options options = { .depth = MISTAKE_DEPTH,
        .memory_octets = MISTAKE_OCTETS };
    static struct nd2_end other;

    (void)end;
    child_check(nd2_end_open(&other, &options), &other);
    offer->address = (uintptr_t)other.memory;
    offer->token = other.rkey;
}

static void offer_invalidated(struct nd2_end *end, struct mistake_offer *offer)
{
    IND2MemoryWindow *window;

    child_check(end->adapter->lpVtbl->CreateMemoryWindow(
                    end->adapter, &IID_IND2MemoryWindow, (void **)&window),
        end);
    child_check(end->qp->lpVtbl->Bind(end->qp, "Bind", (IUnknown *)end->mr, (IUnknown *)window,
                    end->memory, OCTETS, ND_OP_FLAG_ALLOW_WRITE),
        end);
    mistake_result(end);
    offer->token = window->lpVtbl->GetRemoteToken(window);
    child_check(end->qp->lpVtbl->Invalidate(end->qp, "Invalidate", (IUnknown *)window, 0), end);
    mistake_result(end);
}

/* ---- what the passive end does ---- */

static void receive_little(struct nd2_end *end)
{
    mistake_receive(end, end->memory, 8, end->lkey);
    mistake_result(end);
}

static void receive_into_read_only(struct nd2_end *end)
{
    IND2MemoryRegion *region = mistake_region(end, MISTAKE_OCTETS, ND_MR_FLAG_ALLOW_REMOTE_READ);

    mistake_receive(end, end->memory, OCTETS, region->lpVtbl->GetLocalToken(region));
    mistake_result(end);
}

/* ---- what the active end does ---- */

static void write_block(struct nd2_end *end, const struct mistake_offer *offer)
{
    mistake_write(end, OCTETS, offer->address, offer->token);
    mistake_result(end);
}

static void read_block(struct nd2_end *end, const struct mistake_offer *offer)
{
    mistake_read(end, OCTETS, offer->address, offer->token, end->lkey);
    mistake_result(end);
}

static void write_too_far(struct nd2_end *end, const struct mistake_offer *offer)
{
    mistake_write(end, OCTETS, offer->address + MISTAKE_OCTETS - OCTETS + 1, offer->token);
    mistake_result(end);
}

static void send_block(struct nd2_end *end, const struct mistake_offer *offer)
{
    (void)offer;
    mistake_send(end, end->memory, OCTETS, end->lkey);
    mistake_result(end);
}

static void send_with_remote_token(struct nd2_end *end, const struct mistake_offer *offer)
{
    (void)offer;
    mistake_send(end, end->memory, OCTETS, end->rkey);
    mistake_result(end);
}

static void read_into_read_only(struct nd2_end *end, const struct mistake_offer *offer)
{
    IND2MemoryRegion *region = mistake_region(end, MISTAKE_OCTETS, ND_MR_FLAG_ALLOW_REMOTE_READ);

    mistake_read(end, OCTETS, offer->address, offer->token, region->lpVtbl->GetLocalToken(region));
    mistake_result(end);
}

#define WARN     "ndspi: warn: soft: queue pair 0x*"
#define TOKEN    "token 0x* (rkey 0x*)"
#define AT       TOKEN ", address 0x*"
#define CANCELED "Receive: ND_CANCELED"

const struct mistake mistakes_refused[] = {
    { .name = "write_without_right",
        .words = "a Write to a region without remote write",
        .prepare = offer_read_only,
        .active = write_block,
        .active_lines = { WARN
            ": the peer refused the Write of 4096 bytes to " AT
            ": its region or window does not allow remote writes (Terminate 0/1/02)",
            "Write: ND_ACCESS_VIOLATION" },
        .passive_lines = { WARN
            " refuses the peer's Write of 4096 bytes to " AT
            ": its region, 65536 bytes at 0x*, allows local write, remote read, window bind; "
            "remote write is missing (Terminate 0/1/02)",
            CANCELED } },
    { .name = "read_without_right",
        .words = "a Read from a region without remote read",
        .prepare = offer_write_only,
        .active = read_block,
        .active_lines = { WARN
            ": the peer refused the Read of 4096 bytes from " AT
            ": its region or window does not allow remote reads (Terminate 0/1/02)",
            "Read: ND_ACCESS_VIOLATION" },
        .passive_lines = { WARN " refuses the peer's Read of 4096 bytes from " AT
                                ": its region, 65536 bytes at 0x*, allows local write, remote "
                                "write, window bind; remote read is missing (Terminate 0/1/02)",
            CANCELED } },
    { .name = "deregistered",
        .words = "a Write to a region that was deregistered",
        .prepare = offer_deregistered,
        .active = write_block,
        .active_lines = { WARN ": the peer refused the Write of 4096 bytes to " AT
                               ": the token is that of no registered region and no bound window "
                               "there: wrong, deregistered or invalidated (Terminate 1/1/00)",
            "Write: ND_ACCESS_VIOLATION" },
        .passive_lines = { WARN
            " refuses the peer's Write of 4096 bytes to " AT
            ": no region or window has this token any more: it was deregistered (Terminate 1/1/00)",
            CANCELED } },
    { .name = "wrong_token",
        .words = "a Write to a token that nobody gave out",
        .prepare = offer_no_token,
        .active = write_block,
        .active_lines = { WARN ": the peer refused the Write of 4096 bytes to " AT
                               ": the token is that of no registered region and no bound window "
                               "there: wrong, deregistered or invalidated (Terminate 1/1/00)",
            "Write: ND_ACCESS_VIOLATION" },
        .passive_lines = { WARN " refuses the peer's Write of 4096 bytes to " AT
                                ": no region or window has this token (Terminate 1/1/00)",
            CANCELED } },
    { .name = "local_token",
        .words = "a Write to the local token of the peer's region",
        .prepare = offer_local_token,
        .active = write_block,
        .active_lines = { WARN
            ": the peer refused the Write of 4096 bytes to " AT
            ": the token is that of no registered region and no bound window there: wrong, "
            "deregistered or invalidated (Terminate 1/1/00)",
            "Write: ND_ACCESS_VIOLATION" },
        .passive_lines = { WARN
            " refuses the peer's Write of 4096 bytes to " AT
            ": the token is a local one, where the remote one is needed (Terminate 1/1/00)",
            CANCELED } },
    { .name = "out_of_bounds",
        .words = "a Write that ends behind the region",
        .active = write_too_far,
        .active_lines = { WARN
            ": the peer refused the Write of 4096 bytes to " AT
            ": the range is not inside of the region or window (Terminate 1/1/01)",
            "Write: ND_ACCESS_VIOLATION" },
        .passive_lines = { WARN " refuses the peer's Write of 4096 bytes to " AT
                                ": its region has 65536 bytes at 0x*, the range ends 1 bytes "
                                "behind its end (Terminate 1/1/01)",
            CANCELED } },
    { .name = "other_adapter",
        .words = "a Write to the token of another adapter's region",
        .prepare = offer_other_adapters,
        .active = write_block,
        .active_lines = { WARN ": the peer refused the Write of 4096 bytes to " AT
                               ": the token belongs to another protection domain, or to a window "
                               "of another queue pair (Terminate 1/1/02)",
            "Write: ND_ACCESS_VIOLATION" },
        .passive_lines = { WARN
            " refuses the peer's Write of 4096 bytes to " AT
            ": its region belongs to another protection domain (Terminate 1/1/02)",
            CANCELED } },
    { .name = "invalidated_window",
        .words = "a Write through a window that was invalidated",
        .prepare = offer_invalidated,
        .active = write_block,
        .active_lines = { WARN ": the peer refused the Write of 4096 bytes to " AT
                               ": the token is that of no registered region and no bound window "
                               "there: wrong, deregistered or invalidated (Terminate 1/1/00)",
            "Write: ND_ACCESS_VIOLATION" },
        .passive_lines = { "Bind: ND_SUCCESS", "Invalidate: ND_SUCCESS",
            WARN " refuses the peer's Write of 4096 bytes to " AT
                 ": its window is not bound any more: it was invalidated (Terminate 1/1/00)",
            CANCELED } },
    { .name = "no_receive",
        .words = "a Send that meets no Receive",
        .passive = mistake_wait_for_the_end,
        .active = send_block,
        .active_lines = { WARN ": the peer refused the Send of 4096 bytes: no Receive was posted "
                               "there in time (Terminate 1/2/02)",
            "Send: ND_IO_TIMEOUT" },
        .passive_lines = { WARN " refuses the peer's Send of 4096 bytes: no Receive was posted in "
                                "time (Terminate 1/2/02)",
            "NotifyDisconnect: ND_SUCCESS" } },
    { .name = "short_receive",
        .words = "a Send that is longer than its Receive",
        .passive = receive_little,
        .active = send_block,
        .active_lines = { WARN ": the peer refused the Send of 4096 bytes: the message is longer "
                               "than its Receive (Terminate 1/2/05)",
            "Send: 0xC000003E" },
        .passive_lines = { WARN
            " refuses the peer's Send of 4096 bytes: its Receive has room for 8 (Terminate 1/2/05)",
            "Receive: ND_BUFFER_OVERFLOW" } },
    { .name = "receive_without_right",
        .words = "a Receive into a region without local write",
        .passive = receive_into_read_only,
        .active = send_block,
        .active_lines = { WARN ": the peer refused the Send of 4096 bytes: a request or a Receive "
                               "failed there, whose log says why (Terminate 0/0/00)",
            "Send: 0xC000003E" },
        .passive_lines = { WARN ": a Receive cannot take the peer's Send: entry 1, 4096 bytes at "
                                "0x*, token 0x*: its region, 65536 bytes at 0x*, allows remote "
                                "read, window bind; local write is missing (Terminate 0/0/00)",
            "Receive: ND_ACCESS_VIOLATION" } },
    { .name = "read_sink_without_right",
        .words = "a Read into a region without local write",
        .active = read_into_read_only,
        .active_lines = { WARN
            ": its Read of 4096 bytes from " AT
            " fails: entry 1, 4096 bytes at 0x*, token 0x*: its region, 65536 bytes at 0x*, allows "
            "remote read, window bind; local write is missing (Terminate 0/0/00)",
            "Read: ND_ACCESS_VIOLATION" },
        .passive_lines = { WARN
            ": the peer ended the connection: RDMAP: local catastrophic error: a request or a "
            "Receive failed there, whose log says why (Terminate 0/0/00)",
            CANCELED } },
    { .name = "remote_token_in_entry",
        .words = "a Send from an entry with the remote token",
        .active = send_with_remote_token,
        .active_lines = { WARN
            ": its Send of 4096 bytes fails: entry 1, 4096 bytes at 0x*, token 0x*: the token is a "
            "remote one, where the local one is needed (Terminate 0/0/00)",
            "Send: ND_ACCESS_VIOLATION" },
        .passive_lines = { WARN
            ": the peer ended the connection: RDMAP: local catastrophic error: a request or a "
            "Receive failed there, whose log says why (Terminate 0/0/00)",
            CANCELED } },
    { 0 },
};
