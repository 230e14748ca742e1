/* SPDX-License-Identifier: MIT */
/*
 * wire.c - reads along what each end sends: whole FPDUs, in the order of RFC 5040, 5041 and 5044, within what was
 * agreed; acknowledgements that never fall and never tell of what was not sent (docs/wire.md); a Terminate is the last.
 */
#include "simulation.h"

#include "softrdma/wire/crc32c.h"
#include "softrdma/wire/wire.h"

#include <string.h>

enum { HEADERS = 2 + 18 + 28 };

static void sees_send(
    struct end *from, struct monitor *wire, const struct srd_segment *segment, uint32_t payload)
{
    CHECK(segment->qn == SRD_QN_SEND && segment->msn == wire->send_msn,
        "host %d: MSN %u, where %u is due", from->host, segment->msn, wire->send_msn);
    CHECK(segment->mo == wire->send_mo, "host %d: offset %u, where %u is due", from->host,
        segment->mo, wire->send_mo);
    wire->send_mo += payload;
    if (!segment->last)
        return;
    wire->send_msn++;
    wire->send_mo = 0;
    wire->messages++;
}

static void sees_write(
    struct end *from, struct monitor *wire, const struct srd_segment *segment, uint32_t payload)
{
    const struct monitor *peer = &peer_of(from)->monitor;

    if (!payload && segment->stag == SRD_ACK_STAG) {
        CHECK(sim.set.soft, "host %d sends an acknowledgement to a foreign peer", from->host);
        CHECK(segment->last && segment->to >= wire->acknowledged,
            "host %d: acknowledgement of %llu after one of %llu", from->host,
            (unsigned long long)segment->to, (unsigned long long)wire->acknowledged);
        CHECK(segment->to <= peer->messages, "host %d acknowledges %llu messages of %llu",
            from->host, (unsigned long long)segment->to, (unsigned long long)peer->messages);
        wire->acknowledged = segment->to;
        return;
    }
    if (!from->host && wire->fpdus == 0 && sim.set.rtr == SRD_MPA_RTR_WRITE) {
        CHECK(!payload && segment->stag == 1, "the first FPDU is not the RTR");
        return;
    }
    wire->messages += segment->last;
}

static void sees_read(struct end *from, struct monitor *wire, const struct srd_segment *segment)
{
    const struct monitor *peer = &peer_of(from)->monitor;
    struct srd_read_request request;

    srd_read_request_decode(&request, wire->header + 20);
    CHECK(segment->qn == SRD_QN_READ && segment->msn == wire->read_msn && segment->last &&
              !segment->mo,
        "host %d: a wrong Read Request", from->host);
    wire->read_octets[wire->read_requests % REQUESTS] = request.octets;
    wire->read_msn++;
    wire->read_requests++;
    CHECK(wire->read_requests - peer->responses <= (sim.set.issues[from->host] ?: 1u),
        "host %d: more Reads in flight than agreed", from->host);
}

static void sees_response(
    struct end *from, struct monitor *wire, const struct srd_segment *segment, uint32_t payload)
{
    const struct monitor *peer = &peer_of(from)->monitor;

    CHECK(wire->responses < peer->read_requests, "host %d answers what was not asked", from->host);
    wire->read_got += payload;
    if (!segment->last)
        return;
    CHECK(wire->read_got == peer->read_octets[wire->responses % REQUESTS],
        "host %d: a response of %u octets", from->host, wire->read_got);
    wire->read_got = 0;
    wire->responses++;
}

static void sees_fpdu(struct end *from, struct monitor *wire)
{
    const uint8_t *ulpdu = wire->header + 2;
    uint32_t octets = wire_get16(wire->header), payload;
    struct srd_segment segment;

    CHECK(srd_control_check(ulpdu, octets) == SRD_FAULT_NONE &&
              srd_segment_decode(&segment, ulpdu) == SRD_FAULT_NONE,
        "host %d sends what is no segment", from->host);
    CHECK(wire_get_crc(wire->trailer) == (sim.set.crc ? wire->crc : 0), "host %d: a wrong CRC",
        from->host);
    CHECK(!wire->terminated, "host %d sends behind its Terminate", from->host);
    CHECK(wire->total <= sim.set.fpdu_octets[from->host] || segment.opcode == SRD_OP_TERMINATE,
        "host %d: an FPDU of %u octets", from->host, wire->total);
    CHECK(!from->host || sim.set.speaks_first || peer_of(from)->monitor.fpdus ||
              segment.opcode == SRD_OP_TERMINATE ||
              (peer_of(from)->monitor.at && segment.stag == SRD_ACK_STAG), /* in front of one */
        "the responder speaks first");
    payload = octets - srd_segment_octets(segment.tagged);
    say("host %d link %d: sends opcode %d, %u octets%s, MSN %u, to %#llx", from->host, from->link,
        segment.opcode, payload, segment.last ? ", last" : "", segment.msn,
        (unsigned long long)(segment.stag == SRD_ACK_STAG ? segment.to : 0));
    switch (segment.opcode) {
    case SRD_OP_WRITE: sees_write(from, wire, &segment, payload); break;
    case SRD_OP_READ_REQUEST: sees_read(from, wire, &segment); break;
    case SRD_OP_READ_RESPONSE: sees_response(from, wire, &segment, payload); break;
    case SRD_OP_TERMINATE:
        wire->terminated = true;
        wire->fault =
            (wire->header[20] >> 4) << 12 | (wire->header[20] & 15) << 8 | wire->header[21];
        say("host %d link %d: Terminate %04x", from->host, from->link, (unsigned)wire->fault);
        break;
    default: sees_send(from, wire, &segment, payload); break;
    }
    wire->fpdus++;
    sim.fpdus++;
}

/* Keeps the first and the last octets of the FPDU, and sums up those between. */
static uint32_t takes(struct monitor *wire, const uint8_t *octets, uint32_t count)
{
    uint32_t end = wire->total - 4, here = wire->total - wire->at;

    here = here < count ? here : count;
    if (wire->at < end) {
        here = here < end - wire->at ? here : end - wire->at;
        if (sim.set.crc)
            wire->crc = srd_crc32c(wire->crc, octets, here);
    } else {
        memcpy(wire->trailer + (wire->at - end), octets, here);
    }
    for (uint32_t i = 0; i < here && wire->at + i < HEADERS; i++)
        wire->header[wire->at + i] = octets[i];
    wire->at += here;
    return here;
}

void wire_sees(struct end *from, const uint8_t *octets, uint32_t count)
{
    struct monitor *wire = &from->monitor;

    while (count) {
        uint32_t here;

        if (wire->at < 2) {
            wire->total = UINT16_MAX * 2;
            here = takes(wire, octets, 1);
            if (wire->at == 2)
                wire->total = srd_fpdu_octets(wire_get16(wire->header));
        } else {
            here = takes(wire, octets, count);
        }
        octets += here;
        count -= here;
        if (wire->at >= 2 && wire->at == wire->total) {
            sees_fpdu(from, wire);
            wire->at = wire->crc = 0;
        }
    }
}

void wire_ends(struct end *from, bool reset)
{
    /* A window that goes while a response is half sent cuts it; what is not read is closed after two seconds. */
    CHECK(reset || !from->monitor.at || sim.cut[from->link] ||
              (from->causes | peer_of(from)->causes) & CAUSE_MAYBE ||
              sim.now_ns - sim.begun_ns >= 2000000000u,
        "host %d: FIN within an FPDU", from->host);
}
