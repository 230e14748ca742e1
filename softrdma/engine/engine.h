/* SPDX-License-Identifier: MIT */
/*
 * engine.h - the one engine of the process, as its files share it. Each calls those before it: source.c (the engine,
 * one source), timer.c (deadlines), loop.c (the sets, and the foreground), progress.c (the thread).
 */
#ifndef SOFTRDMA_ENGINE_ENGINE_H
#define SOFTRDMA_ENGINE_ENGINE_H

#include "softrdma/engine/loop.h"
#include "util/standby.h"

enum { SRD_NO_SLOT = UINT32_MAX };

struct srd_slot {
    struct srd_source *source; /* one reference */
    uint32_t generation;
    uint32_t next_free;
};

struct srd_engine {
    struct lock lock; /* LOCK_SRD_LOOP */
    atomic_bool open; /* the sets exist */
    bool threaded;    /* the progress thread exists */
    int all_fd, prog_fd;
    struct standby standby;
    atomic_uint left;   /* standby's activity when a thread left last (srd_loop_leave) */
    atomic_bool handed; /* some of those aside were left: they are served at the next turn */
    struct srd_slot *slots;
    uint32_t n_slots, free_slot;
    struct list_head aside; /* the progress thread's */
};

extern struct srd_engine srd_engine;

/* The source an event is for, referenced; NULL when it was removed meanwhile. */
struct srd_source *srd_engine_find(uint64_t token);
/* Arms it in the background set again, with its present interest; takes it off the aside list. */
void srd_engine_rearm(struct srd_source *source);

/* Puts a source on the aside list, if it is registered. Progress thread, engine lock held. */
void srd_engine_aside_locked(struct srd_source *source);

/*
 * Makes the sets, if there are none. No thread: that comes with the first source. 0 or a negative errno. Engine lock
 * held.
 */
int srd_engine_open_locked(void);
/* A new source goes into both sets. 0 or a negative errno. Engine lock held. */
int srd_engine_add_locked(struct srd_source *source);

/* timer.c: room for the deadline of one more source of the engine, so that setting it cannot fail; 0 or -ENOMEM. */
int srd_timer_reserve(void);
void srd_timer_release(void);
/*
 * The progress thread is about to sleep until so many ns (clock_now_ns; UINT64_MAX: for ever), or the earliest
 * deadline: returns which. An earlier deadline wakes it.
 */
uint64_t srd_timer_sleep_until(uint64_t at_most_ns);
/* Calls expired on what is due. Progress thread. */
void srd_timer_run(void);

#endif
