/* SPDX-License-Identifier: MIT */
/*
 * serve_path.c - names of clients, and what is beneath the served directory. A path is walked part by part, none of
 * which is "..", and none a link: so it leads nowhere else.
 */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

uint32_t serve_status(int error)
{
    switch (error) {
    case 0: return 0;
    case ENOENT: return SMB2_STATUS_OBJECT_NAME_NOT_FOUND;
    case EEXIST: return SMB2_STATUS_OBJECT_NAME_COLLISION;
    case EACCES:
    case EPERM:
    case ELOOP: /* a link */
    case ENXIO: /* a socket, or a device that is not there */
    case ETXTBSY:
    case EBUSY: return SMB2_STATUS_ACCESS_DENIED;
    case ENOTDIR: return SMB2_STATUS_NOT_A_DIRECTORY;
    case EISDIR: return SMB2_STATUS_FILE_IS_A_DIRECTORY;
    case ENOTEMPTY: return SMB2_STATUS_DIRECTORY_NOT_EMPTY;
    case EFBIG:
    case ENOSPC: return SMB2_STATUS_DISK_FULL;
    case EDQUOT: return SMB2_STATUS_QUOTA_EXCEEDED;
    case EROFS: return SMB2_STATUS_MEDIA_WRITE_PROTECTED;
    case EXDEV: return SMB2_STATUS_NOT_SAME_DEVICE;
    case ENAMETOOLONG: return SMB2_STATUS_OBJECT_NAME_INVALID;
    case EMFILE:
    case ENFILE: return SMB2_STATUS_TOO_MANY_OPENED_FILES;
    case ENOMEM: return SMB2_STATUS_NO_MEMORY;
    case EINVAL: return SMB2_STATUS_INVALID_PARAMETER;
    default: return SMB2_STATUS_IO_DEVICE_ERROR;
    }
}

/* What Windows allows in names ([MS-FSCC] 2.1.5.2); a colon would name a stream. */
bool serve_name_allowed(const char *name)
{
    size_t length = strlen(name);

    if (!length || length > SERVE_NAME_MOST || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < 0x20 || strchr("/\\:*?\"<>|", name[i]))
            return false;
    return true;
}

uint32_t serve_path(const uint8_t *name, uint32_t length, char *path)
{
    char *part = path, *end;

    if (length > SERVE_PATH_IN || smb2_utf8(name, length, path, SERVE_PATH_MOST) < 0)
        return SMB2_STATUS_OBJECT_NAME_INVALID;
    if (!length)
        return 0;
    for (; part; part = end) {
        bool allowed;

        end = strchr(part, '\\');
        if (end)
            *end = '\0';
        allowed = serve_name_allowed(part);
        if (end)
            *end++ = '/';
        if (!allowed)
            return SMB2_STATUS_OBJECT_NAME_INVALID;
    }
    return 0;
}

/* The folder of that name, of so many bytes. Closes the one it is in. */
static int step(int folder, const char *part, size_t length)
{
    char name[SERVE_NAME_MOST + 1];
    int next, error;

    memcpy(name, part, length);
    name[length] = '\0';
    next = openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    error = errno;
    close(folder);
    return next < 0 ? -error : next;
}

int serve_folder(int directory, const char *path, const char **name)
{
    int folder = openat(directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *end;

    if (folder < 0)
        return -errno;
    for (; (end = strchr(path, '/')); path = end + 1) {
        folder = step(folder, path, (size_t)(end - path));
        if (folder < 0)
            return folder;
    }
    *name = *path ? path : ".";
    return folder;
}

bool serve_is_at(int folder, const char *name, int fd)
{
    struct stat there, here;

    return !fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) && !fstat(fd, &here) &&
           there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}
