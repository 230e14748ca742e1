/* SPDX-License-Identifier: MIT */
/*
 * terminate.h - the Terminate message (RFC 5040 section 4.8): builds ours, reads any peer's, classifies them.
 */
#ifndef SOFTRDMA_WIRE_TERMINATE_H
#define SOFTRDMA_WIRE_TERMINATE_H

#include "softrdma/wire/ddp.h"
#include "softrdma/softrdma.h"

enum {
    /* DDP header, control, segment length, untagged header, Read Request header */
    SRD_TERMINATE_ULPDU_MAX = 18 + 4 + 2 + 18 + 28,
    SRD_TERMINATE_FPDU_MAX = 76,
};

struct srd_terminate {
    srd_fault fault;
    bool has_length, has_segment, has_read_request;
    /* ULPDU_Length of the offending FPDU; foreign peers may count differently */
    uint16_t segment_octets;
    struct srd_segment segment;
    struct srd_read_request read_request;
};

/*
 * srd_terminate_build - builds one whole FPDU.
 * fault         the error; it decides which headers the Terminate returns (RFC 5040 figure 9)
 * ulpdu         the offending segment from its DDP header on, with the Read Request header if it is one; or NULL
 * ulpdu_octets  its ULPDU_Length
 * crc           whether to fill the CRC in
 * Returns       octets written
 */
uint32_t srd_terminate_build(srd_fault fault, const uint8_t *ulpdu, uint32_t ulpdu_octets, bool crc,
    uint8_t out[SRD_TERMINATE_FPDU_MAX]);

/*
 * Builds the form without headers, also for errors after an accepting MPA Reply (2/0/05, 06, 07: RFC 6581 section 8).
 */
static inline uint32_t srd_terminate_bare(
    srd_fault fault, bool crc, uint8_t out[SRD_TERMINATE_FPDU_MAX])
{
    return srd_terminate_build(fault, NULL, 0, crc, out);
}

/*
 * srd_terminate_decode - reads the part behind the untagged header, as far as it is there.
 * octets     at least 4, otherwise it returns false
 * flowed     FPDUs have gone both ways: resolves the ambiguity between the RFC's form and the bit-reversed form that
 *            Linux's siw emits on little-endian hosts
 */
bool srd_terminate_decode(
    struct srd_terminate *terminate, const uint8_t *in, uint32_t octets, bool flowed);

/* What a Terminate means for the request that it is about. */
enum srd_terminate_class {
    SRD_CLASS_ACCESS,
    SRD_CLASS_INVALIDATE,
    SRD_CLASS_TOO_LONG,
    SRD_CLASS_NO_RECEIVE,
    SRD_CLASS_TOO_MANY_READS,
    SRD_CLASS_PROTOCOL,
    SRD_CLASS_PEER,
    SRD_CLASS_TRANSPORT,
    SRD_CLASS_SETUP,
};

enum srd_terminate_class srd_terminate_classify(const struct srd_terminate *terminate);

/* Returns the status of the request that a Terminate of this class is about. */
enum ibv_wc_status srd_terminate_status(enum srd_terminate_class class);

#endif
