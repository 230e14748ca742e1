/* SPDX-License-Identifier: MIT */
/*
 * copy_server.c - the server: a session for each connection, in a thread of the library's, with a worker of its own for
 * the file. A session answers requests in order, and serves several at a time (copy_server_pieces.c).
 */
#include "copy_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void copy_session_say(struct session *session, const char *what, const char *why)
{
    copy_say("%s: %s%s%s", session->peer, what, why ? ": " : "", why ? why : "");
}

/* ---- answers; false: the connection has ended ---- */

bool copy_session_answer(struct session *session, const struct copy_header *request,
    struct copy_header *answer, const void *tail)
{
    bool invalidate = request->Flags & COPY_INVALIDATE && !(request->Flags & COPY_INLINE) &&
                      SmbdInvalidates(session->server->adapter);

    answer->Magic = COPY_MAGIC;
    answer->Command = request->Command;
    answer->Flags = COPY_ANSWER;
    answer->Id = request->Id;
    return NT_SUCCESS(SmbdSend(session->connection, answer, sizeof(*answer), tail, answer->Tail,
        invalidate ? &request->Descriptor.Token : NULL));
}

bool copy_session_answer_failed(
    struct session *session, const struct copy_header *request, const char *text)
{
    struct copy_header answer = { .Status = COPY_FAILED, .Tail = (uint32_t)strlen(text) };

    return copy_session_answer(session, request, &answer, text);
}

/* The request makes no sense: answers it, and ends the session. */
bool copy_session_mistaken(
    struct session *session, const struct copy_header *request, const char *text)
{
    struct copy_header answer = { .Status = COPY_MISTAKEN, .Tail = (uint32_t)strlen(text) };

    copy_session_say(session, "a request that makes no sense", text);
    copy_session_answer(session, request, &answer, text);
    return false;
}

/* ---- the file ---- */

static void leave_file(struct session *session)
{
    if (session->state == PUTTING)
        copy_target_drop(&session->target);
    else if (session->state == GETTING)
        close(session->source);
    session->state = IDLE;
}

void copy_session_say_not_stored(struct session *session, int error)
{
    char text[COPY_NAME_MOST + 64];

    snprintf(text, sizeof(text), "%s: not stored", session->name);
    copy_session_say(session, text, copy_error_text(error));
}

static bool begin_file(struct session *session, const struct copy_header *request, const char *name)
{
    struct copy_header answer = { .Status = COPY_OK };
    bool put = request->Command == COPY_PUT;
    int error;

    leave_file(session);
    if (!copy_name_allowed(name, request->Tail))
        return copy_session_answer_failed(session, request, "the name leads out of the directory");
    snprintf(session->name, sizeof(session->name), "%.*s", (int)request->Tail, name);
    session->size = request->Size;
    if (put)
        error = copy_target_open(&session->target, session->server->directory, session->name);
    else
        error = session->source =
            copy_open_source(session->server->directory, session->name, &session->size);
    if (error < 0) {
        if (put)
            copy_session_say_not_stored(session, error);
        return copy_session_answer_failed(session, request, copy_error_text(error));
    }
    session->state = put ? PUTTING : GETTING;
    session->next = 0;
    session->error = 0;
    copy_worker_begin(session->worker, put ? session->target.fd : session->source,
        put ? COPY_TO_FILE : COPY_FROM_FILE);
    answer.Size = session->size;
    return copy_session_answer(session, request, &answer, NULL);
}

static void report(struct session *session, const char *way, const uint8_t *checksum)
{
    char text[COPY_NAME_MOST + 64], sum[2 * COPY_CHECKSUM + 1];

    snprintf(text, sizeof(text), "%s: %s %llu bytes, xxh128 %s", session->name, way,
        (unsigned long long)session->size, copy_sum_text(checksum, sum));
    if (!session->server->options->quiet)
        copy_session_say(session, text, NULL);
}

static bool end_file(struct session *session, const struct copy_header *request)
{
    struct copy_header answer = { .Status = COPY_OK };
    int error = session->error;

    if (session->state == IDLE)
        return copy_session_mistaken(session, request, "the end of no file");
    if (error) {
        leave_file(session);
        return copy_session_answer_failed(session, request, copy_error_text(error));
    }
    if (session->next != session->size)
        return copy_session_mistaken(session, request, "the end before all data");
    copy_worker_sum(session->worker, answer.Checksum);
    if (session->state == GETTING) {
        report(session, "fetched", answer.Checksum);
        leave_file(session);
        return copy_session_answer(session, request, &answer, NULL);
    }
    if (memcmp(answer.Checksum, request->Checksum, COPY_CHECKSUM)) {
        leave_file(session);
        copy_session_say(session, session->name, "the checksum is wrong: not kept");
        return copy_session_answer_failed(session, request, "the checksums differ");
    }
    error = copy_target_keep(&session->target);
    session->state = IDLE;
    if (error) {
        copy_session_say_not_stored(session, error);
        return copy_session_answer_failed(session, request, copy_error_text(error));
    }
    report(session, "stored", answer.Checksum);
    return copy_session_answer(session, request, &answer, NULL);
}

/* ---- sessions ---- */

/* message: *message = NULL: it is kept */
static bool handle(struct session *session, SMBD_MESSAGE **message)
{
    struct copy_header request = { .Magic = 0 };
    const char *tail = (const char *)(*message)->Data + sizeof(request);

    if ((*message)->Length >= sizeof(request))
        memcpy(&request, (*message)->Data, sizeof(request));
    if (request.Magic != COPY_MAGIC || request.Flags & COPY_ANSWER ||
        request.Tail != (*message)->Length - sizeof(request)) {
        copy_session_say(session, "a message that is no request of smbdcopy", NULL);
        return false;
    }
    switch (request.Command) {
    case COPY_WRITE:
    case COPY_READ: return copy_session_move(session, &request, message);
    case COPY_PUT:
    case COPY_GET: return copy_session_finish(session) && begin_file(session, &request, tail);
    case COPY_END: return copy_session_finish(session) && end_file(session, &request);
    default: return copy_session_mistaken(session, &request, "an unknown command");
    }
}

static bool step(struct session *session)
{
    SMBD_MESSAGE *message;
    NTSTATUS status = SmbdReceive(session->connection, !session->count, &message);
    bool goes_on;

    if (status == STATUS_TIMEOUT)
        return copy_session_go_on(session);
    if (!NT_SUCCESS(status))
        return false;
    goes_on = handle(session, &message);
    if (message)
        SmbdFreeMessage(message);
    return goes_on;
}

/* A client may disconnect between files. */
static void end_session(struct session *session)
{
    const char *reason;
    NTSTATUS status = SmbdFailure(session->connection, &reason);
    char text[64];

    if (!NT_SUCCESS(status) &&
        (session->state != IDLE || status != STATUS_CONNECTION_DISCONNECTED)) {
        copy_session_say(session, reason, copy_status_text(status, text, sizeof(text)));
        if (session->state != IDLE)
            copy_session_say(session, session->name,
                session->state == PUTTING ? "incomplete: not kept" : "not fetched as a whole");
    }
    leave_file(session);
}

static VOID serve(PVOID context, SMBD_CONNECTION *connection)
{
    struct session session = { .server = context, .connection = connection };
    struct copy_address peer = { .length = sizeof(peer.in6) };

    if (NT_SUCCESS(SmbdPeerAddress(connection, &peer.sa, peer.length)))
        copy_address_text(&peer.sa, session.peer, sizeof(session.peer));
    session.worker = copy_worker_start();
    if (!session.worker) {
        copy_session_say(&session, "no memory or no thread for its files", NULL);
        return;
    }
    while (step(&session))
        continue;
    copy_session_free_slots(&session);
    end_session(&session);
    copy_worker_stop(session.worker);
}

/* ---- the program ---- */

int copy_serve(const struct copy_options *options)
{
    struct server server = { .options = options };
    SMBD_PARAMETERS parameters;
    int result;

    server.directory = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (server.directory < 0) {
        copy_say("%s: %s", options->directory, strerror(errno));
        return 1;
    }
    copy_parameters(&parameters);
    result = copy_listen(&options->address, &parameters, &server.adapter, serve, &server);
    close(server.directory);
    return result;
}
