/* SPDX-License-Identifier: MIT */
#include "serve_client.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static SMBD_ADAPTER *adapter;
static struct sockaddr_in server;
static unsigned failures;
const char *client_doing = "";

void client_server(uint16_t port)
{
    server = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
    if (NT_SUCCESS(SmbdOpenAdapter(if_nametoindex("lo"), &adapter)))
        return;
    fprintf(stderr, "no adapter\n");
    exit(1);
}

void client_server_end(void)
{
    SmbdCloseAdapter(adapter);
}

unsigned client_failures(void)
{
    return failures;
}

void expect(const char *what, uint32_t status, uint32_t expected)
{
    if (status == expected)
        return;
    fprintf(stderr, "%s%s: 0x%08x, not 0x%08x\n", client_doing, what, status, expected);
    failures++;
}

/* ---- a client ---- */

void client_leave(struct client *client)
{
    if (client->connection)
        SmbdClose(client->connection);
    client->connection = NULL;
}

void client_connect(struct client *client)
{
    struct sockaddr_in from = server;
    SMBD_PARAMETERS parameters;

    memset(client, 0, sizeof(*client));
    from.sin_port = 0;
    SmbdDefaultParameters(&parameters);
    if (NT_SUCCESS(SmbdConnect(adapter, (SOCKADDR *)&from, (SOCKADDR *)&server, sizeof(server),
            &parameters, &client->connection, NULL)))
        return;
    fprintf(stderr, "%sno connection\n", client_doing);
    exit(1);
}

/* The next answer's status. */
uint32_t await_answer(struct client *client)
{
    SMBD_MESSAGE *message;

    if (!NT_SUCCESS(SmbdReceive(client->connection, TRUE, &message)))
        return ENDED;
    client->length = message->Length < sizeof(client->answer) ? message->Length : 0;
    memcpy(client->answer, message->Data, client->length);
    SmbdFreeMessage(message);
    if (client->length < SMB2_HEADER + 2)
        return 0;
    client->session = get64(client->answer + 40);
    return get32(client->answer + 8);
}

uint32_t ask_octets(struct client *client, const void *octets, uint32_t length)
{
    if (!NT_SUCCESS(SmbdSend(client->connection, octets, length, NULL, 0, NULL)))
        return ENDED;
    return await_answer(client);
}

void put_header(struct client *client, struct smb2_request *request, uint16_t command)
{
    smb2_put_header(request, &(struct smb2_header){ .charge = 1,
                                 .command = command,
                                 .credits = CREDITS,
                                 .id = client->id++,
                                 .tree = client->tree,
                                 .session = client->session });
}

uint32_t ask(struct client *client, struct smb2_request *request, uint16_t command)
{
    put_header(client, request, command);
    return ask_octets(client, request->octets, request->length);
}

/* A body of so many bytes, with its size in front. */
uint8_t *begin(struct smb2_request *request, uint16_t size, uint32_t length)
{
    memset(request, 0, sizeof(*request));
    request->length = BODY + length;
    put16(request->octets + BODY, size);
    return request->octets + BODY;
}

void negotiation(struct smb2_request *request)
{
    static const uint16_t dialects[] = { SMB2_3_1_1 };
    const struct smb2_negotiate negotiate = {
        .dialects = dialects, .dialect_count = 1, .capabilities = SMB2_LARGE_MTU
    };

    smb2_put_negotiate(request, &negotiate);
}

uint32_t set_up(struct client *client, const uint8_t *token, int length)
{
    struct smb2_request request;

    smb2_put_session_setup(&request, token, (uint16_t)length);
    return ask(client, &request, SMB2_SESSION_SETUP);
}

static void log_in(struct client *client)
{
    const struct smb2_login guest = { .user = NULL };
    uint8_t token[SMB2_TOKEN_MOST], key[SMB2_SESSION_KEY], random[SMB2_NTLM_CHALLENGE] = { 1 };
    struct smb2_session session;
    int length;

    expect("the first step", set_up(client, token, smb2_ntlm_begin(token)), 0xC0000016);
    smb2_get_session(client->answer, client->length, &session);
    length = smb2_ntlm_answer(session.token, session.token_length, &guest, 0, random, token, key);
    expect("the second step", set_up(client, token, length), 0);
}

/* To the share. */
void client_arrive(struct client *client)
{
    struct smb2_request request;

    client_connect(client);
    negotiation(&request);
    expect("the negotiation", ask(client, &request, SMB2_NEGOTIATE), 0);
    log_in(client);
    smb2_put_tree_connect(&request, "h", "pub");
    expect("the share", ask(client, &request, SMB2_TREE_CONNECT), 0);
    client->tree = get32(client->answer + 36);
}

/* ---- requests that are right ---- */

/* name in: its units, ASCII, which may have zeros */
void creation(struct smb2_request *request, const char *name, size_t length, uint32_t access,
    uint32_t disposition, uint32_t options)
{
    uint8_t *body = begin(request, 57, 56 + 2 * (uint32_t)length);

    put32(body + 24, access);
    put32(body + 36, disposition);
    put32(body + 40, options);
    put16(body + 44, BODY + 56);
    put16(body + 46, (uint16_t)(2 * length));
    for (size_t i = 0; i < length; i++)
        put16(body + 56 + 2 * i, (uint8_t)name[i]);
}

/* file out: SMB2_FILE_ID, or NULL */
uint32_t open_it(struct client *client, const char *name, uint32_t access, uint32_t disposition,
    uint32_t options, uint8_t *file)
{
    struct smb2_request request;
    uint32_t status;

    creation(&request, name, strlen(name), access, disposition, options);
    status = ask(client, &request, SMB2_CREATE);
    if (!status && file)
        memcpy(file, client->answer + BODY + 64, SMB2_FILE_ID);
    return status;
}

uint32_t close_it(struct client *client, const uint8_t *file)
{
    struct smb2_request request;

    smb2_put_close(&request, file);
    return ask(client, &request, SMB2_CLOSE);
}

void listing(struct smb2_request *request, const uint8_t *file, uint8_t class, uint32_t most)
{
    uint8_t *body = begin(request, 33, 34);

    body[2] = class;
    memcpy(body + 8, file, SMB2_FILE_ID);
    put16(body + 24, BODY + 32);
    put16(body + 26, 2);
    put32(body + 28, most);
    put16(body + 32, '*');
}

void question(
    struct smb2_request *request, const uint8_t *file, uint8_t type, uint8_t class, uint32_t most)
{
    uint8_t *body = begin(request, 41, 40);

    body[2] = type;
    body[3] = class;
    put32(body + 4, most);
    memcpy(body + 24, file, SMB2_FILE_ID);
}

void change(struct smb2_request *request, const uint8_t *file, uint8_t class, const void *data,
    uint32_t length)
{
    uint8_t *body = begin(request, 33, 32 + length);

    body[2] = 1;
    body[3] = class;
    put32(body + 4, length);
    put16(body + 8, BODY + 32);
    memcpy(body + 16, file, SMB2_FILE_ID);
    memcpy(body + 32, data, length);
}

void renaming(struct smb2_request *request, const uint8_t *file, const char *name, bool replace)
{
    uint8_t data[20 + 512] = { replace };
    uint32_t length = (uint32_t)strlen(name);

    put32(data + 16, 2 * length);
    for (uint32_t i = 0; i < length; i++)
        put16(data + 20 + 2 * i, (uint8_t)name[i]);
    change(request, file, 10, data, 20 + 2 * length);
}

void moving(struct smb2_request *request, const uint8_t *file, uint16_t command, uint64_t offset,
    uint32_t length, enum smb2_channel channel)
{
    const struct smb2_piece piece = { .file = file,
        .offset = offset,
        .length = length,
        .channel = channel,
        .address = 4096,
        .token = 0x12345678 };

    if (command == SMB2_READ)
        smb2_put_read(request, &piece);
    else
        smb2_put_write(request, &piece);
}
