/* SPDX-License-Identifier: MIT */
/*
 * place.h - where a named pipe is: a folder of the user, with what its instances agree on, and a socket for each
 * instance that listens.
 *
 * Files, in /dev/shm/ndspi-USER/pipes/NAME (mode 0700): "about" (struct pipe_about, which all map), and SLOT.TURN, a
 * socket. An instance holds a lock of the one octet of "about" that has its number, the slot, which the kernel drops
 * when its process ends; every change holds the flock of "about". The last instance removes all files; the next process
 * that makes a pipe removes what a killed process left (stale.c).
 *
 * A socket takes one client: its backlog has room for one connection, and it takes no more once the server accepts.
 */
#ifndef WIN32_PIPES_PLACE_H
#define WIN32_PIPES_PLACE_H

#include <windows.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { PIPE_INSTANCES = 255, PIPE_FILE = 32 };

/* An instance, by the number of each time that it began to listen; 0: never. */
struct pipe_slot {
    _Atomic uint32_t listens, taken, disconnected;
    _Atomic uint32_t order; /* the last time, among those of all instances */
};

struct pipe_about {
    uint32_t version; /* set last */
    uint32_t access;  /* PIPE_ACCESS_* */
    uint32_t message; /* PIPE_TYPE_MESSAGE */
    uint32_t most;    /* instances; PIPE_INSTANCES and more: as many as there can be */
    uint32_t out_bytes, in_bytes, wait_ms;
    _Atomic uint32_t last; /* order */
    struct pipe_slot slots[PIPE_INSTANCES];
};

/* One end's view; all -1 and NULL: none. */
struct pipe_place {
    struct pipe_about *about;
    int folder, fd;
    int slot;
    uint32_t turn; /* the slot's turn in which this connection was made, or will be */
    bool client;
    char *path; /* the folder's */
};

/*
 * pipe_place_make - takes the number of a new instance.
 * name    in: behind \\.\pipe\; capital letters of ASCII are as small ones
 * wanted  in: what the first instance decides and others must match: access, message, most
 * first   in: there may be no other instance
 * Returns a Win32 error: ERROR_INVALID_NAME, ERROR_FILENAME_EXCED_RANGE, ERROR_ACCESS_DENIED (another instance is there
 * or differs), ERROR_PIPE_BUSY (all are there), ERROR_TOO_MANY_OPEN_FILES, ERROR_NO_SYSTEM_RESOURCES.
 */
DWORD pipe_place_make(
    const char *name, const struct pipe_about *wanted, bool first, struct pipe_place *place);

/* The Win32 error of an errno. */
DWORD pipe_error(int error);

/* The place of a pipe that exists, for a client. ERROR_FILE_NOT_FOUND, and as above. */
DWORD pipe_place_find(const char *name, struct pipe_place *place);

/* Closes the place of either end; frees an instance's number. */
void pipe_place_close(struct pipe_place *place);
/* Closes this process's view alone: an instance keeps its number and files, which the parent of a fork has. */
void pipe_place_forget(struct pipe_place *place);

/* The name of a socket in the folder. */
void pipe_place_file(int slot, uint32_t turn, char file[PIPE_FILE]);

/* The socket of an instance, which listens, in the next turn; a negative errno. */
int pipe_place_listen(struct pipe_place *place);
/* The connection that the instance has; -1 with errno. */
int pipe_place_accept(const struct pipe_place *place, int listener);
/* The instance takes no further connection. listener -1: its socket is closed already. */
void pipe_place_stop(struct pipe_place *place, int listener);

/*
 * A connection to the instance that has listened for the longest time, blocking. Its number and turn are the place's
 * then. A Win32 error.
 */
DWORD pipe_place_connect(struct pipe_place *place, int *fd);

/* Waits until an instance listens. ERROR_SEM_TIMEOUT, ERROR_FILE_NOT_FOUND (none is there), ... */
DWORD pipe_place_wait(struct pipe_place *place, DWORD timeout_ms);

/* Whether another end's process holds an instance's number. */
bool pipe_place_held(const struct pipe_place *place, int slot);

/* Whether any instance holds a number, by the descriptor of "about". */
bool pipe_place_any_held(int about);
/* Removes the folders in pipes, a path, that no instance uses. */
void pipe_stale_remove(const char *pipes);

/* How many instances there are. */
unsigned pipe_place_instances(const struct pipe_place *place);

/* The server disconnects its client; whether it has disconnected this one. */
void pipe_place_disconnect(struct pipe_place *place);
bool pipe_place_disconnected(const struct pipe_place *place);

#endif
