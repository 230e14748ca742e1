/* SPDX-License-Identifier: MIT */
/*
 * copy_server_pieces.c - the pieces of the server's files. A slot has a request from its arrival to its end:
 *
 *     WRITE  MOVING (the server reads from the client), FILING (the worker stores), the answer
 *     READ   FILING (the worker loads), the answer behind the data, MOVING (the data leaves)
 *
 * With COPY_INLINE nothing moves besides messages. Answers are sent in the order of the requests.
 */
#include "copy_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void free_message(struct slot *slot)
{
    if (slot->message)
        SmbdFreeMessage(slot->message);
    slot->message = NULL;
}

static void give(struct session *session, struct slot *slot, void *data)
{
    slot->job = (struct copy_job){
        .data = data, .length = slot->request.Length, .offset = slot->request.Offset
    };
    slot->state = FILING;
    copy_worker_give(session->worker, &slot->job);
}

/* ---- what follows the worker ---- */

static bool stored(struct session *session, struct slot *slot, int error)
{
    struct copy_header answer = { .Status = COPY_OK, .Length = slot->request.Length };

    slot->state = OVER;
    free_message(slot);
    if (error && !session->error) {
        session->error = error;
        copy_session_say_not_stored(session, error);
    }
    if (error)
        return copy_session_answer_failed(session, &slot->request, copy_error_text(error));
    return copy_session_answer(session, &slot->request, &answer, NULL);
}

static bool loaded(struct session *session, struct slot *slot, int error)
{
    const struct copy_header *request = &slot->request;
    bool in_message = request->Flags & COPY_INLINE;
    struct copy_header answer = { .Status = COPY_OK, .Length = request->Length };

    slot->state = OVER;
    if (error) {
        session->error = error;
        return copy_session_answer_failed(session, request, copy_error_text(error));
    }
    if (in_message) {
        answer.Tail = request->Length;
        return copy_session_answer(session, request, &answer, slot->piece);
    }
    if (!NT_SUCCESS(SmbdStartWrite(
            session->connection, slot->buffer, request->Length, &request->Descriptor)))
        return false;
    slot->state = MOVING;
    return copy_session_answer(session, request, &answer, NULL); /* arrives behind the data */
}

/* ---- slots ---- */

/* The first slot of that state; NULL: none is. */
static struct slot *first_of(struct session *session, enum slot_state state)
{
    for (unsigned i = 0; i < session->count; i++) {
        struct slot *slot = &session->slots[(session->first + i) % COPY_PIPELINE];

        if (slot->state == state)
            return slot;
    }
    return NULL;
}

static void forget_what_is_over(struct session *session)
{
    while (session->count && session->slots[session->first].state == OVER) {
        session->first = (session->first + 1) % COPY_PIPELINE;
        session->count--;
    }
}

static bool end_filing(struct session *session, struct slot *slot)
{
    int error = copy_worker_await(session->worker, &slot->job);
    bool put = slot->request.Command == COPY_WRITE;
    bool well = put ? stored(session, slot, error) : loaded(session, slot, error);

    forget_what_is_over(session);
    return well;
}

static bool end_moving(struct session *session, struct slot *slot)
{
    if (!NT_SUCCESS(SmbdFinish(session->connection, slot->buffer)))
        return false;
    if (slot->request.Command == COPY_WRITE)
        give(session, slot, SmbdBufferMemory(slot->buffer));
    else
        slot->state = OVER;
    forget_what_is_over(session);
    return true;
}

/* What the worker has done is answered first; then each piece is brought to its second step as soon as can be. */
bool copy_session_go_on(struct session *session)
{
    struct slot *moving = first_of(session, MOVING), *filing = first_of(session, FILING);
    bool move_first = moving && (!filing || moving->request.Command == COPY_WRITE);

    if (filing && copy_worker_has_ended(session->worker, &filing->job))
        return end_filing(session, filing);
    return move_first ? end_moving(session, moving) : end_filing(session, filing);
}

bool copy_session_finish(struct session *session)
{
    while (session->count)
        if (!copy_session_go_on(session))
            return false;
    return true;
}

void copy_session_free_slots(struct session *session)
{
    copy_worker_drop(session->worker);
    for (unsigned i = 0; i < COPY_PIPELINE; i++) {
        free_message(&session->slots[i]);
        free(session->slots[i].piece);
    }
}

/* ---- requests ---- */

static bool have_buffer(struct session *session, struct slot *slot)
{
    uint32_t size = SmbdAgreed(session->connection)->MaxReadWriteSize;
    NTSTATUS status = STATUS_SUCCESS;
    char text[64];

    if (!slot->buffer)
        status = SmbdCreateBuffer(
            session->connection, size < COPY_PIECE ? size : COPY_PIECE, &slot->buffer);
    return NT_SUCCESS(status) || copy_session_mistaken(session, &slot->request,
                                     copy_status_text(status, text, sizeof(text)));
}

/* The worker gets the pieces in their order: those that still move come before one that is here already. */
static bool end_all_moving(struct session *session)
{
    struct slot *moving;

    while ((moving = first_of(session, MOVING)))
        if (!end_moving(session, moving))
            return false;
    return true;
}

static bool begin_write(struct session *session, struct slot *slot, SMBD_MESSAGE **message)
{
    const struct copy_header *request = &slot->request;

    if (request->Flags & COPY_INLINE) {
        if (!end_all_moving(session))
            return false;
        slot->message = *message;
        *message = NULL;
        give(session, slot, slot->message->Data + sizeof(*request));
        return true;
    }
    if (!have_buffer(session, slot) || !NT_SUCCESS(SmbdStartRead(session->connection, slot->buffer,
                                           request->Length, &request->Descriptor)))
        return false;
    slot->state = MOVING;
    return true;
}

static bool begin_read(struct session *session, struct slot *slot)
{
    if (!(slot->request.Flags & COPY_INLINE)) {
        if (!have_buffer(session, slot))
            return false;
        give(session, slot, SmbdBufferMemory(slot->buffer));
        return true;
    }
    if (!slot->piece && !(slot->piece = malloc(COPY_INLINE_PIECE)))
        return copy_session_mistaken(session, &slot->request, strerror(ENOMEM));
    give(session, slot, slot->piece);
    return true;
}

/* Whether a piece follows the one before, and fits. */
static bool piece_fits(const struct session *session, const struct copy_header *request)
{
    bool in_message = request->Flags & COPY_INLINE;
    uint32_t most = COPY_PIECE;

    if (in_message)
        most = COPY_INLINE_PIECE;
    else if (most > SmbdAgreed(session->connection)->MaxReadWriteSize)
        most = SmbdAgreed(session->connection)->MaxReadWriteSize;
    return request->Length && request->Length <= most && request->Offset == session->next &&
           request->Length <= session->size - session->next &&
           (in_message || request->Length <= request->Descriptor.Length) &&
           (request->Command == COPY_WRITE && in_message ? request->Tail == request->Length
                                                         : !request->Tail);
}

bool copy_session_move(
    struct session *session, const struct copy_header *request, SMBD_MESSAGE **message)
{
    bool put = request->Command == COPY_WRITE;
    struct slot *slot;

    if (session->state != (put ? PUTTING : GETTING) || !piece_fits(session, request))
        return copy_session_mistaken(
            session, request, "a piece that is not the next one of the file");
    session->next += request->Length;
    while (session->count == COPY_PIPELINE)
        if (!copy_session_go_on(session))
            return false;
    if (session->error)
        return copy_session_finish(session) &&
               copy_session_answer_failed(session, request, copy_error_text(session->error));
    slot = &session->slots[(session->first + session->count) % COPY_PIPELINE];
    slot->request = *request;
    if (!(put ? begin_write(session, slot, message) : begin_read(session, slot)))
        return false;
    session->count++;
    return true;
}
