/* SPDX-License-Identifier: MIT */
/*
 * smb2_data.c - a piece of a file is read or written, in messages or by RDMA. Source: [MS-SMB2] 2.2.19 to 2.2.22; that
 * a Write by RDMA has its length in RemainingBytes: 3.2.4.7.
 */
#include "smb2.h"
#include "smb2_octets.h"

#include <string.h>

enum {
    SIZE_REQUEST = 49,
    FIXED_REQUEST = 48,
    SIZE_ANSWER = 17,
    FIXED_ANSWER = 16,
    DESCRIPTOR = 16
};

/* Where the memory is, behind the fixed part. place in: of its offset, and of its length behind that */
static void put_descriptor(
    struct smb2_request *request, uint8_t *place, const struct smb2_piece *piece)
{
    uint8_t *at = request->octets + SMB2_HEADER + FIXED_REQUEST;

    put16(place, SMB2_HEADER + FIXED_REQUEST);
    put16(place + 2, DESCRIPTOR);
    put64(at, piece->address);
    put32(at + 8, piece->token);
    put32(at + 12, piece->length);
    request->length = SMB2_HEADER + FIXED_REQUEST + DESCRIPTOR;
}

void smb2_put_read(struct smb2_request *request, const struct smb2_piece *piece)
{
    uint8_t *body = request->octets + SMB2_HEADER;

    memset(request, 0, sizeof(*request));
    put16(body, SIZE_REQUEST);
    body[2] = SMB2_HEADER + FIXED_ANSWER; /* where the answer is to have the data */
    put32(body + 4, piece->length);
    put64(body + 8, piece->offset);
    memcpy(body + 16, piece->file, SMB2_FILE_ID);
    put32(body + 32, 1); /* at least one byte: none means the end of the file */
    put32(body + 36, piece->channel);
    request->length = SMB2_HEADER + SIZE_REQUEST;
    if (piece->channel != SMB2_IN_MESSAGE)
        put_descriptor(request, body + 44, piece);
}

bool smb2_get_read(
    const uint8_t *message, uint32_t length, enum smb2_channel channel, struct smb2_moved *moved)
{
    const uint8_t *body = smb2_body(message, length, FIXED_ANSWER, SIZE_ANSWER);

    if (!body)
        return false;
    moved->data = NULL;
    if (channel != SMB2_IN_MESSAGE) {
        moved->length = get32(body + 8);
        return true;
    }
    moved->length = get32(body + 4);
    moved->data = smb2_part(message, length, FIXED_ANSWER, body[2], moved->length);
    return moved->data;
}

void smb2_put_write(struct smb2_request *request, const struct smb2_piece *piece)
{
    uint8_t *body = request->octets + SMB2_HEADER;

    memset(request, 0, sizeof(*request));
    put16(body, SIZE_REQUEST);
    put64(body + 8, piece->offset);
    memcpy(body + 16, piece->file, SMB2_FILE_ID);
    put32(body + 32, piece->channel);
    if (piece->channel != SMB2_IN_MESSAGE) {
        put32(body + 36, piece->length);
        put_descriptor(request, body + 40, piece);
        return;
    }
    put16(body + 2, SMB2_HEADER + FIXED_REQUEST);
    put32(body + 4, piece->length);
    request->length = SMB2_HEADER + FIXED_REQUEST;
}

bool smb2_get_written(const uint8_t *message, uint32_t length, uint32_t *written)
{
    const uint8_t *body = smb2_body(message, length, FIXED_ANSWER, SIZE_ANSWER);

    if (!body)
        return false;
    *written = get32(body + 4);
    return true;
}
