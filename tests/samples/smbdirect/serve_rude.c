/* SPDX-License-Identifier: MIT */
/*
 * serve_rude.c - clients of smbdserve that break the rules of SMB2, over a library that keeps those of SMB Direct. What
 * a server answers: [MS-SMB2] 3.3.5; its codes: [MS-ERREF] 2.3, written out here; which names Windows has: [MS-FSCC]
 * 2.1.5.2.
 *
 *     serve_rude PORT     every case; says what the server got wrong
 */
#include "serve_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static void names(void)
{
    static const struct {
        const char *name;
        size_t length;
        uint32_t status;
    } cases[] = {
        { "..", 2, NAME_INVALID },
        { "..\\secret", 9, NAME_INVALID },
        { "folder\\..\\..\\secret", 19, NAME_INVALID },
        { ".", 1, NAME_INVALID },
        { "folder\\.\\file", 13, NAME_INVALID },
        { "\\etc\\passwd", 11, NAME_INVALID },
        { "/etc/passwd", 11, NAME_INVALID },
        { "folder/file", 11, NAME_INVALID },
        { "folder\\", 7, NAME_INVALID },
        { "folder\\\\file", 12, NAME_INVALID },
        { "file\0x", 6, NAME_INVALID },
        { "file:stream", 11, NAME_INVALID },
        { "fi*le", 5, NAME_INVALID },
        { "fi\nle", 5, NAME_INVALID },
        { "nothing", 7, NAME_NOT_FOUND },
        { "nowhere\\file", 12, PATH_NOT_FOUND },
        { "file\\file", 9, PATH_NOT_FOUND },
        { "link", 4, ACCESS_DENIED },
        { "away\\passwd", 11, PATH_NOT_FOUND },
        { "fifo", 4, ACCESS_DENIED },
        { "file", 4, 0 },
        { "folder\\file", 11, 0 },
        { "", 0, 0 },
    };
    struct smb2_request request;
    struct client client;
    uint8_t file[SMB2_FILE_ID];

    client_arrive(&client);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        creation(&request, cases[i].name, cases[i].length, READ_IT, OPEN, 0);
        expect(cases[i].name, ask(&client, &request, SMB2_CREATE), cases[i].status);
        /* Nor may it become the name of a file. */
        expect("a file", open_it(&client, "file", CHANGE_IT, OPEN, 0, file), 0);
        renaming(&request, file, cases[i].name, false);
        if (cases[i].status == NAME_INVALID && strlen(cases[i].name) == cases[i].length)
            expect(cases[i].name, ask(&client, &request, SMB2_SET_INFO), NAME_INVALID);
        expect("its close", close_it(&client, file), 0);
    }
    /* Half of a pair is no UTF-16. */
    creation(&request, "x", 1, READ_IT, OPEN_IF, 0);
    put16(request.octets + BODY + 56, 0xd800);
    expect("half of a pair", ask(&client, &request, SMB2_CREATE), NAME_INVALID);
    creation(&request, "x", 1, READ_IT, OPEN_IF, 0);
    put16(request.octets + BODY + 46, 1);
    expect("half of a unit", ask(&client, &request, SMB2_CREATE), NAME_INVALID);
    client_leave(&client);
}

/* ---- what is done with files ---- */

static void files(void)
{
    static const uint8_t yes[] = { 1 };
    static const uint8_t times[40] = { [32] = 1 }; /* read-only */
    struct smb2_request request;
    struct client client;
    uint8_t file[SMB2_FILE_ID], folder[SMB2_FILE_ID], gone[SMB2_FILE_ID];

    client_arrive(&client);
    expect("folder", open_it(&client, "folder", CHANGE_IT, OPEN, 0, folder), 0);
    expect("make it", open_it(&client, "file", READ_IT, CREATE, 0, NULL), NAME_COLLISION);
    expect("as a folder", open_it(&client, "file", READ_IT, OPEN, DIRECTORY_FILE, NULL),
        NOT_A_DIRECTORY);
    expect("as a file", open_it(&client, "folder", READ_IT, OPEN, 0x40, NULL), IS_A_DIRECTORY);
    expect(
        "empty it", open_it(&client, "folder", CHANGE_IT, OVERWRITE_IF, 0, NULL), IS_A_DIRECTORY);
    expect("no rights", open_it(&client, "file", 0, OPEN, 0, NULL), ACCESS_DENIED);
    expect("superseded", open_it(&client, "file", READ_IT, 0, 0, NULL), NOT_SUPPORTED);
    expect("disposition 6", open_it(&client, "file", READ_IT, 6, 0, NULL), INVALID_PARAMETER);
    expect("removed unasked", open_it(&client, "file", READ_IT, OPEN, DELETE_ON_CLOSE, NULL),
        ACCESS_DENIED);
    expect("file", open_it(&client, "file", READ_IT, OPEN, 0, file), 0);
    moving(&request, file, SMB2_WRITE, 0, 1, SMB2_IN_MESSAGE);
    request.length++;
    expect("written", ask(&client, &request, SMB2_WRITE), ACCESS_DENIED);
    change(&request, file, 20, "\0\0\0\0\0\0\0", 8);
    expect("cut", ask(&client, &request, SMB2_SET_INFO), ACCESS_DENIED);
    change(&request, file, 13, yes, 1);
    expect("removed", ask(&client, &request, SMB2_SET_INFO), ACCESS_DENIED);
    renaming(&request, file, "other", true);
    expect("renamed", ask(&client, &request, SMB2_SET_INFO), ACCESS_DENIED);
    expect("close", close_it(&client, file), 0);
    expect("closed twice", close_it(&client, file), FILE_CLOSED);
    memcpy(gone, file, sizeof(gone));
    expect("file", open_it(&client, "file", CHANGE_IT, OPEN, 0, file), 0);
    expect("another's number", close_it(&client, gone), FILE_CLOSED);
    renaming(&request, file, "folder", true);
    expect("over a folder", ask(&client, &request, SMB2_SET_INFO), ACCESS_DENIED);
    renaming(&request, file, "second", false);
    expect("over a file", ask(&client, &request, SMB2_SET_INFO), NAME_COLLISION);
    change(&request, file, 4, times, sizeof(times));
    expect("read-only", ask(&client, &request, SMB2_SET_INFO), NOT_SUPPORTED);
    change(&request, file, 4, times, 39);
    expect("times cut short", ask(&client, &request, SMB2_SET_INFO), INFO_LENGTH_MISMATCH);
    change(&request, file, 20, "\0\0\0\0\0\0\0\x80", 8);
    expect("an end below zero", ask(&client, &request, SMB2_SET_INFO), INVALID_PARAMETER);
    change(&request, file, 77, yes, 1);
    expect("an unknown class", ask(&client, &request, SMB2_SET_INFO), NOT_SUPPORTED);
    change(&request, folder, 13, yes, 1);
    expect("a full folder", ask(&client, &request, SMB2_SET_INFO), NOT_EMPTY);
    question(&request, file, 1, 18, 99);
    expect("all, no room", ask(&client, &request, SMB2_QUERY_INFO), INFO_LENGTH_MISMATCH);
    question(&request, file, 1, 18, 100);
    expect("all, no room for the name", ask(&client, &request, SMB2_QUERY_INFO), BUFFER_OVERFLOW);
    question(&request, file, 3, 0, 1000);
    expect("security", ask(&client, &request, SMB2_QUERY_INFO), NOT_SUPPORTED);
    question(&request, file, 1, 18, 65537);
    expect("too much", ask(&client, &request, SMB2_QUERY_INFO), INVALID_PARAMETER);
    listing(&request, folder, 38, 79);
    expect(
        "a list without room", ask(&client, &request, SMB2_QUERY_DIRECTORY), INFO_LENGTH_MISMATCH);
    listing(&request, folder, 38, 90);
    for (unsigned i = 0; i < 3; i++) /* ".", "..", "file", one at a time */
        expect("a list, some room", ask(&client, &request, SMB2_QUERY_DIRECTORY), 0);
    expect("the list's end", ask(&client, &request, SMB2_QUERY_DIRECTORY), NO_MORE_FILES);
    listing(&request, folder, 3, 1000);
    expect("another kind of list", ask(&client, &request, SMB2_QUERY_DIRECTORY), NOT_SUPPORTED);
    listing(&request, file, 38, 1000);
    expect("a list of a file", ask(&client, &request, SMB2_QUERY_DIRECTORY), INVALID_PARAMETER);
    client_leave(&client);
}

static void data(void)
{
    static const uint16_t both[] = { SMB2_READ, SMB2_WRITE };
    struct smb2_request request;
    struct client client;
    uint8_t file[SMB2_FILE_ID], folder[SMB2_FILE_ID];

    client_arrive(&client);
    expect("file", open_it(&client, "file", CHANGE_IT, OPEN, 0, file), 0);
    expect("folder", open_it(&client, "folder", READ_IT, OPEN, 0, folder), 0);
    for (size_t i = 0; i < 2; i++) {
        moving(&request, file, both[i], UINT64_MAX, 1, SMB2_IN_MESSAGE);
        request.length++;
        expect("an offset below zero", ask(&client, &request, both[i]), INVALID_PARAMETER);
        moving(&request, file, both[i], INT64_MAX, 1, SMB2_IN_MESSAGE);
        request.length++;
        expect("the last offset", ask(&client, &request, both[i]), INVALID_PARAMETER);
        moving(&request, file, both[i], 0, 65537, SMB2_RDMA_V1);
        expect("more than was paid for", ask(&client, &request, both[i]), INVALID_PARAMETER);
        moving(&request, file, both[i], 0, 4096, SMB2_RDMA_V1);
        put32(request.octets + BODY + 48 + 12, 4095);
        expect("more than is described", ask(&client, &request, both[i]), INVALID_PARAMETER);
        moving(&request, file, both[i], 0, 4096, SMB2_RDMA_V1);
        put16(request.octets + BODY + (i ? 40 : 44), 0xfff0);
        expect("a descriptor outside", ask(&client, &request, both[i]), INVALID_PARAMETER);
        moving(&request, file, both[i], 0, 4096, SMB2_RDMA_V1);
        put16(request.octets + BODY + (i ? 42 : 46), 15);
        expect("a short descriptor", ask(&client, &request, both[i]), INVALID_PARAMETER);
        moving(&request, file, both[i], 0, 4096, SMB2_RDMA_V1);
        put32(request.octets + BODY + (i ? 32 : 36), 7);
        expect("an unknown channel", ask(&client, &request, both[i]), INVALID_PARAMETER);
        moving(&request, folder, both[i], 0, 1, SMB2_IN_MESSAGE);
        request.length++;
        expect("of a folder", ask(&client, &request, both[i]), IS_A_DIRECTORY);
    }
    moving(&request, file, SMB2_READ, 1000, 10, SMB2_IN_MESSAGE);
    expect("behind the end", ask(&client, &request, SMB2_READ), END_OF_FILE);
    moving(&request, file, SMB2_READ, 0, 10, SMB2_IN_MESSAGE);
    put32(request.octets + BODY + 32, 9);
    expect("less than wanted", ask(&client, &request, SMB2_READ), END_OF_FILE);
    moving(&request, file, SMB2_WRITE, 0, 2, SMB2_IN_MESSAGE);
    request.length++;
    expect("less than said", ask(&client, &request, SMB2_WRITE), INVALID_PARAMETER);
    /* No memory of this end has that token, which ends the connection. */
    moving(&request, file, SMB2_WRITE, 0, 4096, SMB2_RDMA_V1);
    expect("a token of nothing", ask(&client, &request, SMB2_WRITE), ENDED);
    client_leave(&client);
}

/* ---- sessions ---- */

static void sessions(void)
{
    struct smb2_request request;
    struct client client;
    uint8_t file[SMB2_FILE_ID];
    uint64_t session;

    client_arrive(&client);
    session = client.session;
    expect("file", open_it(&client, "file", READ_IT, OPEN, 0, file), 0);
    client.session = 5;
    expect("another session", close_it(&client, file), SESSION_DELETED);
    client.session = session;
    client.tree += 1;
    expect("another share", close_it(&client, file), NAME_DELETED);
    client.tree -= 1;
    smb2_put_close(&request, file);
    put_header(&client, &request, SMB2_CLOSE);
    put32(request.octets + 16, SMB2_FLAG_SIGNED);
    expect(
        "a guest's signature", ask_octets(&client, request.octets, request.length), ACCESS_DENIED);
    smb2_put_tree_connect(&request, "h", "PUB");
    expect("the share again", ask(&client, &request, SMB2_TREE_CONNECT), NOT_ACCEPTED);
    smb2_put_tree_connect(&request, "h", "IPC$");
    expect("no share", ask(&client, &request, SMB2_TREE_CONNECT), BAD_NETWORK_NAME);
    smb2_put_session_setup(&request, file, 16);
    expect("a second session", ask(&client, &request, SMB2_SESSION_SETUP), NOT_ACCEPTED);
    begin(&request, 4, 4);
    for (uint16_t command = 0; command < 64; command++)
        if ((command > SMB2_WRITE && command < SMB2_CANCEL) || command == 15 || command > 17)
            expect("an unknown command", ask(&client, &request, command), NOT_SUPPORTED);
    expect("an echo", ask(&client, &request, SMB2_ECHO), 0);
    put_header(&client, &request, SMB2_CANCEL);
    SmbdSend(client.connection, request.octets, request.length, NULL, 0, NULL);
    expect("an echo after a cancel", ask(&client, &request, SMB2_ECHO), 0);
    expect("the share left", ask(&client, &request, SMB2_TREE_DISCONNECT), 0);
    expect("without a share", close_it(&client, file), NAME_DELETED);
    expect("the end", ask(&client, &request, SMB2_LOGOFF), 0);
    expect("without a session", ask(&client, &request, SMB2_TREE_DISCONNECT), SESSION_DELETED);
    client_leave(&client);
}

static void tokens(void)
{
    struct smb2_request request;
    struct client client;
    uint8_t token[SMB2_TOKEN_MOST];

    client_connect(&client);
    negotiation(&request);
    put16(request.octets + BODY + 36, 0x0210);
    expect("SMB 2.1", ask(&client, &request, SMB2_NEGOTIATE), NOT_SUPPORTED);
    negotiation(&request);
    put32(request.octets + BODY + 28, 0xfffffff8);
    expect("a context outside", ask(&client, &request, SMB2_NEGOTIATE), INVALID_PARAMETER);
    negotiation(&request);
    put16(request.octets + BODY + 32, 0);
    expect("no context", ask(&client, &request, SMB2_NEGOTIATE), INVALID_PARAMETER);
    negotiation(&request);
    put16(request.octets + request.length - SMB2_SALT - 2, 2);
    expect("another hash", ask(&client, &request, SMB2_NEGOTIATE), NO_OVERLAP);
    negotiation(&request);
    expect("the negotiation", ask(&client, &request, SMB2_NEGOTIATE), 0);
    smb2_ntlm_begin(token);
    token[0]++;
    expect("no token", set_up(&client, token, 32), INVALID_PARAMETER);
    client.session = 0;
    expect("a short token", set_up(&client, token, 15), INVALID_PARAMETER);
    client.session = 7;
    expect("a session that is none", set_up(&client, token, 32), SESSION_DELETED);
    client.session = 0;
    expect("the first step", set_up(&client, token, smb2_ntlm_begin(token)), 0xC0000016);
    memset(token, 0, sizeof(token));
    memcpy(token, "NTLMSSP\0\3", 9);
    put16(token + 36, 2);
    put32(token + 40, 63);
    expect("a name outside", set_up(&client, token, 64), INVALID_PARAMETER);
    client_leave(&client);
}

/* ---- compounds ---- */

/* One more request of a compound. */
static void add(struct client *client, uint8_t *to, uint32_t *length, struct smb2_request *request,
    uint16_t command, bool last)
{
    uint32_t padded = last ? request->length : (request->length + 7) & ~7u;

    put_header(client, request, command);
    put32(request->octets + 16, *length ? SMB2_FLAG_RELATED : 0);
    put32(request->octets + 20, last ? 0 : padded);
    memcpy(to + *length, request->octets, padded);
    *length += padded;
}

/* What is there of a file, as a kernel asks: open, ask, close. */
static uint32_t look_at(struct client *client, const char *name, uint32_t *statuses)
{
    static const uint8_t same[SMB2_FILE_ID] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
        255, 255, 255, 255, 255, 255 };
    struct smb2_request request;
    uint8_t octets[2048];
    uint32_t length = 0;

    creation(&request, name, strlen(name), READ_IT, OPEN, 0);
    add(client, octets, &length, &request, SMB2_CREATE, false);
    question(&request, same, 1, 5, 1000);
    add(client, octets, &length, &request, SMB2_QUERY_INFO, false);
    smb2_put_close(&request, same);
    add(client, octets, &length, &request, SMB2_CLOSE, true);
    statuses[0] = ask_octets(client, octets, length);
    statuses[1] = await_answer(client);
    length = get32(client->answer + BODY + 8 + 8);
    statuses[2] = await_answer(client);
    return length;
}

static void compounds(void)
{
    uint32_t statuses[3];
    struct smb2_request request;
    struct client client;

    client_arrive(&client);
    expect("its size", look_at(&client, "file", statuses), 7);
    for (unsigned i = 0; i < 3; i++)
        expect("of a compound", statuses[i], 0);
    look_at(&client, "nothing", statuses);
    for (unsigned i = 0; i < 3; i++)
        expect("of one that fails", statuses[i], NAME_NOT_FOUND);
    begin(&request, 4, 4);
    put_header(&client, &request, SMB2_ECHO);
    put32(request.octets + 16, SMB2_FLAG_RELATED);
    expect(
        "related to none", ask_octets(&client, request.octets, request.length), INVALID_PARAMETER);
    client_leave(&client);
}

/* ---- what ends the connection ---- */

static void ends(void)
{
    static const struct {
        const char *name;
        uint32_t at, value;
    } cases[] = {
        { "noise", 0, 0x424d5300 },
        { "encrypted", 0, 0x424d53fd },
        { "another header", 4, 65 },
        { "an answer", 16, SMB2_FLAG_RESPONSE },
        { "the next one outside", 20, 4096 },
        { "the next one at no place for it", 20, 66 },
        { "the next one in this one's header", 20, 32 },
        { "without credits", 4, 64 | 4000 << 16 },
        { "a second negotiation", 12, SMB2_NEGOTIATE | CREDITS << 16 },
    };
    struct smb2_request request;
    struct client client;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        client_arrive(&client);
        begin(&request, 4, 4);
        put_header(&client, &request, SMB2_ECHO);
        put32(request.octets + cases[i].at, cases[i].value);
        expect(cases[i].name, ask_octets(&client, request.octets, request.length), ENDED);
        client_leave(&client);
    }
    client_connect(&client);
    begin(&request, 4, 4);
    expect("before the negotiation", ask(&client, &request, SMB2_ECHO), ENDED);
    client_leave(&client);
    client_connect(&client);
    expect("less than a header", ask_octets(&client, request.octets, 63), ENDED);
    client_leave(&client);
}

/* ---- anything: each request cut at many places, and with each octet changed ---- */

static void one(struct smb2_request *request, unsigned which, const uint8_t *file,
    const uint8_t *folder, uint16_t *command)
{
    static const uint16_t commands[] = { SMB2_CREATE, SMB2_CLOSE, SMB2_READ, SMB2_WRITE,
        SMB2_QUERY_DIRECTORY, SMB2_QUERY_INFO, SMB2_SET_INFO, SMB2_FLUSH, SMB2_TREE_CONNECT };
    uint8_t *body;

    *command = commands[which];
    switch (*command) {
    case SMB2_CREATE: creation(request, "any", 3, CHANGE_IT, OPEN_IF, 0); break;
    case SMB2_CLOSE: smb2_put_close(request, file); break;
    case SMB2_READ: moving(request, file, SMB2_READ, 0, 4, SMB2_IN_MESSAGE); break;
    case SMB2_WRITE:
        moving(request, file, SMB2_WRITE, 0, 4, SMB2_IN_MESSAGE);
        request->length += 4;
        break;
    case SMB2_QUERY_DIRECTORY: listing(request, folder, 38, 4096); break;
    case SMB2_QUERY_INFO: question(request, file, 1, 18, 4096); break;
    case SMB2_SET_INFO: renaming(request, file, "any", true); break;
    case SMB2_FLUSH:
        body = begin(request, 24, 24);
        memcpy(body + 8, file, SMB2_FILE_ID);
        break;
    default: smb2_put_tree_connect(request, "h", "pub"); break;
    }
}

/* A connection with files, the one before closed. */
static void arrive_again(struct client *client, uint8_t *file, uint8_t *folder)
{
    client_leave(client);
    client_arrive(client);
    expect("any file", open_it(client, "any", CHANGE_IT, OPEN_IF, 0, file), 0);
    expect("any folder", open_it(client, "folder", READ_IT, OPEN, 0, folder), 0);
}

/* The connection can be used again, unless a case has ended it, or closed the file; some open more. */
static void sent(struct client *client, uint32_t status, uint8_t *file, uint8_t *folder)
{
    static unsigned count;

    if (status == ENDED || status == FILE_CLOSED || count++ % 256 == 0)
        arrive_again(client, file, folder);
    else if (get16(client->answer + 12) == SMB2_CLOSE && !status)
        expect("any file", open_it(client, "any", CHANGE_IT, OPEN_IF, 0, file), 0);
}

static void anything(void)
{
    struct smb2_request request;
    struct client client = { .connection = NULL };
    uint8_t file[SMB2_FILE_ID], folder[SMB2_FILE_ID];
    uint16_t command;

    arrive_again(&client, file, folder);
    for (unsigned which = 0; which < 9; which++) {
        uint32_t length;

        one(&request, which, file, folder, &command);
        length = request.length;
        for (uint32_t cut = BODY; cut < length; cut += 3) {
            one(&request, which, file, folder, &command);
            put_header(&client, &request, command);
            sent(&client, ask_octets(&client, request.octets, cut), file, folder);
        }
        /* Of the headers, which are alike, the first one's. */
        for (uint32_t at = which ? BODY : 4; at < length; at++) {
            one(&request, which, file, folder, &command);
            put_header(&client, &request, command);
            request.octets[at] = 0xff;
            if (request.octets[12] != SMB2_CANCEL) /* which is not answered */
                sent(&client, ask_octets(&client, request.octets, length), file, folder);
        }
    }
    client_leave(&client);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = { { "names: ", names }, { "files: ", files }, { "data: ", data },
        { "sessions: ", sessions }, { "tokens: ", tokens }, { "compounds: ", compounds },
        { "ends: ", ends }, { "anything: ", anything } };

    if (argc != 2)
        return 2;
    client_server((uint16_t)atoi(argv[1]));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        client_doing = parts[i].name;
        parts[i].run();
    }
    client_server_end();
    return client_failures() ? 1 : 0;
}
