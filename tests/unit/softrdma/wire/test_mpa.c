/* SPDX-License-Identifier: MIT */
/* MPA startup: frames octet by octet (RFC 5044 section 7, RFC 6581), and every row of the negotiation. */
#include "softrdma/wire/mpa.h"
#include "tests/unit/softrdma/vectors.h"

#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static int decode(struct srd_mpa_frame *frame, const char *name)
{
    const struct vector *v = vector_named(name);
    bool reply = strncmp(name, "m.rep", 5) == 0 || strcmp(name, "s1.02.mpa_rep") == 0;

    return srd_mpa_decode(frame, reply, v->octets, v->count);
}

struct frame_row {
    const char *name;
    bool crc, reject, enhanced, peer_to_peer, markers;
    uint8_t revision, rtr;
    uint16_t ird, ord;
    const char *user;
};

/* rtr: 2 = Write, 4 = Read */
static const struct frame_row frames[] = {
    { "s1.01.mpa_req", true, false, true, true, false, 2, 2 | 4, 4, 4, "" },
    { "s1.02.mpa_rep", true, false, true, true, false, 2, 2, 4, 4, "" },
    { "m.req_rev1", true, false, false, false, false, 1, 0, 0, 0, "hi" },
    { "m.rep_rev1", true, false, false, false, false, 1, 0, 0, 0, "ok" },
    { "m.req_rev1_plain", false, false, false, false, false, 1, 0, 0, 0, "" },
    { "m.req_rev2_cs", false, false, true, false, false, 2, 0, 16, 16, "" },
    { "m.req_rev2_pd", true, false, true, true, false, 2, 2 | 4, 4, 4, "USER" },
    { "m.rep_reject", true, true, true, false, false, 2, 0, 0, 0, "no" },
    { "m.rep_reject_ird", true, true, true, false, false, 2, 0, 4, 32, "" },
    { "m.req_markers", true, false, true, false, true, 2, 0, 4, 4, "" },
    { "m.rep_reject_markers", true, true, true, false, false, 2, 0, 0, 0, "" },
    { "m.req_auto", true, false, true, false, false, 2, 0, 0x3fff, 0x3fff, "" },
};

static void frames_decode_and_encode(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
        const struct frame_row *row = &frames[i];
        const struct vector *v = vector_named(row->name);
        struct srd_mpa_frame frame;
        uint8_t out[SRD_MPA_FRAME_MAX];

        print_message("%s\n", row->name);
        assert_int_equal(decode(&frame, row->name), v->count);
        assert_int_equal(frame.crc, row->crc);
        assert_int_equal(frame.reject, row->reject);
        assert_int_equal(frame.enhanced, row->enhanced);
        assert_int_equal(frame.peer_to_peer, row->peer_to_peer);
        assert_int_equal(frame.markers, row->markers);
        assert_int_equal(frame.revision, row->revision);
        assert_int_equal(frame.rtr, row->rtr);
        assert_int_equal(frame.ird, row->ird);
        assert_int_equal(frame.ord, row->ord);
        assert_int_equal(frame.private_octets, strlen(row->user));
        assert_memory_equal(frame.private_data, row->user, strlen(row->user));
        assert_int_equal(srd_mpa_encode(&frame, out), v->count);
        assert_memory_equal(out, v->octets, v->count);
    }
}

static void every_cut_asks_for_more(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
        const struct vector *v = vector_named(frames[i].name);
        struct srd_mpa_frame frame;

        for (size_t n = 0; n < v->count; n++)
            assert_int_equal(srd_mpa_decode(&frame, v->octets[9] == 0x70, v->octets, n), 0);
    }
}

/* What stands behind a frame belongs to the FPDU stream. */
static void surplus_is_left_alone(void **state)
{
    const struct vector *v = vector_named("m.req_rev1");
    struct srd_mpa_frame frame;
    uint8_t octets[64];

    (void)state;
    memcpy(octets, v->octets, v->count);
    memset(octets + v->count, 0x55, sizeof(octets) - v->count);
    assert_int_equal(srd_mpa_decode(&frame, false, octets, sizeof(octets)), v->count);
}

static void malformed_is_said_early(void **state)
{
    const struct vector *v = vector_named("m.bad_key");
    struct srd_mpa_frame frame;

    (void)state;
    assert_int_equal(srd_mpa_decode(&frame, false, v->octets, v->count), -EPROTO);
    assert_int_equal(
        srd_mpa_decode(&frame, false, v->octets, 10), -EPROTO); /* at the octet that differs */
    assert_int_equal(srd_mpa_decode(&frame, false, v->octets, 9), 0);
    v = vector_named("m.bad_pdlen");
    assert_int_equal(
        srd_mpa_decode(&frame, false, v->octets, v->count), -EPROTO); /* no data has come */
    v = vector_named("m.bad_s_short");
    assert_int_equal(srd_mpa_decode(&frame, false, v->octets, v->count), -EPROTO);
}

static void revision_0_is_malformed_and_s_means_nothing_in_revision_1(void **state)
{
    uint8_t octets[20] = "MPA ID Req Frame";
    struct srd_mpa_frame frame;

    (void)state;
    octets[16] = 0x10;
    assert_int_equal(srd_mpa_decode(&frame, false, octets, 20), -EPROTO);
    octets[17] = 1;
    assert_int_equal(srd_mpa_decode(&frame, false, octets, 20), 20);
    assert_false(frame.enhanced);
}

static void private_data_too_long_is_not_encoded(void **state)
{
    struct srd_mpa_frame frame = { .revision = 2, .enhanced = true, .private_octets = 508 };
    uint8_t out[SRD_MPA_FRAME_MAX];

    (void)state;
    assert_int_equal(srd_mpa_encode(&frame, out), 532);
    frame.private_octets = 509;
    assert_int_equal(srd_mpa_encode(&frame, out), 0);
    frame.enhanced = false;
    assert_int_equal(srd_mpa_encode(&frame, out), 529);
}

/* --- the responder ---------------------------------------------------------------------------------------------- */

struct accept_row {
    const char *what, *request;
    struct srd_mpa_local local;
    const char *reply; /* vector, or NULL */
    enum srd_mpa_verdict verdict;
    uint16_t ird, ord, reply_ird, reply_ord;
    uint8_t rtr, revision;
    bool crc, rtr_expected, soft;
};

static const struct accept_row accepts[] = {
    { "as the session", "s1.01.mpa_req", { .ird = 4, .ord = 4, .ird_max = 16 }, "s1.02.mpa_rep",
        SRD_MPA_AGREED, 4, 4, 4, 4, 2, 2, true, true, false },
    { "own ORD cut to the peer's IRD", "s1.01.mpa_req", { .ird = 16, .ord = 16, .ird_max = 16 },
        NULL, SRD_MPA_AGREED, 16, 4, 16, 4, 2, 2, true, true, false },
    { "less of our own", "s1.01.mpa_req", { .ird = 1, .ord = 0, .ird_max = 16 }, NULL,
        SRD_MPA_AGREED, 1, 0, 1, 0, 2, 2, true, true, false },
    { "revision 1", "m.req_rev1", { .ird = 4, .ord = 5, .ird_max = 16 }, NULL, SRD_MPA_AGREED, 4, 5,
        0, 0, 0, 1, true, false, false },
    { "CRC asked by us only", "m.req_rev1_plain", { .crc = true, .ird = 4, .ord = 4 }, NULL,
        SRD_MPA_AGREED, 4, 4, 0, 0, 0, 1, true, false, false },
    { "CRC by nobody", "m.req_rev1_plain", { .ird = 4, .ord = 4 }, NULL, SRD_MPA_AGREED, 4, 4, 0, 0,
        0, 1, false, false, false },
    { "client-server", "m.req_rev2_cs", { .ird = 8, .ord = 8, .ird_max = 16 }, NULL, SRD_MPA_AGREED,
        8, 8, 8, 8, 0, 2, false, false, false },
    { "no automatic negotiation", "m.req_auto", { .ird = 3, .ord = 5, .ird_max = 16 }, NULL,
        SRD_MPA_AGREED, 3, 5, 0x3fff, 0x3fff, 0, 2, true, false, false },
    { "revision 3 is answered as 2", "m.bad_rev", { .ird = 4, .ord = 4 }, NULL, SRD_MPA_AGREED, 4,
        4, 0, 0, 0, 2, true, false, false },
    { "soft offered, peer is not", "s1.01.mpa_req", { .soft = true, .ird = 4, .ord = 4 },
        "s1.02.mpa_rep", SRD_MPA_AGREED, 4, 4, 4, 4, 2, 2, true, true, false },
    { "Markers demanded", "m.req_markers", { .ird = 4, .ord = 4 }, "m.rep_reject_markers",
        SRD_MPA_NO_MARKERS, 0, 0, 0, 0, 0, 2, false, false, false },
};

static void responder_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(accepts) / sizeof(*accepts); i++) {
        const struct accept_row *row = &accepts[i];
        struct srd_mpa_frame request, reply;
        struct srd_stream_params params;
        uint8_t out[SRD_MPA_FRAME_MAX];

        print_message("%s\n", row->what);
        assert_true(decode(&request, row->request) > 0);
        assert_int_equal(srd_mpa_accept(&request, &row->local, &reply, &params), row->verdict);
        if (row->reply) {
            const struct vector *v = vector_named(row->reply);

            assert_int_equal(srd_mpa_encode(&reply, out), v->count);
            assert_memory_equal(out, v->octets, v->count);
        }
        assert_int_equal(reply.revision, row->revision);
        assert_true(reply.reply);
        if (row->verdict != SRD_MPA_AGREED)
            continue;
        assert_int_equal(params.ird, row->ird);
        assert_int_equal(params.ord, row->ord);
        assert_int_equal(reply.ird, row->reply_ird);
        assert_int_equal(reply.ord, row->reply_ord);
        assert_int_equal(params.rtr, row->rtr);
        assert_int_equal(params.crc, row->crc);
        assert_int_equal(reply.crc, row->crc);
        assert_int_equal(params.rtr_expected, row->rtr_expected);
        assert_int_equal(params.soft_peer, row->soft);
        assert_false(params.initiator);
        assert_int_equal(reply.reserved, 0);
        assert_false(reply.markers);
    }
}

static void rtr_choice(void **state)
{
    static const struct {
        uint8_t offered, answered;
        uint16_t ird;
    } rows[] = {
        { SRD_MPA_RTR_WRITE | SRD_MPA_RTR_READ | SRD_MPA_RTR_SEND, SRD_MPA_RTR_WRITE, 0 },
        { SRD_MPA_RTR_READ, SRD_MPA_RTR_READ, 1 },  /* the depth is raised for it */
        { SRD_MPA_RTR_SEND, SRD_MPA_RTR_WRITE, 0 }, /* what we can take; the initiator ends it */
        { 0, SRD_MPA_RTR_WRITE, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct srd_mpa_frame request = { .revision = 2,
            .enhanced = true,
            .peer_to_peer = true,
            .rtr = rows[i].offered },
                             reply;
        struct srd_mpa_local local = { .ird = 0, .ord = 0, .ird_max = 16 };
        struct srd_stream_params params;

        assert_int_equal(srd_mpa_accept(&request, &local, &reply, &params), SRD_MPA_AGREED);
        assert_int_equal(reply.rtr, rows[i].answered);
        assert_int_equal(params.ird, rows[i].ird);
        assert_int_equal(reply.ird, rows[i].ird);
    }
}

/* --- the initiator ---------------------------------------------------------------------------------------------- */

static void request_is_the_session_s(void **state)
{
    const struct vector *v = vector_named("s1.01.mpa_req");
    struct srd_mpa_local local = { .crc = true, .ird = 4, .ord = 4, .ird_max = 16 };
    struct srd_mpa_frame request;
    uint8_t out[SRD_MPA_FRAME_MAX];

    (void)state;
    srd_mpa_request(&request, &local, 2);
    assert_int_equal(srd_mpa_encode(&request, out), v->count);
    assert_memory_equal(out, v->octets, v->count);
    local.crc = false;
    v = vector_named("m.req_rev1_plain");
    srd_mpa_request(&request, &local, 1);
    assert_int_equal(srd_mpa_encode(&request, out), v->count);
    assert_memory_equal(out, v->octets, v->count);
}

struct conclude_row {
    const char *what;
    uint8_t revision; /* of our Request */
    struct srd_mpa_local local;
    struct srd_mpa_frame reply;
    enum srd_mpa_verdict verdict;
    uint16_t ird, ord;
    uint8_t rtr;
};

static const struct conclude_row concludes[] = {
    { "accepted", 2, { .ird = 4, .ord = 4, .ird_max = 16 },
        { .revision = 2, .enhanced = true, .peer_to_peer = true, .rtr = 2, .ird = 4, .ord = 4 },
        SRD_MPA_AGREED, 4, 4, 2 },
    { "ORD cut", 2, { .ird = 4, .ord = 8, .ird_max = 16 },
        { .revision = 2, .enhanced = true, .peer_to_peer = true, .rtr = 2, .ird = 3, .ord = 1 },
        SRD_MPA_AGREED, 4, 3, 2 },
    { "IRD raised", 2, { .ird = 4, .ord = 4, .ird_max = 16 },
        { .revision = 2, .enhanced = true, .peer_to_peer = true, .rtr = 2, .ird = 4, .ord = 16 },
        SRD_MPA_AGREED, 16, 4, 2 },
    { "IRD cannot be raised", 2, { .ird = 4, .ord = 4, .ird_max = 16 },
        { .revision = 2, .enhanced = true, .peer_to_peer = true, .rtr = 2, .ird = 4, .ord = 17 },
        SRD_MPA_NO_IRD, 0, 0, 0 },
    { "not negotiated by the peer", 2, { .ird = 4, .ord = 5, .ird_max = 16 },
        { .revision = 2,
            .enhanced = true,
            .peer_to_peer = true,
            .rtr = 2,
            .ird = 0x3fff,
            .ord = 0x3fff },
        SRD_MPA_AGREED, 4, 5, 2 },
    { "RTR by Read", 2, { .ird = 4, .ord = 0, .ird_max = 16 },
        { .revision = 2, .enhanced = true, .peer_to_peer = true, .rtr = 4, .ird = 1, .ord = 0 },
        SRD_MPA_AGREED, 4, 1, 4 },
    { "Write preferred", 2, { .ird = 4, .ord = 4, .ird_max = 16 },
        { .revision = 2, .enhanced = true, .peer_to_peer = true, .rtr = 6, .ird = 4, .ord = 4 },
        SRD_MPA_AGREED, 4, 4, 2 },
    { "no RTR fits", 2, { .ird = 4, .ord = 4, .ird_max = 16 },
        { .revision = 2, .enhanced = true, .peer_to_peer = true, .rtr = 1, .ird = 4, .ord = 4 },
        SRD_MPA_NO_RTR, 0, 0, 0 },
    { "client-server answer", 2, { .ird = 4, .ord = 4, .ird_max = 16 },
        { .revision = 2, .enhanced = true, .ird = 4, .ord = 4 }, SRD_MPA_AGREED, 4, 4, 0 },
    { "unenhanced answer of revision 2", 2, { .ird = 4, .ord = 4, .ird_max = 16 },
        { .revision = 2 }, SRD_MPA_MALFORMED, 0, 0, 0 },
    { "answered as revision 1", 2, { .ird = 4, .ord = 6, .ird_max = 16 }, { .revision = 1 },
        SRD_MPA_AGREED, 4, 6, 0 },
    { "revision 1 both", 1, { .ird = 4, .ord = 6, .ird_max = 16 }, { .revision = 1 },
        SRD_MPA_AGREED, 4, 6, 0 },
    { "higher revision than asked", 1, { .ird = 4, .ord = 4, .ird_max = 16 }, { .revision = 2 },
        SRD_MPA_MALFORMED, 0, 0, 0 },
    { "rejected", 2, { .ird = 4, .ord = 4, .ird_max = 16 },
        { .revision = 2, .enhanced = true, .reject = true }, SRD_MPA_REJECTED, 0, 0, 0 },
    { "rejected, with Markers", 2, { .ird = 4 },
        { .revision = 2, .enhanced = true, .reject = true, .markers = true }, SRD_MPA_REJECTED, 0,
        0, 0 },
    { "Markers demanded", 2, { .ird = 4 }, { .revision = 2, .enhanced = true, .markers = true },
        SRD_MPA_NO_MARKERS, 0, 0, 0 },
};

static void initiator_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(concludes) / sizeof(*concludes); i++) {
        const struct conclude_row *row = &concludes[i];
        struct srd_mpa_frame request, reply = row->reply;
        struct srd_stream_params params;

        print_message("%s\n", row->what);
        srd_mpa_request(&request, &row->local, row->revision);
        reply.reply = true;
        assert_int_equal(srd_mpa_conclude(&request, &reply, &row->local, &params), row->verdict);
        if (row->verdict != SRD_MPA_AGREED)
            continue;
        assert_true(params.initiator);
        assert_int_equal(params.ird, row->ird);
        assert_int_equal(params.ord, row->ord);
        assert_int_equal(params.rtr, row->rtr);
        assert_false(params.soft_peer);
    }
}

static void crc_is_on_if_either_asks(void **state)
{
    (void)state;
    for (int ours = 0; ours < 2; ours++)
        for (int theirs = 0; theirs < 2; theirs++) {
            struct srd_mpa_local local = { .crc = ours };
            struct srd_mpa_frame request, reply = { .reply = true, .revision = 1, .crc = theirs };
            struct srd_stream_params params;

            srd_mpa_request(&request, &local, 1);
            assert_int_equal(srd_mpa_conclude(&request, &reply, &local, &params), SRD_MPA_AGREED);
            assert_int_equal(params.crc, ours || theirs);
        }
}

/* Two softrdma ends find each other; one that echoes reserved bits is not taken for one. */
static void soft_peers(void **state)
{
    struct srd_mpa_local soft = { .soft = true, .ird = 4, .ord = 4, .ird_max = 16 }, plain = soft;
    struct srd_mpa_frame request, reply;
    struct srd_stream_params initiator, responder;

    (void)state;
    plain.soft = false;
    for (uint8_t revision = 1; revision <= 2; revision++) {
        srd_mpa_request(&request, &soft, revision);
        assert_int_equal(request.reserved, 0x04);
        assert_int_equal(srd_mpa_accept(&request, &soft, &reply, &responder), SRD_MPA_AGREED);
        assert_int_equal(reply.reserved, 0x02);
        assert_int_equal(srd_mpa_conclude(&request, &reply, &soft, &initiator), SRD_MPA_AGREED);
        assert_true(initiator.soft_peer && responder.soft_peer);

        reply.reserved = 0x04; /* an echo */
        assert_int_equal(srd_mpa_conclude(&request, &reply, &soft, &initiator), SRD_MPA_AGREED);
        assert_false(initiator.soft_peer);
        reply.reserved = 0x06;
        assert_int_equal(srd_mpa_conclude(&request, &reply, &soft, &initiator), SRD_MPA_AGREED);
        assert_false(initiator.soft_peer);
        reply.reserved = 0x08;
        assert_int_equal(srd_mpa_conclude(&request, &reply, &soft, &initiator), SRD_MPA_AGREED);
        assert_false(initiator.soft_peer);

        assert_int_equal(srd_mpa_accept(&request, &plain, &reply, &responder), SRD_MPA_AGREED);
        assert_int_equal(reply.reserved, 0);
        assert_false(responder.soft_peer);
        srd_mpa_request(&request, &plain, revision);
        assert_int_equal(srd_mpa_accept(&request, &soft, &reply, &responder), SRD_MPA_AGREED);
        assert_int_equal(reply.reserved, 0);
        assert_false(responder.soft_peer);
    }
}

/* Memory is shared if one end has offered it, the other has taken it, and both are softrdma. */
static void shared_memory(void **state)
{
    (void)state;
    for (int row = 0; row < 8; row++) {
        bool offered = row & 1, taken = row & 2, soft = row & 4, both = offered && taken && soft;
        struct srd_mpa_local active = { .soft = soft, .shared = offered, .ird = 4, .ord = 4 };
        struct srd_mpa_local passive = { .soft = true, .shared = taken, .ird = 4, .ord = 4 };
        struct srd_stream_params initiator, responder;
        struct srd_mpa_frame request, reply;

        srd_mpa_request(&request, &active, 2);
        assert_int_equal(request.reserved, soft ? (offered ? 0x05 : 0x04) : 0);
        assert_int_equal(srd_mpa_accept(&request, &passive, &reply, &responder), SRD_MPA_AGREED);
        assert_int_equal(reply.reserved, soft ? (both ? 0x03 : 0x02) : 0);
        assert_int_equal(srd_mpa_conclude(&request, &reply, &active, &initiator), SRD_MPA_AGREED);
        assert_int_equal(initiator.shared, both);
        assert_int_equal(responder.shared, both);

        reply.reserved = 0x03;
        assert_int_equal(srd_mpa_conclude(&request, &reply, &active, &initiator),
            soft && !offered ? SRD_MPA_MALFORMED : SRD_MPA_AGREED);
        if (!soft)
            assert_false(initiator.shared);
        reply.reserved = 0x01; /* of another implementation */
        assert_int_equal(srd_mpa_conclude(&request, &reply, &active, &initiator), SRD_MPA_AGREED);
        assert_false(initiator.shared);
    }
}

static void refusal_has_the_form_of_the_request(void **state)
{
    struct srd_mpa_local local = { .ird = 3, .ord = 32 };
    struct srd_mpa_frame request, reply;

    (void)state;
    assert_true(decode(&request, "m.req_rev1") > 0);
    srd_mpa_refuse(&request, &local, &reply);
    assert_true(reply.reject && reply.reply && !reply.enhanced);
    assert_int_equal(reply.revision, 1);
    assert_true(decode(&request, "s1.01.mpa_req") > 0);
    srd_mpa_refuse(&request, &local, &reply);
    assert_true(reply.reject && reply.enhanced);
    assert_int_equal(reply.revision, 2);
    assert_int_equal(reply.ird, 3);
    assert_int_equal(reply.ord, 32);
    assert_int_equal(reply.reserved, 0);
}

static void fpdu_fits_a_tcp_segment(void **state)
{
    (void)state;
    assert_int_equal(srd_mpa_fpdu_octets(1460), 1460);
    assert_int_equal(srd_mpa_fpdu_octets(1448), 1448);
    assert_int_equal(srd_mpa_fpdu_octets(1447), 1444);
    assert_int_equal(srd_mpa_fpdu_octets(48), 136); /* MULPDU is never below 128 */
    assert_int_equal(srd_mpa_fpdu_octets(65483), 65480);
    assert_int_equal(srd_mpa_fpdu_octets(1u << 20), 65536);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_decode_and_encode),
        cmocka_unit_test(every_cut_asks_for_more),
        cmocka_unit_test(surplus_is_left_alone),
        cmocka_unit_test(malformed_is_said_early),
        cmocka_unit_test(revision_0_is_malformed_and_s_means_nothing_in_revision_1),
        cmocka_unit_test(private_data_too_long_is_not_encoded),
        cmocka_unit_test(responder_rows),
        cmocka_unit_test(rtr_choice),
        cmocka_unit_test(request_is_the_session_s),
        cmocka_unit_test(initiator_rows),
        cmocka_unit_test(crc_is_on_if_either_asks),
        cmocka_unit_test(soft_peers),
        cmocka_unit_test(shared_memory),
        cmocka_unit_test(refusal_has_the_form_of_the_request),
        cmocka_unit_test(fpdu_fits_a_tcp_segment),
    };

    vectors_load(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
