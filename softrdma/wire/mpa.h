/* SPDX-License-Identifier: MIT */
/*
 * mpa.h - MPA startup frames (RFC 5044 section 7, RFC 6581) and what two frames agree on. The functions are pure.
 *
 *   initiator  srd_mpa_request -> encode, send; receive, srd_mpa_decode the Reply -> srd_mpa_conclude
 *   responder  srd_mpa_decode the Request; the program decides -> srd_mpa_accept or srd_mpa_refuse -> encode, send
 */
#ifndef SOFTRDMA_WIRE_MPA_H
#define SOFTRDMA_WIRE_MPA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SRD_MPA_HEADER_OCTETS = 20,
    SRD_MPA_PRIVATE_MAX = 512, /* the most octets on the wire, the enhanced word included */
    SRD_MPA_FRAME_MAX = SRD_MPA_HEADER_OCTETS + SRD_MPA_PRIVATE_MAX,
    SRD_MPA_ENHANCED_OCTETS = 4,
    SRD_MPA_READS_AUTO = 0x3fff, /* RFC 6581 section 9.1: do not negotiate this one */
    SRD_MPA_READS_MAX = 0x3ffe,
};

/*
 * The mark of a softrdma end: one reserved flag bit in the Request, another one in the Reply with the first clear,
 * because some responders echo bits that they do not know. Other implementations ignore both.
 */
enum { SRD_MPA_SOFT_REQUEST = 0x04, SRD_MPA_SOFT_REPLY = 0x02 };
/*
 * A flag between softrdma ends. Request: the end has offered memory (cm/meet.h). Reply: it is taken, and has the FPDUs.
 */
enum { SRD_MPA_SOFT_SHARED = 0x01 };

/* The message by which the initiator shows that it is ready; also bits of a set. */
enum srd_mpa_rtr {
    SRD_MPA_RTR_NONE = 0,
    SRD_MPA_RTR_SEND = 1,
    SRD_MPA_RTR_WRITE = 2,
    SRD_MPA_RTR_READ = 4,
};

enum { SRD_RNR_FOR_EVER = 7 }; /* a value of rnr_retry_count */

struct srd_mpa_frame {
    bool reply;
    bool markers, crc, reject;
    bool enhanced;    /* the enhanced word is there: revision 2 with S = 1 */
    uint8_t reserved; /* the four unassigned flag bits */
    uint8_t revision;
    /* enhanced word */
    bool peer_to_peer;
    uint8_t rtr; /* set of enum srd_mpa_rtr */
    uint16_t ird, ord;
    /* the user's part of the private data */
    uint16_t private_octets;
    uint8_t private_data[SRD_MPA_PRIVATE_MAX];
};

/* One end's wishes in the negotiation. */
struct srd_mpa_local {
    bool crc;         /* it wants CRC */
    bool soft;        /* it offers the acknowledgement extension */
    bool shared;      /* initiator: it has offered memory; responder: it has taken it */
    uint16_t ird;     /* number of reads that it is ready to serve */
    uint16_t ord;     /* number of reads that it wants outstanding */
    uint16_t ird_max; /* the value to which ird may be raised when the peer needs it; >= ird */
};

/* The results of MPA startup, and the program's parameters. */
struct srd_stream_params {
    bool initiator; /* this end sent the MPA Request */
    bool crc;       /* CRC in both directions */
    bool soft_peer; /* the acknowledgement extension is on */
    bool shared;    /* FPDUs go through memory that both ends have */
    /* responder: the first FPDU reports ESTABLISHED (the responder sends nothing before that anyway) */
    bool rtr_expected;
    bool speaks_first;   /* responder: it need not wait for the first FPDU (NDSPI_SOFT_SPEAK_MS) */
    bool quiet_end;      /* the end of the stream does not flush the queues: cm/exchange.h */
    uint8_t rtr;         /* the RTR (enum srd_mpa_rtr) that the initiator sends; 0: none */
    uint8_t rnr_retries; /* how often the peer would try again while there is no receive */
    uint16_t ird, ord;   /* read depths in force at this end */
    /* largest FPDU to send: MSS-sized to foreign peers, 64 KiB to softrdma ends */
    uint32_t fpdu_max_octets;
};

enum srd_mpa_verdict {
    SRD_MPA_AGREED,
    SRD_MPA_REJECTED,   /* the peer rejects; its private data and limits are in the frame */
    SRD_MPA_NO_MARKERS, /* the peer demands Markers. Responder: send the Reply. Both: close */
    SRD_MPA_MALFORMED,  /* close without an answer */
    SRD_MPA_NO_IRD,     /* initiator: Terminate 2/0/06, close */
    SRD_MPA_NO_RTR,     /* initiator: Terminate 2/0/07, close */
};

/*
 * srd_mpa_decode - reads a startup frame from the front of the arrived octets.
 * frame    out: valid when the result is positive
 * reply    in: whether a Reply is expected, or a Request; the other kind is malformed
 * Returns  the octets of the frame; 0: more are needed; -EPROTO: malformed, as soon as that shows
 */
int srd_mpa_decode(struct srd_mpa_frame *frame, bool reply, const uint8_t *octets, size_t count);

/* srd_mpa_encode - returns the octets written, or 0 when the private data is too long for the form. */
size_t srd_mpa_encode(const struct srd_mpa_frame *frame, uint8_t out[SRD_MPA_FRAME_MAX]);

/*
 * srd_mpa_request - makes the Request of an initiator.
 * revision  2 = enhanced; 1 = the fall-back without read limits (reconnect once with it when the peer closed or reset
 *           before a complete Reply to revision 2)
 * Private data is empty; the caller fills it in.
 */
void srd_mpa_request(
    struct srd_mpa_frame *request, const struct srd_mpa_local *local, uint8_t revision);

/*
 * srd_mpa_accept - makes the accepting Reply to a Request, and the parameters that are in force then.
 * reply    out: without private data; on SRD_MPA_NO_MARKERS the rejection to be sent
 * params   out: all but fpdu_max_octets; on SRD_MPA_AGREED only
 * Returns  SRD_MPA_AGREED or SRD_MPA_NO_MARKERS.
 */
enum srd_mpa_verdict srd_mpa_accept(const struct srd_mpa_frame *request,
    const struct srd_mpa_local *local, struct srd_mpa_frame *reply,
    struct srd_stream_params *params);

/* srd_mpa_refuse - makes the rejecting Reply; local has the limits that this end would have wanted, or NULL: none. */
void srd_mpa_refuse(const struct srd_mpa_frame *request, const struct srd_mpa_local *local,
    struct srd_mpa_frame *reply);

/*
 * srd_mpa_conclude - makes the initiator's parameters from its Request and the Reply to it.
 * params   out: all but fpdu_max_octets; valid on AGREED, and its crc also on NO_IRD and NO_RTR
 */
enum srd_mpa_verdict srd_mpa_conclude(const struct srd_mpa_frame *request,
    const struct srd_mpa_frame *reply, const struct srd_mpa_local *local,
    struct srd_stream_params *params);

/*
 * srd_mpa_fpdu_octets - returns the largest FPDU to send to a foreign peer (RFC 5044 section 4.1: one TCP segment).
 * emss  octets of payload in a TCP segment (TCP_MAXSEG of the connected socket)
 */
uint32_t srd_mpa_fpdu_octets(uint32_t emss);

#endif
