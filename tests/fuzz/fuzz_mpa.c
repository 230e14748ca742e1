/* SPDX-License-Identifier: MIT */
/*
 * fuzz_mpa.c - MPA startup: a frame as it arrives, octet by octet, and what is negotiated from it.
 *
 * Input: one octet of flags, one each of this end's read depths, the frame.
 */
#include "fuzz.h"

#include "softrdma/wire/mpa.h"

#include <string.h>

enum { REPLY = 1, CRC = 2, SOFT = 4, REVISION_1 = 8 };

/* Each prefix of the frame decodes to the same, or needs more octets. */
static int decode(struct srd_mpa_frame *frame, bool reply, const uint8_t *octets, size_t count)
{
    int whole = srd_mpa_decode(frame, reply, octets, count);

    FUZZ_CHECK(whole <= (int)count);
    for (size_t part = 0; part < count; part++) {
        struct srd_mpa_frame early;
        uint8_t *exact = malloc(part ? part : 1);
        int n;

        FUZZ_CHECK(exact);
        memcpy(exact, octets, part);
        n = srd_mpa_decode(&early, reply, exact, part);
        free(exact);
        FUZZ_CHECK(n == 0 || n == whole);
        FUZZ_CHECK(n <= (int)part);
    }
    return whole;
}

/* What was understood is written the same way, but for what means nothing. */
static void check_encoding(const struct srd_mpa_frame *frame, int octets)
{
    uint8_t out[SRD_MPA_FRAME_MAX];
    struct srd_mpa_frame again;
    size_t written = srd_mpa_encode(frame, out);

    FUZZ_CHECK(written == (size_t)octets);
    FUZZ_CHECK(srd_mpa_decode(&again, frame->reply, out, written) == octets);
    FUZZ_CHECK(again.private_octets == frame->private_octets);
    FUZZ_CHECK(!memcmp(again.private_data, frame->private_data, frame->private_octets));
    FUZZ_CHECK(again.markers == frame->markers && again.crc == frame->crc &&
               again.reject == frame->reject && again.enhanced == frame->enhanced &&
               again.reserved == frame->reserved && again.revision == frame->revision &&
               again.rtr == frame->rtr && again.ird == frame->ird && again.ord == frame->ord);
}

static void conclude(
    const struct srd_mpa_frame *reply, const struct srd_mpa_local *local, uint8_t revision)
{
    struct srd_stream_params params;
    struct srd_mpa_frame request;

    srd_mpa_request(&request, local, revision);
    if (srd_mpa_conclude(&request, reply, local, &params) != SRD_MPA_AGREED)
        return;
    FUZZ_CHECK(!reply->reject && !reply->markers && reply->revision <= revision);
    FUZZ_CHECK(params.crc == (local->crc || reply->crc));
    FUZZ_CHECK(!params.soft_peer || (local->soft && (reply->reserved & 6) == 2));
    /* Neither end reads more than the other serves; a Read as RTR takes one. */
    FUZZ_CHECK(params.ird <= local->ird_max);
    FUZZ_CHECK(params.ord <= local->ord || params.rtr == SRD_MPA_RTR_READ);
    if (reply->enhanced && reply->ird != SRD_MPA_READS_AUTO)
        FUZZ_CHECK(params.ord <= reply->ird || params.rtr == SRD_MPA_RTR_READ);
    if (reply->enhanced && reply->ord != SRD_MPA_READS_AUTO)
        FUZZ_CHECK(reply->ord <= params.ird);
}

static void accept(const struct srd_mpa_frame *request, const struct srd_mpa_local *local)
{
    struct srd_stream_params params;
    struct srd_mpa_frame reply;
    uint8_t out[SRD_MPA_FRAME_MAX];
    enum srd_mpa_verdict verdict = srd_mpa_accept(request, local, &reply, &params);

    FUZZ_CHECK(verdict == (request->markers ? SRD_MPA_NO_MARKERS : SRD_MPA_AGREED));
    FUZZ_CHECK(reply.reply && !reply.markers && reply.reject == request->markers);
    FUZZ_CHECK(reply.revision <= 2 && reply.revision <= request->revision);
    FUZZ_CHECK(reply.enhanced == request->enhanced);
    FUZZ_CHECK(!(reply.reserved & SRD_MPA_SOFT_REQUEST));
    FUZZ_CHECK(srd_mpa_encode(&reply, out) >= SRD_MPA_HEADER_OCTETS);
    if (verdict != SRD_MPA_AGREED)
        return;
    FUZZ_CHECK(params.soft_peer == (local->soft && request->reserved & SRD_MPA_SOFT_REQUEST));
    FUZZ_CHECK(!params.shared || (local->shared && params.soft_peer));
    FUZZ_CHECK(!request->crc || params.crc);
    if (request->enhanced && request->ird != SRD_MPA_READS_AUTO)
        FUZZ_CHECK(params.ord <= request->ird);
    /* The initiator can live with it, as far as its depths allow. */
    FUZZ_CHECK(
        !request->peer_to_peer || reply.rtr == SRD_MPA_RTR_WRITE || reply.rtr == SRD_MPA_RTR_READ);
}

int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t count)
{
    struct fuzz_input input = { octets, count };
    uint8_t flags = fuzz_octet(&input);
    struct srd_mpa_local local = { .crc = flags & CRC,
        .soft = flags & SOFT,
        .shared = flags & SOFT,
        .ird = fuzz_octet(&input) % 17,
        .ord = fuzz_octet(&input) % 17,
        .ird_max = 16 };
    struct srd_mpa_frame frame;
    int taken = decode(&frame, flags & REPLY, input.at, input.left);

    if (taken <= 0)
        return 0;
    FUZZ_CHECK(frame.private_octets <= SRD_MPA_PRIVATE_MAX);
    if (frame.revision <= 2)
        check_encoding(&frame, taken);
    if (flags & REPLY)
        conclude(&frame, &local, flags & REVISION_1 ? 1 : 2);
    else
        accept(&frame, &local);
    return 0;
}
