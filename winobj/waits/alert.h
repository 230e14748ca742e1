/* SPDX-License-Identifier: MIT */
/*
 * alert.h - functions that other threads queue to a thread (APCs), and the waits of that thread that they end.
 *
 * An alertable wait ends in one of two ways: its object satisfies it, or an APC comes. Either claims the wait's alert
 * first, and only one claim succeeds. So a wait that an APC ended took nothing from an object, even if the object is
 * signalled before the thread runs; and an APC that comes later stays queued for the next wait. A wait for objects with
 * names is claimed under names_lock, where other processes satisfy it.
 */
#ifndef WINOBJ_ALERT_H
#define WINOBJ_ALERT_H

#include "winobj/exported.h"
#include "util/list.h"
#include "util/lock.h"

#include <windows.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct reactor_waiter;
struct win_alert;
struct win_wait;

/* LPWSAOVERLAPPED_COMPLETION_ROUTINE, which winsock2.h declares. */
typedef void(CALLBACK *win_transfer_routine)(
    DWORD error, DWORD bytes, OVERLAPPED *overlapped, DWORD flags);

/*
 * What is queued: function(data), completion(error, bytes, overlapped), transfer(error, bytes, overlapped, flags), or
 * routine(context, time) of a timer.
 */
struct win_apc {
    struct list_node link; /* win_apcs.queue, or linked to itself */
    PAPCFUNC function;     /* this, completion, transfer or routine is there */
    ULONG_PTR data;
    LPOVERLAPPED_COMPLETION_ROUTINE completion;
    win_transfer_routine transfer;
    DWORD error, bytes, flags;
    OVERLAPPED *overlapped;
    PTIMERAPCROUTINE routine;
    LPVOID context;
    uint64_t time; /* a FILETIME, as a number */
};

/* What is queued to a thread; the lock guards the other members. */
struct win_apcs {
    struct lock lock; /* LOCK_WIN_OBJECT */
    struct list_head queue;
    struct win_alert *alert; /* the thread's alertable wait; NULL while there is none */
    bool closed;             /* the thread has ended */
};

/* An alertable wait: on the stack of its thread. */
struct win_alert {
    struct reactor_waiter *waiter;
    struct win_wait *named; /* the wait, if it is for objects with names; else NULL */
    atomic_uint ended;      /* what ended the wait: nothing yet, its object, an APC */
};

void win_apcs_init(struct win_apcs *apcs);

/* The queue of the calling thread from now on, until win_apcs_close. */
void win_apcs_adopt(struct win_apcs *apcs);

/* The calling thread ends: drops what is queued; from then on win_apcs_post fails. */
void win_apcs_close(struct win_apcs *apcs);

/* Forgets the parent's wait in the child of a fork, and the APCs if another thread was changing the queue. */
void win_apcs_forked(struct win_apcs *apcs);

/*
 * win_apcs_post - queues function(data), and ends the alertable wait of the thread, if it is in one. Any thread.
 * Returns ERROR_SUCCESS, ERROR_NOT_ENOUGH_MEMORY, or ERROR_GEN_FAILURE: the thread has ended.
 */
DWORD win_apcs_post(struct win_apcs *apcs, PAPCFUNC function, ULONG_PTR data);

/* Queues an APC of malloc's, filled in already, which win_apcs_run frees. False: the thread has ended. */
bool win_apcs_hand(struct win_apcs *apcs, struct win_apc *apc);

/*
 * win_apcs_queue - queues a timer's APC, which is part of the timer; one that is queued stays as it is.
 * win_apcs_remove  takes it off its queue, if it is there. Any thread.
 */
void win_apcs_queue(struct win_apcs *apcs, struct win_apc *apc, uint64_t time);
void win_apcs_remove(struct win_apcs *apcs, struct win_apc *apc);

/* Whether the thread has ended. Any thread. */
bool win_apcs_closed(struct win_apcs *apcs);

/* Whether APCs of the calling thread are queued. */
bool win_apcs_pending(void);

/*
 * win_apcs_run - calls the queued APCs of the calling thread in their order, and those that they queue meanwhile. No
 * lock held.
 */
void win_apcs_run(void);

/*
 * win_alert_begin - begins an alertable wait of the calling thread, whose waiter it is; named: the member. False: APCs
 * are queued already, and the wait is over. Else win_alert_end follows, before the next alertable wait.
 */
bool win_alert_begin(
    struct win_alert *alert, struct reactor_waiter *waiter, struct win_wait *named);

/* Ends it; returns whether an APC did. */
bool win_alert_end(struct win_alert *alert);

/* Called before a wait is satisfied: false if an APC has ended it. alert may be NULL: not alertable. */
bool win_alert_claim(struct win_alert *alert);

/* Called for an APC that is to end the wait. False: an object has satisfied the wait, or another APC has ended it. */
bool win_alert_claim_by_apc(struct win_alert *alert);

/* Whether an APC has ended the wait. alert may be NULL. */
bool win_alert_came(struct win_alert *alert);

#endif
