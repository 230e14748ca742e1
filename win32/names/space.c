/* SPDX-License-Identifier: MIT */
/* space.c - the shared memory of objects with names, its lock, and the processes in it (space.h). */
#include "win32/names/space.h"

#include "util/file_size.h"
#include "util/fork.h"
#include "util/lock.h"
#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION 1

struct names_self names_self = { .slot = -1, .fd = -1, .voice = -1 };
#define self names_self

static struct lock lock = LOCK_INIT(LOCK_WIN_NAMES, "names");
FORK_ROW(.place = LOCK_WIN_NAMES, .lock = &lock);
static unsigned long name_space; /* the PID namespace, in which process numbers have a meaning */

static bool fail(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
    case ELOOP:
    case EISDIR:
    case ENXIO:
    case EAGAIN: SetLastError(ERROR_ACCESS_DENIED); break;
    case EMFILE:
    case ENFILE: SetLastError(ERROR_TOO_MANY_OPEN_FILES); break;
    default: SetLastError(ERROR_NO_SYSTEM_RESOURCES);
    }
    return false;
}

/* Each layout has a space of its own: one for each C library, as their mutexes differ, and for each version. */
#ifdef __GLIBC__
#define LIBRARY ""
#else
#define LIBRARY ".musl"
#endif
#define SPACE           "%lu" LIBRARY ".%d.%zx"
#define SPACE_ARGUMENTS name_space, VERSION, sizeof(struct names_space)

void names_wake_path(int slot, char path[108])
{
    char base[NAMES_PATH];

    names_directory(base);
    snprintf(path, 108, "%s/wake." SPACE ".%d", base, SPACE_ARGUMENTS, slot);
}

static int make_mutex(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attr;
    int error = pthread_mutexattr_init(&attr);

    if (error)
        return error;
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    error = pthread_mutex_init(mutex, &attr);
    pthread_mutexattr_destroy(&attr);
    return error;
}

/* Makes the memory of a new file; a process that was killed in here leaves it without a version. errno or 0. */
static int make(int fd, struct names_space **space)
{
    int error;

    if ((error = file_reserve(fd, 0, sizeof(**space))))
        return error;
    *space = mmap(NULL, sizeof(**space), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (*space == MAP_FAILED)
        return errno;
    if ((*space)->version)
        return (*space)->version == VERSION && (*space)->size == sizeof(**space) ? 0 : EPROTO;
    if ((error = make_mutex(&(*space)->lock)))
        return error;
    (*space)->size = sizeof(**space);
    __atomic_store_n(&(*space)->version, VERSION, __ATOMIC_SEQ_CST);
    return 0;
}

/* Maps the shared memory. The caller holds `lock`. The file stays open: a close would drop its locks. */
static int map_locked(void)
{
    struct names_space *space = MAP_FAILED;
    struct stat status;
    char path[NAMES_PATH], file[96];
    int fd, error;

    if (self.voice < 0)
        self.voice = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (self.voice < 0)
        return errno;
    if (self.space)
        return 0;
    if (stat("/proc/self/ns/pid", &status))
        return errno;
    name_space = (unsigned long)status.st_ino;
    if (!names_directory(path))
        return errno == EACCES ? EPERM : errno; /* names_directory has logged EACCES already */
    snprintf(file, sizeof(file), "%s/objects." SPACE, path, SPACE_ARGUMENTS);
    fd = names_file(AT_FDCWD, file, O_RDWR | O_CREAT);
    if (fd < 0)
        return errno;
    while ((error = flock(fd, LOCK_EX) ? errno : 0) == EINTR)
        ;
    if (!error)
        error = make(fd, &space);
    flock(fd, LOCK_UN);
    if (error) {
        if (space != MAP_FAILED)
            munmap(space, sizeof(*space));
        close(fd);
        return error;
    }
    self.fd = fd;
    self.space = space;
    atomic_store(&self.woken, false);
    return 0;
}

static const char *remedy(int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE: return "; raise the limit of open files (ulimit -n)";
    case EFBIG: return "; raise the limit of the size of files (ulimit -f)";
    case ENOSPC: return "; give /dev/shm more room (docker run --shm-size)";
    default: return "";
    }
}

bool names_map(void)
{
    int error;

    lock_acquire(&lock);
    error = map_locked();
    lock_release(&lock);
    if (!error)
        return true;
    if (error != EPERM)
        log_limited(LOG_ERROR, LOG_WIN,
            "the memory of objects with names, in /dev/shm/ndspi-%u, is not to be had: %s%s",
            (unsigned)geteuid(), strerror(error), remedy(error));
    return fail(error);
}

bool names_ready(void)
{
    bool mapped;

    lock_acquire(&lock);
    mapped = self.space != NULL;
    lock_release(&lock);
    return mapped;
}

void names_lock(void)
{
    lock_acquire(&lock);
    if (pthread_mutex_lock(&self.space->lock) == EOWNERDEAD) {
        names_repair();
        pthread_mutex_consistent(&self.space->lock);
    }
}

void names_unlock(void)
{
    pthread_mutex_unlock(&self.space->lock);
    lock_release(&lock);
}

bool names_woken(void)
{
    return atomic_exchange(&self.woken, false);
}

/* The octet of a slot in the file, as a lock. */
static int slot_lock(int slot, int command, short type)
{
    struct flock octet = { .l_type = type, .l_whence = SEEK_SET, .l_start = slot, .l_len = 1 };

    if (fcntl(self.fd, command, &octet))
        return -errno;
    return command == F_GETLK ? octet.l_type != F_UNLCK : 0;
}

bool names_alive(int slot)
{
    return slot == self.slot || slot_lock(slot, F_GETLK, F_WRLCK) != 0;
}

/* Takes a slot. 0; EBUSY: a process has it; another errno: the system refuses the lock that says so. */
static int take_slot(int slot)
{
    struct names_process *process = &self.space->processes[slot];
    int other = process->used ? slot_lock(slot, F_GETLK, F_WRLCK) : 0, error;

    if (other)
        return other < 0 ? -other : EBUSY;
    if (process->used)
        names_bury(slot);
    error = -slot_lock(slot, F_SETLK, F_WRLCK);
    if (error)
        return error == EACCES || error == EAGAIN ? EBUSY : error;
    process->id = (uint32_t)getpid();
    process->used = 1;
    self.slot = slot;
    return 0;
}

bool names_join(void)
{
    int error = EBUSY;

    if (self.slot >= 0)
        return true;
    for (int i = 0; i < NAMES_PROCESSES && error == EBUSY; i++)
        error = take_slot(i);
    if (!error)
        return true;
    if (error == EBUSY)
        log_limited(LOG_ERROR, LOG_WIN,
            "%d processes of the user have objects with names, which is the most: this one can "
            "have none; inheritable events, mutexes and semaphores, and shared memory with a name "
            "are such",
            NAMES_PROCESSES);
    else
        log_limited(LOG_ERROR, LOG_WIN,
            "this process can have no objects with names: a lock of their memory is not to be had: "
            "%s",
            strerror(error));
    SetLastError(ERROR_NO_SYSTEM_RESOURCES);
    return false;
}

void names_leave(void)
{
    char path[108];

    if (self.slot < 0)
        return;
    names_listen_stop();
    names_wake_path(self.slot, path);
    unlink(path);
    self.space->processes[self.slot].used = 0;
    slot_lock(self.slot, F_SETLK, F_UNLCK);
    self.slot = -1;
}

void names_forked(void)
{
    if (!self.space)
        return;
    names_listen_forked();
    self.slot = -1;
    if (!self.handles_all)
        return;
    names_lock();
    if (names_join()) /* else the parent's handles alone keep the objects */
        for (int i = 0; i < NAMES_OBJECTS; i++)
            if (self.handles[i])
                self.space->objects[i].holders[self.slot / 64] |= UINT64_C(1) << (self.slot % 64);
    names_unlock();
}
