/* SPDX-License-Identifier: MIT */
/* space.h - the memory that the processes of a user share for objects with names (names.h). */
#ifndef WIN32_NAMES_SPACE_H
#define WIN32_NAMES_SPACE_H

#include "win32/names/names.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    NAMES_PROCESSES = 1024,
    NAMES_OBJECTS = 4096,
    NAMES_WAITS = 512,
    NAMES_OCTETS = 264, /* the longest name, its end, and what tells Local from Global */
};

/* What a step changes of an object. */
struct names_state {
    int32_t count;    /* names_new.count, as it is now */
    uint32_t process; /* a mutex's owner: its slot + 1, and its thread; 0: none */
    uint32_t owner;
    uint32_t abandoned;
};

struct names_object {
    uint32_t kind; /* 0: free; set last */
    int32_t most;
    struct names_state state;
    uint64_t holders[NAMES_PROCESSES / 64]; /* processes with a handle */
    char name[NAMES_OCTETS];
};

struct names_wait {
    uint32_t process; /* slot + 1; 0: free; set last */
    uint32_t owner;
    int32_t result; /* -1: it goes on */
    uint32_t abandoned, all;
    uint32_t count; /* how many objects it is for; 0: it was withdrawn */
    uint64_t turn;  /* the oldest comes first */
    uint16_t objects[MAXIMUM_WAIT_OBJECTS], indexes[MAXIMUM_WAIT_OBJECTS];
};

struct names_process {
    uint32_t used, id;
};

/* One step, written down before it is done, so that another process can do it if this one is killed. */
struct names_journal {
    uint32_t armed, count;
    int32_t wait, result;
    uint32_t abandoned;
    struct {
        uint32_t object;
        struct names_state state;
    } entries[MAXIMUM_WAIT_OBJECTS];
};

struct names_space {
    uint32_t version; /* set last */
    uint32_t size;
    pthread_mutex_t lock;
    uint64_t turn;
    uint32_t top; /* an index into objects: from it on all are free */
    struct names_journal journal;
    struct names_process processes[NAMES_PROCESSES];
    struct names_wait waits[NAMES_WAITS];
    struct names_object objects[NAMES_OBJECTS];
};

/* This process's; the lock of names_lock guards it. */
struct names_self {
    struct names_space *space; /* NULL: not mapped yet */
    int slot;                  /* -1: none */
    int fd;
    int voice;         /* a socket that wakes others */
    atomic_bool woken; /* names_woken */
    uint32_t handles[NAMES_OBJECTS], handles_all;
};
extern struct names_self names_self;

/* Maps the space. False with the last error. Without names_lock. */
bool names_map(void);

/* The path of a process's socket. */
void names_wake_path(int slot, char path[108]);

/* Takes a slot for this process, unless it has one. False with the last error. */
bool names_join(void);
void names_leave(void);

/* Whether the process of a slot has not ended. */
bool names_alive(int slot);
/* Removes a process that has ended from everything. */
void names_bury(int slot);

/*
 * Another process of the user may write anything into the space, at any time. So what is an index, or bounds one, is
 * read once, by this, and then checked.
 */
#define names_read(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)

/* How many objects there are to look at. */
static inline int names_top(void)
{
    const uint32_t top = names_read(names_self.space->top);

    return top < NAMES_OBJECTS ? (int)top : NAMES_OBJECTS;
}

/* The slot that a wait or a mutex names; -1: none. */
static inline int names_slot_of(uint32_t process)
{
    return process && process <= NAMES_PROCESSES ? (int)process - 1 : -1;
}

/* The objects of a wait. */
static inline unsigned names_count_of(const struct names_wait *wait)
{
    const uint32_t count = names_read(wait->count);

    return count < MAXIMUM_WAIT_OBJECTS ? count : MAXIMUM_WAIT_OBJECTS;
}

/* Nobody has a handle of it any more. */
void names_free(int object);

/* Does the step in the journal. */
void names_step(void);
/* Satisfies what waits for an object, as far as that allows; for every object after a process was killed in a step. */
void names_serve(int object);
void names_repair(void);

/* Makes the socket and its source in the reactor, once. False with the last error. */
bool names_listen(void);
/* Watches the processes that have handles of an object. False with the last error. */
bool names_watch(int object);
/* Wakes the process of a slot. */
void names_wake(int slot);
void names_listen_stop(void);
void names_listen_forked(void);
/* Has the process look at its waits, without any lock. */
void names_look(void);

static inline bool names_holds(const struct names_object *object, int slot)
{
    return object->holders[slot / 64] >> (slot % 64) & 1;
}

#endif
