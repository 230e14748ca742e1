/* SPDX-License-Identifier: MIT */
/*
 * serve_login.c - what comes before the files: dialect, session, share. Source: [MS-SMB2] 2.2.3 to 2.2.12, 3.3.5.4 to
 * 3.3.5.8.
 */
#include "serve.h"
#include "smb2_octets.h"

#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum { SIZE_NEGOTIATE = 36, SIZE_NEGOTIATED = 65, FIXED_NEGOTIATED = 64 };
enum { PREAUTH_INTEGRITY = 1, SHA_512 = 1, NEGOTIATE_CONTEXT = 8 };
enum { SIZE_SETUP = 25, FIXED_SETUP = 24, SIZE_SET_UP = 9, FIXED_SET_UP = 8, BINDING = 1 };
enum { SIZE_TREE = 9, FIXED_TREE = 8, SIZE_CONNECTED = 16, SIZE_EMPTY = 4 };

bool serve_random(void *to, size_t size)
{
    return getrandom(to, size, 0) == (ssize_t)size;
}

/* ---- the dialect ---- */

/* The newest one that both have; 0: none. */
static uint16_t choose(const uint8_t *dialects, uint16_t count)
{
    static const uint16_t known[] = { SMB2_3_1_1, SMB2_3_0_2, SMB2_3_0 };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        for (uint16_t j = 0; j < count; j++)
            if (get16(dialects + 2 * j) == known[i])
                return known[i];
    return 0;
}

/* What the client says of hashes, which it has to, once; nothing else it says is needed. */
static uint32_t check_contexts(const struct serve_request *request, const uint8_t *asked)
{
    uint32_t at = get32(asked + 28);
    bool said = false;

    for (uint16_t left = get16(asked + 32); left; left--) {
        const uint8_t *context =
            smb2_part(request->message, request->length, SIZE_NEGOTIATE, at, NEGOTIATE_CONTEXT);
        uint16_t length = context ? get16(context + 2) : 0;
        const uint8_t *data = context + NEGOTIATE_CONTEXT;
        bool offered = false;

        if (!context || length > request->length - at - NEGOTIATE_CONTEXT)
            return SMB2_STATUS_INVALID_PARAMETER;
        at = (at + NEGOTIATE_CONTEXT + length + 7) & ~7u;
        if (get16(context) != PREAUTH_INTEGRITY)
            continue;
        if (said || length < 4 || 4 + 2 * get16(data) + get16(data + 2) > length)
            return SMB2_STATUS_INVALID_PARAMETER;
        for (uint16_t i = 0; i < get16(data); i++)
            offered |= get16(data + 4 + 2 * i) == SHA_512;
        if (!offered)
            return SMB2_STATUS_NO_INTEGRITY_OVERLAP;
        said = true;
    }
    return said ? 0 : SMB2_STATUS_INVALID_PARAMETER;
}

/* Behind the fixed part. False: no random numbers. */
static bool put_context(struct serve_answer *answer, uint8_t *body)
{
    uint8_t *at = body + FIXED_NEGOTIATED;

    put16(body + 6, 1);
    put32(body + 60, SMB2_HEADER + FIXED_NEGOTIATED);
    put16(at, PREAUTH_INTEGRITY);
    put16(at + 2, 6 + SMB2_SALT);
    put16(at + 8, 1);
    put16(at + 10, SMB2_SALT);
    put16(at + 12, SHA_512);
    answer->head.length += NEGOTIATE_CONTEXT + 6 + SMB2_SALT;
    return serve_random(at + 14, SMB2_SALT);
}

uint32_t serve_negotiate(
    struct session *session, const struct serve_request *request, struct serve_answer *answer)
{
    const uint8_t *asked = serve_body(request, SIZE_NEGOTIATE, SIZE_NEGOTIATE);
    uint16_t count = asked ? get16(asked + 2) : 0;
    uint32_t status = 0;
    uint8_t *body;

    if (!count || !smb2_part(request->message, request->length, SIZE_NEGOTIATE,
                      SMB2_HEADER + SIZE_NEGOTIATE, 2u * count))
        return SMB2_STATUS_INVALID_PARAMETER;
    session->dialect = choose(asked + SIZE_NEGOTIATE, count);
    if (!session->dialect)
        return SMB2_STATUS_NOT_SUPPORTED;
    if (session->dialect == SMB2_3_1_1)
        status = check_contexts(request, asked);
    if (status)
        return status;
    session->large_requests = get32(asked + 8) & SMB2_LARGE_MTU;
    if (!session->large_requests)
        session->most = SERVE_CREDIT_BYTES;
    body = serve_begin(answer, SIZE_NEGOTIATED, FIXED_NEGOTIATED);
    put16(body + 2, SMB2_SIGNING_ENABLED);
    put16(body + 4, session->dialect);
    memcpy(body + 8, session->server->guid, SMB2_GUID);
    put32(body + 24, session->large_requests ? SMB2_LARGE_MTU : 0);
    put32(body + 28, SERVE_OUTPUT);
    put32(body + 32, session->most);
    put32(body + 36, session->most);
    put64(body + 40, serve_now());
    put16(body + 56, SMB2_HEADER + FIXED_NEGOTIATED); /* no token, which says: NTLMSSP as it is */
    if (session->dialect == SMB2_3_1_1 && !put_context(answer, body))
        return SMB2_STATUS_INSUFFICIENT_RESOURCES;
    smb2_integrity_add(session->connection_hash, request->message, request->length);
    answer->hash = session->connection_hash;
    session->state = NEGOTIATED;
    return 0;
}

/* ---- the session ---- */

/* An answer with a token. Returns the fixed part. */
static uint8_t *begin_set_up(struct serve_answer *answer, const uint8_t *token, uint16_t length)
{
    uint8_t *body = serve_begin(answer, SIZE_SET_UP, FIXED_SET_UP);

    put16(body + 4, SMB2_HEADER + FIXED_SET_UP);
    put16(body + 6, length);
    memcpy(body + FIXED_SET_UP, token, length);
    answer->head.length += length;
    return body;
}

static uint32_t challenge(struct session *session, const struct serve_request *request,
    const uint8_t *token, uint16_t length, struct serve_answer *answer)
{
    uint8_t reply[SMB2_TOKEN_MOST];

    if (!serve_random(session->challenge, sizeof(session->challenge)) ||
        !serve_random(&session->id, sizeof(session->id)))
        return SMB2_STATUS_INSUFFICIENT_RESOURCES;
    session->id |= 1; /* not zero, nor all ones */
    session->id &= INT64_MAX;
    length = smb2_ntlm_challenge(
        token, length, session->challenge, serve_now(), session->server->host, reply);
    if (!length)
        return SMB2_STATUS_INVALID_PARAMETER;
    memcpy(session->hash, session->connection_hash, sizeof(session->hash));
    smb2_integrity_add(session->hash, request->message, request->length);
    begin_set_up(answer, reply, length);
    answer->hash = session->hash;
    session->state = CHALLENGED;
    return SMB2_STATUS_MORE_PROCESSING;
}

/* Without a login of the server's, all are guests. */
static uint32_t log_in(struct session *session, const struct serve_request *request,
    const uint8_t *token, uint16_t length, struct serve_answer *answer)
{
    const struct smb2_login *login = &session->server->options->login;
    uint8_t session_key[SMB2_SESSION_KEY];
    enum smb2_ntlm_verdict verdict =
        smb2_ntlm_check(token, length, session->challenge, login, session_key);

    session->state = NEGOTIATED;
    session->user_proven = verdict == SMB2_NTLM_USER;
    if (verdict == SMB2_NTLM_NO_SENSE)
        return SMB2_STATUS_INVALID_PARAMETER;
    if (login->user && !session->user_proven) {
        serve_session_say(session, "another user, or a wrong password");
        return SMB2_STATUS_LOGON_FAILURE;
    }
    smb2_integrity_add(session->hash, request->message, request->length);
    if (session->user_proven)
        smb2_signing_key(session->dialect, session_key, session->hash, session->key);
    put16(begin_set_up(answer, token, 0) + 2, session->user_proven ? 0 : SMB2_SESSION_GUEST);
    session->state = LOGGED_IN;
    return 0;
}

uint32_t serve_session_setup(
    struct session *session, const struct serve_request *request, struct serve_answer *answer)
{
    const uint8_t *asked = serve_body(request, FIXED_SETUP, SIZE_SETUP), *token;
    uint16_t length = asked ? get16(asked + 14) : 0;

    if (!length)
        return SMB2_STATUS_INVALID_PARAMETER;
    token = smb2_part(request->message, request->length, FIXED_SETUP, get16(asked + 12), length);
    if (!token)
        return SMB2_STATUS_INVALID_PARAMETER;
    if (session->state >= LOGGED_IN || asked[2] & BINDING)
        return SMB2_STATUS_REQUEST_NOT_ACCEPTED;
    if (!request->header.session)
        return challenge(session, request, token, length, answer);
    if (session->state != CHALLENGED || request->header.session != session->id)
        return SMB2_STATUS_USER_SESSION_DELETED;
    return log_in(session, request, token, length, answer);
}

uint32_t serve_logoff(
    struct session *session, const struct serve_request *request, struct serve_answer *answer)
{
    if (!serve_body(request, SIZE_EMPTY, SIZE_EMPTY))
        return SMB2_STATUS_INVALID_PARAMETER;
    serve_end_all_opens(session);
    session->state = NEGOTIATED;
    session->user_proven = false;
    serve_begin(answer, SIZE_EMPTY, SIZE_EMPTY);
    return 0;
}

/* ---- the share ---- */

/* Whether \\HOST\SHARE names it. */
static bool is_share(const struct session *session, const uint8_t *path, uint16_t length)
{
    char text[3 * SMB2_NAME_MOST];
    const char *share;

    if (length > SMB2_NAME_MOST || smb2_utf8(path, length, text, sizeof(text)) < 0)
        return false;
    share = strrchr(text, '\\');
    return share && strcasecmp(share + 1, session->server->options->share) == 0;
}

uint32_t serve_tree_connect(
    struct session *session, const struct serve_request *request, struct serve_answer *answer)
{
    const uint8_t *asked = serve_body(request, FIXED_TREE, SIZE_TREE), *path;
    uint16_t length = asked ? get16(asked + 6) : 0;
    uint8_t *body;

    path = asked
               ? smb2_part(request->message, request->length, FIXED_TREE, get16(asked + 4), length)
               : NULL;
    if (!path)
        return SMB2_STATUS_INVALID_PARAMETER;
    if (get16(asked + 2)) /* what is in front of the path */
        return SMB2_STATUS_NOT_SUPPORTED;
    if (!is_share(session, path, length))
        return SMB2_STATUS_BAD_NETWORK_NAME;
    if (session->state == CONNECTED)
        return SMB2_STATUS_REQUEST_NOT_ACCEPTED;
    session->state = CONNECTED;
    body = serve_begin(answer, SIZE_CONNECTED, SIZE_CONNECTED);
    body[2] = SMB2_SHARE_DISK;
    put32(body + 4, 0x30); /* clients keep nothing for when they are offline */
    put32(body + 12, 0x001f01ff);
    return 0;
}

uint32_t serve_tree_disconnect(
    struct session *session, const struct serve_request *request, struct serve_answer *answer)
{
    if (!serve_body(request, SIZE_EMPTY, SIZE_EMPTY))
        return SMB2_STATUS_INVALID_PARAMETER;
    serve_end_all_opens(session);
    session->state = LOGGED_IN;
    serve_begin(answer, SIZE_EMPTY, SIZE_EMPTY);
    return 0;
}
