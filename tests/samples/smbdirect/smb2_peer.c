/* SPDX-License-Identifier: MIT */
/*
 * smb2_peer.c - a server of SMB2 with one file, in memory, that answers as it is told: well, or not. Over a library
 * that keeps the rules of SMB Direct. How servers answer: [MS-SMB2] 2.2, with the numbers written out here.
 *
 *     smb2_peer CASE         prints its port; ends when its standard input does
 */
#include "smb2_octets.h"
#include "smbd.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEGOTIATE, SESSION, TREE = 3, CREATE = 5, CLOSE, READ = 8, WRITE };
enum { HEADER = 64, PIECES = 8, PIECE = 1048576, MOST = 16777216 };

/* What it does wrong, or unusually, where it otherwise does well. */
static const char *lie;

static uint8_t content[MOST];
static uint32_t size;

struct session {
    SMBD_CONNECTION *connection;
    SMBD_BUFFER *buffer;
    unsigned steps;
    bool write;
    uint8_t answer[HEADER + 256];
    uint32_t length;
};

static bool is(const char *name)
{
    return strcmp(lie, name) == 0;
}

/* The fixed part of an answer behind its header, all zero. */
static uint8_t *begin(struct session *session, const uint8_t *request, uint32_t status,
    uint16_t structure, uint32_t length)
{
    uint8_t *at = session->answer;

    memset(at, 0, sizeof(session->answer));
    memcpy(at, "\xfeSMB", 4);
    put16(at + 4, HEADER);
    put32(at + 8, status);
    put16(at + 12, get16(request + 12));
    put16(at + 14, is("credits") ? 0 : 128);
    put32(at + 16, 1);
    put64(at + 24, get64(request + 24) + (is("other_id") && get16(request + 12) >= READ));
    put32(at + 36, 7);
    put64(at + 40, get16(request + 12) ? 99 : 0);
    put16(at + HEADER, structure);
    session->length = HEADER + length;
    return at + HEADER;
}

static void send_it(struct session *session, const void *data, uint32_t length, const UINT32 *token)
{
    SmbdSend(session->connection, session->answer, session->length, data, length, token);
}

static void fails(struct session *session, const uint8_t *request, uint32_t status)
{
    begin(session, request, status, 9, 9);
    send_it(session, NULL, 0, NULL);
}

/* ---- before the file ---- */

static void negotiate(struct session *session, const uint8_t *request)
{
    const uint8_t *dialects = request + HEADER + 36;
    uint16_t count = get16(request + HEADER + 2);
    uint8_t *body = begin(session, request, 0, is("structure") ? 66 : 65, 64);

    put16(body + 2, is("wants_signatures") ? 3 : 1);
    put16(body + 4, is("dialect") ? 0x0210 : get16(dialects + 2 * (count - 1)));
    put32(body + 24, is("small_requests") ? 0 : 4);
    put32(body + 28, PIECE);
    put32(body + 32, is("no_data") ? 0 : PIECE);
    put32(body + 36, is("no_data") ? 0 : PIECE);
    if (is("noise"))
        session->answer[0] = 0xff;
    send_it(session, NULL, 0, NULL);
}

static void log_in(struct session *session, const uint8_t *request)
{
    bool last = session->steps++;
    uint8_t *body = begin(session, request, last ? 0 : 0xC0000016, 9, last ? 8 : 8 + 48);
    uint8_t *token = body + 8;

    if (last) {
        put16(body + 2, is("encrypts") ? 4 : is("user") ? 0 : 1);
        send_it(session, NULL, 0, NULL);
        return;
    }
    put16(body + 4, is("token_outside") ? 80 : 72);
    put16(body + 6, 48);
    memcpy(token, is("challenge") ? "NTLMSSX" : "NTLMSSP", 8);
    put32(token + 8, 2);
    put32(token + 20, 1);
    put32(token + 44, 48);
    send_it(session, NULL, 0, NULL);
}

static void connect_tree(struct session *session, const uint8_t *request)
{
    uint8_t *body = begin(session, request, 0, 16, 16);

    body[2] = is("pipe") ? 2 : 1;
    put32(body + 4, is("share_encrypts") ? 0x8000 : 0);
    send_it(session, NULL, 0, NULL);
}

/* ---- the file ---- */

static void open_file(struct session *session, const uint8_t *request)
{
    uint8_t *body;

    session->write = get32(request + HEADER + 36) == 5;
    if (session->write)
        size = 0;
    body = begin(session, request, 0, 89, 88);
    put64(body + 48, is("longer") ? size + 1 : size);
    memset(body + 64, 0x5a, 16);
    send_it(session, NULL, 0, NULL);
}

/* The place of a request's memory. */
static SMBD_DESCRIPTOR descriptor_at(const uint8_t *request, uint16_t offset)
{
    SMBD_DESCRIPTOR descriptor;

    memcpy(&descriptor, request + offset, sizeof(descriptor));
    return descriptor;
}

static void read_file(struct session *session, const uint8_t *request)
{
    const uint8_t *asked = request + HEADER;
    uint32_t length = get32(asked + 4), channel = get32(asked + 36);
    uint64_t offset = get64(asked + 8);
    SMBD_DESCRIPTOR descriptor;
    uint8_t *body;

    if (offset >= size) {
        fails(session, request, 0xC0000011);
        return;
    }
    if (length > size - offset)
        length = (uint32_t)(size - offset);
    if (is("shorter"))
        length--;
    if (channel) {
        descriptor = descriptor_at(request, get16(asked + 44));
        memcpy(SmbdBufferMemory(session->buffer), content + offset, length);
        SmbdStartWrite(session->connection, session->buffer, length, &descriptor);
        SmbdFinish(session->connection, session->buffer);
    }
    body = begin(session, request, 0, 17, 16);
    body[2] = is("outside") ? 81 : 80;
    put32(body + (channel ? 8 : 4), is("more") ? length + 1 : length);
    send_it(session, channel ? NULL : content + offset, channel ? 0 : length,
        channel == 2 && !is("keeps_access") ? &descriptor.Token : NULL);
}

static void write_file(struct session *session, const uint8_t *request)
{
    const uint8_t *asked = request + HEADER;
    uint32_t channel = get32(asked + 32), length = get32(asked + (channel ? 36 : 4));
    uint64_t offset = get64(asked + 8);
    const uint8_t *data = request + get16(asked + 2);
    SMBD_DESCRIPTOR descriptor;
    uint8_t *body;

    if (offset + length > MOST) {
        fails(session, request, 0xC000007F);
        return;
    }
    if (channel) {
        descriptor = descriptor_at(request, get16(asked + 40));
        SmbdStartRead(session->connection, session->buffer, length, &descriptor);
        SmbdFinish(session->connection, session->buffer);
        data = SmbdBufferMemory(session->buffer);
    }
    memcpy(content + offset, data, length);
    if (size < offset + length)
        size = (uint32_t)(offset + length);
    body = begin(session, request, 0, 17, 16);
    put32(body + 4, is("writes_less") ? length - 1 : length);
    send_it(session, NULL, 0, channel == 2 ? &descriptor.Token : NULL);
}

static void close_file(struct session *session, const uint8_t *request)
{
    begin(session, request, is("close") ? 0xC000007F : 0, 60, 60);
    send_it(session, NULL, 0, NULL);
}

/* ---- the connection ---- */

static void say_later(struct session *session, const uint8_t *request)
{
    begin(session, request, 0x103, 9, 9);
    session->answer[16] |= 2;
    send_it(session, NULL, 0, NULL);
}

/* FALSE: it leaves. */
static bool answer(struct session *session, const uint8_t *request)
{
    uint16_t command = get16(request + 12);

    if (is("later") && command)
        say_later(session, request);
    if (is("leaves") && command >= READ)
        return false;
    if (is("refuses") && command == TREE) {
        fails(session, request, 0xC00000CC);
        return true;
    }
    if (is("v1") && command >= READ && get32(request + HEADER + (command == READ ? 36 : 32)) != 1) {
        fails(session, request, 0xC000000D);
        return true;
    }
    switch (command) {
    case NEGOTIATE: negotiate(session, request); break;
    case SESSION: log_in(session, request); break;
    case TREE: connect_tree(session, request); break;
    case CREATE: open_file(session, request); break;
    case CLOSE: close_file(session, request); break;
    case READ: read_file(session, request); break;
    case WRITE: write_file(session, request); break;
    default: return false;
    }
    return true;
}

/* "turned": of what has come, the last first. */
static bool answer_all(struct session *session, SMBD_MESSAGE *message)
{
    SMBD_MESSAGE *held[PIECES] = { message };
    unsigned count = 1;
    bool goes_on = true;

    while (is("turned") && count < PIECES &&
           SmbdReceive(session->connection, FALSE, &held[count]) == STATUS_SUCCESS)
        count++;
    while (count--) {
        goes_on = answer(session, held[count]->Data) && goes_on;
        SmbdFreeMessage(held[count]);
    }
    return goes_on;
}

static VOID serve(PVOID Context, SMBD_CONNECTION *connection)
{
    struct session session = { .connection = connection };
    ULONG most = SmbdAgreed(connection)->MaxReadWriteSize;
    SMBD_MESSAGE *message;

    (void)Context;
    if (!NT_SUCCESS(SmbdCreateBuffer(connection, most, &session.buffer)))
        return;
    while (NT_SUCCESS(SmbdReceive(connection, TRUE, &message)))
        if (!answer_all(&session, message))
            return;
}

int main(int argc, char **argv)
{
    const SMBD_SERVICE service = { .Serve = serve, .MaxConnections = 1 };
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    SMBD_PARAMETERS parameters;
    SMBD_LISTENER *listener;
    SMBD_ADAPTER *adapter;

    lie = argc > 1 ? argv[1] : "well";
    if (!is("well"))
        for (size = 0; size < 3000001; size++)
            content[size] = (uint8_t)(size ^ size >> 8);
    SmbdDefaultParameters(&parameters);
    if (!NT_SUCCESS(SmbdOpenAdapter(if_nametoindex("lo"), &adapter)) ||
        !NT_SUCCESS(SmbdListen(
            adapter, (SOCKADDR *)&address, sizeof(address), &parameters, &service, &listener)))
        return 1;
    SmbdListenerAddress(listener, (SOCKADDR *)&address, sizeof(address));
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    while (getchar() != EOF)
        ;
    SmbdCloseListener(listener);
    SmbdCloseAdapter(adapter);
    return 0;
}
