/* SPDX-License-Identifier: MIT */
/* terminate.c - see terminate.h. */
#include "softrdma/wire/terminate.h"

#include "softrdma/wire/crc32c.h"
#include "softrdma/wire/wire.h"

enum { FLAG_M = 0x80, FLAG_D = 0x40, FLAG_R = 0x20, FLAGS = 0xe0 };
enum { SIW_M = 0x01, SIW_D = 0x02, SIW_R = 0x04, SIW_FLAGS = 0x07 };

static unsigned layer_of(srd_fault fault)
{
    return (unsigned)fault >> 12;
}

static unsigned type_of(srd_fault fault)
{
    return (unsigned)fault >> 8 & 15;
}

static unsigned code_of(srd_fault fault)
{
    return (unsigned)fault & 255;
}

/* Whether a Terminate returns the offending header (RFC 5040 figure 9): not for an error that prevents parsing it. */
static bool returns_segment(srd_fault fault)
{
    switch (fault) {
    case SRD_FAULT_RDMAP_VERSION:
    case SRD_FAULT_OPCODE:
    case SRD_FAULT_TAGGED_VERSION:
    case SRD_FAULT_UNTAGGED_VERSION: return false;
    default: return layer_of(fault) < 2 && type_of(fault) > 0;
    }
}

uint32_t srd_terminate_build(srd_fault fault, const uint8_t *ulpdu, uint32_t ulpdu_octets, bool crc,
    uint8_t out[SRD_TERMINATE_FPDU_MAX])
{
    static const struct srd_segment segment = {
        .last = true, .opcode = SRD_OP_TERMINATE, .qn = SRD_QN_TERMINATE, .msn = 1
    };
    uint8_t headers[SRD_DDP_UNTAGGED_OCTETS + SRD_READ_REQUEST_OCTETS];
    uint32_t header_octets = 0, total;
    uint8_t flags = 0, *p;

    if (ulpdu && returns_segment(fault)) {
        struct srd_segment offender;

        srd_segment_decode(&offender, ulpdu);
        header_octets = srd_segment_octets(offender.tagged);
        flags = FLAG_M | FLAG_D;
        if (layer_of(fault) == 0 && type_of(fault) == 1 && offender.opcode == SRD_OP_READ_REQUEST &&
            ulpdu_octets == SRD_DDP_UNTAGGED_OCTETS + SRD_READ_REQUEST_OCTETS) {
            header_octets = ulpdu_octets;
            flags |= FLAG_R;
        }
        memcpy(headers, ulpdu, header_octets);
    }

    p = out + srd_fpdu_begin(out, &segment, 4 + (flags ? 2 + header_octets : 0));
    p[0] = (uint8_t)(layer_of(fault) << 4 | type_of(fault));
    p[1] = (uint8_t)code_of(fault);
    p[2] = flags;
    p[3] = 0;
    p += 4;
    if (flags) {
        wire_put16(p, (uint16_t)ulpdu_octets);
        memcpy(p + 2, headers, header_octets);
        p += 2 + header_octets;
    }
    total = (uint32_t)(p - out);
    while (total & 3)
        out[total++] = 0;
    wire_put_crc(out + total, crc ? srd_crc32c(0, out, total) : 0);
    return total + SRD_FPDU_CRC_OCTETS;
}

/* Whether a control word without flags has siw's form. It does not say so itself, but most values occur in one form. */
static bool bare_is_siw(uint8_t first, uint8_t code, bool flowed)
{
    switch (first) {
    case 0x20: return flowed && (code == 0x05 || code == 0x06);
    case 0x02: return (code >= 0x02 && code <= 0x04) || (!flowed && (code == 0x06 || code == 0x07));
    case 0x21: return true; /* layer 2 has no type 1 */
    default: return false;
    }
}

bool srd_terminate_decode(
    struct srd_terminate *terminate, const uint8_t *in, uint32_t octets, bool flowed)
{
    unsigned layer, type;
    bool m, d, r, siw;
    uint32_t at = 4;

    memset(terminate, 0, sizeof(*terminate));
    if (octets < 4)
        return false;
    siw = !(in[2] & FLAGS) && (in[2] & SIW_FLAGS || bare_is_siw(in[0], in[1], flowed));
    layer = siw ? in[0] & 15 : in[0] >> 4;
    type = siw ? in[0] >> 4 : in[0] & 15;
    m = in[2] & (siw ? SIW_M : FLAG_M);
    d = in[2] & (siw ? SIW_D : FLAG_D);
    r = in[2] & (siw ? SIW_R : FLAG_R);
    terminate->fault = (srd_fault)SRD_FAULT(layer, type, in[1]);

    if ((m || d) && octets >= at + 2) {
        terminate->segment_octets = wire_get16(in + at);
        terminate->has_length = m;
        at += 2;
    }
    /* The T bit of the returned header says how long it is; no more is read than has arrived. */
    if (d && octets > at && octets >= at + srd_segment_octets(in[at] & 0x80)) {
        srd_segment_decode(&terminate->segment, in + at);
        terminate->has_segment = true;
        at += srd_segment_octets(terminate->segment.tagged);
        if (r && octets >= at + SRD_READ_REQUEST_OCTETS) {
            srd_read_request_decode(&terminate->read_request, in + at);
            terminate->has_read_request = true;
        }
    }
    return true;
}

enum srd_terminate_class srd_terminate_classify(const struct srd_terminate *terminate)
{
    srd_fault fault = terminate->fault;
    bool about_read = terminate->has_segment && !terminate->segment.tagged &&
                      terminate->segment.qn == SRD_QN_READ;

    switch (layer_of(fault) << 4 | type_of(fault)) {
    case 0x00: return SRD_CLASS_PEER;
    case 0x01: return code_of(fault) == 0x09 ? SRD_CLASS_INVALIDATE : SRD_CLASS_ACCESS;
    case 0x02:
        switch (code_of(fault)) {
        case 0x00: return SRD_CLASS_ACCESS; /* not in the RFC, but some hardware sends it */
        case 0x07: return about_read ? SRD_CLASS_TOO_MANY_READS : SRD_CLASS_PEER;
        case 0x08: return SRD_CLASS_PEER;
        case 0x09: return SRD_CLASS_INVALIDATE;
        default: return SRD_CLASS_PROTOCOL;
        }
    case 0x10: return SRD_CLASS_PEER;
    case 0x11: return code_of(fault) <= 0x03 ? SRD_CLASS_ACCESS : SRD_CLASS_PROTOCOL;
    case 0x12:
        switch (code_of(fault)) {
        case 0x02: return about_read ? SRD_CLASS_TOO_MANY_READS : SRD_CLASS_NO_RECEIVE;
        case 0x03: return about_read ? SRD_CLASS_TOO_MANY_READS : SRD_CLASS_PROTOCOL;
        case 0x05: return SRD_CLASS_TOO_LONG;
        default: return SRD_CLASS_PROTOCOL;
        }
    case 0x20:
        return code_of(fault) == 0x06 || code_of(fault) == 0x07 ? SRD_CLASS_SETUP
                                                                : SRD_CLASS_TRANSPORT;
    default: return SRD_CLASS_PROTOCOL;
    }
}

enum ibv_wc_status srd_terminate_status(enum srd_terminate_class class)
{
    switch (class) {
    case SRD_CLASS_ACCESS: return IBV_WC_REM_ACCESS_ERR;
    case SRD_CLASS_NO_RECEIVE: return IBV_WC_RNR_RETRY_EXC_ERR;
    case SRD_CLASS_PEER: return IBV_WC_REM_OP_ERR;
    case SRD_CLASS_TRANSPORT:
    case SRD_CLASS_SETUP: return IBV_WC_WR_FLUSH_ERR;
    default: return IBV_WC_REM_INV_REQ_ERR;
    }
}
