/* SPDX-License-Identifier: MIT */
/*
 * fault.c - see fault.h. Names: RFC 5040 section 4.8 (layer 0), RFC 5041 section 8 (1), RFC 5044 section 8 and RFC 6581
 * section 8 (2).
 */
#include "softrdma/wire/fault.h"

#define PROTECTION "RDMAP, remote protection error: "
#define OPERATION  "RDMAP, remote operation error: "
#define TAGGED     "DDP, tagged buffer error: "
#define UNTAGGED   "DDP, untagged buffer error: "
#define MPA        "MPA: "

#define NO_TOKEN                                                                                   \
    "the token is that of no registered region and no bound window there: wrong, deregistered or " \
    "invalidated"
#define NO_RANGE "the range is not inside of the region or window"
#define NO_STREAM                                                                                  \
    "the token belongs to another protection domain, or to a window of another queue pair"
#define NO_WRAP  "the range ends behind the highest address"
#define NO_SENSE "a malformed message: a fault of a device, or octets changed on the way"

const struct srd_fault_row srd_fault_rows[] = {
    { SRD_FAULT_LOCAL, "RDMAP: local catastrophic error",
        "a request or a Receive failed there, whose log says why" },
    { SRD_FAULT_PROTECTION_STAG, PROTECTION "invalid STag", NO_TOKEN },
    { SRD_FAULT_PROTECTION_BOUNDS, PROTECTION "base or bounds violation", NO_RANGE },
    { SRD_FAULT_PROTECTION_RIGHTS, PROTECTION "access rights violation",
        "the region or window does not allow it" },
    { SRD_FAULT_PROTECTION_STREAM, PROTECTION "STag not associated with RDMAP stream", NO_STREAM },
    { SRD_FAULT_PROTECTION_WRAP, PROTECTION "TO wrap", NO_WRAP },
    { SRD_FAULT_PROTECTION_INVALIDATE, PROTECTION "STag cannot be invalidated", NO_STREAM },
    { SRD_FAULT(0, 1, 0xff), PROTECTION "unspecified error", "that end does not say" },
    { SRD_FAULT(0, 2, 0x00), OPERATION "a code that no RFC has",
        "some adapters say so of a token or range that they refuse" },
    { SRD_FAULT_RDMAP_VERSION, OPERATION "invalid RDMAP version", NO_SENSE },
    { SRD_FAULT_OPCODE, OPERATION "unexpected opcode",
        "that end does not know this kind of message" },
    { SRD_FAULT_MISALIGNED, OPERATION "catastrophic error, localized to RDMAP stream",
        "an atomic operation at an address that is no multiple of 8; of siw: too many Reads at "
        "once" },
    { SRD_FAULT(0, 2, 0x08), OPERATION "catastrophic error, global", "that end's device failed" },
    { SRD_FAULT_INVALIDATE, OPERATION "STag cannot be invalidated",
        "the token is not one that a peer may invalidate: no bound window of type 2, no fast "
        "region" },
    { SRD_FAULT_UNSPECIFIED, OPERATION "unspecified error", NO_SENSE },
    { SRD_FAULT_DDP_LOCAL, "DDP: local catastrophic error", NO_SENSE },
    { SRD_FAULT_TAGGED_STAG, TAGGED "invalid STag", NO_TOKEN },
    { SRD_FAULT_TAGGED_BOUNDS, TAGGED "base or bounds violation", NO_RANGE },
    { SRD_FAULT_TAGGED_STREAM, TAGGED "STag not associated with DDP stream", NO_STREAM },
    { SRD_FAULT_TAGGED_WRAP, TAGGED "TO wrap", NO_WRAP },
    { SRD_FAULT_TAGGED_VERSION, TAGGED "invalid DDP version", NO_SENSE },
    { SRD_FAULT_QN, UNTAGGED "invalid QN", NO_SENSE },
    { SRD_FAULT_NO_BUFFER, UNTAGGED "invalid MSN, no buffer available",
        "no Receive was posted in time; of a Read: more at once than that end serves" },
    { SRD_FAULT_MSN, UNTAGGED "invalid MSN, range is not valid", NO_SENSE },
    { SRD_FAULT_MO, UNTAGGED "invalid MO", NO_SENSE },
    { SRD_FAULT_TOO_LONG, UNTAGGED "message too long for available buffer",
        "the message is longer than its Receive" },
    { SRD_FAULT_UNTAGGED_VERSION, UNTAGGED "invalid DDP version", NO_SENSE },
    { SRD_FAULT(2, 0, 0x01), MPA "TCP connection closed, terminated or lost",
        "the network, or the end of that process" },
    { SRD_FAULT_CRC, MPA "CRC does not match", "octets were changed on the way" },
    { SRD_FAULT(2, 0, 0x03), MPA "markers and ULPDU length do not agree", NO_SENSE },
    { SRD_FAULT(2, 0, 0x04), MPA "invalid request or response frame", NO_SENSE },
    { SRD_FAULT(2, 0, 0x05), MPA "local catastrophic error", "that end's device failed" },
    { SRD_FAULT(2, 0, 0x06), MPA "insufficient IRD resources",
        "that end serves fewer Reads at once than this one wants" },
    { SRD_FAULT(2, 0, 0x07), MPA "no matching RTR option",
        "the ends agree on no first message, which the connecting end would send" },
    { SRD_FAULT_NONE, "an error that no RFC has", "that end has a code of its own" },
};

const struct srd_fault_row *srd_fault_row(srd_fault fault)
{
    const struct srd_fault_row *row = srd_fault_rows;

    while (row->fault != SRD_FAULT_NONE && row->fault != fault)
        row++;
    return row;
}
