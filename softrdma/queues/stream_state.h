/* SPDX-License-Identifier: MIT */
/*
 * stream_state.h - the state of a stream, embedded in the queue pair; stream/stream.c explains the whole.
 *
 * Members belong to the side that holds its lock: rx to LOCK_SRD_RX, tx to LOCK_SRD_TX. Both sides use the atomics, the
 * two rings of reads (one side fills, the other empties), and, in srd_stream_fail, which takes both locks, everything.
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
 * SRD_TX_PIECES: the most pieces that the payload of one FPDU has: each of its entries may begin and end inside a page
 * of a fast region.
 */
enum {
    SRD_RX_IOV = 8,
    SRD_TX_PIECES = 2 * SRD_MAX_SGE + 65536 / SRD_FAST_PAGE_OCTETS,
    SRD_TX_IOV = 96
};

enum {
    SRD_RNR_MS = 250,         /* the least time that a message waits for a Receive */
    SRD_LINGER_MS = 1000,     /* the time that a disconnect waits for requests posted before it */
    SRD_DRAIN_MS = 2000,      /* the time that an ended stream waits for the peer's FIN */
    SRD_HOLD_OCTETS = 262144, /* the most octets that are read while a message waits */
    SRD_ACK_MESSAGES = 16, /* the messages after which an acknowledgement does not wait for data */
    SRD_ACK_OCTETS = 262144, /* the octets after which it does not wait either */
    SRD_RX_STAGING = 131072, /* more than one FPDU */
    SRD_TX_STAGING = 32768,
    SRD_TX_FPDUS = 256, /* the most FPDUs of one batch */
    SRD_TX_BATCH_OCTETS = 524288,
};

enum srd_stream_phase {
    SRD_STREAM_IDLE, /* srd_stream_start was not called yet */
    SRD_STREAM_UP,
    /* The queues are flushed; owed frames, the Terminate and the FIN go out; octets that arrive are dropped. */
    SRD_STREAM_ENDING,
};

/* A Read Request of the peer's that waits for its response or is being answered; or an Atomic's answer that waits. */
struct srd_read_in {
    union {
        struct srd_read_request request; /* the peer's */
        struct srd_atomic_response original;
    };
    uint32_t msn;
    uint32_t sent; /* octets of the response built so far */
    bool atomic;   /* an Atomic, which was executed when it came */
};

/*
 * A Read or Atomic of ours. stag is a Read's private sink STag, which is valid for responses only, and only while the
 * Read is the oldest; or an Atomic's request identifier.
 */
struct srd_read_out {
    struct srd_sqe *sqe; /* NULL: the RTR */
    uint32_t count;      /* its place in the send queue */
    uint32_t stag;
    uint32_t octets, received;
    bool atomic;
};

/* A ring with one producer, which moves head, and one consumer, which moves tail; both are counts. */
struct srd_read_ring {
    _Atomic uint32_t head, tail;
    uint32_t mask; /* the ring has mask + 1 places, 2^n, since counts wrap */
};

enum srd_sink { SRD_SINK_NONE, SRD_SINK_WRITE, SRD_SINK_RECEIVE, SRD_SINK_RESPONSE };

struct srd_rx {
    uint8_t *staging;
    uint32_t rd, wr;          /* begin and end of the received octets in staging */
    uint32_t crc, crc_octets; /* the CRC so far, over the first crc_octets of the FPDU at rd */

    /* the FPDU in progress, when its payload is placed piece by piece (CRC off) */
    bool in_payload;
    enum srd_sink sink;
    struct srd_segment segment;
    uint8_t ulpdu[SRD_DDP_UNTAGGED_OCTETS]; /* its header as received, for a Terminate */
    uint32_t ulpdu_octets;
    uint32_t payload, placed; /* octets */
    bool by_staging;          /* the kernel could not store to its place, so staging is used */
    uint32_t skip;            /* pad and CRC still to come */

    /* These are valid between rx_space and rx. */
    uint32_t direct; /* octets of the payload that rx_space offered for direct placement */
    struct srd_stag_entry *pins[SRD_RX_IOV];
    int n_pins;

    /* untagged queues */
    uint32_t send_msn, send_mo, read_msn;
    uint32_t atomic_msn;   /* MSN of the next Atomic Response */
    uint32_t write_octets; /* length so far of the Write under way, or of the last one */
    bool send_open, write_open, response_open;
    uint8_t send_opcode;
    bool receiving;
    struct srd_receive receive;
    struct srd_stag_entry *seen; /* the region of a Receive's last entry (srd_stag_pin_receive) */

    bool first_seen;       /* the peer's first FPDU was valid */
    uint64_t ack_octets;   /* octets received since an acknowledgement was last sent */
    uint64_t acknowledged; /* the count in the peer's last acknowledgement */

    /* a message waits for a receive */
    bool held, hold_full;
    uint8_t *hold; /* ULPDUs, each preceded by its length */
    uint32_t hold_rd, hold_wr;
    bool fin_held;  /* the peer's FIN came behind them */
    bool rnr_ended; /* the wait was in vain and ended a connection that the peer had not closed */
};

struct srd_tx_ref {
    struct srd_stag_entry *entry; /* pinned between tx and tx_done */
    uint64_t shift; /* the address in requests less the memory's; 0 except in fast regions */
    uint32_t key;
    uint32_t request; /* the request whose memory it is: its count in the send queue */
    uint8_t iov;
    bool remote; /* it belongs to a response, not to a request */
};

/* SRD_TX_IMMEDIATE: the immediate data of a request whose Write has been built */
enum srd_tx_source { SRD_TX_NONE, SRD_TX_REQUEST, SRD_TX_IMMEDIATE, SRD_TX_RESPONSE };

/* The arrays of a batch, and its staging, in a buffer that an idle connection gives back. */
struct srd_tx_batch {
    struct iovec iov[SRD_TX_IOV];
    struct srd_tx_ref refs[SRD_TX_IOV];
    uint32_t fpdu_end[SRD_TX_FPDUS];
    bool fpdu_completes[SRD_TX_FPDUS];
    uint8_t staging[];
};

struct srd_tx {
    struct srd_tx_batch *batch; /* set by srd_stream_start; the pointers below point into it */
    uint8_t *staging;           /* headers, small payloads, trailers; with CRC all payloads */
    uint32_t staged, room;

    /* the batch: FPDUs built and not wholly sent */
    struct iovec *iov;
    int first, count;
    struct srd_tx_ref *refs;
    int n_refs;
    uint32_t *fpdu_end;       /* octets from the beginning of the batch to the FPDU's end */
    bool *fpdu_completes;     /* the FPDU ends a Send or Write */
    uint32_t n_fpdus, n_gone; /* n_gone: FPDUs that TCP has taken whole */
    uint32_t octets, taken;   /* length of the batch, and how much of it TCP has taken */

    /* the message being built */
    enum srd_tx_source source, last_source;
    uint32_t offset; /* octets of the message that are built */
    uint32_t sge, sge_offset;
    struct srd_stag_entry *seen; /* the region that was read last (srd_stag_pin_send) */

    uint32_t send_msn, read_msn; /* the next MSNs to give */
    uint32_t atomic_msn;         /* the next MSN to give to an Atomic Response */
    bool rtr_due;                /* the RTR is to be sent */
    bool blocked;                /* a request failed, so none behind it is sent */
    bool broken_off;             /* FPDUs were taken back, so only acknowledgements follow */
    srd_fault response_fault;    /* why the source of a Read Request cannot be read */
    bool stop_set;               /* disconnecting: requests from stop on are not sent */
    uint32_t stop;

    uint8_t terminate[SRD_TERMINATE_FPDU_MAX];
    uint32_t terminate_octets; /* 0: there is none, or it has been sent */
    uint8_t *salvage;          /* the rest to send of a cut batch's last FPDU */
    bool ack_last;             /* ending: the final acknowledgement is still to be sent */
};

struct srd_stream {
    _Atomic int phase; /* enum srd_stream_phase; leaves UP under both locks */
    struct srd_stream_params params;
    struct srd_rx rx;
    struct srd_tx tx;

    /* requests may go out: the initiator was released, or the responder has seen the first FPDU */
    atomic_bool open;
    atomic_bool end_due; /* a failed request, or the last before stop, was retired */
    atomic_bool closing; /* disconnect was called */
    atomic_bool cut; /* the memory of a half-sent FPDU is gone, so the connection has to close */
    atomic_bool rx_ended; /* the peer's FIN was seen, or its reset */

    _Atomic uint64_t rx_complete; /* number of the peer's messages that are complete */
    _Atomic uint64_t acked_sent;  /* the count last put into a batch */
    uint64_t numbered;            /* number of Sends and Writes of ours that are wholly built; tx */
    _Atomic uint64_t handed;      /* number of those that TCP has taken */

    /*
     * Words of a share: this end stores its rx_complete to the first, and the peer its own to the second. NULL:
     * acknowledgements are FPDUs. Both locks are held to change them.
     */
    _Atomic uint64_t *tells;
    const _Atomic uint64_t *told;

    struct srd_read_in *reads_in;
    struct srd_read_ring in;
    struct srd_read_out *reads_out;
    struct srd_read_ring out;
    uint32_t stag_seed;
    bool quiet; /* the stream ends without flushing the queues; both locks are held to change it */

    _Atomic uint64_t rnr_deadline_ms, end_deadline_ms; /* UINT64_MAX: none */
    unsigned end_again; /* rx: how often end_deadline_ms may still begin anew (util/deadline.h) */
};

/* Called when the queue pair is made, without a connection; fini frees what srd_stream_start allocated. */
void srd_stream_init(struct srd_stream *stream);
void srd_stream_fini(struct srd_stream *stream);

#endif
