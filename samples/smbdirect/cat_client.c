/* SPDX-License-Identifier: MIT */
/* cat_client.c - requests and answers over a connection of SMB Direct. */
#include "cat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool cat_failed(const struct cat *cat, const char *doing, const char *what)
{
    copy_say("%s: %s: %s", cat->options->text, doing, what);
    return false;
}

bool cat_ended(const struct cat *cat, const char *doing)
{
    const char *reason = "";
    char status[64], text[256];

    copy_status_text(SmbdFailure(cat->connection, &reason), status, sizeof(status));
    snprintf(text, sizeof(text), "the connection ended: %s (%s)", reason, status);
    return cat_failed(cat, doing, text);
}

uint32_t cat_charge(const struct cat *cat, uint32_t bytes)
{
    if (!(cat->negotiated.capabilities & SMB2_LARGE_MTU) || !bytes)
        return 1;
    return (bytes - 1) / CAT_CREDIT_BYTES + 1;
}

bool cat_ask(struct cat *cat, struct smb2_request *request, enum smb2_command command,
    const char *doing, const void *data, uint32_t length, uint32_t bytes, uint64_t *id)
{
    uint32_t charge = cat_charge(cat, bytes);
    const struct smb2_header header = {
        .charge = (uint16_t)charge,
        .command = command,
        .credits = CAT_PIPELINE * (CAT_PIECE / CAT_CREDIT_BYTES),
        .flags = cat->user_proven ? SMB2_FLAG_SIGNED : 0,
        .id = cat->next_id,
        .tree = cat->tree,
        .session = cat->session,
    };

    if (charge > cat->credits)
        return cat_failed(cat, doing, "the server grants no credits");
    *id = cat->next_id;
    cat->next_id += charge;
    cat->credits -= charge;
    smb2_put_header(request, &header);
    if (cat->user_proven)
        smb2_sign(request, data, length, cat->key);
    if (NT_SUCCESS(SmbdSend(cat->connection, request->octets, request->length, data, length, NULL)))
        return true;
    return cat_ended(cat, doing);
}

/* An answer's signature; what only says that the answer comes later has none, perhaps. */
static bool is_signed(const struct cat *cat, const SMBD_MESSAGE *message, uint32_t status)
{
    if (!cat->user_proven || status == SMB2_STATUS_PENDING)
        return true;
    return smb2_signature_is_right(message->Data, message->Length, cat->key);
}

bool cat_answer(
    struct cat *cat, const char *doing, SMBD_MESSAGE **message, struct smb2_header *header)
{
    for (;;) {
        if (!NT_SUCCESS(SmbdReceive(cat->connection, TRUE, message)))
            return cat_ended(cat, doing);
        if (!smb2_get_header((*message)->Data, (*message)->Length, header)) {
            SmbdFreeMessage(*message);
            return cat_failed(cat, doing, "the server sends what is no message of SMB2");
        }
        if (header->flags & SMB2_FLAG_RESPONSE && header->id < cat->next_id) {
            if (!is_signed(cat, *message, header->status)) {
                SmbdFreeMessage(*message);
                return cat_failed(cat, doing, "an answer is not signed as it has to be");
            }
            if (cat->credits < UINT16_MAX)
                cat->credits += header->credits;
            if (header->status != SMB2_STATUS_PENDING)
                return true;
        }
        /* Also what the server says unasked: that a lock of the file was broken. */
        SmbdFreeMessage(*message);
    }
}

bool cat_transact(struct cat *cat, struct smb2_request *request, enum smb2_command command,
    const char *doing, SMBD_MESSAGE **message)
{
    struct smb2_header header;
    char text[64];
    uint64_t id;

    if (!cat_ask(cat, request, command, doing, NULL, 0, 0, &id) ||
        !cat_answer(cat, doing, message, &header))
        return false;
    if (header.id == id && header.command == command && !header.status) {
        if (command == SMB2_TREE_CONNECT)
            cat->tree = header.tree;
        return true;
    }
    SmbdFreeMessage(*message);
    if (header.id != id || header.command != command)
        return cat_failed(cat, doing, "the server answers what was not asked");
    return cat_failed(cat, doing, smb2_status_text(header.status, text, sizeof(text)));
}

/* ---- the connection ---- */

/* After a failure answers may be under way: the end of the connection closes the file. */
static bool use(struct cat *cat)
{
    return cat_open(cat) && cat_move(cat) && cat_close(cat);
}

static void any_port(struct cat *cat)
{
    uint16_t port = htons(SmbdIsIwarp(cat->adapter) ? 5445 : 445);

    if (cat->options->url.port)
        return;
    if (cat->address.sa.sa_family == AF_INET6)
        cat->address.in6.sin6_port = port;
    else
        cat->address.in.sin_port = port;
}

/* Returns the program's status, or -1: another address may do. */
static int connect_and_use(struct cat *cat, const struct copy_address *local)
{
    char server[COPY_ADDRESS_TEXT], status_text[64], text[256];
    SMBD_PARAMETERS parameters;
    const char *reason = "";
    NTSTATUS status;
    int result;

    SmbdDefaultParameters(&parameters);
    parameters.Buffers = CAT_PIPELINE;
    parameters.CreditMs = parameters.ResponseMs = 60000; /* a server may be busy */
    any_port(cat);
    status = SmbdConnect(cat->adapter, &local->sa, &cat->address.sa, cat->address.length,
        &parameters, &cat->connection, &reason);
    if (!NT_SUCCESS(status)) {
        snprintf(text, sizeof(text), "no connection to %s: %s (%s)",
            copy_address_text(&cat->address.sa, server, sizeof(server)), reason,
            copy_status_text(status, status_text, sizeof(status_text)));
        cat_failed(cat, "connect", text);
        return -1;
    }
    result = use(cat) ? 0 : 1;
    SmbdClose(cat->connection);
    return result;
}

static int open_and_use(struct cat *cat)
{
    struct copy_address local = cat->options->local;
    char from[COPY_ADDRESS_TEXT], status_text[64], text[256];
    NTSTATUS status;
    int result;

    if (!local.length && !copy_local_address(&cat->address, &local)) {
        cat_failed(cat, "connect", strerror(errno));
        return -1;
    }
    status = SmbdOpenAdapter(copy_interface_of(&local), &cat->adapter);
    if (!NT_SUCCESS(status)) {
        snprintf(text, sizeof(text), "no adapter with the local address %s: %s (-b names another)",
            copy_address_text(&local.sa, from, sizeof(from)),
            copy_status_text(status, status_text, sizeof(status_text)));
        cat_failed(cat, "connect", text);
        return -1;
    }
    result = connect_and_use(cat, &local);
    SmbdCloseAdapter(cat->adapter);
    return result;
}

int cat_run(const struct cat_options *options)
{
    struct copy_address addresses[COPY_ADDRESSES];
    const struct cat_url *url = &options->url;
    char host[512];
    unsigned count;
    int result = -1;

    snprintf(host, sizeof(host), strchr(url->host, ':') ? "[%s]%s%s" : "%s%s%s", url->host,
        url->port ? ":" : "", url->port ? url->port : "");
    count = copy_parse_address(host, addresses, COPY_ADDRESSES);
    if (!count)
        return 2;
    for (unsigned i = 0; i < count && result < 0; i++) {
        struct cat cat = { .options = options, .address = addresses[i], .credits = 1 };

        result = open_and_use(&cat);
    }
    return result < 0 ? 1 : result;
}
