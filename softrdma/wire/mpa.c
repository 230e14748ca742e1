/* SPDX-License-Identifier: MIT */
/*
 * mpa.c - MPA startup frames: encode, decode, negotiate. RFC 5044 section 7, RFC 6581.
 */
#include "softrdma/wire/mpa.h"

#include "softrdma/wire/wire.h"

#include <errno.h>

enum { KEY_OCTETS = 16, KEY_DIFFERS_AT = 9 };
enum { FLAG_M = 0x80, FLAG_C = 0x40, FLAG_R = 0x20, FLAG_S = 0x10, FLAG_RESERVED = 0x0f };
enum { WORD_A = 0x8000, WORD_B = 0x4000, WORD_C = 0x8000, WORD_D = 0x4000, WORD_DEPTH = 0x3fff };

static const uint8_t request_key[KEY_OCTETS + 1] = "MPA ID Req Frame";
static const uint8_t reply_key[KEY_OCTETS + 1] = "MPA ID Rep Frame";

static uint16_t min16(uint16_t a, uint16_t b)
{
    return a < b ? a : b;
}

static void enhanced_decode(struct srd_mpa_frame *frame, const uint8_t *word)
{
    uint16_t first = wire_get16(word), second = wire_get16(word + 2);

    frame->peer_to_peer = first & WORD_A;
    frame->ird = first & WORD_DEPTH;
    frame->ord = second & WORD_DEPTH;
    if (frame->peer_to_peer) /* the other flags mean nothing without A */
        frame->rtr = (uint8_t)((first & WORD_B ? SRD_MPA_RTR_SEND : 0) |
                               (second & WORD_C ? SRD_MPA_RTR_WRITE : 0) |
                               (second & WORD_D ? SRD_MPA_RTR_READ : 0));
}

int srd_mpa_decode(struct srd_mpa_frame *frame, bool reply, const uint8_t *octets, size_t count)
{
    size_t private_octets, skip = 0;

    if (memcmp(octets, reply ? reply_key : request_key, count < KEY_OCTETS ? count : KEY_OCTETS))
        return -EPROTO;
    if (count < SRD_MPA_HEADER_OCTETS)
        return 0;
    private_octets = wire_get16(octets + 18);
    if (private_octets > SRD_MPA_PRIVATE_MAX || octets[17] < 1)
        return -EPROTO;

    memset(frame, 0, sizeof(*frame));
    frame->reply = reply;
    frame->markers = octets[16] & FLAG_M;
    frame->crc = octets[16] & FLAG_C;
    frame->reject = reply && octets[16] & FLAG_R;
    frame->reserved = octets[16] & FLAG_RESERVED;
    frame->revision = octets[17];
    /* S is a reserved bit in a frame of revision 1. */
    frame->enhanced = frame->revision >= 2 && octets[16] & FLAG_S;
    if (frame->enhanced && private_octets < SRD_MPA_ENHANCED_OCTETS)
        return -EPROTO;
    if (count < SRD_MPA_HEADER_OCTETS + private_octets)
        return 0;
    octets += SRD_MPA_HEADER_OCTETS;
    if (frame->enhanced) {
        enhanced_decode(frame, octets);
        skip = SRD_MPA_ENHANCED_OCTETS;
    }
    frame->private_octets = (uint16_t)(private_octets - skip);
    memcpy(frame->private_data, octets + skip, frame->private_octets);
    return (int)(SRD_MPA_HEADER_OCTETS + private_octets);
}

size_t srd_mpa_encode(const struct srd_mpa_frame *frame, uint8_t out[SRD_MPA_FRAME_MAX])
{
    size_t extra = frame->enhanced ? SRD_MPA_ENHANCED_OCTETS : 0;
    uint8_t *p = out + SRD_MPA_HEADER_OCTETS;

    if (frame->private_octets + extra > SRD_MPA_PRIVATE_MAX)
        return 0;
    memcpy(out, frame->reply ? reply_key : request_key, KEY_OCTETS);
    out[16] = (uint8_t)((frame->markers ? FLAG_M : 0) | (frame->crc ? FLAG_C : 0) |
                        (frame->reject ? FLAG_R : 0) | (frame->enhanced ? FLAG_S : 0) |
                        (frame->reserved & FLAG_RESERVED));
    out[17] = frame->revision;
    wire_put16(out + 18, (uint16_t)(frame->private_octets + extra));
    if (frame->enhanced) {
        wire_put16(p,
            (uint16_t)((frame->peer_to_peer ? WORD_A : 0) |
                       (frame->rtr & SRD_MPA_RTR_SEND ? WORD_B : 0) | (frame->ird & WORD_DEPTH)));
        wire_put16(p + 2,
            (uint16_t)((frame->rtr & SRD_MPA_RTR_WRITE ? WORD_C : 0) |
                       (frame->rtr & SRD_MPA_RTR_READ ? WORD_D : 0) | (frame->ord & WORD_DEPTH)));
        p += SRD_MPA_ENHANCED_OCTETS;
    }
    memcpy(p, frame->private_data, frame->private_octets);
    return SRD_MPA_HEADER_OCTETS + extra + frame->private_octets;
}

void srd_mpa_request(
    struct srd_mpa_frame *request, const struct srd_mpa_local *local, uint8_t revision)
{
    memset(request, 0, sizeof(*request));
    request->crc = local->crc;
    request->revision = revision;
    if (local->soft)
        request->reserved = SRD_MPA_SOFT_REQUEST | (local->shared ? SRD_MPA_SOFT_SHARED : 0);
    if (revision < 2)
        return;
    /* It always asks for peer to peer: the passive program may send first, and waits for ESTABLISHED. */
    request->enhanced = request->peer_to_peer = true;
    request->rtr = SRD_MPA_RTR_WRITE | SRD_MPA_RTR_READ;
    request->ird = min16(local->ird, SRD_MPA_READS_MAX);
    request->ord = min16(local->ord, SRD_MPA_READS_MAX);
}

/* Fills what every Reply has: the form of the Request, revision 2 at most. */
static void reply_begin(struct srd_mpa_frame *reply, const struct srd_mpa_frame *request)
{
    memset(reply, 0, sizeof(*reply));
    reply->reply = true;
    reply->revision = min16(request->revision, 2);
    reply->enhanced = request->enhanced;
    reply->crc = request->crc;
}

void srd_mpa_refuse(const struct srd_mpa_frame *request, const struct srd_mpa_local *local,
    struct srd_mpa_frame *reply)
{
    reply_begin(reply, request);
    reply->reject = true;
    if (request->enhanced && local) {
        reply->ird = min16(local->ird, SRD_MPA_READS_MAX);
        reply->ord = min16(local->ord, SRD_MPA_READS_MAX);
    }
}

/*
 * Revision 1 has no word for an RTR, but two softrdma ends send one there, too: without it Accept would not end before
 * the first message.
 */
static void soft_rtr(struct srd_stream_params *params)
{
    if (params->soft_peer)
        params->rtr = SRD_MPA_RTR_WRITE;
}

enum srd_mpa_verdict srd_mpa_accept(const struct srd_mpa_frame *request,
    const struct srd_mpa_local *local, struct srd_mpa_frame *reply,
    struct srd_stream_params *params)
{
    if (request->markers) {
        srd_mpa_refuse(request, NULL, reply);
        return SRD_MPA_NO_MARKERS;
    }
    reply_begin(reply, request);
    reply->crc = request->crc || local->crc;
    memset(params, 0, sizeof(*params));
    params->crc = reply->crc;
    params->soft_peer = local->soft && request->reserved & SRD_MPA_SOFT_REQUEST;
    params->shared = params->soft_peer && local->shared && request->reserved & SRD_MPA_SOFT_SHARED;
    if (params->soft_peer)
        reply->reserved = SRD_MPA_SOFT_REPLY | (params->shared ? SRD_MPA_SOFT_SHARED : 0);
    params->ird = min16(local->ird, SRD_MPA_READS_MAX);
    params->ord = min16(local->ord, SRD_MPA_READS_MAX);
    if (!request->enhanced) {
        soft_rtr(params);
        params->rtr_expected = params->soft_peer;
        return SRD_MPA_AGREED;
    }

    if (request->peer_to_peer) {
        uint8_t fits = request->rtr & (SRD_MPA_RTR_WRITE | SRD_MPA_RTR_READ);

        reply->peer_to_peer = true;
        /* If nothing fits, the Reply names a kind that this end takes, and the initiator sends a Terminate 2/0/07. */
        reply->rtr = fits == SRD_MPA_RTR_READ ? SRD_MPA_RTR_READ : SRD_MPA_RTR_WRITE;
        params->rtr = reply->rtr;
        params->rtr_expected = true;
        if (reply->rtr == SRD_MPA_RTR_READ && !params->ird)
            params->ird = 1;
    }
    if (request->ird != SRD_MPA_READS_AUTO)
        params->ord = min16(params->ord, request->ird);
    reply->ord = request->ird == SRD_MPA_READS_AUTO ? SRD_MPA_READS_AUTO : params->ord;
    reply->ird = request->ord == SRD_MPA_READS_AUTO ? SRD_MPA_READS_AUTO : params->ird;
    return SRD_MPA_AGREED;
}

/* Concludes read limits and RTR on the initiator's side (RFC 6581 section 9). */
static enum srd_mpa_verdict conclude_enhanced(const struct srd_mpa_frame *reply,
    const struct srd_mpa_frame *request, const struct srd_mpa_local *local,
    struct srd_stream_params *params)
{
    if (reply->ird != SRD_MPA_READS_AUTO)
        params->ord = min16(params->ord, reply->ird);
    if (reply->ord != SRD_MPA_READS_AUTO && reply->ord > params->ird) {
        if (reply->ord > local->ird_max)
            return SRD_MPA_NO_IRD;
        params->ird = reply->ord;
    }
    if (!request->peer_to_peer)
        return SRD_MPA_AGREED;
    if (!reply->peer_to_peer) /* the responder wants client-server: the initiator sends first */
        return SRD_MPA_AGREED;
    if (reply->rtr & request->rtr & SRD_MPA_RTR_WRITE)
        params->rtr = SRD_MPA_RTR_WRITE;
    else if (reply->rtr & request->rtr & SRD_MPA_RTR_READ)
        params->rtr = SRD_MPA_RTR_READ;
    else
        return SRD_MPA_NO_RTR;
    if (params->rtr == SRD_MPA_RTR_READ && !params->ord)
        params->ord = 1; /* the responder raised its depth for the RTR */
    return SRD_MPA_AGREED;
}

enum srd_mpa_verdict srd_mpa_conclude(const struct srd_mpa_frame *request,
    const struct srd_mpa_frame *reply, const struct srd_mpa_local *local,
    struct srd_stream_params *params)
{
    memset(params, 0, sizeof(*params));
    if (reply->revision > request->revision || (reply->enhanced && !request->enhanced) ||
        (reply->revision >= 2 && request->enhanced && !reply->enhanced))
        return SRD_MPA_MALFORMED;
    if (reply->reject)
        return SRD_MPA_REJECTED;
    if (reply->markers)
        return SRD_MPA_NO_MARKERS;
    params->initiator = true;
    params->crc = request->crc || reply->crc;
    params->soft_peer =
        request->reserved & SRD_MPA_SOFT_REQUEST &&
        (reply->reserved & (SRD_MPA_SOFT_REQUEST | SRD_MPA_SOFT_REPLY)) == SRD_MPA_SOFT_REPLY;
    params->shared = params->soft_peer && reply->reserved & SRD_MPA_SOFT_SHARED;
    if (params->shared && !(request->reserved & SRD_MPA_SOFT_SHARED))
        return SRD_MPA_MALFORMED;
    params->ird = min16(local->ird, SRD_MPA_READS_MAX);
    params->ord = min16(local->ord, SRD_MPA_READS_MAX);
    if (reply->enhanced)
        return conclude_enhanced(reply, request, local, params);
    soft_rtr(params);
    return SRD_MPA_AGREED;
}

uint32_t srd_mpa_fpdu_octets(uint32_t emss)
{
    enum { SMALLEST = 128 + 2 + 2 + 4 }; /* MULPDU 128 with length, pad and CRC */
    uint32_t octets = emss & ~3u;

    if (octets < SMALLEST)
        return SMALLEST;
    return octets < 65536 ? octets : 65536;
}
