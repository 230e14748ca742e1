/* SPDX-License-Identifier: MIT */
/*
 * serve_data.c - data of a file, in messages or by RDMA. Source: [MS-SMB2] 2.2.19 to 2.2.22, 3.3.5.12, 3.3.5.13;
 * descriptors: [MS-SMBD] 2.2.3.1.
 */
#include "serve.h"
#include "smb2_octets.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { SIZE_REQUEST = 49, FIXED_REQUEST = 48, SIZE_ANSWER = 17, FIXED_ANSWER = 16 };
enum { DESCRIPTOR = 16 };

/* What both requests have. */
struct piece {
    uint32_t length, channel;
    uint64_t offset;
    struct serve_open *open;
    SMBD_DESCRIPTOR there; /* by RDMA */
};

/* ---- requests ---- */

/* The client's memory; its access is taken back by any answer, if it asked for that. place in: of its offset */
static uint32_t get_descriptor(const struct session *session, const struct serve_request *request,
    const uint8_t *place, struct piece *piece, struct serve_answer *answer)
{
    const uint8_t *at =
        smb2_part(request->message, request->length, FIXED_REQUEST, get16(place), get16(place + 2));

    if (piece->channel > SMB2_RDMA_V1_INVALIDATE ||
        (piece->channel == SMB2_RDMA_V1_INVALIDATE && session->dialect < SMB2_3_0_2) || !at ||
        get16(place + 2) != DESCRIPTOR)
        return SMB2_STATUS_INVALID_PARAMETER;
    piece->there.Offset = get64(at);
    piece->there.Token = get32(at + 8);
    piece->there.Length = get32(at + 12);
    if (piece->channel == SMB2_RDMA_V1_INVALIDATE && SmbdInvalidates(session->server->adapter)) {
        answer->invalidate = true;
        answer->token = piece->there.Token;
    }
    return 0;
}

/* What does not depend on the way that the data goes. */
static uint32_t check(struct session *session, const struct serve_request *request,
    struct piece *piece, uint32_t rights)
{
    const uint8_t *asked = request->message + SMB2_HEADER;
    bool by_rdma = piece->channel != SMB2_IN_MESSAGE;

    piece->offset = get64(asked + 8);
    if (piece->length > session->most || (by_rdma && piece->length > piece->there.Length) ||
        !serve_paid(session, request, piece->length) ||
        piece->offset > (uint64_t)INT64_MAX - piece->length)
        return SMB2_STATUS_INVALID_PARAMETER;
    piece->open = serve_find_open(session, request, asked + 16);
    if (!piece->open)
        return SMB2_STATUS_FILE_CLOSED;
    if (piece->open->directory)
        return SMB2_STATUS_FILE_IS_A_DIRECTORY;
    return piece->open->access & rights ? 0 : SMB2_STATUS_ACCESS_DENIED;
}

/* ---- buffers ---- */

/* The next one, which is in no use; 0, a status, or that the connection is over. */
static uint32_t next_buffer(
    struct session *session, struct serve_answer *answer, SMBD_BUFFER **buffer)
{
    unsigned place = session->next_buffer++ % SERVE_BUFFERS;
    SMBD_BUFFER **kept = &session->buffers[place];

    if (!*kept && !NT_SUCCESS(SmbdCreateBuffer(session->connection, session->most, kept)))
        return SMB2_STATUS_INSUFFICIENT_RESOURCES;
    if (session->moving[place]) {
        answer->over = !NT_SUCCESS(SmbdFinish(session->connection, *kept));
        session->moving[place] = false;
    }
    *buffer = *kept;
    return 0;
}

/* ---- the two commands ---- */

/* Less at the end of the file. -1: errno. */
static ssize_t read_all(const struct piece *piece, uint8_t *to)
{
    size_t done = 0;

    while (done < piece->length) {
        ssize_t got =
            pread(piece->open->fd, to + done, piece->length - done, (off_t)(piece->offset + done));

        if (got < 0 && errno != EINTR)
            return -1;
        if (!got)
            break;
        if (got > 0)
            done += (size_t)got;
    }
    return (ssize_t)done;
}

/* Into memory for it. got out: bytes of the file */
static uint32_t read_piece(const struct piece *piece, uint32_t least, uint8_t *to, uint32_t *got)
{
    ssize_t length = read_all(piece, to);

    if (length < 0)
        return serve_status(errno);
    if ((!length && piece->length) || (uint32_t)length < least)
        return SMB2_STATUS_END_OF_FILE;
    *got = (uint32_t)length;
    return 0;
}

static uint32_t read_by_rdma(
    struct session *session, const struct piece *piece, uint32_t least, struct serve_answer *answer)
{
    unsigned place = session->next_buffer % SERVE_BUFFERS;
    SMBD_BUFFER *buffer;
    uint32_t got, status = next_buffer(session, answer, &buffer);
    uint8_t *body;

    if (!status && !answer->over)
        status = read_piece(piece, least, SmbdBufferMemory(buffer), &got);
    if (status || answer->over)
        return status;
    /* The answer arrives behind the data. */
    if (got) {
        answer->over = !NT_SUCCESS(SmbdStartWrite(session->connection, buffer, got, &piece->there));
        session->moving[place] = !answer->over;
    }
    body = serve_begin(answer, SIZE_ANSWER, FIXED_ANSWER);
    body[2] = SMB2_HEADER + FIXED_ANSWER;
    put32(body + 8, got);
    return 0;
}

static uint32_t read_in_message(
    struct session *session, const struct piece *piece, uint32_t least, struct serve_answer *answer)
{
    uint32_t got, status;
    uint8_t *body;

    if (piece->length > SmbdLongestSend(session->connection) - SMB2_HEADER - FIXED_ANSWER)
        return SMB2_STATUS_INVALID_PARAMETER;
    status = read_piece(piece, least, session->output, &got);
    if (status)
        return status;
    body = serve_begin(answer, SIZE_ANSWER, FIXED_ANSWER);
    body[2] = SMB2_HEADER + FIXED_ANSWER;
    put32(body + 4, got);
    answer->data = session->output;
    answer->data_length = got;
    return 0;
}

uint32_t serve_read(
    struct session *session, const struct serve_request *request, struct serve_answer *answer)
{
    const uint8_t *asked = serve_body(request, FIXED_REQUEST, SIZE_REQUEST);
    struct piece piece;
    uint32_t status = 0;

    if (!asked)
        return SMB2_STATUS_INVALID_PARAMETER;
    piece.length = get32(asked + 4);
    piece.channel = get32(asked + 36);
    if (piece.channel != SMB2_IN_MESSAGE)
        status = get_descriptor(session, request, asked + 44, &piece, answer);
    if (!status)
        status = check(session, request, &piece, SERVE_READ_DATA | SERVE_EXECUTE);
    if (status)
        return status;
    if (piece.channel != SMB2_IN_MESSAGE)
        return read_by_rdma(session, &piece, get32(asked + 32), answer);
    return read_in_message(session, &piece, get32(asked + 32), answer);
}

static uint32_t write_all(const struct piece *piece, const uint8_t *from)
{
    for (size_t done = 0; done < piece->length;) {
        ssize_t put = pwrite(
            piece->open->fd, from + done, piece->length - done, (off_t)(piece->offset + done));

        if (put < 0 && errno != EINTR)
            return serve_status(errno);
        if (put > 0)
            done += (size_t)put;
    }
    return 0;
}

/* The data comes into a buffer. data out: NULL with 0: the connection is over */
static uint32_t fetch(struct session *session, const struct piece *piece,
    struct serve_answer *answer, const uint8_t **data)
{
    SMBD_BUFFER *buffer;
    uint32_t status = next_buffer(session, answer, &buffer);

    if (status || answer->over)
        return status;
    *data = SmbdBufferMemory(buffer);
    answer->over =
        piece->length &&
        (!NT_SUCCESS(SmbdStartRead(session->connection, buffer, piece->length, &piece->there)) ||
            !NT_SUCCESS(SmbdFinish(session->connection, buffer)));
    return 0;
}

uint32_t serve_write(
    struct session *session, const struct serve_request *request, struct serve_answer *answer)
{
    const uint8_t *asked = serve_body(request, FIXED_REQUEST, SIZE_REQUEST), *data;
    struct piece piece;
    uint32_t status = 0;
    bool by_rdma;

    if (!asked)
        return SMB2_STATUS_INVALID_PARAMETER;
    piece.channel = get32(asked + 32);
    by_rdma = piece.channel != SMB2_IN_MESSAGE;
    piece.length = get32(asked + (by_rdma ? 36 : 4));
    data = asked;
    if (by_rdma)
        status = get_descriptor(session, request, asked + 40, &piece, answer);
    else if (piece.length)
        data = smb2_part(
            request->message, request->length, FIXED_REQUEST, get16(asked + 2), piece.length);
    if (!status && (!data || (by_rdma && get32(asked + 4))))
        status = SMB2_STATUS_INVALID_PARAMETER;
    if (!status)
        status = check(session, request, &piece, SERVE_WRITE_DATA | SERVE_APPEND_DATA);
    if (!status && by_rdma)
        status = fetch(session, &piece, answer, &data);
    if (!status && !answer->over)
        status = write_all(&piece, data);
    if (status || answer->over)
        return status;
    put32(serve_begin(answer, SIZE_ANSWER, FIXED_ANSWER) + 4, piece.length);
    return 0;
}
