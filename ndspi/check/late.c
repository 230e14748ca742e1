/* SPDX-License-Identifier: MIT */
#include "ndspi/check/late.h"

#include "ndspi/check/debt.h"
#include "ndspi/core/queue/qp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One queue pair, while the watch examines it. */
struct look {
    struct nd_checked *checked; /* held */
    struct nd_qp *core;         /* pinned */
    struct nd_rnr rnr;
    bool known; /* the device reports it */
};

/* ---- what was seen ---- */

static const char *missing_call(const struct nd_checked *checked)
{
    if (!checked->limits.receives && strcmp(checked->kind->name, "IND2QueuePair") == 0)
        return "IND2SharedReceiveQueue::Receive";
    return checked->kind->name[3] == '2' ? "IND2QueuePair::Receive" : "INDEndpoint::Receive";
}

static void report_locked(struct nd_checked *checked, const char *happened)
{
    char place[ND_CHECK_PLACE_OCTETS];

    checked->wait.watched = false;
    nd_check_report_locked(ND_CHECK_LATE, missing_call(checked), checked->kind->name, checked,
        "%s; %s made it at %s", happened, checked->made_by,
        nd_check_place_text(&checked->made_at, place));
}

/* Returns whether the same message was waiting at each check; a new message each time does not count. */
static bool has_waited(struct nd_check_wait *wait, const struct nd_rnr *rnr)
{
    if (!rnr->now || rnr->waits != wait->messages) {
        wait->messages = rnr->waits;
        wait->seconds = 0;
        return false;
    }
    return ++wait->seconds == ND_CHECK_PATIENCE_S;
}

static void judge_locked(const struct look *look)
{
    struct nd_checked *checked = look->checked;

    if (!checked->wait.watched)
        return;
    if (!look->known)
        checked->wait.watched = false;
    else if (look->rnr.ended)
        report_locked(
            checked, "a message of the peer found no Receive in time, so its connection ended");
    else if (has_waited(&checked->wait, &look->rnr) && !checked->ending)
        report_locked(checked, "a message of the peer has waited 5 s for a Receive");
}

/* ---- looking ---- */

void nd_check_watch_late_locked(const void *given)
{
    struct nd_checked *checked = given ? nd_check_find_locked(given) : NULL;

    if (!checked || !checked->kind->core)
        return;
    checked->wait.watched = true;
    nd_check_watch_locked();
}

/* Excludes objects that a forked child inherits: a thread of the parent may have held their locks. */
static bool is_watched_locked(const struct nd_checked *checked)
{
    return checked->wait.watched && checked->process == getpid();
}

struct looks {
    struct look *look;
    size_t count, room;
};

/* Returns false, so that every object is visited, unless memory is short. */
static bool add_locked(struct nd_checked *checked, const void *context)
{
    struct looks *looks = *(struct looks *const *)context;
    struct nd_qp *core;

    if (!is_watched_locked(checked))
        return false;
    if (looks->count == looks->room) {
        size_t room = looks->room ? 2 * looks->room : 64;
        struct look *more = realloc(looks->look, room * sizeof(*more));

        if (!more)
            return true; /* the next check may reach the others */
        looks->look = more;
        looks->room = room;
    }
    if (!(core = checked->kind->core(checked->inner)))
        return false;
    nd_object_pin(&core->object);
    checked->held++;
    looks->look[looks->count++] = (struct look){ .checked = checked, .core = core };
    return false;
}

void nd_check_look_for_late(void)
{
    struct looks looks = { 0 }, *context = &looks;

    lock_acquire(&nd_check_lock);
    nd_check_first_locked(add_locked, &context);
    lock_release(&nd_check_lock);
    for (size_t i = 0; i < looks.count; i++)
        looks.look[i].known = nd_qp_rnr(looks.look[i].core, &looks.look[i].rnr);
    lock_acquire(&nd_check_lock);
    for (size_t i = 0; i < looks.count; i++) {
        judge_locked(&looks.look[i]);
        looks.look[i].checked->held--;
    }
    lock_release(&nd_check_lock);
    for (size_t i = 0; i < looks.count; i++)
        nd_object_unpin(&looks.look[i].core->object);
    free(looks.look);
}

void nd_check_look_at_last(struct nd_checked *checked)
{
    struct look look = { .checked = checked };
    bool watched;

    lock_acquire(&nd_check_lock);
    watched = is_watched_locked(checked);
    lock_release(&nd_check_lock);
    if (!watched || !(look.core = checked->kind->core(checked->inner)))
        return;
    look.known = nd_qp_rnr(look.core, &look.rnr);
    lock_acquire(&nd_check_lock);
    judge_locked(&look);
    lock_release(&nd_check_lock);
}
