/* SPDX-License-Identifier: MIT */
/* watch.h - a wait without a thread: the reactor runs a source when the object satisfies the wait. */
#ifndef WINOBJ_WATCH_H
#define WINOBJ_WATCH_H

#include "winobj/exported.h"
#include "winobj/waits/wait.h"

/* The caller serialises these calls. */
struct win_watch {
    struct win_wait wait;
    struct win_wait_link link;
    struct win_waitable *object;
    bool linked;
};

/*
 * win_watch_begin - begins to wait for an object once.
 * watch   out; win_watch_end comes before its memory goes, or the next win_watch_begin
 * object  in: pinned until then; no mutex, which only a thread can own
 * source  in: added to the reactor until then; it is run when the object has satisfied the wait, perhaps now
 * Returns false with the last error of names_wait_begin.
 */
bool win_watch_begin(
    struct win_watch *watch, struct win_waitable *object, struct reactor_source *source);

/* Whether the object has satisfied the wait. False after win_watch_end. */
bool win_watch_satisfied(struct win_watch *watch);

/* Ends the wait. Returns whether the object had satisfied it. */
bool win_watch_end(struct win_watch *watch);

/* Forgets the wait, which is the parent's, in the child of a fork. */
void win_watch_forked(struct win_watch *watch);

#endif
