/* SPDX-License-Identifier: MIT */
/*
 * engine.h - the one engine of the process, as its files share it. Each calls those before it: source.c (the engine,
 * one source), timer.c (deadlines), loop.c (the sets, and the foreground), progress.c (the thread).
 */
#ifndef SOFTRDMA_ENGINE_H
#define SOFTRDMA_ENGINE_H

#include "softrdma/loop.h"
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
    struct list_head aside;
    bool tickless;             /* the progress thread saw none aside, and sleeps without a tick */
    struct lock deferred_lock; /* LOCK_SRD_CHANNEL */
    struct list_head deferred; /* a reference each */
    atomic_bool any_deferred;
};

extern struct srd_engine srd_engine;

/* The source an event is for, referenced; NULL when it was removed meanwhile. */
struct srd_source *srd_engine_find(uint64_t token);
/* Arms it in the background set again, with its present interest; takes it off the aside list. */
void srd_engine_rearm(struct srd_source *source);

/*
 * A thread polled something by itself: a progress thread that sleeps without a tick, because others sleep in the
 * foreground set, has to look after it again.
 */
static inline void srd_engine_polled(struct srd_source *source)
{
    atomic_fetch_add(&source->activity, 1); /* pairs with may_park_locked and serve, all seq_cst */
    if (atomic_load(&srd_engine.standby.parked) && atomic_exchange(&srd_engine.standby.parked, 0))
        standby_kick(&srd_engine.standby);
}

/*
 * Puts a source on the aside list, if it is registered; true: the progress thread has to be kicked. Engine lock held.
 */
bool srd_engine_aside_locked(struct srd_source *source);

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
/* The earliest deadline, UINT64_MAX = none; the progress thread will not sleep longer. */
uint64_t srd_timer_next(void);
/* Calls expired on what is due. Progress thread. */
void srd_timer_run(void);

#endif
