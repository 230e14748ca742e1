/* SPDX-License-Identifier: MIT */
/*
 * copy_server.c - the server: a session for each connection, in a thread of the library's.
 *
 * A session answers requests in order, and serves several at a time: while it writes the data of one to the file, it
 * reads that of the next ones from the client.
 */
#include "copy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 32 };

struct server {
    const struct copy_options *options;
    SMBD_ADAPTER *adapter;
    int directory;
};

/* A request whose RDMA is under way. */
struct slot {
    SMBD_BUFFER *buffer;
    struct copy_header request;
};

enum session_state { IDLE, PUTTING, GETTING };

struct session {
    struct server *server;
    SMBD_CONNECTION *connection;
    char peer[COPY_ADDRESS_TEXT];
    struct slot slots[COPY_PIPELINE]; /* a ring */
    unsigned first, count;
    uint8_t *piece; /* of a file, where the client wants it in messages */

    enum session_state state;
    char name[COPY_NAME_MOST + 1];
    uint64_t size, next; /* of the file; where the next request has to begin */
    int source;          /* GETTING */
    struct copy_target target;
    struct copy_sum sum;
    int error; /* of the file, negative; 0: none */
};

static void say(struct session *session, const char *what, const char *why)
{
    copy_say("%s: %s%s%s", session->peer, what, why ? ": " : "", why ? why : "");
}

/* ---- answers; false: the connection has ended ---- */

static bool send_answer(struct session *session, const struct copy_header *request,
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

static bool answer_ok(struct session *session, const struct copy_header *request)
{
    struct copy_header answer = { .Status = COPY_OK, .Length = request->Length };

    return send_answer(session, request, &answer, NULL);
}

static bool answer_failed(
    struct session *session, const struct copy_header *request, const char *text)
{
    struct copy_header answer = { .Status = COPY_FAILED, .Tail = (uint32_t)strlen(text) };

    return send_answer(session, request, &answer, text);
}

/* The request makes no sense: answers it, and ends the session. */
static bool mistaken(struct session *session, const struct copy_header *request, const char *text)
{
    struct copy_header answer = { .Status = COPY_MISTAKEN, .Tail = (uint32_t)strlen(text) };

    say(session, "a request that makes no sense", text);
    send_answer(session, request, &answer, text);
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

static void say_not_stored(struct session *session, int error)
{
    char text[COPY_NAME_MOST + 64];

    snprintf(text, sizeof(text), "%s: not stored", session->name);
    say(session, text, copy_error_text(error));
}

static bool begin_file(struct session *session, const struct copy_header *request, const char *name)
{
    struct copy_header answer = { .Status = COPY_OK };
    bool put = request->Command == COPY_PUT;
    int error;

    leave_file(session);
    if (!copy_name_allowed(name, request->Tail))
        return answer_failed(session, request, "the name leads out of the directory");
    snprintf(session->name, sizeof(session->name), "%.*s", (int)request->Tail, name);
    session->size = request->Size;
    if (put)
        error = copy_target_open(&session->target, session->server->directory, session->name);
    else
        error = session->source =
            copy_open_source(session->server->directory, session->name, &session->size);
    if (error < 0) {
        if (put)
            say_not_stored(session, error);
        return answer_failed(session, request, copy_error_text(error));
    }
    session->state = put ? PUTTING : GETTING;
    session->next = 0;
    session->error = 0;
    copy_sum_reset(&session->sum);
    answer.Size = session->size;
    return send_answer(session, request, &answer, NULL);
}

static void report(struct session *session, const char *way, const uint8_t *checksum)
{
    char text[COPY_NAME_MOST + 64], sum[2 * COPY_CHECKSUM + 1];

    snprintf(text, sizeof(text), "%s: %s %llu bytes, xxh128 %s", session->name, way,
        (unsigned long long)session->size, copy_sum_text(checksum, sum));
    if (!session->server->options->quiet)
        say(session, text, NULL);
}

static bool end_file(struct session *session, const struct copy_header *request)
{
    struct copy_header answer = { .Status = COPY_OK };
    int error = session->error;

    if (session->state == IDLE)
        return mistaken(session, request, "the end of no file");
    if (error) {
        leave_file(session);
        return answer_failed(session, request, copy_error_text(error));
    }
    if (session->next != session->size)
        return mistaken(session, request, "the end before all data");
    copy_sum_end(&session->sum, answer.Checksum);
    if (session->state == GETTING) {
        report(session, "fetched", answer.Checksum);
        leave_file(session);
        return send_answer(session, request, &answer, NULL);
    }
    if (memcmp(answer.Checksum, request->Checksum, COPY_CHECKSUM)) {
        leave_file(session);
        say(session, session->name, "the checksum is wrong: not kept");
        return answer_failed(session, request, "the checksums differ");
    }
    error = copy_target_keep(&session->target);
    session->state = IDLE;
    if (error) {
        say_not_stored(session, error);
        return answer_failed(session, request, copy_error_text(error));
    }
    report(session, "stored", answer.Checksum);
    return send_answer(session, request, &answer, NULL);
}

/* ---- pieces ---- */

static bool store(struct session *session, const struct copy_header *request, const void *data)
{
    if (!session->error) {
        session->error = copy_write(session->target.fd, data, request->Length, request->Offset);
        if (session->error)
            say_not_stored(session, session->error);
    }
    if (session->error)
        return answer_failed(session, request, copy_error_text(session->error));
    copy_sum_add(&session->sum, data, request->Length);
    return answer_ok(session, request);
}

static bool load(struct session *session, const struct copy_header *request, void *data)
{
    session->error = copy_read(session->source, data, request->Length, request->Offset);
    if (session->error)
        return answer_failed(session, request, copy_error_text(session->error));
    copy_sum_add(&session->sum, data, request->Length);
    return true;
}

/* Waits for the oldest request's RDMA; stores the data it read, and answers. */
static bool finish_oldest(struct session *session)
{
    struct slot *slot = &session->slots[session->first];

    session->first = (session->first + 1) % COPY_PIPELINE;
    session->count--;
    if (!NT_SUCCESS(SmbdFinish(session->connection, slot->buffer)))
        return false;
    return slot->request.Command == COPY_READ ||
           store(session, &slot->request, SmbdBufferMemory(slot->buffer));
}

static bool finish_all(struct session *session)
{
    while (session->count)
        if (!finish_oldest(session))
            return false;
    return true;
}

/* A slot for one more request, with its buffer; NULL: the session ends. */
static struct slot *next_slot(struct session *session, const struct copy_header *request)
{
    struct slot *slot;
    NTSTATUS status = STATUS_SUCCESS;
    char text[64];

    if (session->count == COPY_PIPELINE && !finish_oldest(session))
        return NULL;
    slot = &session->slots[(session->first + session->count) % COPY_PIPELINE];
    if (!slot->buffer) {
        uint32_t size = SmbdAgreed(session->connection)->MaxReadWriteSize;

        status = SmbdCreateBuffer(
            session->connection, size < COPY_PIECE ? size : COPY_PIECE, &slot->buffer);
    }
    if (!NT_SUCCESS(status)) {
        mistaken(session, request, copy_status_text(status, text, sizeof(text)));
        return NULL;
    }
    slot->request = *request;
    return slot;
}

/* By RDMA. */
static bool write_piece(struct session *session, const struct copy_header *request)
{
    struct slot *slot = next_slot(session, request);

    if (!slot)
        return false;
    if (!NT_SUCCESS(SmbdStartRead(
            session->connection, slot->buffer, request->Length, &request->Descriptor)))
        return false;
    session->count++;
    return true;
}

static bool read_piece(struct session *session, const struct copy_header *request)
{
    struct slot *slot = next_slot(session, request);

    if (!slot)
        return false;
    if (!load(session, request, SmbdBufferMemory(slot->buffer)))
        return false;
    if (session->error)
        return true;
    if (!NT_SUCCESS(SmbdStartWrite(
            session->connection, slot->buffer, request->Length, &request->Descriptor)))
        return false;
    session->count++;
    return answer_ok(session, request); /* arrives behind the data */
}

/* In messages. */
static bool read_inline(struct session *session, const struct copy_header *request)
{
    struct copy_header answer = {
        .Status = COPY_OK, .Length = request->Length, .Tail = request->Length
    };

    if (!session->piece && !(session->piece = malloc(COPY_INLINE_PIECE)))
        return answer_failed(session, request, strerror(ENOMEM));
    if (!load(session, request, session->piece))
        return false;
    return session->error || send_answer(session, request, &answer, session->piece);
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

static bool move_piece(struct session *session, const struct copy_header *request, const void *tail)
{
    enum session_state state = request->Command == COPY_WRITE ? PUTTING : GETTING;

    if (session->state != state || !piece_fits(session, request))
        return mistaken(session, request, "a piece that is not the next one of the file");
    session->next += request->Length;
    if (session->error)
        return finish_all(session) &&
               answer_failed(session, request, copy_error_text(session->error));
    if (!(request->Flags & COPY_INLINE))
        return state == PUTTING ? write_piece(session, request) : read_piece(session, request);
    if (!finish_all(session))
        return false;
    return state == PUTTING ? store(session, request, tail) : read_inline(session, request);
}

/* ---- sessions ---- */

static bool handle(struct session *session, const SMBD_MESSAGE *message)
{
    struct copy_header request = { .Magic = 0 };
    const char *tail = (const char *)message->Data + sizeof(request);

    if (message->Length >= sizeof(request))
        memcpy(&request, message->Data, sizeof(request));
    if (request.Magic != COPY_MAGIC || request.Flags & COPY_ANSWER ||
        request.Tail != message->Length - sizeof(request)) {
        say(session, "a message that is no request of smbdcopy", NULL);
        return false;
    }
    switch (request.Command) {
    case COPY_WRITE:
    case COPY_READ: return move_piece(session, &request, tail);
    case COPY_PUT:
    case COPY_GET: return finish_all(session) && begin_file(session, &request, tail);
    case COPY_END: return finish_all(session) && end_file(session, &request);
    default: return mistaken(session, &request, "an unknown command");
    }
}

static bool step(struct session *session)
{
    SMBD_MESSAGE *message;
    NTSTATUS status = SmbdReceive(session->connection, !session->count, &message);
    bool goes_on;

    if (status == STATUS_TIMEOUT)
        return finish_oldest(session);
    if (!NT_SUCCESS(status))
        return false;
    goes_on = handle(session, message);
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
        say(session, reason, copy_status_text(status, text, sizeof(text)));
        if (session->state != IDLE)
            say(session, session->name,
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
    if (!copy_sum_init(&session.sum)) {
        say(&session, "out of memory", NULL);
        return;
    }
    while (step(&session))
        continue;
    end_session(&session);
    copy_sum_free(&session.sum);
    free(session.piece);
}

static VOID refused(PVOID context, const SOCKADDR *peer, NTSTATUS status, const char *reason)
{
    char address[COPY_ADDRESS_TEXT], text[64];

    (void)context;
    copy_say("%s: not served: %s: %s", copy_address_text(peer, address, sizeof(address)), reason,
        copy_status_text(status, text, sizeof(text)));
}

/* ---- the program ---- */

static void failed(const struct copy_address *address, const char *what, NTSTATUS status)
{
    const char *hint = copy_status_hint(status);
    char where[COPY_ADDRESS_TEXT], text[64];

    copy_say("%s: %s: %s%s%s%s", copy_address_text(&address->sa, where, sizeof(where)), what,
        copy_status_text(status, text, sizeof(text)), hint ? " (" : "", hint ? hint : "",
        hint ? ")" : "");
}

/* Serves until a signal ends the program. */
static void run(SMBD_LISTENER *listener, const sigset_t *ending)
{
    struct copy_address address = { .length = sizeof(address.in6) };
    char text[COPY_ADDRESS_TEXT];
    int signal;

    SmbdListenerAddress(listener, &address.sa, address.length);
    copy_say("listening on %s", copy_address_text(&address.sa, text, sizeof(text)));
    sigwait(ending, &signal);
    SmbdCloseListener(listener);
}

static int listen_and_run(struct server *server, const sigset_t *ending)
{
    const struct copy_address *address = &server->options->address;
    const SMBD_SERVICE service = {
        .Serve = serve, .Refused = refused, .Context = server, .MaxConnections = MOST_CONNECTIONS
    };
    SMBD_PARAMETERS parameters;
    SMBD_LISTENER *listener;
    NTSTATUS status;

    copy_parameters(&parameters);
    status = SmbdListen(
        server->adapter, &address->sa, address->length, &parameters, &service, &listener);
    if (NT_SUCCESS(status))
        run(listener, ending);
    else
        failed(address, "cannot listen", status);
    return NT_SUCCESS(status) ? 0 : COPY_NEXT_ADDRESS;
}

int copy_serve(const struct copy_options *options)
{
    struct server server = { .options = options };
    NTSTATUS status;
    sigset_t ending;
    int result = COPY_NEXT_ADDRESS;

    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, NULL); /* before other threads start */
    server.directory = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (server.directory < 0) {
        copy_say("%s: %s", options->directory, strerror(errno));
        return 1;
    }
    status = SmbdOpenAdapter(copy_interface_of(&options->address), &server.adapter);
    if (NT_SUCCESS(status)) {
        result = listen_and_run(&server, &ending);
        SmbdCloseAdapter(server.adapter);
    } else {
        failed(&options->address, "no adapter", status);
    }
    close(server.directory);
    return result;
}
