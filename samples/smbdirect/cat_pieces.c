/* SPDX-License-Identifier: MIT */
/*
 * cat_pieces.c - the pieces of the file. Several are asked for at once; a server answers them in any order, and they
 * are written in theirs.
 */
#include "cat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum slot_state { FREE, ASKED, ANSWERED };

/* A piece under way. */
struct slot {
    enum slot_state state;
    uint64_t id;
    uint32_t length;
    SMBD_BUFFER *buffer;   /* by RDMA */
    uint8_t *memory;       /* of a piece that is sent in a message */
    SMBD_MESSAGE *message; /* with a piece that came in it */
    const uint8_t *data;   /* what came */
};

struct move {
    struct cat *cat;
    const char *doing;
    enum smb2_channel channel;
    uint32_t piece;  /* bytes of one, at most */
    uint64_t offset; /* of the next one */
    bool all;        /* no more are asked for */
    unsigned first, count;
    struct slot slots[CAT_PIPELINE];
};

static uint32_t least(uint32_t one, uint32_t other)
{
    return one < other ? one : other;
}

/* ---- what the pieces are ---- */

static void choose(struct move *move)
{
    struct cat *cat = move->cat;
    const SMBD_PARAMETERS *agreed = SmbdAgreed(cat->connection);
    uint32_t most = cat->options->put ? cat->negotiated.write_most : cat->negotiated.read_most;

    if (!agreed->MaxReadWriteSize || cat->options->in_messages) {
        move->channel = SMB2_IN_MESSAGE;
        move->piece = CAT_IN_MESSAGE;
    } else {
        move->channel = cat->negotiated.dialect >= SMB2_3_0_2 && SmbdIsInvalidated(cat->adapter)
                            ? SMB2_RDMA_V1_INVALIDATE
                            : SMB2_RDMA_V1;
        move->piece = least(CAT_PIECE, agreed->MaxReadWriteSize);
    }
    move->piece = least(move->piece, most);
    if (!(cat->negotiated.capabilities & SMB2_LARGE_MTU))
        move->piece = least(move->piece, CAT_CREDIT_BYTES);
}

static bool prepare(struct move *move, struct slot *slot)
{
    char text[64];
    NTSTATUS status;

    if (move->channel == SMB2_IN_MESSAGE) {
        if (!slot->memory && move->cat->options->put && !(slot->memory = malloc(CAT_IN_MESSAGE)))
            return cat_failed(move->cat, move->doing, strerror(ENOMEM));
        return true;
    }
    if (slot->buffer)
        return true;
    status = SmbdCreateBuffer(move->cat->connection, move->piece, &slot->buffer);
    if (NT_SUCCESS(status))
        return true;
    return cat_failed(move->cat, move->doing, copy_status_text(status, text, sizeof(text)));
}

/* ---- standard input and output ---- */

/* As many bytes as there are; at the end of the input fewer. -1: said. */
static ssize_t fill(struct move *move, uint8_t *to, uint32_t most)
{
    uint32_t length = 0;

    while (length < most) {
        ssize_t got = read(STDIN_FILENO, to + length, most - length);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            copy_say("standard input: %s", strerror(errno));
            return -1;
        }
        if (!got) {
            move->all = true;
            break;
        }
        length += (uint32_t)got;
    }
    return length;
}

static bool drain(const uint8_t *data, uint32_t length)
{
    while (length) {
        ssize_t put = write(STDOUT_FILENO, data, length);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            copy_say("cannot write to standard output: %s", strerror(errno));
            return false;
        }
        data += put;
        length -= (uint32_t)put;
    }
    return true;
}

/* ---- the begin of a piece ---- */

/* How long the next piece is, in its slot; 0: there is none. False: said. */
static bool next_length(struct move *move, struct slot *slot)
{
    uint64_t rest = move->cat->file.size - move->offset;
    ssize_t length;

    if (!move->cat->options->put) {
        slot->length = rest < move->piece ? (uint32_t)rest : move->piece;
        move->all = rest == slot->length;
        return true;
    }
    length = fill(move, slot->buffer ? SmbdBufferMemory(slot->buffer) : slot->memory, move->piece);
    slot->length = length < 0 ? 0 : (uint32_t)length;
    return length >= 0;
}

static bool ask(struct move *move, struct slot *slot)
{
    struct cat *cat = move->cat;
    bool put = cat->options->put, in_message = move->channel == SMB2_IN_MESSAGE;
    struct smb2_piece piece = { .file = cat->file.id,
        .offset = move->offset,
        .length = slot->length,
        .channel = move->channel };
    struct smb2_request request;
    SMBD_DESCRIPTOR descriptor;

    if (!in_message) {
        if (!NT_SUCCESS(SmbdExpose(cat->connection, slot->buffer, slot->length, !put, &descriptor)))
            return cat_ended(cat, move->doing);
        piece.address = descriptor.Offset;
        piece.token = descriptor.Token;
    }
    if (put)
        smb2_put_write(&request, &piece);
    else
        smb2_put_read(&request, &piece);
    slot->state = ASKED;
    move->offset += slot->length;
    move->count++;
    return cat_ask(cat, &request, put ? SMB2_WRITE : SMB2_READ, move->doing,
        put && in_message ? slot->memory : NULL, put && in_message ? slot->length : 0, slot->length,
        &slot->id);
}

/* Whether another piece may be asked for; the credits for one of full length have to be there, or all answers. */
static bool may_begin(const struct move *move)
{
    return !move->all && move->count < move->cat->options->pieces &&
           (!move->count || cat_charge(move->cat, move->piece) <= move->cat->credits);
}

static bool begin(struct move *move)
{
    struct slot *slot = &move->slots[(move->first + move->count) % CAT_PIPELINE];

    if (!move->count && cat_charge(move->cat, move->piece) > move->cat->credits)
        move->piece =
            least(move->piece, (move->cat->credits ? move->cat->credits : 1) * CAT_CREDIT_BYTES);
    if (!prepare(move, slot) || !next_length(move, slot))
        return false;
    return !slot->length || ask(move, slot);
}

/* ---- its end ---- */

static struct slot *asked(struct move *move, uint64_t id)
{
    for (unsigned i = 0; i < move->count; i++) {
        struct slot *slot = &move->slots[(move->first + i) % CAT_PIPELINE];

        if (slot->state == ASKED && slot->id == id)
            return slot;
    }
    return NULL;
}

/* What the answer says of the piece. */
static const char *mistake(struct move *move, struct slot *slot, const SMBD_MESSAGE *message)
{
    static const char no_sense[] = "an answer that makes no sense";
    struct smb2_moved moved;
    uint32_t written;

    if (move->cat->options->put) {
        if (!smb2_get_written(message->Data, message->Length, &written))
            return no_sense;
        return written == slot->length ? NULL : "the server wrote less than it was given";
    }
    if (!smb2_get_read(message->Data, message->Length, move->channel, &moved) ||
        moved.length > slot->length)
        return no_sense;
    slot->data = moved.data ? moved.data : SmbdBufferMemory(slot->buffer);
    return moved.length == slot->length ? NULL : "the file has become shorter meanwhile";
}

/* The server's access ends before this end looks at the memory. */
static bool take(struct move *move, struct slot *slot, const struct smb2_header *header)
{
    struct cat *cat = move->cat;
    const char *wrong;
    char text[64];

    slot->state = ANSWERED;
    if (slot->buffer && !NT_SUCCESS(SmbdHide(cat->connection, slot->buffer)))
        return cat_ended(cat, move->doing);
    if (header->status)
        return cat_failed(cat, move->doing, smb2_status_text(header->status, text, sizeof(text)));
    wrong = header->command == (cat->options->put ? SMB2_WRITE : SMB2_READ)
                ? mistake(move, slot, slot->message)
                : "the server answers what was not asked";
    return !wrong || cat_failed(cat, move->doing, wrong);
}

static bool await_one(struct move *move)
{
    struct smb2_header header;
    SMBD_MESSAGE *message;
    struct slot *slot;

    if (!cat_answer(move->cat, move->doing, &message, &header))
        return false;
    slot = asked(move, header.id);
    if (!slot) {
        SmbdFreeMessage(message);
        return cat_failed(move->cat, move->doing, "the server answers what was not asked");
    }
    slot->message = message;
    return take(move, slot, &header);
}

static void end_piece(struct slot *slot)
{
    if (slot->message)
        SmbdFreeMessage(slot->message);
    slot->message = NULL;
    slot->state = FREE;
}

/* Those at the front that were answered. */
static bool finish(struct move *move)
{
    while (move->count && move->slots[move->first].state == ANSWERED) {
        struct slot *slot = &move->slots[move->first];

        if (!move->cat->options->put && !drain(slot->data, slot->length))
            return false;
        end_piece(slot);
        move->first = (move->first + 1) % CAT_PIPELINE;
        move->count--;
    }
    return true;
}

bool cat_move(struct cat *cat)
{
    struct move move = { .cat = cat, .doing = cat->options->put ? "write" : "read" };
    bool well = true;

    choose(&move);
    if (!move.piece)
        return cat_failed(cat, move.doing, "the server takes no data");
    while (well && (move.count || !move.all)) {
        if (may_begin(&move))
            well = begin(&move);
        else
            well = await_one(&move) && finish(&move);
    }
    for (unsigned i = 0; i < CAT_PIPELINE; i++) {
        end_piece(&move.slots[i]);
        free(move.slots[i].memory);
    }
    return well;
}
