/* SPDX-License-Identifier: MIT */
/*
 * names.h - events, mutexes and semaphores with names, which the processes of one user share; and the names of shared
 * memory, which win32/memory has: one name is one object, of whatever kind.
 *
 * Their state, and the waits for them, are in memory that all processes of the user (in one PID namespace) map, under
 * one robust mutex of pthreads: if its holder is killed, the kernel hands the mutex to the next process, which finishes
 * from the journal what the holder had begun. So, as between the threads of one process (dispatch.h), the signalling
 * thread satisfies the waits of all processes. A wait for all is the exception: the signal wakes its process, which
 * tries the wait itself, so it may miss a signal that another call takes back at once.
 *
 * A process has a slot as long as it has such a handle, and a POSIX lock of one octet of the file, which the kernel
 * drops when it ends. A process that waits has a socket, by which others wake it, and watches the processes that
 * have handles of what it waits for by pidfds.
 *
 * Files, in the user's directory (/dev/shm/ndspi-USER, mode 0700; if another user has taken that name,
 * /run/user/USER/ndspi): "objects.NAMESPACE.LAYOUT", which stays, and
 * "wake.NAMESPACE.LAYOUT.SLOT"; LAYOUT is a version and a size, and with another C library than glibc NAMESPACE has
 * that library behind it.
 */
#ifndef WIN32_NAMES_NAMES_H
#define WIN32_NAMES_NAMES_H

#include <windows.h>

#include <stdbool.h>
#include <stdint.h>

enum { NAMES_PATH = 64 };

/*
 * The directory of the user, made at need; no other user can look into it, so none makes a name in it. False with
 * errno; EACCES: another user has taken its name, as the log says.
 */
bool names_directory(char path[NAMES_PATH]);
/* Opens the directory of names_directory with O_PATH. -1 with errno. */
int names_folder(void);

/*
 * names_file - opens a file in a folder of this user's, whatever has its name; never waits.
 * folder  in: a descriptor, or AT_FDCWD for a path
 * flags   in: O_RDWR or O_RDONLY, O_CREAT, O_EXCL; a file that may be made can be opened again, whatever the umask
 * Returns -1 with errno; EACCES, ELOOP, EISDIR, ENXIO, EAGAIN: it is no regular file, another user's, or leased.
 */
int names_file(int folder, const char *name, int flags);

/* A section has no state here, and nothing waits for it. */
enum names_kind {
    NAMES_EVENT_AUTO = 1,
    NAMES_EVENT_MANUAL,
    NAMES_SEMAPHORE,
    NAMES_MUTEX,
    NAMES_SECTION
};

/* The object to make if the name does not exist. */
struct names_new {
    enum names_kind kind;
    int32_t count;  /* event: 1: signalled; semaphore: units; mutex: 1: acquired by owner */
    int32_t most;   /* semaphore: the most units */
    uint32_t owner; /* the calling thread, by a number of its own in the process */
    bool exact;     /* the name is one of names_key or names_hidden, not a program's */
};

/*
 * names_open - opens the object of a name, or makes it.
 * name     in: with Local\ or Global\ or neither
 * make     in: what to make; its kind tells which kind must be there (both kinds of event are one)
 * create   in: whether to make it
 * existed  out
 * Returns  its number, for names_close; -1 with the last error: ERROR_FILE_NOT_FOUND, ERROR_INVALID_HANDLE (another
 *          kind), ERROR_INVALID_NAME, ERROR_PATH_NOT_FOUND, ERROR_FILENAME_EXCED_RANGE, ERROR_ACCESS_DENIED (the
 *          directory is another user's), ERROR_TOO_MANY_OPEN_FILES, ERROR_NO_SYSTEM_RESOURCES (1024 processes, 4096
 *          objects). Without names_lock.
 */
int names_open(const char *name, const struct names_new *make, bool create, bool *existed);
void names_close(int object); /* takes names_lock */

/*
 * The object's name in the table, as much of it as fits into the octets, with an end; like: out: a new object of the
 * same state. Without names_lock.
 */
void names_key(int object, struct names_new *like, char *name, size_t octets);

/* Makes a name that no program can give, for an unnamed object that other processes shall open. */
void names_hidden(char name[64]);
enum names_kind names_kind_of(int object);

/* Whether names_open has ever had the shared memory; names_lock is only for then. */
bool names_ready(void);

/* The lock over everything shared; under the dispatcher's. Its holder calls the rest of this file. */
void names_lock(void);
void names_unlock(void);

/* Whether waits of this process may have ended since the last call: the holder then checks them. */
bool names_woken(void);

/* Abandons the object, if it is a mutex whose owner was killed. */
void names_check(int object);

/* Whether a wait of that thread would be satisfied. */
bool names_is_there(int object, uint32_t owner);

/*
 * What a satisfied wait takes: names_take for each object, then names_taken once; nothing is taken before. names_take
 * returns whether the object was an abandoned mutex. wait: -1 or the wait that this ends, with its result.
 */
bool names_take(int object, uint32_t owner);
void names_taken(int wait, int result);

/* What a program's call does to an object, and to the waits that it satisfies. */
int32_t names_signal(
    int object, int32_t units, int32_t *before); /* 0 or -EOVERFLOW, of a semaphore */
void names_reset(int object);
int names_release(int object, uint32_t owner); /* 0 or -EPERM: the thread does not own it */
void names_abandon(uint32_t owner);            /* the thread ends */

struct names_wanted {
    int object;
    uint32_t index; /* the wait's result, if it takes this object */
};

/*
 * names_wait_begin - makes the wait visible to other processes. Returns its number, or -1 with the last error:
 * ERROR_NO_SYSTEM_RESOURCES (512 waits, descriptors).
 */
int names_wait_begin(const struct names_wanted *wanted, unsigned count, bool all, uint32_t owner);
void names_wait_end(int wait);
/* The result, below most, with which another thread or process ended the wait; -1: it has not ended. */
int names_wait_result(int wait, unsigned most, bool *abandoned);

/* Nothing ends the wait any more, until names_wait_end; false if a thread or process has ended it. */
bool names_wait_withdraw(int wait, unsigned most);

/* Watches the processes that have opened the wait's objects since it began. */
void names_wait_look(int wait);

/* woken is called, without any lock, when a wait of this process may have ended. */
void names_set_woken(void (*woken)(void));

/* The child of a fork is one more process with these handles. */
void names_forked(void);

#endif
