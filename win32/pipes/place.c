/* SPDX-License-Identifier: MIT */
/* place.c - the folder of a named pipe, and the numbers of its instances (place.h). */
#include "win32/pipes/place.h"

#include "win32/names/names.h"

#include "util/file_size.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION 2

/* This process has removed what killed processes left; it does so once, since that checks every pipe of the user. */
static atomic_bool cleaned;

DWORD pipe_error(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR: return ERROR_FILE_NOT_FOUND;
    case EACCES:
    case EPERM:
    case ELOOP: return ERROR_ACCESS_DENIED;
    case EMFILE:
    case ENFILE: return ERROR_TOO_MANY_OPEN_FILES;
    case ENAMETOOLONG: return ERROR_FILENAME_EXCED_RANGE;
    case ENOMEM: return ERROR_NOT_ENOUGH_MEMORY;
    default: return ERROR_NO_SYSTEM_RESOURCES;
    }
}

/* The path of the pipe's folder; names that are paths of Linux become ordinary ones. A Win32 error. */
static DWORD path_of(const char *name, char **path)
{
    char base[NAMES_PATH];
    int length;

    if (!*name)
        return ERROR_INVALID_NAME;
    if (strlen(name) >= NAME_MAX)
        return ERROR_FILENAME_EXCED_RANGE;
    if (!names_directory(base))
        return pipe_error(errno);
    if ((length = asprintf(path, "%s/pipes/=%s", base, name)) < 0)
        return ERROR_NOT_ENOUGH_MEMORY;
    for (char *c = *path + length - strlen(name); *c; c++)
        *c = *c == '/' ? '\1' : *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    return ERROR_SUCCESS;
}

static void clear(struct pipe_place *place)
{
    *place = (struct pipe_place){ .folder = -1, .fd = -1, .slot = -1 };
}

/* Whether a process holds one of the numbers: 1 or 0, or a negative errno. */
static int held(int fd, int first, int count)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first, .l_len = count
    };

    if (fcntl(fd, F_OFD_GETLK, &lock))
        return -errno;
    return lock.l_type != F_UNLCK;
}

void pipe_place_file(int slot, uint32_t turn, char file[PIPE_FILE])
{
    snprintf(file, PIPE_FILE, "%d.%u", slot, turn);
}

bool pipe_place_any_held(int about)
{
    return held(about, 0, PIPE_INSTANCES) != 0; /* an error counts as held: nothing is removed */
}

/* flock that a signal does not end. Returns 0 or an errno. */
static int flock_wait(int fd, int operation)
{
    int error;

    while ((error = flock(fd, operation) ? errno : 0) == EINTR)
        ;
    return error;
}

/* Whatever the umask; one that is there may be of a process that was killed before the second call. */
static bool make_folder(const char *path)
{
    if (mkdir(path, 0700) && errno != EEXIST)
        return false;
    return !access(path, R_OK | W_OK | X_OK) || !chmod(path, 0700) || errno == ENOENT;
}

/* Opens the files of the folder, which may be new. 0 or an errno; EAGAIN: its last instance has just removed it. */
static int open_files(struct pipe_place *place, bool make)
{
    if (make) {
        char *slash = strrchr(place->path, '/');

        *slash = 0;
        if (!make_folder(place->path))
            return errno;
        if (!atomic_exchange(&cleaned, true))
            pipe_stale_remove(place->path);
        *slash = '/';
        if (!make_folder(place->path))
            return errno;
    }
    place->folder = open(place->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place->folder < 0)
        return make && errno == ENOENT ? EAGAIN : errno;
    place->fd = names_file(place->folder, "about", O_RDWR | (make ? O_CREAT : 0));
    if (place->fd < 0)
        return make && errno == ENOENT ? EAGAIN : errno;
    return 0;
}

static int map_about(struct pipe_place *place)
{
    struct stat status;
    void *memory;

    if (fstat(place->fd, &status))
        return errno;
    if (status.st_size < (off_t)sizeof(struct pipe_about)) /* SIGBUS would end the program */
        return EPROTO;
    memory =
        mmap(NULL, sizeof(struct pipe_about), PROT_READ | PROT_WRITE, MAP_SHARED, place->fd, 0);
    if (memory == MAP_FAILED)
        return errno;
    place->about = memory;
    return 0;
}

/* Removes the folder, whose lock the caller has. */
static void remove_files(const struct pipe_place *place)
{
    for (int i = 0; i < PIPE_INSTANCES; i++) {
        char file[PIPE_FILE];

        pipe_place_file(i, atomic_load(&place->about->slots[i].listens), file);
        unlinkat(place->folder, file, 0);
    }
    unlinkat(place->folder, "about", 0);
    rmdir(place->path);
}

void pipe_place_forget(struct pipe_place *place)
{
    const struct pipe_place old = *place;

    clear(place); /* first: the child of a fork meanwhile forgets it, too */
    if (old.about)
        munmap(old.about, sizeof(*old.about));
    if (old.fd >= 0)
        close(old.fd);
    if (old.folder >= 0)
        close(old.folder);
    free(old.path);
}

void pipe_place_close(struct pipe_place *place)
{
    const bool server = place->about && place->slot >= 0 && !place->client;
    struct flock none = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

    if (server) {
        const bool alone = !flock_wait(place->fd, LOCK_EX);

        fcntl(place->fd, F_OFD_SETLK, &none);
        if (alone && !held(place->fd, 0, PIPE_INSTANCES))
            remove_files(place);
        flock_wait(place->fd, LOCK_UN); /* the child of a fork may have the descriptor, too */
    }
    pipe_place_forget(place);
}

/* Stores what the first instance decides; the memory is zero, or left by earlier instances. 0 or an errno. */
static int begin(struct pipe_place *place, const struct pipe_about *wanted)
{
    int error;

    if ((error = file_reserve(place->fd, 0, sizeof(*place->about))) || (error = map_about(place)))
        return error;
    place->about->access = wanted->access;
    place->about->message = wanted->message;
    place->about->most = wanted->most;
    place->about->out_bytes = wanted->out_bytes;
    place->about->in_bytes = wanted->in_bytes;
    place->about->wait_ms = wanted->wait_ms;
    place->about->version = VERSION;
    return 0;
}

/* Takes the lowest number that is free. A Win32 error. */
static DWORD take_slot(struct pipe_place *place)
{
    const uint32_t wanted = __atomic_load_n(&place->about->most, __ATOMIC_RELAXED);
    const int most = wanted < PIPE_INSTANCES ? (int)wanted : PIPE_INSTANCES;

    for (int i = 0; i < most; i++) {
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = i, .l_len = 1 };

        if (!fcntl(place->fd, F_OFD_SETLK, &lock)) {
            place->slot = i;
            return ERROR_SUCCESS;
        }
        if (errno != EAGAIN && errno != EACCES) /* another process has that one */
            return pipe_error(errno);
    }
    return ERROR_PIPE_BUSY;
}

/* Takes a slot, and begins the pipe if there is no instance. The caller holds the flock of "about". A Win32 error. */
static DWORD make_locked(struct pipe_place *place, const struct pipe_about *wanted, bool first)
{
    const int there = held(place->fd, 0, PIPE_INSTANCES);
    int error;

    if (there < 0)
        return pipe_error(-there);
    if (!there) {
        error = begin(place, wanted);
        return error ? pipe_error(error) : take_slot(place);
    }
    if (first)
        return ERROR_ACCESS_DENIED;
    if ((error = map_about(place)))
        return pipe_error(error);
    if (place->about->version != VERSION || place->about->access != wanted->access ||
        place->about->message != wanted->message)
        return ERROR_ACCESS_DENIED;
    return take_slot(place);
}

DWORD pipe_place_make(
    const char *name, const struct pipe_about *wanted, bool first, struct pipe_place *place)
{
    struct stat status;
    DWORD error;
    int result;

    clear(place);
    if ((error = path_of(name, &place->path)))
        return error;
    for (;;) {
        if (!(result = open_files(place, true)) && !(result = flock_wait(place->fd, LOCK_EX))) {
            if (fstat(place->fd, &status))
                result = errno;
            else if (status.st_nlink)
                break;
        }
        if (result && result != EAGAIN) {
            pipe_place_forget(place);
            return pipe_error(result);
        }
        if (place->fd >= 0)
            close(place->fd);
        if (place->folder >= 0)
            close(place->folder);
        place->fd = place->folder = -1;
    }
    error = make_locked(place, wanted, first);
    flock_wait(place->fd, LOCK_UN);
    if (error)
        pipe_place_forget(place);
    return error;
}

DWORD pipe_place_find(const char *name, struct pipe_place *place)
{
    DWORD error;
    int result;

    clear(place);
    place->client = true;
    if ((error = path_of(name, &place->path)))
        return error;
    if (!(result = open_files(place, false)) && (result = -held(place->fd, 0, PIPE_INSTANCES)) <= 0)
        result = result ? map_about(place) : ENOENT;
    if (!result && place->about->version != VERSION)
        result = EACCES;
    if (!result)
        return ERROR_SUCCESS;
    pipe_place_forget(place);
    return pipe_error(result);
}

bool pipe_place_held(const struct pipe_place *place, int slot)
{
    return held(place->fd, slot, 1) != 0;
}

unsigned pipe_place_instances(const struct pipe_place *place)
{
    unsigned count = 0;

    for (int i = 0; i < PIPE_INSTANCES; i++)
        count += held(place->fd, i, 1) != 0;
    return count + !place->client; /* a process does not see its own lock */
}

void pipe_place_disconnect(struct pipe_place *place)
{
    atomic_store(&place->about->slots[place->slot].disconnected, place->turn);
}

bool pipe_place_disconnected(const struct pipe_place *place)
{
    const uint32_t last = atomic_load(&place->about->slots[place->slot].disconnected);

    return last && (int32_t)(last - place->turn) >= 0;
}
