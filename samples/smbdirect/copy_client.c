/* SPDX-License-Identifier: MIT */
/*
 * copy_client.c - the client: files one after the other, each in pieces (copy_client_pieces.c).
 */
#include "copy_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum outcome copy_client_failed(struct client *client, const char *text)
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

enum outcome copy_client_ask(
    struct client *client, struct copy_header *request, const void *tail, uint32_t length)
{
    request->Magic = COPY_MAGIC;
    request->Id = client->next_id++;
    request->Tail = length;
    if (NT_SUCCESS(SmbdSend(client->connection, request, sizeof(*request), tail, length, NULL)))
        return WELL;
    return not_sent(client);
}

enum outcome copy_client_answer(
    struct client *client, uint32_t id, bool wait, SMBD_MESSAGE **out, struct copy_header *answer)
{
    NTSTATUS status = SmbdReceive(client->connection, wait, out);
    char text[sizeof(client->failure)];

    if (status == STATUS_TIMEOUT)
        return NOT_YET;
    if (!NT_SUCCESS(status))
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
    return copy_client_failed(client, text);
}

/* A request without pieces, and its answer. */
static enum outcome ask_and_wait(struct client *client, struct copy_header *request,
    const void *tail, uint32_t length, struct copy_header *answer)
{
    enum outcome outcome = copy_client_ask(client, request, tail, length);
    SMBD_MESSAGE *message;

    if (outcome == WELL)
        outcome = copy_client_answer(client, request->Id, true, &message, answer);
    if (outcome != ENDED)
        SmbdFreeMessage(message);
    return outcome;
}

/* ---- files ---- */

static void begin_file(struct client *client, const char *name, uint64_t size)
{
    client->size = size;
    client->next = 0;
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
        outcome = copy_client_move(client, COPY_WRITE);
    if (outcome != WELL)
        return outcome;
    copy_worker_sum(client->worker, end.Checksum);
    outcome = ask_and_wait(client, &end, NULL, 0, &answer);
    if (outcome == WELL && memcmp(answer.Checksum, end.Checksum, COPY_CHECKSUM))
        outcome = copy_client_failed(client, "the server's checksum differs");
    if (outcome == WELL)
        copy_progress_end(&client->progress, "sent", end.Checksum);
    return outcome;
}

static enum outcome put(struct client *client, const char *path)
{
    int fd = copy_open_source(AT_FDCWD, path, &client->size);
    enum outcome outcome;

    if (fd < 0)
        return copy_client_failed(client, copy_error_text(fd));
    copy_worker_begin(client->worker, fd, COPY_FROM_FILE);
    outcome = put_open(client, path);
    close(fd);
    return outcome;
}

static enum outcome fetch(struct client *client, uint8_t *checksum)
{
    struct copy_header end = { .Command = COPY_END }, answer;
    enum outcome outcome = copy_client_move(client, COPY_READ);

    if (outcome == WELL)
        outcome = ask_and_wait(client, &end, NULL, 0, &answer);
    copy_worker_sum(client->worker, checksum);
    if (outcome == WELL && memcmp(answer.Checksum, checksum, COPY_CHECKSUM))
        outcome = copy_client_failed(client, "the checksums differ: not kept");
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
        return copy_client_failed(client, "a name without a directory is needed");
    outcome = ask_and_wait(client, &request, name, (uint32_t)strlen(name), &answer);
    if (outcome != WELL)
        return outcome;
    if ((error = copy_target_open(&target, client->directory, name)))
        return copy_client_failed(client, copy_error_text(error));
    copy_worker_begin(client->worker, target.fd, COPY_TO_FILE);
    begin_file(client, name, answer.Size);
    outcome = fetch(client, checksum);
    if (outcome == WELL && (error = copy_target_keep(&target)))
        outcome = copy_client_failed(client, copy_error_text(error));
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
    client->rdma =
        SmbdAgreed(client->connection)->MaxReadWriteSize && !client->options->in_messages;
    client->inline_most = copy_client_inline_most(client);
    if (client->inline_most > info->LargeRequestThreshold)
        client->inline_most = info->LargeRequestThreshold;
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
    client.worker = copy_worker_start();
    if (client.worker) {
        result = open_and_copy(&client, files, count);
        copy_client_free_slots(&client);
        copy_worker_stop(client.worker);
    } else {
        copy_say("no memory or no thread for the files");
    }
    close(client.directory);
    return result;
}
