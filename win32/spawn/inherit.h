/* SPDX-License-Identifier: MIT */
/*
 * inherit.h - the handles that a new process gets from the one that starts it. They have the same numbers there, since
 * programs pass them on the command line.
 *
 * The starting process writes a table of them into a memory file, which the new one inherits with the descriptors that
 * belong to the handles. An environment variable, WINOBJ_INHERITED, has the number of that file; the library removes it
 * when it is loaded, and makes the handles (receive.c) before the program has any of its own. A program without the
 * library passes all of this on to the programs that it starts.
 *
 * The starting process keeps objects that live by their name until the new one has opened them: both have an end of a
 * pipe, and the new process closes its end then, or by ending.
 */
#ifndef WIN32_SPAWN_INHERIT_H
#define WIN32_SPAWN_INHERIT_H

#include "winobj/handles/handle.h"

#define WIN_INHERITED "WINOBJ_INHERITED"
#define WIN_STARTED                                                                                \
    "WINOBJ_STARTED" /* CreateProcess started it: DuplicateHandle may reach it (startup.h) */

enum { WIN_INHERIT_MAGIC = 0x68697731, WIN_INHERIT_MOST = 4096 };

/* The memory file: this, and then the handles. */
struct win_inherit_head {
    uint32_t magic, count;
    int32_t hold;    /* the new process's end of the pipe; -1: none */
    uint32_t octets; /* the size of a handle's entry */
};

struct win_inherit_handle {
    uint64_t value;
    int32_t same_as; /* the entry of another handle of the object, which has the parcel; -1: none */
    struct win_parcel parcel;
};

struct win_inheritance {
    struct win_inherit_handle *handles;
    struct win_object **objects; /* the handles' objects, referenced; NULL: the keeper has it */
    uint32_t count;
    int file; /* the memory file */
    /* has the objects that live by their names, until the process has started; NULL: there are none */
    struct win_keeper *keeper;
    char **variables, *started;
    char variable[sizeof(WIN_INHERITED) + 16];
};

/* An inheritance of nothing, which win_inherit_free accepts. */
#define WIN_INHERITANCE_NONE ((struct win_inheritance){ .file = -1 })

/*
 * win_inherit_collect - lists the handles to inherit.
 * list   in: these alone, which all have to have HANDLE_FLAG_INHERIT; NULL: all that have it
 * count  in: of list
 * Returns ERROR_SUCCESS, ERROR_INVALID_PARAMETER (one of the list has not the flag), ERROR_NOT_SUPPORTED (another
 * process cannot have one of them now), ERROR_TOO_MANY_OPEN_FILES, ERROR_NOT_ENOUGH_MEMORY, ERROR_NO_SYSTEM_RESOURCES.
 */
DWORD win_inherit_collect(struct win_inheritance *inheritance, const HANDLE *list, size_t count);

/*
 * Calls move for each descriptor of this process that the new one has, with its number there, which may be the same. An
 * errno: the first that move returns.
 */
int win_inherit_descriptors(const struct win_inheritance *inheritance,
    int (*move)(void *argument, int from, int to), void *argument);

/*
 * The environment with the variables; NULL: no memory. It lives as long as the inheritance. started: the value of
 * WIN_STARTED.
 */
char **win_inherit_environment(
    struct win_inheritance *inheritance, char **variables, const char *started);

/* The process has been started: what is kept for it is given up when it has opened it, or ended. */
void win_inherit_started(struct win_inheritance *inheritance);

void win_inherit_free(struct win_inheritance *inheritance);

#endif
