/* SPDX-License-Identifier: MIT */
/*
 * stream_state.h - what a stream remembers. Embedded in the queue pair; stream/stream.c explains the whole.
 *
 * Members belong to the side that holds its lock: rx to LOCK_SRD_RX, tx to LOCK_SRD_TX. Both meet in the atomics only,
 * in the two rings of reads (one side fills, the other empties), and in srd_stream_fail, which takes both.
 */
#ifndef SOFTRDMA_QUEUES_STREAM_STATE_H
#define SOFTRDMA_QUEUES_STREAM_STATE_H

#include "softrdma/queues/buffer.h"
#include "softrdma/wire/ddp.h"
#include "softrdma/wire/mpa.h"
#include "softrdma/queues/rq.h"
#include "softrdma/wire/terminate.h"

#include <stdatomic.h>
#include <sys/uio.h>

struct srd_stag_entry;
struct srd_sqe;

/*
 * SRD_TX_PIECES: how many pieces the payload of one FPDU has at most: each of its entries may begin and end inside a
 * page of a fast region.
 */
enum {
    SRD_RX_IOV = 8,
    SRD_TX_PIECES = 2 * SRD_MAX_SGE + 65536 / SRD_FAST_PAGE_OCTETS,
    SRD_TX_IOV = 96
};

enum {
    SRD_RNR_MS = 250,         /* a message waits at least so long for a Receive */
    SRD_LINGER_MS = 1000,     /* a disconnect waits so long for what was posted before it */
    SRD_DRAIN_MS = 2000,      /* an ended stream waits so long for the peer's FIN */
    SRD_HOLD_OCTETS = 262144, /* read while a message waits for a Receive; no more is read then */
    SRD_ACK_MESSAGES = 16,    /* so many are acknowledged without waiting for data to ride on */
    SRD_ACK_OCTETS = 262144,  /* so much is acknowledged in the same way */
    SRD_RX_STAGING = 131072,  /* more than one FPDU */
    SRD_TX_STAGING = 32768,
    SRD_TX_FPDUS = 256, /* of one batch, at most */
    SRD_TX_BATCH_OCTETS = 524288,
};

enum srd_stream_phase {
    SRD_STREAM_IDLE, /* before start */
    SRD_STREAM_UP,
    /* The queues are flushed; owed frames, the Terminate and the FIN go out; what arrives is dropped. */
    SRD_STREAM_ENDING,
};

/* A Read Request of the peer's, waiting to be answered or being answered; or an Atomic's answer, waiting. */
struct srd_read_in {
    union {
        struct srd_read_request request; /* as asked */
        struct srd_atomic_response original;
    };
    uint32_t msn;
    uint32_t sent; /* octets of the response built so far */
    bool atomic;   /* executed when it came */
};

/*
 * A Read or Atomic of ours. A Read's private sink STag is good for responses only and only while it is the oldest; of
 * an Atomic it is the request identifier.
 */
struct srd_read_out {
    struct srd_sqe *sqe; /* NULL: the RTR */
    uint32_t count;      /* its place in the send queue */
    uint32_t stag;
    uint32_t octets, received;
    bool atomic;
};

/* Single-producer, single-consumer: head by the one, tail by the other; counts. */
struct srd_read_ring {
    _Atomic uint32_t head, tail;
    uint32_t mask; /* of 2^n places: counts wrap */
};

enum srd_sink { SRD_SINK_NONE, SRD_SINK_WRITE, SRD_SINK_RECEIVE, SRD_SINK_RESPONSE };

struct srd_rx {
    uint8_t *staging;
    uint32_t rd, wr;          /* what is in staging begins and ends here */
    uint32_t crc, crc_octets; /* the sum so far: of the first crc_octets of the FPDU at rd */

    /* the FPDU in progress, when its payload goes to its place piece by piece (CRC off) */
    bool in_payload;
    enum srd_sink sink;
    struct srd_segment segment;
    uint8_t ulpdu[SRD_DDP_UNTAGGED_OCTETS]; /* its header as received, for a Terminate */
    uint32_t ulpdu_octets;
    uint32_t payload, placed; /* octets */
    bool by_staging;          /* its place could not be stored to directly */
    uint32_t skip;            /* pad and CRC still to come */

    /* These hold between rx_space and rx. */
    uint32_t direct; /* octets of the payload offered for direct placement */
    struct srd_stag_entry *pins[SRD_RX_IOV];
    int n_pins;

    /* untagged queues */
    uint32_t send_msn, send_mo, read_msn;
    uint32_t atomic_msn;   /* of Atomic Responses */
    uint32_t write_octets; /* of the Write under way, or the last one */
    bool send_open, write_open, response_open;
    uint8_t send_opcode;
    bool receiving;
    struct srd_receive receive;
    struct srd_stag_entry *seen; /* the region of a Receive's last entry (srd_stag_pin_receive) */

    bool first_seen;       /* the peer's first FPDU was valid */
    uint64_t ack_octets;   /* received since an acknowledgement was last sent */
    uint64_t acknowledged; /* what the peer's last acknowledgement said */

    /* a message waits for a receive */
    bool held, hold_full;
    uint8_t *hold; /* ULPDUs, each behind its length */
    uint32_t hold_rd, hold_wr;
    bool fin_held;  /* the peer's FIN stands behind it */
    bool rnr_ended; /* it waited in vain, which ended a connection that the peer had not closed */
};

struct srd_tx_ref {
    struct srd_stag_entry *entry; /* pinned between tx and tx_done */
    uint64_t shift;               /* the memory's address less where it is; 0 but in fast regions */
    uint32_t key;
    uint32_t request; /* whose memory it is: its count in the send queue */
    uint8_t iov;
    bool remote; /* it is a response's, not a request's */
};

/* SRD_TX_IMMEDIATE: the immediate data of a request whose Write has been built */
enum srd_tx_source { SRD_TX_NONE, SRD_TX_REQUEST, SRD_TX_IMMEDIATE, SRD_TX_RESPONSE };

/* The arrays of a batch, and its staging. They have a buffer of their own, which an idle connection gives back. */
struct srd_tx_batch {
    struct iovec iov[SRD_TX_IOV];
    struct srd_tx_ref refs[SRD_TX_IOV];
    uint32_t fpdu_end[SRD_TX_FPDUS];
    bool fpdu_completes[SRD_TX_FPDUS];
    uint8_t staging[];
};

struct srd_tx {
    struct srd_tx_batch *batch; /* from start on; what follows points into it */
    uint8_t *staging;           /* headers, small payloads, trailers; with CRC all payloads */
    uint32_t staged, room;

    /* the batch: FPDUs built and not wholly sent */
    struct iovec *iov;
    int first, count;
    struct srd_tx_ref *refs;
    int n_refs;
    uint32_t *fpdu_end;       /* octets from the beginning of the batch */
    bool *fpdu_completes;     /* it ends a Send or Write */
    uint32_t n_fpdus, n_gone; /* n_gone: those that TCP has taken whole */
    uint32_t octets, taken;   /* of the batch; taken: those that TCP has */

    /* the message being built */
    enum srd_tx_source source, last_source;
    uint32_t offset; /* in it */
    uint32_t sge, sge_offset;
    struct srd_stag_entry *seen; /* the region that was read last (srd_stag_pin_send) */

    uint32_t send_msn, read_msn, atomic_msn; /* the next to give; atomic_msn: to Atomic Responses */
    bool rtr_due;
    bool blocked;             /* something failed, nothing behind it is sent */
    bool broken_off;          /* FPDUs were taken back: only acknowledgements follow */
    srd_fault response_fault; /* why the source of a Read Request cannot be read */
    bool stop_set;            /* disconnecting: requests from stop on are not sent */
    uint32_t stop;

    uint8_t terminate[SRD_TERMINATE_FPDU_MAX];
    uint32_t terminate_octets; /* 0: there is none, or it has been sent */
    uint8_t *salvage;          /* what is left to send of a cut batch's last FPDU */
    bool ack_last;             /* ending: the final acknowledgement is still to be sent */
};

struct srd_stream {
    _Atomic int phase; /* enum srd_stream_phase; leaves IDLE before, UP under both locks */
    struct srd_stream_params params;
    struct srd_rx rx;
    struct srd_tx tx;

    /* requests may go out: the initiator was released, or the responder has seen the first FPDU */
    atomic_bool open;
    atomic_bool settle;   /* retirement found a failed request, or the last one before stop */
    atomic_bool closing;  /* disconnect was called */
    atomic_bool cut;      /* the memory of a half-sent FPDU went away: close */
    atomic_bool rx_ended; /* the peer's FIN was seen, or its reset */

    _Atomic uint64_t rx_complete; /* messages of the peer's that are complete */
    _Atomic uint64_t acked_sent;  /* the count last put into a batch */
    uint64_t numbered;            /* Sends and Writes of ours wholly built; tx */
    _Atomic uint64_t handed;      /* how many of them TCP has taken */

    /*
     * With a share this end tells the peer its rx_complete in the first, and the peer its own in the second. NULL:
     * acknowledgements are FPDUs. Both locks are held to change them.
     */
    _Atomic uint64_t *tells;
    const _Atomic uint64_t *told;

    struct srd_read_in *reads_in;
    struct srd_read_ring in;
    struct srd_read_out *reads_out;
    struct srd_read_ring out;
    uint32_t stag_seed;
    bool quiet; /* ending, and the queues are not flushed; both locks to change */

    _Atomic uint64_t rnr_deadline_ms, end_deadline_ms; /* UINT64_MAX: none */
    unsigned end_again; /* rx: how often the latter may still begin anew (util/deadline.h) */
};

/* Made with the queue pair, before anything is known of a connection; fini frees what start allocated. */
void srd_stream_init(struct srd_stream *stream);
void srd_stream_fini(struct srd_stream *stream);

#endif
