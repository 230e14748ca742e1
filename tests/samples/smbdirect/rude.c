/* SPDX-License-Identifier: MIT */
/*
 * rude.c - peers of smbdcopy that break the rules of its protocol, over a library that keeps those of SMB Direct.
 *
 *     rude -c PORT           as a client: every case, one connection each; says what the server got wrong
 *     rude -s CASE           as a server of one file, "f"; prints its port, and ends when a client has left
 */
#include "copy.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

static SMBD_ADAPTER *adapter;
static unsigned failures;

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
}

static void wrong(const char *name, const char *what)
{
    fprintf(stderr, "%s: %s\n", name, what);
    failures++;
}

/* ---- as a client ---- */

struct request {
    struct copy_header header;
    const char *tail;
};

/* Several requests, the last of which has to be answered with that status; goes_on: and the connection stays. */
struct rude_case {
    const char *name;
    struct request requests[4];
    uint32_t status;
    bool goes_on;
};

#define HEADER(command, tail_length, ...)                                                          \
    {                                                                                              \
        .Magic = COPY_MAGIC, .Command = (command), .Tail = (tail_length), __VA_ARGS__              \
    }

static const struct rude_case cases[] = {
    { "a name in the folder above", { { HEADER(COPY_GET, 9, ), "../secret" } }, COPY_FAILED, true },
    { "an absolute name", { { HEADER(COPY_GET, 11, ), "/etc/passwd" } }, COPY_FAILED, true },
    { "a name in a folder", { { HEADER(COPY_PUT, 8, ), "folder/f" } }, COPY_FAILED, true },
    { "the folder itself", { { HEADER(COPY_PUT, 1, ), "." } }, COPY_FAILED, true },
    { "the folder above", { { HEADER(COPY_PUT, 2, ), ".." } }, COPY_FAILED, true },
    { "no name", { { HEADER(COPY_PUT, 0, ), "" } }, COPY_FAILED, true },
    { "a name with a zero", { { HEADER(COPY_PUT, 3, ), "a\0b" } }, COPY_FAILED, true },
    { "a piece of no file", { { HEADER(COPY_READ, 0, .Length = 1, .Flags = COPY_INLINE), "" } },
        COPY_MISTAKEN, false },
    { "the end of no file", { { HEADER(COPY_END, 0, ), "" } }, COPY_MISTAKEN, false },
    { "an unknown command", { { HEADER(77, 0, ), "" } }, COPY_MISTAKEN, false },
    { "a piece behind the end",
        { { HEADER(COPY_PUT, 1, .Size = 3), "x" },
            { HEADER(COPY_WRITE, 4, .Length = 4, .Flags = COPY_INLINE), "abcd" } },
        COPY_MISTAKEN, false },
    { "a piece that is not the next",
        { { HEADER(COPY_PUT, 1, .Size = 9), "x" },
            { HEADER(COPY_WRITE, 4, .Length = 4, .Offset = 1, .Flags = COPY_INLINE), "abcd" } },
        COPY_MISTAKEN, false },
    { "a piece of another length",
        { { HEADER(COPY_PUT, 1, .Size = 9), "x" },
            { HEADER(COPY_WRITE, 4, .Length = 9, .Flags = COPY_INLINE), "abcd" } },
        COPY_MISTAKEN, false },
    { "a piece longer than its descriptor",
        { { HEADER(COPY_PUT, 1, .Size = 9), "x" },
            { HEADER(COPY_WRITE, 0, .Length = 9, .Descriptor.Length = 8), "" } },
        COPY_MISTAKEN, false },
    { "a piece of nothing",
        { { HEADER(COPY_PUT, 1, .Size = 9), "x" }, { HEADER(COPY_WRITE, 0, .Length = 0), "" } },
        COPY_MISTAKEN, false },
    { "a piece to be read of a file that is sent",
        { { HEADER(COPY_PUT, 1, .Size = 9), "x" },
            { HEADER(COPY_READ, 0, .Length = 9, .Flags = COPY_INLINE), "" } },
        COPY_MISTAKEN, false },
    { "the end before all data",
        { { HEADER(COPY_PUT, 1, .Size = 9), "x" },
            { HEADER(COPY_WRITE, 4, .Length = 4, .Flags = COPY_INLINE), "abcd" },
            { HEADER(COPY_END, 0, ), "" } },
        COPY_MISTAKEN, false },
    { "another checksum",
        { { HEADER(COPY_PUT, 1, .Size = 4), "x" },
            { HEADER(COPY_WRITE, 4, .Length = 4, .Flags = COPY_INLINE), "abcd" },
            { HEADER(COPY_END, 0, .Checksum = { 1 }), "" } },
        COPY_FAILED, true },
};

static SMBD_CONNECTION *connect_to(uint16_t port)
{
    struct sockaddr_in from = loopback(0), to = loopback(port);
    SMBD_PARAMETERS parameters;
    SMBD_CONNECTION *connection;

    SmbdDefaultParameters(&parameters);
    if (!NT_SUCCESS(SmbdConnect(adapter, (SOCKADDR *)&from, (SOCKADDR *)&to, sizeof(to),
            &parameters, &connection, NULL))) {
        fprintf(stderr, "no connection\n");
        exit(1);
    }
    return connection;
}

/* The answer's status; -1: none. */
static int64_t ask(SMBD_CONNECTION *connection, const struct request *request)
{
    struct copy_header answer;
    SMBD_MESSAGE *message;

    if (!NT_SUCCESS(SmbdSend(connection, &request->header, sizeof(request->header), request->tail,
            request->header.Tail, NULL)) ||
        !NT_SUCCESS(SmbdReceive(connection, TRUE, &message)))
        return -1;
    memcpy(&answer, message->Data, sizeof(answer));
    SmbdFreeMessage(message);
    if (answer.Flags != COPY_ANSWER || answer.Command != request->header.Command)
        return -1;
    return answer.Status;
}

static void try_case(const struct rude_case *rude, uint16_t port)
{
    static const struct request get = { HEADER(COPY_GET, 1, ), "f" };
    SMBD_CONNECTION *connection = connect_to(port);
    int64_t status = COPY_OK;

    for (unsigned i = 0; i < 4 && rude->requests[i].tail; i++) {
        if (status != COPY_OK)
            wrong(rude->name, "it ends before its last request");
        status = ask(connection, &rude->requests[i]);
    }
    if (status != rude->status)
        wrong(rude->name, "another answer");
    if ((ask(connection, &get) == COPY_OK) != rude->goes_on)
        wrong(rude->name, rude->goes_on ? "the connection has ended" : "the connection goes on");
    SmbdClose(connection);
}

/* What is no request at all has no answer. */
static void try_rubbish(const void *data, uint32_t length, uint16_t port)
{
    SMBD_CONNECTION *connection = connect_to(port);
    SMBD_MESSAGE *message;

    if (!NT_SUCCESS(SmbdSend(connection, data, length, NULL, 0, NULL)) ||
        SmbdReceive(connection, TRUE, &message) != STATUS_CONNECTION_DISCONNECTED)
        wrong("rubbish", "the connection goes on");
    SmbdClose(connection);
}

static void be_client(uint16_t port)
{
    static const struct copy_header answer = HEADER(COPY_GET, 0, .Flags = COPY_ANSWER);
    static const struct copy_header longer = HEADER(COPY_GET, 100, );

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        try_case(&cases[i], port);
    try_rubbish("rubbish", 7, port);
    try_rubbish(&answer, sizeof(answer), port);
    try_rubbish(&answer, sizeof(answer) - 1, port);
    try_rubbish(&longer, sizeof(longer), port);
}

/* ---- as a server ---- */

static KEVENT left;

/* Four bytes, "abcd", in messages; what the case says is wrong with it. */
static void answer(SMBD_CONNECTION *connection, const struct copy_header *request, const char *what)
{
    struct copy_header header = HEADER(request->Command, 0, .Flags = COPY_ANSWER);
    bool short_piece = !strcmp(what, "short");

    header.Id = request->Id + !strcmp(what, "id");
    header.Length = request->Length;
    if (request->Command == COPY_GET)
        header.Size = 4;
    if (request->Command == COPY_READ)
        header.Tail = short_piece ? 3 : 4;
    if (request->Command == COPY_END)
        header.Checksum[0] = 1;
    if (!strcmp(what, "tail"))
        header.Tail++;
    SmbdSend(connection, &header, sizeof(header), "abcd",
        request->Command == COPY_READ ? (short_piece ? 3 : 4) : 0, NULL);
}

static VOID serve(PVOID context, SMBD_CONNECTION *connection)
{
    SMBD_MESSAGE *message;

    while (NT_SUCCESS(SmbdReceive(connection, TRUE, &message))) {
        struct copy_header request;

        memcpy(&request, message->Data, sizeof(request));
        SmbdFreeMessage(message);
        answer(connection, &request, context);
    }
    KeSetEvent(&left, IO_NO_INCREMENT, FALSE);
}

static void be_server(char *what)
{
    struct sockaddr_in any = loopback(0), address;
    SMBD_SERVICE service = { .Serve = serve, .Context = what, .MaxConnections = 1 };
    SMBD_PARAMETERS parameters;
    SMBD_LISTENER *listener;

    KeInitializeEvent(&left, NotificationEvent, FALSE);
    SmbdDefaultParameters(&parameters);
    if (!NT_SUCCESS(
            SmbdListen(adapter, (SOCKADDR *)&any, sizeof(any), &parameters, &service, &listener))) {
        fprintf(stderr, "no listener\n");
        exit(1);
    }
    SmbdListenerAddress(listener, (SOCKADDR *)&address, sizeof(address));
    printf("listening on 127.0.0.1:%u\n", ntohs(address.sin_port));
    fflush(stdout);
    KeWaitForSingleObject(&left, Executive, KernelMode, FALSE, NULL);
    SmbdCloseListener(listener);
}

int main(int argc, char **argv)
{
    if (argc != 3 || !NT_SUCCESS(SmbdOpenAdapter(if_nametoindex("lo"), &adapter))) {
        fprintf(stderr, "usage: rude -c PORT | -s CASE\n");
        return 2;
    }
    if (!strcmp(argv[1], "-c"))
        be_client((uint16_t)atoi(argv[2]));
    else
        be_server(argv[2]);
    SmbdCloseAdapter(adapter);
    return failures != 0;
}
