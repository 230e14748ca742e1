/* SPDX-License-Identifier: MIT */
/* serve_open.c - what a session has open. Source: [MS-SMB2] 3.3.5.10 (close), 3.3.5.11 (flush). */
#include "serve.h"
#include "smb2_octets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE_CLOSE = 24, SIZE_CLOSED = 60, SIZE_FLUSH = 24, SIZE_FLUSHED = 4 };
enum { WITH_ATTRIBUTES = 1 };

/* In its two halves: a serial number, and the place in the table. */
void serve_put_open_id(const struct session *session, const struct serve_open *open, uint8_t *id)
{
    put64(id, open->serial);
    put64(id + 8, (uint64_t)(open - session->opens));
}

struct serve_open *serve_find_open(
    struct session *session, const struct serve_request *request, const uint8_t *id)
{
    uint64_t serial = get64(id), place = get64(id + 8);

    if (request->header.flags & SMB2_FLAG_RELATED && serial == UINT64_MAX && place == UINT64_MAX)
        place = session->last_open;
    else if (place < SERVE_OPENS && session->opens[place].serial != serial)
        return NULL;
    if (place >= SERVE_OPENS || !session->opens[place].serial)
        return NULL;
    session->last_open = place;
    return &session->opens[place];
}

struct serve_open *serve_new_open(struct session *session)
{
    for (unsigned i = 0; i < SERVE_OPENS; i++) {
        struct serve_open *open = &session->opens[i];

        if (open->serial)
            continue;
        memset(open, 0, sizeof(*open));
        open->fd = -1;
        open->serial = ++session->serial;
        return open;
    }
    return NULL;
}

/* If the name still is that file's. */
static void remove_file(const struct session *session, const struct serve_open *open)
{
    const char *name;
    int folder = serve_folder(session->server->directory, open->path, &name);

    if (folder < 0)
        return;
    if (*open->path && serve_is_at(folder, name, open->fd))
        unlinkat(folder, name, open->directory ? AT_REMOVEDIR : 0);
    close(folder);
}

void serve_end_open(const struct session *session, struct serve_open *open)
{
    if (open->delete_on_close)
        remove_file(session, open);
    if (open->list)
        closedir(open->list);
    if (open->fd >= 0)
        close(open->fd);
    free(open->path);
    open->serial = 0;
}

void serve_end_all_opens(struct session *session)
{
    for (unsigned i = 0; i < SERVE_OPENS; i++)
        if (session->opens[i].serial)
            serve_end_open(session, &session->opens[i]);
}

uint32_t serve_close(
    struct session *session, const struct serve_request *request, struct serve_answer *answer)
{
    const uint8_t *asked = serve_body(request, SIZE_CLOSE, SIZE_CLOSE);
    struct serve_open *open;
    struct stat stat;
    uint8_t *body;

    if (!asked)
        return SMB2_STATUS_INVALID_PARAMETER;
    open = serve_find_open(session, request, asked + 8);
    if (!open)
        return SMB2_STATUS_FILE_CLOSED;
    body = serve_begin(answer, SIZE_CLOSED, SIZE_CLOSED);
    if (get16(asked + 2) & WITH_ATTRIBUTES && !fstat(open->fd, &stat)) {
        put16(body + 2, WITH_ATTRIBUTES);
        serve_put_times(body + 8, &stat);
        serve_put_sizes(body + 40, &stat);
        put32(body + 56, serve_attributes(&stat));
    }
    serve_end_open(session, open);
    return 0;
}

uint32_t serve_flush(
    struct session *session, const struct serve_request *request, struct serve_answer *answer)
{
    const uint8_t *asked = serve_body(request, SIZE_FLUSH, SIZE_FLUSH);
    struct serve_open *open;

    if (!asked)
        return SMB2_STATUS_INVALID_PARAMETER;
    open = serve_find_open(session, request, asked + 8);
    if (!open)
        return SMB2_STATUS_FILE_CLOSED;
    if (fsync(open->fd))
        return serve_status(errno);
    serve_begin(answer, SIZE_FLUSHED, SIZE_FLUSHED);
    return 0;
}
