/* SPDX-License-Identifier: MIT */
/*
 * serve_session.c - the requests of a client, one after the other, and their answers. Source: [MS-SMB2] 3.3.5.2 (what
 * every request is held to), 3.3.4.1 (answers). The requests of a compound are answered each by a message of its own,
 * which [MS-SMB2] 3.3.4.1.3 allows.
 */
#include "serve.h"
#include "smb2_octets.h"

#include <string.h>

enum { ERROR_SIZE = 9, SIZE_ECHO = 4 };

void serve_session_say(const struct session *session, const char *what)
{
    copy_say("%s: %s", session->peer, what);
}

uint8_t *serve_begin(struct serve_answer *answer, uint16_t size, uint32_t fixed)
{
    uint8_t *body = answer->head.octets + SMB2_HEADER;

    put16(body, size);
    answer->head.length = SMB2_HEADER + fixed;
    return body;
}

const uint8_t *serve_body(const struct serve_request *request, uint32_t fixed, uint16_t size)
{
    return smb2_body(request->message, request->length, fixed, size);
}

bool serve_paid(const struct session *session, const struct serve_request *request, uint32_t bytes)
{
    uint32_t charge = request->header.charge ? request->header.charge : 1;

    return bytes <= (session->large_requests ? charge : 1) * (uint32_t)SERVE_CREDIT_BYTES;
}

/* ---- which commands there are ---- */

static uint32_t echo(
    struct session *session, const struct serve_request *request, struct serve_answer *answer)
{
    (void)session;
    if (!serve_body(request, SIZE_ECHO, SIZE_ECHO))
        return SMB2_STATUS_INVALID_PARAMETER;
    serve_begin(answer, SIZE_ECHO, SIZE_ECHO);
    return 0;
}

static const struct {
    serve_command *call;
    enum serve_state least; /* of the session */
} commands[] = {
    [SMB2_NEGOTIATE] = { serve_negotiate, NOT_NEGOTIATED },
    [SMB2_SESSION_SETUP] = { serve_session_setup, NEGOTIATED },
    [SMB2_LOGOFF] = { serve_logoff, LOGGED_IN },
    [SMB2_TREE_CONNECT] = { serve_tree_connect, LOGGED_IN },
    [SMB2_TREE_DISCONNECT] = { serve_tree_disconnect, CONNECTED },
    [SMB2_CREATE] = { serve_create, CONNECTED },
    [SMB2_CLOSE] = { serve_close, CONNECTED },
    [SMB2_FLUSH] = { serve_flush, CONNECTED },
    [SMB2_READ] = { serve_read, CONNECTED },
    [SMB2_WRITE] = { serve_write, CONNECTED },
    [SMB2_ECHO] = { echo, NEGOTIATED },
    [SMB2_QUERY_DIRECTORY] = { serve_query_directory, CONNECTED },
    [SMB2_QUERY_INFO] = { serve_query_info, CONNECTED },
    [SMB2_SET_INFO] = { serve_set_info, CONNECTED },
};

static bool is_known(uint16_t command)
{
    return command < sizeof(commands) / sizeof(commands[0]) && commands[command].call;
}

/* Whether the request is one of this session and this share. */
static uint32_t check(const struct session *session, struct serve_request *request)
{
    const struct smb2_header *header = &request->header;
    enum serve_state least =
        is_known(header->command) ? commands[header->command].least : LOGGED_IN;

    if (least >= LOGGED_IN && (session->state < LOGGED_IN || header->session != session->id))
        return SMB2_STATUS_USER_SESSION_DELETED;
    request->proven = session->user_proven && header->flags & SMB2_FLAG_SIGNED &&
                      smb2_signature_is_right(request->message, request->length, session->key);
    if (header->flags & SMB2_FLAG_SIGNED && session->state >= LOGGED_IN && !request->proven) {
        serve_session_say(session, "a request whose signature is wrong");
        return SMB2_STATUS_ACCESS_DENIED;
    }
    if (least == CONNECTED && (session->state < CONNECTED || header->tree != SERVE_TREE))
        return SMB2_STATUS_NETWORK_NAME_DELETED;
    return 0;
}

/* In a compound the rest of what belongs to a file that could not be opened fails as that did. */
static uint32_t run(
    struct session *session, struct serve_request *request, struct serve_answer *answer)
{
    uint32_t status;

    status = check(session, request);
    if (status)
        return status;
    if (!is_known(request->header.command))
        return SMB2_STATUS_NOT_SUPPORTED;
    if (request->header.flags & SMB2_FLAG_RELATED && session->last_open == UINT64_MAX &&
        session->last_status)
        return session->last_status;
    return commands[request->header.command].call(session, request, answer);
}

/* ---- answers ---- */

static bool has_answer(uint32_t status)
{
    return !status || status == SMB2_STATUS_MORE_PROCESSING ||
           status == SMB2_STATUS_BUFFER_OVERFLOW;
}

/* What the client may ask for next: what it wants, at least one. */
static uint16_t grant(struct session *session, uint16_t wanted)
{
    uint32_t most = SERVE_CREDITS - session->credits, granted = wanted ? wanted : 1;

    granted = granted < most ? granted : most;
    session->credits += granted;
    return (uint16_t)granted;
}

/* Signed, if the request was, and where the session begins. */
static bool send_answer(struct session *session, const struct serve_request *request,
    struct serve_answer *answer, uint32_t status)
{
    const struct smb2_header *asked = &request->header;
    struct smb2_header header = { .charge = asked->charge,
        .status = status,
        .command = asked->command,
        .credits = grant(session, asked->credits),
        .flags = SMB2_FLAG_RESPONSE,
        .id = asked->id,
        .tree = asked->command == SMB2_TREE_CONNECT && !status ? SERVE_TREE : asked->tree,
        .session = asked->command == SMB2_SESSION_SETUP ? session->id : asked->session };
    bool sign = request->proven ||
                (asked->command == SMB2_SESSION_SETUP && !status && session->user_proven);

    if (!has_answer(status)) {
        answer->data_length = 0;
        memset(answer->head.octets, 0, SMB2_HEADER + ERROR_SIZE);
        serve_begin(answer, ERROR_SIZE, ERROR_SIZE);
    }
    header.flags |= sign ? SMB2_FLAG_SIGNED : 0;
    smb2_put_header(&answer->head, &header);
    if (sign)
        smb2_sign(&answer->head, answer->data, answer->data_length, session->key);
    if (has_answer(status) && answer->hash)
        smb2_integrity_add(answer->hash, answer->head.octets, answer->head.length);
    return NT_SUCCESS(SmbdSend(session->connection, answer->head.octets, answer->head.length,
        answer->data_length ? answer->data : NULL, answer->data_length,
        answer->invalidate ? &answer->token : NULL));
}

/* ---- requests ---- */

/* False: said. What a client may not do at all ends the connection. */
static bool allowed(struct session *session, const struct smb2_header *header)
{
    uint32_t charge = header->charge ? header->charge : 1;
    const char *wrong = NULL;

    if (header->flags & SMB2_FLAG_RESPONSE)
        wrong = "an answer instead of a request";
    else if ((header->command == SMB2_NEGOTIATE) != (session->state == NOT_NEGOTIATED))
        wrong = "a negotiation is due, once";
    else if (charge > session->credits)
        wrong = "a request without credits";
    if (wrong)
        serve_session_say(session, wrong);
    else
        session->credits -= charge;
    return !wrong;
}

/* One request of a message. before in: the one before it in a compound, or NULL. False: the connection ends. */
static bool take(
    struct session *session, struct serve_request *request, const struct smb2_header *before)
{
    struct smb2_header *header = &request->header;
    struct serve_answer answer;
    uint32_t status = 0;

    if (header->command == SMB2_CANCEL) /* has no answer, and here nothing is left to cancel */
        return true;
    if (!allowed(session, header))
        return false;
    if (header->flags & SMB2_FLAG_RELATED) {
        if (!before)
            status = SMB2_STATUS_INVALID_PARAMETER;
        header->session = before ? before->session : 0;
        header->tree = before ? before->tree : 0;
    } else {
        session->last_open = UINT64_MAX;
        session->last_status = 0;
    }
    memset(&answer, 0, sizeof(answer));
    if (!status)
        status = run(session, request, &answer);
    session->last_status = status;
    return !answer.over && send_answer(session, request, &answer, status);
}

/* A message: a request, or a compound of them. */
static bool take_all(struct session *session, const SMBD_MESSAGE *message)
{
    struct smb2_header before;
    uint32_t at = 0;

    for (;;) {
        struct serve_request request = { .message = message->Data + at,
            .length = message->Length - at };
        uint32_t next;

        if (!smb2_get_header(request.message, request.length, &request.header)) {
            serve_session_say(session, "what is no message of SMB2");
            return false;
        }
        next = request.header.next;
        if (next % 8 || next >= request.length || (next && next < SMB2_HEADER)) {
            serve_session_say(session, "a compound that leads outside");
            return false;
        }
        if (next)
            request.length = next;
        if (!take(session, &request, at ? &before : NULL))
            return false;
        if (!next)
            return true;
        before = request.header;
        at += next;
    }
}

void serve_session(struct session *session)
{
    SMBD_MESSAGE *message;
    bool goes_on = true;

    while (goes_on && NT_SUCCESS(SmbdReceive(session->connection, TRUE, &message))) {
        goes_on = take_all(session, message);
        SmbdFreeMessage(message);
    }
    serve_end_all_opens(session);
}
