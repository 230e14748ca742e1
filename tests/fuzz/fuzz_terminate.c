/* SPDX-License-Identifier: MIT */
/*
 * fuzz_terminate.c - a received Terminate, and the Terminate built for a received segment.
 *
 * Input: one octet of flags; one that chooses a fault; what follows the DDP header of the Terminate, or the ULPDU of
 * the segment that is refused.
 */
#include "fuzz.h"

#include "softrdma/wire/terminate.h"
#include "softrdma/wire/wire.h"

#include <string.h>

static const srd_fault faults[] = { SRD_FAULT_LOCAL, SRD_FAULT_PROTECTION_STAG,
    SRD_FAULT_PROTECTION_BOUNDS, SRD_FAULT_PROTECTION_RIGHTS, SRD_FAULT_PROTECTION_STREAM,
    SRD_FAULT_PROTECTION_WRAP, SRD_FAULT_PROTECTION_INVALIDATE, SRD_FAULT_RDMAP_VERSION,
    SRD_FAULT_OPCODE, SRD_FAULT_INVALIDATE, SRD_FAULT_UNSPECIFIED, SRD_FAULT_DDP_LOCAL,
    SRD_FAULT_TAGGED_STAG, SRD_FAULT_TAGGED_BOUNDS, SRD_FAULT_TAGGED_STREAM, SRD_FAULT_TAGGED_WRAP,
    SRD_FAULT_TAGGED_VERSION, SRD_FAULT_QN, SRD_FAULT_NO_BUFFER, SRD_FAULT_MSN, SRD_FAULT_MO,
    SRD_FAULT_TOO_LONG, SRD_FAULT_UNTAGGED_VERSION, SRD_FAULT_CRC };

static void check_decode(const uint8_t *octets, uint32_t count, bool flowed)
{
    struct srd_terminate terminate;
    enum ibv_wc_status status;

    if (!srd_terminate_decode(&terminate, octets, count, flowed)) {
        FUZZ_CHECK(count < 4);
        return;
    }
    FUZZ_CHECK(terminate.fault >= 0 && terminate.fault <= 0xffff);
    FUZZ_CHECK(!terminate.has_segment || count >= 6 + srd_segment_octets(terminate.segment.tagged));
    FUZZ_CHECK(!terminate.has_read_request || (terminate.has_segment && count >= 6 + 14 + 28));
    status = srd_terminate_status(srd_terminate_classify(&terminate));
    FUZZ_CHECK(status != IBV_WC_SUCCESS);
}

/* What this end writes about a segment, it reads the same. */
static void check_build(srd_fault fault, const uint8_t *ulpdu, uint32_t count, bool crc)
{
    uint8_t fpdu[SRD_TERMINATE_FPDU_MAX];
    struct srd_segment offender, about = { .last = true };
    struct srd_terminate terminate;
    uint32_t octets, ulpdu_octets;

    octets = srd_terminate_build(fault, ulpdu, count, crc, fpdu);
    FUZZ_CHECK(octets <= sizeof fpdu && octets >= 28);
    ulpdu_octets = wire_get16(fpdu);
    FUZZ_CHECK(octets == srd_fpdu_octets(ulpdu_octets));
    FUZZ_CHECK(srd_control_check(fpdu + 2, ulpdu_octets) == SRD_FAULT_NONE);
    FUZZ_CHECK(srd_segment_decode(&about, fpdu + 2) == SRD_FAULT_NONE);
    FUZZ_CHECK(about.opcode == SRD_OP_TERMINATE && about.last && about.msn == 1 && !about.mo);
    FUZZ_CHECK(srd_terminate_decode(&terminate, fpdu + 20, ulpdu_octets - 18, true));
    if (!terminate.has_segment)
        return; /* a bare one may be read in the other form */
    FUZZ_CHECK(terminate.fault == fault);
    FUZZ_CHECK(terminate.segment_octets == (uint16_t)count);
    srd_segment_decode(&offender, ulpdu);
    FUZZ_CHECK(!memcmp(fpdu + 26, ulpdu, srd_segment_octets(offender.tagged)));
    FUZZ_CHECK(terminate.segment.stag == offender.stag && terminate.segment.to == offender.to &&
               terminate.segment.qn == offender.qn && terminate.segment.msn == offender.msn);
}

int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t count)
{
    struct fuzz_input input = { octets, count };
    uint8_t flags = fuzz_octet(&input), fault = fuzz_octet(&input);

    if (input.left > 65535)
        return 0;
    if (flags & 1)
        check_decode(input.at, (uint32_t)input.left, flags & 2);
    else if (srd_control_check(input.at, (uint32_t)input.left) == SRD_FAULT_NONE)
        check_build(faults[fault % (sizeof faults / sizeof faults[0])], input.at,
            (uint32_t)input.left, flags & 2);
    return 0;
}
