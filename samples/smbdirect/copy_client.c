/* SPDX-License-Identifier: MIT */
/*
 * copy_client.c - the client: files one after the other, each in pieces, with several requests under way.
 */
#include "copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The end of a step: a success; a failure of this file; the end of the connection. */
enum outcome { WELL, FILE_FAILED, ENDED };

/* A request under way. */
struct slot {
    SMBD_BUFFER *buffer;
    struct copy_header request;
};

struct client {
    const struct copy_options *options;
    SMBD_ADAPTER *adapter;
    SMBD_CONNECTION *connection;
    char server[COPY_ADDRESS_TEXT];
    struct slot slots[COPY_PIPELINE]; /* a ring */
    unsigned first, count;
    uint32_t next_id;
    bool rdma;            /* both adapters register memory for it */
    uint32_t inline_most; /* pieces up to this size go in messages */
    uint8_t *piece;       /* of COPY_INLINE_PIECE bytes */
    int directory;        /* for fetched files */
    char failure[512];    /* of the file, in words */
    /* The file: */
    int fd;
    uint64_t size, next;
    struct copy_sum sum;
    struct copy_progress progress;
};

static enum outcome file_failed(struct client *client, const char *text)
{
    if (!client->failure[0])
        snprintf(client->failure, sizeof(client->failure), "%s", text);
    return FILE_FAILED;
}

/* ---- requests and answers ---- */

/* The server may have sent the reason before the connection ended. */
static enum outcome not_sent(struct client *client)
{
    struct copy_header answer;
    SMBD_MESSAGE *message;

    while (NT_SUCCESS(SmbdReceive(client->connection, TRUE, &message))) {
        if (message->Length >= sizeof(answer)) {
            memcpy(&answer, message->Data, sizeof(answer));
            if (answer.Status != COPY_OK && answer.Tail == message->Length - sizeof(answer))
                copy_say("%s: %.*s", client->server, (int)answer.Tail,
                    (const char *)message->Data + sizeof(answer));
        }
        SmbdFreeMessage(message);
    }
    return ENDED;
}

static enum outcome ask(
    struct client *client, struct copy_header *request, const void *tail, uint32_t length)
{
    request->Magic = COPY_MAGIC;
    request->Id = client->next_id++;
    request->Tail = length;
    if (NT_SUCCESS(SmbdSend(client->connection, request, sizeof(*request), tail, length, NULL)))
        return WELL;
    return not_sent(client);
}

/* The answer to the request of that id, whose tail is in *out, which SmbdFreeMessage frees; not where ENDED. */
static enum outcome take_answer(
    struct client *client, uint32_t id, SMBD_MESSAGE **out, struct copy_header *answer)
{
    char text[sizeof(client->failure)];

    if (!NT_SUCCESS(SmbdReceive(client->connection, TRUE, out)))
        return ENDED;
    memset(answer, 0, sizeof(*answer));
    if ((*out)->Length >= sizeof(*answer))
        memcpy(answer, (*out)->Data, sizeof(*answer));
    if (answer->Magic != COPY_MAGIC || !(answer->Flags & COPY_ANSWER) || answer->Id != id ||
        answer->Tail != (*out)->Length - sizeof(*answer)) {
        SmbdFreeMessage(*out);
        copy_say("%s: an answer that makes no sense", client->server);
        return ENDED;
    }
    if (answer->Status == COPY_OK)
        return WELL;
    snprintf(text, sizeof(text), "the server says: %.*s", (int)answer->Tail,
        (const char *)(*out)->Data + sizeof(*answer));
    return file_failed(client, text);
}

/* A request without pieces, and its answer. */
static enum outcome ask_and_wait(struct client *client, struct copy_header *request,
    const void *tail, uint32_t length, struct copy_header *answer)
{
    enum outcome outcome = ask(client, request, tail, length);
    SMBD_MESSAGE *message;

    if (outcome == WELL)
        outcome = take_answer(client, request->Id, &message, answer);
    if (outcome != ENDED)
        SmbdFreeMessage(message);
    return outcome;
}

/* ---- pieces ---- */

/* Reads a piece that is to be sent from the file. */
static enum outcome load(struct client *client, const struct copy_header *request, void *data)
{
    int error = copy_read(client->fd, data, request->Length, request->Offset);

    if (error)
        return file_failed(client, copy_error_text(error));
    copy_sum_add(&client->sum, data, request->Length);
    return WELL;
}

/* Writes a fetched piece into the file. */
static enum outcome store(
    struct client *client, const struct copy_header *request, const void *data)
{
    int error = copy_write(client->fd, data, request->Length, request->Offset);

    if (error)
        return file_failed(client, copy_error_text(error));
    copy_sum_add(&client->sum, data, request->Length);
    return WELL;
}

static enum outcome connection_failed(NTSTATUS status)
{
    return NT_SUCCESS(status) ? WELL : ENDED;
}

static enum outcome start_by_rdma(struct client *client, struct slot *slot)
{
    struct copy_header *request = &slot->request;
    bool get = request->Command == COPY_READ;
    enum outcome outcome = WELL;

    if (!get)
        outcome = load(client, request, SmbdBufferMemory(slot->buffer));
    if (outcome != WELL)
        return outcome;
    if (SmbdInvalidates(client->adapter))
        request->Flags = COPY_INVALIDATE;
    outcome = connection_failed(
        SmbdExpose(client->connection, slot->buffer, request->Length, get, &request->Descriptor));
    return outcome == WELL ? ask(client, request, NULL, 0) : outcome;
}

static enum outcome start_in_messages(struct client *client, struct slot *slot)
{
    struct copy_header *request = &slot->request;
    enum outcome outcome;

    request->Flags = COPY_INLINE;
    if (request->Command == COPY_READ)
        return ask(client, request, NULL, 0);
    outcome = load(client, request, client->piece);
    return outcome == WELL ? ask(client, request, client->piece, request->Length) : outcome;
}

static enum outcome prepare_slot(struct client *client, struct slot *slot, uint32_t piece)
{
    NTSTATUS status = STATUS_SUCCESS;
    char text[64];

    if (!slot->buffer && client->rdma)
        status = SmbdCreateBuffer(client->connection, piece, &slot->buffer);
    if (NT_SUCCESS(status))
        return WELL;
    return file_failed(client, copy_status_text(status, text, sizeof(text)));
}

static uint32_t least(uint32_t one, uint32_t other)
{
    return one < other ? one : other;
}

/* The largest piece that goes in messages; peers reassemble at least 128 KiB. */
static uint32_t inline_most(const struct client *client)
{
    return least(SmbdLongestSend(client->connection) - (uint32_t)sizeof(struct copy_header),
        COPY_INLINE_PIECE);
}

static uint32_t piece_most(const struct client *client)
{
    return client->rdma ? least(SmbdAgreed(client->connection)->MaxReadWriteSize, COPY_PIECE)
                        : inline_most(client);
}

static enum outcome start_piece(struct client *client, enum copy_command command)
{
    struct slot *slot = &client->slots[(client->first + client->count) % COPY_PIPELINE];
    uint32_t most = piece_most(client);
    uint64_t rest = client->size - client->next;
    enum outcome outcome = prepare_slot(client, slot, most);

    if (outcome != WELL)
        return outcome;
    slot->request = (struct copy_header){ .Command = (uint16_t)command,
        .Offset = client->next,
        .Length = rest < most ? (uint32_t)rest : most };
    if (!client->rdma || slot->request.Length <= client->inline_most)
        outcome = start_in_messages(client, slot);
    else
        outcome = start_by_rdma(client, slot);
    if (outcome != WELL)
        return outcome;
    client->next += slot->request.Length;
    client->count++;
    return WELL;
}

/* Takes the answer to the oldest request. The peer's access to its memory ends before this end reads it. */
static enum outcome finish_piece(struct client *client)
{
    struct slot *slot = &client->slots[client->first];
    const struct copy_header *request = &slot->request;
    bool in_message = request->Flags & COPY_INLINE;
    struct copy_header answer;
    SMBD_MESSAGE *message;
    enum outcome outcome = take_answer(client, request->Id, &message, &answer);

    if (outcome == ENDED)
        return ENDED;
    client->first = (client->first + 1) % COPY_PIPELINE;
    client->count--;
    if (!in_message && !NT_SUCCESS(SmbdHide(client->connection, slot->buffer))) {
        SmbdFreeMessage(message);
        return ENDED;
    }
    if (outcome == WELL && request->Command == COPY_READ) {
        if (in_message && answer.Tail != request->Length)
            outcome = file_failed(client, "the server sent another piece than was asked for");
        else
            outcome = store(client, request,
                in_message ? message->Data + sizeof(answer) : SmbdBufferMemory(slot->buffer));
    }
    SmbdFreeMessage(message);
    if (outcome == WELL)
        copy_progress_add(&client->progress, request->Length);
    return outcome;
}

/* After a failure it sends no more requests, but takes every answer. */
static enum outcome move_pieces(struct client *client, enum copy_command command)
{
    enum outcome outcome = WELL;

    while (client->count || (outcome == WELL && client->next < client->size)) {
        enum outcome step;

        if (outcome == WELL && client->next < client->size && client->count < COPY_PIPELINE)
            step = start_piece(client, command);
        else
            step = finish_piece(client);
        if (step == ENDED)
            return ENDED;
        if (outcome == WELL)
            outcome = step;
    }
    return outcome;
}

/* ---- files ---- */

static void begin_file(struct client *client, const char *name, uint64_t size)
{
    client->size = size;
    client->next = 0;
    copy_sum_reset(&client->sum);
    copy_progress_begin(&client->progress, name, size, client->options->quiet);
}

static enum outcome put_open(struct client *client, const char *path)
{
    struct copy_header put = { .Command = COPY_PUT }, end = { .Command = COPY_END }, answer;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    enum outcome outcome;

    put.Size = client->size;
    begin_file(client, path, client->size);
    outcome = ask_and_wait(client, &put, name, (uint32_t)strlen(name), &answer);
    if (outcome == WELL)
        outcome = move_pieces(client, COPY_WRITE);
    if (outcome != WELL)
        return outcome;
    copy_sum_end(&client->sum, end.Checksum);
    outcome = ask_and_wait(client, &end, NULL, 0, &answer);
    if (outcome == WELL && memcmp(answer.Checksum, end.Checksum, COPY_CHECKSUM))
        outcome = file_failed(client, "the server's checksum differs");
    if (outcome == WELL)
        copy_progress_end(&client->progress, "sent", end.Checksum);
    return outcome;
}

static enum outcome put(struct client *client, const char *path)
{
    enum outcome outcome;

    client->fd = copy_open_source(AT_FDCWD, path, &client->size);
    if (client->fd < 0)
        return file_failed(client, copy_error_text(client->fd));
    outcome = put_open(client, path);
    close(client->fd);
    return outcome;
}

static enum outcome fetch(struct client *client, uint8_t *checksum)
{
    struct copy_header end = { .Command = COPY_END }, answer;
    enum outcome outcome = move_pieces(client, COPY_READ);

    if (outcome == WELL)
        outcome = ask_and_wait(client, &end, NULL, 0, &answer);
    copy_sum_end(&client->sum, checksum);
    if (outcome == WELL && memcmp(answer.Checksum, checksum, COPY_CHECKSUM))
        outcome = file_failed(client, "the checksums differ: not kept");
    return outcome;
}

static enum outcome get(struct client *client, const char *name)
{
    struct copy_header request = { .Command = COPY_GET }, answer;
    uint8_t checksum[COPY_CHECKSUM];
    struct copy_target target;
    enum outcome outcome;
    int error;

    if (!copy_name_allowed(name, strlen(name)))
        return file_failed(client, "a name without a directory is needed");
    outcome = ask_and_wait(client, &request, name, (uint32_t)strlen(name), &answer);
    if (outcome != WELL)
        return outcome;
    if ((error = copy_target_open(&target, client->directory, name)))
        return file_failed(client, copy_error_text(error));
    client->fd = target.fd;
    begin_file(client, name, answer.Size);
    outcome = fetch(client, checksum);
    if (outcome == WELL && (error = copy_target_keep(&target)))
        outcome = file_failed(client, copy_error_text(error));
    copy_target_drop(&target);
    if (outcome == WELL)
        copy_progress_end(&client->progress, "fetched", checksum);
    return outcome;
}

/* ---- the program ---- */

static void say_ended(struct client *client, NTSTATUS status, const char *reason, const char *file)
{
    const char *hint = file ? NULL : copy_status_hint(status);
    char text[64];

    copy_say("%s: %s: %s%s%s%s", client->server, reason,
        copy_status_text(status, text, sizeof(text)), hint ? " (" : "", hint ? hint : "",
        hint ? ")" : "");
    if (file)
        copy_say("%s: not copied", file);
}

/* Returns the program's status. */
static int copy_all(struct client *client, char **files, int count)
{
    int result = 0;

    for (int i = 0; i < count; i++) {
        enum outcome outcome;
        const char *reason;
        NTSTATUS status;

        client->failure[0] = '\0';
        outcome = client->options->get ? get(client, files[i]) : put(client, files[i]);
        if (outcome == WELL)
            continue;
        result = 1;
        copy_progress_fail(&client->progress);
        if (outcome == FILE_FAILED) {
            copy_say("%s: %s", files[i], client->failure);
            continue;
        }
        status = SmbdFailure(client->connection, &reason);
        if (NT_SUCCESS(status))
            copy_say("%s: not copied", files[i]);
        else
            say_ended(client, status, reason, files[i]);
        break;
    }
    return result;
}

static int connect_and_copy(
    struct client *client, const struct copy_address *local, char **files, int count)
{
    const struct copy_address *remote = &client->options->address;
    const NDK_ADAPTER_INFO *info = SmbdAdapterInfo(client->adapter);
    SMBD_PARAMETERS parameters;
    const char *reason;
    NTSTATUS status;
    int result;

    copy_parameters(&parameters);
    status = SmbdConnect(client->adapter, &local->sa, &remote->sa, remote->length, &parameters,
        &client->connection, &reason);
    if (!NT_SUCCESS(status)) {
        say_ended(client, status, reason, NULL);
        return COPY_NEXT_ADDRESS;
    }
    /* If either end lacks fast registration, the negotiation results in 0. */
    client->rdma =
        SmbdAgreed(client->connection)->MaxReadWriteSize && !client->options->in_messages;
    client->inline_most = least(info->LargeRequestThreshold, inline_most(client));
    result = copy_all(client, files, count);
    SmbdClose(client->connection);
    return result;
}

static int open_and_copy(struct client *client, char **files, int count)
{
    struct copy_address local = client->options->local;
    char text[64];
    NTSTATUS status;
    int result;

    if (!local.length && !copy_local_address(&client->options->address, &local)) {
        copy_say("%s: %s", client->server, strerror(errno));
        return COPY_NEXT_ADDRESS;
    }
    status = SmbdOpenAdapter(copy_interface_of(&local), &client->adapter);
    if (!NT_SUCCESS(status)) {
        char from[COPY_ADDRESS_TEXT];

        copy_say("%s: no adapter with the local address %s: %s (-b names another one)",
            client->server, copy_address_text(&local.sa, from, sizeof(from)),
            copy_status_text(status, text, sizeof(text)));
        return COPY_NEXT_ADDRESS;
    }
    result = connect_and_copy(client, &local, files, count);
    SmbdCloseAdapter(client->adapter);
    return result;
}

int copy_files(const struct copy_options *options, char **files, int count)
{
    struct client client = { .options = options };
    int result = 1;

    copy_address_text(&options->address.sa, client.server, sizeof(client.server));
    client.directory = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (client.directory < 0) {
        copy_say("%s: %s", options->directory, strerror(errno));
        return 1;
    }
    client.piece = malloc(COPY_INLINE_PIECE);
    if (client.piece && copy_sum_init(&client.sum)) {
        result = open_and_copy(&client, files, count);
        copy_sum_free(&client.sum);
    } else {
        copy_say("out of memory");
    }
    free(client.piece);
    close(client.directory);
    return result;
}
