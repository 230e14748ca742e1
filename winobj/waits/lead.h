/* SPDX-License-Identifier: MIT */
/* lead.h - the leader's descriptors and who leads, as progress.c uses them; waits see waiter.h. */
#ifndef WINOBJ_LEAD_H
#define WINOBJ_LEAD_H

struct win_source_state;

/* Makes the leader's epoll set. Returns 0 or a negative errno. */
int win_lead_open_locked(void);
/* Child of a fork, or a failure before any source was there. */
void win_lead_close(void);

/* Puts the descriptors of a source, which is not on the list yet, into the set. Returns 0 or a negative errno. */
int win_lead_watch_locked(struct win_source_state *state);
/* Takes out those of one that is on the list no more. */
void win_lead_unwatch_locked(struct win_source_state *state);
/* Its device is slept in by nobody any more: takes the set out of there, unless other sources share the device. */
void win_lead_let_go_locked(struct win_source_state *state);

/* A source came or went: the leader looks at the list again, or a follower begins to lead. */
void win_lead_sources_changed_locked(void);

/* Child of a fork: nobody waits. */
void win_lead_forked(void);

#endif
