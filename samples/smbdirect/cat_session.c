/* SPDX-License-Identifier: MIT */
/* cat_session.c - what comes before the data, and after it: dialect, session, share, file. */
#include "cat.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

static const char connecting[] = "negotiate", logging_in[] = "log in", opening[] = "open",
                  closing[] = "close";
static const char no_sense[] = "an answer that makes no sense";
static const char no_encryption[] = "the server wants encryption, which RDMA would go round";

static bool random_octets(void *to, size_t size)
{
    return getrandom(to, size, 0) == (ssize_t)size;
}

/* ---- the dialect ---- */

static bool offered(const struct smb2_negotiate *negotiate, uint16_t dialect)
{
    for (uint16_t i = 0; i < negotiate->dialect_count; i++)
        if (negotiate->dialects[i] == dialect)
            return true;
    return false;
}

static bool negotiate(struct cat *cat)
{
    static const uint16_t dialects[] = { SMB2_3_0, SMB2_3_0_2, SMB2_3_1_1 };
    struct smb2_negotiate negotiate = { .dialects = dialects, .capabilities = SMB2_LARGE_MTU };
    struct smb2_request request;
    SMBD_MESSAGE *message;
    bool well;

    for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
        negotiate.dialect_count += dialects[i] <= cat->options->newest;
    if (!random_octets(negotiate.guid, sizeof(negotiate.guid)) ||
        !random_octets(negotiate.salt, sizeof(negotiate.salt)))
        return cat_failed(cat, connecting, "no random numbers");
    smb2_put_negotiate(&request, &negotiate);
    if (!cat_transact(cat, &request, SMB2_NEGOTIATE, connecting, &message))
        return false;
    well = smb2_get_negotiated(message->Data, message->Length, &cat->negotiated);
    smb2_integrity_add(cat->hash, request.octets, request.length);
    smb2_integrity_add(cat->hash, message->Data, message->Length);
    SmbdFreeMessage(message);
    if (!well)
        return cat_failed(cat, connecting, no_sense);
    if (!offered(&negotiate, cat->negotiated.dialect))
        return cat_failed(cat, connecting, "the server chose a dialect that was not offered");
    return true;
}

/* ---- the session ---- */

/* 100 ns since 1601. */
static uint64_t windows_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec + 11644473600) * 10000000 + (uint64_t)now.tv_nsec / 100;
}

/* One step. status in: that it has to end with; message out, as by cat_transact. */
static bool step(
    struct cat *cat, const uint8_t *token, uint16_t length, uint32_t status, SMBD_MESSAGE **message)
{
    struct smb2_request request;
    struct smb2_header header;
    char text[64];
    uint64_t id;

    smb2_put_session_setup(&request, token, length);
    if (!cat_ask(cat, &request, SMB2_SESSION_SETUP, logging_in, NULL, 0, 0, &id) ||
        !cat_answer(cat, logging_in, message, &header))
        return false;
    smb2_integrity_add(cat->hash, request.octets, request.length);
    if (header.id == id && header.command == SMB2_SESSION_SETUP && header.status == status) {
        cat->session = header.session;
        /* The last answer is the first one that is signed. */
        if (status)
            smb2_integrity_add(cat->hash, (*message)->Data, (*message)->Length);
        return true;
    }
    SmbdFreeMessage(*message);
    smb2_status_text(header.status, text, sizeof(text));
    return cat_failed(cat, logging_in, header.status ? text : no_sense);
}

/* The answer to the server's challenge. Returns its length; 0: it failed; said. */
static uint16_t answer_challenge(
    struct cat *cat, const SMBD_MESSAGE *message, uint8_t *token, uint8_t session_key[])
{
    uint8_t random[SMB2_NTLM_CHALLENGE];
    struct smb2_session session;
    int length = 0;

    if (!random_octets(random, sizeof(random)))
        return cat_failed(cat, logging_in, "no random numbers");
    if (smb2_get_session(message->Data, message->Length, &session))
        length = smb2_ntlm_answer(session.token, session.token_length, &cat->options->login,
            windows_time(), random, token, session_key);
    if (length > 0)
        return (uint16_t)length;
    return cat_failed(cat, logging_in, length ? "the login is too long, or no UTF-8" : no_sense);
}

/* What the session is. */
static bool check_session(struct cat *cat, const SMBD_MESSAGE *message, const uint8_t session_key[])
{
    struct smb2_session session;
    bool guest;

    if (!smb2_get_session(message->Data, message->Length, &session))
        return cat_failed(cat, logging_in, no_sense);
    guest = session.flags & (SMB2_SESSION_GUEST | SMB2_SESSION_NULL);
    if (session.flags & SMB2_SESSION_ENCRYPT)
        return cat_failed(cat, logging_in, no_encryption);
    if (guest && cat->options->login.user)
        return cat_failed(
            cat, logging_in, "the server does not know the user, who would be a guest");
    if (cat->negotiated.security_mode & SMB2_SIGNING_REQUIRED && !cat->options->login.user)
        return cat_failed(cat, logging_in, "the server wants signatures, which a guest has not");
    if (!cat->options->login.user)
        return true;
    smb2_signing_key(cat->negotiated.dialect, session_key, cat->hash, cat->key);
    if (!smb2_signature_is_right(message->Data, message->Length, cat->key))
        return cat_failed(cat, logging_in, "an answer is not signed as it has to be");
    cat->user_proven = true;
    return true;
}

static bool log_in(struct cat *cat)
{
    uint8_t token[SMB2_TOKEN_MOST], session_key[SMB2_SESSION_KEY];
    uint16_t length = smb2_ntlm_begin(token);
    SMBD_MESSAGE *message;
    bool well;

    if (!step(cat, token, length, SMB2_STATUS_MORE_PROCESSING, &message))
        return false;
    length = answer_challenge(cat, message, token, session_key);
    SmbdFreeMessage(message);
    if (!length || !step(cat, token, length, 0, &message))
        return false;
    well = check_session(cat, message, session_key);
    SmbdFreeMessage(message);
    return well;
}

/* ---- share and file ---- */

static bool connect_tree(struct cat *cat)
{
    const struct cat_url *url = &cat->options->url;
    struct smb2_request request;
    struct smb2_tree tree;
    SMBD_MESSAGE *message;
    bool well;
    char doing[128];

    snprintf(doing, sizeof(doing), "share %s", url->share);
    if (!smb2_put_tree_connect(&request, url->host, url->share))
        return cat_failed(cat, doing, "its name is too long, or no UTF-8");
    if (!cat_transact(cat, &request, SMB2_TREE_CONNECT, doing, &message))
        return false;
    well = smb2_get_tree(message->Data, message->Length, &tree);
    SmbdFreeMessage(message);
    if (!well)
        return cat_failed(cat, doing, no_sense);
    if (tree.type != SMB2_SHARE_DISK)
        return cat_failed(cat, doing, "it has no files");
    if (tree.flags & SMB2_SHARE_ENCRYPT)
        return cat_failed(cat, doing, no_encryption);
    return true;
}

bool cat_open(struct cat *cat)
{
    struct smb2_request request;
    SMBD_MESSAGE *message;
    bool well;

    if (!negotiate(cat) || !log_in(cat) || !connect_tree(cat))
        return false;
    if (!smb2_put_create(&request, cat->options->url.path, cat->options->put))
        return cat_failed(cat, opening, "the path is too long, no UTF-8, or has a \"\\\"");
    if (!cat_transact(cat, &request, SMB2_CREATE, opening, &message))
        return false;
    well = smb2_get_created(message->Data, message->Length, &cat->file);
    SmbdFreeMessage(message);
    return well || cat_failed(cat, opening, no_sense);
}

bool cat_close(struct cat *cat)
{
    struct smb2_request request;
    SMBD_MESSAGE *message;
    bool well;

    smb2_put_close(&request, cat->file.id);
    if (!cat_transact(cat, &request, SMB2_CLOSE, closing, &message))
        return false;
    well = smb2_get_closed(message->Data, message->Length);
    SmbdFreeMessage(message);
    return well || cat_failed(cat, closing, no_sense);
}
