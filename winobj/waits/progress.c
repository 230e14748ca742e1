/* SPDX-License-Identifier: MIT */
/*
 * progress.c - registration of sources (provider.h): each is watched by the leader (lead.h) and by the service thread
 * (service.h), which are set up with the first.
 */
#include "winobj/provider.h"

#include "winobj/fork.h"
#include "winobj/waits/lead.h"
#include "winobj/waits/service.h"
#include "winobj/waits/source.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* win_progress_lock */
static uint64_t last_id;
static bool opened;    /* what comes with the first source is there */
static unsigned forks; /* between this process and its first ancestor */

/* Once per process; again after a failure. First use of a rarely taken lock: no call blocks. */
static int open_locked(void)
{
    int error;

    lock_assert_held(&win_progress_lock);
    if (opened)
        return 0;
    if ((error = win_lead_open_locked()) < 0)
        return error;
    if ((error = win_service_open_locked()) < 0) {
        win_lead_close();
        return error;
    }
    opened = true;
    return 0;
}

DWORD win_service_lend(int fd)
{
    int error = -EBUSY;

    lock_acquire(&win_progress_lock);
    if (!opened) {
        win_service_lend_locked(fd);
        if ((error = open_locked()) < 0)
            win_service_lend_locked(-1);
    }
    lock_release(&win_progress_lock);
    if (error)
        log_write(LOG_ERROR, LOG_WIN, "cannot prepare the service thread: %s", strerror(-error));
    return error == -EBUSY ? ERROR_BUSY : error ? ERROR_NO_SYSTEM_RESOURCES : ERROR_SUCCESS;
}

/* Puts the descriptors of a source, which is not on the list yet, where they are slept on. */
static int watch_locked(struct win_source_state *state)
{
    int error = win_lead_watch_locked(state);

    if (error < 0)
        return error;
    if ((error = win_service_watch_locked(state)) < 0) {
        win_lead_unwatch_locked(state);
        win_lead_let_go_locked(state);
    }
    return error;
}

DWORD win_source_add(struct win_source *source)
{
    struct win_source_state *state = calloc(1, sizeof(*state));
    int error;

    if (!state)
        return ERROR_NOT_ENOUGH_MEMORY;
    state->source = source;
    state->forks = forks;
    atomic_init(&state->pins, 1);
    list_node_init(&state->led);
    list_node_init(&state->aside);

    lock_acquire(&win_progress_lock);
    state->id = ++last_id;
    if ((error = open_locked()) < 0 || (error = watch_locked(state)) < 0) {
        lock_release(&win_progress_lock);
        log_write(
            LOG_ERROR, LOG_WIN, "cannot watch an adapter's descriptors: %s", strerror(-error));
        free(state);
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    win_sources_insert_locked(state);
    win_lead_sources_changed_locked();
    source->state = state;
    lock_release(&win_progress_lock);
    return ERROR_SUCCESS;
}

void win_source_remove(struct win_source *source)
{
    struct win_source_state *state = source->state;

    if (state->forks != forks)
        return; /* nothing of it runs in this process */
    lock_acquire(&win_progress_lock);
    atomic_store_explicit(&state->dead, true, memory_order_release);
    win_sources_delete_locked(state);
    win_lead_unwatch_locked(state);
    win_service_unwatch_locked(state);
    /* Whoever has it pinned lets go: the leader at its next round, the service thread at its next look. */
    win_lead_sources_changed_locked();
    lock_release(&win_progress_lock);
    standby_kick(&win_service_standby);
    win_source_await_unpinned(state);
    lock_acquire(&win_progress_lock);
    win_lead_let_go_locked(state);
    lock_release(&win_progress_lock);
    free(state);
    source->state = NULL;
}

void win_progress_fork_begin(void)
{
    lock_acquire(&win_progress_lock);
}

void win_progress_fork_end(void)
{
    lock_release(&win_progress_lock);
}

/* The child has none of our threads, and its parent's adapters are not its own: it starts empty. */
void win_progress_forked(void)
{
    win_sources_forked();
    forks++;
    win_lead_forked();
    if (!opened)
        return;
    win_lead_close();
    win_service_close();
    opened = false;
}
