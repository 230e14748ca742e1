/* SPDX-License-Identifier: MIT */
/*
 * serve_set.c - what clients change of files: name, end, times, whether they stay. Source: [MS-SMB2] 2.2.39, 2.2.40,
 * 3.3.5.21; structures: [MS-FSCC] 2.4.
 */
#include "serve.h"
#include "smb2_octets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIZE_REQUEST = 33, FIXED_REQUEST = 32, SIZE_ANSWER = 2, FIXED_ANSWER = 2 };
enum { OF_FILE = 1 };
enum { BASIC = 4, RENAME = 10, DISPOSITION = 13, END_OF_FILE = 20 };
enum { BASIC_LENGTH = 40, RENAME_LENGTH = 20 };

/* ---- the name ---- */

/* Both are in their folders. */
static uint32_t rename_in(
    int folder, const char *name, int to, const char *to_name, int fd, bool replace)
{
    struct stat stat;

    if (!serve_is_at(folder, name, fd))
        return SMB2_STATUS_OBJECT_NAME_NOT_FOUND;
    if (!replace) {
        if (!syscall(SYS_renameat2, folder, name, to, to_name, RENAME_NOREPLACE))
            return 0;
        if (errno != EINVAL && errno != ENOSYS)
            return serve_status(errno);
        /* A file system that cannot do it in one. */
        if (!fstatat(to, to_name, &stat, AT_SYMLINK_NOFOLLOW))
            return SMB2_STATUS_OBJECT_NAME_COLLISION;
    } else if (!fstatat(to, to_name, &stat, AT_SYMLINK_NOFOLLOW) && S_ISDIR(stat.st_mode)) {
        return SMB2_STATUS_ACCESS_DENIED; /* [MS-FSA] 2.1.5.14.11: a directory is not replaced */
    }
    return renameat(folder, name, to, to_name) ? serve_status(errno) : 0;
}

static uint32_t rename_to(
    const struct session *session, struct serve_open *open, const char *path, bool replace)
{
    const char *name, *to_name;
    int folder = serve_folder(session->server->directory, open->path, &name), to;
    uint32_t status;

    if (folder < 0)
        return serve_status(-folder);
    to = serve_folder(session->server->directory, path, &to_name);
    if (to >= 0) {
        status = rename_in(folder, name, to, to_name, open->fd, replace);
        close(to);
    } else {
        status = SMB2_STATUS_OBJECT_PATH_NOT_FOUND;
    }
    close(folder);
    return status;
}

static uint32_t set_name(
    const struct session *session, struct serve_open *open, const uint8_t *data, uint32_t length)
{
    char path[SERVE_PATH_MOST], *kept;
    uint32_t name, status;

    if (length < RENAME_LENGTH)
        return SMB2_STATUS_INFO_LENGTH_MISMATCH;
    name = get32(data + 16);
    if (name > length - RENAME_LENGTH || get64(data + 8))
        return SMB2_STATUS_INVALID_PARAMETER;
    if (!(open->access & SERVE_DELETE) || !*open->path)
        return SMB2_STATUS_ACCESS_DENIED;
    status = serve_path(data + RENAME_LENGTH, name, path);
    if (status)
        return status;
    if (!*path)
        return SMB2_STATUS_OBJECT_NAME_INVALID;
    kept = strdup(path);
    if (!kept)
        return SMB2_STATUS_NO_MEMORY;
    status = rename_to(session, open, path, data[0]);
    if (status) {
        free(kept);
        return status;
    }
    free(open->path);
    open->path = kept;
    return 0;
}

/* ---- whether it stays ---- */

static uint32_t check_empty(int fd)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;
    bool empty = true;

    if (!list) {
        uint32_t status = serve_status(errno);

        if (copy >= 0)
            close(copy);
        return status;
    }
    while (empty && (entry = readdir(list)))
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(list);
    return empty ? 0 : SMB2_STATUS_DIRECTORY_NOT_EMPTY;
}

static uint32_t set_disposition(struct serve_open *open, const uint8_t *data, uint32_t length)
{
    uint32_t status = 0;

    if (length < 1)
        return SMB2_STATUS_INFO_LENGTH_MISMATCH;
    if (!(open->access & SERVE_DELETE) || !*open->path)
        return SMB2_STATUS_ACCESS_DENIED;
    if (data[0] && open->directory)
        status = check_empty(open->fd);
    if (!status)
        open->delete_on_close = data[0];
    return status;
}

/* ---- the rest ---- */

static uint32_t set_end(struct serve_open *open, const uint8_t *data, uint32_t length)
{
    if (length < 8)
        return SMB2_STATUS_INFO_LENGTH_MISMATCH;
    if (open->directory || get64(data) > INT64_MAX)
        return SMB2_STATUS_INVALID_PARAMETER;
    if (!(open->access & SERVE_WRITE_DATA))
        return SMB2_STATUS_ACCESS_DENIED;
    return ftruncate(open->fd, (off_t)get64(data)) ? serve_status(errno) : 0;
}

/* The times of creation and change are the file system's. Read-only files are not made so. */
static uint32_t set_basic(struct serve_open *open, const uint8_t *data, uint32_t length)
{
    if (length < BASIC_LENGTH)
        return SMB2_STATUS_INFO_LENGTH_MISMATCH;
    if (!(open->access & SERVE_WRITE_ATTRIBUTES))
        return SMB2_STATUS_ACCESS_DENIED;
    if (get32(data + 32) & SERVE_READ_ONLY)
        return SMB2_STATUS_NOT_SUPPORTED;
    return serve_set_times(open->fd, get64(data + 8), get64(data + 16));
}

uint32_t serve_set_info(
    struct session *session, const struct serve_request *request, struct serve_answer *answer)
{
    const uint8_t *asked = serve_body(request, FIXED_REQUEST, SIZE_REQUEST), *data;
    struct serve_open *open;
    uint32_t length, status;

    if (!asked)
        return SMB2_STATUS_INVALID_PARAMETER;
    length = get32(asked + 4);
    data = smb2_part(request->message, request->length, FIXED_REQUEST, get16(asked + 8), length);
    if (!data || !serve_paid(session, request, length))
        return SMB2_STATUS_INVALID_PARAMETER;
    open = serve_find_open(session, request, asked + 16);
    if (!open)
        return SMB2_STATUS_FILE_CLOSED;
    if (asked[2] != OF_FILE)
        return SMB2_STATUS_NOT_SUPPORTED;
    switch (asked[3]) {
    case BASIC: status = set_basic(open, data, length); break;
    case RENAME: status = set_name(session, open, data, length); break;
    case DISPOSITION: status = set_disposition(open, data, length); break;
    case END_OF_FILE: status = set_end(open, data, length); break;
    default: return SMB2_STATUS_NOT_SUPPORTED;
    }
    if (!status)
        serve_begin(answer, SIZE_ANSWER, FIXED_ANSWER);
    return status;
}
