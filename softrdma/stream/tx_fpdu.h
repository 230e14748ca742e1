/* SPDX-License-Identifier: MIT */
/*
 * tx_fpdu.h - adds an FPDU to the batch: begin, add, end; or begin, add, undo. Also the functions that the files which
 * build messages call of each other. LOCK_SRD_TX is held.
 */
#ifndef SOFTRDMA_STREAM_TX_FPDU_H
#define SOFTRDMA_STREAM_TX_FPDU_H

#include "softrdma/stream/internal.h"

/* The place in the batch at which an FPDU begins. */
struct srd_tx_fpdu {
    int count, n_refs;
    uint32_t staged, octets;
    size_t last_octets;
    uint32_t crc;
};

/* A payload above SRD_TX_ALIGNED_OCTETS is copied with CRC to the border of a cache line, and takes an iovec entry. */
enum { SRD_TX_ALIGNMENT = 64, SRD_TX_ALIGNED_OCTETS = 8192 };

/*
 * Returns the largest payload of one FPDU that needs no pad; with CRC, the next payload of the message is then at the
 * border of a cache line in both programs' memory if this one is.
 */
static inline uint32_t srd_tx_payload_max(const struct srd_stream *stream, bool tagged)
{
    uint32_t most = stream->params.fpdu_max_octets - SRD_FPDU_LENGTH_OCTETS -
                    srd_segment_octets(tagged) - SRD_FPDU_CRC_OCTETS;
    uint32_t unit = stream->params.crc && most > SRD_TX_ALIGNED_OCTETS ? SRD_TX_ALIGNMENT : 4;

    return most & ~(unit - 1);
}

/* Returns the most staging that an FPDU of this size takes, with the octets that are left free before it. */
uint32_t srd_tx_fpdu_room(uint32_t octets);
/* Whether one more FPDU of any size fits. */
bool srd_tx_has_room(const struct srd_stream *stream);

/*
 * Add an FPDU with a large payload, in pieces that are sent from where they are and pinned until tx_done, or with CRC
 * copied.
 * srd_tx_fpdu_begin   adds the header; payload: octets that follow
 * srd_tx_fpdu_memory  adds octets (> 0) of the payload, from registered memory. Returns why the key is refused, or that
 *                     the memory is gone; the caller then calls srd_tx_fpdu_undo
 * srd_tx_fpdu_end     adds the trailer
 * srd_tx_fpdu_undo    makes the batch what it was before begin
 */
void srd_tx_fpdu_begin(struct srd_qp *qp, struct srd_tx_fpdu *fpdu,
    const struct srd_segment *segment, uint32_t payload);
enum srd_stag_error srd_tx_fpdu_memory(struct srd_qp *qp, struct srd_tx_fpdu *fpdu, uint32_t key,
    uint64_t addr, uint32_t octets, bool remote);
void srd_tx_fpdu_end(struct srd_qp *qp, struct srd_tx_fpdu *fpdu);
void srd_tx_fpdu_undo(struct srd_qp *qp, const struct srd_tx_fpdu *fpdu);

/*
 * Add an FPDU with a small payload, of SRD_TX_COPY_OCTETS at most, in one piece. It is no part of the batch before
 * srd_tx_small_end, so there is nothing to undo.
 * srd_tx_small_begin  writes the header; octets: length of the payload. Returns where the payload goes
 * srd_tx_small_fetch  copies octets (> 0) of the payload from registered memory to their place. Returns why the key is
 *                     refused, or that the memory is gone
 * srd_tx_small_end    writes the trailer behind the payload, which ends at end
 */
static inline uint8_t *srd_tx_small_begin(
    const struct srd_tx *tx, const struct srd_segment *segment, uint32_t octets)
{
    uint8_t *p = tx->staging + tx->staged;

    return p + srd_fpdu_begin(p, segment, octets);
}
enum srd_stag_error srd_tx_small_fetch(
    struct srd_qp *qp, uint8_t *to, uint32_t key, uint64_t addr, uint32_t octets, bool remote);
void srd_tx_small_end(struct srd_qp *qp, uint8_t *end);

/* Adds a whole small FPDU, whose payload is not the program's memory. */
void srd_tx_put(
    struct srd_qp *qp, const struct srd_segment *segment, const void *payload, uint32_t octets);

/* tx_message.c */

/* Fills a place among the outstanding Reads and Atomics; sqe: NULL for the RTR. */
struct srd_read_out *srd_tx_begin_read(struct srd_qp *qp, struct srd_sqe *sqe, uint32_t msn);
/* Numbers the request at next, whose last message is built, and goes on to the next request. */
void srd_tx_message_built(struct srd_qp *qp, struct srd_sqe *sqe);

/* tx_response.c */

/* Adds one FPDU of the oldest response that waits; there is one. Returns whether to go on: its source may be gone. */
bool srd_tx_response(struct srd_qp *qp, unsigned *actions);

/* tx_extension.c: messages of RFC 7306 */

/* Adds the Immediate Data that directly follows a Write, as a message of its own (section 6). */
void srd_tx_immediate(struct srd_qp *qp, struct srd_sqe *sqe);
/* Adds an Atomic Request (section 5.2.1); verbs' Atomics are those of all 64 bits. */
void srd_tx_atomic_request(struct srd_qp *qp, struct srd_sqe *sqe);
/* Adds an Atomic Response (section 5.2.2). */
void srd_tx_atomic_response(struct srd_qp *qp, const struct srd_read_in *read);

#endif
