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
        "Bind registers the window's range, Invalidate takes that back before its completion is seen; both keep " \
        "their place in the send queue by a Write of nothing, but for a Bind with nothing in flight before it. Such " \
        "a window serves every queue pair of its adapter. There are no fast regions.", \
        "ndspi.quirks, conformance.mw") \
    row(WINDOW_BOUNDS, \
        "The key of a window reaches the whole region.", \
        "Bind registers exactly the window's range and binds a window of its own over it. A fast region's window " \
        "lies over such a registration on every device.", \
        "ndspi.quirks, conformance.mw") \
    row(INVALIDATE_CRASHES, \
        "Linux 6.1 crashes over a local invalidation of a window that the peer has invalidated.", \
        "None is ever posted: Invalidate holds its place in the send queue by a Write of nothing, and destroys the " \
        "window that its Bind made before its completion is seen. For a fast region one is posted, once no Receive " \
        "that has completed says that the peer was first: a peer that invalidates at that very moment can crash it.", \
        "ndspi.quirks, conformance.v1_window") \
    row(WINDOW_KEY, \
        "A type 2 bind leaves the window's old key in `ibv_mw`; the next bind fails.", \
        "The new key is stored when the bind is posted, on every device.", \
        "ndspi.memory, conformance.mw") \
    row(INVALIDATED_BIT, \
        "A Receive whose sender invalidated a window carries the kernel's bit in `wc_flags` (4), not " \
        "`IBV_WC_WITH_INV`.", \
        "That bit counts.", \
        "ndspi.quirks, conformance.v1_window") \
    row(INVALIDATED_UNTOLD, \
        "A Receive does not tell that its sender invalidated a window.", \
        "Nothing can be: the peer's access ends, `pInvalidateResult` never comes, and the window is bound until its " \
        "owner invalidates it. A warning says so when such a window is made. There are no fast regions.", \
        "conformance.v1_window") \
    row(INVALIDATE_FIELD, \
        "Send with invalidate takes the key from `wr.rdma.rkey`.", \
        "Both fields are set, on every device.", \
        "ndspi.nd1_data") \
    row(LATE_RECEIVES, \
        "A Receive posted in the error state is never flushed.", \
        "It is not given to the device; it ends with ND_CANCELED when all before it have.", \
        "ndspi.quirks, conformance.qp") \
    row(LATE_SENDS, \
        "A Send, Read or Write posted in the error state is never flushed, or refused.", \
        "As for Receives. A released queue pair needs no marker: its flush is over when the call returns.", \
        "ndspi.quirks, conformance.disconnect") \
    row(FORGOTTEN, \
        "What was posted between the device's own step to the error state and ours is never flushed.", \
        "When our step is done, which flushes in the call, all that has not completed ends with ND_CANCELED.", \
        "ndspi.quirks, conformance.disconnect") \
    row(SOLICITED, \
        "Asked for solicited completions alone, the device raises no event, or none for errors of the send queue.", \
        "It is asked for all; of Receives every one wakes a Notify for solicited ones.", \
        "ndspi.quirks, conformance.notify") \
    row(LOCAL_STATUS, \
        "A message longer than its Receive ends that with LOC_QP_OP_ERR, and so does a token that is none a request.", \
        "Of a Receive this counts as LOC_LEN_ERR (ND_BUFFER_OVERFLOW), of a Send, Read, Write or Bind as " \
        "LOC_PROT_ERR (ND_ACCESS_VIOLATION).", \
        "ndspi.quirks, conformance.sendrecv") \
    row(FLUSH_STATUS, \
        "What a flush cuts off while it is being sent ends with LOC_QP_OP_ERR.", \
        "Where the client has asked for the error state of a queue pair that was well, this counts as WR_FLUSH_ERR " \
        "(ND_CANCELED).", \
        "ndspi.quirks, ndk.data") \
    row(EMPTY_RECEIVES, \
        "A Receive of no entries is refused.", \
        "It gets one of no bytes.", \
        "ndspi.quirks, conformance.sendrecv") \
    row(EMPTY_ENTRIES, \
        "Linux 6.1 crashes over an empty entry between others of a Send or Write (siw_tx_hdt).", \
        "Empty entries are left out, on every device.", \
        "ndspi.quirks, conformance.sendrecv") \
    row(READ_RIGHT, \
        "The right to read is never looked at: any key of the connection's protection domain can be read with.", \
        "Nothing can be.", \
        "-") \
    row(READ_FENCE, \
        "A Read with a fence is refused, and blocks its queue.", \
        "It is posted without: Reads are in order there.", \
        "ndspi.quirks, conformance.rdma") \
    row(OVERTAKES, \
        "A Send or Write behind a Read ends before it.", \
        "What has ended is kept until it is its turn.", \
        "ndspi.quirks, conformance.rdma") \
    row(UNWAKED, \
        "A post fails though its requests were taken: the device could not be told of them. It names none as " \
        "refused.", \
        "It counts as a success; the flush ends them.", \
        "ndspi.quirks, conformance.v1_endpoint") \
    row(NEGATIVE_ERRNO, \
        "A refused post returns a negative errno.", \
        "Either sign is understood.", \
        "ndspi.quirks") \
    row(NO_MOVE, \
        "A disconnect, ours or the peer's, moves no queue pair: nothing is flushed. Nor does a queue pair's error, " \
        "or flush, tell the peer.", \
        "The queue pair goes to the error state first, on both sides; the connection manager is told after it. A " \
        "failed request, or a Flush, disconnects.", \
        "conformance.disconnect") \
    row(SLOW_DESTROY, \
        "`rdma_destroy_id` may wait for the peer, for minutes.", \
        "Ids are destroyed by a thread of their own; what was not received is not rejected.", \
        "conformance.lifetime, robustness.killed_peer") \
    row(MOVED_BY_CM, \
        "The kernel's connection manager moves the queue pair; what `rdma_init_qp_attr` says must not be applied.", \
        "It is not.", \
        "conformance.connector") \
    row(TWO_MESSAGES, \
        "The reply is the establishment: there is no third message.", \
        "Connect ends with it, Accept with its sending; a Reject by the active side is a disconnect to the passive " \
        "one.", \
        "conformance.connector, conformance.refusal") \
    row(ONE_ATTEMPT, \
        "A queue pair whose connection was refused never connects again.", \
        "It is replaced by another after the attempt, and the Receives that were posted are posted again.", \
        "ndspi.quirks, conformance.connector") \
    row(OFFER_EXPIRES, \
        "A request that is not accepted within 10 s dies; the active side hears of a timeout.", \
        "Nothing can be.", \
        "-") \
    row(DEAD_UNTOLD, \
        "Nobody tells that the sender of a request that is not answered yet has gone.", \
        "It is asked for whenever the program asks for the request's limits or data (`rdma_init_qp_attr` fails " \
        "then).", \
        "conformance.refusal") \
    row(PADDED_DATA, \
        "Private data arrives with the length of its message type (56, 196, 148), filled with zero.", \
        "A program that needs the length sends it. No more than 148 bytes of a reply are handed on.", \
        "ndspi.cm_event, conformance.connector") \
    row(RETRIES_FOR_EVER, \
        "`retry_cnt` 7 means for ever: a lost peer is never noticed.", \
        "It is 6, on every device.", \
        "robustness.killed_peer") \
    row(ACCESS_LATE, \
        "Before the reply `rdma_init_qp_attr` knows no access rights; the peer's Write fails.", \
        "INIT is applied once more after the reply, with all rights; keys decide.", \
        "conformance.rdma") \
    row(DEPTHS_RAISED, \
        "The read depths applied are those of the peer's message, even above what was asked for.", \
        "They are capped by hand: what was asked for, what was offered and what the device can.", \
        "conformance.negotiation") \
    row(REPLY_SWAPPED, \
        "The reply's event has the two read depths the wrong way round.", \
        "They are turned.", \
        "ndspi.cm_event, peers.verbs") \
    row(SERVES_AS_ASKED, \
        "Accept serves as many Reads as the active side asked for, whatever fewer the program accepts.", \
        "Nothing can be: the active side's GetReadLimits tells what is served.", \
        "peers.verbs") \
    row(READ_SINK, \
        "The target of a Read needs remote write access (iWARP).", \
        "ND_MR_FLAG_RDMA_READ_SINK asks for that.", \
        "conformance.rdma") \
    row(ACTIVE_FIRST, \
        "What the accepting side sends before the other has read its reply breaks the connection: there is no " \
        "ready-to-receive frame (RFC 5044 section 7.1.2).", \
        "Nothing can be: the connecting side sends first (porting.md). Connect ends with ND_IO_TIMEOUT, and the log " \
        "says why.", \
        "ndspi.quirks_windows") \
    row(NO_RECEIVER_WAIT, \
        "A message without a Receive breaks the connection at once; its Send has completed (iWARP over TCP without " \
        "more).", \
        "Nothing can be.", \
        "conformance.sendrecv") \
    row(SENT_IS_DONE, \
        "Sends and Writes complete when TCP has taken them: what the peer thinks of them shows as a broken " \
        "connection.", \
        "Nothing can be.", \
        "conformance.mw, conformance.rdma") \
    row(FEWER_READ_ENTRIES, \
        "A Read takes fewer entries than a Send.", \
        "Version 2 tells so: MaxReadSge is `max_sge_rd`. Version 1 has one limit for all requests: that of Reads.", \
        "ndspi.depths, conformance.adapter, conformance.v1_adapter") \
    row(FIXED_SRQ, \
        "A shared receive queue cannot be made deeper.", \
        "Tried on every device. Such a queue is made for 4096 buffers at least (as many Receives of one entry, half " \
        "as many of two), where they can be had, and Modify moves the depth within them; beyond, it is " \
        "ND_INSUFFICIENT_RESOURCES.", \
        "ndspi.fixed_depth, conformance.srq") \
    row(FIXED_CQ, \
        "A completion queue cannot be resized.", \
        "Tried on every device. Such a queue is made with 4096 entries at least, 64 of them the library's own, " \
        "where they can be had, and Resize moves the depth within them; beyond, it is ND_INSUFFICIENT_RESOURCES. " \
        "The adapter sets ND_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED.", \
        "ndspi.fixed_depth, conformance.cq") \
    row(LOST_KEY, \
        "The user-space driver (rdma-core 44) takes the key 0x90000 of a context's mappings for none: the queue " \
        "that gets it cannot be made, nor any after it. Keys follow from the sizes of the queues that there are.", \
        "A completion queue of 17 pages lies over it while the adapter is open.", \
        "conformance.device") \
    row(NO_CONNECTIONS, \
        "There are no reliable connected queue pairs, and no connection manager knows the device.", \
        "It is no adapter; `ndinfo` says why.", \
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
