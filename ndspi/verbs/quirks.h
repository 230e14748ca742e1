/* SPDX-License-Identifier: MIT */
/*
 * quirks.h - how devices deviate from verbs, and which family of devices does so.
 *
 * A quirk has one row: what goes wrong, what is done about it, the test that shows it. A family has one row: how it is
 * recognised, the source of its quirks, and which they are. The core asks for a quirk of an open device (nd_has_quirk),
 * never for its family. docs/devices.md is printed from these rows.
 */
#ifndef NDSPI_VERBS_QUIRKS_H
#define NDSPI_VERBS_QUIRKS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* row(name, what goes wrong, what is done, the tests that show it) */
/* clang-format off */
#define ND_QUIRKS(row) \
    row(NO_WINDOWS, \
        "There are no type 2 memory windows, or the user-space driver cannot bind them.", \
        "Bind registers the window's range, and Invalidate deregisters it before the program gets its completion; " \
        "both hold their place in the send queue by an empty Write, except a Bind with nothing in flight before it. " \
        "Such a window works on every queue pair of its adapter. There are no fast regions.", \
        "ndspi.quirks, conformance.mw") \
    row(WINDOW_BOUNDS, \
        "The key of a window gives access to the whole region.", \
        "Bind registers exactly the window's range and binds a window of its own over that. On every device a fast " \
        "region's window lies over such a registration.", \
        "ndspi.quirks, conformance.mw") \
    row(INVALIDATE_CRASHES, \
        "Linux 6.1 crashes on a local invalidation of a window that the peer has invalidated.", \
        "The library never posts one for a window: Invalidate holds its place in the send queue by an empty Write, " \
        "and destroys the window that its Bind made before the program gets its completion. For a fast region it " \
        "posts one unless a completed Receive says that the peer was first: a peer that invalidates at that very " \
        "moment can crash the kernel.", \
        "ndspi.quirks, conformance.v1_window") \
    row(BIND_REPEATED, \
        "A retry (something was lost, or a message waits for its Receive) also repeats the Binds behind it that are " \
        "done: the queue pair fails or stands still (Linux 6.1, rxe_req.c, req_retry).", \
        "Nothing. A Bind or fast registration is safe while no request before it is outstanding.", \
        "conformance.mw") \
    row(WINDOW_KEY, \
        "A type 2 bind leaves the window's old key in `ibv_mw`; the next bind fails.", \
        "The library stores the new key when it posts the bind, on every device.", \
        "ndspi.memory, conformance.mw") \
    row(INVALIDATED_BIT, \
        "A Receive whose sender invalidated a window carries the kernel's bit in `wc_flags` (4), not " \
        "`IBV_WC_WITH_INV`.", \
        "The library accepts that bit.", \
        "ndspi.quirks, conformance.v1_window") \
    row(INVALIDATED_UNTOLD, \
        "A Receive does not report that its sender invalidated a window.", \
        "Nothing: the peer's access ends, `pInvalidateResult` never comes, and the window is bound until its owner " \
        "invalidates it. The library logs a warning when the program makes such a window. There are no fast regions.", \
        "conformance.v1_window") \
    row(INVALIDATE_FIELD, \
        "Send with invalidate takes the key from `wr.rdma.rkey`.", \
        "The library sets both fields, on every device.", \
        "ndspi.nd1_data") \
    row(LATE_RECEIVES, \
        "The device never flushes a Receive posted in the error state.", \
        "The library does not post it; it ends with ND_CANCELED after all before it.", \
        "ndspi.quirks, conformance.qp") \
    row(LATE_SENDS, \
        "The device never flushes, or refuses, a Send, Read or Write posted in the error state.", \
        "As for Receives. A released queue pair needs no marker: its flush is over when the call returns.", \
        "ndspi.quirks, conformance.disconnect") \
    row(FORGOTTEN, \
        "The device never flushes requests that were posted between its own step to the error state and ours.", \
        "When our step is done, which flushes in the call, all requests that have not completed end with " \
        "ND_CANCELED.", \
        "ndspi.quirks, conformance.disconnect") \
    row(SOLICITED, \
        "Armed for solicited completions only, the device raises no event, or none for errors of the send queue.", \
        "The library arms it for all completions; any Receive then ends a Notify for solicited ones.", \
        "ndspi.quirks, conformance.notify") \
    row(LOCAL_STATUS, \
        "A message longer than its Receive ends the Receive with LOC_QP_OP_ERR; an invalid token does the same to a " \
        "request.", \
        "The library takes it for LOC_LEN_ERR (ND_BUFFER_OVERFLOW) of a Receive, for LOC_PROT_ERR " \
        "(ND_ACCESS_VIOLATION) of a Send, Read, Write or Bind.", \
        "ndspi.quirks, conformance.sendrecv") \
    row(FLUSH_STATUS, \
        "A request that a flush interrupts while it is being sent ends with LOC_QP_OP_ERR.", \
        "If the client moved a working queue pair to the error state, the library takes it for WR_FLUSH_ERR " \
        "(ND_CANCELED).", \
        "ndspi.quirks, ndk.data") \
    row(EMPTY_RECEIVES, \
        "The device refuses a Receive without entries.", \
        "The library posts it with one entry of no bytes.", \
        "ndspi.quirks, conformance.sendrecv") \
    row(EMPTY_ENTRIES, \
        "Linux 6.1 crashes on an empty entry between others of a Send or Write (siw_tx_hdt).", \
        "The library leaves empty entries out, on every device.", \
        "ndspi.quirks, conformance.sendrecv") \
    row(READ_RIGHT, \
        "The device does not check the right to read: a peer can read with any key of the connection's protection " \
        "domain.", \
        "Nothing.", \
        "-") \
    row(READ_FENCE, \
        "The device refuses a Read with a fence, and its queue then blocks.", \
        "The library posts it without: Reads are in order there.", \
        "ndspi.quirks, conformance.rdma") \
    row(OVERTAKES, \
        "A Send or Write behind a Read completes before it.", \
        "The library holds the completion until its turn.", \
        "ndspi.quirks, conformance.rdma") \
    row(UNWAKED, \
        "A post fails though the device has queued its requests: the kernel could not be notified. The post names " \
        "none as refused.", \
        "The library takes it for a success; the flush ends the requests.", \
        "ndspi.quirks, conformance.v1_endpoint") \
    row(NEGATIVE_ERRNO, \
        "A refused post returns a negative errno.", \
        "The library accepts either sign.", \
        "ndspi.quirks") \
    row(NO_MOVE, \
        "A disconnect, ours or the peer's, moves no queue pair, so nothing is flushed; nor does a queue pair's " \
        "error, or flush, notify the peer.", \
        "On both sides the library first moves the queue pair to the error state, then calls the connection manager. " \
        "A failed request, or a Flush, disconnects.", \
        "conformance.disconnect") \
    row(SLOW_DESTROY, \
        "`rdma_destroy_id` may wait for the peer, for minutes.", \
        "A thread of its own destroys ids; connection requests that the program has not fetched are not rejected.", \
        "conformance.lifetime, robustness.killed_peer") \
    row(MOVED_BY_CM, \
        "The kernel's connection manager moves the queue pair; attributes of `rdma_init_qp_attr` must not be " \
        "applied.", \
        "The library does not apply them.", \
        "conformance.connector") \
    row(FLUSHES_AT_END, \
        "The device itself flushes a queue pair whose peer disconnects, whether the program waits in " \
        "NotifyDisconnect or not.", \
        "The library keeps these completions back until it moves the queue pair to the error state. How the peer " \
        "ended is not told: with a NotifyDisconnect pending every end of a connection counts as a disconnect.", \
        "ndspi.quirks, conformance.disconnect") \
    row(TWO_MESSAGES, \
        "The reply establishes the connection: there is no third message.", \
        "Connect ends with the reply, Accept when it is sent; the passive side sees a Reject by the active one as a " \
        "disconnect.", \
        "conformance.connector, conformance.refusal") \
    row(ONE_ATTEMPT, \
        "A queue pair whose connection was refused never connects again.", \
        "The library replaces it by another after the attempt, and posts its Receives again.", \
        "ndspi.quirks, conformance.connector") \
    row(OFFER_EXPIRES, \
        "A request that is not accepted within 10 s expires; the active side gets a timeout.", \
        "Nothing.", \
        "-") \
    row(DEAD_UNTOLD, \
        "The device does not report that the sender of an unanswered request has gone.", \
        "The library checks whenever the program asks for the request's limits or data (`rdma_init_qp_attr` fails " \
        "then).", \
        "conformance.refusal") \
    row(PADDED_DATA, \
        "Private data arrives with the length of its message type (56, 196, 148), padded with zeros.", \
        "A program that needs the length sends it. The library returns at most 148 bytes of a reply.", \
        "ndspi.cm_event, conformance.connector") \
    row(RETRIES_FOR_EVER, \
        "`retry_cnt` 7 means for ever: a lost peer is never noticed.", \
        "The library uses 6, on every device.", \
        "robustness.killed_peer") \
    row(ACCESS_LATE, \
        "Before the reply `rdma_init_qp_attr` returns no access rights; the peer's Write fails.", \
        "The library applies INIT once more after the reply, with all rights; keys decide.", \
        "conformance.rdma") \
    row(DEPTHS_RAISED, \
        "The kernel applies the read depths of the peer's message, even above those that this side asked for.", \
        "The library caps them to what this side asked for, what the peer offered and what the device supports.", \
        "conformance.negotiation") \
    row(REPLY_SWAPPED, \
        "The reply's event has the two read depths swapped.", \
        "The library swaps them back.", \
        "ndspi.cm_event, peers.verbs") \
    row(SERVES_AS_ASKED, \
        "Accept serves as many Reads as the active side asked for, even if the program accepts fewer.", \
        "Nothing: the active side's GetReadLimits returns the number served.", \
        "peers.verbs") \
    row(READ_SINK, \
        "The target of a Read needs remote write access (iWARP).", \
        "ND_MR_FLAG_RDMA_READ_SINK requests it.", \
        "conformance.rdma") \
    row(ACTIVE_FIRST, \
        "Data that the accepting side sends before the other side has read the reply breaks the connection: there is " \
        "no ready-to-receive frame (RFC 5044 section 7.1.2).", \
        "Nothing: the connecting side has to send first (porting.md). Connect ends with ND_IO_TIMEOUT, and the log " \
        "says why.", \
        "ndspi.quirks_windows") \
    row(NO_RECEIVER_WAIT, \
        "A message without a Receive breaks the connection at once, after its Send has completed (plain iWARP over " \
        "TCP).", \
        "Nothing.", \
        "conformance.sendrecv") \
    row(SENT_IS_DONE, \
        "Sends and Writes complete when TCP has taken them: a refusal by the peer shows as a broken connection.", \
        "Nothing.", \
        "conformance.mw, conformance.rdma") \
    row(FEWER_READ_ENTRIES, \
        "A Read takes fewer entries than a Send.", \
        "Version 2 reports it: MaxReadSge is `max_sge_rd`. Version 1 has one limit for all requests: that of Reads.", \
        "ndspi.depths, conformance.adapter, conformance.v1_adapter") \
    row(FIXED_SRQ, \
        "A shared receive queue cannot be made deeper.", \
        "The library tries on every device. It makes such a queue for at least 4096 buffers (as many Receives of one " \
        "entry, half as many of two) where it can, and Modify moves the depth within them; beyond, Modify fails with " \
        "ND_INSUFFICIENT_RESOURCES.", \
        "ndspi.fixed_depth, conformance.srq") \
    row(FIXED_CQ, \
        "A completion queue cannot be resized.", \
        "The library tries on every device. It makes such a queue with at least 4096 entries, 64 of them for itself, " \
        "where it can, and Resize moves the depth within them; beyond, Resize fails with ND_INSUFFICIENT_RESOURCES. " \
        "The adapter sets ND_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED.", \
        "ndspi.fixed_depth, conformance.cq") \
    row(LOST_KEY, \
        "The user-space driver (rdma-core 44) treats the mmap key 0x90000 of a context as invalid: the queue that " \
        "gets it cannot be made, nor any after it. The sizes of the existing queues determine the keys.", \
        "The library keeps a completion queue of 17 pages at that key while the adapter is open.", \
        "conformance.device") \
    row(NO_CONNECTIONS, \
        "There are no reliable connected queue pairs, and no connection manager knows the device.", \
        "The device is no adapter; `ndinfo` says why.", \
        "-")
/* clang-format on */

enum nd_quirk {
#define ND_QUIRK_ENUM_(name, wrong, done, tests) ND_QUIRK_##name,
    ND_QUIRKS(ND_QUIRK_ENUM_)
#undef ND_QUIRK_ENUM_
        ND_QUIRK_COUNT
};

typedef uint64_t nd_quirk_set;
#define ND_QUIRK_BIT(name) ((nd_quirk_set)1 << ND_QUIRK_##name)

/* The words of a quirk's row. */
struct nd_quirk_text {
    const char *name, *wrong, *done, *tests;
};
extern const struct nd_quirk_text nd_quirk_texts[ND_QUIRK_COUNT];

struct nd_family {
    const char *name;
    const char *source; /* the source of the quirks */
    bool run;           /* the test suites have run on it */
    nd_quirk_set quirks;
    const char *remarks;
    /* How a device is recognised: all that is set. */
    bool soft, iwarp, any_vendor;
    uint32_t vendor_id, first_part, last_part; /* parts 0: any */
};
extern const struct nd_family nd_families[];
extern const size_t nd_family_count;

/*
 * nd_family_of - the row of a device. There always is one: the last two rows are "another one" of either transport.
 * soft  in: it is the embedded device
 */
const struct nd_family *nd_family_of(
    const struct ibv_device_attr *attr, enum ibv_transport_type transport, bool soft);

#endif
