/* SPDX-License-Identifier: MIT */
/*
 * serve_create.c - a file or a directory is opened, or made. Source: [MS-SMB2] 2.2.13, 2.2.14, 3.3.5.9; rights:
 * [MS-SMB2] 2.2.13.1. No locks of the client's cache, no leases and no modes of sharing: those are not granted.
 */
#include "serve.h"
#include "smb2_octets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE_REQUEST = 57, FIXED_REQUEST = 56, SIZE_ANSWER = 89, FIXED_ANSWER = 88 };
enum { OPEN = 1, CREATE = 2, OPEN_IF = 3, OVERWRITE = 4, OVERWRITE_IF = 5 };
enum { OPENED = 1, CREATED = 2, OVERWRITTEN = 3 };
enum { DIRECTORY_FILE = 0x1, NON_DIRECTORY_FILE = 0x40, DELETE_ON_CLOSE = 0x1000 };
enum { TRIES = 8 }; /* where others make and remove the file meanwhile */

static const uint32_t maximum_allowed = 0x02000000, all = 0x001f01ff;
static const struct {
    uint32_t generic, rights;
} generics[] = { { 0x10000000, 0x001f01ff }, { 0x20000000, 0x001200a0 }, { 0x40000000, 0x00120116 },
    { 0x80000000, 0x00120089 } };

/* What a client asks for. */
struct wish {
    uint32_t access, disposition, options;
    bool most; /* as much of the access as there is */
    char path[SERVE_PATH_MOST];
};

/* What it gets. */
struct got {
    int fd;
    uint32_t action;
    struct stat stat;
};

static uint32_t rights_of(uint32_t access)
{
    for (size_t i = 0; i < sizeof(generics) / sizeof(generics[0]); i++)
        if (access & generics[i].generic)
            access |= generics[i].rights;
    return access & all;
}

static uint32_t get_wish(const struct serve_request *request, struct wish *wish)
{
    const uint8_t *asked = serve_body(request, FIXED_REQUEST, SIZE_REQUEST), *name;
    uint16_t length;

    if (!asked)
        return SMB2_STATUS_INVALID_PARAMETER;
    wish->most = get32(asked + 24) & maximum_allowed;
    wish->access = wish->most ? all : rights_of(get32(asked + 24));
    wish->disposition = get32(asked + 36);
    wish->options = get32(asked + 40);
    length = get16(asked + 46);
    name = asked;
    if (length)
        name =
            smb2_part(request->message, request->length, FIXED_REQUEST, get16(asked + 44), length);
    if (!name || wish->disposition > OVERWRITE_IF ||
        (wish->options & DIRECTORY_FILE && wish->options & NON_DIRECTORY_FILE))
        return SMB2_STATUS_INVALID_PARAMETER;
    if (wish->disposition < OPEN)
        return SMB2_STATUS_NOT_SUPPORTED;
    if (!wish->access)
        return SMB2_STATUS_ACCESS_DENIED;
    if (wish->options & DELETE_ON_CLOSE && !(wish->access & SERVE_DELETE))
        return SMB2_STATUS_ACCESS_DENIED;
    return serve_path(name, length, wish->path);
}

static bool writes(const struct wish *wish)
{
    return wish->access & (SERVE_WRITE_DATA | SERVE_APPEND_DATA) ||
           wish->disposition == OVERWRITE || wish->disposition == OVERWRITE_IF;
}

/* As open(2) has it, of a file; reading is asked for in any case, since a descriptor needs something. */
static int flags_of(const struct wish *wish)
{
    bool reads = wish->access & (SERVE_READ_DATA | SERVE_EXECUTE);

    return (writes(wish) ? reads ? O_RDWR : O_WRONLY : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK |
           O_CLOEXEC;
}

/* 0 or a negative errno. Where the maximum is asked for, reading alone will do. */
static int open_there(int folder, const char *name, struct wish *wish, bool directory)
{
    int flags = flags_of(wish), fd;

    if (directory)
        return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    fd = openat(folder, name, flags);
    if (fd < 0 && wish->most && (errno == EACCES || errno == EROFS)) {
        wish->access &= ~(uint32_t)(SERVE_WRITE_DATA | SERVE_APPEND_DATA);
        fd = openat(folder, name, flags_of(wish));
    }
    return fd;
}

/* What may not be opened so, of what is there. */
static uint32_t check_kind(const struct wish *wish, mode_t mode)
{
    bool overwrites = wish->disposition == OVERWRITE || wish->disposition == OVERWRITE_IF;

    if (S_ISDIR(mode))
        return wish->options & NON_DIRECTORY_FILE || overwrites ? SMB2_STATUS_FILE_IS_A_DIRECTORY
                                                                : 0;
    if (!S_ISREG(mode))
        return SMB2_STATUS_ACCESS_DENIED;
    return wish->options & DIRECTORY_FILE ? SMB2_STATUS_NOT_A_DIRECTORY : 0;
}

/* Something is there. What is a device is not opened, which could do something. */
static uint32_t open_existing(int folder, const char *name, struct wish *wish, struct got *got)
{
    uint32_t status;

    if (wish->disposition == CREATE)
        return SMB2_STATUS_OBJECT_NAME_COLLISION;
    status = check_kind(wish, got->stat.st_mode);
    if (status)
        return status;
    got->fd = open_there(folder, name, wish, S_ISDIR(got->stat.st_mode));
    if (got->fd < 0)
        return serve_status(errno);
    got->action = OPENED;
    if (fstat(got->fd, &got->stat))
        return serve_status(errno);
    status = check_kind(wish, got->stat.st_mode); /* another one is there, perhaps */
    if (status || wish->disposition < OVERWRITE)
        return status;
    got->action = OVERWRITTEN;
    return ftruncate(got->fd, 0) || fstat(got->fd, &got->stat) ? serve_status(errno) : 0;
}

static uint32_t make(int folder, const char *name, struct wish *wish, struct got *got)
{
    if (wish->disposition == OPEN || wish->disposition == OVERWRITE)
        return SMB2_STATUS_OBJECT_NAME_NOT_FOUND;
    if (wish->options & DIRECTORY_FILE) {
        if (mkdirat(folder, name, 0777))
            return serve_status(errno);
        got->fd = open_there(folder, name, wish, true);
    } else {
        got->fd = openat(folder, name, flags_of(wish) | O_CREAT | O_EXCL, 0666);
    }
    got->action = CREATED;
    return got->fd < 0 || fstat(got->fd, &got->stat) ? serve_status(errno) : 0;
}

static uint32_t open_or_make(int folder, const char *name, struct wish *wish, struct got *got)
{
    uint32_t status = SMB2_STATUS_SHARING_VIOLATION;

    for (unsigned i = 0; i < TRIES; i++) {
        if (!fstatat(folder, name, &got->stat, AT_SYMLINK_NOFOLLOW)) {
            status = open_existing(folder, name, wish, got);
            if (status != SMB2_STATUS_OBJECT_NAME_NOT_FOUND || wish->disposition == OPEN)
                return status;
        } else if (errno == ENOENT) {
            status = make(folder, name, wish, got);
            if (status != SMB2_STATUS_OBJECT_NAME_COLLISION || wish->disposition == CREATE)
                return status;
        } else {
            return serve_status(errno);
        }
    }
    return status;
}

static uint32_t do_it(const struct session *session, struct wish *wish, struct got *got)
{
    const char *name;
    int folder = serve_folder(session->server->directory, wish->path, &name);
    uint32_t status;

    if (folder == -ENOENT || folder == -ENOTDIR)
        return SMB2_STATUS_OBJECT_PATH_NOT_FOUND;
    if (folder < 0)
        return serve_status(-folder);
    status = open_or_make(folder, name, wish, got);
    close(folder);
    if (status && got->fd >= 0)
        close(got->fd);
    return status;
}

uint32_t serve_create(
    struct session *session, const struct serve_request *request, struct serve_answer *answer)
{
    struct got got = { .fd = -1 };
    struct serve_open *open;
    struct wish wish;
    uint32_t status;
    uint8_t *body;

    session->last_open = UINT64_MAX;
    status = get_wish(request, &wish);
    if (!status && !(open = serve_new_open(session)))
        status = SMB2_STATUS_TOO_MANY_OPENED_FILES;
    if (status)
        return status;
    open->path = strdup(wish.path);
    status = open->path ? do_it(session, &wish, &got) : SMB2_STATUS_NO_MEMORY;
    if (status) {
        serve_end_open(session, open);
        return status;
    }
    open->fd = got.fd;
    open->access = wish.access;
    open->directory = S_ISDIR(got.stat.st_mode);
    open->delete_on_close = wish.options & DELETE_ON_CLOSE && *wish.path;
    session->last_open = (uint64_t)(open - session->opens);
    body = serve_begin(answer, SIZE_ANSWER, FIXED_ANSWER);
    put32(body + 4, got.action);
    serve_put_times(body + 8, &got.stat);
    serve_put_sizes(body + 40, &got.stat);
    put32(body + 56, serve_attributes(&got.stat));
    serve_put_open_id(session, open, body + 64);
    return 0;
}
