/* SPDX-License-Identifier: MIT */
/*
 * test_nd_faults.c - a connected NetworkDirect program and a peer that breaks the rules, in each manner of waiting, on
 * either side of the connection.
 *
 * Each row: the program posts, the peer takes everything and plays. The program hears of the end by NotifyDisconnect,
 * gets every request back, once, in order, with the documented status; its later posts are accepted and flushed; the
 * memory is as it was; the process's other connection works on.
 */
#include "tests/hostile/nd_scene.h"

#include <string.h>
#include <unistd.h>

enum { REQUESTS = 3, OCTETS = 16, REMOTE_TOKEN = 0x5511, REMOTE_ADDRESS = 0x7000 };

static struct wire frame, heard[REQUESTS];
static struct program program;
static struct peer peer;

struct row {
    const char *name;
    bool soft;            /* the peer bears the mark of a softrdma end */
    const char *posts;    /* by letter: Send, Write, Read */
    const char *statuses; /* of these; see status_of */
    const char *received; /* of the receives */
    unsigned answer;      /* as peer_answer returns it; PEER_NO_ANSWER: the peer ends the stream */
    void (*play)(void);
    unsigned terminate,
        about; /* the peer ends it with this fault, about which request (from 1; 0: none) */
    bool reset, touched;
    bool orderly; /* the end is a disconnect: nothing is flushed before ours */
};

static void transmit(void)
{
    peer_send_frame(&peer, &frame);
}

/* Remote tokens are in network order. */
static uint32_t region_stag(void)
{
    return ntohl(program.end.rkey);
}

static void write_unknown(void)
{
    wire_tagged(&frame, WIRE_WRITE, true, 0x00dead00, 0x1000, "12345678", 8);
    transmit();
}

static void write_behind(void)
{
    wire_tagged(&frame, WIRE_WRITE, true, region_stag(),
        (uintptr_t)program.end.memory + PROGRAM_REGION - 4, "12345678", 8);
    transmit();
}

static void read_behind(void)
{
    wire_read_request(&frame, 1, 0x0a0b0c01, 0, 8, region_stag(),
        (uintptr_t)program.end.memory + PROGRAM_REGION - 4);
    transmit();
}

static void send_frame(unsigned opcode, uint32_t stag, uint32_t msn, size_t octets)
{
    static const uint8_t payload[PROGRAM_RECEIVE + 1] = { 0x33 };

    wire_untagged(&frame, opcode, true, stag, 0, msn, 0, payload, octets);
    transmit();
}

static void send_too_long(void)
{
    send_frame(WIRE_SEND, 0, 1, PROGRAM_RECEIVE + 1);
}

static void send_right_then_too_long(void)
{
    send_frame(WIRE_SEND, 0, 1, 8);
    send_frame(WIRE_SEND, 0, 2, PROGRAM_RECEIVE + 1);
}

static void send_one_too_many(void)
{
    for (uint32_t msn = 1; msn <= PROGRAM_RECEIVES + 1; msn++)
        send_frame(WIRE_SEND, 0, msn, 8);
}

static void send_out_of_order(void)
{
    send_frame(WIRE_SEND, 0, 3, 8);
}

static void invalidate_region(void)
{
    send_frame(WIRE_SEND_INVALIDATE, region_stag(), 1, 8);
}

static void bad_crc(void)
{
    wire_vector(&frame, "f.crc_bad");
    transmit();
}

static void bad_opcode(void)
{
    wire_vector(&frame, "n.opcode_f");
    transmit();
}

static void short_ulpdu(void)
{
    wire_vector(&frame, "n.ulpdu_short");
    transmit();
}

static void half_fpdu(void)
{
    wire_untagged(&frame, WIRE_SEND, true, 0, 0, 1, 0, "12345678", 8);
    peer_send(&peer, frame.octets, 21);
}

static void half_message(void)
{
    wire_untagged(&frame, WIRE_SEND, false, 0, 0, 1, 0, "12345678", 8);
    transmit();
}

/* The first request is a Read. */
static void response(bool last, uint32_t stag_xor, size_t octets)
{
    static const uint8_t payload[OCTETS + 1] = { 0x33 };

    wire_tagged(&frame, WIRE_READ_RESPONSE, last, wire_get32(heard[0].octets + 20) ^ stag_xor, 0,
        payload, octets);
    transmit();
}

static void response_elsewhere(void)
{
    response(true, 1, OCTETS);
}

static void response_too_long(void)
{
    response(true, 0, OCTETS + 1);
}

static void response_half(void)
{
    response(false, 0, OCTETS / 2);
}

static void acknowledge(uint64_t count)
{
    wire_acknowledge(&frame, count);
    transmit();
}

static void acknowledge_one(void)
{
    acknowledge(1);
}

static void acknowledge_all(void)
{
    acknowledge(3);
}

static void acknowledge_too_many(void)
{
    acknowledge(2);
    acknowledge(4);
}

static void acknowledge_backwards(void)
{
    acknowledge(2);
    acknowledge(1);
}

#define ALL   "ccc" /* receives, flushed */
#define ENDED PEER_NO_ANSWER

/* clang-format off */
static const struct row rows[] = {
    { "Write to unknown memory", false, "", "", ALL, 0x1100, write_unknown },
    { "Write behind the region", false, "", "", ALL, 0x1101, write_behind },
    { "Read behind the region", false, "", "", ALL, 0x0101, read_behind },
    { "Send too long", false, "", "", "occ", 0x1205, send_too_long },
    { "Send too long behind a right one", false, "", "", "soc", 0x1205, send_right_then_too_long, .touched = true },
    { "one Send too many", false, "", "", "sss", 0x1202, send_one_too_many, .touched = true },
    { "Send out of order", false, "", "", ALL, 0x1203, send_out_of_order },
    { "invalidation of a region", false, "", "", "dcc", 0x0209, invalidate_region, .touched = true },
    { "wrong CRC", false, "", "", ALL, 0x2002, bad_crc },
    { "wrong CRC, requests open", true, "SWR", "ccc", ALL, 0x2002, bad_crc },
    { "unknown opcode", false, "R", "c", ALL, 0x0206, bad_opcode },
    { "FPDU without a header", false, "", "", ALL, 0x1000, short_ulpdu },

    { "the end", false, "SWS", "sss", ALL, ENDED, .orderly = true },
    { "the end, nothing acknowledged", true, "SWS", "ccc", ALL, ENDED, .orderly = true },
    { "the end, some acknowledged", true, "SWS", "scc", ALL, ENDED, acknowledge_one, .orderly = true },
    { "the end, a Read open", false, "RSW", "ccc", ALL, ENDED, .orderly = true },
    { "the end in an FPDU", true, "SWS", "ccc", ALL, ENDED, half_fpdu },
    { "the end in a message", true, "SWS", "ccc", ALL, ENDED, half_message, .touched = true },
    { "the end in a Read Response", false, "R", "c", ALL, ENDED, response_half, .touched = true },
    { "a reset", true, "SWR", "ccc", ALL, ENDED, .reset = true },
    { "a reset, all acknowledged", true, "SWS", "sss", ALL, ENDED, acknowledge_all, .reset = true },

    { "Read Response elsewhere", false, "RS", "dc", ALL, 0x1100, response_elsewhere },
    { "Read Response too long", false, "RS", "dc", ALL, 0x1101, response_too_long },
    { "too much acknowledged", true, "SWS", "ssc", ALL, 0x1101, acknowledge_too_many },
    { "less acknowledged than before", true, "SWS", "ssc", ALL, 0x1101, acknowledge_backwards },

    { "Terminate: no access for the Write", true, "SWS", "sac", ALL, ENDED, acknowledge_one, 0x1100, 2 },
    { "Terminate: no access for the Read", true, "RSS", "acc", ALL, ENDED, NULL, 0x0101, 1 },
    { "Terminate: no access for a foreign peer's Read", false, "RSS", "acc", ALL, ENDED, NULL, 0x0101, 1 },
    { "Terminate: no receive", true, "SSS", "tcc", ALL, ENDED, NULL, 0x1202, 1 },
    { "Terminate: too long", true, "SSS", "sdc", ALL, ENDED, NULL, 0x1205, 2 },
    { "Terminate: not to be invalidated", true, "SSS", "dcc", ALL, ENDED, NULL, 0x0209, 1 },
    { "Terminate: too many Reads", false, "RR", "dc", ALL, ENDED, NULL, 0x1202, 1 },
    { "Terminate: an unexpected opcode", true, "SWS", "dcc", ALL, ENDED, NULL, 0x0206, 1 },
    { "Terminate: the peer's own trouble", true, "SWS", "ssd", ALL, ENDED, acknowledge_one, 0x0000, 3 },
    { "Terminate: a bare one", true, "SWS", "sdc", ALL, ENDED, acknowledge_one, 0x1000, 0 },
    { "Terminate: wrong CRC", true, "SWS", "ccc", ALL, ENDED, NULL, 0x2002, 0 },
    { "Terminate: of what is done", true, "SWS", "sss", ALL, ENDED, acknowledge_all, 0x1205, 1 },
};
/* clang-format on */

enum { ROWS = sizeof rows / sizeof rows[0] };

static HRESULT status_of(char letter)
{
    switch (letter) {
    case 's': return ND_SUCCESS;
    case 'a': return ND_ACCESS_VIOLATION;
    case 'd': return (HRESULT)0xC000003Eu;
    case 't': return ND_IO_TIMEOUT;
    case 'o': return ND_BUFFER_OVERFLOW;
    default: return ND_CANCELED;
    }
}

/* ------------------------------------------------------------------------------------------------ meeting */

static uint8_t marks(bool soft, uint8_t mark)
{
    return soft ? mark : 0;
}

static void meet_passive(bool soft)
{
    program_listen(&program);
    program_get_begin(&program);
    peer_connect(&peer, program.port_be);
    wire_startup2(&frame, false, 4, 4);
    frame.octets[16] |= marks(soft, 0x04);
    transmit();
    assert_int_equal(program_get_end(&program), ND_SUCCESS);
    program_accept_begin(&program);
    assert_true(peer_receive_startup(&peer, &frame));
    wire_tagged(&frame, WIRE_WRITE, true, 1, 0, NULL, 0);
    transmit();
    assert_int_equal(program_accept_end(&program), ND_SUCCESS);
}

static void meet_active(bool soft)
{
    uint16_t port_be;
    int listener = peer_listen(&port_be);

    program_connect_begin(&program, port_be);
    peer_accept(&peer, listener);
    close(listener);
    assert_true(peer_receive_startup(&peer, &frame));
    wire_startup2(&frame, true, 4, 4);
    frame.octets[16] |= marks(soft, 0x02);
    transmit();
    assert_int_equal(program_connect_end(&program), ND_SUCCESS);
    assert_int_equal(program_complete(&program), ND_SUCCESS);
    assert_true(peer_receive_fpdu(&peer, &frame)); /* the RTR */
}

/* ------------------------------------------------------------------------------------------------ a row */

static void post(char kind, size_t number)
{
    ND2_SGE sge = { program.end.memory + 4096 + number * 64, OCTETS, program.end.lkey };
    IND2QueuePair *qp = program.end.qp;
    void *context = (void *)number;
    HRESULT hr = kind == 'S' ? qp->lpVtbl->Send(qp, context, &sge, 1, 0)
                 : kind == 'W'
                     ? qp->lpVtbl->Write(qp, context, &sge, 1, REMOTE_ADDRESS, REMOTE_TOKEN, 0)
                     : qp->lpVtbl->Read(qp, context, &sge, 1, REMOTE_ADDRESS, REMOTE_TOKEN, 0);

    assert_int_equal(hr, ND_SUCCESS);
}

static void expect_results(const char *statuses, const char *received)
{
    unsigned sent = 0, got = 0, count = (unsigned)(strlen(statuses) + strlen(received));
    ND2_RESULT results[REQUESTS + PROGRAM_RECEIVES];

    program_results(&program, results, count);
    for (unsigned i = 0; i < count; i++) {
        bool receive = results[i].RequestType == Nd2RequestTypeReceive;
        const char *expected = receive ? received : statuses;
        unsigned number = receive ? got++ : sent++;

        assert_true(number < strlen(expected));
        assert_ptr_equal(results[i].RequestContext, (void *)(size_t)number);
        if (results[i].Status != status_of(expected[number]))
            fail_msg("%s %u ended with 0x%08x, expected 0x%08x", receive ? "receive" : "request",
                number, (unsigned)results[i].Status, (unsigned)status_of(expected[number]));
    }
    program_no_results(&program);
}

static void expect_untouched(void)
{
    for (size_t i = 0; i < PROGRAM_REGION; i++)
        if (program.end.memory[i] != VICTIM_FILL)
            fail_msg("octet %zu of the region was written", i);
}

static void play(const struct row *row)
{
    for (size_t i = 0; row->posts[i]; i++) {
        post(row->posts[i], i);
        assert_true(peer_receive_fpdu(&peer, &heard[i]));
    }
    if (row->play)
        row->play();
    if (row->terminate || row->about) {
        wire_terminate(&frame, row->terminate, row->about ? &heard[row->about - 1] : NULL);
        transmit();
    }
    if (row->reset)
        peer_abort(&peer);
    else if (row->answer == PEER_NO_ANSWER)
        peer_half_close(&peer);
}

static void play_row(const struct row *row, enum nd_manner manner, bool active)
{
    unsigned answer;

    program_open(&program, manner);
    (active ? meet_active : meet_passive)(row->soft);
    assert_int_equal(program_notify_begin(&program), ND_PENDING);
    play(row);
    assert_int_equal(program_notify_end(&program), ND_SUCCESS);
    if (row->orderly)
        assert_int_equal(program_disconnect(&program), ND_SUCCESS);
    expect_results(row->statuses, row->received);
    post('S', 0);
    expect_results("c", "");
    if (!row->orderly)
        assert_int_equal(program_disconnect(&program), ND_SUCCESS);
    if (!row->reset) {
        answer = peer_answer(&peer);
        if (answer != row->answer)
            fail_msg("answered %05x, expected %05x", answer, row->answer);
    }
    if (!row->touched)
        expect_untouched();
    program_close(&program);
    programs_unharmed();
}

static void test_row(void **state)
{
    for (unsigned manner = 0; manner < ND_MANNERS; manner++)
        for (unsigned active = 0; active < 2; active++)
            play_row(*state, (enum nd_manner)manner, active);
}

int main(void)
{
    struct CMUnitTest tests[ROWS];

    for (size_t i = 0; i < ROWS; i++)
        tests[i] = (struct CMUnitTest){ rows[i].name, test_row, NULL, NULL, (void *)&rows[i] };
    return _cmocka_run_group_tests(
        "hostile peer of a program, faults", tests, ROWS, programs_open, programs_close);
}
