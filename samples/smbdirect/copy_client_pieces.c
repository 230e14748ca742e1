/* SPDX-License-Identifier: MIT */
/*
 * copy_client_pieces.c - the pieces of the client's files. A slot has a piece from its begin to its end:
 *
 *     WRITE  FILING (the worker loads), ASKED (the server reads it from here, and stores it)
 *     READ   ASKED (the server loads it, and writes it here), FILING (the worker stores)
 *
 * Requests are sent, and answers come, in the order of the pieces.
 */
#include "copy_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void free_message(struct slot *slot)
{
    if (slot->message)
        SmbdFreeMessage(slot->message);
    slot->message = NULL;
}

static void give(struct client *client, struct slot *slot, void *data)
{
    slot->job = (struct copy_job){
        .data = data, .length = slot->request.Length, .offset = slot->request.Offset
    };
    slot->state = FILING;
    copy_worker_give(client->worker, &slot->job);
}

static void end_piece(struct client *client, struct slot *slot)
{
    slot->state = OVER;
    free_message(slot);
    while (client->count && client->slots[client->first].state == OVER) {
        client->first = (client->first + 1) % COPY_PIPELINE;
        client->count--;
    }
}

/* ---- the begin of a piece ---- */

static uint32_t least(uint32_t one, uint32_t other)
{
    return one < other ? one : other;
}

uint32_t copy_client_inline_most(const struct client *client)
{
    return least(SmbdLongestSend(client->connection) - (uint32_t)sizeof(struct copy_header),
        COPY_INLINE_PIECE);
}

static uint32_t piece_most(const struct client *client)
{
    return client->rdma ? least(SmbdAgreed(client->connection)->MaxReadWriteSize, COPY_PIECE)
                        : copy_client_inline_most(client);
}

static enum outcome prepare_slot(struct client *client, struct slot *slot, uint32_t piece)
{
    NTSTATUS status = STATUS_SUCCESS;
    char text[64];

    if (!client->rdma && !slot->piece && !(slot->piece = malloc(COPY_INLINE_PIECE)))
        return copy_client_failed(client, strerror(ENOMEM));
    if (client->rdma && !slot->buffer)
        status = SmbdCreateBuffer(client->connection, piece, &slot->buffer);
    if (NT_SUCCESS(status))
        return WELL;
    return copy_client_failed(client, copy_status_text(status, text, sizeof(text)));
}

/* Of a piece that is sent, before it is; of a fetched one, if it comes by RDMA. */
static void *memory_of(const struct client *client, const struct slot *slot)
{
    return client->rdma ? SmbdBufferMemory(slot->buffer) : slot->piece;
}

static enum outcome ask_for_piece(struct client *client, struct slot *slot)
{
    struct copy_header *request = &slot->request;
    bool get = request->Command == COPY_READ, in_message = request->Flags & COPY_INLINE;

    slot->state = ASKED;
    if (in_message && get)
        return copy_client_ask(client, request, NULL, 0);
    if (in_message)
        return copy_client_ask(client, request, memory_of(client, slot), request->Length);
    if (SmbdIsInvalidated(client->adapter))
        request->Flags |= COPY_INVALIDATE;
    if (!NT_SUCCESS(SmbdExpose(
            client->connection, slot->buffer, request->Length, get, &request->Descriptor)))
        return ENDED;
    return copy_client_ask(client, request, NULL, 0);
}

static enum outcome begin_piece(struct client *client, enum copy_command command)
{
    struct slot *slot = &client->slots[(client->first + client->count) % COPY_PIPELINE];
    uint32_t most = piece_most(client);
    uint64_t rest = client->size - client->next;
    enum outcome outcome = prepare_slot(client, slot, most);

    if (outcome != WELL)
        return outcome;
    slot->request = (struct copy_header){ .Command = (uint16_t)command,
        .Offset = client->next,
        .Length = rest < most ? (uint32_t)rest : most };
    if (!client->rdma || slot->request.Length <= client->inline_most)
        slot->request.Flags = COPY_INLINE;
    client->next += slot->request.Length;
    client->count++;
    if (command == COPY_READ)
        return ask_for_piece(client, slot);
    give(client, slot, memory_of(client, slot));
    return WELL;
}

/* ---- its steps ---- */

/* The worker has done it, or waited for. failed in: no more is asked for. */
static enum outcome end_filing(struct client *client, struct slot *slot, bool failed)
{
    int error = copy_worker_await(client->worker, &slot->job);

    if (!error && !failed && slot->request.Command == COPY_WRITE)
        return ask_for_piece(client, slot);
    if (!error && slot->request.Command == COPY_READ)
        copy_progress_add(&client->progress, slot->request.Length);
    end_piece(client, slot);
    return error ? copy_client_failed(client, copy_error_text(error)) : WELL;
}

static enum outcome store(
    struct client *client, struct slot *slot, SMBD_MESSAGE *message, uint32_t tail)
{
    if (!(slot->request.Flags & COPY_INLINE)) {
        SmbdFreeMessage(message);
        give(client, slot, SmbdBufferMemory(slot->buffer));
        return WELL;
    }
    slot->message = message;
    if (tail == slot->request.Length) {
        give(client, slot, message->Data + sizeof(struct copy_header));
        return WELL;
    }
    end_piece(client, slot);
    return copy_client_failed(client, "the server sent another piece than was asked for");
}

/* The peer's access to the slot's memory ends before this end reads it. */
static enum outcome end_asked(struct client *client, struct slot *slot, bool wait, bool failed)
{
    struct copy_header answer;
    SMBD_MESSAGE *message;
    enum outcome outcome = copy_client_answer(client, slot->request.Id, wait, &message, &answer);

    if (outcome == NOT_YET || outcome == ENDED)
        return outcome;
    if (!(slot->request.Flags & COPY_INLINE) &&
        !NT_SUCCESS(SmbdHide(client->connection, slot->buffer))) {
        SmbdFreeMessage(message);
        return ENDED;
    }
    if (outcome == WELL && !failed && slot->request.Command == COPY_READ)
        return store(client, slot, message, answer.Tail);
    SmbdFreeMessage(message);
    if (outcome == WELL && slot->request.Command == COPY_WRITE)
        copy_progress_add(&client->progress, slot->request.Length);
    end_piece(client, slot);
    return outcome;
}

static struct slot *first_of(struct client *client, enum slot_state state)
{
    for (unsigned i = 0; i < client->count; i++) {
        struct slot *slot = &client->slots[(client->first + i) % COPY_PIPELINE];

        if (slot->state == state)
            return slot;
    }
    return NULL;
}

/*
 * Brings one piece on: what the worker has done, or the server has answered; else it waits, of a piece's two steps for
 * the first.
 */
static enum outcome go_on(struct client *client, enum copy_command command, bool failed)
{
    struct slot *filing = first_of(client, FILING), *asked = first_of(client, ASKED);
    bool worker_first = filing && (!asked || command == COPY_WRITE);
    enum outcome outcome = NOT_YET;

    if (filing && copy_worker_has_ended(client->worker, &filing->job))
        return end_filing(client, filing, failed);
    if (asked)
        outcome = end_asked(client, asked, !worker_first, failed);
    return outcome == NOT_YET ? end_filing(client, filing, failed) : outcome;
}

/* After a failure it sends no more requests, but takes every answer. */
enum outcome copy_client_move(struct client *client, enum copy_command command)
{
    enum outcome outcome = WELL;

    while (client->count || (outcome == WELL && client->next < client->size)) {
        enum outcome step;

        if (outcome == WELL && client->next < client->size &&
            client->count < client->options->pieces)
            step = begin_piece(client, command);
        else
            step = go_on(client, command, outcome != WELL);
        if (step == ENDED) {
            copy_worker_drop(client->worker);
            return ENDED;
        }
        if (outcome == WELL)
            outcome = step;
    }
    return outcome;
}

void copy_client_free_slots(struct client *client)
{
    copy_worker_drop(client->worker);
    for (unsigned i = 0; i < COPY_PIPELINE; i++) {
        free_message(&client->slots[i]);
        free(client->slots[i].piece);
    }
}
