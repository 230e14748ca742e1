/* SPDX-License-Identifier: MIT */
/*
 * source.h - the sources that providers registered (provider.h; progress.c), as the leader (lead.c) and the service
 * thread (service.c) use them.
 *
 * A source is run by one thread at a time: who finds it running leaves a mark and the runner runs it again.
 */
#ifndef WINOBJ_SOURCE_H
#define WINOBJ_SOURCE_H

#include "util/list.h"
#include "util/lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct win_source;

struct win_source_state {
    struct win_source *source;
    /* in epoll data; unlike an address never used again: events may come late */
    uint64_t id;
    unsigned forks;         /* when it was added: another number means that it is a parent's */
    struct list_node link;  /* all sources; win_progress_lock */
    struct list_node led;   /* the leader's own list of what it prepared */
    struct list_node aside; /* the service thread's own list of what is disarmed */
    uint64_t armed_ns;      /* service thread: when it was armed last */
    /* service thread: how many more at a foreground at work before it is armed again */
    unsigned looks;
    unsigned patience; /* service thread: what looks starts from */
    unsigned ready;    /* leader: what was reported of it, as for run */
    atomic_bool dead;  /* removed: who has it pinned lets go */
    atomic_uint pins;  /* leader, service thread, poller; one for the list */
    atomic_uint running;
    _Atomic uint32_t gone; /* futex word: set when the last pin went */
};

/*
 * LOCK_WIN_WAITER. Guards the list of sources, who leads and who follows, and what is set up with the first source. No
 * callback of a source but watch, and no call that can block, is made with it held. Functions named _locked want it
 * held.
 */
extern struct lock win_progress_lock;

/* Whether there is a source to lead. */
bool win_sources_any_locked(void);
/* The same without the lock, for threads that need not be right. */
bool win_sources_any(void);

/* Puts a source, watched already, on the list, or takes it from there: its events are looked up no more. */
void win_sources_insert_locked(struct win_source_state *state);
void win_sources_delete_locked(struct win_source_state *state);
/* Child of a fork: there are none. */
void win_sources_forked(void);

/* Pins every source onto a list by its member led. Leader only. */
void win_sources_collect_locked(struct list_head *led);
/* Pins the source an event names; NULL when it has been removed since. Takes the lock. */
struct win_source_state *win_source_find(uint64_t id);
/* A source on the list with this lead_fd, or NULL: those of one device share it, and it is slept on once. */
struct win_source_state *win_source_with_lead_fd_locked(int lead_fd);
/* Drops a pin: after the last one win_source_remove goes on. */
void win_source_unpin(struct win_source_state *state);
/* Drops the list's pin and waits until the others are. No lock held. */
void win_source_await_unpinned(struct win_source_state *state);

/*
 * Runs a pinned source, or has the thread that is in it run it again: for a leader if a leader asks, so that the device
 * is moved, too. ready: as for run in provider.h. No lock held.
 */
void win_source_run(struct win_source_state *state, bool leading, unsigned ready);

/* In epoll data, in place of a source's: the descriptor by which the sleeper is told something. */
enum { WIN_EPOLL_KICK = 0 };
/* Puts a descriptor into a set. Returns 0 or a negative errno. */
int win_epoll_add(int epfd, int fd, uint32_t events, uint64_t id);

#endif
