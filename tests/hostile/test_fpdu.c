/* SPDX-License-Identifier: MIT */
/*
 * test_fpdu.c - what a connected peer may do wrong, row by row.
 *
 * Each row: a fresh connection, the peer plays, the device must answer with the Terminate of the row (or one of them,
 * where the standard leaves a choice) or end the connection; nothing but registered memory was touched; the neighbours
 * still work.
 */
#include "tests/hostile/scene.h"

#include <string.h>

/* Which STag a row uses. */
enum stag { REGION, UNKNOWN, ZERO, OTHER_KEY, OTHER_INDEX, READ_ONLY, LOCAL_ONLY, OTHER_PD };

struct access {
    uint32_t length; /* octets; 0: the row has no such access */
    int64_t offset;  /* from the region's first octet; with absolute, an address */
    enum stag stag;
    bool absolute;
};

struct segment {
    uint32_t length, msn, offset, queue; /* length 0: none */
    bool more;                           /* not the last of its message */
};

struct row {
    const char *name;
    unsigned answers[SCENE_ANSWERS];
    /* What the peer sends, in this order; most rows use one of them. */
    const char *vectors[2];
    struct access write, read;
    struct segment send[3];
    /* an FPDU of ulpdu_length octets of ULPDU, all zero but the control octets */
    uint8_t ulpdu_control;
    uint8_t ulpdu_length;
    /* a Terminate with so many octets of ULPDU that promises all headers */
    uint8_t terminate_length;
    void (*play)(struct scene *scene);
    bool placed; /* something may have been placed in registered memory before the fault */
    bool no_receives;
    bool ends; /* the peer ended the stream */
    bool soft; /* the peer has the mark of a softrdma end */
};

static struct wire frame;
static const uint8_t payload[65000] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static void transmit(struct scene *scene)
{
    peer_send_frame(&scene->peer, &frame);
}

static uint32_t stag_of(const struct scene *scene, enum stag stag)
{
    switch (stag) {
    case REGION: break;
    case UNKNOWN: return 0x00dead00;
    case ZERO: return 0;
    case OTHER_KEY: return scene->rkey ^ 0x01;
    case OTHER_INDEX: return scene->rkey ^ 0x100;
    case READ_ONLY: return victim.mr_read->rkey;
    case LOCAL_ONLY: return victim.mr_local->rkey;
    case OTHER_PD: return victim.mr_other->rkey;
    }
    return scene->rkey;
}

static void write_to(struct scene *scene, uint32_t stag, uint64_t address, size_t length)
{
    wire_tagged(&frame, WIRE_WRITE, true, stag, address, payload, length);
    transmit(scene);
}

static void read_from(struct scene *scene, uint32_t stag, uint64_t address, uint32_t length)
{
    wire_read_request(&frame, 1, 0x0a0b0c01, 0x2000, length, stag, address);
    transmit(scene);
}

static void send_opcode(
    struct scene *scene, unsigned opcode, uint32_t stag, const struct segment *segment)
{
    wire_untagged(&frame, opcode, !segment->more, stag, segment->queue, segment->msn,
        segment->offset, payload, segment->length);
    transmit(scene);
}

/* ------------------------------------------------------------------------------------------------ windows */

static void write_invalidated(struct scene *scene)
{
    victim_bind(&scene->end);
    write_to(scene, scene->end.mw->rkey, scene->base, 8);
    read_from(scene, scene->end.mw->rkey, scene->base, 8);
    assert_true(peer_receive_fpdu(&scene->peer, &frame)); /* it worked */
    assert_memory_equal(frame.octets + 16, payload, 8);
    victim_invalidate(&scene->end);
    write_to(scene, scene->end.mw->rkey, scene->base, 8);
}

static void read_invalidated(struct scene *scene)
{
    victim_bind(&scene->end);
    victim_invalidate(&scene->end);
    read_from(scene, scene->end.mw->rkey, scene->base, 8);
}

static void invalidate_unknown(struct scene *scene)
{
    send_opcode(
        scene, WIRE_SEND_INVALIDATE, 0x00dead00, &(struct segment){ .length = 8, .msn = 1 });
}

static void invalidate_region(struct scene *scene)
{
    send_opcode(
        scene, WIRE_SEND_INVALIDATE, scene->rkey, &(struct segment){ .length = 8, .msn = 1 });
}

static void invalidate_other_pd(struct scene *scene)
{
    send_opcode(scene, WIRE_SEND_INVALIDATE, victim.mr_other->rkey,
        &(struct segment){ .length = 8, .msn = 1 });
}

static void invalidate_twice(struct scene *scene)
{
    victim_bind(&scene->end);
    for (uint32_t msn = 1; msn <= 2; msn++)
        send_opcode(scene, WIRE_SEND_INVALIDATE, scene->end.mw->rkey,
            &(struct segment){ .length = 8, .msn = msn });
}

/* ------------------------------------------------------------------------------------------------ messages */

static void write_last_segment_leaves(struct scene *scene)
{
    wire_tagged(
        &frame, WIRE_WRITE, false, scene->rkey, scene->base + VICTIM_REGION - 16, payload, 16);
    transmit(scene);
    write_to(scene, scene->rkey, scene->base + VICTIM_REGION, 1);
}

static void read_changed(struct scene *scene, unsigned field, uint32_t value)
{
    wire_read_request(&frame, 1, 0x0a0b0c01, 0x2000, 8, scene->rkey, scene->base);
    wire_put32(frame.octets + field, value);
    wire_crc(&frame);
    transmit(scene);
}

static void read_msn(struct scene *scene)
{
    read_changed(scene, 12, 2);
}

static void read_on_send_queue(struct scene *scene)
{
    read_changed(scene, 8, 0);
}

static void read_offset(struct scene *scene)
{
    read_changed(scene, 16, 4);
}

/* The peer reads nothing, so that responses stay owed: far more than sockets hold. */
static void read_too_many(struct scene *scene)
{
    for (uint32_t msn = 1; msn <= 3000; msn++) {
        wire_read_request(&frame, msn, 0x0a0b0c01, 0x2000, VICTIM_REGION, scene->rkey, scene->base);
        transmit(scene);
    }
}

static void send_changes_opcode(struct scene *scene)
{
    send_opcode(scene, WIRE_SEND, 0, &(struct segment){ .length = 8, .msn = 1, .more = true });
    send_opcode(scene, 5, 0, &(struct segment){ .length = 8, .msn = 1, .offset = 8 });
}

static void response_unasked(struct scene *scene)
{
    wire_tagged(&frame, WIRE_READ_RESPONSE, true, scene->rkey, scene->base, payload, 8);
    transmit(scene);
}

/* ------------------------------------------------------------------------------------------------ RFC 7306 */

static void immediate_of(struct scene *scene, unsigned opcode, uint32_t length)
{
    wire_untagged(&frame, opcode, true, 0, 0, 1, 0, payload, length);
    transmit(scene);
}

static void immediate(struct scene *scene)
{
    immediate_of(scene, WIRE_IMMEDIATE, 8);
}

static void immediate_solicited(struct scene *scene)
{
    immediate_of(scene, WIRE_IMMEDIATE_SOLICITED, 8);
}

static void immediate_short(struct scene *scene)
{
    immediate_of(scene, WIRE_IMMEDIATE, 7);
}

static void immediate_long(struct scene *scene)
{
    immediate_of(scene, WIRE_IMMEDIATE_SOLICITED, 60000);
}

/* One more than there are Receives: they are there for it, too. */
static void immediates_without_receives(struct scene *scene)
{
    for (uint32_t msn = 1; msn <= VICTIM_RECEIVES + 1; msn++) {
        wire_untagged(&frame, WIRE_IMMEDIATE, true, 0, 0, msn, 0, payload, 8);
        transmit(scene);
    }
}

static void atomic_at(struct scene *scene, uint32_t stag, uint64_t address, uint32_t operation)
{
    uint8_t header[52] = { 0 };

    wire_put32(header, operation);
    wire_put32(header + 8, stag);
    wire_put64(header + 12, address);
    wire_put64(header + 20, 1);
    wire_untagged(&frame, WIRE_ATOMIC_REQUEST, true, 0, 1, 1, 0, header, sizeof header);
    transmit(scene);
}

static void atomic(struct scene *scene)
{
    atomic_at(scene, scene->rkey, scene->base, 0);
}

static void atomic_unknown(struct scene *scene)
{
    atomic_at(scene, 0x00dead00, scene->base, 0);
}

static void atomic_outside(struct scene *scene)
{
    atomic_at(scene, scene->rkey, scene->base + VICTIM_REGION, 0);
}

static void atomic_wraps(struct scene *scene)
{
    atomic_at(scene, scene->rkey, UINT64_MAX - 6, 0);
}

static void atomic_other_pd(struct scene *scene)
{
    atomic_at(scene, victim.mr_other->rkey, scene->base, 2);
}

static void atomic_operation(struct scene *scene)
{
    atomic_at(scene, scene->rkey, scene->base, 3);
}

static void atomic_short(struct scene *scene)
{
    wire_untagged(&frame, WIRE_ATOMIC_REQUEST, true, 0, 1, 1, 0, payload, 28);
    transmit(scene);
}

static void atomic_response(struct scene *scene)
{
    wire_untagged(&frame, WIRE_ATOMIC_RESPONSE, true, 0, 3, 1, 0, payload, 12);
    transmit(scene);
}

/* ------------------------------------------------------------------------------------------------ framing */

static void write_broken(struct scene *scene, size_t at)
{
    wire_tagged(&frame, WIRE_WRITE, true, scene->rkey, scene->base, payload, 1024);
    frame.octets[at] ^= 0x10;
    transmit(scene);
}

static void write_bad_crc(struct scene *scene)
{
    write_broken(scene, 2 + 14 + 1024);
}

static void write_flipped(struct scene *scene)
{
    write_broken(scene, 700);
}

/* ULPDU_Length is off, so the CRC is not where it says. Enough follows for the longer one. */
static void send_length_off(struct scene *scene, int by)
{
    wire_untagged(&frame, WIRE_SEND, true, 0, 0, 1, 0, payload, 16);
    wire_put16(frame.octets, (uint16_t)(18 + 16 + by));
    transmit(scene);
    transmit(scene);
}

static void send_length_more(struct scene *scene)
{
    send_length_off(scene, 4);
}

static void send_length_less(struct scene *scene)
{
    send_length_off(scene, -4);
}

static void terminate_reserved(struct scene *scene)
{
    static const uint8_t octets[4] = { 0xff, 0xff, 0xff, 0xff };

    wire_untagged(&frame, WIRE_TERMINATE, true, 0, 2, 1, 0, octets, sizeof octets);
    transmit(scene);
}

static void end_in_fpdu(struct scene *scene)
{
    wire_tagged(&frame, WIRE_WRITE, true, scene->rkey, scene->base, payload, 1024);
    peer_send(&scene->peer, frame.octets, 500);
    peer_half_close(&scene->peer);
}

static void end_in_message(struct scene *scene)
{
    send_opcode(scene, WIRE_SEND, 0, &(struct segment){ .length = 8, .msn = 1, .more = true });
    peer_half_close(&scene->peer);
}

static void end_at_once(struct scene *scene)
{
    peer_half_close(&scene->peer);
}

/* ------------------------------------------------------------------------------------------------ rows */

/* clang-format off */
static const struct row rows[] = {
    { "write before the region", { 0x1101 }, .write = { 8, -1 } },
    { "write behind the region", { 0x1101 }, .write = { 1, VICTIM_REGION } },
    { "write across the region's end", { 0x1101 }, .write = { 8, VICTIM_REGION - 7 } },
    { "write of more than the region", { 0x1101 }, .write = { VICTIM_REGION + 1, 0 } },
    { "write of 60000 octets", { 0x1101 }, .write = { 60000, 0 } },
    { "write at address 0", { 0x1101 }, .write = { 8, 0, .absolute = true } },
    { "write into the guard page", { 0x1101 }, .write = { 8, 2 * 4096 } },
    { "write that wraps the address space", { 0x1103 }, .write = { 4, -2, .absolute = true } },
    { "write to an unknown STag", { 0x1100 }, .write = { 8, 0, UNKNOWN } },
    { "write to STag 0", { 0x1100 }, .write = { 8, 0, ZERO } },
    { "write with another key", { 0x1100 }, .write = { 8, 0, OTHER_KEY } },
    { "write with another index", { 0x1100 }, .write = { 8, 0, OTHER_INDEX } },
    { "write to a region for reading", { 0x0102 }, .write = { 8, 0, READ_ONLY } },
    { "write to a local region", { 0x0102, 0x1100 }, .write = { 8, 0, LOCAL_ONLY } },
    { "write into another protection domain", { 0x1102 }, .write = { 8, 0, OTHER_PD } },
    { "write whose second segment leaves", { 0x1101 }, .play = write_last_segment_leaves, .placed = true },
    { "write to an invalidated window", { 0x1100 }, .play = write_invalidated, .placed = true },
    { "vector bad_write", { 0x1100 }, { "s1.18.bad_write" } },

    { "read before the region", { 0x0101 }, .read = { 8, -1 } },
    { "read behind the region", { 0x0101 }, .read = { 8, VICTIM_REGION } },
    { "read across the region's end", { 0x0101 }, .read = { VICTIM_REGION + 1, 0 } },
    { "read of 4 GiB", { 0x0101 }, .read = { UINT32_MAX, 0 } },
    { "read that wraps the address space", { 0x0104 }, .read = { 4, -2, .absolute = true } },
    { "read of an unknown STag", { 0x0100 }, .read = { 8, 0, UNKNOWN } },
    { "read with another key", { 0x0100 }, .read = { 8, 0, OTHER_KEY } },
    { "read of a local region", { 0x0102, 0x0100 }, .read = { 8, 0, LOCAL_ONLY } },
    { "read of another protection domain", { 0x0103 }, .read = { 8, 0, OTHER_PD } },
    { "read of an invalidated window", { 0x0100 }, .play = read_invalidated },
    { "read with a gap in MSN", { 0x1203 }, .play = read_msn },
    { "read on the queue of Sends", { 0x1201 }, .play = read_on_send_queue },
    { "read with an MO", { 0x1204 }, .play = read_offset },
    { "more reads than agreed", { 0x1202, 0x1203, 0x0207 }, .play = read_too_many },
    { "vector read of an unknown STag", { 0x0100 }, { "t.read_bad_req" } },
    { "vector short read request", { 0x02ff, 0x1205 }, { "n.rreq_short" } },
    { "vector long read request", { 0x1205 }, { "n.rreq_long" } },

    { "send too long", { 0x1205 }, .send = { { VICTIM_RECEIVE + 1, 1 } } },
    { "send too long in its second segment", { 0x1205 },
        .send = { { VICTIM_RECEIVE, 1, .more = true }, { 1, 1, VICTIM_RECEIVE } }, .placed = true },
    { "send of 65000 octets", { 0x1205 }, .send = { { 65000, 1 } } },
    { "send with a gap in MO", { 0x1204 }, .send = { { 16, 1, .more = true }, { 8, 1, 20 } }, .placed = true },
    { "send with MO going back", { 0x1204 }, .send = { { 16, 1, .more = true }, { 8, 1, 8 } }, .placed = true },
    { "send with an MO at the end of 32 bits", { 0x1204 }, .send = { { 8, 1, UINT32_MAX - 3 } } },
    { "send with an old MSN", { 0x1203 }, .send = { { 8, 1 }, { 8, 1 } }, .placed = true },
    { "send with MSN 0", { 0x1203 }, .send = { { 8, 0 } } },
    { "send that changes its opcode", { 0x1203 }, .play = send_changes_opcode, .placed = true },
    { "send without a receive", { 0x1202 }, .send = { { 8, 1 } }, .no_receives = true },
    { "a second send without a receive", { 0x1202 },
        .send = { { 8, 1 }, { 8, 2 }, { 8, 3 } }, .no_receives = true },
    { "invalidate an unknown STag", { 0x0209, 0x0109 }, .play = invalidate_unknown, .placed = true },
    { "invalidate a region", { 0x0209, 0x0109 }, .play = invalidate_region, .placed = true },
    { "invalidate in another protection domain", { 0x0109, 0x0209 }, .play = invalidate_other_pd, .placed = true },
    { "invalidate a window twice", { 0x0209, 0x0109 }, .play = invalidate_twice, .placed = true },
    { "vector MSN gap", { 0x1203 }, { "n.msn_gap" } },
    { "vector MO", { 0x1204 }, { "n.mo_bad" } },
    { "vector message without its last segment", { 0x1203 }, { "n.last_missing", "n.msn_gap" }, .placed = true },
    { "vector send on queue 1", { 0x1201 }, { "n.send_qn1" } },
    { "vector send on queue 7", { 0x1201 }, { "n.qn_7" } },
    { "send on queue 2", { 0x1201 }, .send = { { 8, 1, .queue = 2 } } },
    { "send on queue 3", { 0x1201 }, .send = { { 8, 1, .queue = 3 } } },
    { "send on queue 2^32-1", { 0x1201 }, .send = { { 8, 1, .queue = UINT32_MAX } } },

    { "vector wrong CRC", { 0x2002 }, { "f.crc_bad" } },
    { "vector CRC in the wrong order", { 0x2002 }, { "f.crc_be" } },
    { "write with a wrong CRC", { 0x2002 }, .play = write_bad_crc },
    { "write with a flipped bit", { 0x2002 }, .play = write_flipped },
    { "length too large by 4", { 0x2002 }, .play = send_length_more },
    { "length too small by 4", { 0x2002 }, .play = send_length_less },
    { "ULPDU of no octet", { 0x1000, 0x2003 }, .ulpdu_control = 0xc1, .ulpdu_length = 0 },
    { "ULPDU of one octet", { 0x1000, 0x2003 }, .ulpdu_control = 0xc1, .ulpdu_length = 1 },
    { "vector ULPDU of two octets", { 0x1000, 0x2003 }, { "n.ulpdu_short" } },
    { "tagged ULPDU of 13 octets", { 0x1000, 0x2003 }, .ulpdu_control = 0xc1, .ulpdu_length = 13 },
    { "untagged ULPDU of 17 octets", { 0x1000, 0x2003 }, .ulpdu_control = 0x41, .ulpdu_length = 17 },
    { "vector DDP version, untagged", { 0x1206 }, { "n.ddp_ver_untagged" } },
    { "vector DDP version, tagged", { 0x1104 }, { "n.ddp_ver_tagged" } },
    { "vector RDMAP version", { 0x0205 }, { "n.rdmap_ver" } },
    { "vector opcode 15", { 0x0206 }, { "n.opcode_f" } },
    { "vector immediate data", { 0x0206 }, { "x.imm" } },
    { "vector tagged Send", { 0x0206 }, { "n.tagged_send" } },
    { "vector untagged Write", { 0x0206 }, { "n.untagged_write" } },
    { "response nobody asked for, to the program's STag", { 0x1100, 0x0206, 0x1000 }, .play = response_unasked },
    { "vector response nobody asked for", { 0x1100, 0x0206, 0x1000 }, { "n.rresp_unasked" } },

    /* Of RFC 7306 nothing is known to a peer that is not softrdma, or has not said so. */
    { "immediate data unasked", { 0x0206 }, .play = immediate },
    { "immediate data with an event unasked", { 0x0206 }, .play = immediate_solicited },
    { "an Atomic unasked", { 0x0206 }, .play = atomic },
    { "the response of an Atomic unasked", { 0x0206 }, .play = atomic_response },
    { "immediate data of 7 octets", { 0x02ff }, .play = immediate_short, .soft = true },
    { "immediate data of 60000 octets", { 0x1205 }, .play = immediate_long, .soft = true },
    { "immediate data without a Receive", { 0x1202 }, .play = immediates_without_receives, .soft = true },
    { "an Atomic without the right", { 0x0102 }, .play = atomic, .soft = true },
    { "an Atomic on an unknown STag", { 0x0100 }, .play = atomic_unknown, .soft = true },
    { "an Atomic behind the region", { 0x0101 }, .play = atomic_outside, .soft = true },
    { "an Atomic that wraps the address space", { 0x0104 }, .play = atomic_wraps, .soft = true },
    { "an Atomic in another protection domain", { 0x0103 }, .play = atomic_other_pd, .soft = true },
    { "an Atomic that is none", { 0x02ff }, .play = atomic_operation, .soft = true },
    { "an Atomic of 28 octets", { 0x02ff }, .play = atomic_short, .soft = true },
    { "the response of an Atomic that was not asked for", { 0x1202 }, .play = atomic_response, .soft = true },

    /* A Terminate is never answered with one. */
    { "vector Terminate", { SCENE_END }, { "t.catastrophic" } },
    { "vector Terminate of a read", { SCENE_END }, { "t.read_bad_stag" } },
    { "vector Terminate as the Linux software driver writes it", { SCENE_END }, { "t.siw_bad_write" } },
    { "vector Terminate for CRC", { SCENE_END }, { "t.crc" } },
    { "Terminate of 18 octets", { SCENE_END }, .terminate_length = 18 },
    { "Terminate of 21 octets", { SCENE_END }, .terminate_length = 21 },
    { "Terminate of 22 octets that promises headers", { SCENE_END }, .terminate_length = 22 },
    { "Terminate of 24 octets that promises headers", { SCENE_END }, .terminate_length = 24 },
    { "Terminate of 40 octets that promises headers", { SCENE_END }, .terminate_length = 40 },
    { "Terminate of 69 octets that promises headers", { SCENE_END }, .terminate_length = 69 },
    { "Terminate of reserved codes", { SCENE_END }, .play = terminate_reserved },
    { "end of stream inside an FPDU", { SCENE_END }, .play = end_in_fpdu, .ends = true },
    { "end of stream inside a message", { SCENE_END }, .play = end_in_message, .ends = true, .placed = true },
    { "end of stream at once", { SCENE_END }, .play = end_at_once, .ends = true },
};
/* clang-format on */

enum { ROWS = sizeof rows / sizeof rows[0] };

static uint64_t address_of(const struct scene *scene, const struct access *access)
{
    return (access->absolute ? 0 : scene->base) + (uint64_t)access->offset;
}

static void play_ulpdu(struct scene *scene, const struct row *row)
{
    memset(frame.octets, 0, 64);
    frame.octets[2] = row->ulpdu_control;
    frame.octets[3] = row->ulpdu_control & 0x80 ? 0x40 : 0x43;
    wire_seal(&frame, row->ulpdu_length);
    transmit(scene);
}

static void play_terminate(struct scene *scene, const struct row *row)
{
    static const uint8_t octets[64] = { 0x01, 0x00, 0xe0, 0x00, 0x00, 0x2e };

    wire_untagged(&frame, WIRE_TERMINATE, true, 0, 2, 1, 0, octets, row->terminate_length - 18u);
    transmit(scene);
}

static void play(struct scene *scene, const struct row *row)
{
    for (int i = 0; i < 2 && row->vectors[i]; i++) {
        wire_vector(&frame, row->vectors[i]);
        transmit(scene);
    }
    if (row->write.length)
        write_to(scene, stag_of(scene, row->write.stag), address_of(scene, &row->write),
            row->write.length);
    if (row->read.length)
        read_from(
            scene, stag_of(scene, row->read.stag), address_of(scene, &row->read), row->read.length);
    for (int i = 0; i < 3 && row->send[i].length; i++)
        send_opcode(scene, WIRE_SEND, 0, &row->send[i]);
    if (row->ulpdu_control)
        play_ulpdu(scene, row);
    if (row->terminate_length)
        play_terminate(scene, row);
    if (row->play)
        row->play(scene);
}

static void expect(const struct row *row, unsigned answer)
{
    for (int i = 0; i < SCENE_ANSWERS && row->answers[i]; i++)
        if (row->answers[i] == answer)
            return;
    fail_msg("answered %05x, expected %05x (layer, type, code; 10000: the end)", answer,
        row->answers[0]);
}

static void test_row(void **state)
{
    const struct row *row = *state;
    struct scene scene;
    unsigned answer;

    if (row->soft)
        scene_open_marked(&scene, false, SCENE_REQUEST_MARK, true);
    else
        scene_open(&scene, row->no_receives ? 0 : VICTIM_RECEIVES);
    play(&scene, row);
    answer = row->ends ? scene_answer_ended(&scene) : scene_answer(&scene);
    if (!row->placed)
        victim_untouched(&victim);
    if (!row->ends)
        victim_over(&scene.end);
    victim_unharmed(&victim);
    expect(row, answer);
}

/* Terminates whose every octet the standard fixes. */
static void test_terminates_are_exact(void **state)
{
    static const struct {
        const char *cause, *answer;
    } pairs[] = {
        { "s1.18.bad_write", "s1.19.term_bad_write" },
        { "t.read_bad_req", "t.read_bad_stag" },
        { "f.crc_bad", "t.crc" },
        { "n.opcode_f", "t.opcode" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct scene scene;

        scene_open(&scene, VICTIM_RECEIVES);
        wire_vector(&frame, pairs[i].cause);
        transmit(&scene);
        scene_answer(&scene);
        wire_vector(&frame, pairs[i].answer);
        assert_int_equal(scene.peer.terminate.length, frame.length);
        assert_memory_equal(scene.peer.terminate.octets, frame.octets, frame.length);
        victim_over(&scene.end);
    }
}

/* A window of one connection is nothing to another. */
static void test_window_of_another_connection(void **state)
{
    struct victim_end neighbour = {
        .victim = &victim, .id = victim.healthy[1], .cq = victim.healthy_cq
    };
    struct scene scene;

    (void)state;
    scene_open(&scene, VICTIM_RECEIVES);
    victim_bind(&neighbour);
    write_to(&scene, neighbour.mw->rkey, scene.base, 8);
    assert_int_equal(scene_answer(&scene), 0x1102);
    victim_untouched(&victim);
    victim_over(&scene.end);
    victim_invalidate(&neighbour);
    assert_int_equal(ibv_dealloc_mw(neighbour.mw), 0);
    victim_unharmed(&victim);
}

/* After as many sends as receives, one more. */
static void test_one_send_more_than_receives(void **state)
{
    struct scene scene;

    (void)state;
    scene_open(&scene, VICTIM_RECEIVES);
    for (uint32_t msn = 1; msn <= VICTIM_RECEIVES + 1; msn++)
        send_opcode(&scene, WIRE_SEND, 0, &(struct segment){ .length = 8, .msn = msn });
    assert_int_equal(scene_answer(&scene), 0x1202);
    victim_over(&scene.end);
    victim_unharmed(&victim);
}

int main(void)
{
    struct CMUnitTest tests[ROWS + 3];
    size_t count = 0;

    for (size_t i = 0; i < ROWS; i++)
        tests[count++] =
            (struct CMUnitTest){ rows[i].name, test_row, NULL, NULL, (void *)&rows[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_terminates_are_exact);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_window_of_another_connection);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_one_send_more_than_receives);
    return _cmocka_run_group_tests("hostile peer, FPDUs", tests, count, scenes_open, scenes_close);
}
