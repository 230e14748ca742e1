/* SPDX-License-Identifier: MIT */
/* Headers and Terminates (RFC 5041 section 4, RFC 5040 section 4, RFC 7306): octets against fields, both ways. */
#include "softrdma/wire/crc32c.h"
#include "softrdma/wire/terminate.h"
#include "softrdma/wire/wire.h"
#include "tests/unit/softrdma/vectors.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static uint32_t finish(uint8_t *fpdu, uint32_t octets)
{
    while (octets & 3)
        fpdu[octets++] = 0;
    wire_put_crc(fpdu + octets, srd_crc32c(0, fpdu, octets));
    return octets + 4;
}

struct segment_row {
    const char *name;
    struct srd_segment segment;
    const char *payload;
};

static const struct segment_row segments[] = {
    { "s1.03.rtr_write0", { .tagged = true, .last = true, .opcode = 0, .stag = 1 }, "" },
    { "s1.04.send4", { .last = true, .opcode = 3, .msn = 1 }, "ping" },
    { "s1.05.send4_back", { .last = true, .opcode = 3, .msn = 1 }, "pong" },
    { "s1.06.write4", { .tagged = true, .last = true, .stag = 0x11223344, .to = 0x1000 }, "data" },
    { "s1.08.read_resp4",
        { .tagged = true, .last = true, .opcode = 2, .stag = 0x0a0b0c01, .to = 0x2000 }, "data" },
    { "s1.09.send_se", { .last = true, .opcode = 5, .msn = 2 }, "se" },
    { "s1.10.send_inv", { .last = true, .opcode = 4, .stag = 0x11223344, .msn = 3 }, "inv" },
    { "s1.11.send_seg1", { .last = false, .opcode = 3, .msn = 4 }, "ABCDEFGHIJKL" },
    { "s1.12.send_seg2", { .last = true, .opcode = 3, .msn = 4, .mo = 12 }, "MNOPQRST" },
    { "s1.13.write_seg1", { .tagged = true, .last = false, .stag = 0x55667788, .to = 0x3000 },
        "abcdefgh" },
    { "s1.14.write_seg2", { .tagged = true, .last = true, .stag = 0x55667788, .to = 0x3008 },
        "ijklm" },
    { "s1.15.send0", { .last = true, .opcode = 6, .stag = 0x55667788, .msn = 5 }, "" },
    { "s1.17.read_resp0", { .tagged = true, .last = true, .opcode = 2 }, "" },
    { "f.pad1", { .last = true, .opcode = 3, .msn = 1 }, "abc" },
    { "f.pad2", { .last = true, .opcode = 3, .msn = 1 }, "ab" },
    { "f.pad3", { .last = true, .opcode = 3, .msn = 1 }, "a" },
};

static void segments_encode_and_decode(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(segments) / sizeof(*segments); i++) {
        const struct segment_row *row = &segments[i];
        const struct vector *v = vector_named(row->name);
        uint32_t payload = (uint32_t)strlen(row->payload), at;
        struct srd_segment decoded;
        uint8_t out[256];

        print_message("%s\n", row->name);
        at = srd_fpdu_begin(out, &row->segment, payload);
        assert_int_equal(at, row->segment.tagged ? 16 : 20);
        memcpy(out + at, row->payload, payload);
        assert_int_equal(finish(out, at + payload), v->count);
        assert_memory_equal(out, v->octets, v->count);
        assert_int_equal(srd_fpdu_octets(wire_get16(v->octets)), v->count);

        assert_int_equal(srd_control_check(v->octets + 2, wire_get16(v->octets)), SRD_FAULT_NONE);
        assert_int_equal(srd_segment_decode(&decoded, v->octets + 2), SRD_FAULT_NONE);
        assert_int_equal(decoded.tagged, row->segment.tagged);
        assert_int_equal(decoded.last, row->segment.last);
        assert_int_equal(decoded.opcode, row->segment.opcode);
        assert_int_equal(decoded.stag, row->segment.stag);
        assert_true(decoded.to == row->segment.to);
        assert_int_equal(decoded.qn, row->segment.qn);
        assert_int_equal(decoded.msn, row->segment.msn);
        assert_int_equal(decoded.mo, row->segment.mo);
    }
}

static void read_requests_encode_and_decode(void **state)
{
    static const struct {
        const char *name;
        uint32_t msn;
        struct srd_read_request request;
    } rows[] = {
        { "s1.07.read_req4", 1, { 0x0a0b0c01, 0x2000, 4, 0x11223344, 0x1000 } },
        { "s1.16.read_req0", 2, { 0, 0, 0, 1, 0 } },
        { "t.read_bad_req", 1, { 0x0a0b0c01, 0x2000, 4, 0x00dead00, 0x1000 } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct vector *v = vector_named(rows[i].name);
        struct srd_segment segment = { .last = true, .opcode = 1, .qn = 1, .msn = rows[i].msn };
        struct srd_read_request decoded;
        uint8_t out[64];
        uint32_t at = srd_fpdu_begin(out, &segment, 28);

        srd_read_request_encode(out + at, &rows[i].request);
        assert_int_equal(finish(out, at + 28), v->count);
        assert_memory_equal(out, v->octets, v->count);
        srd_read_request_decode(&decoded, v->octets + 20);
        assert_int_equal(decoded.sink_stag, rows[i].request.sink_stag);
        assert_true(decoded.sink_to == rows[i].request.sink_to);
        assert_int_equal(decoded.octets, rows[i].request.octets);
        assert_int_equal(decoded.source_stag, rows[i].request.source_stag);
        assert_true(decoded.source_to == rows[i].request.source_to);
    }
}

static void header_checks(void **state)
{
    static const struct {
        const char *name;
        int fault;
    } rows[] = {
        { "n.ulpdu_short", 0x1000 },
        { "n.ddp_ver_untagged", 0x1206 },
        { "n.ddp_ver_tagged", 0x1104 },
        { "n.rdmap_ver", 0x0205 },
        { "n.opcode_f", 0x0206 },
        { "n.tagged_send", 0x0206 },
        { "n.untagged_write", 0x0206 },
        { "x.imm", 0x0206 },
    };
    struct srd_segment segment;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct vector *v = vector_named(rows[i].name);

        print_message("%s\n", rows[i].name);
        assert_int_equal(srd_control_check(v->octets + 2, wire_get16(v->octets)), rows[i].fault);
    }
    assert_int_equal(srd_control_check(NULL, 0), 0x1000);
    assert_int_equal(srd_control_check(NULL, 1), 0x1000);
    assert_int_equal(srd_segment_decode(&segment, vector_named("n.send_qn1")->octets + 2), 0x1201);
    assert_int_equal(srd_segment_decode(&segment, vector_named("n.qn_7")->octets + 2), 0x1201);
}

/* --- Terminates ------------------------------------------------------------------------------------------------- */

static void terminates_build(void **state)
{
    static const struct {
        const char *name;
        int fault;
        const char *offender; /* vector */
        uint8_t ulpdu[18];    /* or octets */
        uint32_t ulpdu_octets;
    } rows[] = {
        { "s1.19.term_bad_write", 0x1100, "s1.18.bad_write", { 0 }, 46 },
        { "t.crc", 0x2002, "s1.18.bad_write", { 0 },
            46 }, /* no headers for an error of the layer below */
        { "t.read_bad_stag", 0x0100, "t.read_bad_req", { 0 }, 46 },
        { "t.send_long", 0x1205, NULL, { 0x41, 0x43, [13] = 1 }, 26 },
        { "t.send_nobuf", 0x1202, NULL, { 0x41, 0x43, [13] = 1 }, 26 },
        { "t.inv_bad", 0x0209, NULL, { 0x41, 0x44, 0x00, 0xde, 0xad, 0x00, [13] = 1 }, 21 },
        { "t.opcode", 0x0206, "s1.18.bad_write", { 0 }, 46 },
        { "t.catastrophic", 0x0000, NULL, { 0 }, 0 },
        { "t.no_ird", 0x2006, NULL, { 0 }, 0 },
        { "t.no_rtr", 0x2007, NULL, { 0 }, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct vector *v = vector_named(rows[i].name);
        const uint8_t *ulpdu = rows[i].offender       ? vector_named(rows[i].offender)->octets + 2
                               : rows[i].ulpdu_octets ? rows[i].ulpdu
                                                      : NULL;
        uint8_t out[SRD_TERMINATE_FPDU_MAX];

        print_message("%s\n", rows[i].name);
        assert_int_equal(
            srd_terminate_build(rows[i].fault, ulpdu, rows[i].ulpdu_octets, true, out), v->count);
        assert_memory_equal(out, v->octets, v->count);
    }
}

static void version_and_opcode_errors_return_no_headers(void **state)
{
    static const int faults[] = { 0x0205, 0x0206, 0x1104, 0x1206, 0x0000, 0x1000, 0x2002 };
    uint8_t out[SRD_TERMINATE_FPDU_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
        assert_int_equal(srd_terminate_build(
                             faults[i], vector_named("s1.18.bad_write")->octets + 2, 46, true, out),
            28);
    /* a write without the right is an RDMAP error, yet returns its header, and only that */
    assert_int_equal(
        srd_terminate_build(0x0102, vector_named("s1.18.bad_write")->octets + 2, 46, true, out),
        44);
    assert_int_equal(out[22], 0xc0);
}

struct decode_row {
    const char *name;
    int fault;
    bool has_segment, has_read_request;
    enum srd_terminate_class class;
    enum ibv_wc_status status;
};

static const struct decode_row decodes[] = {
    { "s1.19.term_bad_write", 0x1100, true, false, SRD_CLASS_ACCESS, IBV_WC_REM_ACCESS_ERR },
    { "t.siw_bad_write", 0x1100, true, false, SRD_CLASS_ACCESS, IBV_WC_REM_ACCESS_ERR },
    { "t.crc", 0x2002, false, false, SRD_CLASS_TRANSPORT, IBV_WC_WR_FLUSH_ERR },
    { "t.siw_crc", 0x2002, false, false, SRD_CLASS_TRANSPORT, IBV_WC_WR_FLUSH_ERR },
    { "t.read_bad_stag", 0x0100, true, true, SRD_CLASS_ACCESS, IBV_WC_REM_ACCESS_ERR },
    { "t.send_long", 0x1205, true, false, SRD_CLASS_TOO_LONG, IBV_WC_REM_INV_REQ_ERR },
    { "t.send_nobuf", 0x1202, true, false, SRD_CLASS_NO_RECEIVE, IBV_WC_RNR_RETRY_EXC_ERR },
    { "t.siw_nobuf", 0x1202, true, false, SRD_CLASS_NO_RECEIVE, IBV_WC_RNR_RETRY_EXC_ERR },
    { "t.inv_bad", 0x0209, true, false, SRD_CLASS_INVALIDATE, IBV_WC_REM_INV_REQ_ERR },
    { "t.opcode", 0x0206, false, false, SRD_CLASS_PROTOCOL, IBV_WC_REM_INV_REQ_ERR },
    { "t.catastrophic", 0x0000, false, false, SRD_CLASS_PEER, IBV_WC_REM_OP_ERR },
    { "t.no_ird", 0x2006, false, false, SRD_CLASS_SETUP, IBV_WC_WR_FLUSH_ERR },
    { "t.no_rtr", 0x2007, false, false, SRD_CLASS_SETUP, IBV_WC_WR_FLUSH_ERR },
};

static void terminates_decode(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(decodes) / sizeof(*decodes); i++) {
        const struct decode_row *row = &decodes[i];
        const struct vector *v = vector_named(row->name);
        uint32_t octets = wire_get16(v->octets) - 18u;
        struct srd_terminate terminate;
        /* setup errors are the first thing on a connection */
        bool flowed = row->class != SRD_CLASS_SETUP;

        print_message("%s\n", row->name);
        assert_true(srd_terminate_decode(&terminate, v->octets + 20, octets, flowed));
        assert_int_equal(terminate.fault, row->fault);
        assert_int_equal(terminate.has_segment, row->has_segment);
        assert_int_equal(terminate.has_read_request, row->has_read_request);
        assert_int_equal(srd_terminate_classify(&terminate), row->class);
        assert_int_equal(srd_terminate_status(row->class), row->status);
        /* Cut anywhere: what is there is used, nothing behind it. */
        for (uint32_t n = 0; n < octets; n++) {
            uint8_t copy[64];

            memset(copy, 0xee, sizeof(copy));
            memcpy(copy, v->octets + 20, n);
            assert_int_equal(srd_terminate_decode(&terminate, copy, n, flowed), n >= 4);
            if (n >= 4) {
                assert_int_equal(terminate.fault, row->fault);
                assert_false(terminate.has_read_request);
                assert_true(!terminate.has_segment || n >= 20);
            }
        }
    }
}

static void returned_headers_are_read(void **state)
{
    const struct vector *v = vector_named("t.read_bad_stag");
    struct srd_terminate terminate;

    (void)state;
    assert_true(
        srd_terminate_decode(&terminate, v->octets + 20, wire_get16(v->octets) - 18u, true));
    assert_int_equal(terminate.segment_octets, 46);
    assert_false(terminate.segment.tagged);
    assert_int_equal(terminate.segment.qn, 1);
    assert_int_equal(terminate.segment.msn, 1);
    assert_int_equal(terminate.read_request.source_stag, 0x00dead00);
    v = vector_named("s1.19.term_bad_write");
    assert_true(
        srd_terminate_decode(&terminate, v->octets + 20, wire_get16(v->octets) - 18u, true));
    assert_true(terminate.segment.tagged);
    assert_int_equal(terminate.segment.stag, 0x00dead00);
    assert_true(terminate.segment.to == 0x1234);
}

/* R without the header it promises: Linux's siw does that for a Send with Invalidate. */
static void promised_read_request_may_be_missing(void **state)
{
    uint8_t octets[24] = { 0x90, 0x09, 0x07, 0x00, 0x00, 0x03, 0x41, 0x44 };
    struct srd_terminate terminate;

    (void)state;
    octets[0] = 0x20; /* type 2 in the high nibble, layer 0 in the low one */
    assert_true(srd_terminate_decode(&terminate, octets, sizeof(octets), true));
    assert_int_equal(terminate.fault, 0x0209);
    assert_true(terminate.has_segment);
    assert_false(terminate.has_read_request);
}

/* The control word alone, where both forms are possible. */
static void bare_control_words(void **state)
{
    static const struct {
        uint8_t o0, o1;
        bool flowed;
        int fault;
    } rows[] = {
        { 0x00, 0x00, true, 0x0000 },
        { 0x11, 0x01, true, 0x1101 },
        { 0x22, 0x01, true, 0x2201 },
        { 0x20, 0x01, true, 0x2001 },
        { 0x20, 0x02, true, 0x2002 },
        { 0x20, 0x05, true, 0x0205 },
        { 0x20, 0x05, false, 0x2005 },
        { 0x20, 0x06, true, 0x0206 },
        { 0x20, 0x06, false, 0x2006 },
        { 0x20, 0x07, true, 0x2007 },
        { 0x02, 0x05, true, 0x0205 },
        { 0x02, 0x06, true, 0x0206 },
        { 0x02, 0x06, false, 0x2006 },
        { 0x02, 0x07, false, 0x2007 },
        { 0x02, 0x02, true, 0x2002 },
        { 0x02, 0x04, true, 0x2004 },
        { 0x10, 0x00, true, 0x1000 },
        { 0x01, 0x09, true, 0x0109 },
        { 0x12, 0x05, true, 0x1205 },
        { 0x21, 0x06, true, 0x1206 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint8_t octets[4] = { rows[i].o0, rows[i].o1, 0, 0 };
        struct srd_terminate terminate;

        print_message("%02x %02x %d\n", rows[i].o0, rows[i].o1, rows[i].flowed);
        assert_true(srd_terminate_decode(&terminate, octets, 4, rows[i].flowed));
        assert_int_equal(terminate.fault, rows[i].fault);
    }
}

/* What different peers say for the same fault. */
static void classes(void **state)
{
    static const struct {
        int fault;
        bool about_read;
        enum srd_terminate_class class;
    } rows[] = {
        { 0x0100, true, SRD_CLASS_ACCESS },
        { 0x0104, true, SRD_CLASS_ACCESS },
        { 0x01ff, false, SRD_CLASS_ACCESS },
        { 0x0200, false, SRD_CLASS_ACCESS },
        { 0x1100, false, SRD_CLASS_ACCESS },
        { 0x1103, false, SRD_CLASS_ACCESS },
        { 0x0109, false, SRD_CLASS_INVALIDATE },
        { 0x0209, false, SRD_CLASS_INVALIDATE },
        { 0x1205, false, SRD_CLASS_TOO_LONG },
        { 0x1202, false, SRD_CLASS_NO_RECEIVE },
        { 0x1202, true, SRD_CLASS_TOO_MANY_READS },
        { 0x1203, true, SRD_CLASS_TOO_MANY_READS },
        { 0x0207, true, SRD_CLASS_TOO_MANY_READS },
        { 0x0207, false, SRD_CLASS_PEER },
        { 0x0208, false, SRD_CLASS_PEER },
        { 0x1000, false, SRD_CLASS_PEER },
        { 0x0001, false, SRD_CLASS_PEER },
        { 0x0205, false, SRD_CLASS_PROTOCOL },
        { 0x02ff, false, SRD_CLASS_PROTOCOL },
        { 0x1104, false, SRD_CLASS_PROTOCOL },
        { 0x1201, false, SRD_CLASS_PROTOCOL },
        { 0x1203, false, SRD_CLASS_PROTOCOL },
        { 0x1204, false, SRD_CLASS_PROTOCOL },
        { 0x1206, false, SRD_CLASS_PROTOCOL },
        { 0x5555, false, SRD_CLASS_PROTOCOL },
        { 0x2001, false, SRD_CLASS_TRANSPORT },
        { 0x2005, false, SRD_CLASS_TRANSPORT },
        { 0x2006, false, SRD_CLASS_SETUP },
        { 0x2007, false, SRD_CLASS_SETUP },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct srd_terminate terminate = { .fault = rows[i].fault,
            .has_segment = rows[i].about_read };

        terminate.segment.qn = 1;
        assert_int_equal(srd_terminate_classify(&terminate), rows[i].class);
    }
}

/* The headers of an Atomic Request and Response (RFC 7306): each field, in a buffer that had other octets. */
static void atomic_headers(void **state)
{
    static const struct srd_atomic_request request = { .identifier = 0x01020304,
        .stag = 0x11121314,
        .to = 0x2122232425262728,
        .atomic = { .operation = SRD_ATOMIC_CMP_SWAP,
            .data = 0x3132333435363738,
            .mask = 0x4142434445464748,
            .compare = 0x5152535455565758,
            .compare_mask = 0x6162636465666768 } };
    static const struct srd_atomic_response response = { 0x01020304, 0x7172737475767778 };
    static const uint8_t asks[SRD_ATOMIC_REQUEST_OCTETS] = { 0, 0, 0, 2, 1, 2, 3, 4, 0x11, 0x12,
        0x13, 0x14, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x31, 0x32, 0x33, 0x34, 0x35,
        0x36, 0x37, 0x38, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x51, 0x52, 0x53, 0x54,
        0x55, 0x56, 0x57, 0x58, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68 };
    static const uint8_t answers[SRD_ATOMIC_RESPONSE_OCTETS] = { 1, 2, 3, 4, 0x71, 0x72, 0x73, 0x74,
        0x75, 0x76, 0x77, 0x78 };
    struct srd_atomic_request asked;
    struct srd_atomic_response answered;
    uint8_t out[SRD_ATOMIC_REQUEST_OCTETS];

    (void)state;
    memset(out, 0xa5, sizeof(out));
    srd_atomic_request_encode(out, &request);
    assert_memory_equal(out, asks, sizeof(asks));
    srd_atomic_request_decode(&asked, asks);
    assert_int_equal(asked.identifier, request.identifier);
    assert_int_equal(asked.stag, request.stag);
    assert_int_equal(asked.to, request.to);
    assert_int_equal(asked.atomic.operation, request.atomic.operation);
    assert_int_equal(asked.atomic.data, request.atomic.data);
    assert_int_equal(asked.atomic.mask, request.atomic.mask);
    assert_int_equal(asked.atomic.compare, request.atomic.compare);
    assert_int_equal(asked.atomic.compare_mask, request.atomic.compare_mask);
    memset(out, 0xa5, sizeof(out));
    srd_atomic_response_encode(out, &response);
    assert_memory_equal(out, answers, sizeof(answers));
    srd_atomic_response_decode(&answered, answers);
    assert_int_equal(answered.identifier, response.identifier);
    assert_int_equal(answered.original, response.original);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_encode_and_decode),
        cmocka_unit_test(read_requests_encode_and_decode),
        cmocka_unit_test(header_checks),
        cmocka_unit_test(terminates_build),
        cmocka_unit_test(version_and_opcode_errors_return_no_headers),
        cmocka_unit_test(terminates_decode),
        cmocka_unit_test(returned_headers_are_read),
        cmocka_unit_test(promised_read_request_may_be_missing),
        cmocka_unit_test(bare_control_words),
        cmocka_unit_test(classes),
        cmocka_unit_test(atomic_headers),
    };

    vectors_load(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
